#!/usr/bin/python3
"""SQLite's filter tables beside tables of the keys themselves, in one run.

    test/bench/table.py ITEMS [DIRECTORY]

ITEMS is how many are loaded: 1e6, or 1e8 (an hour, and 10 GB of disk).  Writes DIRECTORY/table-ITEMS.csv
(build/bench), and prints all tables of that folder as Markdown.  Every table is in a file of its own,
which nothing else is in; the system keeps the files in memory, so that nothing is measured of the disk.
"""

import csv
import glob
import os
import platform
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULE = os.path.join(ROOT, "build", "sqlite", "cuckoofilter")
FPR = 0.01
ROUNDS = 3
SINGLE = 1000  # transactions of one item
COLD = 20  # lookups on a connection of their own
START = time.monotonic()

# The three tables: name, how it is made, the key of integer x in it.
FILTER, INTEGER, TEXT = "filter table", "integer keys", "text of 32"
KEY = {
    FILTER: "x",
    INTEGER: "x",
    TEXT: "printf('%08x%024x', x, x * 7919)",
}
LARGE = "PRAGMA cache_size = -4000000"
MAPPED = "PRAGMA mmap_size = 20000000000"


def say(text):
    print(f"{time.monotonic() - START:7.1f} s  {text}", file=sys.stderr, flush=True)


def series(first, last):
    return f"(WITH RECURSIVE s(x) AS (SELECT {first} UNION ALL SELECT x + 1 FROM s WHERE x < {last}) SELECT x FROM s)"


def connect(path, *settings):
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(MODULE)
    db.execute("PRAGMA synchronous = off")
    for sql in settings:
        db.execute(sql).fetchall()
    return db


