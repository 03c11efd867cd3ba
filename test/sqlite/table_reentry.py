#!/usr/bin/python3
"""Filter tables whose shadow table has triggers, foreign keys and indexes: the writer's own
statements then open savepoints, fail, and run SQL of the user."""

import os
import random
import sqlite3

from suite import Suite
from tables import Base, draw_args, matches

suite = Suite("sqlite-table-reentry")
check, equal = suite.check, suite.equal

SEED = int(os.environ.get("SEED") or random.randrange(1 << 31))
PERCENT = int(os.environ.get("ROUNDS", 100))
print(f"SEED={SEED}")

LOG = "CREATE TABLE log (n)"
REFERENCE = "PRAGMA foreign_keys = on; CREATE TABLE child (id REFERENCES seen_chunk DEFERRABLE INITIALLY DEFERRED)"

# Objects that a user may create on a shadow table, and that do not change its rows.
HARMLESS = {
    "nothing": "",
    "a trigger that asks": "CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN SELECT length('a'); END",
    "a trigger before": "CREATE TRIGGER t BEFORE INSERT ON seen_chunk BEGIN SELECT length('a'); END",
    "a trigger that writes": f"{LOG}; CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN INSERT INTO log VALUES (new.id); END",
    "triggers for all": f"{LOG}; CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN INSERT INTO log VALUES (new.id); END;"
    "CREATE TRIGGER u AFTER UPDATE ON seen_chunk BEGIN INSERT INTO log VALUES (new.id); END;"
    "CREATE TRIGGER d AFTER DELETE ON seen_chunk BEGIN DELETE FROM log WHERE n = old.id; END",
    "triggers that delete": f"{LOG}; PRAGMA recursive_triggers = on; CREATE TRIGGER d BEFORE DELETE ON seen_chunk BEGIN INSERT INTO log VALUES (old.id); END",
    "a temp trigger": "CREATE TEMP TRIGGER t AFTER INSERT ON seen_chunk BEGIN SELECT length('a'); END",
    "a foreign key": REFERENCE,
    "a foreign key of a row": f"{REFERENCE}; PRAGMA foreign_keys = off; INSERT INTO child VALUES (5); PRAGMA foreign_keys = on",
    "an index": "CREATE INDEX i ON seen_chunk (chunk)",
    "a unique index": "CREATE UNIQUE INDEX i ON seen_chunk (id, chunk)",
    "an expression index": "CREATE INDEX i ON seen_chunk (length(chunk), abs(id % 1000))",
    "a partial index": "CREATE INDEX i ON seen_chunk (item_classes) WHERE surplus > 0",
}


def failing(what, when):
    """A trigger that raises now and then."""
    return (
        f"{LOG}; CREATE TRIGGER l AFTER INSERT ON number BEGIN INSERT INTO log VALUES (new.x); END;"
        f"CREATE TRIGGER t {when} ON seen_chunk WHEN (SELECT count(*) FROM log) % 3 = 1 BEGIN SELECT RAISE({what}); END"
    )


FAILING = {
    f"{when} {what}": failing(what, when)
    for what in ("ABORT, 'no abort'", "FAIL, 'no fail'", "ROLLBACK, 'no rollback'", "IGNORE")
    for when in ("BEFORE INSERT", "AFTER INSERT", "BEFORE UPDATE", "AFTER UPDATE", "BEFORE DELETE", "AFTER DELETE")
} | {
    "an index that fails": "CREATE INDEX i ON seen_chunk (iif(length(chunk) % 7 = 3, abs(-9223372036854775807 - 1 + 0 * id), 1))",
    "a unique index that fails": "CREATE UNIQUE INDEX i ON seen_chunk (length(chunk))",
}


