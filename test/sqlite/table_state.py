#!/usr/bin/python3
"""Filter tables: transactions, commands, the export and 'merge'."""

import itertools
import json
import os
import random
import re
import sqlite3

from suite import SEED, Suite, rounds
from tables import NUMBERS, Base, aggregate, arguments, create, draw_args, matches

suite = Suite("sqlite-table-state")
check, equal = suite.check, suite.equal


def count(base, table="seen"):
    return base.one(f"SELECT cuckoofilter_count(cuckoofilter_export('{table}'))")


# ------------------------------------------------------------- transactions


def test_schema_read_again():
    """SQLite connects a table anew in the middle of a transaction, which sees and changes what the first one keeps waiting."""
    for way in ("writable_schema", "a file that is no database", "another connection's schema"):
        schema = "temp" if way == "another connection's schema" else "main"
        with Base(numbers=10) as base:
            if way == "another connection's schema":
                base.run("DROP TABLE seen; CREATE VIRTUAL TABLE temp.seen USING cuckoofilter")

            def read_again():
                if way == "writable_schema":
                    base.run("PRAGMA writable_schema = RESET")
                elif way == "a file that is no database":
                    base.read_again()
                else:
                    with Base(None, 0, base.path) as other:
                        # the second in a transaction is refused, as the first one's question has a lock
                        other.run("PRAGMA busy_timeout = 0")
                        other.error(f"CREATE TABLE other{base.db.total_changes} (y)")
                    base.one("SELECT count(*) FROM number")

            base.run("BEGIN")
            base.rows(f"INSERT INTO {schema}.seen(item) VALUES ('a'), ('b'), ('c')")
            read_again()
            equal(f"{way}: asked", [base.has(item) for item in "abc"], [1, 1, 1])
            base.run("INSERT INTO seen VALUES ('d')")
            read_again()
            base.run("DELETE FROM seen WHERE item IN ('a', 'd')")
            equal(f"{way}: deleted", [base.has(item) for item in "abcd"], [0, 1, 1, 0])
            base.run("INSERT INTO seen VALUES ('e'); SAVEPOINT s; INSERT INTO seen VALUES ('f')")
            read_again()
            base.run("INSERT INTO seen VALUES ('g'); ROLLBACK TO s")
            equal(f"{way}: rolled back", [base.has(item) for item in "bcefg"], [1, 1, 1, 0, 0])
            base.run("INSERT INTO seen VALUES ('h')")
            read_again()
            equal(f"{way}: count", count(base), 4)
            base.run("COMMIT")
            equal(f"{way}: committed", [base.has(item) for item in "abcdefgh"], [0, 1, 1, 0, 1, 0, 0, 1])
            base.run("BEGIN; INSERT INTO seen VALUES ('i')")
            read_again()
            base.run("INSERT INTO seen(seen) VALUES ('delete-all'); COMMIT")
            equal(f"{way}: all deleted", [base.has(item) for item in "bcei"], [0, 0, 0, 0])
            base.run("BEGIN; INSERT INTO seen VALUES ('i')")
            read_again()
            base.run("DROP TABLE seen; COMMIT")
            base.run(f"CREATE VIRTUAL TABLE {schema}.seen USING cuckoofilter")
            equal(f"{way}: dropped", base.has("i"), 0)


def test_lookups_write_nothing():
    """An add is written when its statement ends: a lookup and COMMIT need no write access, and no statement of ours."""
    for way, insert in itertools.product(("BEGIN", "BEGIN; SAVEPOINT s", "SAVEPOINT s"), (
        "INSERT INTO seen VALUES ('x')", "INSERT INTO seen VALUES ('x'), ('y')", "INSERT INTO seen VALUES ('y'); INSERT INTO seen VALUES ('x')",
        "INSERT OR IGNORE INTO log VALUES ('x')", "INSERT INTO log VALUES ('x'), ('y')",
    )):  # fmt: skip
        with Base(numbers=10) as base:
            base.run("CREATE TABLE log (x); CREATE TRIGGER t AFTER INSERT ON log BEGIN INSERT INTO seen VALUES (new.x); END")
            base.run(f"{way}; {insert}")
            denied = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_PRAGMA)
            base.db.set_authorizer(lambda action, *_, denied=denied: sqlite3.SQLITE_DENY if action in denied else sqlite3.SQLITE_OK)
            total = base.db.total_changes
            equal(f"{way}; {insert}: found", base.error_of(lambda base: base.has("x")), 1)
            equal(f"{way}; {insert}: rows written by a lookup", base.db.total_changes, total)
            equal(f"{way}; {insert}: COMMIT", base.error("COMMIT"), None)
            base.db.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
            equal(f"{way}; {insert}: committed", base.has("x"), 1)


