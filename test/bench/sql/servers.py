#!/usr/bin/python3
"""Rows on two servers: ways to ask them, by what goes over the wire and by processor time.

Run under pg_virtualenv, with the extension installed: servers.py DIRECTORY

The servers are two databases of one cluster, which the third asks through TCP by postgres_fdw.
"""

import collections
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../join"))
from measure import QUICK, ROUNDS, Server, psql, say, write
from proxy import Proxy

ROWS = 500_000 if QUICK else 5_000_000  # of both servers
KEYS = ROWS // 5  # each in five rows on average, of either server
SHARDS = 16  # of each server, a stored filter for each

# A way to the answer.  answer: the same text where two ways must agree.
Way = collections.namedtuple("Way", "name sql settings answer", defaults=("", "own"))


def probe(column, rate):
    return f"cuckoofilter_contains((SELECT cuckoofilter_agg({column}, {rate}) FROM dim), f.{column})"


def join(column):
    return f"SELECT count(*), sum(f.id) FROM fact f JOIN dim USING ({column})"


def count_of(filter_of, source):
    return f"SELECT cuckoofilter_count({filter_of}) FROM {source}"


def by_part(merge, item, parameters):
    return count_of(f"cuckoofilter_{merge}_agg(f)", f"(SELECT cuckoofilter_agg({item}, {parameters}) AS f FROM fact GROUP BY part) parts")


JOIN_FILTER = "SET cuckoofilter.join_filter = on; SET cuckoofilter.join_filter_remote = on; SET cuckoofilter.join_filter_min_rows = 0"
STORED = "cuckoofilter_contains((SELECT f FROM filters), k)"
IN_LIST = f"SELECT id, k, {probe('k', 0.001)} AS maybe FROM fact f OFFSET 0"
PARTS = "SET enable_partitionwise_aggregate = on"
FACTS = f"0.01, {KEYS}"
IDS = f"0.01, {ROWS}"

SECTIONS = {
    "dimension": (
        "Rows that join one key in fifty",
        (
            Way("the join as it is", join("k"), "", "join"),
            Way("a filter in the target list", f"SELECT count(*), sum(f.id) FROM ({IN_LIST}) f JOIN dim USING (k) WHERE maybe", "", "join"),
            Way("a list of keys in WHERE", f"{join('k')} WHERE f.k = ANY ((SELECT array_agg(k) FROM dim)::bigint[])", "", "join"),
            Way("a filter in WHERE, 1 %", f"{join('k')} WHERE {probe('k', 0.01)}", "", "join"),
            Way("a filter in WHERE, 0.1 %", f"{join('k')} WHERE {probe('k', 0.001)}", "", "join"),
            Way("a join filter", join("k"), JOIN_FILTER, "join"),
        ),
    ),
    "text": (
        "The same by a text of 32",
        (
            Way("the join as it is", join("t"), "", "join"),
            Way("a list of keys in WHERE", f"{join('t')} WHERE f.t = ANY ((SELECT array_agg(t) FROM dim)::text[])", "", "join"),
            Way("a filter in WHERE, 0.1 %", f"{join('t')} WHERE {probe('t', 0.001)}", "", "join"),
            Way("a join filter", join("t"), JOIN_FILTER, "join"),
        ),
    ),
    "all": (
        "A filter of all keys",
        (
            Way("all rows on this server", count_of(f"cuckoofilter_agg(k, {FACTS})", "here")),
            Way("rows fetched", count_of(f"cuckoofilter_agg(k, {FACTS})", "fact")),
            Way("GROUP BY part, union_agg", by_part("union", "k", FACTS), PARTS),
            Way("a view of each server, union_agg", count_of("cuckoofilter_union_agg(f)", "finished")),
            Way("two phases by hash", count_of("cuckoofilter_of_states(f)", "states")),
            Way("stored for each shard, fetched, union_agg", count_of("cuckoofilter_union_agg(f)", "stored")),
            Way("stored for each shard, a view of each server merges them", count_of("cuckoofilter_union_agg(f)", "merged")),
        ),
    ),
    "ids": (
        "A filter of all ids, which no two servers share",
        (
            Way("all rows on this server", count_of(f"cuckoofilter_agg(id, {IDS})", "here")),
            Way("rows fetched", count_of(f"cuckoofilter_agg(id, {IDS})", "fact")),
            Way("GROUP BY part, union_agg", by_part("union", "id", IDS), PARTS),
            Way("GROUP BY part, sum_agg", by_part("sum", "id", IDS), PARTS),
        ),
    ),
    "traps": (
        "What sends a filter more than once",
        (
            Way("a subquery", f"SELECT count(*) FROM fact_north WHERE {STORED}", "", "trap"),
            Way("a constant", "SELECT count(*) FROM fact_north WHERE cuckoofilter_contains('{constant}', k)", "", "trap"),
            Way("a constant, use_remote_estimate", "SELECT count(*) FROM estimated WHERE cuckoofilter_contains('{constant}', k)", "", "trap"),
            Way("a subquery, use_remote_estimate", f"SELECT count(*) FROM estimated WHERE {STORED}", "", "trap"),
            Way(
                "ten days, grouped",
                f"SELECT sum(n) FROM (SELECT day, count(*) AS n FROM fact_north WHERE day < 10 AND {STORED} GROUP BY day) d",
                "",
                "days",
            ),
            Way(
                "ten days, LATERAL",
                f"SELECT sum(n) FROM generate_series(0, 9) d, LATERAL (SELECT count(*) AS n FROM fact_north WHERE day = d AND {STORED}) x",
                "",
                "days",
            ),
        ),
    ),
}


