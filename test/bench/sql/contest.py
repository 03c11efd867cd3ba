"""What both databases' benchmarks share: methods that take turns, and their CSV."""

import collections
import csv
import os
import re
import statistics
import sys
import time

QUICK = os.environ.get("QUICK", "0") not in ("", "0")
ROUNDS = 3
ROWS = 200_000 if QUICK else 1_000_000

# Keys of the filters that sit in a table: 1, 16 and 128 MB at 1 %.
STORED_ITEMS = (840_000,) if QUICK else (840_000, 13_400_000, 107_000_000)

# The share of rows whose join partner passes, in per cent.
SHARES = (1, 10, 50, 100) if QUICK else (1, 5, 20, 40, 70, 100)

# A way to the answer.  plan: a pattern that its plan must have; answer: "exact", or "filter"
# where false positives may add rows, or "other" where it is another question; settings: the
# server's, for this method.
Method = collections.namedtuple(
    "Method", "name sql plan answer settings", defaults=("", "exact", "")
)

START = time.monotonic()


def say(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


class Contest:
    """Runs methods in turns over a database, checks plans and answers, keeps medians.

    The database has plan(method) -> text and run(method) -> (seconds, answer).
    """

    def __init__(self, database, path):
        self.database = database
        self.path = path
        self.rows = []

    def hold(self, section, case, methods, x="", sizes=()):
        """One case: every method answers it, in turns.  sizes: those that answer with theirs."""
        times = collections.defaultdict(list)
        answers = {}
        for method in methods:
            plan = self.database.plan(method)
            if not re.search(method.plan, plan, re.DOTALL):
                sys.exit(f"{section}, {case}, {method.name}: no {method.plan!r} in\n{plan}")
        for _ in range(ROUNDS):
            for method in methods:
                seconds, answers[method.name] = self.database.run(method)
                times[method.name].append(seconds)
        self.check(section, case, methods, answers)
        for method in methods:
            size = answers[method.name] if method.name in sizes else ""
            self.note(section, case, method.name, statistics.median(times[method.name]), size, x)
        say(f"{section}, {case} {x}".rstrip())

    @staticmethod
    def check(section, case, methods, answers):
        exact = {answers[method.name] for method in methods if method.answer == "exact"}
        if len(exact) > 1:
            sys.exit(f"{section}, {case}: answers differ: {answers}")
        for method in methods:
            if exact and method.answer == "filter":
                truth, answer = float(min(exact)), float(answers[method.name])
                if not truth <= answer <= truth * 1.5 + 100:
                    sys.exit(f"{section}, {case}, {method.name}: {answer} instead of {truth}")

    def note(self, section, case, method, seconds, size="", x=""):
        self.rows.append((section, case, method, x, f"{seconds:.6f}", size))

    def write(self):
        with open(self.path, "w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("section", "case", "method", "x", "seconds", "bytes"))
            writer.writerows(self.rows)
