#!/usr/bin/python3
"""A zip file for PGXN: meta.py FILE.zip VERSION.  Prints what of META.json is missing or does not fit the files."""
import json
import re
import sys
import zipfile

NEEDED = {"name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"}


def provides(meta, files, version, read):
    for name, extension in meta["provides"].items():
        if extension["version"] != version:
            yield f"provides {name} {extension['version']}, not {version}"
        for key in "file", "docfile":
            if key in extension and extension[key] not in files:
                yield f"{extension[key]} is not there"
        yield from installs(name, extension["file"], files, version, read)


def installs(name, file, files, version, read):
    """CREATE EXTENSION finds its control file's version: from FILE's, by the scripts that lead on."""
    control = read(next(path for path in files if path.endswith(f"/{name}.control")))
    if f"default_version = '{version}'" not in control:
        yield "the control file names another version"
    first = re.search(rf"/{name}--([\d.]+)\.sql\Z", file)
    reached = {first.group(1)} if first else set()
    steps = [match.groups() for path in files if (match := re.search(rf"/{name}--([\d.]+)--([\d.]+)\.sql\Z", path))]
    for _ in steps:
        reached |= {later for earlier, later in steps if earlier in reached}
    if version not in reached:
        yield f"no scripts lead from {file} to {version}"


def faults(path, version):
    with zipfile.ZipFile(path) as archive:
        folder = f"cuckoofilter-{version}/"
        names = archive.namelist()
        if not all(name.startswith(folder) for name in names):
            yield f"not all files are in {folder}"
        files = {name[len(folder) :] for name in names}

        def read(name):
            return archive.read(folder + name).decode()

        meta = json.loads(read("META.json"))
        if meta["version"] != version:
            yield f"version {meta['version']}, not {version}"
        if not NEEDED <= set(meta) or not meta["provides"]:
            yield f"META.json lacks {NEEDED - set(meta)}"
        yield from provides(meta, files, version, read)


found = list(faults(*sys.argv[1:]))
for fault in found:
    print(fault)
sys.exit(bool(found))