def fill_server(name, part):
    psql(f"CREATE DATABASE {name}", f"ALTER DATABASE {name} SET jit = off")
    psql(
        f"""CREATE EXTENSION cuckoofilter;
        CREATE UNLOGGED TABLE fact AS SELECT g AS id, {part} AS part, k, (g / 2 % 100)::integer AS day, md5(k::text) AS t
            FROM generate_series({part}::bigint, {ROWS - 1}, 2) g, LATERAL (SELECT abs(hashint8(g)::bigint) % {KEYS}) key (k);
        CREATE UNLOGGED TABLE stored AS SELECT {part} AS part, id / 2 % {SHARDS} AS shard, cuckoofilter_agg(k, {FACTS}) AS f FROM fact GROUP BY 2;
        CREATE VIEW merged AS SELECT cuckoofilter_union_agg(f) AS f FROM stored;
        CREATE VIEW finished AS SELECT cuckoofilter_agg(k, {FACTS}) AS f FROM fact;
        CREATE AGGREGATE cuckoofilter_state(bigint, double precision, bigint) (SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter);
        CREATE VIEW states AS SELECT cuckoofilter_state(cuckoofilter_hash(k), {FACTS}) AS f FROM fact""",
        "VACUUM ANALYZE",
        database=name,
    )


def fill():
    psql(
        f"""CREATE EXTENSION IF NOT EXISTS cuckoofilter; CREATE EXTENSION IF NOT EXISTS postgres_fdw;
        CREATE UNLOGGED TABLE here AS SELECT g AS id, abs(hashint8(g)::bigint) % {KEYS} AS k FROM generate_series(0::bigint, {ROWS - 1}) g;
        CREATE UNLOGGED TABLE dim AS SELECT g * 50 AS k, md5((g * 50)::text) AS t FROM generate_series(0::bigint, {KEYS // 50 - 1}) g;
        CREATE TABLE filters AS SELECT cuckoofilter_agg(k) AS f FROM dim;
        CREATE AGGREGATE cuckoofilter_of_states(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
        CREATE TABLE fact (id bigint, part integer, k bigint, day integer, t text) PARTITION BY LIST (part);
        CREATE TABLE stored (part integer, shard bigint, f cuckoofilter) PARTITION BY LIST (part);
        CREATE TABLE finished (f cuckoofilter); CREATE TABLE merged (f cuckoofilter); CREATE TABLE states (f cuckoofilter)""",
    )
    for part, name in enumerate(("north", "south")):
        fill_server(name, part)
        psql(
            f"""CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{os.environ["PGPORT"]}', dbname '{name}', sslmode 'disable',
                extensions 'cuckoofilter', async_capable 'true', fetch_size '10000');
            CREATE USER MAPPING FOR CURRENT_USER SERVER {name} OPTIONS (user '{os.environ["PGUSER"]}', password '{os.environ["PGPASSWORD"]}');
            CREATE FOREIGN TABLE fact_{name} PARTITION OF fact FOR VALUES IN ({part}) SERVER {name} OPTIONS (table_name 'fact');
            CREATE FOREIGN TABLE stored_{name} PARTITION OF stored FOR VALUES IN ({part}) SERVER {name} OPTIONS (table_name 'stored', fetch_size '4');
            CREATE FOREIGN TABLE finished_{name} () INHERITS (finished) SERVER {name} OPTIONS (table_name 'finished');
            CREATE FOREIGN TABLE merged_{name} () INHERITS (merged) SERVER {name} OPTIONS (table_name 'merged');
            CREATE FOREIGN TABLE states_{name} () INHERITS (states) SERVER {name} OPTIONS (table_name 'states');
            ANALYZE fact_{name}; ANALYZE stored_{name}""",
        )
    psql(
        """CREATE FOREIGN TABLE estimated (id bigint, part integer, k bigint, day integer, t text)
            SERVER north OPTIONS (table_name 'fact', use_remote_estimate 'true')""",
        "VACUUM ANALYZE",
    )
    say(f"{ROWS:,} rows")


