#!/usr/bin/python3
"""Writes RESULTS.md from the CSV files of one run: report.py DIRECTORY"""

import collections
import csv
import math
import os
import platform
import statistics
import subprocess
import sys

DIRECTORY = sys.argv[1]
FULL_SIZE = "192 MB"
OURS = ("plain", "semi-sorted")
FILTERS = ("CF", "ss-CF", "BF", "blk-BF", "QF", "dl-CBF") + OURS

# Table 3 of the paper: bits an item, false positives in per cent, million inserts a second.
PAPER_TABLE_3 = {
    "CF": (12.60, 0.19, 5.00),
    "ss-CF": (12.58, 0.09, 3.13),
    "BF": (13.00, 0.19, 3.91),
    "blk-BF": (13.00, 0.43, 7.64),
    "QF": (13.33, 0.18, 1.91),
    "dl-CBF": (15.51, 0.76, 4.78),
}
# Figure 2 (table 2 of the 2013 form), b = 4 and 2^25 buckets: load factor by f.
PAPER_LOADS = {2: 17.5, 4: 67.7, 6: 95.4, 8: 95.6, 12: 95.8, 16: 95.8}


def rows(name):
    with open(os.path.join(DIRECTORY, name + ".csv"), newline="") as file:
        return list(csv.DictReader(file))


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def table(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def name_of(name):
    return "**ours, %s**" % name if name in OURS else name


def figure(value, form="%.1f"):
    return form % float(value) if float(value) > 0 else "-"


def machine():
    cpu = dict(map(str.strip, line.split(":", 1)) for line in output("lscpu").splitlines() if ":" in line)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    compiler = output("cc", "--version").splitlines()
    virtual = ", virtual (%s)" % cpu["Hypervisor vendor"] if "Hypervisor vendor" in cpu else ""
    print(f"""A legend for the tables: CF is the paper's cuckoo filter, ss-CF the same with semi-sorted buckets, BF a
Bloom filter, blk-BF a blocked Bloom filter, QF a quotient filter, dl-CBF a d-left counting Bloom filter.

## The machine

- {cpu.get("Model name", platform.machine())}, {os.cpu_count()} processors{virtual}
- caches: L1d {cpu.get("L1d cache")}, L2 {cpu.get("L2 cache")}, L3 {cpu.get("L3 cache")}; memory {memory:.0f} GB
- Linux {platform.release()}, {compiler[0] if compiler else "cc"}
- the engine with -O2 as it ships, the six references with -O3; one thread; XXH3 of each
  8-byte key is part of every figure; memory from malloc, touched before it is timed
- a filter of ten million items has 18 to 25 MB. If the L3 cache holds it, CF's random accesses
  cost little, and our ratios of building are lower than on a machine with a smaller cache
""")


# ---------------------------------------------------------------- the ratios


class Ratios:
    """ratio.csv: speeds by measure and filter, round by round."""

    def __init__(self):
        self.speeds = collections.defaultdict(list)
        for row in rows("ratio"):
            self.speeds[row["measure"], row["filter"]].append(float(row["speed"]))

    def cell(self, measure, who, base_measure, base):
        mine, theirs = self.speeds[measure, who], self.speeds[base_measure, base]
        ratio = statistics.median(a / b for a, b in zip(mine, theirs))
        return "%.2f (%.1f : %.1f)" % (ratio, statistics.median(mine), statistics.median(theirs))

    def line(self, what, reach, measure, bases):
        """bases: for plain and semi-sorted, (measure, filter) to compare with."""
        return [what, reach] + [self.cell(measure, who, *base) for who, base in zip(OURS, bases)]


def large_line(what, reach, table_name, column, base_column, where=lambda row: True):
    """The same from the CSV files of the large tables."""
    speeds = {row["filter"]: row for row in rows(table_name) if where(row)}
    base = float(speeds["CF"][base_column])
    return [what, reach] + [
        "%.2f (%.1f : %.1f)" % (float(speeds[who][column]) / base, float(speeds[who][column]), base)
        for who in OURS
    ]


def bulk_line(what, reach, column):
    construct = next(float(row["construct"]) for row in rows("table3") if row["filter"] == "CF")
    speeds = {row["filter"]: float(row[column]) for row in rows("bulk")}
    return [what, reach] + [
        "%.2f (%.1f : %.1f)" % (speeds[who] / construct, speeds[who], construct) for who in OURS
    ]


def fastest(size):
    ratios = Ratios()
    many, half = ("ten million", "five") if size == FULL_SIZE else ("one million", "half of it")
    cf = lambda measure: [(measure, "CF")] * 2
    both = lambda measure: [(measure, "CF"), (measure, "ss-CF")]
    own = lambda measure: [(measure, who) for who in OURS]
    share = lambda percent: lambda row: row["share"] == percent

    print(f"""## Beside the paper's filters, in one run

Ratio (ours : theirs, million a second). Where not said otherwise, theirs is CF, and filled
one by one. In cache is n = 996,147, 1.5 MB, and ratios there are medians over rounds in which
each filter had a turn. For {many} CF has a power of two of slots, some 60 % of them full.
""")
    large = f"{many} (semi-sorted: against ss-CF)"
    cache = "in cache (semi-sorted: against ss-CF)"
    lines = (
        (ratios.line, "lookups of present keys, " + cache, "0.8 / 1.3", "found", both("found")),
        (ratios.line, "lookups of absent keys, " + cache, "0.8 / 1.3", "missed", both("missed")),
        (ratios.line, "lookups of present keys, in cache, batched", "", "found batched", cf("found")),
        (ratios.line, "inserts one by one, in cache", "1.0", "insert", cf("insert")),
        (ratios.line, "deletes, in cache", "1.0", "remove", cf("remove")),
        (ratios.line, "lookups of present keys, " + large, "", "large found", both("large found")),
        (ratios.line, "lookups of absent keys, " + large, "", "large missed", both("large missed")),
        (ratios.line, "inserts one by one, " + large, "", "large insert", both("large insert")),
        (ratios.line, "deletes, " + large, "0.8 / 1.0", "large remove", both("large remove")),
        (large_line, "lookups of present keys, " + size, "1.0", "shares", "lookup", "lookup", share("100")),
        (large_line, "lookups of absent keys, " + size, "1.0", "shares", "lookup", "lookup", share("0")),
        (large_line, "the same, batched, present", "2", "shares", "batched", "lookup", share("100")),
        (large_line, "the same, batched, absent", "2", "shares", "batched", "lookup", share("0")),
        (large_line, "inserts one by one, " + size, "1.0", "table3", "construct", "construct"),
        (large_line, "deletes, " + size, "1.0", "table3", "remove", "remove"),
        (ratios.line, f"bulk build, {many}: hash, sort, place", "2.5", "bulk", cf("build")),
        (ratios.line, "of which: placing sorted hashes", "", "place", cf("build")),
        (ratios.line, "the same by the aggregate, row by row", "", "aggregate", cf("build")),
        (bulk_line, f"bulk build, {size}: hash, sort, place", "5", "all"),
        (bulk_line, "of which: placing sorted hashes", "", "placing"),
        (ratios.line, f"growth to {many} from empty, against a table large enough", "0.5", "grow", own("large enough")),
        (ratios.line, f"union of two filters of {half}, against a bulk build of {many}", "0.7", "union", own("bulk")),
    )
    table(("what", "to reach", "ours, plain", "ours, semi-sorted"), [of(*arguments) for of, *arguments in lines])


# ------------------------------------------------------------ the evaluation


def table_3(size):
    print(f"""## Table 3: filters of {size}

Filled with random keys to the first failure (BF, blk-BF, QF: to the load that they are
made for); construction is the mean over all inserts, one by one. The paper's figures stand
behind the slash; its machine was a Xeon L5640.
""")
    lines = []
    for row in rows("table3"):
        paper = PAPER_TABLE_3.get(row["filter"])
        behind = lambda i, form: " / " + form % paper[i] if paper else ""
        lines.append(
            [
                name_of(row["filter"]),
                "%.2f" % (float(row["items"]) / 1e6),
                "%.2f" % float(row["bits_per_item"]) + behind(0, "%.2f"),
                "%.3f %%" % (100 * float(row["fpr"])) + behind(1, "%.2f %%"),
                "%.2f" % float(row["construct"]) + behind(2, "%.2f"),
                figure(row["remove"], "%.2f"),
            ]
        )
    head = ("filter", "million items", "bits an item", "false positives", "construction, M/s", "deletes when full, M/s")
    table(head, lines)
    print("""Our dl-CBF has counts of 2 bits and remainders of 10 in its cells of 12 (Bonomi et al.), which
puts its rate at n / 2^33; our blk-BF takes nine independent bits of a block.
""")


def figure_2():
    loads = {
        (row["filter"], row["b"], row["log_buckets"], int(row["f"])): row["load"]
        for row in rows("load")
    }
    sizes = sorted({key[2] for key in loads}, key=int)
    columns = [("CF", "4", size) for size in sizes]
    columns += [(who, b, size) for who, b in (("ours", "4"), ("CF", "8"), ("ours", "8")) for size in sizes[:2]]
    largest = next(row for row in rows("table3") if row["filter"] == "CF")
    if largest["bytes"] == str(192 << 20):
        loads["CF", "4", "25", 12] = int(largest["items"]) / 2**27

    print("""## Figure 2: load factor by fingerprint bits, in per cent

CF: at the first insert that fails after 500 kicks. Ours: where an add asks for more room, as
the engine decides; it has no f below 4.
""")
    lines = []
    for f in sorted({key[3] for key in loads}):
        cells = [loads.get(column + (f,)) for column in columns]
        lines.append(
            [str(f), figure(PAPER_LOADS.get(f, 0))]
            + [figure(100 * float(cell)) if cell else "-" for cell in cells]
        )
    table(["f", "paper, b = 4, 2^25"] + ["%s, b = %s, 2^%s" % column for column in columns], lines)
    print("![load factor](load.svg)\n")


def figures_3_and_4():
    groups = collections.defaultdict(list)
    for row in rows("equal"):
        groups[float(row["target"]), row["filter"]].append(
            {key: float(value) for key, value in row.items() if key != "filter"}
        )
    most = max(row["items"] for group in groups.values() for row in group)

    print(f"""## Figures 3 and 4: bits an item by false positive rate

Lines: CF and ss-CF full to the first failure, in a power of two of buckets. Points: ours,
at four sizes to an octave.

![bits an item against Bloom and the lower bound](space.svg)

![bits an item by bucket size](space-b.svg)

### What a rate costs when the number of items is given

Averaged over n = 10^5 .. 10^{math.log10(most):.0f}. Each filter is made for n items and the target, and reaches
some rate at or under it; the last four columns compare it at that rate. CF and ss-CF have a
power of two of buckets.
""")
    lines = []
    for (target, name), group in sorted(
        groups.items(), key=lambda item: (-item[0][0], FILTERS.index(item[0][1]))
    ):
        reached = 2 ** statistics.mean(math.log2(row["fpr"]) for row in group)
        lines.append(
            [
                "%g %%" % (100 * target),
                name_of(name),
                "**%.2f**" % statistics.mean(row["bits_per_item"] for row in group),
                "%.4f %%" % (100 * reached),
                "%.2f" % statistics.mean(row["bf_bits"] for row in group),
                "%.2f" % statistics.mean(row["blk_bf_bits"] for row in group),
                "%.2f" % statistics.mean(-math.log2(row["fpr"]) for row in group),
                "+%.2f" % statistics.mean(row["bits_per_item"] + math.log2(row["fpr"]) for row in group),
            ]
        )
    of_rate = ("BF of that rate", "blk-BF of that rate", "lower bound of that rate", "above the bound")
    table(("target", "filter", "bits an item", "rate reached (geometric mean)", *of_rate), lines)


def figures_5_to_8(size):
    shares = collections.defaultdict(dict)
    for row in rows("shares"):
        shares[row["filter"]][row["share"]] = row

    print("## Figure 5: lookups by the share of present keys, %s, full\n" % size)
    print("In the paper CF is flat, and ahead of all but blk-BF's misses. Million a second:\n")
    percent = ("0", "25", "50", "75", "100")
    lines = []
    for name in FILTERS:
        lines.append([name_of(name)] + [figure(shares[name][p]["lookup"]) for p in percent])
        if name in OURS:
            lines.append(
                [name_of(name) + ", batched"]
                + [figure(shares[name][p]["batched"]) for p in percent]
            )
    table(["filter"] + ["%s %% present" % p for p in percent], lines)
    print("![lookups by share](share.svg)\n")

    steps = collections.defaultdict(list)
    for row in rows("occupancy"):
        steps[row["filter"]].append(row)
    print("## Figures 6 to 8: lookups, inserts and deletes by occupancy, %s\n" % size)
    print("""At a quarter, half, three quarters and all of the load that a filter is made for. In the
paper CF is fastest to delete, and its inserts slow down as it fills.
""")
    lines = []
    for name in FILTERS:
        at = [steps[name][i] for i in (4, 9, 14, 19)]
        lines.append(
            [name_of(name)]
            + [
                ", ".join(figure(row[column]) for row in at)
                for column in ("found", "missed", "insert", "remove")
            ]
        )
    table(("filter", "lookups, present", "lookups, absent", "inserts", "deletes"), lines)
    for picture, what in (
        ("occupancy", "lookups of present keys"),
        ("occupancy-missed", "lookups of absent keys"),
        ("insert", "inserts"),
        ("delete", "deletes"),
    ):
        print("![%s](%s.svg)\n" % (what, picture))


def main():
    size = "%d MB" % (max(int(row["bytes"]) for row in rows("table3")) >> 20)
    small = " with QUICK=1, **whose sizes are too small to judge by**," if size != FULL_SIZE else ""
    print(f"""# Benchmarks

Written by `make bench`{small} with version {output("make", "-s", "version")}: the evaluation of Fan, Andersen, Kaminsky, Mitzenmacher, *Cuckoo
Filter: Practically Better Than Bloom* (CoNEXT 2014), its six filters written anew as
references, beside our tables. Speeds depend on what else the machine does; ratios less so.
""")
    machine()
    fastest(size)
    table_3(size)
    figure_2()
    figures_3_and_4()
    figures_5_to_8(size)


main()
