#!/usr/bin/python3
"""Tells what coverage.info says of each file, and asks for a reason for each line not reached.

    test/coverage/report.py coverage.info SUITES        SUITES: how many suites failed

reasons.tsv has the reasons: file, function, the line's text, why no test reaches it.  A file is
passed where each of its lines is reached or has a reason; reasons no longer needed are listed.
"""

import collections
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REASONS = os.path.join(ROOT, "test/coverage/reasons.tsv")
FOLDERS = ("core", "pg", "sqlite")
FUNCTION = re.compile(r"^(\w+)\(")  # its name begins a line

Count = collections.namedtuple("Count", "lines reached branches taken")


class File:
    """A source file: what is counted in it, and its lines that were not reached."""

    def __init__(self, path):
        self.name = os.path.relpath(path, ROOT)
        self.missed = []  # (number, function, text)
        with open(path, encoding="utf-8") as source:
            self.text = source.read().split("\n")
        self.lines, self.branches = {}, []

    @property
    def count(self):
        return Count(len(self.lines), sum(hits > 0 for hits in self.lines.values()),
                     len(self.branches), sum(self.branches))

    def places(self):
        """Each line as reasons name it: (file, function, text)."""
        function = "-"
        for line in self.text:
            match = FUNCTION.match(line)
            function = match[1] if match else function
            yield self.name, function, line.strip()


def read_info(path):
    files = {}
    file = None
    with open(path, encoding="utf-8") as info:
        for record in info:
            kind, _, values = record.strip().partition(":")
            if kind == "SF":
                file = File(values)
                files[file.name] = file
            elif kind == "DA":
                number, hits = values.split(",")[:2]
                file.lines[int(number)] = int(hits)
            elif kind == "BRDA":
                file.branches.append(values.split(",")[3] not in ("-", "0"))
    return files


def read_reasons():
    with open(REASONS, encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    return {tuple(row[:3]): row[3] for row in rows}


def share(part, whole):
    return f"{100 * part / whole:6.1f} %" if whole else "       -"


def show(name, count, remark=""):
    print(f"{name:24}{count.reached:6} of {count.lines:5} lines {share(count.reached, count.lines)}   "
          f"{count.taken:5} of {count.branches:5} branches {share(count.taken, count.branches)}{remark}")


def explain(file, reasons, used):
    """Print the lines of a file that were not reached; returns how many have no reason."""
    unexplained = 0
    for number, place in enumerate(file.places(), 1):
        if file.lines.get(number, 1) > 0:
            continue
        reason = reasons.get(place)
        used.add(place)
        unexplained += reason is None
        mark = "" if reason else "NO REASON "
        print(f"  {mark}{place[0]}:{number}: {place[2]}\n      {reason or place[1]}")
    return unexplained


def report_lines(files, reasons):
    """The lines not reached, and reasons that no line needs; returns the files that lack reasons."""
    used = set()
    print("\nLines that no test reaches, and why:")
    failed = [name for name, file in sorted(files.items()) if explain(file, reasons, used)]
    places = {place for file in files.values() for place in file.places()}
    for place in sorted(set(reasons) - used):
        print(f"  {'reached now' if place in places else 'gone'}: {' '.join(place)}")
    return failed


def sources():
    """Files that have functions: all of them must have been counted."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**/*.c"), recursive=True)):
            file = File(path)
            if any(FUNCTION.match(line) for line in file.text):
                yield file.name


def main():
    files = read_info(sys.argv[1])
    failed = report_lines(files, read_reasons())
    failed += [name for name in sources() if name not in files]
    print()
    for folder in FOLDERS:
        counts = []
        for name in sorted(name for name in files if name.startswith(folder + "/")):
            counts.append(files[name].count)
            show(name, counts[-1], "   lines without a reason" if name in failed else "")
        show(folder, Count(*map(sum, zip(*counts))))
        print()
    suites = int(sys.argv[2])
    for name in failed:
        print(f"FAILED: {name}")
    print(f"coverage: {len(set(files) - set(failed))} passed, {len(failed) + suites} failed")
    return len(failed) + suites > 0


sys.exit(main())
