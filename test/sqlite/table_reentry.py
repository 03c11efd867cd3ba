#!/usr/bin/python3
"""Filter tables whose shadow table has triggers, foreign keys and indexes, which are refused; and statements
that fail, among adds that wait."""

import sqlite3

from suite import Suite
from tables import Base, matches

suite = Suite("sqlite-table-reentry")
check, equal = suite.check, suite.equal

REFUSED = "must not have triggers, indexes or foreign keys"

# What a user may put on the shadow table: the SQL, what the error names, and the write that it takes part in.
COMPANIONS = {
    f"{temp}{when} {event} {body}": (
        f"CREATE {temp}TRIGGER tr {when} {event} ON {'main.' if temp else ''}seen_chunk BEGIN {body}; END", "trigger tr", event)
    for temp in ("", "TEMP ") for when in ("BEFORE", "AFTER") for event in ("INSERT", "UPDATE", "DELETE")
    for body in ("SELECT length('a')", "INSERT INTO log VALUES (1)", "INSERT INTO seen VALUES (1)", "SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')", "SELECT RAISE(ROLLBACK, 'no')")
} | {
    "an index": ("CREATE INDEX ix ON seen_chunk (chunk)", "index ix", "INSERT"),
    "a unique index": ("CREATE UNIQUE INDEX ix ON seen_chunk (id, chunk)", "index ix", "UPDATE"),
    "an expression index": ("CREATE INDEX ix ON seen_chunk (length(chunk), abs(id % 1000))", "index ix", "INSERT"),
    "a partial index": ("CREATE INDEX ix ON seen_chunk (item_classes) WHERE surplus > 0", "index ix", "INSERT"),
    "a deferred key": ("CREATE TABLE child (id REFERENCES seen_chunk DEFERRABLE INITIALLY DEFERRED)", "", "INSERT"),
    "a key": ("CREATE TABLE child (id REFERENCES seen_chunk)", "", "DELETE"),
    "a key that deletes": ("CREATE TABLE child (id REFERENCES seen_chunk ON DELETE CASCADE)", "", "DELETE"),
}  # fmt: skip


def write(event):
    """A statement that runs this event on a table of ten thousand items."""
    return "INSERT INTO seen VALUES ('a')" if event == "UPDATE" else "INSERT INTO seen(seen) VALUES ('optimize')"


def drop(base, what):
    """Drop a companion."""
    sql = COMPANIONS[what][0]
    base.run("DROP TRIGGER tr" if "TRIGGER" in sql else "DROP INDEX ix" if "INDEX" in sql else "DROP TABLE child")


def test_refused():
    """What takes part in a write is refused and named, before and after our statements were compiled; all else goes on."""
    for what, (sql, name, event) in COMPANIONS.items():
        for compiled in (False, True):
            with Base("fpr=1e-6", numbers=10) as base:
                base.add(1, 3000)
                base.run("CREATE TABLE log (n); PRAGMA foreign_keys = on")
                if not compiled:
                    base.reopen()
                    base.run("PRAGMA foreign_keys = on")
                base.run(sql)
                error = base.error(write(event))
                check(f"{what}: {error}", matches(REFUSED, error) and name in error)
                equal(f"{what}: asked", (base.has("a"), base.missing(1, 3000)), (0, 0))
                equal(f"{what}: exported", base.one("SELECT cuckoofilter_contains(?, 7)", base.export()), 1)
                equal(f"{what}: nothing else ran", base.rows("SELECT * FROM log"), [])
                equal(f"{what}: its check", base.check(), None)
                drop(base, what)
                equal(f"{what}: is dropped", base.error(write(event)), None)
                equal(f"{what}: is there", (base.has("a"), base.missing(1, 3000)), (event == "UPDATE", 0))
                base.run(sql)
                equal(f"{what}: the table is dropped", base.error("DROP TABLE seen"), None)


def test_in_a_transaction():
    """A companion of a transaction fails the statement that it takes part in, or COMMIT, and loses nothing once it is gone."""
    for what, (sql, name, event) in COMPANIONS.items():
        with Base("fpr=1e-6", numbers=10) as base:
            base.add(1, 3000)
            base.run(f"CREATE TABLE log (n); PRAGMA foreign_keys = on; INSERT INTO seen VALUES ('b'); BEGIN; INSERT INTO seen VALUES ('c'); {sql}")
            refused = base.error("INSERT INTO seen VALUES ('d')")
            check(f"{what}, {refused}: an add to a row that is there", event == "INSERT" or bool(refused) == (event == "UPDATE"))
            error = refused or base.error("INSERT INTO seen(seen) VALUES ('optimize')") or base.error("COMMIT")
            check(f"{what}: {error}", matches(REFUSED + "|is incomplete|^no$", error))
            if base.db.in_transaction:
                base.run("ROLLBACK")
            equal(f"{what}: what was there is", ([base.has(x) for x in "bc"], base.missing(1, 3000)), ([1, int(error is None)], 0))


