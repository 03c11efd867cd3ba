#!/usr/bin/python3
"""SQLite on a file: our functions beside what a user would write.  sqlite.py MODULE DIRECTORY"""

import hashlib
import os
import random
import sqlite3
import sys
import tempfile
import time

from contest import ROWS, SHARES, STORED_ITEMS, Contest, Method, say

DIMENSION = ROWS // 5
TYPES = (("integer", "k"), ("blob of 16", "u"), ("text of 32", "t"))


class Database:
    def __init__(self, module, path):
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.enable_load_extension(True)
        self.connection.load_extension(module)
        # the file in the cache as far as 256 MB go; nothing is measured of the disk
        self.connection.executescript(
            "PRAGMA journal_mode = off; PRAGMA synchronous = off;"
            "PRAGMA cache_size = -262144; PRAGMA temp_store = file;"
        )

    def plan(self, method):
        rows = self.connection.execute("EXPLAIN QUERY PLAN " + method.sql)
        return "\n".join(row[3] for row in rows)

    def run(self, method):
        start = time.perf_counter()
        rows = self.connection.execute(method.sql).fetchall()
        return time.perf_counter() - start, rows[0][0]


def fill(database):
    """facts: each key once, in random order; members: a tenth of them; orders: all."""

    def rows():
        numbers = list(range(ROWS))
        random.Random(1).shuffle(numbers)
        for k in numbers:
            digest = hashlib.md5(str(k).encode())
            yield k, digest.digest(), digest.hexdigest(), k * 7919 % DIMENSION, k * 104729 % DIMENSION

    connection = database.connection
    connection.executescript(
        """
        CREATE TABLE facts (k INTEGER, u BLOB, t TEXT, d1 INTEGER, d2 INTEGER);
        CREATE TABLE members (k INTEGER, u BLOB, t TEXT);
        CREATE TABLE orders (k INTEGER PRIMARY KEY, t TEXT, part INTEGER, pad TEXT);
        CREATE TABLE filters (name TEXT PRIMARY KEY, filter BLOB);
        """
    )
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", rows())
    connection.execute("COMMIT")
    connection.executescript(
        f"""
        INSERT INTO members SELECT k, u, t FROM facts WHERE k % 10 = 0;
        CREATE TABLE indexed AS SELECT * FROM members;
        CREATE UNIQUE INDEX indexed_k ON indexed (k);
        CREATE UNIQUE INDEX indexed_u ON indexed (u);
        CREATE UNIQUE INDEX indexed_t ON indexed (t);
        INSERT INTO orders SELECT k, t, k * 31 % 100, hex(zeroblob(30)) FROM facts ORDER BY k;
        CREATE UNIQUE INDEX orders_t ON orders (t);
        CREATE TABLE dim1 (id INTEGER PRIMARY KEY, part INTEGER);
        CREATE TABLE dim2 (id INTEGER PRIMARY KEY, part INTEGER);
        WITH RECURSIVE ids (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids WHERE id < {DIMENSION - 1})
        INSERT INTO dim1 SELECT id, id * 31 % 100 FROM ids;
        INSERT INTO dim2 SELECT id, part FROM dim1;
        ANALYZE;
        """
    )
    say(f"{ROWS} rows in a file")


def stored(name):
    return f"(SELECT cuckoofilter_open(filter) FROM filters WHERE name = '{name}')"


def aggregates(contest):
    """What an aggregate over all rows costs, and how large its result is."""
    for what, column in TYPES:
        value = f"hex({column})" if column == "u" else column  # JSON holds no BLOBs
        results = {
            "json_group_array": f"json_group_array({value})",
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
                Method(name, f"SELECT length({call}) FROM facts", "", "other")
                for name, call in results.items()
            ],
            sizes=results.keys(),
        )


