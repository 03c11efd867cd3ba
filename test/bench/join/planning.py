#!/usr/bin/python3
"""Instructions to plan a statement, without the library, and with it off and in auto: planning.py STAGE DIRECTORY

A server of one process under valgrind, which counts them.  It plans a statement often, and then
twice as often: the difference is what the planning takes.  It is planned for a cursor, since EXPLAIN
also names the reasons why a join has no filter.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

from measure import say, write



def pg_config(what):
    return subprocess.run([os.environ.get("PG_CONFIG", "pg_config"), what], capture_output=True, text=True, check=True).stdout.strip()


BINDIR = pg_config("--bindir")
TIMES = 200
TIMES_OF_PARTITIONS = 1

# A server of one process runs each line.  Partitions have 200 rows each, so that they are worth skipping.
PARTITIONS = (1000, 2400)
KEYS = ("numeric", "bigint")
TABLES = "CREATE TABLE one (id integer PRIMARY KEY, k integer, t text)\nCREATE TABLE two (k integer PRIMARY KEY, t text)\n" + "".join(
    f"""CREATE TABLE {key}{n} (k {key}, id integer) PARTITION BY RANGE (k)
DO $$ BEGIN FOR i IN 0 .. {n - 1} LOOP EXECUTE format('CREATE TABLE {key}{n}_%s PARTITION OF {key}{n} FOR VALUES FROM (%s) TO (%s)', i, i * 200, (i + 1) * 200); END LOOP; END $$
CREATE INDEX ON {key}{n} USING brin (k)
INSERT INTO {key}{n} SELECT g, g FROM generate_series(0, {n * 200 - 1}) g
CREATE TABLE few_{key}{n} AS SELECT g * 100 AS k FROM generate_series(0, 99) g
"""
    for key in KEYS
    for n in PARTITIONS
)
STATEMENTS = (
    ("one table, by its key", TIMES, "SELECT * FROM one WHERE id = 17"),
    ("one table, counted", TIMES, "SELECT count(*), min(t) FROM one WHERE k > 17"),
    ("a hash join of two", TIMES, "SELECT count(*) FROM one JOIN two USING (k)"),
    *(
        (f"{n:,} partitions with BRIN, {key} keys, LIMIT 1", TIMES_OF_PARTITIONS, f"SELECT * FROM {key}{n} JOIN few_{key}{n} USING (k) LIMIT 1")
        for n in PARTITIONS
        for key in KEYS
    ),
)
LOCKS = ("-c", "max_locks_per_transaction=1000")
LIBRARY = ("-c", f"shared_preload_libraries={os.path.abspath(sys.argv[1])}{pg_config('--pkglibdir')}/cuckoofilter_join")
WAYS = (
    ("absent", ()),
    ("off", (*LIBRARY, "-c", "cuckoofilter.join_filter=off")),
    ("auto", (*LIBRARY, "-c", "cuckoofilter.join_filter=auto")),
    ("on", (*LIBRARY, "-c", "cuckoofilter.join_filter=on", "-c", "cuckoofilter.join_filter_min_rows=0")),
)


def as_postgres():
    """A server refuses to be root."""
    if os.getuid() != 0:
        return None
    user = pwd.getpwnam("postgres")

    def become():
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    return become


class Single:
    """A server of one process."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="cuckoofilter-planning.")
        self.data = os.path.join(self.directory, "data")
        if os.getuid() == 0:
            shutil.chown(self.directory, "postgres", "postgres")
        self.call([f"{BINDIR}/initdb", "-D", self.data, "-A", "trust", "-N"])
        self.call([f"{BINDIR}/pg_resetwal", "-o", "20000", "-D", self.data])  # else tables seem to be of the catalog

    def call(self, command, text=""):
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, check=False, cwd=self.directory, preexec_fn=as_postgres()
        )
        if done.returncode != 0 or "ERROR" in done.stderr or "FATAL" in done.stderr:
            sys.exit(f"{command}\n{done.stderr}")
        return done

    def run(self, text, options=(), under=()):
        command = (*under, f"{BINDIR}/postgres", "--single", "-D", self.data, *options, "postgres")
        return self.call(command, text)

    def instructions(self, text, options):
        done = self.run(text, options, ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"))
        return int(re.search(r"I\s+refs:\s+([0-9,]+)", done.stderr).group(1).replace(",", ""))


def main():
    single = Single()
    single.run(TABLES + "VACUUM ANALYZE\n", LOCKS)
    rows = []
    for name, times, sql in STATEMENTS:
        counts = []
        planned = f"BEGIN; DECLARE c CURSOR FOR {sql}; ROLLBACK\n"
        for _, options in WAYS:
            options = (*LOCKS, *options, "-c", "cursor_tuple_fraction=1")
            few = single.instructions(planned * times, options)
            counts.append((single.instructions(planned * (2 * TIMES), options) - few) // TIMES)
        rows.append((name, *counts))
        say(f"{name}: {counts}")
    write(sys.argv[2], "planning.csv", ("statement", *(name for name, _ in WAYS)), rows)
    shutil.rmtree(single.directory)


if __name__ == "__main__":
    main()
