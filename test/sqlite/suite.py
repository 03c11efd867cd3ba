"""Shared by the SQLite suites in Python: connections, checks, and the count."""

import json
import os
import random
import sqlite3
import sys
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Set the variable to test another build.
EXTENSION = os.environ.get("CUCKOOFILTER_EXTENSION") or os.path.join(ROOT, "build", "sqlite", "cuckoofilter")

SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 31))
PERCENT = int(os.environ.get("ROUNDS", 100))

# A table of the integers ?1 .. ?2, for FROM.
NUMBERS = (
    "(WITH RECURSIVE s(x) AS (SELECT ?1 UNION ALL SELECT x + 1 FROM s WHERE x < ?2) "
    "SELECT x FROM s)"
)

# Every function that takes a filter {v}; aggregates, too.
CALLS = [f"cuckoofilter_{call}" for call in (
    "open({v})", "add({v}, 1)", "add_all({v}, 1, 2)", "add_pair({v}, 1, 2)", "add_hash({v}, 1)", "contains({v}, 1)",
    "contains(cuckoofilter_open({v}), 1)", "contains_any({v}, 1, 2)", "contains_all({v}, 1, 2)", "contains_pair({v}, 1, 2)",
    "contains_hash({v}, 1)", "which({v}, 1, '[2]')", "copies({v}, 1)", "remove({v}, 1)", "remove_all({v}, 1, 2)",
    "remove_pair({v}, 1, 2)", "remove_hash({v}, 1)", "union({v}, {v})", "union({v}, cuckoofilter_create(10))",
    "union(cuckoofilter_create(10), {v})", "sum({v}, cuckoofilter_create(10))", "sum(cuckoofilter_create(10), {v})",
    "intersect({v}, cuckoofilter_create(10))", "overlap(cuckoofilter_create(10), {v})", "jaccard(cuckoofilter_create(10), {v})",
    "jaccard({v}, cuckoofilter_create(10))", "compact({v})", "count({v})", "fpr({v})", "info({v})", "add_agg({v}, 1)",
    "sum({v}, {v})", "intersect({v}, {v})", "overlap({v}, {v})", "jaccard({v}, {v})", "union_agg({v})", "sum_agg({v})",
    "intersect_agg({v})")]  # fmt: skip


def rounds(full):
    """What a round is called, and a random generator of its own: no round depends on those before."""
    for number in range(max(1, full * PERCENT // 100)):
        yield f"SEED={SEED} round {number}", random.Random(f"{SEED} {number}")


def connect(path=":memory:", **options):
    """A connection with the extension."""
    db = sqlite3.connect(path, isolation_level=None, **options)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.enable_load_extension(False)
    return db


def refusal(db, sql, *parameters):
    """The sentence of the error with which the statement fails; None: it succeeds."""
    try:
        db.execute(sql, parameters).fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        return str(error)
    return None


class Suite:
    """Counts checks; run() calls every function of a module that starts with test_."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = 0
        self.db = connect()

    def one(self, sql, *parameters):
        """The first column of the first row."""
        return self.db.execute(sql, parameters).fetchone()[0]

    def agg(self, first, last, parameters=""):
        """A filter of the integers first .. last."""
        return self.one(f"SELECT cuckoofilter_agg(x{parameters}) FROM {NUMBERS}", first, last)

    def info(self, filter):
        return json.loads(self.one("SELECT cuckoofilter_info(?)", filter))

    def contained(self, filter, first, last):
        """How many of the integers the filter says that it has."""
        return self.one(
            f"SELECT sum(cuckoofilter_contains(?3, x)) FROM {NUMBERS}", first, last, filter
        )

    def check(self, what, condition):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}")

    def equal(self, what, got, want):
        same = got == want and type(got) is type(want)
        self.check(f"{what}: got {repr(got):.200}, want {repr(want):.200}", same)

    def is_sql(self, want, sql, *parameters):
        """The statement's first value is this."""
        try:
            self.equal(sql, self.one(sql, *parameters), want)
        except sqlite3.Error as error:
            self.check(f"{sql}: {error}", False)

    def refuses(self, sentence, sql, *parameters):
        """The statement fails with exactly this sentence."""
        self.equal(sql, refusal(self.db, sql, *parameters), sentence)

    def run(self, tests):
        for name, test in list(tests.items()):
            if name.startswith("test_"):
                before = self.failed
                try:
                    test()
                except Exception:
                    self.failed += 1
                    traceback.print_exc(file=sys.stdout)
                print(f"{'ok  ' if self.failed == before else 'FAIL'} {name[5:]}")
        print(f"{self.name}: {self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0)
