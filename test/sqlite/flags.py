#!/usr/bin/python3
"""The flags of each function (deterministic, innocuous, direct only), and that they are true: an
index on the function survives reopening."""

import os
import tempfile
from suite import Suite, connect, refusal

suite = Suite("sqlite-flags")
check, equal = suite.check, suite.equal

DETERMINISTIC, DIRECTONLY, INNOCUOUS = 0x800, 0x80000, 0x200000

# Calls with the columns of a table: f and g filters, x and y items, h a hash.
SCALARS = {
    "add": "f, x",
    "add_all": "f, x, y, 7",
    "add_hash": "f, h",
    "add_pair": "f, x, y",
    "bytes": "h & 1023 | 1, 0.01, 'seed=' || y",
    "compact": "f",
    "contains": "f, x",
    "contains_all": "f, x, y",
    "contains_any": "f, y, x",
    "contains_hash": "f, h",
    "contains_pair": "f, x, y",
    "copies": "f, x",
    "count": "f",
    "create": "h & 1023 | 1, 0.01, 'seed=' || y",
    "fpr": "f",
    "hash": "x, y",
    "info": "f",
    "intersect": "f, g",
    "jaccard": "f, g",
    "overlap": "f, g",
    "overlap_error": "f, g",
    "part": "x, (y & 1023) + 1",
    "remove": "f, x",
    "remove_all": "f, x, y",
    "remove_hash": "f, h",
    "remove_pair": "f, x, y",
    "sum": "f, g",
    "union": "f, g",
    "version": "",
    "which": "cuckoofilter_add_pair(cuckoofilter_create(9), x, y), x, '[7, ' || y || ']'",
}
AGGREGATES = {
    "add_agg": "f, x",
    "agg": "x",
    "agg_hash": "h",
    "agg_pair": "x, y",
    "intersect_agg": "f",
    "sum_agg": "f",
    "union_agg": "f",
}
# A handle is another one in each connection.
OPENS = {"open": "f"}
# These read the database.
READS = {"export": "'seen'", "table_info": "'seen'"}


def file_with_rows(folder):
    """A database with a table to call functions with, and a filter table."""
    path = os.path.join(folder, "flags.db")
    db = connect(path)
    db.execute("CREATE TABLE t(x, y INTEGER, h INTEGER, f, g)")
    db.execute(
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) INSERT INTO t SELECT "
        "CASE i % 5 WHEN 0 THEN 'text' || i WHEN 1 THEN i / 4.0 WHEN 2 THEN x'00' WHEN 3 THEN NULL ELSE i END, "
        "i, cuckoofilter_hash(i), cuckoofilter_add_all(cuckoofilter_create(40 * i), i, 2, 3.5, 'text', 'text' || i), "
        "(SELECT cuckoofilter_agg(m.i) FROM n AS m WHERE m.i <= n.i) FROM n"
    )
    db.execute("CREATE VIRTUAL TABLE seen USING cuckoofilter")
    db.execute("INSERT INTO seen(item) SELECT y FROM t")
    return path, db


def test_flags():
    told = {}
    for name, flags in suite.db.execute("SELECT name, flags FROM pragma_function_list WHERE name LIKE 'cuckoofilter%'"):
        told.setdefault(name[len("cuckoofilter_"):], set()).add(flags & (DETERMINISTIC | DIRECTONLY | INNOCUOUS))
    for name in {**SCALARS, **AGGREGATES}:
        equal(name, told.pop(name), {DETERMINISTIC | INNOCUOUS})
    for name in OPENS:
        equal(name, told.pop(name), {INNOCUOUS})
    for name in READS:
        equal(name, told.pop(name, {DIRECTONLY}), {DIRECTONLY})
    equal("functions without a test of their flags", list(told), [])


