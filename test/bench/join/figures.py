#!/usr/bin/python3
"""The figures that join filters are judged by, each query off, on, in auto and by hand: figures.py DIRECTORY"""

import os
import sys

from measure import MODES, QUICK, Query, Server, contest, filters, median, psql, say, setup, switched, text_of, write
from proxy import Proxy

ROWS = 500_000 if QUICK else 5_000_000
KEYS = ROWS // 10

PARALLEL = "SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0"
SPILL = f"SET work_mem = '{max(ROWS // 1250, 64)}kB'; SET hash_mem_multiplier = 1"
REMOTE = "SET cuckoofilter.join_filter_remote = on"
COUNT = "SELECT count(*), sum(f.id) FROM fact f"
STAR = f"{COUNT} JOIN d1 USING (a) JOIN d2 USING (b) JOIN d3 USING (c)"
FIFTHS = "WHERE d1.p < 2 AND d2.p < 2 AND d3.p < 2"


def hand(sql, column, of):
    """With a condition that asks a filter of the other side."""
    word = "AND" if "WHERE" in sql else "WHERE"
    return f"{sql} {word} cuckoofilter_contains((SELECT cuckoofilter_agg({of}), f.{column})"


def both(name, sql, settings, *filters_by_hand):
    by_hand = sql
    for column, of in filters_by_hand:
        by_hand = hand(by_hand, column, of)
    return Query(name, sql, settings, by_hand)


TENTH = ("k", "k) FROM tenth")
QUERIES = (
    both("10 % match", f"{COUNT} JOIN tenth d USING (k)", "", TENTH),
    both("1 % match", f"{COUNT} JOIN hundredth d USING (k)", "", ("k", "k) FROM hundredth")),
    both("10 % match, text of 32", f"{COUNT} JOIN tenth d USING (t)", "", ("t", "t) FROM tenth")),
    both("10 % match, as IN", f"{COUNT} WHERE k IN (SELECT k FROM tenth)", "", TENTH),
    both("10 % match, work_mem 4 MB", f"{COUNT} JOIN tenth d USING (k)", SPILL, TENTH),
    both("10 % match, two workers", f"{COUNT} JOIN tenth d USING (k)", PARALLEL, TENTH),
    both("50 % match", f"{COUNT} JOIN half d USING (k)", "", ("k", "k) FROM half")),
    both(
        "star of three, 20 % each",
        f"{STAR} {FIFTHS}",
        "",
        *((column, f"{column}) FROM d{n} WHERE p < 2") for n, column in ((1, "a"), (2, "b"), (3, "c"))),
    ),
    both(
        "star, selective join on top",
        f"{STAR} WHERE d3.p = 0 AND d3.q = 0",
        "SET join_collapse_limit = 1",
        ("c", "c) FROM d3 WHERE p = 0 AND q = 0"),
    ),
    both("all match", f"{COUNT} JOIN tens d ON f.few = d.k", "", ("few", "k) FROM tens")),
    both("all match, a key for each row", f"{COUNT} JOIN every d USING (k)", "", ("k", "k) FROM every")),
    # the planner cannot know that all rows have one of the keys that pass
    both("all match, estimated 10 %", f"{COUNT} JOIN every d ON f.few = d.k WHERE d.k < {KEYS}", "", ("few", f"k) FROM every WHERE k < {KEYS}")),
    both(
        "all match, estimated 30 %", f"{COUNT} JOIN every d ON f.few = d.k WHERE d.k < {3 * KEYS}", "", ("few", f"k) FROM every WHERE k < {3 * KEYS}")
    ),
    # nor how many keys pass: a third and a third again, it says
    both("all match, estimated a ninth of the keys", f"{COUNT} JOIN tens d ON f.few = d.k WHERE d.k + 0 >= 0 AND d.k + 1 > 0", "", ("few", "k) FROM tens")),
)
FOREIGN = Query(
    "foreign table, 1 % match",
    "SELECT count(*), sum(f.id) FROM far f JOIN hundredth d USING (k)",
    REMOTE,
    "SELECT count(*), sum(f.id) FROM far f JOIN hundredth d USING (k) WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(k) FROM hundredth), f.k)",
)


def fill():
    psql(
        f"""
        CREATE UNLOGGED TABLE fact AS
            SELECT g AS id, k, k % {KEYS} AS few, md5(k::text) AS t, k * 7919 % {KEYS} AS a, k * 104729 % {KEYS} AS b, k * 15485863 % {KEYS} AS c
            FROM generate_series(0::bigint, {ROWS - 1}) g, LATERAL (SELECT g * 1299709 % {ROWS}) p (k);
        CREATE UNLOGGED TABLE tenth AS SELECT k, t FROM fact WHERE k % 10 = 0;
        CREATE UNLOGGED TABLE hundredth AS SELECT k FROM fact WHERE k % 100 = 0;
        CREATE UNLOGGED TABLE half AS SELECT k FROM fact WHERE k % 2 = 0;
        CREATE UNLOGGED TABLE every AS SELECT k FROM fact;
        CREATE UNLOGGED TABLE tens AS SELECT k FROM fact WHERE k < {KEYS};
        CREATE UNLOGGED TABLE d1 AS SELECT k AS a, (k * 3 / 7) % 10 AS p, k / 3 % 10 AS q FROM tens;
        CREATE UNLOGGED TABLE d2 AS SELECT a AS b, p, q FROM d1;
        CREATE UNLOGGED TABLE d3 AS SELECT a AS c, p, q FROM d1""",
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
        "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'postgres', extensions 'cuckoofilter', fetch_size '1000')",
        f"CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{os.environ['PGUSER']}', password '{os.environ['PGPASSWORD']}')",
        "CREATE FOREIGN TABLE far (id bigint, k bigint) SERVER here OPTIONS (table_name 'fact')",
    )
    connect(os.environ["PGPORT"])
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    psql("ANALYZE far")
    say(f"{ROWS:,} rows")


def connect(port):
    """The foreign server is this one, through a port, in the clear."""
    options = psql("SELECT srvoptions FROM pg_foreign_server")
    word = "SET" if "port=" in options else "ADD"
    psql(f"ALTER SERVER here OPTIONS ({word} host '127.0.0.1', {word} port '{port}', {word} sslmode 'disable')")


def count_bytes():
    """What goes over the wire for the foreign table, by mode."""
    proxy = Proxy()
    connect(proxy.port)
    rows = []
    for mode in (*MODES, "hand"):
        before = proxy.bytes
        psql(*setup(FOREIGN, mode), text_of(FOREIGN, mode))
        rows.append((mode, proxy.bytes - before))
    connect(os.environ["PGPORT"])
    return rows


def main():
    fill()
    queries = (*QUERIES, FOREIGN)
    modes = (*MODES, "hand")
    runs = contest(Server(), queries, modes)
    rows = []
    for query in queries:
        figures = [f"{median(runs[query.name, mode], field):.4f}" for field in ("cpu", "all", "wall") for mode in modes]
        rows.append((query.name, len(runs[query.name, "off"]), *figures, filters(query, "on"), filters(query, "auto"), switched(query, "auto")))
    head = ("query", "runs", *(f"{field} {mode}" for field in ("cpu", "all", "wall") for mode in modes), "filters on", "filters auto", "what became of them")
    write(sys.argv[1], "figures.csv", head, rows)
    write(sys.argv[1], "bytes.csv", ("mode", "bytes"), count_bytes())


if __name__ == "__main__":
    main()
