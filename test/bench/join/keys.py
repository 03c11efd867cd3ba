#!/usr/bin/python3
"""Joins by an expression of a column, drawn at random, into KEYS.md: keys.py DIRECTORY

SHAPES=40 shapes with the seeds SEED (1) on, or as many as start in MINUTES. Each property is drawn by itself: rows, keys, unit, zone, the share of the table
that the keys span, how densely and in which pattern, the order of the table, its index, conditions, a LIMIT. A session runs
`off` and `auto` in turns; the medians of its processor time are compared. LIBRARIES=old.so,new.so compares two builds.
"""

import os
import random
import re
import statistics
import sys
import time

from measure import HASH, MINUTES, SERIAL, START, psql, say, write

SHAPES = int(os.environ.get("SHAPES", "40"))
SEED = int(os.environ.get("SEED", "1"))
SECONDS = float(os.environ.get("SECONDS", "0.8"))  # of a mode, in each shape
LIBRARIES = os.environ.get("LIBRARIES", "cuckoofilter_join").split(",")  # several: files of builds that are compared
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2629746}
ZONES = ("", "", "UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata")
LONGEST = 60 * 31556952  # seconds that a table covers at most

# The positions of n keys among those of a table, from 0 on.
PATTERNS = {
    "regular": "(g / {density})::bigint",
    "random": "(hashint8extended(g, 5) & 9007199254740991) % ({n} / {density} + 1)::bigint",
    "runs": "(g / 24 * (24 / {density}))::bigint + g % 24",
}


def log(drawn, low, high):
    return round(low * (high / low) ** drawn.random())


class Shape:
    """What is drawn, and the SQL of it."""

    def __init__(self, seed):
        drawn = random.Random(f"keys {seed}")
        self.seed = seed
        self.rows = log(drawn, 10_000, 2_000_000)
        self.keys = log(drawn, 1, 100_000)
        self.density = drawn.choice((1, 0.7, 0.5, 0.3, 0.125, 0.02))
        self.span = drawn.choice((0.03, 0.3, 0.8, 1, 1, 1.3))  # of the keys, as a share of that of the table
        self.pattern = drawn.choice(list(PATTERNS))
        self.zone = drawn.choice(ZONES)
        self.order = drawn.choice(("in order", "in order", "5 % late", "shuffled", "partitions"))
        self.index = drawn.choice(("none", "brin", "brin", "btree"))
        self.condition = drawn.choice(("", "", "", "e.price < 500", "e.price < 50", "e.price + 0 < 900"))
        self.limit = drawn.choice((0, 0, 0, 0, 0, 100))
        self.divisor = drawn.choice((0, 0, 0, 7, 100, 1000))
        self.wide = drawn.choice((10, 60))
        self.units = max(round(self.keys / self.density / self.span), 1)  # that the table covers
        fits = [unit for unit, seconds in UNITS.items() if seconds * self.units <= LONGEST]
        self.unit = drawn.choice(fits)
        self.named = drawn.random() < 0.5  # the zone is in the query

    def positions(self):
        return PATTERNS[self.pattern].format(density=self.density, n=self.keys)

    def expressions(self):
        """The column that is filled from u, a place among the units, its type, the key of the join, and the keys of a position p."""
        if self.divisor:
            return f"(u * {self.divisor})::bigint", "bigint", f"e.c / {self.divisor}", "p"
        start, step = f"timestamp '{1985 if self.units * UNITS[self.unit] > LONGEST / 3 else 2015}-01-01'", f"interval '1 {self.unit}'"
        moment = f"{start} + u * {UNITS[self.unit]} * interval '1 second'"
        key = f"date_trunc('{self.unit}', {start}) + p * {step}"
        if not self.zone:
            return (moment, "timestamp", "e.c::date", f"({key})::date") if self.unit == "day" else (moment, "timestamp", f"date_trunc('{self.unit}', e.c)", key)
        moment = f"({moment}) AT TIME ZONE '{self.zone}'"
        if self.unit == "day" and self.named and self.zone != "UTC":
            return moment, "timestamptz", f"(e.c AT TIME ZONE '{self.zone}')::date", f"({key})::date"
        of = f", '{self.zone}'" if self.named else ""
        return moment, "timestamptz", f"date_trunc('{self.unit}', e.c{of})", f"({key}) AT TIME ZONE '{self.zone}'"

    def fill(self):
        column, kind, _, key = self.expressions()
        rows = f"SELECT g AS id, {column} AS c, g % 1000 AS price, repeat('x', {self.wide}) AS filler FROM generate_series(0, {self.rows} - 1) g, LATERAL (SELECT g * ({self.units}::float8 / {self.rows}) AS u) x"
        if self.order == "5 % late":
            rows = rows.replace("AS u)", "* CASE WHEN hashint4(g + 7) % 20 = 0 THEN 0.95 ELSE 1 END AS u)")
        yield "DROP TABLE IF EXISTS e, k"
        yield "SET TimeZone = 'UTC'"
        yield f"CREATE UNLOGGED TABLE k AS SELECT DISTINCT {key} AS c FROM generate_series(0, {self.keys} - 1) g, LATERAL (SELECT {self.positions()} AS p) x"
        if self.order == "partitions":
            bounds = [f"(SELECT {column.replace('u *', f'{self.units / 30 * i}::float8 *')})" for i in range(31)]
            yield f"CREATE TABLE e (id integer, c {kind}, price integer, filler text) PARTITION BY RANGE (c)"
            yield f"SELECT format('CREATE UNLOGGED TABLE e_%s PARTITION OF e FOR VALUES FROM (%L) TO (%L)', i, b[i], b[i + 1]) FROM (SELECT array[{', '.join(bounds)}] AS b) x, generate_series(1, 30) i WHERE b[i] < b[i + 1]\n\\gexec\nSELECT"
            yield "CREATE UNLOGGED TABLE e_default PARTITION OF e DEFAULT"
            yield f"INSERT INTO e {rows}"
        else:
            yield f"CREATE UNLOGGED TABLE e AS {rows}" + (" ORDER BY hashint4(g)" if self.order == "shuffled" else "")
        if self.index != "none":
            yield f"CREATE INDEX ON e USING {self.index} (c)"
        yield "VACUUM ANALYZE e, k"

    def query(self):
        _, _, expression, _ = self.expressions()
        join = f"FROM e JOIN k ON {expression} = k.c" + (f" WHERE {self.condition}" if self.condition else "")
        return f"SELECT count(*), sum(price::bigint) FROM (SELECT e.price {join} LIMIT {self.limit}) x" if self.limit else f"SELECT count(*), sum(e.price::bigint) {join}"

    def name(self):
        unit = f"bigint / {self.divisor}" if self.divisor else self.unit
        zone = "" if self.divisor or not self.zone else f" in {self.zone}" + (", named" if self.named else "")
        share = "all" if self.density == 1 else f"{self.density:g}"
        return f"{unit}{zone}; {self.keys:,} keys, {share} of them, {self.pattern}, over {self.span:g}; {self.rows:,} rows {self.order}, {self.index}" + (f"; {self.condition}" if self.condition else "") + (f"; LIMIT {self.limit}" if self.limit else "")


