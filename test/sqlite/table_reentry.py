#!/usr/bin/python3
"""Filter tables whose shadow table has triggers, foreign keys and indexes, which are refused; and random
savepoints and statements that fail, among adds that wait."""

import sqlite3

from suite import PERCENT, SEED, Suite, rounds
from tables import Base, draw_args, matches

suite = Suite("sqlite-table-reentry")
check, equal = suite.check, suite.equal

print(f"SEED={SEED}")

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


def test_while_adds_wait():
    """A companion of a transaction fails its COMMIT, or a statement before, and loses nothing once it is gone."""
    for what, (sql, name, event) in COMPANIONS.items():
        with Base("fpr=1e-6", numbers=10) as base:
            base.add(1, 3000)
            base.run(f"CREATE TABLE log (n); PRAGMA foreign_keys = on; INSERT INTO seen VALUES ('b'); BEGIN; INSERT INTO seen VALUES ('c'); {sql}")
            base.run("INSERT INTO seen VALUES ('d')") if event != "INSERT" else base.error("INSERT INTO seen VALUES ('d')")
            error = base.error("INSERT INTO seen(seen) VALUES ('optimize')") or base.error("COMMIT")
            if event != "UPDATE" or error:
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


# --------------------------------------------------------------------- random


class Model:
    """How often each item is in the table, with savepoints."""

    def __init__(self, rnd, is_set):
        self.rnd = rnd
        self.is_set = is_set
        self.items = {}
        self.committed = {}
        self.savepoints = []  # of the transaction: what there was when each began

    def add(self, items):
        for item in items:
            self.items[item] = 1 if self.is_set else self.items.get(item, 0) + 1

    def remove(self, item):
        if self.items.get(item):
            self.items[item] -= 1

    def back(self):
        self.items = dict(self.committed)
        self.savepoints = []


def companion(base, rnd):
    """SQL that puts something on the shadow table, or drops what is there."""
    for name, kind in base.rows("SELECT name, type FROM sqlite_master UNION SELECT name, type FROM sqlite_temp_master"):
        if name in ("tr", "ix", "child"):
            return f"DROP {kind} {name}"
    # In a savepoint of SQLite 3.34, a trigger that rolls back a new schema leaves no error: it runs the statement again.
    left_out = ("INSERT INTO seen",) + (("RAISE(ROLLBACK",) if sqlite3.sqlite_version_info < (3, 40) else ())
    return COMPANIONS[rnd.choice([what for what in COMPANIONS if not any(text in what for text in left_out)])][0]


def step(base, model, rnd):
    """One change; returns its SQL, and what to do with the model where it succeeds."""
    what = rnd.choice(("one", "one", "one", "event", "some", "many", "remove", "ask", "savepoint", "release", "back", "other", "own", "optimize", "all", "rename", "number", "ends"))
    start = rnd.randrange(400)
    if what == "one":
        return f"INSERT INTO seen VALUES ({start})", lambda: model.add([start])
    if what == "event":
        return f"INSERT INTO events VALUES ({start})", lambda: model.add([start])
    if what in ("some", "many"):
        size = rnd.randrange(2, 12) if what == "some" else rnd.choice((300, 6000))
        return (
            f"INSERT INTO seen(item) WITH RECURSIVE s(x) AS (SELECT {start} UNION ALL SELECT x + 1 FROM s LIMIT {size}) SELECT x FROM s",
            lambda: model.add(range(start, start + size)),
        )
    if what == "remove" and not model.is_set:
        have = [item for item, copies in model.items.items() if copies]
        item = rnd.choice(have) if have else 10**9
        return f"DELETE FROM seen WHERE item = {item}", lambda: model.remove(item)
    if what == "savepoint" and base.db.in_transaction:
        name = f"s{len(model.savepoints)}"
        return f"SAVEPOINT {name}", lambda: model.savepoints.append(dict(model.items))
    if what in ("release", "back") and model.savepoints:
        number = rnd.randrange(len(model.savepoints))

        def end():
            if what == "back":
                model.items = dict(model.savepoints[number])
                del model.savepoints[number + 1 :]
            else:
                del model.savepoints[number:]

        return f"{'RELEASE' if what == 'release' else 'ROLLBACK TO'} s{number}", end
    if what == "other":  # fails, after it has asked or not
        more = rnd.choice(("x", "(SELECT count(*) FROM seen WHERE item = 1) + x"))
        return f"INSERT INTO other SELECT {more} FROM number", None
    if what == "own":
        return f"INSERT INTO seen(item) SELECT iif(x < {rnd.choice((2, 9))}, x, abs(-9223372036854775807 - 1)) FROM number ORDER BY x", None
    if what == "optimize":
        return "INSERT INTO seen(seen) VALUES ('optimize')", lambda: None
    if what == "all" and rnd.random() < 0.3:
        return "INSERT INTO seen(seen) VALUES ('delete-all')", model.items.clear
    if what == "rename":
        return "ALTER TABLE seen RENAME TO seen2; ALTER TABLE seen2 RENAME TO seen", lambda: None
    if what == "number":
        return "INSERT INTO number VALUES (NULL)", lambda: None
    if what == "ends":

        def begin_or_end():
            model.savepoints = []

        return (rnd.choice(("COMMIT", "COMMIT", "ROLLBACK")) if base.db.in_transaction else "BEGIN"), begin_or_end
    return f"SELECT 1 FROM seen WHERE item = {start}", lambda: None


