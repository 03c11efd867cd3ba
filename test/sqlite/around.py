#!/usr/bin/python3
"""Filters in their surroundings: as handles in views and CTEs, in dumps, in other encodings and
connections, in triggers, and through drivers. No item in a filter is denied."""

import os
import sqlite3
import subprocess
import tempfile

from suite import EXTENSION, NUMBERS, Suite, connect

suite = Suite("sqlite-around")
check, equal = suite.check, suite.equal

ITEMS = 1000

# Items of every type, those that are in at even ids.
SCHEMA = f"""
CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, b BLOB, any);
INSERT INTO item SELECT x, x, x / 8.0, 'häh ' || x || ' 日本 𝄞', CAST('b' || x AS BLOB),
    CASE x / 2 % 5 WHEN 0 THEN x WHEN 1 THEN x + 0.5 WHEN 2 THEN 'w' || x WHEN 3 THEN CAST('v' || x AS BLOB) END
    FROM {NUMBERS.replace('?1', '1').replace('?2', str(2 * ITEMS))};
CREATE TABLE filter (name TEXT PRIMARY KEY, f BLOB) WITHOUT ROWID;
INSERT INTO filter SELECT 'n', cuckoofilter_agg(n, 0.001) FROM item WHERE id % 2 = 0;
INSERT INTO filter SELECT 'r', cuckoofilter_agg(r, 0.001) FROM item WHERE id % 2 = 0;
INSERT INTO filter SELECT 't', cuckoofilter_agg(t, 0.001) FROM item WHERE id % 2 = 0;
INSERT INTO filter SELECT 'b', cuckoofilter_agg(b, 0.001) FROM item WHERE id % 2 = 0;
INSERT INTO filter SELECT 'any', cuckoofilter_agg(any, 0.001) FROM item WHERE id % 2 = 0;
"""


class Base:
    """A database with the schema, in a file of its own."""

    def __init__(self, before=""):
        self.before = before

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "test.db")
        self.db = connect(self.path)
        self.db.executescript(self.before + SCHEMA)
        return self

    def __exit__(self, *_):
        self.db.close()
        self.directory.cleanup()

    def one(self, sql, *parameters):
        return one(self.db, sql, *parameters)


def one(db, sql, *parameters):
    """The first column of the first row; the error, where it fails."""
    try:
        row = db.execute(sql, parameters).fetchone()
        return row and row[0]
    except sqlite3.Error as error:
        return f"{type(error).__name__}: {error}"


def answers(what, db, schema="main"):
    """Each filter finds all of its items, and few others."""
    for name in ("n", "r", "t", "b", "any"):
        f = f"(SELECT f FROM {schema}.filter WHERE name = '{name}')"
        for way in (f, f"(SELECT cuckoofilter_open({f}))"):
            asked = f"FROM {schema}.item WHERE {name} IS NOT NULL AND"
            denied = one(db, f"SELECT count(*) {asked} id % 2 = 0 AND cuckoofilter_contains({way}, {name}) IS NOT 1")
            equal(f"{what}, {name}: denied", denied, 0)
            wrong = one(db, f"SELECT count(*) {asked} id % 2 = 1 AND cuckoofilter_contains({way}, {name}) IS NOT 0")
            check(f"{what}, {name}: {wrong} others found", isinstance(wrong, int) and wrong < 10)
        same = one(db, f"SELECT cuckoofilter_agg({name}, 0.001) = {f} FROM {schema}.item WHERE id % 2 = 0")
        equal(f"{what}, {name}: the same bytes", same, 1)


# ------------------------------------------------------------------- handles

