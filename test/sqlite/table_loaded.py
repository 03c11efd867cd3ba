#!/usr/bin/python3
"""The extension loaded twice in a connection: from one file, from two, and beside another version."""

import os
import shutil
import sqlite3
import subprocess
import tempfile

from suite import EXTENSION, ROOT, Suite, refusal
from tables import Base, matches

suite = Suite("sqlite-table-loaded")
check, equal = suite.check, suite.equal

directory = tempfile.TemporaryDirectory()
COPY = os.path.join(directory.name, "cuckoofilter.so")
shutil.copy(EXTENSION + ".so", COPY)


def load(db, path):
    """Load; the error, or None."""
    db.enable_load_extension(True)
    try:
        db.load_extension(path)
    except sqlite3.Error as error:
        return str(error)
    finally:
        db.enable_load_extension(False)
    return None


def test_twice():
    """Loading twice has no effect: waiting adds are found, removed items stay removed, handles stay open."""
    for what, again in (("the same file", EXTENSION), ("a copy", COPY)):
        with Base("fpr=1e-6", numbers=10) as base:
            handle = base.one("SELECT cuckoofilter_open(cuckoofilter_agg(x + 500, 1e-6, 2000000)) FROM number")
            base.run("INSERT INTO seen VALUES ('a')")
            equal(f"{what}: loaded", load(base.db, again), None)
            base.run("BEGIN; INSERT INTO seen VALUES ('b')")
            base.read_again()
            equal(f"{what}: waits", (base.has("a"), base.has("b")), (1, 1))
            base.run("INSERT INTO seen VALUES ('c')")
            equal(f"{what}: loaded in a transaction", load(base.db, again), None)
            base.read_again()
            base.run("DELETE FROM seen WHERE item IN ('a', 'c')")
            equal(f"{what}: deleted", [base.has(x) for x in "abc"], [0, 1, 0])
            base.run("COMMIT")
            equal(f"{what}: committed", [base.has(x) for x in "abc"], [0, 1, 0])
            equal(f"{what}: merged", base.error("INSERT INTO seen(seen, item) VALUES ('merge', ?)", handle), None)
            equal(f"{what}: of the handle", base.missing(501, 510), 0)
            equal(f"{what}: exported", suite.info(base.export())["count"], 11)


def test_first_load_of_a_locked_database():
    """Looking for another copy reads no file."""
    with Base(numbers=0) as base:
        base.run("BEGIN EXCLUSIVE")
        db = sqlite3.connect(base.path, timeout=0)
        equal("loaded", load(db, EXTENSION), None)
        base.run("COMMIT")  # SQLite of today reads the file for each statement
        equal("it works", db.execute("SELECT cuckoofilter_count(cuckoofilter_create(5))").fetchone()[0], 0)
        db.close()


def test_authorizer():
    """If PRAGMA is denied, other copies cannot be found, and the extension loads."""
    db = sqlite3.connect(":memory:")
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK)
    equal("loaded", load(db, EXTENSION), None)
    equal("it works", db.execute("SELECT cuckoofilter_count(cuckoofilter_create(5))").fetchone()[0], 0)
    db.close()


def test_another_version():
    """Loading is refused with a message, and the copy that is loaded still works."""
    for version, words in (("1.3.0", "already has cuckoofilter 1.3.0"), ("9.9.9", "already has cuckoofilter 9.9.9")):
        db = sqlite3.connect(":memory:")
        db.create_function("cuckoofilter_version", 0, lambda version=version: version)
        error = load(db, EXTENSION)
        check(f"{version}: {error}", matches(words, error))
        check("no function", matches("no such function", refusal(db, "SELECT cuckoofilter_create(1)")))
        check("no module", matches("no such module", refusal(db, "CREATE VIRTUAL TABLE t USING cuckoofilter")))
        db.close()


def test_replaced():
    """Another version that is loaded later takes the functions: adds do not wait any more."""
    with Base("fpr=1e-6", numbers=10) as base:
        base.db.create_function("cuckoofilter_version", 0, lambda: "1.3.0")
        base.run("BEGIN; INSERT INTO seen VALUES ('a')")
        equal("a row at once", base.one("SELECT count(*) FROM seen_chunk"), 1)
        base.run("COMMIT")
        equal("as ever", base.has("a"), 1)


def test_linked_and_loaded():
    """Linked into a program (SQLITE_CORE, sqlite3_auto_extension), and then loaded from a file."""
    program = os.path.join(ROOT, os.environ.get("CUCKOOFILTER_LOADED", "build/test/sqlite/loaded"))
    done = subprocess.run([program, EXTENSION, COPY], capture_output=True, text=True, check=False)
    equal("linked and loaded", (done.returncode, done.stdout.strip()[-200:], done.stderr.strip()[-200:]), (0, "ok", ""))


suite.run(globals())
