#!/usr/bin/python3
"""What a join filter gains by the share of rows that pass: curves.py DIRECTORY"""

import sys

from measure import MODES, QUICK, ROUNDS, Query, Server, contest, median, psql, say, write

ROWS = 200_000 if QUICK else 2_000_000
SMALL = ROWS // 200
LARGE = ROWS // 10
SHARES = (1, 10, 50, 100) if QUICK else (1, 5, 20, 40, 70, 100)
SPILL = f"SET work_mem = '{ROWS // 1250}kB'; SET hash_mem_multiplier = 1"

CASES = (
    ("in cache", "small", "small", "k", ""),
    ("past the cache", "large", "large", "k", ""),
    ("spills", "large", "large", "k", SPILL),
    ("text of 32", "large", "t", "t", ""),
)


def fill():
    psql(
        f"""
        CREATE UNLOGGED TABLE small AS SELECT k, k * 31 % 100 AS part, repeat('x', 20) AS pad FROM generate_series(0::bigint, {SMALL - 1}) k;
        CREATE UNLOGGED TABLE large AS
            SELECT k, md5(k::text) AS t, k * 31 % 100 AS part, repeat('x', 20) AS pad FROM generate_series(0::bigint, {LARGE - 1}) k;
        CREATE UNLOGGED TABLE curve AS
            SELECT g AS id, k % {SMALL} AS small, k % {LARGE} AS large, md5((k % {LARGE})::text) AS t
            FROM generate_series(0::bigint, {ROWS - 1}) g, LATERAL (SELECT g * 1299709 % {ROWS}) p (k)"""
    )
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    say(f"{ROWS:,} rows")


def query(case, share):
    name, table, outer, inner, settings = case
    sql = f"SELECT count(*), sum(f.id), sum(length(d.pad)) FROM curve f JOIN {table} d ON f.{outer} = d.{inner} WHERE d.part < {share}"
    built = f"(SELECT cuckoofilter_agg({inner}) FROM {table} WHERE part < {share})"
    return Query((name, share), sql, settings, f"{sql} AND cuckoofilter_contains({built}, f.{outer})")


def main():
    fill()
    modes = (*MODES, "hand")
    queries = [query(case, share) for case in CASES for share in SHARES]
    runs = contest(Server(), queries, modes, ROUNDS)
    rows = []
    for name, share in (one.name for one in queries):
        cpu = {mode: median(runs[(name, share), mode], "cpu") for mode in modes}
        rows += ((name, mode, share, f"{cpu[mode]:.4f}", f"{cpu['off'] / cpu[mode]:.4f}") for mode in modes)
    write(sys.argv[1], "curves.csv", ("case", "mode", "share", "cpu", "speedup"), rows)


if __name__ == "__main__":
    main()
