#!/usr/bin/python3
"""Builds and runs tool/work.c and tool/steps.c, which count the core's work in branches."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE, TESTS = os.path.join(ROOT, "core"), os.path.join(ROOT, "test/core")
MADE = os.path.join(ROOT, "build/test/work")
LIBRARY = os.path.join(CORE, "package/c")
COMPILE = ["clang", "-std=c11", "-O1", "-I" + CORE, "-I" + LIBRARY, "-I" + os.path.join(TESTS, "lib")]
WRAPPED = ["-Wl,--wrap=" + name for name in ("memset", "memcpy", "memmove")]
# Program, how it is linked.
PROGRAMS = (("work", []), ("steps", WRAPPED))


def build_core():
    """Paths of the objects of the core and of the C library."""
    os.makedirs(MADE, exist_ok=True)
    objects = []
    for source in glob.glob(os.path.join(CORE, "*/*.c")) + glob.glob(os.path.join(LIBRARY, "*.c")):
        objects.append(os.path.join(MADE, os.path.relpath(source, CORE)[:-2].replace("/", "_") + ".o"))
        subprocess.run([*COMPILE, "-fsanitize-coverage=trace-pc", "-c", source, "-o", objects[-1]], check=True)
    return objects


def build(objects, name, linking):
    """Path of the program."""
    made = os.path.join(MADE, name)
    sources = [os.path.join(TESTS, "tool/%s.c" % name), *glob.glob(os.path.join(TESTS, "lib/*.c"))]
    subprocess.run([*COMPILE, *sources, *objects, *linking, "-lm", "-o", made], check=True)
    return made


def main():
    counts = [0, 0]
    objects = build_core()
    for arguments in PROGRAMS:
        with subprocess.Popen([build(objects, *arguments)], stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
        found = re.fullmatch(r".*: (\d+) passed, (\d+) failed\n", line)
        for i in range(2):
            counts[i] += int(found.group(i + 1)) if found else i
    print("core's work: %d passed, %d failed" % tuple(counts))
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