def rounds(full):
    for number in range(max(1, full * PERCENT // 100)):
        yield f"SEED={SEED} round {number}", random.Random(f"{SEED} {number}")


# ------------------------------------------------------------------ one by one


def test_question_after_adds():
    """Adds of two statements and a question, which once entered the writer until the stack ended."""
    for what, sql in HARMLESS.items():
        with Base("fpr=1e-6", numbers=10) as base:
            base.run(f"{sql}; BEGIN; INSERT INTO seen VALUES ('a'); INSERT INTO seen VALUES ('b')")
            equal(f"{what}: asked", (base.has("a"), base.has("b")), (1, 1))
            base.run("INSERT INTO seen VALUES ('c'); SAVEPOINT s; INSERT INTO seen VALUES ('d'); DELETE FROM seen WHERE item = 'a'")
            base.run("ROLLBACK TO s; INSERT INTO seen VALUES ('e'); COMMIT")
            equal(f"{what}: committed", [base.has(x) for x in "abcde"], [1, 1, 1, 0, 1])
            equal(f"{what}: its check", base.check(), None)


def test_statement_that_fails_takes_its_own_back():
    """Adds that waited before a statement stay if the statement fails, even if it has written them."""
    for what, sql in HARMLESS.items():
        for ask in (False, True):
            with Base("fpr=1e-6", numbers=10) as base:
                base.run(f"CREATE TABLE other (x CHECK (x < 5)); {sql}; BEGIN; INSERT INTO seen VALUES ('a'), ('b')")
                base.run("INSERT INTO seen VALUES ('c')")
                more = "(SELECT count(*) FROM seen WHERE item = 'a') + x" if ask else "x"
                error = base.error(f"INSERT INTO other SELECT {more} FROM number")
                check(f"{what}: {error}", matches("CHECK", error))
                equal(f"{what}, {ask}: waits", [base.copies(x) for x in "abcd"], [1, 1, 1, 0])
                base.run("INSERT INTO seen VALUES ('d')")
                error = base.error(f"INSERT INTO seen(item) SELECT iif(x < 9, x, abs(-9223372036854775807 - 1)) FROM number WHERE {more} > 0")
                check(f"{what}: {error}", matches("overflow", error))
                base.run("COMMIT")
                equal(f"{what}, {ask}: committed", [base.copies(x) for x in "abcd"], [1, 1, 1, 1])
                equal(f"{what}, {ask}: not its own", base.missing(1, 8), 8)


def test_sentences():
    """The message of an error is that of the statement that failed."""
    trigger = "CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN SELECT RAISE(ABORT, 'no such day'); END"
    index = "CREATE INDEX i ON seen_chunk (abs(-9223372036854775807 - 1 + 0 * length(chunk)))"
    for sql, words in ((trigger, "no such day"), (index, "overflow")):
        for last in (
            "SELECT 1 FROM seen WHERE item = 'a'", "COMMIT", "SAVEPOINT s; SELECT 1 FROM seen WHERE item = 'a'",
            "INSERT INTO seen(seen) VALUES ('optimize')", "ALTER TABLE seen RENAME TO other",
            "SELECT cuckoofilter_export('seen')", "DELETE FROM seen WHERE item = 'a'",
            "INSERT INTO number SELECT x + 100 FROM number; COMMIT",
        ):  # fmt: skip
            with Base("fpr=1e-6", numbers=10) as base:
                base.run(f"{sql}; BEGIN; INSERT INTO seen VALUES ('a')")
                *before, last = last.split(";")
                for statement in before:
                    equal(f"{words}: {statement}", base.error(statement), None)
                error = base.error(last)
                check(f"{words}: {last}: {error}", matches(words, error))
                equal(f"{words}: still {last}", base.has("a") if not base.db.in_transaction else 0, 0)


def test_nothing_is_skipped():
    """A trigger that keeps rows from being changed is an error, not a lost item."""
    for event in ("INSERT", "DELETE"):
        with Base("fpr=1e-6", numbers=10) as base:
            base.add(1, 3000)
            base.run(f"CREATE TRIGGER t BEFORE {event} ON seen_chunk BEGIN SELECT RAISE(IGNORE); END; BEGIN")
            change = "INSERT INTO seen(seen) VALUES ('optimize')" if event == "DELETE" else "INSERT INTO seen VALUES ('a')"
            error = base.error(change) or base.error("SELECT 1 FROM seen WHERE item = 'a'")
            check(f"{event}: {error}", matches("keeps rows", error))
            base.run("ROLLBACK")
            equal(f"{event}: all are there", base.missing(1, 3000), 0)


def test_drop_among_savepoints():
    """A table that comes back by a rollback has the adds from before the savepoint."""
    for what, sql in HARMLESS.items():
        with Base("fpr=1e-6", numbers=10) as base:
            base.run(f"{sql}; BEGIN; INSERT INTO seen VALUES ('a'); SAVEPOINT s; INSERT INTO seen VALUES ('b')")
            base.run("SELECT 1 FROM seen WHERE item = 'b'; DROP TABLE seen; ROLLBACK TO s; COMMIT")
            equal(f"{what}: dropped and back", (base.has("a"), base.has("b")), (1, 0))
            base.run("BEGIN; INSERT INTO seen VALUES ('c'); SAVEPOINT s; ALTER TABLE seen RENAME TO other")
            base.run("INSERT INTO other VALUES ('d'); ROLLBACK TO s; INSERT INTO seen VALUES ('e'); COMMIT")
            equal(f"{what}: renamed and back", [base.has(x) for x in "acde"], [1, 1, 0, 1])
    # adds that could not be written at the savepoint
    with Base("fpr=1e-6", numbers=10) as base:
        base.run("CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN SELECT RAISE(ABORT, 'no'); END")
        base.run("BEGIN; INSERT INTO seen VALUES ('a'); SAVEPOINT s")
        check("not dropped", matches("locked", base.error("DROP TABLE seen")))
        base.run("DROP TRIGGER t; COMMIT")
        equal("it stays", base.has("a"), 1)


def test_function_that_asks():
    """An index whose function runs SQL on the table is an error, and does not enter the writer again."""
    with Base("fpr=1e-6", numbers=10) as base:
        got = []

        def nosy(_):
            for sql in ("SELECT 1 FROM seen WHERE item = 'a'", "INSERT INTO seen VALUES ('z')", "DELETE FROM seen WHERE item = 'a'",
                        "INSERT INTO seen(seen) VALUES ('optimize')", "SELECT cuckoofilter_export('seen')"):  # fmt: skip
                got.append(base.error(sql))
            return 1

        base.db.create_function("nosy", 1, nosy, deterministic=True)
        base.run("CREATE INDEX i ON seen_chunk (nosy(id)); INSERT INTO seen VALUES ('a')")
        equal("asked", base.one("SELECT count(*) FROM seen WHERE item = 'a'"), 1)
        check(f"refused: {got[:6]}", len(got) >= 5 and all(matches("being written|is locked", error) for error in got))


def test_prepared_file():
    """A file that somebody prepared, opened with care."""
    with Base("fpr=1e-6", numbers=10) as base:
        base.run("CREATE TRIGGER t AFTER INSERT ON seen_chunk BEGIN SELECT length('a'); END;" + REFERENCE)
        base.reopen()
        base.run("PRAGMA trusted_schema = off; PRAGMA foreign_keys = on")
        if hasattr(base.db, "setconfig"):  # Python 3.12
            base.db.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
            refused = base.error("SELECT 1 FROM number")
            if refused is not None:  # from 3.53 on SQLite opens no such file
                check(f"the file: {refused}", "on shadow tables" in refused)
                return
        base.run("BEGIN; INSERT INTO seen VALUES ('a'); INSERT INTO seen VALUES ('b')")
        equal("asked", (base.has("a"), base.has("b")), (1, 1))
        base.run("COMMIT")


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


def step(base, model, rnd):
    """One change; returns its SQL, and what to do with the model where it succeeds."""
    what = rnd.choice(("one", "one", "one", "some", "many", "remove", "ask", "savepoint", "release", "back", "other", "own", "optimize", "all", "rename", "number", "ends"))
    start = rnd.randrange(400)
    if what == "one":
        return f"INSERT INTO seen VALUES ({start})", lambda: model.add([start])
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
        extra = rnd.choice(list(HARMLESS) + list(FAILING))
        args = draw_args(rnd, (20_000, 1_000_000))
        args["fpr"] = 1e-6
        args["capacity"] = args.get("capacity", 1_000_000)
        full = 2 * args.get("bucket_size", 4)
        what += f" {extra} {args}"
        with Base(", ".join(f"{n}={v}" for n, v in args.items()), numbers=10) as base:
            base.run("CREATE TABLE other (x CHECK (x < 5))")
            base.run(HARMLESS.get(extra) or FAILING.get(extra) or "SELECT 1")
            model = Model(rnd, args.get("kind") == "set")
            done = []
            for _ in range(60):
                sql, then = step(base, model, rnd)
                inside = base.db.in_transaction
                error = None
                for statement in sql.split(";"):
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
                check(f"{what}: {sql}: {error}", not matches("SQL logic error|^not an error|malformed|damaged", error))
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