# The ways in which a handle reaches its use. {f} is the filter of n as a value.
WAYS = {
    "scalar subquery": ("", "", "(SELECT cuckoofilter_open({f}))"),
    "direct": ("", "", "cuckoofilter_open({f})"),
    "FROM": ("", ", (SELECT cuckoofilter_open({f}) AS h)", "h"),
    "FROM, kept apart": ("", ", (SELECT cuckoofilter_open({f}) AS h LIMIT 1)", "h"),
    "FROM, sorted": ("", ", (SELECT cuckoofilter_open({f}) AS h ORDER BY h LIMIT 1 OFFSET 0)", "h"),
    "FROM, distinct": ("", ", (SELECT DISTINCT cuckoofilter_open({f}) AS h)", "h"),
    "FROM, grouped": ("", ", (SELECT max(cuckoofilter_open({f})) AS h)", "h"),
    "FROM, group_by": ("", ", (SELECT cuckoofilter_open({f}) AS h GROUP BY 1)", "h"),
    "FROM, union": ("", ", (SELECT cuckoofilter_open({f}) AS h UNION ALL SELECT NULL WHERE 0)", "h"),
    "FROM, union distinct": ("", ", (SELECT cuckoofilter_open({f}) AS h UNION SELECT cuckoofilter_open({f}) WHERE 0)", "h"),
    "FROM, values": ("", ", (SELECT column1 AS h FROM (VALUES (cuckoofilter_open({f}))))", "h"),
    "WITH": ("WITH c(h) AS (SELECT cuckoofilter_open({f}))", ", c", "h"),
    "WITH MATERIALIZED": ("WITH c(h) AS MATERIALIZED (SELECT cuckoofilter_open({f}))", ", c", "h"),
    "WITH NOT MATERIALIZED": ("WITH c(h) AS NOT MATERIALIZED (SELECT cuckoofilter_open({f}))", ", c", "h"),
    "WITH, twice": ("WITH c(h) AS (SELECT cuckoofilter_open({f})), d(h) AS (SELECT h FROM c)", ", d", "h"),
    "WITH RECURSIVE": (
        "WITH RECURSIVE c(i, h) AS (SELECT 1, cuckoofilter_open({f}) UNION ALL SELECT i + 1, h FROM c WHERE i < 3)",
        ", c", "h"),  # three rows for each item
    "WITH, scalar": ("WITH c(h) AS (SELECT cuckoofilter_open({f}))", "", "(SELECT h FROM c)"),
    "view": ("", ", handles", "h"),
    "view, scalar": ("", "", "(SELECT h FROM handles)"),
    "view of a view": ("", ", handles_again", "h"),
    "coalesce": ("", "", "coalesce(cuckoofilter_open({f}), cuckoofilter_create(1))"),
    "coalesce of a subquery": ("", "", "coalesce((SELECT cuckoofilter_open({f})), cuckoofilter_create(1))"),
    "ifnull": ("", "", "ifnull(NULL, (SELECT cuckoofilter_open({f})))"),
    "iif": ("", "", "iif(id > 0, (SELECT cuckoofilter_open({f})), NULL)"),
    "CASE": ("", "", "CASE WHEN id < 0 THEN NULL ELSE (SELECT cuckoofilter_open({f})) END"),
    "max of a group": ("", "", "(SELECT max(cuckoofilter_open(f)) FROM filter WHERE name = 'n')"),
    "window": ("", ", (SELECT first_value(h) OVER () AS h FROM (SELECT cuckoofilter_open({f}) AS h))", "h"),
    "LEFT JOIN": ("", " LEFT JOIN (SELECT cuckoofilter_open({f}) AS h) ON true", "h"),
    "JOIN USING": ("", " JOIN (SELECT value AS id, h FROM numbers, handles) USING (id)", "h"),
    "opened again": ("", "", "cuckoofilter_open(cuckoofilter_open({f}))"),
    "unary plus": ("", ", (SELECT +cuckoofilter_open({f}) AS h)", "+h"),
}  # fmt: skip


