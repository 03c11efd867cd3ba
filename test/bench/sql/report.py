#!/usr/bin/python3
"""Writes RESULTS.md and breakeven.csv from postgresql.csv and sqlite.csv: report.py DIRECTORY"""

import csv
import os
import platform
import sqlite3
import subprocess
import sys

from contest import QUICK, ROUNDS, ROWS

DIRECTORY = sys.argv[1]


def rows(database):
    with open(os.path.join(DIRECTORY, database + ".csv"), newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def line(*cells):
    print("| " + " | ".join(cells) + " |")


def table(*head):
    line(*head)
    print("|" + "---|" * len(head))


def seconds(text):
    return f"{float(text):.3f}"


def size(text):
    if not text:
        return ""
    number = int(text)
    return f"{number / 1e6:.1f} MB" if number >= 1e6 else f"{number / 1e3:.1f} kB"


def cases(section, of):
    """The section's rows by case, in order."""
    found = {}
    for row in of:
        if row["section"] == section:
            found.setdefault(row["case"], []).append(row)
    return found


def aggregates(of):
    print("What an aggregate over all rows costs, in seconds, and the size of what it gives.\n")
    table("over", "method", "seconds", "result")
    for case, group in cases("aggregate", of).items():
        for row in group:
            line(case, row["method"], seconds(row["seconds"]), size(row["bytes"]))
    print()


def probes(of):
    print("Which rows have a key among the members, a tenth as many? Seconds for all rows, and for")
    print("the lookup alone: less the scan.\n")
    table("key", "method", "seconds", "less the scan")
    for case, group in cases("probe", of).items():
        scan = float(group[0]["seconds"])
        for row in group:
            alone = float(row["seconds"]) - scan
            line(case, row["method"], seconds(row["seconds"]), f"{alone:.3f}" if alone > 0 else "")
    print()


def pairs(group):
    """(share, seconds of the join, seconds with a prefilter) by share."""
    by_share = {}
    for row in group:
        by_share.setdefault(int(row["x"]), []).append(float(row["seconds"]))
    return [(share, *times) for share, times in sorted(by_share.items())]


def break_even(group):
    """Where the prefilter stops to pay, between two measured shares."""
    gains = [(share, plain / filtered - 1) for share, plain, filtered in pairs(group)]
    paying = [i for i, (_, gain) in enumerate(gains) if gain > 0]
    if not paying:
        return "never pays"
    last = paying[-1]
    if last == len(gains) - 1:
        return "pays up to the end"
    (low, gain), (high, loss) = gains[last], gains[last + 1]
    return f"{low + (high - low) * gain / (gain - loss):.0f} %"


def joins(section, of):
    groups = cases(section, of)
    shares = sorted({int(row["x"]) for group in groups.values() for row in group})
    table("join", "", *(f"{share} %" for share in shares), "break-even")
    for case, group in groups.items():
        found = pairs(group)
        line(case, "join", *(f"{plain:.3f}" for _, plain, _ in found), "")
        line("", "prefiltered", *(f"{filtered:.3f}" for _, _, filtered in found), "")
        line(
            "",
            "**speedup**",
            *(f"**{plain / filtered:.2f}**" for _, plain, filtered in found),
            break_even(group),
        )
    print()


def stored(of):
    print(
        "Filters that sit in a table. One probe reads the whole value; in a statement that asks for"
    )
    print("each row it is read once.\n")
    table("filter", "bytes", "build and store, s", "one probe, s", "us a row, after that")
    for case, group in cases("stored", of).items():
        found = {row["method"]: row for row in group}
        each = (
            float(found["a probe for each row"]["seconds"])
            - float(found["scan alone"]["seconds"])
            - float(found["one probe"]["seconds"])
        )
        line(
            case,
            size(found["build and store"]["bytes"]),
            seconds(found["build and store"]["seconds"]),
            seconds(found["one probe"]["seconds"]),
            f"{max(each, 0) / ROWS * 1e6:.3f}",
        )
    print()


def database_page(title, about, of):
    print(f"## {title}\n")
    print(about + "\n")
    print("### The price of an aggregate\n")
    aggregates(of)
    print("### Membership\n")
    probes(of)
    print("### A join, of which a share passes\n")
    print(
        "All rows meet their order by key; the orders of a share pass. The prefilter is built in the"
    )
    print("query, from the keys that pass, and asked for each row before the join. Seconds:\n")
    joins("join", of)
    print("### A star join: two dimensions, of each of which a share passes\n")
    joins("star", of)
    print("### Filters in a table\n")
    stored(of)


def write_break_even(databases):
    path = os.path.join(DIRECTORY, "breakeven.csv")
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        for database, of in databases:
            for section in ("join", "star"):
                for case, group in cases(section, of).items():
                    name = f"{database}: {case.replace(',', '')}"
                    for share, plain, filtered in pairs(group):
                        writer.writerow((name, share, f"{plain / filtered:.4f}"))


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    postgresql, sqlite = rows("postgresql"), rows("sqlite")
    write_break_even((("PostgreSQL", postgresql), ("SQLite", sqlite)))
    model = [part for part in output("lscpu").splitlines() if part.startswith("Model name")]
    print("# Benchmarks in SQL\n")
    small = " with QUICK=1, **which is too small to judge by**" if QUICK else ""
    print(f"Written by `make bench-sql`{small} with version {output('make', '-s', 'version').strip()}: {ROWS:,} rows, one process, medians of {ROUNDS}")
    print(
        "rounds in which the methods take turns. Answers are checked to agree, and plans to be the"
    )
    print(
        f"ones that are named. {model[0].split(':')[1].strip() if model else ''}, Linux"
        f" {platform.release()}.\n"
    )
    print(
        "When does a prefilter pay? Where a row that it drops would have cost more than the lookup:"
    )
    print("a lookup in an index, a spill to disk, several joins to come. Less before a hash join in")
    print("memory, whose hash table is quick to ask while it is small; and less, the more rows pass.\n")
    print("![speedup by the share of rows that pass](breakeven.svg)\n")
    server = output("pg_config", "--version").split(" (")[0].strip()
    database_page(
        server,
        "A throw-away cluster, no parallel workers, no JIT. Joins that spill have 4 MB of work_mem.",
        postgresql,
    )
    database_page(
        f"SQLite {sqlite3.sqlite_version}",
        "A file, through Python's sqlite3, 256 MB of page cache.",
        sqlite,
    )


main()
