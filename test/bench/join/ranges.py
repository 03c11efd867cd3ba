#!/usr/bin/python3
"""Joins with days beside a range of time in WHERE: ranges.py DIRECTORY

Six million events (ROWS=n; SCALE=0.5: half as many) of six years: in the order of time with BRIN indexes or a B-tree, 5 % of
them late, shuffled with a B-tree. The plan is PostgreSQL's choice: Bitmap Heap Scans, Index Scans and others.
"""

import os
import sys

from blocks import WORKERS, Case, blocks_of
from measure import SCALE, Query, Server, contest, median, psql, say, write

MODES = ("off", "auto", "on")
ROWS = int(os.environ.get("ROWS", 6_000_000 * SCALE))
CHOICE = "RESET enable_nestloop; RESET enable_mergejoin; SET TimeZone = 'UTC'"
FILL = f"""
SET TimeZone = 'UTC';
CREATE UNLOGGED TABLE calendar AS SELECT date '2018-01-01' + g AS day, (hashint4(g + 18) & 1023) % 16 = 7 AS holiday FROM generate_series(0, 2190) g;
CREATE UNLOGGED TABLE shops AS SELECT g AS shop, g % 100 AS size FROM generate_series(0, 999) g;
CREATE UNLOGGED TABLE ordered AS
    SELECT g AS id, at, at::date AS day, at + (hashint8(g + 3) & 8191) % 7200 * interval '1 second' AS got, (hashint8(g) & 1023) % 1000 AS shop, (g % 1000)::integer AS price,
        repeat('x', 40) AS filler
    FROM generate_series(0::bigint, {ROWS} - 1) g, LATERAL (SELECT timestamp '2018-01-01' + g * (2191 * 86400.0 / {ROWS}) * interval '1 second' AS at) x;
CREATE UNLOGGED TABLE late AS SELECT id, at - CASE WHEN hashint8(id + 7) % 20 = 0 THEN (hashint8(id) & 31) * interval '1 day' ELSE interval '0' END AS at, price, filler FROM ordered;
CREATE UNLOGGED TABLE tree AS SELECT * FROM ordered;
CREATE UNLOGGED TABLE shuffled AS SELECT * FROM ordered ORDER BY hashint8(id);
CREATE INDEX ON tree (at);
CREATE INDEX ON shuffled (at);
""" + "".join(f"CREATE INDEX ON {table} USING brin ({column});\n" for table, column in (("ordered", "at"), ("ordered", "got"), ("ordered", "day"), ("late", "at")))


def case(name, table, since, until, wanted, column="at", key="e.at::date", more="", where="c.holiday", settings=CHOICE):
    sql = f"SELECT count(*), sum(price::bigint) FROM {table} e JOIN calendar c ON {key} = c.day {more} WHERE {where} AND e.{column} >= '{since}' AND e.{column} < '{until}'"
    field = "all" if WORKERS in settings else "cpu"
    return Case(Query(name, sql, settings, "", 10 if field == "all" else 1), field, wanted)


TWO = ("2020-01-01", "2022-01-01")
QUARTER = ("2021-03-01", "2021-05-30")
FOUR = ("2019-01-01", "2023-01-01")
CASES = (
    case("BRIN, 2 of 6 years", "ordered", *TWO, 0.2),
    case("BRIN, 90 days", "ordered", *QUARTER, 0.3),
    case("BRIN, 4 of 6 years", "ordered", *FOUR, 0.22),
    case("BRIN, the last 2 years", "ordered", "2022-01-01", "2030-01-01", 0.22),
    case("BRIN, a range of another column", "ordered", *TWO, 0.25, column="got"),
    case("BRIN, and a dimension of 1 %", "ordered", *TWO, 0.25, more="JOIN shops s USING (shop)", where="c.holiday AND s.size = 7"),
    case("BRIN, a plain key", "ordered", *TWO, 0.2, column="day", key="e.day"),
    case("BRIN, 5 % late", "late", *TWO, 0.5),
    case("BRIN, two workers", "ordered", *TWO, 0.25, settings=f"{CHOICE}; {WORKERS}"),
    case("B-tree, 2 of 6 years", "tree", *TWO, 0.12),
    case("B-tree, 90 days", "tree", *QUARTER, 0.3),
    case("B-tree, 4 of 6 years", "tree", *FOUR, 0.22),
    case("B-tree, two workers", "tree", *TWO, 0.17, settings=f"{CHOICE}; {WORKERS}"),
    case("BRIN, all days match", "ordered", *TWO, 1.03, where="true"),
    case("B-tree, all days match", "tree", *TWO, 1.03, where="true"),
    case("B-tree, shuffled, 2 of 6 years", "shuffled", *TWO, 1.05),
    case("B-tree, shuffled, 90 days", "shuffled", *QUARTER, 1.05),
    case("BRIN, 2 hours", "ordered", "2021-03-01 10:00", "2021-03-01 12:00", 1.05),
)


def main():
    psql(FILL)
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    say(f"{ROWS:,} events")
    runs = contest(Server(), [one.query for one in CASES], MODES)
    rows = []
    for query, field, wanted in CASES:
        taken = {mode: median(runs[query.name, mode], field) for mode in MODES}
        rows.append((query.name, len(runs[query.name, "off"]), *(f"{taken[mode]:.4f}" for mode in MODES), wanted, blocks_of(query)))
        say(f"{query.name}: {taken['auto'] / max(taken['off'], 1e-6):.3f}, to reach {wanted}; {rows[-1][-1]}")
    write(sys.argv[1], "ranges.csv", ("case", "runs", *MODES, "wanted", "blocks"), rows)


if __name__ == "__main__":
    main()
