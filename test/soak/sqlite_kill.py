#!/usr/bin/python3
"""A process that writes stored filters is killed at random moments; what it leaves must be whole.

    ROUNDS=200 SEED=n test/soak/sqlite_kill.py

Each round a writer runs transactions of sqlite_history and is killed (SIGKILL); half of the rounds
with a rollback journal, half with a WAL.  Afterwards the database must be sound, and be in every
byte of every filter what the transactions give that were committed: all of those that the writer
told of, and at most the one more that it was in.
"""

import os
import random
import signal
import sys
import tempfile
import time

import sqlite_history as history  # which knows where suite is
from suite import Suite, connect

ROUNDS = int(os.environ.get("ROUNDS") or 200)
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))

suite = Suite("sqlite-kill")
check, equal = suite.check, suite.equal


def write(path, seed, turn, told):
    """The writer: transactions without end, telling of each before and after it."""
    db = connect(path)
    db.execute("PRAGMA cache_size = 8")
    while True:
        turn += 1
        os.write(told, b"(")
        history.transact(db, seed, turn)
        os.write(told, b")")


def listen(reader, transactions):
    """What a writer tells until it is past some transactions, and in the next one."""
    told = b""
    while told.count(b"(") <= transactions:
        more = os.read(reader, 1 << 16)
        if not more:
            break
        told += more
    return told


def kill_writer(path, seed, turn, transactions, delay):
    """Run a writer, kill it in the transaction after those, or later; what it told."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            write(path, seed, turn, writer)
        finally:
            os._exit(1)
    os.close(writer)
    told = listen(reader, transactions)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    check("the writer was at work until it was killed", os.WIFSIGNALED(status))
    while more := os.read(reader, 1 << 16):
        told += more
    os.close(reader)
    return told


class Case:
    """A database under a journal mode, and the truth about it in memory."""

    def __init__(self, directory, journal):
        self.journal = journal
        self.path = os.path.join(directory, journal + ".db")
        self.seed = f"{SEED} {journal}"
        self.turn = 0
        self.pace = 0.01  # seconds that a transaction takes
        self.rounds = self.inside = self.kept = self.hot = 0
        self.truth = connect()
        history.create(self.truth, "memory")
        db = connect(self.path)
        history.create(db, journal)
        db.close()

    def round(self, rng):
        started = time.monotonic()
        delay = rng.random() * self.pace
        told = kill_writer(self.path, self.seed, self.turn, rng.randrange(4), delay)
        committed = self.turn + told.count(b")")
        self.pace = (time.monotonic() - started) / told.count(b"(")
        self.rounds += 1
        self.inside += told.endswith(b"(")
        self.hot += self.is_journal_hot()
        db = connect(self.path)
        turn = db.execute("SELECT turn FROM state").fetchone()[0]
        check(f"{self.journal}: turn {turn} of {told[-2:]} after {committed}",
              committed <= turn <= committed + told.endswith(b"("))
        self.kept += turn > committed
        self.examine(db, turn)
        db.close()

    def is_journal_hot(self):
        """Did a rollback journal stay, that the next connection must play back?"""
        try:
            with open(self.path + "-journal", "rb") as file:
                return file.read(1) not in (b"", b"\0")
        except FileNotFoundError:
            return False

    def examine(self, db, turn):
        what = f"{self.journal}: SEED={SEED} turn {turn}: "
        equal(what + "integrity", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        while self.turn < turn:
            self.turn += 1
            history.transact(self.truth, self.seed, self.turn)
        for table in ("key", "part", "whole"):
            sql = f"SELECT * FROM {table} ORDER BY 1, 2" if table != "whole" else "SELECT * FROM whole"
            same = db.execute(sql).fetchall() == self.truth.execute(sql).fetchall()
            check(what + f"{table} is the old or the new one", same)
        # cuckoofilter_open looks at every slot.
        sql = "SELECT count(*), sum(cuckoofilter_contains((SELECT cuckoofilter_open(filter) FROM part " \
              "WHERE part = ?1), key)) FROM key WHERE part = ?1"
        for part in range(history.PARTS):
            keys, found = db.execute(sql, (part,)).fetchone()
            equal(what + f"keys of part {part} found", found or 0, keys)
            equal(what + f"count of part {part}", db.execute(
                "SELECT cuckoofilter_count(filter) FROM part WHERE part = ?", (part,)).fetchone()[0], keys)


def test_kill():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        cases = [Case(directory, "delete"), Case(directory, "wal")]
        for number in range(ROUNDS):
            cases[number % 2].round(rng)
        for case in cases:
            print(f"{case.journal}: {case.rounds} kills, {case.inside} inside a transaction, {case.kept} of "
                  f"them committed all the same, {case.turn} transactions in all, {case.hot} hot journals")
            check(f"{case.journal}: a kill inside a transaction is no rarity",
                  ROUNDS < 20 or case.inside > case.rounds / 4)
        check("some rollback journal was played back", ROUNDS < 20 or cases[0].hot > 0)


print(f"sqlite-kill: SEED={SEED} ROUNDS={ROUNDS}")
sys.stdout.flush()
suite.run(globals())