def measure(shape, library):
    """The medians of the processor time of `off` and `auto`, how often each ran, and what EXPLAIN says of the filter."""
    query = shape.query()
    head = [SERIAL, HASH, f"SET TimeZone = '{shape.zone or 'UTC'}'", f"LOAD '{library}'"]

    def run(times):
        text = [*head, "SET client_min_messages = log"]
        for _ in range(times):
            for mode in ("off", "auto"):
                text += [f"SET cuckoofilter.join_filter = {mode}", "SET log_statement_stats = on", query, "SET log_statement_stats = off"]
        out, err = psql(*text, errors=True)
        if not shape.limit and len(set(out.split())) != 1:
            sys.exit(f"seed {shape.seed}: answers differ: {out}")
        # the statement that switches the counters off is counted, too, and the one that switches them on may be
        used = [float(user) + float(system) for user, system in re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, [0-9.]+ s elapsed", err)]
        used = [one for i, one in enumerate(used) if i % 2 == 0]
        return used[0::2], used[1::2]

    plan = psql(*head, f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {query}")
    if "Cuckoo" not in plan:
        return 1, 1, 0, "no filter"
    what = "; ".join(line.strip() for line in plan.splitlines() if re.search(r"Blocks Skipped|Partitions Skipped|Rows Tested|Given Up", line))
    off, auto = run(2)
    times = min(max(int(SECONDS / max(statistics.median(off), 1e-4)), 5), 200)
    off, auto = run(times)
    return statistics.median(off), statistics.median(auto), times, what


def summary(rows, library):
    of = [(float(row[4]), float(row[5])) for row in rows if row[1] == library and row[3] > 0]
    ratios = [auto / off for off, auto in of]
    return f"{len(of)} shapes with a filter: auto : off of the sum {sum(auto for _, auto in of) / sum(off for off, _ in of):.3f}, above 1.05: {sum(one > 1.05 for one in ratios)}, worst {max(ratios):.2f}"


def page(directory, rows):
    """Of all shapes for which a build has a filter."""
    names = [os.path.basename(os.path.dirname(library)) or library for library in LIBRARIES]
    with open(os.path.join(directory, "KEYS.md"), "w", encoding="ascii") as file:
        file.write("# Joins by an expression: shapes drawn at random\n\n")
        file.write("Written by `keys.py`: the seeds {} to {}, of which those are listed for which a build has a\nfilter. Processor time in ms, medians, `off` and `auto` in turns.\n\n".format(rows[0][0], rows[-1][0]))
        file.writelines(f"- {name}: {summary(rows, library)}.\n" for name, library in zip(names, LIBRARIES))
        file.write("\n| seed | shape | " + " | ".join(f"{name}: off | auto | auto : off" for name in names) + " |\n|" + "---|" * (2 + 3 * len(names)) + "\n")
        for at in range(0, len(rows), len(LIBRARIES)):
            builds = rows[at : at + len(LIBRARIES)]
            if any(row[3] > 0 for row in builds):
                file.write(f"| {builds[0][0]} | {builds[0][2]} |" + "".join(f" {float(row[4]) * 1000:.1f} | {float(row[5]) * 1000:.1f} | **{float(row[5]) / float(row[4]):.2f}** |" if row[3] > 0 else " | | no filter |" for row in builds) + "\n")


def main():
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    rows = []
    for seed in range(SEED, SEED + SHAPES):
        if time.monotonic() - START > MINUTES * 60:
            break
        shape = Shape(seed)
        psql(*shape.fill())
        for library in LIBRARIES:
            off, auto, runs, what = measure(shape, library)
            rows.append((seed, library, shape.name(), runs, f"{off:.5f}", f"{auto:.5f}", what))
            say(f"{seed}: {auto / off:.3f}  {off * 1000:.1f} ms  {shape.name() if library == LIBRARIES[0] else ''}  {what}")
    write(sys.argv[1], "keys.csv", ("seed", "library", "shape", "runs", "off", "auto", "filter"), rows)
    for library in LIBRARIES:
        say(f"{library}: {summary(rows, library)}")
    page(sys.argv[1], rows)


if __name__ == "__main__":
    main()