def test_handles():
    with Base() as base:
        base.db.executescript(
            "CREATE TABLE numbers AS SELECT id AS value FROM item;"
            "CREATE VIEW handles AS SELECT cuckoofilter_open(f) AS h FROM filter WHERE name = 'n';"
            "CREATE VIEW handles_again AS SELECT h, 1 AS x FROM handles WHERE h IS NOT NULL;"
        )
        f = "(SELECT f FROM filter WHERE name = 'n')"
        for name, parts in WAYS.items():
            if "MATERIALIZED" in name and sqlite3.sqlite_version_info < (3, 35):
                continue
            head, tables, h = (part.replace("{f}", f) for part in parts)
            rows = 3 if name == "WITH RECURSIVE" else 1
            query = f"{head} SELECT count(*) FROM item{tables} WHERE id % 2 = 0 AND"
            equal(f"{name}: found", base.one(f"{query} cuckoofilter_contains({h}, n)"), ITEMS * rows)
            equal(f"{name}: denied", base.one(f"{query} NOT cuckoofilter_contains({h}, n)"), 0)
            equal(f"{name}: copies", base.one(f"{query} cuckoofilter_copies({h}, n) > 0"), ITEMS * rows)
            equal(f"{name}: any", base.one(f"{query} cuckoofilter_contains_any({h}, -n, n)"), ITEMS * rows)
            equal(
                f"{name}: by hash",
                base.one(f"{query} cuckoofilter_contains_hash({h}, cuckoofilter_hash(n))"),
                ITEMS * rows,
            )
            equal(f"{name}: is not NULL", base.one(f"{query} {h} IS NULL"), 0)
            for call in ("count({})", "fpr({})", "info({})", "compact({})", "add({}, 5)", "remove({}, 4)",
                         "union({}, cuckoofilter_create(1))", "sum({}, cuckoofilter_create(1))",
                         "intersect({0}, {0})", "overlap({0}, {0})", "jaccard({0}, {0})"):  # fmt: skip
                got = f"cuckoofilter_{call.format(h)} = cuckoofilter_{call.format(f)}"
                equal(f"{name}: {call}", base.one(f"{head} SELECT {got} FROM item{tables} LIMIT 1"), 1)
            for call in ("union_agg", "sum_agg", "intersect_agg"):
                got = base.one(f"{head} SELECT cuckoofilter_{call}({h}) FROM item{tables} WHERE id = 2")
                want = base.one(f"SELECT cuckoofilter_{call}({f}) FROM item WHERE id <= {rows}")
                equal(f"{name}: {call}", got, want)
        # joins and their opposites
        probe = "cuckoofilter_contains(h, n)"
        even = "FROM item WHERE id % 2 = 0"
        for what, sql, want in (
            ("JOIN .. ON", f"SELECT count(*) FROM item JOIN handles ON {probe} WHERE id % 2 = 0", ITEMS),
            ("NOT EXISTS", f"SELECT count(*) {even} AND NOT EXISTS (SELECT 1 FROM handles WHERE {probe})", 0),
            ("EXISTS", f"SELECT count(*) {even} AND EXISTS (SELECT 1 FROM handles WHERE {probe})", ITEMS),
            ("LEFT JOIN", f"SELECT count(*) FROM item LEFT JOIN handles ON {probe} WHERE id % 2 = 0 AND h IS NULL", 0),
            ("NOT IN", f"SELECT count(*) {even} AND 1 NOT IN (SELECT {probe} FROM handles)", 0),
            ("EXCEPT", f"SELECT count(*) FROM (SELECT n {even} EXCEPT SELECT n FROM item, handles WHERE {probe})", 0),
            ("ORDER BY", f"SELECT sum(c) FROM (SELECT {probe} AS c FROM item, handles WHERE id % 2 = 0 ORDER BY h, n)", ITEMS),
            ("GROUP BY", f"SELECT sum(c) FROM (SELECT count(*) AS c FROM item, handles WHERE id % 2 = 0 AND {probe} GROUP BY h)", ITEMS),
            ("FILTER", f"SELECT count(*) FILTER (WHERE {probe}) FROM item, handles WHERE id % 2 = 0", ITEMS),
            ("of each row its filter", "SELECT count(*) FROM item, (SELECT name, cuckoofilter_open(f) AS h FROM filter) WHERE id % 2 = 0 AND "
             "cuckoofilter_contains(h, CASE name WHEN 'n' THEN n WHEN 'r' THEN r WHEN 't' THEN t WHEN 'b' THEN b ELSE coalesce(any, 10) END)", 5 * ITEMS),
        ):  # fmt: skip
            equal(what, base.one(sql), want)
        base.db.execute("CREATE TEMP TRIGGER asks INSTEAD OF INSERT ON handles BEGIN "
                        "INSERT INTO found SELECT count(*) FROM item, handles WHERE id % 2 = 0 AND cuckoofilter_contains(h, n); END")  # fmt: skip
        base.db.execute("CREATE TABLE found (n)")
        base.db.execute("INSERT INTO handles VALUES (1)")
        equal("in a trigger", base.one("SELECT n FROM found"), ITEMS)


