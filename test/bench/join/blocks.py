#!/usr/bin/python3
"""Scans that skip the blocks in which no key is: blocks.py DIRECTORY

Six million sales (SCALE=0.5: half as many) of 60 months, with BRIN indexes: in the order of time, 5 % of them
late, and in no order. A period of a dimension, the lines of orders, few keys by a B-tree, keys whose two sides have types
of their own. Then with nested loops over a BRIN index where PostgreSQL chooses them.
"""

import collections
import sys

from measure import SCALE, Query, Server, contest, median, psql, say, write

MODES = ("off", "auto", "on")
SALES = int(6_000_000 * SCALE)

# The types of the two sides, each with each that it has a hash operator with, and the key of row or number {0}.
KEYS = {"smallint": "({0} - 15000)::smallint", "integer": "({0} - 15000)::integer", "bigint": "({0} - 15000)::bigint"}
TIMES = {"date": "date '1990-01-01' + ({0})", "timestamp": "timestamp '1990-01-01' + ({0}) * interval '1 second'", "timestamptz": "timestamptz '1990-01-01' + ({0}) * interval '1 second'"}
PAIRS = [(probe, build) for probe in KEYS for build in KEYS] + [(one, one) for one in TIMES]


def typed(number):
    return ", ".join(f"{key.format(number)} AS of_{name}" for name, key in {**KEYS, **TIMES}.items())


FILL = f"""
CREATE UNLOGGED TABLE calendar AS
    SELECT g AS day_key, g / 365 AS year, g * 60 / 1825 AS month_number, g * 60 / 1825 % 12 AS month FROM generate_series(0, 1824) g;
CREATE UNLOGGED TABLE orders AS
    SELECT g AS order_key, (g * 1825::bigint * 4 / {SALES})::integer AS day_key, hashint4(g) & 3 AS status FROM generate_series(0, {SALES} / 4 - 1) g;
CREATE UNLOGGED TABLE customers AS SELECT g AS customer_key FROM generate_series(0, {SALES} / 60 - 1) g;
CREATE UNLOGGED TABLE sales AS
    SELECT g AS sale, (g * 1825::bigint / {SALES})::integer AS day_key, g / 4 AS order_key, (hashint4(g) & 2147483647) % ({SALES} / 12) AS customer_key,
        g % 1000 AS price, g % 10 AS quantity, g::float8 AS amount
    FROM generate_series(0, {SALES} - 1) g;
CREATE UNLOGGED TABLE late AS
    SELECT sale, CASE WHEN hashint4(sale + 7) % 20 = 0 THEN greatest(day_key - (hashint4(sale) & 31), 0) ELSE day_key END AS day_key, order_key, customer_key, price, quantity, amount FROM sales;
CREATE UNLOGGED TABLE shuffled AS SELECT * FROM sales ORDER BY hashint4(sale);
CREATE UNLOGGED TABLE indexed AS SELECT * FROM sales;
CREATE INDEX ON indexed (day_key);
CREATE INDEX ON orders (day_key);
CREATE INDEX ON sales USING brin (day_key);
CREATE INDEX ON sales USING brin (order_key);
CREATE INDEX ON late USING brin (day_key);
CREATE INDEX ON shuffled USING brin (day_key);
CREATE INDEX ON shuffled USING brin (order_key);
CREATE INDEX ON shuffled (customer_key);
CREATE UNLOGGED TABLE typed AS SELECT sale, price, {typed(f"(sale * 30000::bigint / {SALES})::integer")} FROM sales;
CREATE UNLOGGED TABLE heads AS SELECT g AS number, {typed("g")} FROM generate_series(0, 29999) g;
""" + "".join(f"CREATE INDEX ON typed USING brin (of_{one}) WITH (pages_per_range = 16);\n" for one in (*KEYS, *TIMES))

# A query, the processes that it is measured by (cpu: its backend, all: all of the server), and the ratio of processor time
# auto / off that is to be reached.
Case = collections.namedtuple("Case", "query field wanted")
WORKERS = "SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"


CHOICE = "RESET enable_nestloop; RESET enable_mergejoin; SET random_page_cost = 1.1"


def case(name, table, rest, wanted, settings=""):
    field = "all" if settings == WORKERS else "cpu"
    return Case(Query(name, f"SELECT count(*), sum(price::bigint) FROM {table} f {rest}", settings, "", 10 if field == "all" else 1), field, wanted)


