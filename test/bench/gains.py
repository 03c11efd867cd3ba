#!/usr/bin/python3
"""The picture of README.md, test/bench/results/gains.svg: how many times as fast, or as small, something is with
filters.  Its figures are those of the pages of results and of the table in sql/FAQ.md; run it when one of them is
written anew.  test/sqlite/pages.py compares."""

import os
import re
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOIN = "test/bench/join/results/RESULTS.md"
SQL = "test/bench/sql/results/RESULTS.md"


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
        ["join filters", "one month of 60 partitions", join("one month of 60 partitions")],
        ["join filters", "one month of 600 partitions", join("one month of 600 partitions")],
        ["join filters", "nested loop, 2 % match", join("nested loop into a dimension of which 2 % match")],
        ["join filters", "hash join, 10 % match", number(hashed[2]) / number(hashed[4])],
        ["join filters", "hash join, all match", join("all match, hash join")],
        ["filter in the query", "semi join before an index, 5 % match", by_hand("bigint, index nested loop", "5 %")],
        ["filter in the query", "two semi joins, 20 % match", by_hand("two dimensions", "20 %")],
        ["filter in the query", "semi join before a spill, 5 % match", by_hand("bigint, hash join that spills", "5 %")],
        ["size", "beside a hash index", size("hash index") / size("cuckoofilter, 1 %")],
        ["size", "beside an index in each of 365 partitions", indexes / filter_of_pairs],
        ["size", "beside SQLite's table of the keys, text", number(key_table[5].split("(")[0]) / number(key_table[2])],
    ]


def label(times):
    return f"{times:.0f}" if times >= 10 else f"{times:.1f}"


def main():
    rows = gains()
    colours = {"join filters": 0xE41A1C, "filter in the query": 0xFF7F00, "size": 0x377EB8}
    data = "".join(
        f'{len(rows) - i} {times:.3f} {colours[group]} "{group}: {what}" "{label(times)}"\n'
        for i, (group, what, times) in enumerate(rows)
    )
    script = f"out = '{ROOT}/test/bench/results/gains.svg'\n$data << END\n{data}END\nload '{ROOT}/test/bench/plot/gains.gp'\n"
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
