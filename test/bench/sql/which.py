#!/usr/bin/python3
"""A key's rows in 365 partitions: by an index in each of them, or by cuckoofilter_which and pruning.

Run under pg_virtualenv, with the extension installed: which.py DIRECTORY; it writes WHICH.md.
BUSY is a sentence about the machine for the page.
"""

import os
import statistics
import sys
import time

import psycopg2

QUICK = os.environ.get("QUICK", "0") not in ("", "0")
PARTS = 365
ROWS = 1_000 if QUICK else 10_000  # of a partition
USERS = PARTS * ROWS // 4  # each has four rows on average
ASKED = 40 if QUICK else 200
FPR = 0.001

SET_UP = (
    "CREATE EXTENSION cuckoofilter",
    "CREATE TABLE event (day date, user_id bigint, n integer) PARTITION BY LIST (day)",
    f"""DO $$ BEGIN
        FOR d IN 0 .. {PARTS - 1} LOOP
            EXECUTE format('CREATE TABLE event_%s PARTITION OF event FOR VALUES IN (%L)', d, DATE '2025-01-01' + d);
        END LOOP;
    END $$""",
    "SELECT setseed(0.5)",
    f"""INSERT INTO event SELECT DATE '2025-01-01' + d, floor(random() * {USERS}), i
        FROM generate_series(0, {PARTS - 1}) d, generate_series(1, {ROWS}) i""",
    f"""CREATE TABLE filter AS SELECT cuckoofilter_agg_pair(user_id, day, {FPR}) AS f,
        (SELECT array_agg(DATE '2025-01-01' + d ORDER BY d) FROM generate_series(0, {PARTS - 1}) d) AS days FROM event""",
    "CREATE INDEX ON event (user_id)",
    "VACUUM ANALYZE",
)


class Ways:
    def __init__(self):
        self.db = psycopg2.connect("")
        self.db.autocommit = True
        self.cursor = self.db.cursor()
        self.ms = {}
        self.cpu = {}  # the same of the server's process, on a processor
        self.pid = self.one("SELECT pg_backend_pid()")

    def on_processor(self):
        """Milliseconds that the server's process has run so far."""
        with open(f"/proc/{self.pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e6

    def run(self, sql):
        self.cursor.execute(sql)
        return self.cursor.fetchall()

    def one(self, sql):
        return self.run(sql)[0][0]

    def timed(self, name, sql):
        busy, start = self.on_processor(), time.perf_counter()
        rows = self.run(sql)
        self.ms.setdefault(name, []).append(1000 * (time.perf_counter() - start))
        self.cpu.setdefault(name, []).append(self.on_processor() - busy)
        return rows

    def by_index(self, user, name):
        return self.timed(name, f"SELECT day, n FROM event WHERE user_id = {user} ORDER BY 1, 2")

    def by_which(self, user, name):
        days = self.timed(f"{name}: which", f"SELECT unnest(cuckoofilter_which(f, {user}::bigint, days)) FROM filter")
        array = ",".join(str(day) for (day,) in days)
        sql = f"SELECT day, n FROM event WHERE user_id = {user} AND day = ANY ('{{{array}}}') ORDER BY 1, 2"
        rows = self.timed(f"{name}: query", sql)
        for taken in (self.ms, self.cpu):
            taken.setdefault(name, []).append(taken[f"{name}: which"][-1] + taken[f"{name}: query"][-1])
        return rows, len(days)

    def say(self, name):
        ms = self.ms[name]
        return f"{statistics.median(self.cpu[name]):.2f} | {statistics.median(ms):.2f} | {min(ms):.2f}"


def statement(db, sql):
    """Microseconds that a statement's calls take each, in the server."""
    calls = 2_000
    least = min(
        db.timed("loop", f"EXPLAIN (ANALYZE, TIMING off, FORMAT json) SELECT {sql} FROM generate_series(1, {calls}) i")[0][0][0]["Execution Time"]
        for _ in range(5)
    )
    return 1000 * least / calls


def measure():
    ways = Ways()
    for sql in SET_UP:
        ways.cursor.execute(sql)
    indexes = int(ways.one("SELECT sum(pg_relation_size(indexrelid)) FROM pg_index WHERE indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'event'::regclass)"))
    filter_bytes = ways.one("SELECT octet_length(f::bytea) FROM filter")
    wrong = 0
    partitions = 0
    for number in range(ASKED):
        user = number * 7919 % USERS
        for order in (0, 1) if number % 2 else (1, 0):
            if order:
                want = ways.by_index(user, "index")
            else:
                got, asked = ways.by_which(user, "pruned")
        partitions += asked
        wrong += got != want
    ways.cursor.execute("DROP INDEX event_user_id_idx")
    for number in range(ASKED):
        user = number * 7919 % USERS
        got, _ = ways.by_which(user, "scan")
    call = statement(ways, "cuckoofilter_which((SELECT f FROM filter), i::bigint, (SELECT array_agg(DATE '2025-01-01' + d) FROM generate_series(0, 999) d))")
    loop = statement(ways, "i::bigint")
    return ways, indexes, filter_bytes, wrong, partitions / ASKED, call - loop


def report(ways, indexes, filter_bytes, wrong, partitions, call):
    version = ways.one("SHOW server_version")
    print("# Which partitions have a key?\n")
    print(f"Written by `test/bench/sql/run.sh which`: PostgreSQL {version.split()[0]}, {PARTS} partitions by day of {ROWS:,} rows, {USERS:,} users, {ASKED} of them")
    print(f"asked for, one way and the other in turn, each in one session whose blocks are in shared buffers. {os.environ.get('BUSY', '')}\n")
    print("Processor time is that of the server's process.\n")
    print("| way | processor time in ms, median | by the clock, median | least |\n|---|---|---|---|")
    print(f"| an index on `user_id` in each partition | {ways.say('index')} |")
    print(f"| `cuckoofilter_which`, then the query with its answer as a constant | {ways.say('pruned')} |")
    print(f"| of it `cuckoofilter_which(f, user, days)`, f stored | {ways.say('pruned: which')} |")
    print(f"| and the query, by the index of the partitions that are left | {ways.say('pruned: query')} |")
    print(f"| both, without indexes: the partitions that are left are read | {ways.say('scan')} |\n")
    print(f"The two ways gave other rows {wrong} times. The filter left {partitions:.1f} partitions on average.\n")
    print(f"The indexes take {indexes / 1e6:.1f} MB, the filter at a rate of {FPR} takes {filter_bytes / 1e6:.1f} MB.\n")
    print(f"A call with 1,000 candidates, of a filter that is in memory, takes {call:.0f} us.")


if __name__ == "__main__":
    found = measure()
    with open(os.path.join(sys.argv[1], "WHICH.md"), "w", encoding="utf-8") as page:
        sys.stdout = page
        report(*found)