def test_interrupted_at_each_point():
    """Each statement is interrupted at each of its steps: as with a plain table, it is undone or done, query_only stays, and
    an add that was accepted is committed."""
    inserts = {
        "single": "INSERT INTO seen VALUES (1)",
        "several rows": "INSERT INTO seen SELECT x FROM number",
        "trigger": "INSERT INTO log SELECT x FROM number",
        "": "",
    }
    for (how, insert), only, ways in itertools.product(inserts.items(), (0, 1), ("BEGIN", "BEGIN; SAVEPOINT s", "")):
        if (not insert) != only:  # what is interrupted is the INSERT, or what follows it
            continue
        for last in (insert,) if insert else ("SELECT count(*) FROM seen WHERE item IN (0, -1)", "SELECT cuckoofilter_export('seen')", "COMMIT"):
            if last == "COMMIT" and not ways:
                continue
            points, error = 0, ""
            while error is not None:
                with Base("fpr=1e-6", numbers=40) as base:
                    base.run("CREATE TABLE log (x); CREATE TRIGGER t AFTER INSERT ON log BEGIN INSERT INTO seen VALUES (new.x); END; CREATE TABLE plain (x)")
                    base.run(f"{ways}; INSERT INTO seen VALUES (0); INSERT INTO plain VALUES (0); INSERT INTO seen VALUES (-1), (-2)")
                    base.run(f"PRAGMA query_only = {only}")
                    left = [points]

                    def stop(left=left):
                        left[0] -= 1
                        return left[0] < 0

                    base.db.set_progress_handler(stop, 1)
                    error = base.error(last)
                    base.db.set_progress_handler(None, 1)
                    about = f"{ways}; {last} after {points} steps: {error}"
                    check(about, error in (None, "interrupted"))
                    equal(f"{about}: query_only", base.one("PRAGMA query_only"), only)
                    # SQLite rolls back the transaction of an interrupted INSERT, of a plain table as well
                    kept = base.one("SELECT count(*) FROM plain")
                    equal(f"{about}: in step with a plain table", base.error_of(lambda base: base.has(0)), kept)
                    # at its last step a statement is done
                    check(f"{about}: not in part", base.error_of(lambda base: sum(base.has(x) for x in range(1, 41))) in (0, 1 if how == "single" else 40))
                    base.run("PRAGMA query_only = 0" + ("; COMMIT" if base.db.in_transaction else ""))
                    equal(f"{about}: committed", [base.has(x) for x in (0, -1, -2)], [kept] * 3)
                    equal(f"{about}: the table's check", base.check(), None)
                points += max(1, points // 8)
            check(f"{ways}; {last}: interrupted often enough", points > 3)


def test_query_only():
    """PRAGMA query_only after an INSERT: what was added is found and committed, and nothing else can be written."""
    inserts = {
        "single": "INSERT INTO seen VALUES ('a'); INSERT INTO seen VALUES ('b')",
        "several rows": "INSERT INTO seen VALUES ('a'), ('b')",
        "under a savepoint": "SAVEPOINT s; INSERT INTO seen VALUES ('a'); INSERT INTO seen VALUES ('b')",
    }
    reads = {
        "lookup": lambda base: [base.has(item) for item in "abc"] == [1, 1, 0],
        "export": lambda base: count(base) == 2,
        "table_info": lambda base: table_info(base)["count"] == 2,
        "savepoint": lambda base: base.run("SAVEPOINT t; RELEASE t") is None,
        "commit": lambda base: True,
    }
    for kind in ("deletable", "set"):
        for (how, insert), (what, read) in itertools.product(inserts.items(), reads.items()):
            about = f"{kind}, {how}, {what}"
            with Base(f"kind={kind}", numbers=10) as base:
                base.run(f"BEGIN; DELETE FROM number WHERE x = 1; {insert}; PRAGMA query_only = 1")
                equal(f"{about}: read", base.error_of(read), True)
                equal(f"{about}: the setting", base.one("PRAGMA query_only"), 1)
                check(f"{about}: no INSERT", matches("readonly", base.error("INSERT INTO seen VALUES ('c')")))
                check(f"{about}: no other", matches("readonly", base.error("DELETE FROM number")))
                equal(f"{about}: COMMIT", base.error("COMMIT"), None)
                equal(f"{about}: still the setting", base.one("PRAGMA query_only"), 1)
                base.reopen()
                equal(f"{about}: stored", ([base.has(item) for item in "abc"], base.one("SELECT count(*) FROM number")), ([1, 1, 0], 9))
    with Base(numbers=10) as base:
        base.run("BEGIN; INSERT INTO seen VALUES ('a'); PRAGMA query_only = 1; ROLLBACK")
        equal("rolled back", (base.has("a"), base.one("PRAGMA query_only")), (0, 1))
        # an authorizer of the program keeps the setting as it is
        base.run("PRAGMA query_only = 0; BEGIN; INSERT INTO seen VALUES ('a'); PRAGMA query_only = 1")
        for answer in (sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE):
            base.db.set_authorizer(lambda action, *_, answer=answer: answer if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK)
            equal("an authorizer", base.error("SELECT * FROM seen WHERE item = 'a'"), None)
        base.db.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
        base.run("PRAGMA query_only = 0; COMMIT")
        equal("and nothing is lost", base.has("a"), 1)


def test_between_rows_of_returning():
    """The adds of a statement with RETURNING are found and committed, whatever is set before the program has read its rows."""
    if sqlite3.sqlite_version_info < (3, 35):
        print("skipped: SQLite before 3.35 has no RETURNING")
        return
    deny = lambda action, *_: sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE) else sqlite3.SQLITE_OK
    for name, between in (
        ("query_only", lambda db: db.execute("PRAGMA query_only = 1")),
        ("an authorizer", lambda db: db.set_authorizer(deny)),
        ("an interrupt", lambda db: db.interrupt()),
        ("nothing", lambda db: None),
    ):
        for begin in ("before", "between", "never"):
            for insert in ("INSERT INTO seen(item) SELECT x FROM number WHERE x <= 3", "INSERT INTO log SELECT x FROM number WHERE x <= 3"):
                with Base("", numbers=10) as base:
                    base.run("CREATE TABLE log (x); CREATE TRIGGER tr AFTER INSERT ON log BEGIN INSERT INTO seen VALUES (new.x); END")
                    base.run("BEGIN" if begin == "before" else "SELECT 1")
                    rows = base.db.execute(f"{insert} RETURNING 1")
                    rows.fetchone()
                    base.run("BEGIN" if begin == "between" else "SELECT 1")
                    between(base.db)
                    about = f"{name}, BEGIN {begin}, {insert}"
                    equal(f"{about}: its end", None if name == "an interrupt" else base.error_of(lambda _: rows.fetchall()[2:] or None), None)
                    rows.close()
                    equal(f"{about}: the transaction", base.db.in_transaction, begin != "never")
                    equal(f"{about}: found", base.error_of(lambda base: base.missing(1, 3)), 0)
                    equal(f"{about}: COMMIT", base.error("COMMIT") if begin != "never" else None, None)
                    base.reopen()
                    equal(f"{about}: committed", base.missing(1, 3), 0)


