#!/usr/bin/python3
"""What join filters are to reach, by case: partitions, order, nested loops, and where they cannot help: targets.py DIRECTORY

Over the warehouse, with its facts in other orders and partitions. Planning is measured by planning.py.
"""

import collections
import os
import sys

from measure import HASH, ROUNDS, Query, Server, contest, median, psql, say, write
from warehouse import COUNTERS, SALES, SETTINGS, counters, fill

MODES = ("off", "auto", "on", "hand")

# A query, the processes that it is measured by (cpu: its backend, all: all of the server), the ratio
# of processor time auto / off that is to be reached, and where it comes from.
Target = collections.namedtuple("Target", "query field wanted")

SERIAL = SETTINGS + f"; {HASH}"
LOOPS = SETTINGS + "; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = on; SET max_parallel_workers_per_gather = 0"
WORKERS = SERIAL + "; SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
NO_MEMOIZE = LOOPS + "; SET enable_memoize = off"
SPREAD = SERIAL + "; SET join_collapse_limit = 1"

MONTH = "JOIN dates USING (date_key) WHERE month_number = 33"
CONSTANT = " AND date_key BETWEEN 1004 AND 1034"  # what the month's condition is for the fact's own column
SUM = "SELECT count(*), sum(price::bigint) FROM"
FAR = SERIAL + "; SET cuckoofilter.join_filter_remote = on"


def target(name, sql, settings, wanted, field="cpu"):
    hand = sql + CONSTANT if sql.endswith(MONTH) else ""
    return Target(Query(name, sql, settings, hand, 1 if field == "cpu" else 10), field, wanted)


TARGETS = (
    target("one month of 60 partitions", f"{SUM} sales_60 {MONTH}", SERIAL, 0.06),
    target("one month of 600 partitions", f"{SUM} sales_600 {MONTH}", SERIAL, 0.12),
    target("one month of 60 partitions, two workers", f"{SUM} sales_60 {MONTH}", WORKERS, 0.12, "all"),
    target("one month of 600 partitions, two workers", f"{SUM} sales_600 {MONTH}", WORKERS, 0.12, "all"),
    target("one month of 60 foreign partitions", f"{SUM} far_60 {MONTH}", FAR, 0.1, "all"),
    target("a table in time order, one month of 60", f"{SUM} sales {MONTH}", SERIAL, 0.8),
    target("the same rows in no order", f"{SUM} shuffled {MONTH}", SERIAL, 0.8),
    target("few customers of a skewed key", f"{SUM} sales JOIN customers USING (customer_key) WHERE birth_year = 1950", SERIAL, 0.8),
    target(
        "nested loop into a dimension of which 2 % match",
        f"{SUM} sales JOIN profiles USING (profile_key) WHERE marital = 'married' AND dependents = 3",
        LOOPS,
        0.45,
    ),
    target(
        "nested loops, 1 % of two dimensions match",
        f"{SUM} sales JOIN profiles USING (profile_key) JOIN items USING (item_key) WHERE marital = 'married' AND gender = 'm' AND category = 'category 3'",
        LOOPS,
        0.45,
    ),
    target(
        "nested loop by several keys",
        f"{SUM} sales s JOIN returns r ON r.ticket = s.ticket AND r.item_key = s.item_key WHERE r.reason = 3",
        LOOPS,
        0.25,
    ),
    target(
        "a date dimension underestimated 50 times, then a nested loop",
        f"{SUM} sales JOIN dates USING (date_key) JOIN profiles USING (profile_key)"
        " WHERE year = 2021 AND quarter = 2 AND quarter_name = '2021Q2' AND gender = 'f' AND dependents = 1",
        SETTINGS,
        0.8,
    ),
    target(
        "empty build side deep in a star",
        f"{SUM} sales JOIN stores s USING (store_key) JOIN dates USING (date_key) JOIN customers USING (customer_key)"
        " JOIN items USING (item_key) WHERE s.name = 'nobody' AND year = 2021",
        SPREAD,
        1.1,
    ),
    target(
        "a wide row: filters of its first column and of its sixteenth",
        f"{SUM} wide JOIN dates USING (date_key) JOIN items USING (item_key) WHERE year = 2021 AND quarter = 2 AND brand = 'brand 7'",
        SPREAD,
        1.03,
    ),
    target("all match, hash join", f"{SUM} sales JOIN customers USING (customer_key) WHERE birth_year > 1900", SERIAL, 1.05),
    target("all match, nested loop with Memoize", f"{SUM} sales JOIN items USING (item_key) WHERE size > 0", LOOPS, 1.05),
    target("all match, nested loop without Memoize", f"{SUM} sales JOIN items USING (item_key) WHERE size > 0", NO_MEMOIZE, 1.05),
    target("all match, 600 partitions", f"{SUM} sales_600 JOIN dates USING (date_key) WHERE date_key >= 0 AND year > 2000", SERIAL, 1.05),
)


def fill_more():
    psql(
        "SET search_path = warehouse, public",
        "CREATE TABLE shuffled AS SELECT * FROM sales ORDER BY sale_key * 7919 % 1000003, sale_key",
        "CREATE TABLE wide AS SELECT date_key, ticket, customer_key, profile_key, store_key, promotion_key, quantity, discount, cost, cost / 2 AS half, cost / 10 AS fee,"
        " price / 2 AS tax, price - cost AS profit, price / 10 AS rebate, sale_key, item_key, price FROM shuffled",
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
        "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS"
        f" (dbname 'postgres', host '127.0.0.1', port '{os.environ['PGPORT']}', sslmode 'disable', extensions 'cuckoofilter', fetch_size '1000')",
        f"CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{os.environ['PGUSER']}', password '{os.environ.get('PGPASSWORD', '')}')",
        "CREATE TABLE far_60 (LIKE sales_60) PARTITION BY RANGE (date_key)",
        "SELECT format('CREATE FOREIGN TABLE far_60_%s PARTITION OF far_60 FOR VALUES FROM (%s) TO (%s) SERVER here"
        " OPTIONS (schema_name ''warehouse'', table_name ''sales_60_%s'')', month_number, min(date_key), max(date_key) + 1, month_number)"
        " FROM dates GROUP BY month_number ORDER BY month_number\n\\gexec\nSELECT",
        "VACUUM ANALYZE shuffled, wide",
        "ANALYZE far_60",
    )


def main():
    fill()
    fill_more()
    runs = contest(Server(), [each.query for each in TARGETS], MODES, ROUNDS)
    rows = []
    for query, field, wanted in TARGETS:
        taken = {mode: median(runs[query.name, mode], field) for mode in MODES if runs[query.name, mode]}
        times = [f"{taken[mode]:.4f}" if mode in taken else "" for mode in MODES]
        rows.append((query.name, len(runs[query.name, "off"]), *times, wanted, *counters(query, query.settings)))
        say(f"{query.name}: {taken['auto'] / taken['off']:.3f}, to reach {wanted}")
    write(sys.argv[1], "targets.csv", ("case", "runs", *MODES, "wanted", *COUNTERS), rows)
    say(f"{SALES:,} sales")


if __name__ == "__main__":
    main()
