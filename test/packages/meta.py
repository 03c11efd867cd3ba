#!/usr/bin/python3
"""A zip file for PGXN: meta.py FILE.zip VERSION.  Prints what breaks the PGXN Meta Spec 1.0.0, or does not fit the files."""
import json
import re
import sys
import zipfile

SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([+-]?[a-zA-Z][0-9A-Za-z-]*)?\Z")
TERM = re.compile(r"[^\s/\\:\x00-\x1f]{2,}\Z")
LICENSES = set(
    "agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 "
    "mit mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib open_source restricted unrestricted "
    "unknown".split()
)
KEYS = set(
    "abstract description generated_by license maintainer meta-spec name no_index prereqs provides release_status "
    "resources tags version".split()
)
PHASES = {"configure", "build", "test", "runtime", "develop"}
RELATIONS = {"requires", "recommends", "suggests", "conflicts"}
PROVIDED = {"file", "version", "abstract", "docfile"}


def text(value):
    return isinstance(value, str) and value.strip() != ""


def own(key):
    return key.startswith(("x_", "X_"))


def top(meta):
    """What of the first level is wrong."""
    for key in meta:
        if key not in KEYS and not own(key):
            yield f"unknown key {key}"
    for key in "abstract", "name", "version":
        if not text(meta.get(key)):
            yield f"{key} is no text"
    if not TERM.match(meta["name"]):
        yield "name is no term"
    if not SEMVER.match(meta["version"]):
        yield "version is no semantic version"
    maintainers = meta.get("maintainer")
    if not text(maintainers) and not (isinstance(maintainers, list) and maintainers and all(map(text, maintainers))):
        yield "maintainer"
    licenses = meta.get("license")
    if not isinstance(licenses, dict) and not set([licenses] if isinstance(licenses, str) else licenses) <= LICENSES:
        yield "license"
    spec = meta.get("meta-spec", {})
    if spec.get("version") != "1.0.0" or not str(spec.get("url")).startswith("https://pgxn.org/meta/spec"):
        yield "meta-spec"
    for tag in meta.get("tags", []):
        if not text(tag) or len(tag) > 255 or re.search(r"[/\\\x00-\x1f]", tag):
            yield f"tag {tag}"
    if meta.get("release_status", "stable") not in ("stable", "testing", "unstable"):
        yield "release_status"


def prereqs(meta):
    for phase, relations in meta.get("prereqs", {}).items():
        if phase not in PHASES and not own(phase):
            yield f"phase {phase}"
        for relation, wanted in relations.items():
            if relation not in RELATIONS and not own(relation):
                yield f"relation {relation}"
            for name, version in wanted.items():
                if not TERM.match(name) or not (version in (0, "0") or SEMVER.match(version.split()[-1])):
                    yield f"prerequisite {name} {version}"


def provides(meta, files, version, read):
    if not meta.get("provides"):
        yield "provides nothing"
    for name, extension in meta.get("provides", {}).items():
        if not TERM.match(name) or not set(extension) <= PROVIDED or not SEMVER.match(extension["version"]):
            yield f"provides {name}"
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
        yield from top(meta)
        yield from prereqs(meta)
        yield from provides(meta, files, version, read)


found = list(faults(*sys.argv[1:]))
for fault in found:
    print(fault)
sys.exit(bool(found))