def test_handles_kept():
    """A handle that the program keeps, or that a table stores."""
    with Base() as base:
        take = "SELECT cuckoofilter_open(f) FROM filter WHERE name = 'n'"
        has = "SELECT cuckoofilter_contains(?, 4)"
        handle = base.one(take)
        check(f"a short BLOB, not {handle!r:.40}", isinstance(handle, bytes) and len(handle) < 48)
        equal("asked", base.one(has, handle), 1)
        base.db.execute("BEGIN")
        equal("in a transaction", base.one(has, handle), 1)
        inside = base.one(take)
        base.db.execute("UPDATE filter SET f = cuckoofilter_create(1) WHERE name = 'n'")
        equal("a handle is of the filter that was opened", base.one(has, handle), 1)
        equal("and another of what is there now", base.one(f"SELECT cuckoofilter_contains(({take}), 4)"), 0)
        base.db.execute("ROLLBACK")
        for kept in (handle, inside):
            equal("after ROLLBACK", base.one(has, kept), 1)
        base.db.execute("ALTER TABLE filter ADD COLUMN more")
        base.db.execute("CREATE TABLE stored AS SELECT cuckoofilter_open(f) AS h FROM filter WHERE name = 'n'")
        base.db.execute("VACUUM")
        equal("after ALTER and VACUUM", base.one(has, handle), 1)
        equal("stored", base.one("SELECT cuckoofilter_contains(h, 4) FROM stored"), 1)
        other = connect(base.path)
        for sql, parameters in (
            (has, (handle,)),
            ("SELECT cuckoofilter_contains(h, 4) FROM stored", ()),
            ("SELECT NOT cuckoofilter_contains(h, 4) FROM stored", ()),
            ("SELECT cuckoofilter_count(h) FROM stored", ()),
            ("SELECT cuckoofilter_add(h, 4) FROM stored", ()),
            ("SELECT cuckoofilter_open(h) FROM stored", ()),
            ("SELECT cuckoofilter_union_agg(h) FROM stored", ()),
        ):
            got = one(other, sql, *parameters)
            check(f"another connection's: {sql}: {got!r}", str(got).startswith("OperationalError: "))
            check(f"says what to do: {got!r}", "cuckoofilter_open" in str(got))
        # This connection opens as many handles, so that both have handles of equal numbers.
        for _ in range(5):
            one(other, take)
        check("nor by chance", str(one(other, has, handle)).startswith("OperationalError: "))
        other.close()
        # More handles than any limit: a dropped handle is an error, and each answer is right.
        base.db.execute("CREATE TABLE big AS SELECT cuckoofilter_agg(x) AS f FROM "
                        + NUMBERS.replace("?1", "1").replace("?2", "100000"))  # fmt: skip
        taken = [base.one("SELECT cuckoofilter_open(cuckoofilter_add(f, ?)) FROM big", -i) for i in range(1, 400)]
        got = [base.one("SELECT cuckoofilter_contains(?, ?)", handle, -i) for i, handle in enumerate(taken, 1)]
        wrong = [answer for answer in got if answer != 1 and not str(answer).startswith("OperationalError: ")]
        equal("of 399 handles of 125 kB", wrong[:3], [])
        equal("the last of them", got[-1], 1)
        equal("one that is asked in between", base.one(
            "SELECT count(*) FROM item, (SELECT cuckoofilter_open(f) AS h FROM filter WHERE name = 'n') "
            "WHERE id % 2 = 0 AND cuckoofilter_contains(h, n) AND cuckoofilter_count("
            "cuckoofilter_open((SELECT cuckoofilter_add(f, id) FROM big))) > 0 AND id < 600"), 299)  # fmt: skip


# ------------------------------------------------------------ dump and restore


def test_dump():
    with Base() as base:
        answers("built", base.db)
        # VACUUM INTO, backup, serialize, iterdump, the shell's .dump, into any encoding
        path = os.path.join(base.directory.name, "vacuumed.db")
        base.db.execute("VACUUM INTO ?", (path,))
        answers("VACUUM INTO", connect(path))
        copy = connect()
        base.db.backup(copy)
        answers("backup", copy)
        # iterdump prepares each statement before the extension's functions are asked for
        dump = "\n".join(base.db.iterdump())
        shell = subprocess.run(["sqlite3", base.path, ".dump"], capture_output=True, text=True, check=True).stdout
        for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
            for what, script in (("iterdump", dump), (".dump", shell)):
                there = connect()
                there.executescript(f"PRAGMA encoding = '{encoding}';" + script)
                equal("encoding", one(there, "PRAGMA encoding"), encoding)
                answers(f"{what}, {encoding}", there)


