#!/usr/bin/python3
"""Processes with threads that add to, probe and merge stored filters of one WAL database.

    SECONDS=60 SEED=n test/soak/sqlite_load.py

Each thread has a connection of its own.  An added key is recorded in the transaction that puts it
into its filter; whoever sees the record must find the key, while the load runs and afterwards.
"""

import concurrent.futures
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sqlite"))

from suite import Suite, connect

SECONDS = float(os.environ.get("SECONDS") or 60)
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
PROCESSES = 2
ROLES = ("adder", "adder", "prober", "prober", "merger")  # a thread each, in every process
PARTS = 8
BATCH = 25  # keys of a transaction
SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE key (part INTEGER, key INTEGER, PRIMARY KEY (part, key)) WITHOUT ROWID;
CREATE TABLE part (part INTEGER PRIMARY KEY, filter BLOB NOT NULL);
CREATE TABLE whole (filter BLOB NOT NULL);
INSERT INTO whole VALUES (cuckoofilter_create(1000000));
"""
# How many of some recorded keys there are, and how many of them a filter has.
PROBE = """
SELECT count(*), sum(cuckoofilter_contains((SELECT cuckoofilter_open(filter) FROM {filter}), key))
FROM (SELECT key FROM key WHERE part = ?1 AND key >= ?2 LIMIT ?3)
"""
OF_PART = PROBE.format(filter="part WHERE part = ?1")
OF_WHOLE = PROBE.format(filter="whole")
MERGE = "UPDATE whole SET filter = (SELECT cuckoofilter_union_agg(filter) FROM part)"

suite = Suite("sqlite-load")
check, equal = suite.check, suite.equal


def adder(db, rng, until, number):
    """Adds keys of its own, and leaves one transaction in eight undone; returns how many there are."""
    marks = ", ?" * BATCH
    added = 0
    while time.monotonic() < until:
        part = rng.randrange(PARTS)
        keys = [number << 32 | added + i for i in range(BATCH)]
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO key VALUES (?, ?)", ((part, key) for key in keys))
        db.execute(
            f"UPDATE part SET filter = cuckoofilter_add_all(filter{marks}) WHERE part = ?",
            (*keys, part),
        )
        if rng.randrange(8) == 0:
            db.execute("ROLLBACK")
        else:
            db.execute("COMMIT")
            added += BATCH
    return added


def must_have(db, sql, parameters):
    """Probe recorded keys, all of which must be found; returns how many."""
    keys, found = db.execute(sql, parameters).fetchone()
    if (found or 0) != keys:
        raise AssertionError(f"{keys - found} of {keys} recorded keys are lost: {parameters}")
    return keys


def prober(db, rng, until, _number):
    probes = 0
    while time.monotonic() < until:
        where = (rng.randrange(PARTS), rng.randrange(1 << 36), 1000)
        probes += must_have(db, OF_PART, where)
    return probes


def merger(db, rng, until, _number):
    merges = 0
    while time.monotonic() < until:
        db.execute("BEGIN IMMEDIATE")
        db.execute(MERGE)
        must_have(db, OF_WHOLE, (rng.randrange(PARTS), 0, 1000))
        db.execute("COMMIT")
        merges += 1
        time.sleep(rng.random() / 10)
    return merges


def work(path, number, role, until):
    db = connect(path, timeout=120)
    db.execute("PRAGMA synchronous = NORMAL")
    try:
        return role, globals()[role](db, random.Random(f"{SEED} {number}"), until, number)
    finally:
        db.close()


def work_in_threads(path, process, until):
    """A process: all its threads' roles and results."""
    with concurrent.futures.ThreadPoolExecutor(len(ROLES)) as threads:
        runs = [
            threads.submit(work, path, process * len(ROLES) + i, role, until)
            for i, role in enumerate(ROLES)
        ]
        return [run.result() for run in runs]


def run_load(path):
    """All the results; each also tells its thread's number, by its place."""
    until = time.monotonic() + SECONDS
    with concurrent.futures.ProcessPoolExecutor(PROCESSES) as processes:
        runs = [processes.submit(work_in_threads, path, i, until) for i in range(PROCESSES)]
        return [result for run in runs for result in run.result()]


def create(path):
    db = connect(path)
    db.executescript(SCHEMA)
    for part in range(PARTS):
        db.execute("INSERT INTO part VALUES (?, cuckoofilter_create(1000000, 0.001))", (part,))
    return db


def report(db, results):
    for role, what in (("adder", "keys added"), ("prober", "keys probed"), ("merger", "merges")):
        done = sum(count for of, count in results if of == role)
        check(f"the {role}s were at work", done > 0)
        print(f"{what}: {done}, {done / SECONDS:.1f} a second")
    sizes = db.execute("SELECT sum(length(filter)), max(length(filter)) FROM part").fetchone()
    print(f"{PROCESSES} processes of {len(ROLES)} threads, {SECONDS:.0f} seconds; {PARTS} filters of "
          f"{sizes[0]} bytes in all, {sizes[1]} at most")


def examine(db, results):
    """Nothing is lost, and nothing is there that was not added."""
    equal("integrity", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    for number, (role, count) in enumerate(results):
        if role == "adder":
            recorded = db.execute("SELECT count(*), max(key) FROM key WHERE key >> 32 = ?", (number,))
            equal(f"keys of thread {number}", recorded.fetchone(), (count, number << 32 | count - 1))
    db.execute(MERGE)
    everything = 1 << 40
    for part in range(PARTS):
        keys = must_have(db, OF_PART, (part, 0, everything))
        equal(f"keys of part {part} in the whole", must_have(db, OF_WHOLE, (part, 0, everything)), keys)
        count, rate = db.execute(
            "SELECT cuckoofilter_count(filter), json_extract(cuckoofilter_info(filter), '$.fpr') "
            "FROM part WHERE part = ?", (part,)).fetchone()
        equal(f"count of part {part}", count, keys)
        check(f"part {part} keeps its rate: {rate}", rate <= 0.001)


def test_load():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "load.db")
        db = create(path)
        db.close()
        results = run_load(path)
        db = connect(path)
        report(db, results)
        examine(db, results)
        db.close()


print(f"sqlite-load: SEED={SEED} SECONDS={SECONDS:.0f}")
sys.stdout.flush()
suite.run(globals())