class Bench:
    def __init__(self, items, directory):
        self.items = items
        self.directory = directory
        self.rows = []
        # most lookups and adds are of so many
        self.batch = min(items, 1_000_000)

    def path(self, name):
        return os.path.join(self.directory, name.replace(" ", "_") + ".db")

    def note(self, figure, table, value, unit):
        self.rows.append((self.items, figure, table, f"{value:.6g}", unit))
        say(f"{figure}, {table}: {value:.6g} {unit}")

    def open(self, name, *settings):
        db = connect(self.path(name), *settings)
        db.execute("ATTACH ? AS source", (self.path("source"),)).fetchall()
        return db

    def size(self, name):
        db = connect(self.path(name))
        pages = db.execute("PRAGMA page_count").fetchone()[0] - db.execute("PRAGMA freelist_count").fetchone()[0]
        page = db.execute("PRAGMA page_size").fetchone()[0]
        db.close()
        return pages * page

    # ---------------------------------------------------------------- sources

    def make_source(self):
        """ask: numbers of which half are in; more: those to be added; scattered: the items in no order."""
        db = connect(self.path("source"), "PRAGMA journal_mode = off")
        n = self.items
        for table, sql in (
            ("ask", f"SELECT abs(random()) % {2 * n} + 1 AS x FROM {series(1, self.batch)}"),
            ("more", f"SELECT x + {4 * n} AS x FROM {series(1, self.batch)} ORDER BY random()"),
            ("scattered", f"SELECT x FROM {series(1, self.batch)} ORDER BY random()"),
        ):
            keys = ", ".join(f"{key} AS k{i}" for i, key in enumerate((KEY[INTEGER], KEY[TEXT])))
            db.execute(f"CREATE TABLE {table} AS SELECT {keys} FROM ({sql})")
        db.close()
        say("source")

    @staticmethod
    def column(name):
        return "k1" if name == TEXT else "k0"

    # ------------------------------------------------------------------- load

    def create(self, name, file=None):
        file = file or name
        for end in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(self.path(file) + end):
                os.unlink(self.path(file) + end)
        db = self.open(file)
        if name == FILTER:
            db.execute(f"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr={FPR}, capacity={self.items})")
        else:
            db.execute("CREATE TABLE seen (item PRIMARY KEY) WITHOUT ROWID")
        return db

    def timed(self, db, sql):
        start = time.process_time()
        result = db.execute(sql).fetchall()
        return time.process_time() - start, result

    def load(self, name):
        """All items in one statement, those of the key tables in the order of their keys."""
        db = self.create(name)
        seconds, _ = self.timed(db, f"INSERT INTO seen(item) SELECT {KEY[name]} FROM {series(1, self.items)}")
        self.note("bulk load, items a second, from a recursive query", name, self.items / seconds, "1/s")
        db.close()
        self.note("bytes after bulk load", name, self.size(name), "B")

    def adds(self):
        """Into an empty table in one transaction, the items in no order."""
        for name in (FILTER, INTEGER, TEXT):
            times = []
            for _ in range(ROUNDS):
                db = self.create(name, "scratch")
                times.append(self.timed(db, f"INSERT INTO seen(item) SELECT {self.column(name)} FROM scattered")[0])
                db.close()
            self.note(f"adds of {self.batch:,} into an empty table, one statement", name, self.batch / statistics.median(times), "1/s")
        db = self.create(FILTER, "scratch")
        rows = db.execute("SELECT k0 FROM scattered").fetchall()
        start = time.process_time()
        db.execute("BEGIN")
        db.executemany("INSERT INTO seen VALUES (?)", rows)
        db.execute("COMMIT")
        self.note(f"adds of {self.batch:,}, a statement each, one transaction (Python)", FILTER, self.batch / (time.process_time() - start), "1/s")
        db.close()

    # -------------------------------------------------------------- lookups

    def lookups(self, when):
        """A join's lookups, half of which find something, in no order.  The tables take turns."""
        for label, settings in (("default cache", ()), ("mmap", (MAPPED,)), ("large cache", (LARGE,))):
            times = {name: [] for name in KEY}
            found = {}
            databases = {name: self.open(name, *settings) for name in KEY}
            for turn in range(ROUNDS + 1):
                for name, db in databases.items():
                    column = self.column(name)
                    bare, _ = self.timed(db, f"SELECT count({column}) FROM ask")
                    sql = f"SELECT count(*) FROM ask WHERE EXISTS (SELECT 1 FROM seen WHERE item = ask.{column})"
                    seconds, found[name] = self.timed(db, sql)
                    if turn:  # the first warms the cache
                        times[name].append(seconds - bare)
            truth, got = found[INTEGER][0][0], found[FILTER][0][0]
            if not truth <= got <= truth + self.batch * 0.03 + 100:
                sys.exit(f"{got} found instead of {truth}")
            for name, db in databases.items():
                self.note(f"lookups a second, {when}, {label}", name, self.batch / statistics.median(times[name]), "1/s")
                db.close()

    def cold(self, when):
        """Pages that a first lookup reads once the schema is there."""
        for name in KEY:
            misses = []
            for number in range(COLD):
                x = (number * 2654435761) % (2 * self.items) + 1
                script = (
                    f".load {MODULE}\nSELECT count(*) FROM sqlite_schema;\n.stats on\n"
                    f"SELECT count(*) FROM sqlite_schema;\nSELECT count(*) FROM seen WHERE item = (SELECT {KEY[name]} FROM (SELECT {x} AS x));\n"
                )
                said = subprocess.run(["sqlite3", "-batch", self.path(name)], input=script, capture_output=True, text=True, check=True)
                misses.append(int(re.findall(r"Page cache misses: +(\d+)", said.stdout)[-1]))
            self.note(f"pages of a cold lookup, {when}", name, statistics.mean(misses), "pages")
            self.note(f"pages of a cold lookup, {when}, most", name, max(misses), "pages")

    # ---------------------------------------------------------------- changes

    def more_adds(self):
        """Into the loaded table in one transaction, in no order."""
        for name in KEY:
            db = self.open(name)
            seconds, _ = self.timed(db, f"INSERT INTO seen(item) SELECT {self.column(name)} FROM more")
            self.note(f"adds of {self.batch:,} into the loaded table, one statement", name, self.batch / seconds, "1/s")
            seconds, _ = self.timed(db, f"DELETE FROM seen WHERE item IN (SELECT {self.column(name)} FROM more LIMIT {self.batch // 10})")
            self.note(f"removals of {self.batch // 10:,}, one statement", name, self.batch / 10 / seconds, "1/s")
            db.close()
            self.note("bytes after these adds", name, self.size(name), "B")

    def single_adds(self, when):
        """Transactions of one item each: frames that go to the WAL, and how many a second."""
        for name in KEY:
            db = self.open(name, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0")
            rows = db.execute(f"SELECT {KEY[name]} FROM (SELECT abs(random()) % {self.items} + {6 * self.items} AS x FROM {series(1, SINGLE)})").fetchall()
            page = db.execute("PRAGMA page_size").fetchone()[0]
            wal = self.path(name) + "-wal"
            db.execute("PRAGMA main.wal_checkpoint(truncate)").fetchall()
            db.execute("CREATE TABLE warm (a)")  # so that the first frames are not the file's
            db.execute("INSERT OR IGNORE INTO seen(item) VALUES (0)" if name != FILTER else "INSERT INTO seen(item) VALUES (0)")
            frames, before, spent = [], os.path.getsize(wal), 0.0
            for row in rows:
                start = time.process_time()
                db.execute("INSERT OR IGNORE INTO seen(item) VALUES (?)" if name != FILTER else "INSERT INTO seen(item) VALUES (?)", row)
                spent += time.process_time() - start
                now = os.path.getsize(wal)
                frames.append((now - before) // (page + 24))
                before = now
            one = sum(n <= 1 for n in frames) / len(frames)
            self.note(f"single adds of one WAL frame, {when}", name, 100 * one, "%")
            self.note(f"WAL frames of a single add, {when}", name, statistics.mean(frames), "frames")
            self.note(f"single adds a second, {when} (WAL, no sync)", name, SINGLE / spent, "1/s")
            db.execute("DROP TABLE warm")
            db.execute("PRAGMA main.wal_checkpoint(truncate)").fetchall()
            db.execute("PRAGMA journal_mode = delete").fetchall()
            db.close()

    # ------------------------------------------------------------------ space

    def value_bytes(self, db):
        return db.execute("SELECT length(cuckoofilter_export('seen'))").fetchone()[0]

    def space(self, when, file=FILTER, quiet=False):
        """The file's bytes beside the value's, of as many items."""
        db = self.open(file)
        items = db.execute("SELECT cuckoofilter_count(cuckoofilter_export('seen'))").fetchone()[0]
        value, size = self.value_bytes(db), self.size(file)
        db.close()
        if not quiet:
            self.note(f"bits an item, {when}", FILTER, 8 * size / items, "bits")
            self.note(f"bits an item, {when}", "the value", 8 * value / items, "bits")
            self.note(f"bytes beside the value's, {when}", FILTER, size / value, "times")
        return size / value

    def optimize(self):
        db = self.open(FILTER)
        seconds, _ = self.timed(db, "INSERT INTO seen(seen) VALUES ('optimize')")
        self.note("optimize, items a second", FILTER, self.items / seconds, "1/s")
        db.close()
        self.space("after optimize")
        for name in (INTEGER, TEXT):
            self.note("bytes beside the filter table's, packed", name, self.size(name) / self.size(FILTER), "times")
        db = self.open(FILTER)
        seconds, _ = self.timed(db, "SELECT length(cuckoofilter_export('seen'))")
        self.note("export, items a second", FILTER, self.items / seconds, "1/s")
        db.close()

    def doubling(self):
        """From half of a batch to two, by adds in no order, in many transactions; the fullest and the emptiest."""
        half = self.batch // 2
        db = self.create(FILTER, "scratch")
        db.execute(f"INSERT INTO seen(item) SELECT x FROM {series(1, half)}")
        db.close()
        worst, shares, steps = 0, [], 24
        last = half
        for step in range(1, 2 * steps + 1):
            until = int(half * 2 ** (step / steps))
            db = self.open("scratch")
            at = last + 1
            while at <= until:
                end = min(until, at + max(half // 200, 1))
                db.execute(f"INSERT INTO seen(item) SELECT x FROM {series(at, end)}")
                at = end + 1
            db.close()
            last = until
            share = self.space("", "scratch", quiet=True)
            shares.append(share)
            worst = max(worst, share)
            self.rows.append((self.items, "doubling", last, f"{share:.4f}", "times"))
        self.note("bytes beside the value's, over two doublings by random adds, most", FILTER, worst, "times")
        self.note("bytes beside the value's, over two doublings by random adds, mean", FILTER, statistics.mean(shares), "times")


def run(items, directory):
    bench = Bench(items, directory)
    bench.make_source()
    bench.adds()
    for name in KEY:
        bench.load(name)
    bench.space("after bulk load")
    bench.lookups("loaded")
    bench.cold("loaded")
    bench.single_adds("loaded")
    bench.optimize()
    bench.lookups("optimized")
    bench.cold("optimized")
    bench.single_adds("optimized")
    bench.more_adds()
    bench.space("after adds into it")
    bench.single_adds("after adds into it")
    bench.doubling()
    return bench.rows


# ------------------------------------------------------------------- the page


def number(text):
    value = float(text)
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def page(directory):
    """All results as Markdown: a row a figure, a column a table, and the filter's share of each."""
    print("# Filter tables of SQLite\n")
    print(
        f"`make bench-table`: a filter table (fpr {FPR}) beside `WITHOUT ROWID` tables of the same keys, each in a file of "
        "its own that the system has in memory. Lookups are a join's, `EXISTS`, half of which find something. "
        "Rates are of processor time. Behind a key table's figure: how many times the filter table's it is.\n"
    )
    for path in sorted(glob.glob(os.path.join(directory, "table-*.csv")), key=lambda p: int(re.findall(r"\d+", p)[-1])):
        with open(path, newline="", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        about = [row for row in rows if row["figure"] == "about"][0]["table"]
        print(f"## {int(rows[0]['items']):,} items\n\n{about}\n")
        print(f"| figure | unit | {FILTER} | the value | {INTEGER} | {TEXT} |\n|---|---|---|---|---|---|")
        figures = {}
        for row in rows:
            if row["figure"] not in ("about", "doubling"):
                figures.setdefault((row["figure"], row["unit"]), {})[row["table"]] = row["value"]
        for (figure, unit), values in figures.items():
            cells = []
            for name in (FILTER, "the value", INTEGER, TEXT):
                cell = number(values[name]) if name in values else ""
                if name in (INTEGER, TEXT) and name in values and FILTER in values and float(values[FILTER]):
                    cell += f" ({float(values[name]) / float(values[FILTER]):.2f})"
                cells.append(cell)
            print(f"| {figure} | {unit} | " + " | ".join(cells) + " |")
        grown = [(int(row["table"]), float(row["value"])) for row in rows if row["figure"] == "doubling"]
        if grown:
            print("\nBytes beside the value's as it grows: " + ", ".join(f"{n:,}: {share:.2f}" for n, share in grown) + ".\n")


def main():
    items = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    directory = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build", "bench")
    os.makedirs(directory, exist_ok=True)
    if items:
        with tempfile.TemporaryDirectory() as temporary:
            rows = run(items, temporary)
        version = subprocess.run(["make", "-s", "version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        about = f"Version {version}, SQLite {sqlite3.sqlite_version}, {platform.machine()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}."
        with open(os.path.join(directory, f"table-{items}.csv"), "w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("items", "figure", "table", "value", "unit"))
            writer.writerow((items, "about", about, "", ""))
            writer.writerows(rows)
    page(directory)


main()