def test_encodings():
    """Built in each encoding, the bytes are the same.  CAST .. AS BLOB gives text's bytes in the
    encoding, so that b and any are other items there."""
    built = []
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        with Base(f"PRAGMA encoding = '{encoding}';") as base:
            answers(encoding, base.db)
            built.append(base.db.execute("SELECT name, f FROM filter WHERE name IN ('n', 'r', 't') ORDER BY name").fetchall())
            equal("a parameter", base.one("SELECT cuckoofilter_contains(f, ?) FROM filter WHERE name = 't'", "häh 2 日本 𝄞"), 1)
            equal("a literal", base.one("SELECT cuckoofilter_contains(f, 'häh 2 日本 𝄞') FROM filter WHERE name = 't'"), 1)
    equal("UTF-16le", built[1], built[0])
    equal("UTF-16be", built[2], built[0])


def test_attached():
    with Base() as base, Base() as far:
        base.db.execute("ATTACH ? AS far", (far.path,))
        base.db.execute("CREATE TEMP TABLE copied AS SELECT * FROM far.filter")
        base.db.execute("DELETE FROM main.filter")
        answers("attached", base.db, "far")
        base.db.execute("INSERT INTO main.filter SELECT * FROM temp.copied")
        answers("by way of a temporary table", base.db)
        equal("a join of both", base.one(
            "SELECT count(*) FROM main.item i JOIN (SELECT cuckoofilter_open(f) AS h FROM far.filter WHERE name = 't') "
            "ON cuckoofilter_contains(h, i.t) WHERE id % 2 = 0"), ITEMS)  # fmt: skip
        # a connection reads what another one commits
        far.db.execute("UPDATE filter SET f = cuckoofilter_add(f, 'from there') WHERE name = 't'")
        equal("two connections", base.one("SELECT cuckoofilter_contains(f, 'from there') FROM far.filter WHERE name = 't'"), 1)


def test_tables():
    """STRICT, generated columns, defaults, checks and indexes, with a dump of them."""
    with Base() as base:
        strict = "STRICT" if sqlite3.sqlite_version_info >= (3, 37) else ""
        base.db.executescript(f"""
            CREATE TABLE kept (k INTEGER PRIMARY KEY, f BLOB NOT NULL DEFAULT (cuckoofilter_create(1000)),
                n INTEGER AS (cuckoofilter_count(f)) STORED, r REAL AS (cuckoofilter_fpr(f)),
                CHECK (NOT cuckoofilter_contains(f, 13))) {strict};
            INSERT INTO kept (k) VALUES (1), (2);
            UPDATE kept SET f = cuckoofilter_add_all(f, k, 100 + k);
            CREATE TABLE hashed (t TEXT, h INTEGER AS (cuckoofilter_hash(t)) STORED) {strict};
            INSERT INTO hashed SELECT t FROM item;
            CREATE INDEX by_hash ON hashed (cuckoofilter_hash(t, 5));
            CREATE INDEX by_count ON kept (cuckoofilter_count(f)) WHERE cuckoofilter_contains(f, 101);
            CREATE VIEW found AS SELECT count(*) AS n FROM hashed, filter
                WHERE name = 't' AND cuckoofilter_contains_hash(f, h);
            CREATE VIEW merged AS SELECT cuckoofilter_union_agg(f) AS f FROM kept;
        """)
        dump = "\n".join(base.db.iterdump())
        there = connect()
        there.executescript("PRAGMA encoding = 'UTF-16le';" + dump)
        for what, db in (("here", base.db), ("dumped and restored", there)):
            equal(f"{what}: defaults", one(db, "SELECT group_concat(n) FROM kept WHERE cuckoofilter_contains_all(f, k, 100 + k)"), "2,2")
            check(f"{what}: a hash column", ITEMS <= one(db, "SELECT n FROM found") < ITEMS + 20)
            equal(f"{what}: an expression index", one(
                db, "SELECT count(*) FROM hashed INDEXED BY by_hash WHERE cuckoofilter_hash(t, 5) = cuckoofilter_hash('häh 2 日本 𝄞', 5)"), 1)  # fmt: skip
            equal(f"{what}: a partial index", one(
                db, "SELECT count(*) FROM kept INDEXED BY by_count WHERE cuckoofilter_contains(f, 101) AND cuckoofilter_count(f) = 2"), 1)  # fmt: skip
            equal(f"{what}: a view", one(db, "SELECT cuckoofilter_contains_all(f, 1, 2, 101, 102) FROM merged"), 1)
            equal(f"{what}: whole", one(db, "PRAGMA integrity_check"), "ok")
            check(f"{what}: a CHECK", "CHECK constraint failed" in str(one(db, "UPDATE kept SET f = cuckoofilter_add(f, 13)")))
            db.execute("INSERT INTO kept (k) VALUES (3)")
            db.execute("UPDATE kept SET f = cuckoofilter_add(f, 9) WHERE k = 3")
            equal(f"{what}: a default", one(db, "SELECT n FROM kept WHERE k = 3"), 1)


