#!/usr/bin/python3
"""Filters in dumps, in other encodings, in attached databases and in tables with constraints. No item
in a filter is denied."""

import os
import sqlite3
import subprocess

from suite import NUMBERS, Suite, connect
from tables import Base

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


def test_dump():
    with Base(None, 0, before=SCHEMA) as base:
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
        with Base(None, 0, before=f"PRAGMA encoding = '{encoding}';{SCHEMA}") as base:
            equal("the encoding", base.one("PRAGMA encoding"), encoding)
            answers(encoding, base.db)
            built.append(base.db.execute("SELECT name, f FROM filter WHERE name IN ('n', 'r', 't') ORDER BY name").fetchall())
            equal("a parameter", base.one("SELECT cuckoofilter_contains(f, ?) FROM filter WHERE name = 't'", "häh 2 日本 𝄞"), 1)
            equal("a literal", base.one("SELECT cuckoofilter_contains(f, 'häh 2 日本 𝄞') FROM filter WHERE name = 't'"), 1)
    equal("UTF-16le", built[1], built[0])
    equal("UTF-16be", built[2], built[0])


def test_attached():
    with Base(None, 0, before=SCHEMA) as base, Base(None, 0, before=SCHEMA) as far:
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
    with Base(None, 0, before=SCHEMA) as base:
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


suite.run(globals())
