#!/usr/bin/python3
"""Builds and runs tool/work.c, which counts the core's work in branches."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE, TESTS = os.path.join(ROOT, "core"), os.path.join(ROOT, "test/core")
MADE = os.path.join(ROOT, "build/test/work")
COMPILE = ["clang", "-std=c11", "-O1", "-I" + CORE, "-I" + TESTS]
HELPERS = ("check.c", "guard.c", "drive.c", "attack.c", "tool/work.c")


def main():
    os.makedirs(MADE, exist_ok=True)
    objects = []
    for source in glob.glob(os.path.join(CORE, "*/*.c")):
        objects.append(os.path.join(MADE, os.path.relpath(source, CORE)[:-2].replace("/", "_") + ".o"))
        subprocess.run([*COMPILE, "-fsanitize-coverage=trace-pc", "-c", source, "-o", objects[-1]],
                       check=True)
    program = os.path.join(MADE, "work")
    subprocess.run([*COMPILE, *(os.path.join(TESTS, name) for name in HELPERS), *objects, "-lm",
                    "-o", program], check=True)
    return subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
