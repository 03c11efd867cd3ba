#!/usr/bin/python3
"""Filter tables under an authorizer of the program that denies or ignores what their statements do: each operation is right
or an error, and afterwards the rows are those from before it, or those that the operation writes without an authorizer."""

import itertools
import random
import re
import sqlite3

from suite import PERCENT, SEED, Suite, connect
from tables import NUMBERS

suite = Suite("sqlite-table-authorizer")
check, equal = suite.check, suite.equal

print(f"SEED={SEED}")

OK, IGNORE, DENY = sqlite3.SQLITE_OK, sqlite3.SQLITE_IGNORE, sqlite3.SQLITE_DENY
SELECT, READ = sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ
INSERT, UPDATE, DELETE = sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE
CODES = {SELECT: "SELECT", READ: "READ", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}
COLUMNS = ("id", "chunk", "item_classes", "surplus")

# What a rule is about: a code, and a column of the shadow table; None: any.
RULES = (
    [(READ, column) for column in (*COLUMNS, "", None)]
    + [(UPDATE, column) for column in (*COLUMNS[1:], None)]
    + [(code, None) for code in (INSERT, DELETE, SELECT, None)]
)  # fmt: skip


def items(first, last):
    return NUMBERS.replace("?1", str(first)).replace("?2", str(last))


TABLES = {
    "empty": "CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=1e-6)",
    "one chunk": "CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=1e-6); INSERT INTO seen VALUES (1), (2), (3)",
    "many": f"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=1e-6); INSERT INTO seen(item) SELECT x FROM {items(1, 3000)}",
    "set": f"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=1e-6, kind=set); INSERT INTO seen(item) SELECT x FROM {items(1, 900)};"
    "INSERT INTO seen VALUES (5), (6), (700)",
}
SCRIPTS = (
    "SELECT count(*) FROM seen WHERE item = 2",
    "SELECT total(copies) FROM number JOIN seen ON item = x",
    "SELECT cuckoofilter_info(cuckoofilter_export('seen'))",
    "SELECT cuckoofilter_table_info('seen')",
    "INSERT INTO seen(seen) VALUES ('integrity-check')",
    "INSERT INTO seen VALUES (4)",
    "INSERT INTO seen VALUES ('text')",
    "INSERT INTO seen VALUES (5), (6)",
    "INSERT INTO seen(item) SELECT x + 2000 FROM number",
    f"INSERT INTO seen(item) SELECT x FROM {items(2500, 8000)}",
    "BEGIN; INSERT INTO seen VALUES (-1), ('text'); SELECT count(*) FROM seen WHERE item = -1; COMMIT",
    "BEGIN; INSERT INTO seen VALUES (-1); SAVEPOINT a; INSERT INTO seen VALUES (-2); SAVEPOINT b; INSERT INTO seen VALUES (-3);"
    "ROLLBACK TO b; INSERT INTO seen VALUES (-4); RELEASE a; COMMIT",
    "BEGIN; DELETE FROM seen WHERE item = 2; INSERT INTO seen VALUES (2), (2); SELECT copies FROM seen WHERE item = 2; COMMIT",
    "DELETE FROM seen WHERE item IN (1, 3)",
    "INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(x + 950, 1e-6, 1000000) FROM number",
    "INSERT INTO seen(seen) VALUES ('optimize')",
    "INSERT INTO seen(seen) VALUES ('delete-all')",
    "BEGIN; INSERT INTO seen VALUES (-1); INSERT INTO seen(seen) VALUES ('delete-all'); INSERT INTO seen VALUES (-2); COMMIT",
    "ALTER TABLE seen RENAME TO other",
    "BEGIN; ALTER TABLE seen RENAME TO other; INSERT INTO other VALUES (-5); COMMIT",
    "DROP TABLE seen",
    "BEGIN; CREATE VIRTUAL TABLE fresh USING cuckoofilter(fpr=0.001, kind=set); INSERT INTO fresh VALUES (1), (2); COMMIT",
)  # fmt: skip


def statements(script):
    return [part for part in script.split(";") if part.strip()]


def without_pages(answers):
    """cuckoofilter_table_info cannot always count pages: null."""
    return re.sub(r'"pages":\w+', "", repr(answers))


def state(db):
    """The names of all tables, and the rows behind the filter tables."""
    names = sorted(name for (name,) in db.execute("SELECT name FROM sqlite_master"))
    return names, [db.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall() for name in names if name.endswith("_chunk")]


