#!/usr/bin/python3
"""How many times as fast queries are with join filters, by the table "Queries" of a page of results:
picture.py DIRECTORY draws figures.svg beside the RESULTS.md there."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bars import draw, label  # noqa: E402

BLUE = 0x2F6690
GREY = 0x9AA5B1


def panels(directory):
    """Of the picture, see draw: the table, but its rows of wrong estimates, which have a table of their own."""
    with open(os.path.join(directory, "RESULTS.md"), encoding="utf-8") as file:
        table = file.read().split("\n## Queries\n")[1].split("\n\n![")[0]
    rows = []
    for line in re.findall(r"^\| (.*) \|$", table, re.M)[1:]:
        query, speedup = (line.split(" | ")[i].strip("*") for i in (0, 7))
        if "estimated" not in query:
            rows.append((query, 1, GREY, speedup) if speedup == "no filter" else (query, float(speedup), BLUE, label(float(speedup))))
    return [("times as fast, by processor time", {}, rows)]


def main():
    draw(os.path.join(sys.argv[1], "figures.svg"), "Join filters: 5 million rows, joined with 500,000 keys (dashed: no gain)", panels(sys.argv[1]))


if __name__ == "__main__":
    main()
