#!/usr/bin/python3
"""PostgreSQL's filter tables beside tables of the keys with a unique index, in one run on a throw-away server.

    test/bench/pg_table.py PAGE KEYS...

KEYS is how many keys the tables have, such as 500000.  Times are of processors, of all sessions of the server
together, and WAL is without full-page images.  Each figure is the median of ROUNDS runs in turns (5).
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STAGE = os.path.join(ROOT, "build", "bench", "stage")
sys.path.insert(0, os.path.join(ROOT, "test", "bench", "join"))
from measure import Server, psql, say

SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "jit=off", "shared_buffers=1GB", "max_wal_size=16GB", "max_parallel_workers_per_gather=0")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SINGLE = 20_000  # statements of one item
MANY = 500_000  # items of one call, lookups of one statement, rows of a followed table; or as many as there are keys
ROWS = 100_000  # of the table that is followed

ADD = "SELECT cuckoofilter_table_add('seen', :k::bigint)"
INSERT = "INSERT INTO keys VALUES (:k) ON CONFLICT DO NOTHING"
FOLLOWED, INDEXED, PLAIN = "followed", "indexed", "plain"


class Bench:
    def __init__(self, keys, directory):
        self.keys = keys
        self.script = os.path.join(directory, "script.sql")
        self.server = Server()
        self.many = min(keys, MANY)
        self.next = 0  # the rows of the followed table so far

    def cost(self, run):
        """Seconds of processors, and bytes of WAL, that a run takes."""
        lsn = psql("SELECT pg_current_wal_insert_lsn()").strip()
        before = self.server.used()
        run()
        used = self.server.used() - before
        return used, int(psql(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{lsn}')"))

    def statements(self, sql, sessions=4, first=None):
        """Run statements of a random key :k, in as many sessions.  first: also with the row numbers :id from there on."""
        each = SINGLE // sessions
        with open(self.script, "w", encoding="utf-8") as file:
            file.write("\\set k random(1, 1000000000000000)\n")
            if first is not None:
                file.write(f"\\set id {first} + :client_id * {each} + :n\n\\set n :n + 1\n")
            file.write(sql + ";\n")
        done = subprocess.run(
            ["pgbench", "-n", "-M", "prepared", "-D", "n=1", "-c", str(sessions), "-t", str(each), "-f", self.script], capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or f"processed: {each * sessions}/" not in done.stdout:
            sys.exit(done.stdout + done.stderr)

    def contest(self, ours, other):
        """The medians of two runs in turns: seconds and bytes of ours, of the other."""
        costs = [(self.cost(ours), self.cost(other)) for _ in range(ROUNDS)]
        return [statistics.median(cost[side][i] for cost in costs) for side in (0, 1) for i in (0, 1)]

    def fill(self):
        psql(
            "CREATE EXTENSION IF NOT EXISTS cuckoofilter",
            "DROP TABLE IF EXISTS seen, keys, asked, fresh, followed, indexed, plain, followed_key_filter",
            f"CREATE UNLOGGED TABLE asked AS SELECT (random() * 1e15)::bigint AS k FROM generate_series(1, {self.keys})",
            f"SELECT cuckoofilter_table_create('seen', 'bigint', {self.keys * 2}, 0.01)",
            "CREATE TABLE keys (k bigint PRIMARY KEY)",
            "CREATE TABLE fresh (k bigint PRIMARY KEY)",
            "SELECT cuckoofilter_table_add_all('seen', ARRAY(SELECT k FROM asked))",
            "INSERT INTO keys SELECT k FROM asked ON CONFLICT DO NOTHING",
            *(f"CREATE TABLE {name} (id bigint PRIMARY KEY, key text, more int)" for name in (FOLLOWED, INDEXED, PLAIN)),
            "CREATE UNIQUE INDEX ON indexed (key)",
            f"SELECT cuckoofilter_table_follow('followed', 'key', 0.01, {MANY * 4})",
            "VACUUM ANALYZE",
        )
        for table in (FOLLOWED, INDEXED, PLAIN):
            self.rows(table, self.many)
        self.next += self.many
        say(f"{self.keys} keys")

    def rows(self, table, count):
        psql(f"INSERT INTO {table} SELECT g, md5(g::text), 0 FROM generate_series({self.next + 1}, {self.next + count}) g")

    def insert(self, table, statements):
        """Insert rows into a table: by one statement, or by many.  Both sides have the same rows."""
        if statements:
            self.statements(f"INSERT INTO {table} VALUES (:id, md5(:id::text), 0)", first=self.next)
        else:
            self.rows(table, ROWS)
        self.next += (SINGLE if statements else ROWS) if table == INDEXED else 0

    def one_call(self, ours):
        keys = f"SELECT k FROM asked LIMIT {self.many}"
        if ours:
            psql("SELECT cuckoofilter_table_add_all('new', ARRAY(" + keys + "))")
        else:
            psql("INSERT INTO fresh " + keys + " ON CONFLICT DO NOTHING")

    def empty(self):
        psql("TRUNCATE fresh; DROP TABLE IF EXISTS new; SELECT cuckoofilter_table_create('new', 'bigint', 1000000, 0.01)")

    def figures(self):
        """What, to reach, reached; the two sides."""
        for sessions in (1, 4, 16):
            a, wal_a, b, wal_b = self.contest(lambda n=sessions: self.statements(ADD, n), lambda n=sessions: self.statements(INSERT, n))
            yield f"adds a second, {sessions} sessions : `INSERT .. ON CONFLICT DO NOTHING`", "at least 0.8", b / a, f"{a / SINGLE * 1e6:.0f} : {b / SINGLE * 1e6:.0f} us"
        yield "WAL of one add : of the row with a unique index", "at most 2.2", wal_a / wal_b, f"{wal_a / SINGLE:.0f} : {wal_b / SINGLE:.0f} bytes"
        sizes = psql("SELECT pg_total_relation_size('seen'), pg_relation_size('keys_pkey')").strip().split("|")
        yield "bytes, all in all : the unique index alone", "at most 0.143", int(sizes[0]) / int(sizes[1]), f"{int(sizes[0]) / 1e6:.2f} : {int(sizes[1]) / 1e6:.1f} MB"
        a, _, b, _ = self.contest(lambda: self.statements("SELECT cuckoofilter_table_contains('seen', :k::bigint)"), lambda: self.statements("SELECT EXISTS (SELECT FROM keys WHERE k = :k)"))
        yield "lookups a second by statements : `EXISTS`", "at least 1.1", b / a, f"{a / SINGLE * 1e6:.0f} : {b / SINGLE * 1e6:.0f} us"
        asked = f"FROM (SELECT k FROM asked LIMIT {self.many}) a WHERE"
        a, _, b, _ = self.contest(lambda: psql(f"SELECT count(*) {asked} cuckoofilter_table_contains('seen', k)"), lambda: psql(f"SELECT count(*) {asked} k >= 0"))
        yield "lookups in one statement, each", "at most 2.5 us", (a - b) / self.many * 1e6, ""
        costs = []
        for _ in range(ROUNDS):
            self.empty()
            costs.append([self.cost(lambda side=side: self.one_call(side))[0] for side in (True, False)])
        a, b = (statistics.median(side) for side in zip(*costs))
        yield f"{self.many:,} adds in one call : the INSERT with a unique index", "at most 0.25", a / b, f"{a:.2f} : {b:.2f} s"
        a, _, b, _ = self.contest(lambda: self.insert(FOLLOWED, False), lambda: self.insert(INDEXED, False))
        yield f"follow, an INSERT of {ROWS:,} rows : a second unique index", "at most 1.0", a / b, f"{a:.2f} : {b:.2f} s"
        a, _, b, _ = self.contest(lambda: self.insert(FOLLOWED, True), lambda: self.insert(INDEXED, True))
        yield "follow, single INSERTs a second : a second unique index", "at least 0.75", b / a, f"{a / SINGLE * 1e6:.0f} : {b / SINGLE * 1e6:.0f} us"
        update = f"SET more = more + 1 WHERE id <= {ROWS}"
        a, _, b, _ = self.contest(lambda: psql(f"UPDATE followed {update}"), lambda: psql(f"UPDATE plain {update}"))
        yield f"follow, an UPDATE of {ROWS:,} rows that leaves the column : without the trigger", "at most 1.15", a / b, f"{a:.2f} : {b:.2f} s"


def main():
    if "PGHOST" not in os.environ or os.environ.get("CUCKOOFILTER_BENCH") != STAGE:
        os.makedirs(STAGE, exist_ok=True)
        subprocess.run(["make", "-s", "install", f"DESTDIR={STAGE}"], cwd=ROOT, check=True, stdout=sys.stderr)
        version = re.search(r"\d+", subprocess.check_output([os.environ.get("PG_CONFIG", "pg_config"), "--version"], text=True)).group()
        staged = subprocess.check_output([os.path.join(ROOT, "test/pg/staged.sh"), STAGE, "-o"], text=True).split()
        options = [word for setting in SETTINGS for word in ("-o", setting)]
        os.environ["CUCKOOFILTER_BENCH"] = STAGE
        os.execvp("pg_virtualenv", ["pg_virtualenv", "-v", version, "-t", *staged, *options, sys.executable, *sys.argv])
    sys.stdout = open(sys.argv[1], "w", encoding="utf-8")
    print("# Filter tables of PostgreSQL\n")
    print(f"Written by `make bench-pg-table`, {time.strftime('%Y-%m-%d')}: {psql('SELECT version()').split(' on ')[0]}, {os.cpu_count()} cores.")
    print(f"Processor time of the server's sessions; medians of {ROUNDS} runs of both sides in turns; `synchronous_commit`\nis off, WAL has no full-page images.")
    directory = tempfile.mkdtemp()
    for keys in sys.argv[2:]:
        bench = Bench(int(float(keys)), directory)
        bench.fill()
        print(f"\n## {bench.keys:,} keys\n\n| | to reach | reached | filter table : the other |\n|---|---|---|---|")
        for what, target, reached, sides in bench.figures():
            say(f"{what}: {reached:.2f}")
            print(f"| {what} | {target} | {reached:.2f} | {sides} |", flush=True)
    shutil.rmtree(directory)


main()
