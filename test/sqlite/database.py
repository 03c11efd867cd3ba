#!/usr/bin/python3
"""Filters in a database: tables, statements that run again, threads."""

import sqlite3
import threading

from suite import NUMBERS, Suite, connect, refusal
from tables import Base

suite = Suite("sqlite-database")
check, equal = suite.check, suite.equal

SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE fact (id INTEGER PRIMARY KEY, day INTEGER, name TEXT);
INSERT INTO fact SELECT x, x % 7, 'name-' || x
    FROM {NUMBERS.replace('?1', '1').replace('?2', '7000')};
CREATE TABLE daily (day INTEGER PRIMARY KEY, names BLOB NOT NULL CHECK (cuckoofilter_count(names) >= 0));
INSERT INTO daily SELECT day, cuckoofilter_agg(name, 0.001, 20000) FROM fact GROUP BY day;
"""


def test_tables():
    with Base(None, 0, before=SCHEMA) as base:
        equal("types", base.one("SELECT group_concat(DISTINCT typeof(names)) FROM daily"), "blob")
        equal("counts", base.one("SELECT sum(cuckoofilter_count(names)) FROM daily"), 7000)
        base.db.execute(
            "CREATE TABLE whole AS SELECT cuckoofilter_union_agg(names) AS names FROM daily"
        )
        found = base.one(
            "SELECT count(*) FROM fact WHERE cuckoofilter_contains("
            "(SELECT cuckoofilter_open(names) FROM whole), name)"
        )
        equal("all in the union", found, 7000)
        # Each name is in its day's filter, and in few others.
        found = base.one(
            "SELECT count(*) FROM fact JOIN daily ON cuckoofilter_contains(names, name) "
            "WHERE id % 70 = 0 AND fact.day = daily.day"
        )
        equal("found in its own day", found, 100)
        found = base.one(
            "SELECT count(*) FROM fact JOIN daily ON cuckoofilter_contains(names, name) WHERE id % 70 = 0"
        )
        check(f"{found} found in any day", 100 <= found < 110)
        prefiltered = base.one(
            "SELECT count(*) FROM fact JOIN (SELECT 'name-' || (id * 2) AS name FROM fact) USING (name) "
            "WHERE cuckoofilter_contains((SELECT cuckoofilter_open(cuckoofilter_agg('name-' || (id * 2))) "
            "FROM fact), name)"
        )
        equal("prefiltered join", prefiltered, 3500)


def test_update_and_returning():
    if sqlite3.sqlite_version_info < (3, 35):
        print("skipped: SQLite before 3.35 has no RETURNING")
        return
    with Base(None, 0, before=SCHEMA) as base:
        names = base.one(
            "UPDATE daily SET names = cuckoofilter_add(names, 'new') WHERE day = 3 RETURNING names"
        )
        equal("returned", base.one("SELECT cuckoofilter_contains(?, 'new')", names), 1)
        equal("stored", base.one("SELECT names FROM daily WHERE day = 3"), names)
        count = base.one(
            "INSERT INTO daily VALUES (8, cuckoofilter_create(10)) "
            "ON CONFLICT DO NOTHING RETURNING cuckoofilter_count(names)"
        )
        equal("inserted", count, 0)
        equal(
            "removed",
            base.one(
                "UPDATE daily SET names = cuckoofilter_remove(names, 'new') WHERE day = 3 "
                "RETURNING cuckoofilter_contains(names, 'new')"
            ),
            0,
        )
        error = refusal(base.db, "INSERT INTO daily VALUES (9, x'00')")
        check(f"the CHECK refuses bytes that are no filter: {error}", error and error.startswith("not a cuckoofilter"))
        # A statement that fails leaves the table as it was.
        before = base.db.execute("SELECT * FROM daily ORDER BY day").fetchall()
        error = refusal(base.db, "UPDATE daily SET names = cuckoofilter_add_hash(names, iif(day < 5, day, 'x'))")
        equal("the update fails", error, "hash must be an integer, not TEXT")
        equal("unchanged", base.db.execute("SELECT * FROM daily ORDER BY day").fetchall(), before)


def test_prepared_statements():
    """A statement that runs again takes the new parameters, also of a filter."""
    with Base(None, 0, before=SCHEMA) as base:
        filters = [row[0] for row in base.db.execute("SELECT names FROM daily ORDER BY day")]
        for sql in (
            "cuckoofilter_contains(?, ?)",
            "cuckoofilter_contains(cuckoofilter_open(?), ?)",
        ):
            for day, filter in enumerate(filters):
                for number in (70, 777, 3500):
                    name = f"name-{number - number % 7 + day}"
                    equal(name, base.one(f"SELECT {sql}", filter, name), 1)
        rows = base.db.execute(
            f"SELECT cuckoofilter_contains(names, ?3) FROM daily, {NUMBERS} WHERE day = x ORDER BY x",
            (0, 6, "name-3"),
        ).fetchall()
        equal("another filter in each row", [row[0] for row in rows], [0, 0, 0, 1, 0, 0, 0])


def test_threads():
    """Four threads build, probe and change, each on a connection of its own."""
    with Base(None, 0, before=SCHEMA) as base:
        wrong = []

        def work(number):
            db = connect(base.path, timeout=900)
            for turn in range(40):
                name = f"thread-{number}-{turn}"
                db.execute(
                    "UPDATE daily SET names = cuckoofilter_add(names, ?) WHERE day = 2", (name,)
                )
                found = db.execute(
                    "SELECT count(*) FROM fact WHERE day = 2 AND cuckoofilter_contains("
                    "(SELECT cuckoofilter_open(names) FROM daily WHERE day = 2), name)"
                ).fetchone()[0]
                built = db.execute("SELECT cuckoofilter_agg(name) FROM fact").fetchone()[0]
                if found != 1000 or len(built) != expected:
                    wrong.append((number, turn, found))
            db.close()

        expected = base.one("SELECT length(cuckoofilter_agg(name)) FROM fact")
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal("wrong answers", wrong, [])
        names = [f"thread-{n}-{turn}" for n in range(4) for turn in range(40)]
        missing = [
            name
            for name in names
            if not base.one("SELECT cuckoofilter_contains(names, ?) FROM daily WHERE day = 2", name)
        ]
        equal("nothing lost", missing, [])
        equal("count", base.one("SELECT cuckoofilter_count(names) FROM daily WHERE day = 2"), 1160)


suite.run(globals())