def test_indexes():
    """An index, a partial one, a stored column and a check on each, in another connection."""
    for name, arguments in SCALARS.items():
        call = f"cuckoofilter_{name}({arguments})"
        with tempfile.TemporaryDirectory() as folder:
            path, db = file_with_rows(folder)
            if arguments:
                equal(f"index on {call}", refusal(db, f"CREATE INDEX i ON t({call})"), None)
            else:
                equal(f"index on {call}", refusal(db, f"CREATE INDEX i ON t(y, {call})"), None)
            equal(f"partial index on {call}", refusal(db, f"CREATE INDEX p ON t(y) WHERE {call} IS NOT NULL"), None)
            equal(f"column of {call}", refusal(
                db, f"CREATE TABLE u(x, y, h, f, g, c AS ({call}) STORED, CHECK ({call} IS NOT 'never'))"), None)
            db.execute("INSERT INTO u SELECT x, y, h, f, g FROM t")
            db.execute("CREATE INDEX c ON u(c)")
            db.close()
            db = connect(path)
            equal(f"{call} after reopening", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            equal(f"{call} as stored", db.execute(f"SELECT count(*) FROM u WHERE c IS NOT {call}").fetchone(), (0,))
            db.execute("UPDATE t SET y = y + 100, f = g WHERE y % 3 = 0")
            db.execute("DELETE FROM t WHERE y % 2 = 0")
            db.execute("DELETE FROM u WHERE y % 2 = 0")
            equal(f"{call} after changes", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            db.close()


def test_aggregates():
    """The same rows give the same bytes, in a view of another connection."""
    for name, arguments in AGGREGATES.items():
        call = f"cuckoofilter_{name}({arguments})"
        with tempfile.TemporaryDirectory() as folder:
            path, db = file_with_rows(folder)
            db.execute(f"CREATE VIEW v AS SELECT {call} AS a FROM t GROUP BY y % 4")
            db.execute("CREATE TABLE kept AS SELECT a FROM v")
            db.close()
            db = connect(path)
            db.execute("PRAGMA trusted_schema = OFF")
            equal(call, db.execute("SELECT a FROM v").fetchall(), db.execute("SELECT a FROM kept").fetchall())
            sentence = refusal(db, f"CREATE INDEX i ON t({call})")
            check(f"index on {call}: {sentence}", sentence is not None)
            db.close()


def test_not_deterministic():
    """Not allowed in an index, a stored column or a partial index, since the result may change."""
    with tempfile.TemporaryDirectory() as folder:
        path, db = file_with_rows(folder)
        for name, arguments in {**OPENS, **READS}.items():
            call = f"cuckoofilter_{name}({arguments})"
            for sql in (
                f"CREATE INDEX i ON t({call})",
                f"CREATE INDEX i ON t(y) WHERE {call} IS NOT NULL",
                f"CREATE TABLE u(f, c AS ({call}) STORED)",
            ):
                sentence = refusal(db, sql)
                refused = any(words in str(sentence) for words in ("prohibited", "unsafe use"))
                check(f"{sql}: {sentence}", refused)
        equal("the file", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        # two connections, two handles
        other = connect(path)
        one = "SELECT cuckoofilter_open(f) FROM t WHERE y = 1"
        check("handles differ", db.execute(one).fetchone() != other.execute(one).fetchone())
        other.close()
        db.close()


def test_innocuous():
    """Views and triggers of an untrusted schema may call the functions that read no database."""
    with tempfile.TemporaryDirectory() as folder:
        _, db = file_with_rows(folder)
        calls = {**SCALARS, **OPENS}
        for name, arguments in calls.items():
            db.execute(f"CREATE VIEW v_{name} AS SELECT cuckoofilter_{name}({arguments}) AS c FROM t")
        for name in ("export", "table_info"):
            db.execute(f"CREATE VIEW v_{name} AS SELECT cuckoofilter_{name}('seen')")
            db.execute(f"CREATE TABLE {name}s(c)")
            db.execute(f"CREATE TRIGGER on_{name} AFTER INSERT ON {name}s BEGIN SELECT cuckoofilter_{name}('seen'); END")
        db.execute("CREATE TABLE opens(c)")
        db.execute("CREATE TRIGGER o AFTER INSERT ON opens BEGIN "
                   "SELECT cuckoofilter_contains(cuckoofilter_open(f), 1) FROM t; END")
        for trusted in ("ON", "OFF"):
            db.execute(f"PRAGMA trusted_schema = {trusted}")
            for name in calls:
                equal(f"{name}, trusted_schema {trusted}", refusal(db, f"SELECT count(c) FROM v_{name}"), None)
            equal(f"open in a trigger, {trusted}", refusal(db, "INSERT INTO opens VALUES(1)"), None)
            for name in ("export", "table_info"):
                for sql in (f"SELECT * FROM v_{name}", f"INSERT INTO {name}s VALUES(1)"):
                    check(f"{sql}, {trusted}", f"unsafe use of cuckoofilter_{name}" in str(refusal(db, sql)))
        db.close()


suite.run(globals())