MONTH = "JOIN calendar USING (day_key) WHERE month_number = 33"
MONTHS = "JOIN calendar USING (day_key) WHERE month_number IN (5, 33, 50)"
MONTH_OF_YEAR = "JOIN calendar d ON f.day_key = d.day_key JOIN calendar e ON f.day_key = e.day_key WHERE d.year = 2 AND e.month = 5"
# A condition that no row meets, though it is expected of most; and keys of two months that could fail, so that they come
# after the first row.
NONE = "price % 10 <> quantity"
LATER = "JOIN (SELECT day_key, 1 / (year + 1) AS x FROM calendar WHERE month_number < 2 OFFSET 0) c USING (day_key) WHERE x >= 0"
LINES = "JOIN orders o USING (order_key) WHERE o.day_key BETWEEN 1004 AND 1034"

CASES = (
    case("in order, 1 month of 60", "sales", MONTH, 0.06),
    case("in order, 3 scattered months", "sales", MONTHS, 0.15),
    case("in order, a year", "sales", "JOIN calendar USING (day_key) WHERE year = 2", 0.45),
    case("5 % late, 1 month", "late", MONTH, 0.08),
    case("5 % late, 3 months", "late", MONTHS, 0.2),
    case("lines of the orders of a month", "sales", LINES, 0.06),
    case("two dimensions, a year and a month", "sales", MONTH_OF_YEAR, 0.1, "SET join_collapse_limit = 1"),
    case("two workers, 1 month", "sales", MONTH, 0.12, WORKERS),
    case("two workers, lines of orders", "sales", LINES, 0.12, WORKERS),
    *(
        case(f"{n} keys where many were estimated", "shuffled", f"JOIN customers c USING (customer_key) WHERE c.customer_key + 0 < {n}", wanted)
        for n, wanted in ((10, 0.03), (100, 0.1), (1000, 0.35))
    ),
    case("the first row is late, 1 month", "sales", f"{MONTH} AND sale >= {SALES} / 2", 0.06),
    case("the first row is late, a dear build side", "sales", f"{LINES} AND sale >= {SALES} / 2", 0.7),
    case("no row, 1 month", "sales", f"{MONTH} AND {NONE}", 0.06),
    case("no row, a dear build side", "sales", f"JOIN orders o USING (order_key) WHERE o.status = 1 AND {NONE}", 1.03),
    case("no row, keys that do not come", "sales", f"{LATER} AND {NONE}", 1.03),
    case("keys that come, LIMIT", f"(SELECT price FROM sales {LATER} AND sale IN (5, {SALES} / 64) LIMIT 2)", "", 1.05, "SET synchronize_seqscans = off"),
    *(
        case(f"40 scattered runs, {probe} = {build}", "typed", f"JOIN heads h ON f.of_{probe} = h.of_{build} WHERE number % 750 < 40", 0.2)
        for probe, build in PAIRS
    ),
    case("shuffled, 1 month", "shuffled", MONTH, 1.02),
    case("all rows match, in order", "sales", "JOIN calendar USING (day_key)", 1.03),
    case("all rows match, shuffled", "shuffled", "JOIN calendar USING (day_key)", 1.03),
    case("keys all over", "shuffled", "JOIN orders o USING (order_key) WHERE o.status = 1", ""),
    *(
        case(f"{name}, PostgreSQL's choice", table, rest, wanted, CHOICE)
        for name, table, rest, wanted in (
            ("1 month", "sales", MONTH, 0.5),
            ("3 months", "sales", MONTHS, 0.5),
            ("5 % late, 1 month", "late", MONTH, 0.15),
            ("5 % late, 3 months", "late", MONTHS, 0.15),
            ("5 % late, two dimensions", "late", MONTH_OF_YEAR, 0.15),
            ("30 scattered days", "sales", "JOIN calendar USING (day_key) WHERE day_key % 61 = 7", 1.05),
            ("B-tree in its order, 1 month", "indexed", MONTH, 1.05),
        )
    ),
)


def blocks_of(query):
    """Of the filter that skips most blocks or partitions: what EXPLAIN says."""
    out = psql("SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET enable_mergejoin = off", query.settings or "SELECT", "LOAD 'cuckoofilter_join'", "SET cuckoofilter.join_filter = auto", f"EXPLAIN (ANALYZE, TIMING OFF) {query.sql}")
    lines = [line.split(": ")[1] for line in out.splitlines() if "Blocks Skipped" in line or "Partitions Skipped" in line]
    return max(lines, key=lambda line: int(line.split()[0]), default="")


def main():
    psql(FILL)
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    say(f"{SALES:,} sales")
    queries = [one.query for one in CASES]
    runs = contest(Server(), queries, MODES)
    rows = []
    for query, field, wanted in CASES:
        cpu = [f"{median(runs[query.name, mode], field):.4f}" for mode in MODES]
        rows.append((query.name, len(runs[query.name, "off"]), *cpu, wanted, blocks_of(query)))
    write(sys.argv[1], "blocks.csv", ("case", "runs", *MODES, "wanted", "blocks"), rows)


if __name__ == "__main__":
    main()