def probes(contest):
    """Which rows have a key among the members, a tenth of them?"""
    for what, column in TYPES:
        contest.database.connection.execute(
            f"INSERT INTO filters SELECT ?, cuckoofilter_agg({column}) FROM members", (column,)
        )
        rows = "SELECT count(*) FROM facts WHERE"
        built = f"(SELECT cuckoofilter_open(cuckoofilter_agg({column})) FROM members)"
        once = "SCALAR SUBQUERY"
        contest.hold(
            "probe",
            what,
            (
                Method("scan alone", f"SELECT count({column}) FROM facts", "", "other"),
                Method(
                    "IN (SELECT)",
                    f"{rows} {column} IN (SELECT {column} FROM members)",
                    "LIST SUBQUERY.*SCAN members",
                ),
                Method(
                    "EXISTS by index",
                    f"{rows} EXISTS (SELECT 1 FROM indexed i WHERE i.{column} = facts.{column})",
                    f"CORRELATED.*indexed_{column}",
                ),
                Method(
                    "filter from a table",
                    f"{rows} cuckoofilter_contains({stored(column)}, {column})",
                    once,
                    "filter",
                ),
                Method(
                    "filter built first",
                    f"{rows} cuckoofilter_contains({built}, {column})",
                    once,
                    "filter",
                ),
            ),
        )


def joins(contest):
    """facts to orders by key, where a share of the orders passes: when does a prefilter pay?"""
    for what, column, search in (
        ("integer", "k", "SEARCH o USING INTEGER PRIMARY KEY"),
        ("text of 32", "t", "SEARCH o USING INDEX orders_t"),
    ):
        for share in SHARES:
            join = (
                "SELECT count(*) FROM facts f CROSS JOIN orders o"
                f" ON o.{column} = f.{column} WHERE o.part < {share}"
            )
            built = (
                f"(SELECT cuckoofilter_open(cuckoofilter_agg({column}))"
                f" FROM orders WHERE part < {share})"
            )
            contest.hold(
                "join",
                what,
                (
                    Method("join", join, f"SCAN f.*{search}"),
                    Method(
                        "prefilter built first",
                        f"{join} AND cuckoofilter_contains({built}, f.{column})",
                        f"SCAN f.*SCALAR SUBQUERY.*{search}",
                    ),
                ),
                x=share,
            )


def star(contest):
    """Two dimensions, of each of which a share passes."""
    for share in SHARES[:-1]:
        built = "(SELECT cuckoofilter_open(cuckoofilter_agg(id)) FROM dim{0} WHERE part < {1})"
        join = (
            "SELECT count(*) FROM facts f CROSS JOIN dim1 a ON a.id = f.d1"
            f" CROSS JOIN dim2 b ON b.id = f.d2 WHERE a.part < {share} AND b.part < {share}"
        )
        contest.hold(
            "star",
            "two dimensions",
            (
                Method("join", join, "SCAN f.*SEARCH a.*SEARCH b"),
                Method(
                    "prefilter built first",
                    f"{join} AND cuckoofilter_contains({built.format(1, share)}, f.d1)"
                    f" AND cuckoofilter_contains({built.format(2, share)}, f.d2)",
                    "SCAN f.*SCALAR SUBQUERY.*SEARCH a.*SEARCH b",
                ),
            ),
            x=share,
        )


def stored_filters(contest):
    """Filters of 1, 16 and 128 MB in a table: one probe, and one for each of the facts."""
    connection = contest.database.connection
    for items in STORED_ITEMS:
        start = time.perf_counter()
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO filters SELECT ?, cuckoofilter_agg(i) FROM n",
            (items - 1, str(items)),
        )
        seconds = time.perf_counter() - start
        size = connection.execute(
            "SELECT length(filter) FROM filters WHERE name = ?", (str(items),)
        ).fetchone()[0]
        contest.note("stored", f"{items} items", "build and store", seconds, size)
        handle = stored(items)
        contest.hold(
            "stored",
            f"{items} items",
            (
                Method("one probe", f"SELECT cuckoofilter_contains({handle}, 1)", "", "other"),
                Method("scan alone", "SELECT count(k) FROM facts", "", "other"),
                Method(
                    "a probe for each row",
                    f"SELECT count(*) FROM facts WHERE cuckoofilter_contains({handle}, k * 40)",
                    "SCALAR SUBQUERY",
                    "other",
                ),
            ),
        )


def main():
    module, directory = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        database = Database(module, os.path.join(temporary, "bench.db"))
        fill(database)
        contest = Contest(database, os.path.join(directory, "sqlite.csv"))
        for section in (aggregates, probes, joins, star, stored_filters):
            section(contest)
        contest.write()


main()
