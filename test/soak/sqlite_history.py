"""A history of writing transactions on a database of stored filters, each known by its number.

The same seed gives the same transactions, so that a second database that runs them up to some
number is the truth about one that was interrupted there.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sqlite"))

PARTS = 3
MOST = 12000  # keys of a part
SCHEMA = """
CREATE TABLE state (turn INTEGER NOT NULL);
CREATE TABLE key (part INTEGER, key INTEGER, PRIMARY KEY (part, key)) WITHOUT ROWID;
CREATE TABLE part (part INTEGER PRIMARY KEY, filter BLOB NOT NULL);
CREATE TABLE whole (filter BLOB NOT NULL);
INSERT INTO state VALUES (0);
"""
NEW = f"cuckoofilter_create({MOST}, 0.001)"
BUILT = f"SELECT cuckoofilter_agg(key, 0.001, {MOST}) FROM key WHERE part = ?1"
MERGED = "SELECT cuckoofilter_sum_agg(filter) FROM part"


def create(db, journal):
    """An empty database; little of it fits into the cache, so that a transaction writes early."""
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.executescript(SCHEMA)
    for part in range(PARTS):
        db.execute(f"INSERT INTO part VALUES (?, {NEW})", (part,))
    db.execute(f"INSERT INTO whole VALUES ({NEW})")


def change(db, part, function, keys):
    """Some keys into a stored filter or out of it, a hundred a statement."""
    for first in range(0, len(keys), 100):
        some = keys[first : first + 100]
        marks = ", ?" * len(some)
        db.execute(
            f"UPDATE part SET filter = {function}(filter{marks}) WHERE part = ?", (*some, part)
        )


def insert(db, part, keys):
    db.executemany("INSERT INTO key VALUES (?, ?)", ((part, key) for key in keys))


def act_add(db, rng, part):
    keys = rng.sample(range(1 << 40), rng.randint(1, 300))
    insert(db, part, keys)
    change(db, part, "cuckoofilter_add_all", keys)


def act_remove(db, rng, part):
    rows = db.execute("SELECT key FROM key WHERE part = ? ORDER BY key", (part,)).fetchall()
    keys = [row[0] for row in rng.sample(rows, min(len(rows), rng.randint(1, 300)))]
    change(db, part, "cuckoofilter_remove_all", keys)
    db.executemany("DELETE FROM key WHERE part = ? AND key = ?", ((part, key) for key in keys))


def act_build(db, rng, part):
    insert(db, part, rng.sample(range(1 << 40), rng.randint(500, 3000)))
    db.execute(f"UPDATE part SET filter = ({BUILT}) WHERE part = ?1", (part,))


def act_compact(db, _rng, part):
    db.execute("UPDATE part SET filter = cuckoofilter_compact(filter) WHERE part = ?", (part,))


def act_empty(db, _rng, part):
    db.execute("DELETE FROM key WHERE part = ?", (part,))
    db.execute(f"UPDATE part SET filter = {NEW} WHERE part = ?", (part,))


def transact(db, seed, turn):
    """Transaction number `turn`: a change of one part, and often the merge of all."""
    rng = random.Random(f"{seed} {turn}")
    part = rng.randrange(PARTS)
    act = rng.choice((act_add, act_add, act_remove, act_build, act_compact))
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE state SET turn = ?", (turn,))
    if db.execute("SELECT count(*) FROM key WHERE part = ?", (part,)).fetchone()[0] > MOST - 3300:
        act = act_empty
    act(db, rng, part)
    if rng.random() < 0.5:
        db.execute(f"UPDATE whole SET filter = ({MERGED})")
    db.execute("COMMIT")