# ------------------------------------------------------------------------ NULL


def test_null():
    with Base() as base:
        base.db.execute("CREATE TABLE no_rows (x)")
        f = base.one("SELECT f FROM filter WHERE name = 'n'")
        none = "(SELECT x FROM no_rows)"
        for call in ("add(f, NULL)", f"add(f, {none})", "add_hash(f, NULL)", "add_all(f, NULL)", "add_all(f, NULL, NULL)", "add_all(f)",
                     "remove(f, NULL)", f"remove(f, {none})", "remove_hash(f, NULL)", "remove_all(f, NULL, NULL)", "remove_all(f)",
                     "add_hash(f, cuckoofilter_hash(NULL))"):  # fmt: skip
            equal(f"a change by NULL: {call}", base.one(f"SELECT cuckoofilter_{call} FROM filter WHERE name = 'n'"), f)
            equal(f"of no filter: {call}", base.one(f"SELECT cuckoofilter_{call.replace('(f', '(NULL', 1)}"), None)
            handle = call.replace("(f", "(cuckoofilter_open(f)", 1)
            equal(f"by handle: {call}", base.one(f"SELECT cuckoofilter_{handle} FROM filter WHERE name = 'n'"), f)
        equal("a parameter of None", base.one("SELECT cuckoofilter_add(f, ?) FROM filter WHERE name = 'n'", None), f)
        for call in ("contains(f, NULL)", "copies(f, NULL)", "contains_hash(f, NULL)", f"contains(f, {none})"):
            equal(f"a question about NULL: {call}", base.one(f"SELECT cuckoofilter_{call} FROM filter WHERE name = 'n'"), None)
        equal("any of NULL", base.one("SELECT cuckoofilter_contains_any(f, NULL, NULL) FROM filter"), 0)
        equal("all of NULL", base.one("SELECT cuckoofilter_contains_all(f, NULL, NULL) FROM filter"), 1)
        base.db.executescript("""
            CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT);
            CREATE TABLE seen (f BLOB);
            INSERT INTO seen VALUES (cuckoofilter_create(1000));
            CREATE TRIGGER i AFTER INSERT ON users BEGIN UPDATE seen SET f = cuckoofilter_add(f, new.email); END;
            CREATE TRIGGER d AFTER DELETE ON users BEGIN UPDATE seen SET f = cuckoofilter_remove(f, old.email); END;
            CREATE TRIGGER u AFTER UPDATE ON users BEGIN
                UPDATE seen SET f = cuckoofilter_add(cuckoofilter_remove(f, old.email), new.email); END;
            INSERT INTO users SELECT id, CASE WHEN id % 3 > 0 THEN 'user' || id END FROM item WHERE id <= 300;
            UPDATE users SET email = CASE WHEN email IS NULL THEN 'late' || id WHEN id % 3 = 2 THEN email END;
            DELETE FROM users WHERE id % 7 = 0;
        """)
        equal(
            "triggers whose column is NULL now and then",
            base.one("SELECT count(*) - count(email) || ' ' || sum(cuckoofilter_contains(f, email)) || ' ' || cuckoofilter_count(f) FROM users, seen"),
            base.one("SELECT count(*) - count(email) || ' ' || count(email) || ' ' || count(email) FROM users"),
        )
        equal("add_agg", base.one(
            "SELECT cuckoofilter_count(cuckoofilter_add_agg(f, CASE WHEN id % 2 = 1 THEN -id END)) FROM filter, item WHERE name = 'n'"), 2 * ITEMS)  # fmt: skip
        equal("add_agg, the first filter that is not NULL", base.one(
            "SELECT cuckoofilter_count(cuckoofilter_add_agg(CASE WHEN id > 9 THEN f END, -id)) FROM filter, item WHERE name = 'n'"), 3 * ITEMS)  # fmt: skip
        empty = base.one("SELECT cuckoofilter_agg(x) FROM no_rows")
        for call in ("agg(x)", "agg_hash(x)", "union_agg(x)", "sum_agg(x)"):
            equal(f"over no rows: {call}", base.one(f"SELECT cuckoofilter_{call} FROM no_rows"), empty)
        equal("over no rows: add_agg", base.one("SELECT cuckoofilter_add_agg(x, x) FROM no_rows"), None)
        equal("NOT contains over no rows", base.one(
            "SELECT count(*) FROM item WHERE NOT cuckoofilter_contains((SELECT cuckoofilter_agg(x) FROM no_rows), n)"), 2 * ITEMS)  # fmt: skip


