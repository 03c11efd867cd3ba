#!/usr/bin/python3
"""The work for one filter table does not grow with the number of tables in the connection.

  SEED=n test/sqlite/table_work.py

Work is the number of branches in the extension, without SQLite's: build/test/branches/cuckoofilter.so
counts them.  SQLite itself calls each table in the transaction when a savepoint begins and ends, so
the work for a savepoint is divided by the number of these tables.
"""

import ctypes
import os
import random

import suite as shared

shared.EXTENSION = os.environ.get("CUCKOOFILTER_EXTENSION") or os.path.join(shared.ROOT, "build/test/branches/cuckoofilter")
suite = shared.Suite("sqlite-table-work")
check = suite.check
counter = ctypes.c_ulong.in_dll(ctypes.CDLL(shared.EXTENSION + ".so"), "work_count")

MOST = 1.3  # times the work in a connection with few tables

ITEMS = "WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 100)"

PLAIN = "INSERT INTO plain SELECT 1 UNION ALL SELECT 2"


class Tables:
    """A connection with n tables, all of which were used, and that did some work with them."""

    def __init__(self, n):
        self.n = n
        self.db = shared.connect(cached_statements=10 * n + 100)
        self.db.execute("CREATE TABLE plain (x CHECK (x > 0))")
        self.db.execute(PLAIN)  # so that it is the oldest statement of the connection
        self.created = self.work("CREATE VIRTUAL TABLE t{0} USING cuckoofilter")
        self.work("INSERT INTO t{0}(item) VALUES (0)")
        self.work("SELECT * FROM t{0} WHERE item = 0")

    def work(self, sql, of=None):
        """The work of a statement for each of the tables, or for one, per table."""
        before = counter.value
        for i in range(self.n) if of is None else (of,):
            self.db.execute(sql.format(i)).fetchall()
        return (counter.value - before) / (self.n if of is None else 1)


def of_one(tables, i):
    """The work of statements on table i."""
    work = {
        "lookups": tables.work(f"{ITEMS} SELECT count(*) FROM s WHERE EXISTS (SELECT 1 FROM t{{0}} WHERE item = x)", i),
        "inserts": sum(tables.work(f"INSERT INTO t{{0}}(item) VALUES ({x})", i) for x in range(10)),
        "deletes": sum(tables.work(f"DELETE FROM t{{0}} WHERE item = {x}", i) for x in range(10)),
    }
    tables.db.execute("BEGIN")
    work["inserts in a transaction"] = sum(tables.work(f"INSERT INTO t{{0}}(item) VALUES ({x})", i) for x in range(100))
    work["commit"] = tables.work("COMMIT", i)
    tables.db.execute("BEGIN")
    tables.work("INSERT INTO t{0}(item) VALUES (1)", i)
    work["rollback"] = tables.work("ROLLBACK", i)
    return work


def of_all(tables):
    """The work of statements that use all tables, per table."""
    work = {"creating": tables.created}
    for end in ("COMMIT", "ROLLBACK"):
        tables.db.execute("BEGIN")
        work[f"inserts into all before {end}"] = tables.work("INSERT INTO t{0}(item) VALUES (5)")
        for sql in ("SAVEPOINT a", "RELEASE a", "SAVEPOINT b"):
            work[f"{sql} before {end}"] = tables.work(sql, 0) / tables.n
        work[f"inserts into all in a savepoint before {end}"] = tables.work("INSERT INTO t{0}(item) VALUES (6)")
        # a statement that may fail begins a savepoint while adds wait in all tables
        work[f"INSERT .. SELECT before {end}"] = tables.work(PLAIN, 0) / tables.n
        for sql in ("ROLLBACK TO b", end):
            work[f"{sql} before {end}"] = tables.work(sql, 0) / tables.n
    return work


def compare(what, few, many, statements=20):
    for name, work in few.items():
        room = statements if name == "creating" else 20  # CREATE looks at each prepared statement
        check(f"{what}, {name}: {many[name]:.0f}, not {work:.0f}", many[name] <= MOST * work + room)


def test_number_of_tables():
    rnd = random.Random(shared.SEED)
    for n in (rnd.randint(200, 400), 1000):
        one, few, many = Tables(1), Tables(10), Tables(n)
        what = f"SEED={shared.SEED}: {n} tables"
        # some tables share a chain of the connection's list with others
        several = [of_one(many, i) for i in rnd.sample(range(n), 20)]
        compare(what, of_one(one, 0), {name: sum(work[name] for work in several) / 20 for name in several[0]})
        compare(what, of_all(few), of_all(many), 2 * n)


print(f"SEED={shared.SEED}")
suite.run(globals())
