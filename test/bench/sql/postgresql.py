#!/usr/bin/python3
"""PostgreSQL on a throw-away cluster: our functions beside what a user would write or install.

Run under pg_virtualenv, with the extension installed: postgresql.py DIRECTORY
"""

import os
import re
import sys

from contest import ROWS, SHARES, STORED_ITEMS, Contest, Method, say

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../join"))
from measure import psql

DIMENSION = ROWS // 5
TYPES = (("bigint", "k", "bigint"), ("uuid", "u", "any"), ("text of 32", "t", "text"))

# One process and no compilation, so that a method is what is measured.
SETTINGS = "SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '512MB'"
# 4 MB, or as much less as there are fewer rows
SPILL = f"SET work_mem = '{ROWS // 500}kB'; SET hash_mem_multiplier = 1"
HASH = "SET enable_nestloop = off; SET enable_mergejoin = off"
INDEX = "SET enable_hashjoin = off; SET enable_mergejoin = off"


class Database:
    psql = staticmethod(psql)

    def plan(self, method):
        # only a run tells of batches
        options = "ANALYZE, TIMING OFF" if "Batches" in method.plan else "COSTS OFF"
        return self.psql(SETTINGS, method.settings or "SELECT", f"EXPLAIN ({options}) {method.sql}")

    def run(self, method):
        out = self.psql(SETTINGS, method.settings or "SELECT", "\\timing on", method.sql)
        milliseconds = re.search(r"^Time: ([0-9.]+) ms", out, re.MULTILINE).group(1)
        return float(milliseconds) / 1000, out.splitlines()[0]


def fill(database):
    """facts: each key once, in random order; members: a tenth of them; orders: all."""
    database.psql(
        f"""
        CREATE EXTENSION cuckoofilter;
        CREATE EXTENSION hll;
        CREATE UNLOGGED TABLE facts AS
            SELECT k, md5(k::text)::uuid AS u, md5(k::text) AS t,
                k * 7919 % {DIMENSION} AS d1, k * 104729 % {DIMENSION} AS d2,
                repeat('x', 100) AS pad
            FROM generate_series(0::bigint, {ROWS - 1}) g, LATERAL (SELECT g * 1299709 % {ROWS}) p (k);
        CREATE UNLOGGED TABLE members AS SELECT k, u, t FROM facts WHERE k % 10 = 0;
        CREATE UNLOGGED TABLE indexed AS SELECT * FROM members;
        CREATE UNIQUE INDEX indexed_k ON indexed (k);
        CREATE UNIQUE INDEX indexed_u ON indexed (u);
        CREATE UNIQUE INDEX indexed_t ON indexed (t);
        CREATE UNLOGGED TABLE orders AS
            SELECT k, t, k * 31 % 100 AS part, repeat('x', 200) AS pad FROM facts ORDER BY k;
        CREATE UNIQUE INDEX orders_k ON orders (k);
        CREATE UNIQUE INDEX orders_t ON orders (t);
        CREATE UNLOGGED TABLE dim1 AS
            SELECT id, id * 31 % 100 AS part, repeat('x', 50) AS pad
            FROM generate_series(0::bigint, {DIMENSION - 1}) id;
        CREATE UNLOGGED TABLE dim2 AS SELECT * FROM dim1;
        CREATE TABLE filters (name text PRIMARY KEY, filter cuckoofilter);
        """,
        "VACUUM (ANALYZE)",
    )
    say(f"{ROWS} rows in PostgreSQL")


def aggregates(contest):
    """What an aggregate over all rows costs, and how large its result is."""
    for what, column, hll in TYPES:
        calls = {
            "array_agg": f"array_agg({column})",
            "hll_add_agg": f"hll_add_agg(hll_hash_{hll}({column}))",
            "cuckoofilter_agg": f"cuckoofilter_agg({column})",
        }
        contest.hold(
            "aggregate",
            what,
            [
                Method("count", f"SELECT count({column}) FROM facts", "", "other"),
                Method("count(DISTINCT)", f"SELECT count(DISTINCT {column}) FROM facts"),
            ]
            + [
                Method(name, f"SELECT pg_column_size({call}) FROM facts", "", "other")
                for name, call in calls.items()
            ],
            sizes=calls.keys(),
        )
        if column != "k":
            continue
        calls["count(DISTINCT)"] = f"count(DISTINCT {column})"
        contest.hold(
            "aggregate",
            "bigint, 1,000 groups",
            [
                Method(
                    name,
                    f"SELECT sum(pg_column_size(a)) FROM"
                    f" (SELECT {call} AS a FROM facts GROUP BY d1 % 1000) g",
                    "",
                    "other",
                )
                for name, call in calls.items()
            ],
            sizes=calls.keys() - {"count(DISTINCT)"},
        )