def attempt(db, script, before=lambda sql: None):
    """The answers of a script, or the error of its first statement that fails."""
    answers = []
    try:
        for sql in statements(script):
            before(sql)
            answers.append(db.execute(sql).fetchall())
    except (sqlite3.Error, sqlite3.Warning) as error:
        return str(error)
    return answers


class Sample:
    """A database, and copies of it."""

    def __init__(self, name):
        self.db = connect()
        for sql in statements(f"CREATE TABLE number (x INTEGER PRIMARY KEY); INSERT INTO number SELECT x FROM {items(1, 60)};{TABLES[name]}"):
            self.db.execute(sql)
        self.name = name
        self.before = state(self.db)
        self.expected = {script: self.alone(script) for script in SCRIPTS}

    def copy(self):
        db = connect()
        self.db.backup(db)
        return db

    def alone(self, script):
        """What a script answers without an authorizer, and what it leaves."""
        db = self.copy()
        answers = attempt(db, script)
        check(f"{self.name}: {script}: {answers}", isinstance(answers, list) or self.name == "set")
        after = state(db)
        db.close()
        return answers, after

    def under(self, what, script, answer, warm):
        """Run a script under an authorizer.  answer(code, column) is asked for the extension's own statements."""
        db = self.copy()
        counting, theirs = False, 0  # SELECTs of the script's statement itself
        attempt(db, "SELECT 1 FROM seen WHERE item = NULL")
        if warm:
            attempt(db, f"INSERT INTO seen(seen) VALUES ('integrity-check'); BEGIN; INSERT INTO seen VALUES (1), ('{self.name}')")
            attempt(db, "SELECT 1 FROM seen WHERE item = 1; DELETE FROM seen WHERE item = 1")
            if db.in_transaction:
                db.execute("ROLLBACK")

        def before(sql):
            nonlocal counting, theirs
            counting, theirs = True, 0
            attempt(db, f"EXPLAIN {sql}")
            counting = False

        def authorize(code, table, column, *_):
            nonlocal theirs
            if code == SELECT:
                theirs += 1 if counting else -1
            if counting:
                return OK
            if code == SELECT:
                return answer(code, None) if theirs < 0 else OK
            if code in CODES and table in ("seen_chunk", "other_chunk", "fresh_chunk"):
                return answer(code, column)
            return OK

        db.set_authorizer(authorize)
        answers = attempt(db, script, before)
        db.set_authorizer(lambda *_: OK)
        if db.in_transaction:
            db.execute("ROLLBACK")
        expected, after = self.expected[script]
        what = f"{self.name}, {'warm' if warm else 'fresh'}, {what}: {script}"
        if isinstance(answers, list):
            equal(what, without_pages(answers), without_pages(expected))
        now = state(db)
        check(f"{what}: the rows after {str(answers)[:150]}", now == (after if isinstance(answers, list) else self.before))
        table = "other" if "other" in now[0] else "seen"
        if table in now[0]:
            with_eyes_open = connect()
            db.backup(with_eyes_open)
            for sql in (f"SELECT total(copies) FROM number JOIN {table} ON item = x", f"INSERT INTO {table}({table}) VALUES ('integrity-check')"):
                equal(f"{what}: {sql} after {str(answers)[:150]}", attempt(db, sql), attempt(with_eyes_open, sql))
            with_eyes_open.close()
        db.close()
        return isinstance(answers, list)


# ------------------------------------------------------------------ by a rule


def test_rules():
    """Each code and column, ignored and denied, in a new connection and in one whose statements are prepared."""
    for name in TABLES:
        sample = Sample(name)
        for (code, column), verdict in itertools.product(RULES, (IGNORE, DENY)):
            rule = f"{CODES.get(code, 'all')} {column} {'ignored' if verdict == IGNORE else 'denied'}"

            def answer(asked, of, code=code, column=column, verdict=verdict):
                return verdict if code in (None, asked) and column in (None, of) else OK

            for script, warm in itertools.product(SCRIPTS, (False, True)):
                sample.under(rule, script, answer, warm)


def test_random():
    """An authorizer that answers each question anew."""
    for name in TABLES:
        sample = Sample(name)
        right = 0
        for number in range(max(1, 300 * PERCENT // 100)):
            rnd = random.Random(f"{SEED} {name} {number}")
            share, verdicts = rnd.choice((0.02, 0.1, 0.5)), rnd.choice(((IGNORE,), (DENY,), (IGNORE, DENY)))
            right += sample.under(
                f"SEED={SEED} round {number}", rnd.choice(SCRIPTS), lambda *_: rnd.choice(verdicts) if rnd.random() < share else OK, rnd.random() < 0.5
            )
        print(f"     {name}: {right} scripts were right")


suite.run(globals())