def test_written_by_statements():
    """In a transaction, the adds of a statement with several rows or a trigger are in the shadow table when it ends:
    sqlite3_serialize has them."""
    statements = {
        "VALUES": "INSERT INTO seen VALUES (1), (2), (3)",
        "SELECT": "INSERT INTO seen(item) SELECT x FROM number WHERE x <= 3",
        "trigger": "INSERT INTO account VALUES (1)",
        "trigger of several rows": "INSERT INTO account SELECT x FROM number WHERE x <= 3",
        "RETURNING": "INSERT INTO seen VALUES (1) RETURNING item",
    }
    if sqlite3.sqlite_version_info < (3, 35):
        del statements["RETURNING"]
    for way, (how, statement) in itertools.product(("BEGIN", "BEGIN; SAVEPOINT s", "SAVEPOINT s", "BEGIN; INSERT INTO seen VALUES (0); SAVEPOINT s"), statements.items()):
        with Base("fpr=1e-6", numbers=10) as base:
            base.run("CREATE TABLE account (x); CREATE TRIGGER added AFTER INSERT ON account BEGIN INSERT INTO seen(item) VALUES (new.x); END")
            base.run(f"{way}; {statement}")
            equal(f"{way}; {statement}: changes()", base.one("SELECT changes()"), 3 if how not in ("trigger", "RETURNING") else 1)
            rows = base.rows("SELECT * FROM seen_chunk")
            if hasattr(base.db, "serialize"):  # Python 3.11
                with Base(None, 0) as copy:
                    copy.db.deserialize(base.db.serialize())
                    equal(f"{way}; {statement}: in a copy", copy.has(1), 1)
            equal(f"{way}; {statement}", (base.has(1), base.rows("SELECT * FROM seen_chunk") == rows), (1, True))
            base.run("COMMIT")
            equal(f"{way}; {statement}: its check", (base.check(), base.has(1)), (None, 1))


def test_renamed_under_an_older_instance():
    """A rename ends the queries of all instances of a table, also of those that only an open query still has."""
    for end in ("", "; ROLLBACK TO s; COMMIT"):
        with Base("fpr=1e-6", numbers=3000) as base:
            base.add(1, 3000)
            sql = "SELECT x FROM number WHERE EXISTS (SELECT 1 FROM seen WHERE item = x)"
            cursor = base.db.execute(sql)
            cursor.fetchmany(100)
            base.read_again()
            equal("it goes on", cursor.fetchone(), (101,))
            begin = "BEGIN; INSERT INTO seen VALUES ('a'); SAVEPOINT s; " if end else ""
            base.run(f"{begin}ALTER TABLE seen RENAME TO old; CREATE VIRTUAL TABLE seen USING cuckoofilter{end}")
            try:
                check(f"{len(cursor.fetchall())} rows{end}", False)
            except sqlite3.Error as error:
                check(f"{end}: {error}", matches("was renamed while|abort", str(error)))
            if end:
                equal("what waited stays", (base.has("a"), base.missing(1, 3000)), (1, 0))
            else:
                equal("of the other none", base.missing(1, 3000), 3000)


def test_statement_that_fails():
    """A statement that fails midway takes its own items back and leaves the transaction's."""
    with Base("fpr=1e-6") as base:
        base.run("CREATE TABLE log (id CHECK (id <> 500)); CREATE TABLE k (id PRIMARY KEY)")
        base.run("CREATE TRIGGER t AFTER INSERT ON log BEGIN INSERT INTO seen(item) VALUES (new.id); END")
        base.run("BEGIN; INSERT INTO seen VALUES (5000)")
        for sql, pattern in (
            ("INSERT INTO log SELECT x FROM number", "CHECK"),
            ("INSERT INTO seen(item) SELECT iif(x < 500, x, abs(-9223372036854775807 - 1)) FROM number", "overflow"),
            ("INSERT INTO seen(item) SELECT iif(x < 500, x, cuckoofilter_count('x')) FROM number", "cuckoofilter"),
        ):
            error = base.error(sql)
            check(f"{sql}: {error}", matches(pattern, error))
            equal("nothing of it stays", base.missing(1, 1000), 1000)
            equal("what came before stays", base.has(5000), 1)
        base.run("INSERT INTO seen VALUES (5001); COMMIT")
        equal("committed", (base.has(5000), base.has(5001), count(base)), (1, 1, 2))
        # OR FAIL keeps what came before the failure, OR ROLLBACK takes all back
        base.error("INSERT OR FAIL INTO log SELECT x FROM number WHERE x > 490")
        equal("OR FAIL", (base.missing(491, 499), base.has(500)), (0, 0))
        base.run("BEGIN; INSERT INTO seen VALUES (5002)")
        base.error("INSERT OR ROLLBACK INTO log SELECT x FROM number WHERE x > 498")
        equal("OR ROLLBACK", (base.db.in_transaction, base.has(5002)), (False, 0))
        equal("its check", base.check(), None)


