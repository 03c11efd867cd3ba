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

TABLES = "CREATE TABLE one (id integer PRIMARY KEY, k integer, t text); CREATE TABLE two (k integer PRIMARY KEY, t text);"
STATEMENTS = (
    ("one table, by its key", "SELECT * FROM one WHERE id = 17"),
    ("one table, counted", "SELECT count(*), min(t) FROM one WHERE k > 17"),
    ("a hash join of two", "SELECT count(*) FROM one JOIN two USING (k)"),
)
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
    single.run("".join(f"{line}\n" for line in (TABLES.split("; ")[0], TABLES.split("; ")[1], "VACUUM ANALYZE")))
    rows = []
    for name, sql in STATEMENTS:
        counts = []
        planned = f"BEGIN; DECLARE c CURSOR FOR {sql}; ROLLBACK\n"
        for _, options in WAYS:
            options = (*options, "-c", "cursor_tuple_fraction=1")
            few = single.instructions(planned * TIMES, options)
            counts.append((single.instructions(planned * (2 * TIMES), options) - few) // TIMES)
        rows.append((name, *counts))
        say(f"{name}: {counts}")
    write(sys.argv[2], "planning.csv", ("statement", *(name for name, _ in WAYS)), rows)
    shutil.rmtree(single.directory)


if __name__ == "__main__":
    main()