def test_keys_of_others():
    """Keys that are not enforced, and those that take no part in an INSERT, change nothing."""
    for sql, on in (("CREATE TABLE child (id REFERENCES seen_chunk)", "on"), ("CREATE TABLE child (id REFERENCES seen_chunk ON DELETE CASCADE)", "off")):
        with Base("fpr=1e-6", numbers=10) as base:
            base.run(f"{sql}; PRAGMA foreign_keys = {on}; INSERT INTO seen VALUES ('a'); INSERT INTO child SELECT id FROM seen_chunk LIMIT 1")
            base.add(1, 3000)
            equal(f"{sql}: added", (base.has("a"), base.missing(1, 3000), base.check()), (1, 0, None))
            error = base.error("INSERT INTO seen(seen) VALUES ('delete-all')")
            check(f"{sql}: {error}", matches(REFUSED, error) if on == "on" else error is None)
            equal(f"{sql}: child", base.one("SELECT count(*) FROM child"), 1)


def test_authorizer():
    """An authorizer that denies or hides the schema hides no trigger, and is in no way of a write."""
    for answer in (sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE):
        for sql in ("SELECT 1", "CREATE TRIGGER tr AFTER UPDATE ON seen_chunk BEGIN SELECT length('a'); END", "CREATE TEMP TRIGGER tr AFTER UPDATE ON main.seen_chunk BEGIN SELECT 1; END"):
            with Base("fpr=1e-6", numbers=10) as base:
                base.run("INSERT INTO seen VALUES (1)")
                base.run(sql)
                base.db.set_authorizer(lambda act, first, *_: answer if act == sqlite3.SQLITE_READ and first.endswith("_master") else sqlite3.SQLITE_OK)
                error = base.error("INSERT INTO seen VALUES ('a')")
                check(f"{answer}, {sql}: {error}", matches(REFUSED, error) if "TRIGGER" in sql else error is None)
                equal(f"{answer}, {sql}: asked", (base.has(1), base.has("a")), (1, int("TRIGGER" not in sql)))


def test_function_that_asks():
    """A function in a column that was replaced runs SQL on the table: an error, and our statements are not entered again."""
    with Base("fpr=1e-6", numbers=10) as base:
        got = []

        def nosy(value):
            if len(got) < 50:
                for sql in ("SELECT 1 FROM seen WHERE item = 'a'", "INSERT INTO seen VALUES ('z')", "DELETE FROM seen WHERE item = 'a'",
                            "INSERT INTO seen(seen) VALUES ('optimize')", "SELECT cuckoofilter_export('seen')", "PRAGMA integrity_check"):  # fmt: skip
                    got.append(base.error(sql))
            return value

        base.db.create_function("nosy", 1, nosy, deterministic=True)
        base.run("INSERT INTO seen VALUES ('a'); ALTER TABLE seen_chunk RENAME COLUMN chunk TO bytes; ALTER TABLE seen_chunk ADD COLUMN chunk AS (nosy(bytes))")
        equal("asked", base.one("SELECT count(*) FROM seen WHERE item = 'a'"), 1)
        check(f"refused: {got[:6]}", len(got) >= 6 and all(matches("is in use|is locked", error) for error in got[:5]))


def test_statement_that_fails_takes_its_own_back():
    """Adds that waited before a statement stay if the statement fails, even if it has written them."""
    for ask in (False, True):
        with Base("fpr=1e-6", numbers=10) as base:
            base.run("CREATE TABLE other (x CHECK (x < 5)); BEGIN; INSERT INTO seen VALUES ('a'), ('b'); INSERT INTO seen VALUES ('c')")
            more = "(SELECT count(*) FROM seen WHERE item = 'a') + x" if ask else "x"
            error = base.error(f"INSERT INTO other SELECT {more} FROM number")
            check(f"{error}", matches("CHECK", error))
            equal(f"{ask}: waits", [base.copies(x) for x in "abcd"], [1, 1, 1, 0])
            base.run("INSERT INTO seen VALUES ('d')")
            error = base.error(f"INSERT INTO seen(item) SELECT iif(x < 9, x, abs(-9223372036854775807 - 1)) FROM number WHERE {more} > 0")
            check(f"{error}", matches("overflow", error))
            base.run("COMMIT")
            equal(f"{ask}: committed", [base.copies(x) for x in "abcd"], [1, 1, 1, 1])
            equal(f"{ask}: not its own", base.missing(1, 8), 8)


suite.run(globals())