def test_failed_commit():
    """A COMMIT that a deferred foreign key refuses can be tried again, and nothing is lost or doubled."""
    with Base("fpr=1e-6") as base:
        base.run(
            "PRAGMA foreign_keys = on; CREATE TABLE a (x PRIMARY KEY);"
            "CREATE TABLE b (x REFERENCES a DEFERRABLE INITIALLY DEFERRED);"
            "BEGIN; INSERT INTO seen VALUES (1), (2); INSERT INTO b VALUES (9)"
        )
        check("refused", matches("FOREIGN KEY", base.error("COMMIT")))
        base.run("INSERT INTO seen VALUES (3); INSERT INTO a VALUES (9); COMMIT")
        equal("committed", [base.copies(x) for x in (1, 2, 3)], [1, 1, 1])
        base.run("BEGIN; INSERT INTO seen VALUES (4); INSERT INTO b VALUES (10)")
        check("refused", matches("FOREIGN KEY", base.error("COMMIT")))
        base.run("ROLLBACK")
        equal("rolled back", [base.copies(x) for x in (3, 4)], [1, 0])


def test_reading_while_writing():
    """A query goes on while its table changes; each row sees what came before it, and none is lost."""
    with Base("fpr=1e-6", numbers=3000) as base:
        base.run("CREATE TABLE log AS SELECT x AS id FROM number")
        base.add(1, 1000)
        reader = base.db.execute("SELECT log.id FROM log CROSS JOIN seen ON seen.item = log.id")
        found = []
        for number, (x,) in enumerate(reader):
            found.append(x)
            if number < 600:
                base.db.execute("INSERT INTO seen VALUES (?)", (x + 1000 + number % 2 * 500,))
            if number == 700:
                base.db.execute("DELETE FROM seen WHERE item = 999")
        model = list(range(1, 999)) + [1000]
        equal("those that were there", found[:999], model)
        equal("none twice", len(set(found)), len(found))
        new = [x + 1000 + (x - 1) % 2 * 500 for x in range(1, 601)]
        equal("those that came", sorted(found[999:]), sorted(set(new)))
        equal("in the end", base.one("SELECT count(*) FROM log JOIN seen ON item = id"), 999 + len(set(new)))
        # what is not there yet goes in as it is found missing: only the first of equal ones
        base.run("CREATE TABLE again (id); INSERT INTO again SELECT 'i' || (x % 100) FROM number")
        added = 0
        for (item,) in base.db.execute(
            "SELECT id FROM again WHERE NOT EXISTS (SELECT 1 FROM seen WHERE item = again.id)"
        ):
            base.db.execute("INSERT INTO seen VALUES (?)", (item,))
            added += 1
        check(f"deduplicated: {added}", 100 <= added <= 101)  # Python reads one row ahead
        equal("its check", base.check(), None)


def test_insert_of_what_is_asked():
    """INSERT .. SELECT that asks the table it fills."""
    with Base("fpr=1e-6") as base:
        base.add(1, 500)
        base.run(
            "INSERT INTO seen(item) SELECT x FROM number WHERE NOT EXISTS (SELECT 1 FROM seen WHERE item = x)"
        )
        equal("all", (base.missing(1, 1000), count(base)), (0, 1000))
        base.run("INSERT INTO seen(item) SELECT item FROM seen WHERE item IN (1, 2, 3)")
        equal("doubled", [base.copies(x) for x in (1, 2, 3, 4)], [2, 2, 2, 1])
        base.run("DELETE FROM seen WHERE item IN (SELECT x FROM number JOIN seen ON item = x WHERE x < 10)")
        equal("taken", [base.copies(x) for x in (1, 3, 4, 9, 10)], [1, 1, 0, 0, 1])


def test_prepared_statements():
    """Statements that stay prepared across changes of the schema, renames, commits and rollbacks."""
    with Base("fpr=1e-6") as base:
        other = sqlite3.connect(base.path, isolation_level=None)
        for turn in range(6):
            base.db.execute("INSERT INTO seen VALUES (?)", (turn,))
            equal(f"turn {turn}", base.one("SELECT count(*) FROM seen WHERE item IN (0, 1, 2, 3, 4, 5)"), turn + 1)
            if turn == 1:
                base.run("CREATE TABLE more (a)")
            elif turn == 2:
                other.execute("CREATE TABLE more2 (a)")
            elif turn == 3:
                base.run("ALTER TABLE seen RENAME TO was; ALTER TABLE was RENAME TO seen")
            elif turn == 4:
                base.run("VACUUM; ANALYZE")
        base.run("DROP TABLE seen; CREATE VIRTUAL TABLE seen USING cuckoofilter(seed=5, kind=set)")
        equal("another table", base.one("SELECT count(*) FROM seen WHERE item IN (0, 1, 2, 3, 4, 5)"), 0)
        base.db.execute("INSERT INTO seen VALUES (?)", (3,))
        equal("its items", base.one("SELECT count(*) FROM seen WHERE item IN (0, 1, 2, 3, 4, 5)"), 1)
        other.close()


# ------------------------------------------------------------------ commands


def command(base, name, item=None, table="seen"):
    return base.error(f"INSERT INTO {table}({table}, item) VALUES(?, ?)", name, item)


def size(base):
    base.run("VACUUM")
    return os.path.getsize(base.path)


