"""What the benchmarks of join filters share: queries that are run off, on, in auto and by hand, in turns."""

import collections
import csv
import os
import re
import statistics
import subprocess
import sys
import time

QUICK = os.environ.get("QUICK", "0") not in ("", "0")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SCALE = float(os.environ.get("SCALE", "0.05" if QUICK else "1"))  # 1 is 2 million sales of the warehouse, 6 million of blocks.py
MINUTES = float(os.environ.get("MINUTES", "inf"))  # after which no query is started again
MODES = ("off", "on", "auto")

# No compilation, and one process where a query does not say otherwise.
SERIAL = "SET max_parallel_workers_per_gather = 0; SET work_mem = '512MB'"
HASH = "SET enable_nestloop = off; SET enable_mergejoin = off"

# A query with settings of its own.  hand: the same with filters written by hand, or nothing.  repeat: how often
# a session runs it, so that what the session itself takes counts little.
Query = collections.namedtuple("Query", "name sql settings hand repeat", defaults=("", "", 1))

# What one run took, in seconds: cpu of the backend, of all processes of the server, and by the clock.
Run = collections.namedtuple("Run", "cpu all wall answer")

START = time.monotonic()


def say(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


def psql(*commands, database=None, errors=False):
    """What the commands print in one session.  They are sent as input, so that one may be a filter of megabytes."""
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    if database is not None:
        command += ["-d", database]
    done = subprocess.run(command, input="".join(text + ("\n" if text.startswith("\\") else ";\n") for text in commands), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{commands[-1][:1000]}\n{done.stderr[:1000]}")
    return (done.stdout, done.stderr) if errors else done.stdout


class Server:
    """The processor time of a server: its postmaster waits for each backend and worker that ends."""

    def __init__(self):
        self.pid = int(psql("SELECT pg_read_file('postmaster.pid')").split()[0])
        time.sleep(1)
        self.others = self.children()

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as file:
            return set(file.read().split())

    def used(self):
        """By processes that have ended, once all sessions have."""
        while self.children() - self.others:
            time.sleep(0.01)
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def setup(query, mode):
    setting = "off" if mode == "hand" else mode
    return [SERIAL, HASH, query.settings or "SELECT", "LOAD 'cuckoofilter_join'", f"SET cuckoofilter.join_filter = {setting}"]


def text_of(query, mode):
    return query.hand if mode == "hand" else query.sql


def run(server, query, mode):
    before = server.used()
    text = text_of(query, mode)
    out, err = psql(
        *setup(query, mode),
        f"EXPLAIN {text}",  # reads the catalogs
        "SET log_statement_stats = on; SET client_min_messages = log",
        "\\echo ==",
        *(query.repeat * [text]),
        errors=True,
    )
    used = re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, ([0-9.]+) s elapsed", err)[-query.repeat :]
    user, system, wall = (statistics.mean(float(one[i]) for one in used) for i in range(3))
    answer = out.split("==\n")[1]
    return Run(user + system, (server.used() - before) / query.repeat, wall, answer)


def filters(query, mode):
    """How many filters the plan of a query has."""
    return psql(*setup(query, mode), f"EXPLAIN {query.sql}").count("Cuckoo Join Filter")


def switched(query, mode):
    """What became of its filters, where one did not stay."""
    if filters(query, mode) == 0:
        return ""
    out = psql(*setup(query, mode), f"EXPLAIN (ANALYZE, TIMING OFF) {query.sql}")
    return "; ".join(re.findall(r"(?:Rows Passed Untested|Given Up): .*", out))


def contest(server, queries, modes=MODES, rounds=ROUNDS):
    """Runs of each query and mode, in turns; ends the program where answers differ."""
    runs = collections.defaultdict(list)
    for n in range(rounds):
        for query in queries:
            if n > 0 and time.monotonic() - START > MINUTES * 60:
                continue
            turn = [mode for mode in modes if mode != "hand" or query.hand]
            turn = turn[n % len(turn) :] + turn[: n % len(turn)]
            found = {mode: run(server, query, mode) for mode in turn}
            if len({one.answer for one in found.values()}) != 1:
                sys.exit(f"{query.name}: answers differ: {found}")
            for mode, one in found.items():
                runs[query.name, mode].append(one)
            say(f"{query.name}: " + ", ".join(f"{mode} {one.cpu:.3f}" for mode, one in sorted(found.items())))
        say(f"round {n + 1} of {rounds}")
    return runs


def median(runs, field):
    return statistics.median(getattr(one, field) for one in runs)


def write(directory, name, head, rows):
    with open(os.path.join(directory, name), "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
