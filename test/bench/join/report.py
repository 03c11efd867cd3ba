#!/usr/bin/python3
"""Writes RESULTS.md from the CSV files: report.py DIRECTORY"""

import csv
import os
import platform
import statistics
import subprocess
import sys

from measure import QUICK, SCALE

DIRECTORY = sys.argv[1]

# What is asked of each, in figures.csv: the field that is judged, and the least speedup, in on.
WANTED = {
    "10 % match": 1.8,
    "10 % match, text of 32": 1.8,
    "10 % match, work_mem 4 MB": 2.0,
    "10 % match, two workers": 1.5,
    "star of three, 20 % each": 1.8,
    "star, selective join on top": 4.0,
    "foreign table, 1 % match": 6.0,
}


def rows(name):
    with open(os.path.join(DIRECTORY, name), newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def table(*head):
    line(*head)
    print("|" + "---|" * len(head))


def milliseconds(row, column):
    return f"{float(row[column]) * 1000:.0f}" if row[column] else ""


def ratio(row, field, mode):
    if not row[f"{field} off"]:
        return float("nan")
    return float(row[f"{field} off"]) / float(row[f"{field} {mode}"])


def speedup(row, field, mode):
    """A plan without a filter is the plan of off."""
    return "no filter" if row.get(f"filters {mode}") == "0" else f"**{ratio(row, field, mode):.2f}**"


def wall(row):
    return " ".join(f"{ratio(row, 'wall', mode):.2f}".replace("nan", "") for mode in ("on", "auto", "hand"))


def figures():
    print("## Queries\n")
    print("5 million rows (a tenth as many with QUICK=1), 500,000 keys on the other side unless the query says otherwise. CPU")
    print("in ms, of all processes where a query has several; speedup of it; and speedup by the clock: on, auto, by hand.")
    print("*No filter*: the plan is that of off, and so is what it takes.\n")
    table("query", "runs", "off", "on", "auto", "by hand", "speedup on", "auto", "by hand", "wanted", "by the clock", "filters in auto")
    for row in rows("figures.csv"):
        several = "workers" in row["query"] or "foreign" in row["query"]
        field = "all" if several and row["all off"] else "cpu"
        line(
            row["query"],
            row["runs"],
            *(milliseconds(row, f"{field} {mode}") for mode in ("off", "on", "auto", "hand")),
            *(speedup(row, field, mode) for mode in ("on", "auto")),
            f"{ratio(row, field, 'hand'):.2f}",
            WANTED.get(row["query"], ""),
            wall(row),
            row["what became of them"] or row["filters auto"],
        )
    print("\n![how many times as fast the queries are with join filters](figures.svg)\n")
    if not os.path.exists(os.path.join(DIRECTORY, "bytes.csv")):
        return
    found = {row["mode"]: int(row["bytes"]) for row in rows("bytes.csv")}
    print("Bytes between the servers, for the foreign table with 1 % match, both ways, filter and all:\n")
    table("off", "on", "auto", "by hand", "off / on")
    line(*(f"{found[mode]:,}" for mode in ("off", "on", "auto", "hand")), f"**{found['off'] / found['on']:.0f}**")
    print()


def fraction(row, mode):
    return float(row[mode]) / float(row["off"])


def targets():
    print("## What is to be reached\n")
    print(f"Over the warehouse (`warehouse/`, {int(2_000_000 * SCALE):,} sales): sales by month (60 partitions) and by three days (600), in the")
    print("order of time and in none, skewed keys, nested loops. Processor time in ms, of all processes where a query has")
    print("workers or foreign tables. *By hand*: with the month as a condition on the sales' own column.\nThe last columns are the counters of `cuckoofilter_join_stats` in auto.\n")
    table("case", "runs", "off", "auto", "on", "by hand", "auto : off", "by hand : off", "to reach", "built", "rows removed", "partitions skipped", "nested loops")
    for row in rows("targets.csv"):
        line(
            row["case"],
            row["runs"],
            *(f"{float(row[mode]) * 1000:.1f}" if row[mode] else "" for mode in ("off", "auto", "on", "hand")),
            f"**{fraction(row, 'auto'):.2f}**",
            f"{fraction(row, 'hand'):.2f}" if row["hand"] else "",
            row["wanted"],
            *(row[column] for column in ("built", "rows_removed", "partitions_skipped", "nested_loops")),
        )
    print()


def blocks():
    print("## Blocks\n")
    print(f"{int(6_000_000 * SCALE):,} sales of 60 months with BRIN indexes of 128 pages: `blocks.py`. Processor time in ms, of all")
    print("processes where a query has workers; what EXPLAIN says of the filter that skips most blocks. *PostgreSQL's choice*:")
    print("with nested loops and `random_page_cost` 1.1; the other cases have only hash joins.\n")
    skipping("blocks.csv", "blocks skipped")


def days():
    print("## Joins by the day\n")
    print("Events of 60 months joined with days by an expression, such as `ts::date`: `days.py`. Processor time in ms, of all processes")
    print("where a query has workers; what EXPLAIN says of the filter that skips most. The plan of off is PostgreSQL's choice.\n")
    skipping("days.csv", "blocks or partitions skipped")


def ranges():
    print("## A range of time beside the join\n")
    print("Events of six years joined with the holidays among the days, with a range of time in WHERE: `ranges.py`. Processor time in ms, of all")
    print("processes where a query has workers; what EXPLAIN says of the filter that skips most. The plan of off is PostgreSQL's choice.\n")
    skipping("ranges.csv", "blocks skipped")


def skipping(name, skipped):
    table("case", "runs", "off", "auto", "on", "auto : off", "to reach", skipped)
    for row in rows(name):
        times = (f"{float(row[mode]) * 1000:.1f}" for mode in ("off", "auto", "on"))
        line(row["case"], row["runs"], *times, f"**{fraction(row, 'auto'):.2f}**", row["wanted"], row["blocks"])
    print()


def warehouse():
    of = rows("warehouse.csv")
    loops = sum(1 for row in of if row["nested loops in the plan"] != "0")
    large = [row for row in of if float(row["cpu off"]) > 0.010]
    print("## A warehouse\n")
    print(f"{len(of)} queries over {int(2_000_000 * SCALE):,} sales as PostgreSQL plans them, {loops} of them with nested loops:")
    print("`warehouse.py`. Processor time in ms;", end=" ")
    print("nested loops in the plan of off; what the filters did in auto.\n")
    table("query", "", "runs", "off", "auto", "on", "auto : off", "on : off", "nested loops", "built", "rows removed", "partitions skipped", "filters of nested loops")
    for row in of:
        cpu = {mode: float(row[f"cpu {mode}"]) for mode in ("off", "auto", "on")}
        line(
            row["query"],
            row["title"],
            row["runs"],
            *(f"{cpu[mode] * 1000:.1f}" for mode in cpu),
            *(f"{cpu[mode] / cpu['off']:.2f}" for mode in ("auto", "on")),
            *(row[column] for column in ("nested loops in the plan", "built", "rows_removed", "partitions_skipped", "nested_loops")),
        )
    if not large:
        print("\nNo query takes 10 ms.\n")
        return
    ratios = {row["query"]: float(row["cpu auto"]) / float(row["cpu off"]) for row in large}
    worst = max(ratios, key=ratios.get)
    print(f"\nQueries of more than 10 ms: {len(large)}, geometric mean of auto : off {statistics.geometric_mean(ratios.values()):.3f}, ", end="")
    print(f"sum {sum(float(row['cpu auto']) for row in large) / sum(float(row['cpu off']) for row in large):.3f}.")
    print(f"Worst: {worst}, {ratios[worst]:.3f}. Slower by more than 5 %, a fault: ", end="")
    print((", ".join(row["query"] for row in of if row["fault"] == "1") or "none") + ".\n")


def curves():
    print("## By the share of rows that pass\n")
    print("2 million rows; 10,000 keys in cache, 200,000 past it, of which a share passes. Speedup by CPU.\n")
    of = rows("curves.csv")
    shares = sorted({int(row["share"]) for row in of})
    table("hash table", "", *(f"{share} %" for share in shares))
    for case in dict.fromkeys(row["case"] for row in of):
        for mode in ("on", "auto", "hand"):
            found = {int(row["share"]): row["speedup"] for row in of if (row["case"], row["mode"]) == (case, mode)}
            line(case if mode == "on" else "", mode.replace("hand", "by hand"), *(f"{float(found[share]):.2f}" for share in shares))
    print()


def planning():
    print("## Planning\n")
    print("Instructions to parse and plan a statement, counted by valgrind over 200, or over one of partitions; beside them, what is added")
    print("to those without the library.\n")
    table("statement", "library absent", "off", "auto", "on")
    for row in rows("planning.csv"):
        absent = int(row["absent"])
        line(
            row["statement"],
            f"{absent:,}",
            *(f"{int(row[mode]):,} ({100 * (int(row[mode]) / absent - 1):+.2f} %)" for mode in ("off", "auto", "on")),
        )
    print()


def wrong():
    print("## What a wrong estimate costs\n")
    print("All of 300,000 rows have one of the keys that pass, and the planner thinks that as many rows pass as keys do:")
    print("auto builds a filter of them for nothing, and asks it for 20,480 rows. Instructions of the whole process,")
    print("start included, counted by valgrind, which knows nothing of caches.\n")
    table("thought to pass", "keys", "off", "auto", "more")
    for row in rows("wrong.csv"):
        more = f"{100 * (int(row['auto']) / int(row['off']) - 1):+.1f} %" if row["filters"] != "0" else "no filter"
        line(f"{row['share']} %", f"{int(row['keys']):,}", f"{int(row['off']):,}", f"{int(row['auto']):,}", more)
    print()


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    model = [part for part in output("lscpu").splitlines() if part.startswith("Model name")]
    small = " with QUICK=1, **which is too small to judge by**" if QUICK else ""
    print("# Join filters\n")
    print(f"Written by `test/bench/join/run.sh`{small} with version {output('make', '-s', 'version').strip()}: {output('pg_config', '--version').split(' (')[0].strip()}, one process unless said,")
    print(f"no JIT, medians of so many runs as said, in which the ways take turns, checked to give the same rows.")
    print(f"{model[0].split(':')[1].strip() if model else ''}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}.")
    if os.environ.get("BUSY"):
        print(os.environ["BUSY"])
    print("Judge by the ratios. *By hand* is a condition in the query that looks up a filter of a subquery over the small side.\n")
    parts = {"targets": targets, "blocks": blocks, "days": days, "ranges": ranges, "warehouse": warehouse, "figures": figures, "curves": curves, "planning": planning, "wrong": wrong}
    for name, part in parts.items():
        if os.path.exists(os.path.join(DIRECTORY, f"{name}.csv")):
            part()


main()
