#!/usr/bin/python3
"""The picture of README.md, test/bench/results/gains.svg: how many times as fast, or as small, something is with
filters.  Its figures are those of the pages of results and of the table in sql/FAQ.md; run it when one of them is
written anew.  test/sqlite/pages.py compares."""

import os
import re
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOIN = "test/bench/join/results/RESULTS.md"
SQL = "test/bench/sql/results/RESULTS.md"

sys.path.insert(0, f"{ROOT}/test/bench")
from bars import draw, label  # noqa: E402

# Of each kind of gain, its colour and its name in the picture.
JOINS = "join filters, the query unchanged"
BY_HAND = "a filter in the query"
SIZE = "size"
COLOURS = {JOINS: 0x2F6690, BY_HAND: 0x8FBFE0, SIZE: 0x7A8794}


def cells(page, first, second=None):
    """The figures of the first row that begins with these cells, or of the second that follows it."""
    with open(f"{ROOT}/{page}", encoding="utf-8") as file:
        rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in file if line.startswith("|")]
    at = next(i for i, row in enumerate(rows) if row[: len(first)] == list(first))
    if second:
        at = next(i for i in range(at, len(rows)) if second in rows[i])
    return rows[at]


def number(text):
    return float(re.sub(r"[^\d.]", "", text))


def join(name):
    """Processor time with join filters off, as a multiple of auto's."""
    row = cells(JOIN, [name])
    return number(row[2]) / number(row[3])


def median_of_joins():
    """The same over the queries of the warehouse."""
    with open(f"{ROOT}/{JOIN}", encoding="utf-8") as file:
        times = re.findall(r"^\| [a-z]\d\d \|[^|]*\|[^|]*\| ([\d.]+) \| ([\d.]+) \|", file.read(), re.M)
    return statistics.median(float(off) / float(auto) for off, auto in times)


def by_hand(name, share):
    return number(cells(SQL, [name], "speedup")[2 + ["1 %", "5 %", "20 %"].index(share)])


def size(name):
    """In bytes, of the FAQ's table."""
    value, unit = cells("sql/FAQ.md", [name])[1].split()
    return float(value) * {"MB": 1e6, "kB": 1e3}[unit]


def gains():
    """[group, what, times]"""
    which = open(f"{ROOT}/test/bench/sql/results/WHICH.md", encoding="utf-8").read()
    indexes, filter_of_pairs = map(float, re.search(r"indexes take ([\d.]+) MB, .* takes ([\d.]+) MB", which).groups())
    key_table = cells("test/bench/results/TABLE.md", ["bytes after bulk load"])
    hashed = cells(JOIN, ["10 % match"])
    return [
        [JOINS, "one month of 60 partitions", join("one month of 60 partitions")],
        [JOINS, "one month of 600 partitions", join("one month of 600 partitions")],
        [JOINS, "nested loop, 2 % match", join("nested loop into a dimension of which 2 % match")],
        [JOINS, "hash join, 10 % match", number(hashed[2]) / number(hashed[4])],
        [JOINS, "hash join, all match", join("all match, hash join")],
        [BY_HAND, "semi join before an index, 5 % match", by_hand("bigint, index nested loop", "5 %")],
        [BY_HAND, "two semi joins, 20 % match", by_hand("two dimensions", "20 %")],
        [BY_HAND, "semi join before a spill, 5 % match", by_hand("bigint, hash join that spills", "5 %")],
        [SIZE, "as a hash index", size("hash index") / size("cuckoofilter, 1 %")],
        [SIZE, "as an index in each of 365 partitions", indexes / filter_of_pairs],
        [SIZE, "as SQLite's table of the keys, text", number(key_table[5].split("(")[0]) / number(key_table[2])],
    ]


def panels():
    """Of the picture: see draw."""
    rows = [[(what, times, COLOURS[group], label(times)) for group, what, times in gains() if (group == SIZE) == is_size] for is_size in (False, True)]
    return [("times as fast", {group: COLOURS[group] for group in (JOINS, BY_HAND)}, rows[0]), ("times as small", {}, rows[1])]


def main():
    draw(f"{ROOT}/test/bench/results/gains.svg", "What filters gain (dashed: no gain)", panels())


if __name__ == "__main__":
    main()
