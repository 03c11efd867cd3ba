#!/usr/bin/python3
"""Joins of moments with days, by an expression such as ts::date: days.py DIRECTORY

Six million events (ROWS=n; SCALE=0.5: half as many) of about 100 bytes in 60 months: in the order of time with BRIN
indexes, 5 % of them late, in monthly partitions without an index, shuffled, and with a B-tree. The plan is PostgreSQL's
choice.
"""

import os
import sys

from blocks import WORKERS, Case, blocks_of
from measure import SCALE, Query, Server, contest, median, psql, say, write

MODES = ("off", "auto", "on")
ROWS = int(os.environ.get("ROWS", 6_000_000 * SCALE))
SECONDS = 1826 * 86400  # from 2019 to 2023
CHOICE = "RESET enable_nestloop; RESET enable_mergejoin; SET TimeZone = 'UTC'"
SAO_PAULO = f"{CHOICE}; SET TimeZone = 'America/Sao_Paulo'"  # where clocks went forward at midnight, and back to 23:00

FILL = f"""
SET TimeZone = 'UTC';
CREATE UNLOGGED TABLE calendar AS
    SELECT g AS n, d::date AS day, d AS at, d AT TIME ZONE 'UTC' AS tz, extract(year FROM d)::integer AS year, (hashint4(g) & 1023) % 36 = 17 AS holiday,
        (extract(year FROM d) * 12 + extract(month FROM d))::integer - 2019 * 12 - 1 AS month_number
    FROM generate_series(0, 1825) g, LATERAL (SELECT timestamp '2019-01-01' + g * interval '1 day' AS d) x;
CREATE UNLOGGED TABLE months AS SELECT min(at) AS at, min(tz) AS tz, month_number FROM calendar GROUP BY month_number;
CREATE UNLOGGED TABLE hours AS SELECT at + g * interval '1 hour' AS at, day, g AS hour FROM calendar, generate_series(0, 23) g;
CREATE UNLOGGED TABLE thousand AS SELECT g::numeric AS number FROM generate_series({ROWS} / 2, {ROWS} / 2 + 999) g;
CREATE UNLOGGED TABLE shops AS SELECT g AS shop, g % 10 AS size FROM generate_series(0, 999) g;
CREATE UNLOGGED TABLE goals AS SELECT day, shop, month_number, year FROM calendar, shops WHERE shop % 500 = 7;
CREATE UNLOGGED TABLE ordered AS
    SELECT g AS id, ts, ts AT TIME ZONE 'UTC' AS tz, (hashint8(g) & 1023) % 1000 AS shop, (g % 1000)::integer AS price, repeat('x', 40) AS filler
    FROM generate_series(0::bigint, {ROWS} - 1) g, LATERAL (SELECT timestamp '2019-01-01' + g * ({SECONDS}::float8 / {ROWS}) * interval '1 second' AS ts) x;
CREATE UNLOGGED TABLE late AS
    SELECT id, ts - back AS ts, tz - back AS tz, shop, price, filler
    FROM ordered, LATERAL (SELECT CASE WHEN hashint8(id + 7) % 20 = 0 THEN (hashint8(id) & 31) * interval '1 day' ELSE interval '0' END AS back) x;
CREATE UNLOGGED TABLE shuffled AS SELECT * FROM ordered ORDER BY hashint8(id);
CREATE UNLOGGED TABLE tree AS SELECT * FROM ordered;
CREATE TABLE parts (LIKE ordered) PARTITION BY RANGE (ts);
SELECT format('CREATE UNLOGGED TABLE parts_%s PARTITION OF parts FOR VALUES FROM (%L) TO (%L)', month_number, at, at + interval '1 month') FROM months ORDER BY at
\\gexec
CREATE UNLOGGED TABLE parts_last PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO (MAXVALUE);
INSERT INTO parts SELECT * FROM ordered;
""" + "".join(f"CREATE INDEX ON {table} USING brin ({column});\n" for table in ("ordered", "late", "shuffled") for column in ("ts", "tz")) + """
CREATE INDEX ON ordered USING brin (id);
CREATE INDEX ON tree (ts);
"""

TS = "JOIN calendar c ON e.ts::date = c.day"
TS_SHOP = "JOIN goals c ON e.ts::date = c.day AND e.shop = c.shop"
TZ = "JOIN calendar c ON e.tz::date = c.day"
MONTH = "WHERE month_number = 33"
MONTHS = "WHERE month_number IN (5, 33, 50)"
HOLIDAYS = "WHERE holiday"
YEAR = "WHERE year = 2021"


def case(name, table, rest, wanted, settings=CHOICE):
    field = "all" if WORKERS in settings else "cpu"
    return Case(Query(name, f"SELECT count(*), sum(price::bigint) FROM {table} e {rest}", settings, "", 10 if field == "all" else 1), field, wanted)


def several(name, table, join, *rest):
    """A case for each period and what it is to reach."""
    return [case(f"{name}: {period}", table, f"{join} {where}", wanted) for period, where, wanted in rest]