# ---------------------------------------------------------------- as it is asked


def test_parameters():
    """Values that Python binds are equal to values in a column of that type."""
    filter = suite.one("SELECT cuckoofilter_add_all(cuckoofilter_create(100), 1, 2, 3, 0.5, 'x', x'78', 9007199254740993)")
    for item, want in ((1, 1), (1.0, 1), (True, 1), (0.5, 1), ("x", 1), (b"x", 1), (bytearray(b"x"), 1), (memoryview(b"x"), 1),
                       (9007199254740993, 1), (None, None), ("1", 0), (b"1", 0), ("y", 0), (4, 0), (1.5, 0)):  # fmt: skip
        equal(f"{item!r}", suite.one("SELECT cuckoofilter_contains(?, ?)", filter, item), want)
        equal(f"{item!r}, opened", suite.one("SELECT cuckoofilter_contains((SELECT cuckoofilter_open(?)), ?)", filter, item), want)
        if item is not None:
            equal(f"{item!r}, added", suite.one("SELECT cuckoofilter_contains(cuckoofilter_add(?, ?1), ?1)".replace("?,", "?2,"), item, filter), 1)
    # a statement that runs again, with another type each time
    sql = "SELECT cuckoofilter_contains(?, ?)"
    equal("again", [suite.one(sql, filter, item) for item in (1, "1", 1.0, b"x", None, "x", 2)], [1, 0, 1, 1, None, 1, 1])


def test_wrong_types():
    """The answer is 0, and each connection writes one line to SQLite's log for each pair."""
    with Base() as base:
        script = f".load {EXTENSION}\n.log stdout\n" + "".join(
            f"SELECT 'answer', sum(cuckoofilter_contains(f, {item})), count(*) FROM filter, item WHERE name = '{name}' AND id % 2 = 0;\n"
            for name, item in (("n", "n"), ("n", "CAST(n AS TEXT)"), ("n", "CAST(n AS TEXT)"), ("n", "CAST(n AS BLOB)"),
                               ("t", "n"), ("t", "t"), ("any", "n"), ("any", "t"), ("any", "b")))  # fmt: skip
        out = subprocess.run(["sqlite3", "-batch", base.path], input=script, capture_output=True, text=True, check=True).stdout
        lines = out.splitlines()
        rows = [line for line in lines if line.startswith("answer|")]
        equal("rows", len(rows), 9)
        right = [int(row.split("|")[1]) for row in rows]
        equal("asked by its type", (right[0], right[5]), (ITEMS, ITEMS))
        check(f"asked by another: {right}", all(n < 30 for n in right[1:5]))
        logged = [line for line in lines if "cuckoofilter" in line and not line.startswith("answer|")]
        equal(f"three pairs in the log: {logged}", len(logged), 3)
        sentence = "the cuckoofilter holds numbers, the item is text"
        equal(f"{sentence}, in {logged}", sum(sentence in line for line in logged), 1)


suite.run(globals())