def connect(port):
    for name in ("north", "south"):
        psql(f"ALTER SERVER {name} OPTIONS (SET port '{port}')")


def settings(way):
    return ("SET jit = off", "SET max_parallel_workers_per_gather = 0", "SET work_mem = '512MB'", "LOAD 'cuckoofilter_join'", way.settings or "SELECT")


def answer(out):
    return out.strip().splitlines()[-1]


# In seconds: the processor time of the server that asks, and of all; and by the clock.
Run = collections.namedtuple("Run", "here all wall answer")


def run(server, way):
    before = server.used()
    out, err = psql(*settings(way), "SET log_statement_stats = on; SET client_min_messages = log", way.sql, errors=True)
    used = re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, ([0-9.]+) s elapsed", err)[-1]
    return Run(float(used[0]) + float(used[1]), server.used() - before, float(used[2]), answer(out))


def fetched(way):
    """The rows that foreign scans bring."""
    plan = psql(*settings(way), f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {way.sql}")
    return sum(int(rows) * int(loops) for rows, loops in re.findall(r"Foreign Scan[^(\n]*\(actual rows=(\d+)[.\d]* loops=(\d+)\)", plan))


def count_bytes(proxy, way):
    before = proxy.bytes
    psql(*settings(way), way.sql)
    return proxy.bytes - before


def hold(server, ways):
    """Runs of each way, in turns; ends the program where answers that must agree do not."""
    runs = collections.defaultdict(list)
    for _ in range(ROUNDS):
        agree = {}
        for way in ways:
            one = run(server, way)
            runs[way.name].append(one)
            if way.answer != "own" and agree.setdefault(way.answer, one.answer) != one.answer:
                sys.exit(f"{way.name}: {one.answer}, not {agree[way.answer]}")
            say(f"{way.name}: here {one.here:.3f}, all {one.all:.3f}, wall {one.wall:.3f}: {one.answer}")
    return runs


def main():
    fill()
    server = Server()
    constant = answer(psql("SELECT f FROM filters"))
    ways = {section: [way._replace(sql=way.sql.format(constant=constant)) for way in of] for section, (_, of) in SECTIONS.items()}
    runs = {section: hold(server, of) for section, of in ways.items()}
    proxy = Proxy()
    connect(proxy.port)
    rows = []
    for section, of in ways.items():
        for way in of:
            times = [statistics.median(getattr(one, field) for one in runs[section][way.name]) for field in ("here", "all", "wall")]
            rows.append((section, way.name, fetched(way), count_bytes(proxy, way), *(f"{time:.3f}" for time in times), runs[section][way.name][0].answer))
            say(f"{rows[-1]}")
    write(sys.argv[1], "servers.csv", ("section", "way", "rows", "bytes", "cpu here", "cpu all", "wall", "answer"), rows)


if __name__ == "__main__":
    main()
