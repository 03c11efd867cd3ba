#!/usr/bin/python3
"""Writes SERVERS.md from servers.csv: servers_report.py DIRECTORY"""

import csv
import os
import platform
import subprocess
import sys

from servers import KEYS, ROUNDS, ROWS, SECTIONS, SHARDS

DIRECTORY = sys.argv[1]

NOTES = {
    "dimension": f"A table here has every fiftieth of {KEYS:,} keys. A list of so few bigints is as short as a filter with the rows of its"
    " false positives, and exact; it grows with the keys' length.",
    "text": "",
    "all": f"For {KEYS:,} keys, each on both servers. A stored filter is of a sixteenth of a server's rows; states of two phases carry whole hashes.",
    "ids": "A union keeps one copy of what looks alike; a sum, each item's own.",
    "traps": "A filter of 32 kB as it is sent, over one server. EXPLAIN of postgres_fdw sends a constant, and its plan brings it back.",
}


def line(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def processor():
    found = subprocess.run(["lscpu"], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}).stdout
    return next(row.split(":", 1)[1].strip() for row in found.splitlines() if row.startswith("Model name"))


def main():
    version = subprocess.run(["pg_config", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    with open(os.path.join(DIRECTORY, "servers.csv"), newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    print(
        f"""# Servers together

Written by `test/bench/sql/run.sh servers`: {ROWS:,} rows, half of them on each of two servers, which a third asks by postgres_fdw
(`async_capable`, `fetch_size` 10000). They are three databases of one PostgreSQL {version} on {processor()}, {os.cpu_count()} processors,
{platform.system()}, so that what a network would cost is not in the times: judge by the bytes, counted by a proxy, both ways, and by the processor time of
the server that asks and of all, medians of {ROUNDS} runs in turns. Ways to one answer are checked to agree. {SHARDS} filters
are stored on each server. {os.environ.get("BUSY", "")}"""
    )
    for section, (title, _) in SECTIONS.items():
        print(f"\n## {title}\n\n{NOTES[section]}\n" if NOTES[section] else f"\n## {title}\n")
        line("way", "rows fetched", "bytes", "CPU here, ms", "CPU of all, ms", "by the clock, ms")
        print("|" + "---|" * 6)
        for row in rows:
            if row["section"] == section:
                line(row["way"], f"{int(row['rows']):,}", f"{int(row['bytes']):,}", *(f"{float(row[field]) * 1000:.0f}" for field in ("cpu here", "cpu all", "wall")))


if __name__ == "__main__":
    main()