def same(what, base, model, full):
    """The table has the same items as the model, or raises an error."""
    have = {item: copies for item, copies in model.items.items() if copies}
    try:
        got = dict(base.rows("SELECT value, copies FROM (SELECT DISTINCT value FROM json_each(?)) CROSS JOIN seen ON item = value", str(list(have))))
    except sqlite3.Error as error:
        return str(error)
    lost = {item: (copies, got.get(item)) for item, copies in have.items() if min(copies, full) > got.get(item, 0)}
    check(f"{what}: lost copies (model, table): {str(lost)[:200]}", not lost)
    # a full group keeps its copies, and unlike items may have equal prefixes
    more = {item: (copies, got[item]) for item, copies in have.items() if copies < got.get(item, 0) < full}
    check(f"{what}: copies too many (model, table): {str(more)[:200]}", len(more) < 4)
    return None


def test_random():
    errors = 0
    for what, rnd in rounds(120):
        args = draw_args(rnd, (20_000, 1_000_000))
        args["fpr"] = 1e-6
        args["capacity"] = args.get("capacity", 1_000_000)
        full = 2 * args.get("bucket_size", 4)
        what += f" {args}"
        with Base(", ".join(f"{n}={v}" for n, v in args.items()), numbers=10) as base:
            base.run("CREATE TABLE log (n); CREATE TABLE other (x CHECK (x < 5)); PRAGMA foreign_keys = on")
            base.run("CREATE TABLE events (x); CREATE TRIGGER adds AFTER INSERT ON events BEGIN INSERT INTO seen VALUES (new.x); END")
            model = Model(rnd, args.get("kind") == "set")
            done = []
            for _ in range(60):
                sql, then = step(base, model, rnd)
                if rnd.random() < 0.05:
                    sql, then = companion(base, rnd), lambda: None
                there = companion(base, rnd).startswith("DROP")  # SQLite tells no sentence of a savepoint that is refused
                inside = base.db.in_transaction
                error = None
                for statement in [sql] if "BEGIN " in sql else sql.split(";"):
                    error = error or base.error(statement)
                done.append(f"{sql[:90]} -- {error}")
                errors += error is not None
                if error is None and then:
                    then()
                elif error is None:
                    check(f"{what}: {sql} does not fail", False)
                if sql == "ROLLBACK" and not error or inside and not base.db.in_transaction and error:
                    model.back()
                if not base.db.in_transaction:
                    model.savepoints = []
                    model.committed = dict(model.items)
                elif matches("is incomplete", error) or "RENAME" in sql and error:
                    base.run("ROLLBACK")
                    model.back()
                check(f"{what}: {sql}: {error}", not matches(("" if there else "SQL logic error|") + "^not an error|malformed|damaged", error))
                inside = base.db.in_transaction
                if rnd.random() < 0.3 and matches("is incomplete", same(what, base, model, full)):
                    base.run("ROLLBACK")
                if inside and not base.db.in_transaction:
                    model.back()
            if base.db.in_transaction:
                base.run("ROLLBACK")
                model.back()
            equal(f"{what}: asked in the end", same(what, base, model, full), None)
            before = suite.failed
            error = base.check()
            check(f"{what}: its check: {error}", error is None)
            if suite.failed > before:
                print("\n".join(done))
    check(f"{errors} statements failed", errors > 100 or PERCENT < 50)


suite.run(globals())