def test_optimize():
    for number, args in enumerate(("", "kind=set", "bucket_size=2", "layout=plain, fpr=1e-4")):
        with Base(args, numbers=0) as base:
            equal("of nothing", command(base, "optimize"), None)
            numbers = list(range(1, 30_001))
            random.Random(number).shuffle(numbers)
            for at in range(0, len(numbers), 1000):
                base.db.executemany("INSERT INTO seen VALUES (?)", ((x,) for x in numbers[at : at + 1000]))
            before, answers = size(base), base.missing(1, 60_000)
            equal(f"{args}", base.error("INSERT INTO seen(seen) VALUES('optimize')"), None)
            check(f"{args}: {before} bytes, then {size(base)}", size(base) <= before)
            equal(f"{args}: the same answers", base.missing(1, 60_000), answers)
            equal(f"{args}: lost", base.missing(1, 30_000), 0)
            equal(f"{args}: its check", base.check(), None)
            equal(f"{args}: again", command(base, "optimize"), None)
            equal(f"{args}: still", base.missing(1, 30_000), 0)
            if args != "kind=set":
                few = size(base)
                base.db.execute(f"DELETE FROM seen WHERE item IN (SELECT x FROM {NUMBERS})", (1, 29_000))
                equal(f"{args}: after removals", command(base, "optimize"), None)
                check(f"{args}: smaller by removals: {few}, {size(base)}", size(base) < few / 2)
                equal(f"{args}: the others", base.missing(29_001, 30_000), 0)
            base.run("BEGIN; INSERT INTO seen VALUES ('x'); INSERT INTO seen(seen) VALUES ('optimize'); ROLLBACK")
            equal(f"{args}: rolled back", base.has("x"), 0)
            equal(f"{args}: its check after it", base.check(), None)


def test_integrity_check():
    """The check finds damaged chunks, and no error in a valid table."""
    with Base() as base:
        equal("empty", base.check(), None)
        base.add(1, 20_000)
        equal("sound", base.check(), None)
        equal("with adds that wait", (base.run("BEGIN; INSERT INTO seen VALUES (1)"), base.check()), (None, None))
        base.run("COMMIT")
        equal("PRAGMA", base.rows("PRAGMA integrity_check"), [("ok",)])
        chunk = max(base.shadows(), key=lambda name: base.one(f"SELECT count(*) FROM {name}"))
        rows = base.one(f"SELECT count(*) FROM {chunk}")
        check(f"{rows} chunks in {chunk}", rows > 10)
        table = base.rows(f"PRAGMA table_info({chunk})")
        key, blob = table[0][1], table[1][1]
        middle = base.one(f"SELECT {key} FROM {chunk} ORDER BY 1 LIMIT 1 OFFSET {rows // 2}")
        for change in (
            f"DELETE FROM {chunk} WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {blob} = x'' WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {blob} = substr({blob}, 1, length({blob}) - 1) WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {blob} = zeroblob(length({blob})) WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {blob} = (SELECT {blob} FROM {chunk} WHERE {key} > {middle} LIMIT 1) WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {key} = {key} + 1 WHERE {key} = {middle}",
            f"UPDATE {chunk} SET {blob} = 'text' WHERE {key} = {middle}",
        ):
            base.run(f"BEGIN; {change}")
            error = base.check()
            check(f"{change}: {error}", error and not matches("no such", error))
            base.run("ROLLBACK")
        equal("sound again", base.check(), None)


# ------------------------------------------------------------------- export


def draw_size(rnd, capacity):
    """Sizes on both sides of where filters change their form."""
    low, high = rnd.choices(
        ((0, 0), (1, 1), (2, 10), (55, 60), (200, 900), (1000, 4000), (4090, 4100), (7000, 20_000), (90_000, 130_000)),
        (1, 2, 2, 2, 2, 2, 3, 3, 1.5),
    )[0]
    return min(rnd.randint(low, high), capacity)


