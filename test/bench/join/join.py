#!/usr/bin/python3
"""Join filters on a throw-away cluster: each query off, on and auto.

Run under pg_virtualenv, with the extension installed: join.py DIRECTORY.  Rounds of all queries and
modes are interleaved; a figure is the median of ROUNDS=5.  CPU is the backend's own, and so without
workers and other servers.
"""

import os
import re
import statistics
import subprocess
import sys

ROWS = 500_000 if os.environ.get("QUICK", "0") not in ("", "0") else 5_000_000
ROUNDS = int(os.environ.get("ROUNDS", "5"))
KEYS = ROWS // 10
MODES = ("off", "on", "auto")

BASE = "SET max_parallel_workers_per_gather = 0; SET work_mem = '512MB'"
PARALLEL = "SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0"
SPILL = f"SET work_mem = '{max(ROWS // 1250, 64)}kB'; SET hash_mem_multiplier = 1"
REMOTE = "SET cuckoofilter.join_filter_remote = on"
HASH = "SET enable_nestloop = off; SET enable_mergejoin = off"

# name, SQL, settings
QUERIES = (
    ("10 % match", "SELECT count(*), sum(f.id) FROM fact f JOIN tenth d USING (k)", ""),
    ("1 % match", "SELECT count(*), sum(f.id) FROM fact f JOIN tenth d USING (k) WHERE d.k % 100 = 0", ""),
    ("the same, of text", "SELECT count(*), sum(f.id) FROM fact f JOIN tenth d USING (t)", ""),
    ("the same, as IN", "SELECT count(*), sum(id) FROM fact WHERE k IN (SELECT k FROM tenth)", ""),
    ("the same, in batches", "SELECT count(*), sum(f.id) FROM fact f JOIN tenth d USING (k)", SPILL),
    ("the same, two workers", "SELECT count(*), sum(f.id) FROM fact f JOIN tenth d USING (k)", PARALLEL),
    ("50 % match", "SELECT count(*), sum(f.id) FROM fact f JOIN half d USING (k)", ""),
    ("a star of three at 20 %", "SELECT count(*), sum(f.id) FROM fact f JOIN d1 USING (a) JOIN d2 USING (b) JOIN d3 USING (c) WHERE d1.p < 2 AND d2.p < 2 AND d3.p < 2", ""),
    ("a star, selective on top", "SELECT count(*), sum(f.id) FROM fact f JOIN d1 USING (a) JOIN d2 USING (b) JOIN d3 USING (c) WHERE d3.p = 0 AND d3.q = 0", "SET join_collapse_limit = 1"),
    ("all match", "SELECT count(*), sum(f.id) FROM fact f JOIN tens d ON f.few = d.k", ""),
    ("all match, as many keys as rows", "SELECT count(*), sum(f.id) FROM fact f JOIN every d USING (k)", ""),
    ("a foreign table, 1 % match", "SELECT count(*), sum(f.id) FROM far f JOIN tenth d USING (k) WHERE d.k % 100 = 0", REMOTE),
)


def psql(*commands, database="postgres"):
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database]
    for text in commands:
        command += ["-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{commands[-1]}\n{done.stderr}")
    return done.stdout, done.stderr


def fill():
    psql(
        f"""
        CREATE UNLOGGED TABLE fact AS
            SELECT g AS id, k, k % {KEYS} AS few, md5(k::text) AS t, k * 7919 % {KEYS} AS a, k * 104729 % {KEYS} AS b, k * 15485863 % {KEYS} AS c
            FROM generate_series(0::bigint, {ROWS - 1}) g, LATERAL (SELECT g * 1299709 % {ROWS}) p (k);
        CREATE UNLOGGED TABLE tenth AS SELECT k, t FROM fact WHERE k % 10 = 0;
        CREATE UNLOGGED TABLE half AS SELECT k FROM fact WHERE k % 2 = 0;
        CREATE UNLOGGED TABLE every AS SELECT k FROM fact;
        CREATE UNLOGGED TABLE tens AS SELECT k FROM fact WHERE k < {KEYS};
        CREATE UNLOGGED TABLE d1 AS SELECT k AS a, (k * 3 / 7) % 10 AS p, k / 3 % 10 AS q FROM tens;
        CREATE UNLOGGED TABLE d2 AS SELECT a AS b, p, q FROM d1;
        CREATE UNLOGGED TABLE d3 AS SELECT a AS c, p, q FROM d1"""
    )
    port = os.environ["PGPORT"]
    host = os.environ.get("PGHOST", "/var/run/postgresql")
    psql("CREATE EXTENSION cuckoofilter", "CREATE EXTENSION postgres_fdw")
    psql(
        f"CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', port '{port}', dbname 'postgres', extensions 'cuckoofilter', fetch_size '1000')",
        f"CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{os.environ.get('PGUSER', 'postgres')}', password '{os.environ.get('PGPASSWORD', '')}')",
        "CREATE FOREIGN TABLE far (id bigint, k bigint) SERVER here OPTIONS (table_name 'fact')",
    )
    psql("VACUUM ANALYZE")
    psql("ANALYZE far")


def run(query, mode):
    _, sql, settings = query
    setup = [BASE, HASH, settings or "SELECT", "SELECT cuckoofilter_version()", f"SET cuckoofilter.join_filter = {mode}"]
    out, err = psql(*setup, "SET log_statement_stats = on; SET client_min_messages = log", sql)
    cpu = [float(a) + float(b) for a, b in re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, [0-9.]+ s elapsed", err)][-1]
    wall = float(re.findall(r"([0-9.]+) s elapsed", err)[-1])
    return cpu, wall, out.splitlines()[-1]


def filters(query, mode):
    _, sql, settings = query
    out, _ = psql(BASE, HASH, settings or "SELECT", "SELECT cuckoofilter_version()", f"SET cuckoofilter.join_filter = {mode}", f"EXPLAIN {sql}")
    return out.count("Cuckoo Join Filter")


def main():
    fill()
    figures = {}
    for round_ in range(ROUNDS):
        for query in QUERIES:
            answers = set()
            for mode in MODES:
                cpu, wall, answer = run(query, mode)
                figures.setdefault((query[0], mode), []).append((cpu, wall))
                answers.add(answer)
            if len(answers) != 1:
                sys.exit(f"{query[0]}: {answers}")
        print(f"round {round_ + 1} of {ROUNDS}", file=sys.stderr)
    with open(os.path.join(sys.argv[1], "RESULTS.md"), "w", encoding="utf-8") as file:
        file.write(f"# Join filters\n\n{ROWS:,} rows, {KEYS:,} keys unless said; medians of {ROUNDS} interleaved runs, milliseconds.\n\n")
        file.write("| query | CPU off | on | auto | time off | on | auto | off / on | off / auto | filters on, auto |\n|---|---|---|---|---|---|---|---|---|---|\n")
        for query in QUERIES:
            cpu = [statistics.median(c for c, _ in figures[query[0], mode]) * 1000 for mode in MODES]
            wall = [statistics.median(w for _, w in figures[query[0], mode]) * 1000 for mode in MODES]
            made = ", ".join(str(filters(query, mode)) for mode in ("on", "auto"))
            file.write(f"| {query[0]} | " + " | ".join(f"{x:.0f}" for x in cpu + wall) + f" | {wall[0] / wall[1]:.2f} | {wall[0] / wall[2]:.2f} | {made} |\n")


main()