def probes(contest):
    """Which rows have a key among the members, a tenth of them?"""
    for what, column, _ in TYPES:
        contest.database.psql(
            f"INSERT INTO filters SELECT '{column}', cuckoofilter_agg({column}) FROM members"
        )
        rows = "SELECT count(*) FROM facts WHERE"
        stored = f"(SELECT filter FROM filters WHERE name = '{column}')"
        built = f"(SELECT cuckoofilter_agg({column}) FROM members)"
        once = "InitPlan.*Seq Scan on facts"
        contest.hold(
            "probe",
            what,
            (
                Method("scan alone", f"SELECT count({column}) FROM facts", "Seq Scan", "other"),
                Method(
                    "IN (SELECT), hash semi join",
                    f"{rows} {column} IN (SELECT {column} FROM members)",
                    r"Hash Semi Join.*Batches: 1 ",
                ),
                Method(
                    "EXISTS by index",
                    f"{rows} EXISTS (SELECT FROM indexed i WHERE i.{column} = facts.{column})",
                    f"Nested Loop.*Seq Scan on facts.*Index Only Scan using indexed_{column}",
                    settings=INDEX,
                ),
                Method("filter from a table", f"{rows} {stored} @> {column}", once, "filter"),
                Method("filter built first", f"{rows} {built} @> {column}", once, "filter"),
            ),
        )


def joins(contest):
    """facts to orders by key, where a share of the orders passes: when does a prefilter pay?"""
    for what, column, settings, pattern in (
        ("bigint, hash join that spills", "k", f"{HASH}; {SPILL}", r"Batches: (?!1 )\d+"),
        ("text of 32, hash join that spills", "t", f"{HASH}; {SPILL}", r"Batches: (?!1 )\d+"),
        ("bigint, hash join in memory", "k", HASH, r"Batches: 1 "),
        ("bigint, index nested loop", "k", INDEX, r"Nested Loop.*Index Scan using orders_k"),
    ):
        for share in SHARES:
            join = (
                "SELECT count(*), sum(length(o.pad)), sum(length(f.pad))"
                f" FROM facts f JOIN orders o ON o.{column} = f.{column} WHERE o.part < {share}"
            )
            built = f"(SELECT cuckoofilter_agg({column}) FROM orders WHERE part < {share})"
            contest.hold(
                "join",
                what,
                (
                    Method("join", join, pattern, settings=settings),
                    Method(
                        "prefilter built first",
                        f"{join} AND {built} @> f.{column}",
                        "InitPlan",
                        settings=settings,
                    ),
                ),
                x=share,
            )


def star(contest):
    """Two dimensions, of each of which a share passes."""
    settings = f"{HASH}; {SPILL}"
    for share in SHARES[:-1]:
        built = "(SELECT cuckoofilter_agg(id) FROM dim{0} WHERE part < {1})"
        join = (
            "SELECT count(*), sum(length(f.pad)), sum(length(a.pad) + length(b.pad))"
            " FROM facts f JOIN dim1 a ON a.id = f.d1 JOIN dim2 b ON b.id = f.d2"
            f" WHERE a.part < {share} AND b.part < {share}"
        )
        contest.hold(
            "star",
            "two dimensions",
            (
                Method("join", join, "Hash Join.*Hash Join", settings=settings),
                Method(
                    "prefilter built first",
                    f"{join} AND {built.format(1, share)} @> f.d1"
                    f" AND {built.format(2, share)} @> f.d2",
                    "InitPlan 1.*InitPlan 2.*Seq Scan on facts",
                    settings=settings,
                ),
            ),
            x=share,
        )


def stored_filters(contest):
    """Filters of 1, 16 and 128 MB in a table: one probe, and one for each of the facts."""
    for items in STORED_ITEMS:
        build = Method(
            "",
            f"INSERT INTO filters SELECT '{items}', cuckoofilter_agg(i)"
            f" FROM (SELECT generate_series(0::bigint, {items - 1}) AS i) s"
            " RETURNING length(filter::bytea)",
        )
        case = f"{items} items"
        seconds, size = contest.database.run(build)
        contest.note("stored", case, "build and store", seconds, size)
        stored = f"(SELECT filter FROM filters WHERE name = '{items}')"
        contest.hold(
            "stored",
            case,
            (
                Method("one probe", f"SELECT {stored} @> 1::bigint", "", "other"),
                Method("scan alone", "SELECT count(k) FROM facts", "", "other"),
                Method(
                    "a probe for each row",
                    f"SELECT count(*) FROM facts WHERE {stored} @> (k * 40)",
                    "InitPlan",
                    "other",
                ),
            ),
        )


def main():
    contest = Contest(Database(), os.path.join(sys.argv[1], "postgresql.csv"))
    fill(contest.database)
    for section in (aggregates, probes, joins, star, stored_filters):
        section(contest)
    contest.write()


main()
