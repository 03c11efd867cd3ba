#!/bin/sh
# What sqlpkg and spm do with their files: find the archive for this machine, compare its checksum, unpack it (spm: the
# first file), load the library.  Neither is in Debian, so these steps are done here.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages python3 sqlite3
cat > /tmp/install.py << 'TEXT'
import hashlib
import json
import os
import platform
import sys
import tarfile

os.chdir("/packages")
cpu = platform.machine()
sqlpkg = json.load(open("sqlpkg.json"))
for required in "owner", "name", "version":
    assert sqlpkg[required], required
assets = sqlpkg["assets"]
first = os.path.join(assets["path"], assets["files"]["linux-" + {"x86_64": "amd64", "aarch64": "arm64"}[cpu]])
for name, sum in assets["checksums"].items():
    assert sum == "sha256-" + hashlib.sha256(open(name, "rb").read()).hexdigest(), name
    assert name in assets["files"].values(), name
assert len(assets["checksums"]) == len(assets["files"]) == 3

spm = json.load(open("spm.json"))
assert spm["version"] == 0
(extension,) = spm["extensions"].values()
for each in extension["platforms"]:
    data = open(each["asset_name"], "rb").read()
    assert each["asset_sha256"] == hashlib.sha256(data).hexdigest() and each["asset_md5"] == hashlib.md5(data).hexdigest()
(second,) = (each["asset_name"] for each in extension["platforms"] if (each["os"], each["cpu"]) == ("linux", cpu))

for archive, folder in (first, "/tmp/sqlpkg"), (second, "/tmp/spm"):
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        tar.extractall(folder, members if folder == "/tmp/sqlpkg" else members[:1])
print(sqlpkg["version"], *sorted(os.listdir("/tmp/sqlpkg")), *os.listdir("/tmp/spm"))
TEXT
equal "managers: sqlpkg.json and spm.json name what is there" "$(python3 /tmp/install.py 2>&1)" \
	"$VERSION LICENSE LICENSE.xxhash cuckoofilter.so cuckoofilter.so"
for manager in sqlpkg spm; do
	equal "managers: $manager's library is loaded, its filter is the same bytes" "$(sqlite3 -batch :memory: ".load /tmp/$manager/cuckoofilter" \
		"SELECT cuckoofilter_version(), hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))" 2>&1)" "$VERSION|$ABC"
done
