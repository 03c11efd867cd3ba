#!/usr/bin/python3
"""The SQLite suites under valgrind's memcheck, which sees what sanitizers do not: bytes never written.

    test/soak/sqlite_valgrind.py

Python and SQLite are as Debian builds them, so that only errors and definite leaks that involve our
functions count: through a call, or as the origin of the bytes.  First, errors put into a copy of
the extension must be caught.  A suite must come to its end; what it finds wrong does not matter here,
since valgrind computes SQLite's long doubles as doubles, so that SQLite reads some numbers otherwise.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "valgrind")
OURS = ("ckf", "sqlite3_cuckoofilter_init")  # what names of our functions begin with
VALGRIND = ("valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite", "--track-origins=yes",
            "--keep-debuginfo=yes", "--num-callers=40", "--xml=yes")
PYTHON = ("functions", "errors", "values", "database", "vectors")
# with their options, as the Makefile has them
PROGRAMS = {
    "memory": ("-DCKFS_MAX_HANDLE_BYTES=1", "-DCKFS_MAX_NAMES=20"),
    "hostile": (),
    "handles": ("-DCKFS_MAX_HANDLE_BYTES=4000", "-DCKFS_MAX_NAMES=100"),
}
COUNT = r": [1-9]\d* passed, \d+ failed$"
# (what, file, text, text in its place)
MISTAKES = (
    ("bytes never written", "core/host/run.c", "memcpy((uint8_t *)to + done, (const uint8_t *)from + done, size - done);", ""),
    ("a copy past the end", "sqlite/handle.c", "filter->bytes, filter->size))", "filter->bytes, filter->size + 16))"),
    ("a leak", "sqlite/function/aggregate.c", "sqlite3_free(state->collector);", ""),
)
STATEMENT = ("SELECT hex(cuckoofilter_add(f, 5)), cuckoofilter_contains(cuckoofilter_open(f), 5) FROM "
             "(SELECT cuckoofilter_agg(value) AS f FROM generate_series(1, 3000))")

passed = failed = 0


def check(what, condition, remark=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
    print(f"{'ok  ' if condition else 'FAIL'} {what}{remark}", flush=True)


def is_ours(error):
    return any((frame.text or "").startswith(OURS) for frame in error.iter("fn"))


def describe(error):
    calls = [frame.text or "?" for frame in error.iter("fn")]
    return f"{error.findtext('kind')}: {' < '.join(calls[:12])}"


def memcheck(name, command):
    """Run a command under memcheck: the last line of its output, and our errors."""
    report, log = (os.path.join(WORK, name + ending) for ending in (".xml", ".log"))
    with open(log, "wb") as output:
        subprocess.run([*VALGRIND, f"--xml-file={report}", *command], cwd=ROOT, stdout=output,
                       stderr=subprocess.STDOUT, env=dict(os.environ, PYTHONMALLOC="malloc"), check=False)
    with open(log, encoding="utf-8") as output:
        last = output.read().rstrip("\n").rpartition("\n")[2]
    errors = xml.etree.ElementTree.parse(report).getroot().findall("error")
    return last, [error for error in errors if is_ours(error)]


def run_statement(name, extension):
    return memcheck(name, ["sqlite3", "-batch", ":memory:", f".load {extension}", STATEMENT])


def compile_all(root, result, *options):
    """The extension, from a tree, with what else the options name."""
    sources = glob.glob(os.path.join(root, "core/*/*.c")) + glob.glob(os.path.join(root, "sqlite/*.c")) + glob.glob(os.path.join(root, "sqlite/*/*.c"))
    subprocess.run(["cc", "-std=c11", "-O2", "-g", "-fPIC", f"-I{root}/core", *sources, *options,
                    "-o", result], cwd=ROOT, check=True)
    return result


def build_with(mistake):
    """A copy of the extension with a mistake in it."""
    what, file, old, new = mistake
    copy = os.path.join(WORK, what.replace(" ", "-"))
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("core", "sqlite"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
    with open(os.path.join(copy, file), encoding="utf-8") as source:
        text = source.read()
    if text.count(old) != 1:
        raise RuntimeError(f"{file} has no place for {what}")
    with open(os.path.join(copy, file), "w", encoding="utf-8") as source:
        source.write(text.replace(old, new))
    return compile_all(copy, os.path.join(copy, "cuckoofilter.so"), "-shared")


def check_mistakes():
    for mistake in MISTAKES:
        _, errors = run_statement(mistake[0].replace(" ", "-"), build_with(mistake))
        check(f"put in and caught: {mistake[0]}", len(errors) > 0,
              ": " + describe(errors[0]) if errors else "")


def check_clean(name, run, end):
    """No errors of ours, and an output that ends in this pattern."""
    last, errors = run
    for error in errors[:5]:
        print("     " + describe(error))
    check(f"{name}: no errors of ours", not errors)
    check(f"{name}: came to its end", re.search(end, last), f": {last[-80:]}")


def build_program(name):
    """A program of test/sqlite, without the sanitizers that valgrind cannot run."""
    return compile_all(ROOT, os.path.join(WORK, name), "-DSQLITE_CORE", *PROGRAMS[name],
                       f"test/sqlite/c/{name}.c", "-lsqlite3")


def main():
    os.makedirs(WORK, exist_ok=True)
    check_mistakes()
    check_clean("statement", run_statement("statement", "build/sqlite/cuckoofilter"), r"\|1$")
    for name in PROGRAMS:
        check_clean(name, memcheck(name, [build_program(name)]), COUNT)
    for name in PYTHON:
        check_clean(name, memcheck(name, ["/usr/bin/python3", f"test/sqlite/{name}.py"]), COUNT)
    print(f"sqlite-valgrind: {passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
