#!/usr/bin/python3
"""Filter tables in their surroundings: files, journals, copies of databases, other connections,
names, views and triggers, interrupts, full and damaged disks."""

import os
import random
import re
import sqlite3
import subprocess
import threading

from suite import EXTENSION, ROOT, Suite, connect, refusal
from tables import NUMBERS, Base, matches

suite = Suite("sqlite-table-around")
check, equal = suite.check, suite.equal

ITEMS = 20_000


def shell(path, *commands, load=True):
    """The shell's output and errors."""
    loads = [f".load {EXTENSION}"] if load else []
    done = subprocess.run(
        ["sqlite3", "-batch", path], input="\n".join(loads + list(commands)) + "\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def whole(what, base, first=1, last=ITEMS, table="seen"):
    """The table has its items, few others, and passes its check."""
    equal(f"{what}: missing", base.missing(first, last, table), 0)
    others = 1000 - base.missing(10**9, 10**9 + 999, table)
    check(f"{what}: {others} of 1000 others", others < 60)
    equal(f"{what}: PRAGMA integrity_check", base.rows("PRAGMA integrity_check"), [("ok",)])
    name = table.rpartition(".")[2]
    equal(f"{what}: its check", base.error(f"INSERT INTO {table}({name}) VALUES('integrity-check')"), None)


# -------------------------------------------------------------------- files


def test_settings():
    """auto_vacuum, secure_delete, a tiny cache, UTF-16, exclusive locks, a journal in memory."""
    for before in (
        "PRAGMA auto_vacuum = full",
        "PRAGMA auto_vacuum = incremental",
        "PRAGMA secure_delete = on",
        "PRAGMA cache_size = 5",
        "PRAGMA cache_spill = off",
        "PRAGMA encoding = 'UTF-16le'",
        "PRAGMA encoding = 'UTF-16be'",
        "PRAGMA locking_mode = exclusive",
        "PRAGMA journal_mode = memory",
        "PRAGMA journal_mode = truncate",
        "PRAGMA mmap_size = 100000000",
        "PRAGMA temp_store = memory",
        "PRAGMA recursive_triggers = on",
        "PRAGMA cell_size_check = on",
        "PRAGMA automatic_index = off",
        "PRAGMA full_column_names = on; PRAGMA short_column_names = off",
        "PRAGMA reverse_unordered_selects = on",
        "PRAGMA case_sensitive_like = on",
        "PRAGMA count_changes = on",
        "PRAGMA empty_result_callbacks = on",
        "PRAGMA writable_schema = on",
        "PRAGMA legacy_alter_table = on",
    ):
        with Base("fpr=0.001", numbers=0, before=before) as base:
            base.add(1, ITEMS // 2)
            base.run("BEGIN")
            base.add(ITEMS // 2 + 1, ITEMS)
            base.run("COMMIT; INSERT INTO seen VALUES ('ä日本')")
            equal(f"{before}: text", base.has("ä日本"), 1)
            base.run("INSERT INTO seen(seen) VALUES ('optimize')")
            whole(before, base)
            base.run("ALTER TABLE seen RENAME TO other")
            whole(f"{before}, renamed", base, table="other")


def test_copies_of_the_database():
    """VACUUM, VACUUM INTO, the backup interface, .backup, .dump, .clone, serialize: the same answers."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        base.run("DELETE FROM seen WHERE item = 17")
        before = base.export()
        base.run("VACUUM")
        equal("after VACUUM", base.export() == before, True)
        directory = os.path.dirname(base.path)
        into = os.path.join(directory, "into.db")
        base.db.execute("VACUUM INTO ?", (into,))
        backup = os.path.join(directory, "backup.db")
        target = sqlite3.connect(backup)
        base.db.backup(target, pages=7)
        target.close()
        dumped = os.path.join(directory, "dumped.db")
        dump = shell(base.path, ".dump")
        check("the dump has the table", "cuckoofilter" in dump)
        restored = shell(dumped, dump)
        equal("restored without a word", restored, "")
        clone = os.path.join(directory, "saved.db")
        equal(".backup without a word", shell(base.path, f".backup {clone}"), "")
        copies = [into, backup, dumped, clone]
        if hasattr(base.db, "serialize"):  # Python 3.11
            copies.append(os.path.join(directory, "memory.db"))
            with open(copies[-1], "wb") as file:
                file.write(base.db.serialize())
        for path in copies:
            name = os.path.basename(path)
            with Base(None, 0, path) as copy:
                equal(f"{name}: export", copy.export() == before, True)
                equal(f"{name}: what went stays away", copy.has(17), 0)
                whole(name, copy, 18)
                copy.run("INSERT INTO seen VALUES ('more')")
                equal(f"{name}: it can be changed", (copy.has("more"), base.has("more")), (1, 0))
        # a backup while the table is written, between steps
        target = sqlite3.connect(os.path.join(directory, "moving.db"))
        turns = []

        def more(*_):
            if len(turns) < 5:
                turns.append(1)
                base.add(ITEMS + 100 * len(turns), ITEMS + 100 * len(turns) + 99)

        base.db.backup(target, pages=3, progress=more)
        target.close()
        with Base(None, 0, os.path.join(directory, "moving.db")) as copy:
            whole("a backup among writes", copy, 18)
            equal("with what came", copy.missing(ITEMS + 100, ITEMS + 599), 0)


def test_without_the_extension():
    """A connection without the module: a clear error; everything else of the database works."""
    with Base("fpr=0.001") as base:
        base.add(1, 100)
        plain = sqlite3.connect(base.path, isolation_level=None)
        for sql in ("SELECT * FROM seen WHERE item = 1", "INSERT INTO seen VALUES (1)"):
            check(sql, matches("no such module: cuckoofilter", refusal(plain, sql)))
        equal("other tables", plain.execute("SELECT count(*) FROM number").fetchone()[0], 1000)
        equal("integrity", plain.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        plain.execute("VACUUM")
        plain.close()
        whole("after it", base, 1, 100)


# -------------------------------------------------------------------- names


def test_names():
    for name in ("Seen", "a b", "a.b", 'q"uote', "it's", "[x]", "`y`", "select", "ä日本", "1", "x%sy", "a_chunk", "seen; DROP TABLE number", "%s%n"):
        quoted = '"' + name.replace('"', '""') + '"'
        with Base(None) as base:
            base.run(f"CREATE VIRTUAL TABLE {quoted} USING cuckoofilter(fpr=0.001)") if ";" not in name else base.db.execute(
                f"CREATE VIRTUAL TABLE {quoted} USING cuckoofilter(fpr=0.001)"
            )
            base.db.execute(f"INSERT INTO {quoted} SELECT x FROM number")
            for when in ("now", "reopened"):
                got = base.one(f"SELECT count(*) FROM number WHERE EXISTS (SELECT 1 FROM {quoted} WHERE item = x)")
                equal(f"{name} {when}", got, 1000)
                base.db.execute(f"INSERT INTO {quoted}({quoted}) VALUES ('optimize')")
                equal(f"{name} {when}: export", base.export(name) is not None, True)
                base.reopen()
            base.db.execute(f"ALTER TABLE {quoted} RENAME TO \"new 'name\"\"\"")
            equal(f"{name} renamed", base.has(5, "\"new 'name\"\"\""), 1)
            base.db.execute(f"ALTER TABLE \"new 'name\"\"\" RENAME TO {quoted}")
            base.db.execute(f"INSERT INTO {quoted}({quoted}) VALUES ('integrity-check')")
            base.db.execute(f"DROP TABLE {quoted}")
            equal(f"{name}: nothing is left", base.rows("SELECT name FROM sqlite_schema WHERE name <> 'number'"), [])
    # names of an application that equal those of our columns
    for name in ("item", "copies"):
        with Base(None) as base:
            error = base.error(f"CREATE VIRTUAL TABLE {name} USING cuckoofilter")
            if error is None:
                base.run(f"INSERT INTO {name}(item) VALUES (5)")
                equal(f"a table {name}", base.has(5, name), 1)
            else:
                check(f"a table {name}: {error}", matches(name, error))


def test_rename():
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        shadows = base.shadows()
        base.run("CREATE VIEW v AS SELECT item FROM seen WHERE item = 5")
        base.run("ALTER TABLE seen RENAME TO other")
        equal("the tables behind it follow", base.shadows("other"), [s.replace("seen", "other") for s in shadows])
        equal("none stays", base.shadows(), [])
        whole("renamed", base, table="other")
        equal("a view follows", base.rows("SELECT * FROM v"), [(5,)])
        equal("commands", base.error("INSERT INTO other(other) VALUES ('optimize')"), None)
        base.run("BEGIN")
        base.add(ITEMS + 1, ITEMS + 50, "other")
        base.run("ALTER TABLE other RENAME TO third; INSERT INTO third VALUES ('x'); COMMIT")
        whole("renamed with adds that wait", base, 1, ITEMS + 50, "third")
        equal("and one after it", base.has("x", "third"), 1)
        base.run("BEGIN; ALTER TABLE third RENAME TO fourth; INSERT INTO fourth VALUES ('y'); ROLLBACK")
        whole("rename rolled back", base, 1, ITEMS + 50, "third")
        equal("what came after it", base.has("y", "third"), 0)
        base.run("CREATE TABLE taken (a)")
        check("a name that is taken", matches("already", base.error("ALTER TABLE third RENAME TO taken")))
        whole("after that", base, 1, ITEMS + 50, "third")


def test_attach():
    with Base("fpr=0.001", numbers=0) as base:
        other = os.path.join(os.path.dirname(base.path), "other.db")
        base.db.execute("ATTACH ? AS [other one]", (other,))
        base.run('CREATE VIRTUAL TABLE "other one".seen USING cuckoofilter(seed=5); CREATE VIRTUAL TABLE temp.third USING cuckoofilter')
        base.add(1, ITEMS)
        base.add(ITEMS + 1, 2 * ITEMS, '"other one".seen')
        base.add(5, 10, "third")
        whole("main", base)
        whole("attached", base, ITEMS + 1, 2 * ITEMS, '[other one].seen')
        whole("temp", base, 5, 10, "temp.third")
        check("apart", base.missing(ITEMS + 1, 2 * ITEMS) > 0.98 * ITEMS)
        seed = suite.info(base.one("SELECT cuckoofilter_export('seen', 'other one')"))["seed"]
        equal("export of a schema", seed, 5)
        equal("export of temp", suite.info(base.one("SELECT cuckoofilter_export('third', 'temp')"))["count"], 6)
        equal("export finds it", suite.info(base.one("SELECT cuckoofilter_export('third')"))["count"], 6)
        # one transaction over both
        base.run("BEGIN; INSERT INTO seen VALUES ('x'); INSERT INTO [other one].seen VALUES ('x'); ROLLBACK")
        equal("rolled back", (base.has("x"), base.has("x", "[other one].seen")), (0, 0))
        base.run("BEGIN; INSERT INTO seen VALUES ('x'); INSERT INTO [other one].seen VALUES ('x'); COMMIT")
        equal("committed", (base.has("x"), base.has("x", "[other one].seen")), (1, 1))
        base.run("DETACH [other one]")
        base.reopen()
        equal("temp is gone", base.error("SELECT * FROM third WHERE item = 5"), "no such table: third")
        with Base(None, 0, other) as second:
            whole("opened by itself", second, ITEMS + 1, 2 * ITEMS)
        # the same file under another name: shadow tables are found in the table's own schema
        base.db.execute("ATTACH ? AS again", (other,))
        whole("attached again", base, ITEMS + 1, 2 * ITEMS, "again.seen")
        whole("main beside it", base)


def test_many_tables():
    with Base(None, numbers=0) as base:
        for number in range(60):
            base.run(f"CREATE VIRTUAL TABLE t{number} USING cuckoofilter(fpr=0.001, seed={number})")
        base.run("BEGIN")
        for number in range(60):
            base.add(number * 100 + 1, number * 100 + 100, f"t{number}")
        base.run("COMMIT; BEGIN")
        for number in range(60):
            base.db.execute(f"DELETE FROM t{number} WHERE item = ?", (number * 100 + 1,))
        base.run("COMMIT")
        for number in range(60):
            got = base.missing(number * 100 + 1, number * 100 + 100, f"t{number}")
            equal(f"table {number}", (got, base.check(f"t{number}")), (1, None))
        for number in range(0, 60, 2):
            base.run(f"DROP TABLE t{number}")
        equal("the others stay", [base.has(n * 100 + 2, f"t{n}") for n in range(1, 60, 2)], [1] * 30)


# --------------------------------------------------- views, triggers, safety


def test_views_and_triggers():
    for trusted in ("on", "off"):
        with Base("fpr=0.001", before=f"PRAGMA trusted_schema = {trusted}; PRAGMA recursive_triggers = on") as base:
            base.run(
                """
                CREATE TABLE log (id, known);
                CREATE TRIGGER log_insert AFTER INSERT ON log WHEN new.known IS NULL BEGIN
                    UPDATE log SET known = EXISTS (SELECT 1 FROM seen WHERE item = new.id) WHERE rowid = new.rowid;
                    INSERT INTO seen(item) VALUES (new.id);
                END;
                CREATE TRIGGER log_delete AFTER DELETE ON log BEGIN
                    DELETE FROM seen WHERE item = old.id;
                END;
                CREATE VIEW known AS SELECT x FROM number WHERE EXISTS (SELECT 1 FROM seen WHERE item = x);
                CREATE VIEW asked AS SELECT * FROM seen;
                CREATE TABLE down (n);
                CREATE TRIGGER down_insert AFTER INSERT ON down WHEN new.n > 0 BEGIN
                    INSERT INTO seen(item) VALUES ('n' || new.n);
                    INSERT INTO down VALUES (new.n - 1);
                END;
                """
            )
            what = f"trusted_schema {trusted}"
            base.run("INSERT INTO log(id) VALUES (1), (2), (1), (NULL), (3), (2)")
            got = [row[0] for row in base.rows("SELECT known FROM log ORDER BY rowid")]
            equal(f"{what}: a trigger asks and adds", got, [0, 0, 1, 0, 0, 1])
            equal(f"{what}: a view", base.rows("SELECT x FROM known WHERE x < 50"), [(1,), (2,), (3,)])
            equal(f"{what}: a view of it", base.rows("SELECT item FROM asked WHERE item = 2"), [(2,)])
            base.run("DELETE FROM log WHERE rowid IN (2, 3)")
            equal(f"{what}: a trigger removes", [base.copies(x) for x in (1, 2, 3)], [1, 1, 1])
            base.run("INSERT INTO down VALUES (200)")
            equal(f"{what}: recursive", base.one("SELECT count(*) FROM number WHERE EXISTS (SELECT 1 FROM seen WHERE item = 'n' || x)"), 200)
            base.run("CREATE TEMP TRIGGER own AFTER INSERT ON number BEGIN INSERT INTO seen(seen) VALUES ('optimize'); END")
            equal(f"{what}: a command in a temp trigger", base.error("INSERT INTO number VALUES (5000)"), None)
            base.run("CREATE VIEW writable AS SELECT 1 AS a; CREATE TRIGGER w INSTEAD OF INSERT ON writable BEGIN INSERT INTO seen(item) VALUES (new.a); END")
            base.run("INSERT INTO writable VALUES ('through a view')")
            equal(f"{what}: INSTEAD OF", base.has("through a view"), 1)
            base.reopen()
            base.run(f"PRAGMA trusted_schema = {trusted}")
            equal(f"{what}: reopened", base.one("SELECT count(*) FROM known WHERE x < 50"), 3)
            equal(f"{what}: its check", base.check(), None)


def test_recipe_of_triggers():
    """The guide's triggers keep a filter in step with a NOCASE column, whose 'Ann' is 'ann'."""
    with open(f"{ROOT}/sqlite/README.md", encoding="utf-8") as page:
        (recipe,) = re.findall(r"CREATE TABLE account \(.*?(?=\nINSERT INTO account\()", page.read(), re.DOTALL)
    check("the guide's column", "email TEXT UNIQUE" in recipe)
    for collation in ("BINARY", "NOCASE"):
        with Base(numbers=0) as base:
            base.run(recipe.replace("email TEXT UNIQUE", f"email TEXT COLLATE {collation} UNIQUE"))
            base.run("INSERT INTO account(email) VALUES ('ann@x'), ('bob@x'); UPDATE account SET email = 'Ann@X' WHERE email = 'ann@x'")
            base.run("UPDATE account SET email = email; INSERT INTO account VALUES (1, 'c@x') ON CONFLICT (id) DO UPDATE SET email = 'ANN@x'")
            found = base.rows("SELECT email, (SELECT copies FROM account_email WHERE item = email COLLATE BINARY) FROM account ORDER BY id")
            equal(f"{collation}: copies of each", found, [("ANN@x", 1), ("bob@x", 1)])
            equal(f"{collation}: what was", base.one("SELECT count(*) FROM account_email WHERE item IN ('ann@x', 'Ann@X', 'c@x')"), 0)
            # REPLACE deletes the row that conflicts, for which no trigger is fired without this setting
            base.run("PRAGMA recursive_triggers = on; REPLACE INTO account(email) VALUES ('bob@x'), ('d@x')")
            base.run("INSERT OR IGNORE INTO account(email) VALUES ('d@x'), ('e@x'); UPDATE OR REPLACE account SET email = 'd@x' WHERE email = 'e@x'")
            found = base.rows("SELECT email, (SELECT copies FROM account_email WHERE item = email COLLATE BINARY) FROM account ORDER BY id")
            equal(f"{collation}: after conflicts", found, [("ANN@x", 1), ("bob@x", 1), ("d@x", 1)])
            equal(f"{collation}: what was", base.has("e@x", "account_email"), 0)


def test_defensive():
    """Defensive mode keeps SQL from the tables behind it, and leaves the table as it is."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, 100)
        shadows = base.shadows()
        check("there are some", len(shadows) >= 1)
        base.db.close()
        for shadow in shadows:
            for sql in (f"DELETE FROM {shadow}", f"DROP TABLE {shadow}", f"UPDATE {shadow} SET rowid = 5",
                        f"INSERT INTO {shadow} DEFAULT VALUES"):  # fmt: skip
                said = shell(base.path, ".dbconfig defensive on", sql + ";")
                check(f"{sql}: {said}", matches("may not be (modified|dropped)", said))
        said = shell(
            base.path,
            ".dbconfig defensive on",
            "INSERT INTO seen VALUES (101); INSERT INTO seen(item) SELECT value FROM generate_series(102, 5000);",
            "DELETE FROM seen WHERE item = 1; INSERT INTO seen(seen) VALUES ('optimize');",
            "BEGIN; INSERT INTO seen VALUES (-5); ROLLBACK;",
            "ALTER TABLE seen RENAME TO other; ALTER TABLE other RENAME TO seen;",
            "INSERT INTO seen(seen) VALUES ('integrity-check'); VACUUM;",
            "SELECT count(*) FROM generate_series(1, 5000) AS s WHERE EXISTS (SELECT 1 FROM seen WHERE item = s.value);",
            "CREATE VIRTUAL TABLE t USING cuckoofilter; INSERT INTO t VALUES (1); DROP TABLE t;",
            "SELECT cuckoofilter_count(cuckoofilter_export('seen'));",
        )
        check(f"works as ever: {said}", said.split()[-2:] in (["4999", "4999"], ["5000", "4999"]) and "rror" not in said)
        base.db = connect(base.path)
        whole("after it", base, 2, 5000)


def test_interrupts():
    """sqlite3_interrupt ends a long statement, and leaves the table as it was."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        base.run("CREATE TABLE filter AS SELECT cuckoofilter_export('seen') AS f")
        for sql in (
            f"INSERT INTO seen(item) SELECT x FROM {NUMBERS.replace('?1', '1').replace('?2', '10000000')}",
            f"SELECT count(*) FROM {NUMBERS.replace('?1', '1').replace('?2', '100000000')} AS n WHERE EXISTS (SELECT 1 FROM seen WHERE item = n.x)",
            f"DELETE FROM seen WHERE item IN (SELECT x FROM {NUMBERS.replace('?1', '1').replace('?2', '100000000')})",
        ):
            # an interrupt has no effect before the statement begins
            ended = threading.Event()

            def interrupt(ended=ended):
                while not ended.wait(0.15):
                    base.db.interrupt()

            thread = threading.Thread(target=interrupt)
            thread.start()
            error = base.error(sql)
            ended.set()
            thread.join()
            check(f"{sql[:40]}: {error}", matches("interrupted", error))
            whole(f"{sql[:40]}: after it", base)
            equal("as before", base.export() == base.one("SELECT f FROM filter"), True)
        # at every so many steps of the machine, until it gets through
        for sql in (
            f"INSERT INTO seen(item) SELECT x FROM {NUMBERS.replace('?1', '50001').replace('?2', '50300')}",
            "INSERT INTO seen(seen) VALUES ('optimize')",
            "INSERT INTO seen(seen, item) SELECT 'merge', f FROM filter",
            "INSERT INTO seen(seen) VALUES ('delete-all')",
        ):
            steps, error, refused = 1, "", 0
            while error is not None:
                # SQLite may take the whole transaction back
                base.run("ROLLBACK; BEGIN; SAVEPOINT s" if base.db.in_transaction else "BEGIN; SAVEPOINT s")
                left = [steps]

                def look(left=left):
                    left[0] -= 1
                    return left[0] < 0

                base.db.set_progress_handler(look, 20)
                error = base.error(sql)
                base.db.set_progress_handler(None, 20)
                check(f"{sql[:45]}: {error}", error is None or matches("interrupted", error))
                if error:
                    refused += 1
                    half_way = base.error("SELECT 1 FROM seen WHERE item = 1")
                    if base.db.in_transaction and half_way:
                        check(f"{sql[:45]} after {steps}: {half_way}", matches("is incomplete", half_way))
                        base.run("ROLLBACK TO s")
                    equal(f"{sql[:45]} after {steps}: lost", base.missing(1, 2000), 0)
                    steps += max(1, steps // 3)
            base.run("ROLLBACK")
            whole(f"{sql[:45]}: {refused} interrupts", base)
            equal("as before", base.export() == base.one("SELECT f FROM filter"), True)


# ---------------------------------------------------------------- connections


def test_two_connections():
    """A connection keeps its snapshot, and finds a table that another one has made anew."""
    for journal in ("delete", "wal"):
        with Base("fpr=1e-6", numbers=0, before=f"PRAGMA journal_mode = {journal};") as base, Base(None, 0, base.path) as other:
            base.run("INSERT INTO seen VALUES ('y')")
            equal(f"{journal}: begun", (other.has("y"), other.check()), (1, None))
            if journal == "wal":
                base.run("BEGIN")
                equal("snapshot begins", base.has("y"), 1)
                other.add(1, 5000)
                equal("snapshot", base.missing(1, 5000), 5000)
                check("cannot write on", matches("locked", base.error("INSERT INTO seen VALUES (1)")))
                base.run("ROLLBACK")
                equal("after the snapshot", base.missing(1, 5000), 0)
            other.run("DROP TABLE seen; CREATE VIRTUAL TABLE seen USING cuckoofilter(seed=7, kind=set)")
            other.run("INSERT INTO seen VALUES (5)")
            equal(f"{journal}: made anew", (base.has(5), base.has("y")), (1, 0))
            base.run("INSERT INTO seen VALUES (6)")
            equal(f"{journal}: under its seed", (other.has(6), other.check()), (1, None))


def test_busy():
    """A lock of another connection is an error and not the answer no; the transaction keeps its changes."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        base.db.execute("PRAGMA busy_timeout = 0")
        with Base(None, 0, base.path) as other:
            other.db.execute("PRAGMA busy_timeout = 0")
            other.run("BEGIN EXCLUSIVE")
            for sql in ("SELECT 1 FROM seen WHERE item = 5", "INSERT INTO seen VALUES (1)", "DELETE FROM seen WHERE item = 5",
                        "SELECT cuckoofilter_export('seen')", "INSERT INTO seen(seen) VALUES ('optimize')"):  # fmt: skip
                check(f"{sql}: {base.error(sql)}", matches("locked", base.error(sql)))
            other.run("COMMIT")
            # a reader keeps the writer from its commit, which can be tried again
            other.run("BEGIN")
            equal("a reader", other.has(5), 1)
            base.run("BEGIN; INSERT INTO seen VALUES ('x')")
            check("COMMIT waits", matches("locked", base.error("COMMIT")))
            equal("still there", base.has("x"), 1)
            base.run("INSERT INTO seen VALUES ('y')")
            check("COMMIT waits again", matches("locked", base.error("COMMIT")))
            other.run("COMMIT")
            base.run("COMMIT")
            equal("both", (other.copies("x"), other.copies("y")), (1, 1))
            whole("after it", base)


# ------------------------------------------------------ what goes wrong below


def test_full():
    """A full database is an error. Items that were there stay, and items that fit can be added."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        base.run("CREATE TABLE filter AS SELECT cuckoofilter_export('seen') AS f")
        base.db.execute(f"PRAGMA max_page_count = {base.one('PRAGMA page_count') + 10}").fetchall()
        for sql in (
            f"INSERT INTO seen(item) SELECT x FROM {NUMBERS.replace('?1', '100000').replace('?2', '300000')}",
            "CREATE TABLE more AS SELECT zeroblob(200000)",
        ):
            check(f"{sql}: {base.error(sql)}", matches("full", base.error(sql)))
            whole("after it", base)
            equal("as before", base.export() == base.one("SELECT f FROM filter"), True)
        base.run("BEGIN; INSERT INTO seen VALUES ('x')")
        error = base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", 100_000, 300_000) or base.error("COMMIT")
        check(f"in a transaction: {error}", matches("full", error))
        if base.db.in_transaction:
            base.run("ROLLBACK")
        whole("rolled back", base)
        equal("as before", base.export() == base.one("SELECT f FROM filter"), True)


def test_read_only():
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        for uri in (f"file:{base.path}?mode=ro", f"file:{base.path}?immutable=1"):
            db = base.db
            base.db = connect(uri, uri=True)
            equal(f"{uri}: read", base.missing(1, 500), 0)
            equal("export", suite.info(base.export())["count"], ITEMS)
            check("write", matches("readonly", base.error("INSERT INTO seen VALUES (1)")))
            check("command", matches("readonly", base.error("INSERT INTO seen(seen) VALUES ('optimize')")))
            base.db.close()
            base.db = db
        base.run("PRAGMA query_only = on")
        check("query_only", matches("readonly", base.error("INSERT INTO seen VALUES (1)")))
        equal("read", base.missing(1, 500), 0)


def test_damaged_file():
    """Pages that were overwritten: each answer is right or an error, never a wrong no."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, ITEMS)
        page = base.one("PRAGMA page_size")
        pages = base.one("PRAGMA page_count")
        base.db.close()
        with open(base.path, "rb") as file:
            sound = file.read()
        errors = 0
        rnd = random.Random(7)
        for number in range(3, pages, max(1, pages // 12)):
            for junk in (b"\0" * page, b"\xff" * page, rnd.getrandbits(8 * page).to_bytes(page, "big")):
                with open(base.path, "wb") as file:
                    file.write(sound[: number * page] + junk + sound[(number + 1) * page :])
                base.db = connect(base.path)
                denied = 0
                for x in range(1, ITEMS, 37):
                    try:
                        denied += not base.has(x)
                    except sqlite3.DatabaseError:
                        errors += 1
                equal(f"page {number} overwritten: denied", denied, 0)
                try:
                    found = [row[0] for row in base.rows("PRAGMA integrity_check")]
                except sqlite3.DatabaseError as error:
                    found = [str(error)]
                check(f"page {number}: found by integrity_check", found != ["ok"])
                base.db.close()
        check(f"{errors} errors", errors > 10)
        with open(base.path, "wb") as file:
            file.write(sound)
        base.db = connect(base.path)


suite.run(globals())