def fill(base, rnd, size):
    """The integers 1 .. size into the table, each once, in one of many ways."""
    way = rnd.choice(("at once", "rows", "batches", "halves", "pairs"))
    numbers = list(range(1, size + 1))
    rnd.shuffle(numbers)
    if way == "rows" and size <= 4200:
        for x in numbers:
            base.db.execute("INSERT INTO seen VALUES (?)", (x,))
    elif way == "at once" or size == 0:
        base.add(1, size)
    else:
        step = {"rows": 1000, "batches": rnd.randint(1, 5000), "halves": (size + 1) // 2, "pairs": size}[way]
        for at in range(0, size, max(step, size // 60 + 1)):
            base.run("BEGIN")
            base.db.executemany(
                "INSERT INTO seen VALUES (?)", ((x,) for x in numbers[at : at + max(step, size // 60 + 1)])
            )
            base.run("COMMIT")
    return way


def test_export():
    """Byte for byte what the aggregate makes of the same items."""
    for what, rnd in rounds(60):
        args = draw_args(rnd)
        size = draw_size(rnd, args.get("capacity", 1_000_000))
        with Base(arguments(args), numbers=0, before=f"PRAGMA page_size = {rnd.choice((512, 4096, 4096, 65536))}") as base:
            way = fill(base, rnd, size)
            if rnd.random() < 0.3:
                command(base, "optimize")
                way += ", optimized"
            what = f"{what}: ({arguments(args)}) of {size} {way}"
            got = base.export()
            want = base.one(f"SELECT {aggregate(args)} FROM {NUMBERS}", 1, size)
            if size == 0:  # an aggregate over no rows knows no parameters
                want = want if got == want else base.one(f"SELECT {create(args)}")
            check(f"{what}: {suite.info(got)}, not {suite.info(want)}", got == want)
            equal(f"{what}: lost", base.missing(1, size), 0)
            equal(f"{what}: its check", base.check(), None)


def found_by_chance(base, filter, numbers=20_000):
    """How many of so many items that were never added the filter says it has."""
    return base.one(
        f"SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(?3)), x)) FROM {NUMBERS}",
        10**9, 10**9 + numbers - 1, filter,
    )  # fmt: skip


def is_rate(found, rate, numbers=20_000, least=True):
    """Is the number found what the rate says?  At most that, where copies are counted."""
    most = numbers * rate
    noise = 6 * most**0.5 + 6
    return found <= 1.12 * most + noise and (not least or found >= 0.88 * most - noise)


def limit_length(base, most):
    """The most bytes of a value; whether they can be set."""
    can = hasattr(base.db, "setlimit")  # Python before 3.11 has none
    if can:
        base.db.setlimit(0, most)  # SQLITE_LIMIT_LENGTH
    return can


def test_export_of_copies():
    """Where copies crowd, the export has other buckets or is a set, and may have as many bytes as a value."""
    kinds = set()
    for args, size, times in (("", 3000, 20), ("", 20_000, 5), ("bucket_size=2", 700, 3), ("kind=set", 3000, 20)):
        with Base(f"capacity=20000, {args}".rstrip(", "), numbers=0) as base:
            for _ in range(times):
                base.add(1, size)
            whole = base.export()
            what, info = f"({args}) of {size} inserted {times} times", suite.info(whole)
            kinds.add((args, info["kind"], info["bucket_size"]))
            equal(f"{what}: denied", size - suite.contained(whole, 1, size), 0)
            found = found_by_chance(base, whole)
            check(f"{what}: {found} found at {info}", is_rate(found, info["fpr"], least=info["kind"] == "set"))
            if limit_length(base, len(whole)):
                equal(f"{what}: within the limit", base.export() == whole, True)
            if info["kind"] == "set" and limit_length(base, len(whole) - 1):
                error = base.error("SELECT cuckoofilter_export('seen')")
                check(f"{what}: {error}", matches(f"cuckoofilter would be larger than {len(whole) - 1} bytes: ", error))
    equal("kinds", kinds, {("", "set", 4), ("", "deletable", 8), ("bucket_size=2", "deletable", 8), ("kind=set", "set", 4)})


def test_export_of_crowded_hashes():
    """Hashes that begin with the same bits need a filter of more bytes than a value may have."""
    size = 120_000
    rnd = random.Random(f"{SEED} crowd")
    first = rnd.getrandbits(30) << 34
    hashes = json.dumps([hash - (hash >> 63 << 64) for hash in (first | rnd.getrandbits(34) for _ in range(size))])
    merge = "INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg_hash(value, 1e-9, 1000000) FROM json_each(?) WHERE key / 3000 = ?"
    with Base("fpr=1e-9, capacity=1000000", numbers=0) as base:
        for turn in range(size // 3000):  # a few at a time stay whole hashes
            base.db.execute(merge, (hashes, turn))
            if turn == 3:
                found = "SELECT sum(cuckoofilter_contains_hash((SELECT cuckoofilter_open(cuckoofilter_export('seen'))), value)) FROM json_each(?) WHERE key < 12000"
                equal("found", base.db.execute(found, (hashes,)).fetchone()[0], 12_000)
        if limit_length(base, 20_000_000):
            error = base.error("SELECT cuckoofilter_export('seen')")
            sentence = (
                r"cuckoofilter cannot store so many items with similar hashes: it has \d+ items at a false positive rate of \d(\.\d+)?e-\d+; "
                r"build it with another seed option; hashes that you compute yourself must be evenly distributed"
            )
            check(f"{size} crowded: {error}", re.fullmatch(sentence, error or ""))
        equal("its check", base.check(), None)


def test_export_past_half():
    """Tables past half of their limit, at any rate."""
    for fpr in (0.001, 0.01, 0.03, 0.1, 0.2, 0.4):
        for args in ("", "bucket_size=2", "bucket_size=8", "kind=set", "layout=plain"):
            with Base(f"capacity=300, fpr={fpr}, {args}".rstrip(", "), numbers=0) as base:
                size = 0
                while size < 40_000 and base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", size + 1, size + 20) is None:
                    size += 20
                what = f"fpr {fpr}, {args}: {size}"
                got = base.export()
                info = suite.info(got)
                equal(f"{what}: denied", size - suite.contained(got, 1, size), 0)
                found = found_by_chance(base, got)
                check(f"{what}: {found} found at {info}", is_rate(found, info["fpr"], least=fpr < 0.05))


INFO = (
    "count, capacity, target_fpr, fpr, bytes, bits_per_item, layout, kind, bucket_size, prefix_bits, seed, item_classes, "
    "items_left, items_to_limit, rows, pages, distinct_prefixes"
).split(", ")


def table_info(base, call="'seen'"):
    return json.loads(base.one(f"SELECT cuckoofilter_table_info({call})"))


def test_table_info():
    """The values are those of an export of the same items, and of the rows."""
    for args in ({}, {"kind": "set"}, {"fpr": 0.001, "bucket_size": 8, "seed": 7}, {"layout": "plain", "fpr": 0.1}):
        for size in (0, 5, 3000, 20_000):
            args = {**args, "capacity": 20_000}
            with Base(arguments(args), numbers=0) as base:
                base.add(1, size)
                base.add(1, size // 2)
                told, export = table_info(base), suite.info(base.export())
                what = f"({arguments(args)}) of {size}: {told}"
                equal(f"{what}: fields", list(told), INFO)
                for field in ("count", "target_fpr", "layout", "kind", "bucket_size", "seed", "item_classes"):
                    equal(f"{what}: {field}", told[field], export[field])
                equal(f"{what}: capacity", told["capacity"], 20_000)
                rows = base.rows("SELECT count(*), coalesce(sum(length(chunk)), 0) FROM seen_chunk")[0]
                equal(f"{what}: rows and bytes", (told["rows"], told["bytes"]), rows)
                distinct = told["distinct_prefixes"]
                check(f"{what}: distinct", size * (1 - told["fpr"]) - 9 <= distinct <= size)
                equal(f"{what}: of a set", distinct == told["count"] or args.get("kind") != "set", True)
                found = 20_000 - base.missing(10**9, 10**9 + 19_999)
                check(f"{what}: {found} found", is_rate(found, told["fpr"] * distinct / max(told["count"], 1)))
                try:
                    pages = base.one("SELECT count(*) FROM dbstat WHERE name = 'seen_chunk'")
                except sqlite3.Error:
                    pages = None  # a library without it
                equal(f"{what}: pages", told["pages"], pages)


def test_table_info_rate():
    """The rate is that of FORMAT.md, section 5, as the export and the error of a full table have it."""
    for about, rnd in rounds(60):
        args = draw_args(rnd, (1, 100, 3000, 20_000))
        with Base(arguments(args), numbers=0) as base:
            base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", 1, rnd.choice((0, 1, 60, 900, 5000, 30_000)))
            told, export = table_info(base), suite.info(base.export())
            about = f"{about}: ({arguments(args)}): {told['fpr']}"
            w, c = told["prefix_bits"], next(c for c in range(4, 9) if c == 8 or 2**c * told["target_fpr"] >= 1)
            rate = min(told["count"] * (1 + 2 / 2**c if w < 64 else 1) / 2**w, 1)
            check(f"{about}, must be {rate}", abs(told["fpr"] - rate) <= 1e-9 * rate)
            if (export["prefix_bits"], export["count"], export["target_fpr"]) == (w, told["count"], told["target_fpr"]):
                equal(f"{about}: of the export", export["fpr"], told["fpr"])
    for args in ("capacity=100", "capacity=100, fpr=0.1", "capacity=200, fpr=0.05, kind=set, bucket_size=8"):
        with Base(args, numbers=0) as base:
            last, error = 0, None
            while error is None:
                last += 1
                error = base.error("INSERT INTO seen VALUES (?)", last)
            check(f"{args}: {error}, {table_info(base)}", f" at a false positive rate of {table_info(base)['fpr']:.3g};" in error)


def test_table_info_sees():
    """What waits, what was rolled back, how many items are left, a schema, and no other tables."""
    with Base("capacity=1000") as base:
        base.run("BEGIN; INSERT INTO seen VALUES (1), ('a')")
        told = table_info(base, "'seen', 'main'")
        equal("what waits", (told["count"], told["item_classes"], told["prefix_bits"]), (2, ["number", "text"], 64))
        base.run("ROLLBACK")
        equal("left of the capacity", table_info(base)["items_left"], 1000)
        for items, expected in (("1, 'a', 1", 998), ("1, 1, 1", 998)):
            base.run(f"INSERT INTO seen(item) VALUES {', '.join(f'({item})' for item in items.split(', '))}")
            equal(f"{items}: copies are not counted", table_info(base)["items_left"], expected)
        base.run("INSERT INTO seen(seen) VALUES ('delete-all')")
        left = table_info(base)["items_to_limit"]
        equal("nothing", (table_info(base)["count"], table_info(base)["rows"]), (0, 0))
        equal("as many as are left", base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", 1, left), None)
        equal("none are left", (table_info(base)["items_to_limit"], table_info(base)["items_left"]), (left - table_info(base)["count"], 0))
        check("one more", base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", 10**6, 10**6 + left) is not None)
        with Base("capacity=1000, fpr=0.05, kind=set", numbers=0) as other:
            left = table_info(other)["items_to_limit"]
            equal("of a set, at least as many", other.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", 1, left), None)
            check("and more", table_info(other)["items_to_limit"] > 0)
        equal("JSON", base.one("SELECT json_extract(json_array(cuckoofilter_table_info('seen')), '$[0].kind')"), "deletable")
        equal("NULL", base.one("SELECT cuckoofilter_table_info(NULL)"), None)
        for call in ("'number'", "'nothing'", "'seen', 'temp'", "5"):
            check(f"{call}", base.error(f"SELECT cuckoofilter_table_info({call})"))
        base.run("CREATE VIEW w AS SELECT cuckoofilter_table_info('seen') AS f")
        check("in a view", matches("unsafe use", base.error("SELECT * FROM w")))


def test_limit_after_a_rollback():
    """Adds that were allowed while the table was empty are not, once a rollback has brought its items back."""
    for begin, end in (("BEGIN", "ROLLBACK"), ("BEGIN; SAVEPOINT s", "ROLLBACK TO s; COMMIT")):
        with Base("capacity=1000") as base:
            most = table_info(base)["items_to_limit"]
            base.add(1, most)
            count = table_info(base)["count"]
            for cycle in range(1, 21):
                base.run(f"{begin}; INSERT INTO seen(seen) VALUES ('delete-all'); INSERT INTO seen VALUES ('x'); {end}")
                base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", cycle * 10**6, cycle * 10**6 + 600)
            equal(f"{end}: items", (table_info(base)["count"], count <= most), (count, True))


def test_export_classes():
    """item_classes of what was added; a filter of text."""
    with Base() as base:
        base.run("INSERT INTO seen VALUES ('a'), ('b')")
        equal("text", suite.info(base.export())["item_classes"], ["text"])
        base.run("INSERT INTO seen VALUES (1), (x'00'), (2.5)")
        equal("all", suite.info(base.export())["item_classes"], ["number", "text", "bytes"])
        base.reopen()
        equal("reopened", suite.info(base.export())["item_classes"], ["number", "text", "bytes"])
        want = base.one(f"SELECT {aggregate({}, 'column1')} FROM (VALUES ('a'), ('b'), (1), (x'00'), (2.5))")
        equal("bytes", base.export(), want)


def test_export_errors():
    with Base() as base:
        base.run("CREATE TABLE plain (a); CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(a)")
        for call in ("'nothing'", "'plain'", "'v'", "'f'", "'seen', 'nowhere'", "'seen', 'temp'", "'sqlite_schema'", "''", "5"):
            error = base.error(f"SELECT cuckoofilter_export({call})")
            check(f"{call}: {error}", error and not matches("unsafe|syntax|no such function", error))
        for call in ("NULL", "NULL, 'main'"):
            equal(call, base.one(f"SELECT cuckoofilter_export({call})"), None)
        for shadow in base.shadows():
            error = base.error("SELECT cuckoofilter_export(?)", shadow)
            check(f"{shadow}: {error}", error)
        base.run("INSERT INTO seen VALUES (1)")
        equal("with its schema", base.one("SELECT cuckoofilter_export('seen', 'main')"), base.export())
        equal("in other letters", base.one("SELECT cuckoofilter_export('SEEN', 'Main')"), base.export())
        # it reads the database: only directly
        base.run(
            "CREATE VIEW w AS SELECT cuckoofilter_export('seen') AS f;"
            "CREATE TRIGGER t AFTER INSERT ON plain BEGIN SELECT cuckoofilter_export('seen'); END"
        )
        for sql in ("SELECT * FROM w", "INSERT INTO plain VALUES (1)"):
            check(f"{sql}: {base.error(sql)}", matches("unsafe use", base.error(sql)))
        base.run("CREATE TEMP VIEW tv AS SELECT cuckoofilter_export('seen') AS f")
        base.error("SELECT * FROM tv")  # SQLite decides


# -------------------------------------------------------------------- merge


def test_merge_errors():
    with Base("capacity=100000, fpr=0.001") as base:
        base.add(1, 1000)
        before = base.export()
        for filter, pattern in (
            ("cuckoofilter_agg(x, 0.1, 5000)", "coarse|precision"),
            ("cuckoofilter_agg(x, 0.001, 100000, 'seed=5')", "different seeds: "),
            ("zeroblob(100)", "not a cuckoofilter"),
            ("'text'", "takes a cuckoofilter|must be a BLOB"),
            ("5", "takes a cuckoofilter|must be a BLOB"),
            ("x'636b662d6f70656e00000000000000000000000000000000'", "open|handle|cuckoofilter"),
        ):
            error = base.error(f"INSERT INTO seen(seen, item) SELECT 'merge', {filter} FROM number")
            check(f"{filter}: {error}", matches(pattern, error))
            equal(f"{filter}: nothing changed", base.export() == before, True)
        base.run("INSERT INTO seen(seen, item) VALUES ('merge', cuckoofilter_create(10, 0.5))")
        equal("an empty one is neutral", base.export() == before, True)
        base.run("INSERT INTO seen(seen, item) VALUES ('merge', cuckoofilter_create(10, 0.5, 'seed=9'))")
        equal("of another seed, too", base.export() == before, True)
        error = base.error("INSERT INTO seen(seen) VALUES ('merge')")
        check(f"without a filter: {error}", error is None or "cuckoofilter" in error or "merge" in error)
        equal("nothing changed", base.export() == before, True)
        # damaged bytes are found by the full check
        broken = bytearray(base.one("SELECT cuckoofilter_agg(x, 0.001, 100000) FROM number"))
        broken[60] ^= 255
        error = base.error("INSERT INTO seen(seen, item) VALUES ('merge', ?)", bytes(broken))
        check(f"damaged: {error}", matches("not a cuckoofilter", error))
        equal("nothing changed by it", base.export() == before, True)
        base.run("BEGIN; INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(x + 5000, 0.001, 100000) FROM number")
        equal("merged", base.missing(5001, 6000), 0)
        base.run("ROLLBACK")
        equal("rolled back", base.export() == before, True)


SET = (
    "cannot merge the filter into cuckoofilter table seen: only a table with kind=set takes a filter of kind set, "
    "since removing an item could remove another item, too; merge deletable filters, or create the table with kind=set"
)


def test_merge_kinds():
    """A set goes into a set's table only; a deletable filter goes into either."""
    for table in ("deletable", "set"):
        for size in (0, 1, 40, 20_000):
            with Base(f"capacity=20000, kind={table}", numbers=0) as base:
                base.run("CREATE TABLE f (kind, f)")
                for kind in ("set", "deletable"):
                    options = {"capacity": 20_000, "kind": kind}
                    base.db.execute(f"INSERT INTO f SELECT ?3, {aggregate(options)} FROM {NUMBERS}", (1, size, kind))
                base.run("INSERT INTO f SELECT 'union', cuckoofilter_union_agg(f) FROM f")
                if not size:  # an aggregate over no rows knows no parameters
                    base.run("UPDATE f SET f = cuckoofilter_create(20000, 0.01, 'kind=set') WHERE kind <> 'deletable'")
                for kind in ("set", "union", "deletable"):
                    what = f"{kind} of {size} into {table}"
                    error = base.error("INSERT INTO seen(seen, item) SELECT 'merge', f FROM f WHERE kind = ?", kind)
                    equal(what, error, SET if table == "deletable" and kind != "deletable" else None)
                equal(f"{size} into {table}: lost", base.missing(1, size), 0)
                if table == "deletable":
                    base.db.execute(f"DELETE FROM seen WHERE item IN (SELECT x FROM {NUMBERS})", (1, size // 2))
                    equal(f"{size}: denied after a removal", base.missing(size // 2 + 1, size), 0)


print(f"SEED={SEED}")
suite.run(globals())