def periods(month, months, holidays, year):
    of = (("1 month of 60", MONTH, month), ("3 scattered months", MONTHS, months), ("47 holidays", HOLIDAYS, holidays), ("a year", YEAR, year))
    return [one for one in of if one[2] is not None]


CASES = (
    *several("ts::date, in order", "ordered", TS, *periods(0.06, 0.12, 0.12, 0.4)),
    *several("ts::date, 5 % late", "late", TS, *periods(0.08, 0.15, 0.3, 0.45)),
    *several("ts::date, 61 partitions", "parts", TS, *periods(0.06, 0.12, 0.3, 0.4)),
    *several("ts::date, a B-tree", "tree", TS, *periods(0.05, None, 0.12, 0.5)),
    *several("tz::date, in order", "ordered", TZ, *periods(0.06, None, 0.15, 0.4)),
    *several("ts::date and a shop, in order", "ordered", TS_SHOP, *periods(0.03, None, None, 0.3)),
    case("tz::date in Sao Paulo, in order: 1 month of 60", "ordered", f"{TZ} {MONTH}", 0.06, SAO_PAULO),
    case("date_trunc('day', ts): 1 month of 60", "ordered", f"JOIN calendar c ON date_trunc('day', e.ts) = c.at {MONTH}", 0.06),
    case("date_trunc('day', tz): 1 month of 60", "ordered", f"JOIN calendar c ON date_trunc('day', e.tz) = c.tz {MONTH}", 0.06),
    case("date_trunc('month', ts): 1 month of 60", "ordered", f"JOIN months c ON date_trunc('month', e.ts) = c.at {MONTH}", 0.06),
    case("date_trunc('month', tz): 1 month of 60", "ordered", f"JOIN months c ON date_trunc('month', e.tz) = c.tz {MONTH}", 0.06),
    case("date_trunc('hour', ts): a day", "ordered", "JOIN hours c ON date_trunc('hour', e.ts) = c.at WHERE c.day = '2021-10-15'", 0.06),
    case("(tz AT TIME ZONE 'Europe/Berlin')::date: 1 month of 60", "ordered", f"JOIN calendar c ON (e.tz AT TIME ZONE 'Europe/Berlin')::date = c.day {MONTH}", 0.06),
    case("bigint = numeric, 1,000 near keys", "ordered", "JOIN thousand c ON e.id = c.number", 0.03),
    case("extract(year FROM ts): a year", "ordered", "JOIN (SELECT DISTINCT year FROM calendar WHERE year = 2021) c ON extract(year FROM e.ts) = c.year", 0.4),
    case("(ts - interval '6 hours')::date: 1 month of 60", "ordered", f"JOIN calendar c ON (e.ts - interval '6 hours')::date = c.day {MONTH}", 0.06),
    case("id / 100, 10 keys", "ordered", "JOIN (SELECT DISTINCT number::bigint / 100 AS k FROM thousand) c ON e.id / 100 = c.k", 0.03),
    case("a second dimension above: 1 month of 60", "ordered", f"{TS} JOIN shops s USING (shop) {MONTH} AND s.size >= 0", 0.12),
    case("a second dimension above: a year", "ordered", f"{TS} JOIN shops s USING (shop) {YEAR} AND s.size >= 0", 0.4),
    case("two workers: 1 month of 60", "ordered", f"{TS} {MONTH}", 0.11, f"{CHOICE}; {WORKERS}"),
    case("two workers: a year", "ordered", f"{TS} {YEAR}", 0.45, f"{CHOICE}; {WORKERS}"),
    case("ts::date, shuffled: 1 month of 60", "shuffled", f"{TS} {MONTH}", 0.8),
    case("tz::date, shuffled: 1 month of 60", "shuffled", f"{TZ} {MONTH}", 0.6),
    case("ts::date, shuffled: 20 % of the days", "shuffled", f"{TS} WHERE n % 5 = 2", 0.85),
    case("ts::date, shuffled: 40 % of the days", "shuffled", f"{TS} WHERE n % 5 IN (2, 4)", 0.95),
    case("ts::date, in order: all match", "ordered", TS, 1.03),
    case("ts::date, shuffled: all match", "shuffled", TS, 1.03),
    case("ts::date, 61 partitions: all match", "parts", TS, 1.03),
    case("ts::date, in order: 80 % of the days", "ordered", f"{TS} WHERE n % 5 <> 2", 1.03),
    case("ts::date, shuffled: 80 % of the days", "shuffled", f"{TS} WHERE n % 5 <> 2", 1.03),
    case("date_trunc('hour', ts): 8 o'clock of all days", "ordered", "JOIN hours c ON date_trunc('hour', e.ts) = c.at WHERE c.hour = 8", 1.03),
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
    write(sys.argv[1], "days.csv", ("case", "runs", *MODES, "wanted", "blocks"), rows)


if __name__ == "__main__":
    main()
