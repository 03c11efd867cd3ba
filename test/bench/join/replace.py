#!/usr/bin/python3
"""Hash joins in place of nested loops over a BRIN index, in random queries: replace.py DIRECTORY

SEED=1 QUERIES=1000: each draws a query over one of several tables, which are drawn, too. If the plan
of auto has other joins than that of off, the query runs in both: the same rows, and what
processor time. One that takes more than 1.1 of off and 0.3 ms more is run again, RETRIES=5 times in
turns. After MINUTES=20 no table is begun. ONLY=3.12,5.1 runs these queries alone and prints their plans.
"""

import dataclasses
import os
import random
import re
import statistics
import subprocess
import sys
import time

from measure import MINUTES, QUICK, START, Server, psql, say, write

SEED = os.environ.get("SEED", "1")
QUERIES = int(os.environ.get("QUERIES", "40" if QUICK else "1000"))
RETRIES = int(os.environ.get("RETRIES", "5"))
ONLY = [name for name in os.environ.get("ONLY", "").split(",") if name]
PER_TABLE = 40
LOST = 1.1  # a query that takes more of off is slower,
LOST_MS = 0.3  # if it takes so much more
SLOWEST = 1000  # ms after which a query is stopped: it counts as that
MODES = ("off", "auto")

# The kinds of a key: its type, and the integer `g` as a value of it.
KINDS = {
    "int4": ("integer", "({g})::integer"),
    "int8": ("bigint", "({g})::bigint"),
    "date": ("date", "date '2020-01-01' + ({g})::integer"),
    "timestamp": ("timestamp", "timestamp '2020-01-01' + ({g}) * interval '1 hour'"),
    "numeric": ("numeric", "({g})::numeric"),
}
# Key kinds that are one operator family.
OTHER_WIDTH = {"int4": "int8", "int8": "int4", "date": "timestamp"}


# ------------------------------------------------------------------------------------ tables


@dataclasses.dataclass
class Table:
    """A fact and its dimensions, as drawn."""

    order: str
    rows: int
    keys: int
    kind: str
    indexes: tuple
    unsummarized: float
    dimension_kind: str
    unique: bool
    sql: list


def draw_table(number):
    pick = random.Random(f"{SEED} table {number}")
    scale = 0.25 if QUICK else 1
    pad = pick.choice((0, 0, 40, 200))
    rows = int(scale * pick.choice((500_000, 1_000_000, 1_500_000) if pad < 100 else (500_000,)))
    keys = pick.choice((60, 365, 1825, 5000, 20_000, 200_000))
    kind = pick.choice(("int4", "int4", "int8", "date", "timestamp", "numeric"))
    value = KINDS[kind][1]
    order = pick.choice(("clustered", "clustered", "late", "late", "anywhere", "anywhere", "shuffled", "blocks"))
    share = pick.choice((0.0001, 0.001, 0.01, 0.05, 0.2))
    day = f"(g * {keys}::bigint / {rows})"
    if order == "late":  # by up to a fiftieth of all keys
        drawn = f"CASE WHEN random() < {share} THEN greatest({day} - (random() * {max(keys // 50, 1)})::integer, 0) ELSE {day} END"
    elif order == "anywhere":  # of any key
        drawn = f"CASE WHEN random() < {share} THEN floor(random() * {keys})::integer ELSE {day} END"
    elif order == "shuffled":
        drawn = f"floor(random() * {keys})::integer"
    elif order == "blocks":  # ordered runs in no order
        drawn = f"((g / 10000 * 7919 % ({rows} / 10000) * 10000 + g % 10000) * {keys}::bigint / {rows})"
    else:
        drawn = day
    indexes = pick.choice((4 * (("brin",),) + 2 * (("brin", "btree"), ("multi",), ("two",)) + (("btree",), ())))
    pages = pick.choice((8, 32, 128, 128))
    unsummarized = pick.choice((0, 0, 0, 0.02, 0.3, 1)) if {"brin", "multi", "two"} & set(indexes) else 0
    operators = {"timestamp": "timestamp", "numeric": "numeric"}.get(kind, kind)
    made = {
        "brin": f"CREATE INDEX fact_brin ON fact USING brin (day) WITH (pages_per_range = {pages})",
        "multi": f"CREATE INDEX fact_brin ON fact USING brin (day {operators}_minmax_multi_ops) WITH (pages_per_range = {pages})",
        "two": f"CREATE INDEX fact_brin ON fact USING brin (day, other) WITH (pages_per_range = {pages})",
        "btree": "CREATE INDEX fact_btree ON fact (day)",
    }
    fill = f"INSERT INTO fact SELECT g, {value.format(g='day')}, other, floor(random() * 5000)::integer, repeat('x', {pad}) FROM (SELECT g, {drawn} AS day, floor(random() * 100)::integer AS other FROM generate_series({{}}, {{}}) g) s"
    first = int(rows * (1 - unsummarized))
    dimension_kind = OTHER_WIDTH.get(kind, kind) if pick.random() < 0.2 else kind
    extra = pick.choice((0, 0, keys // 10))  # keys that no row has
    unique = pick.random() < 0.6
    sql = [
        f"SELECT setseed({pick.random()})",
        "DROP TABLE IF EXISTS fact, dim, cust",
        f"CREATE UNLOGGED TABLE fact (id integer, day {KINDS[kind][0]}, other integer, cust integer, pad text)",
        *([fill.format(0, first - 1)] if first > 0 else []),
        "VACUUM fact",
        *(made[index] for index in indexes),
        *([fill.format(first, rows - 1)] if first < rows else []),
        f"CREATE UNLOGGED TABLE dim AS SELECT g AS n, {KINDS[dimension_kind][1].format(g='g')} AS day, g / 30 AS month, g % 7 AS week, g % 100 AS other, random() AS r FROM generate_series(0, {keys + extra - 1}) g ORDER BY {pick.choice(('g', 'random()'))}",
        f"CREATE {'UNIQUE ' if unique else ''}INDEX ON dim (day)" if unique or pick.random() < 0.5 else "SELECT",
        "CREATE UNLOGGED TABLE cust AS SELECT g AS cust, g % 50 AS class FROM generate_series(0, 4999) g",
        "CREATE UNIQUE INDEX ON cust (cust)",
        "ANALYZE fact, dim, cust",
        "SELECT count(*) FROM fact",  # hint bits
    ]
    return Table(f"{order}{f' {share}' if order in ('late', 'anywhere') else ''}", rows, keys, kind, indexes, unsummarized, dimension_kind, unique, sql)


# ------------------------------------------------------------------------------------ queries


@dataclasses.dataclass
class Query:
    name: str
    sql: str
    settings: list
    workers: int
    shape: str


def draw_keys(pick, keys):
    """A condition of the dimension that is true for some keys; what they are."""
    wanted = min(pick.choice((0, 1, 1, 3, 10, 30, 30, 100, 300, 1000, 5000)), keys)
    form = pick.choice(("run", "run", "run", "runs", "modulo", "random"))
    start = pick.randrange(max(keys - wanted, 1))
    if form == "run":
        return f"n >= {start} AND n < {start + wanted}", f"{wanted} in a run"
    if form == "runs":
        starts = [pick.randrange(keys) for _ in range(pick.choice((2, 5, 20)))]
        each = max(wanted // len(starts), 1)
        return "(" + " OR ".join(f"n BETWEEN {one} AND {one + each - 1}" for one in starts) + ")", f"{len(starts)} runs of {each}"
    if form == "modulo":
        step = max(keys // max(wanted, 1), 1)
        return f"n % {step} = {pick.randrange(step)}", f"{keys // step} evenly"
    return f"r < {wanted / keys}", f"{wanted} at random"


def draw_estimate(pick, keys, condition):
    """The same condition in another form, by which the planner expects 0.01 to 100 times as many keys."""
    form = pick.choice(("known", "known", "thirds", "thirds", "half a percent", "many"))
    if form == "known":
        return condition, form
    hidden = f"(({condition}) IS TRUE) = (n IS NOT NULL)"  # thought to be true for half of all
    if form == "thirds":
        times = pick.randrange(1, 8)
        return " AND ".join([hidden] + times * ["n + 0 >= 0"]), f"a third {times} times"
    if form == "half a percent":
        return f"{hidden} AND n - n = 0", form
    return hidden, form


FACT_CONDITIONS = ("", "", "", "f.other < 50", "f.other = 7", "f.other < 3", "f.id > {late}", "f.cust % 10 = 3", "f.other = f.cust % 100", "f.pad IS NOT NULL")


def draw_query(table, number, n):
    pick = random.Random(f"{SEED} query {number} {n}")
    condition, keys = draw_keys(pick, table.keys)
    condition, estimate = draw_estimate(pick, table.keys, condition)
    fact = pick.choice(FACT_CONDITIONS).format(late=int(table.rows * pick.choice((0.3, 0.8, 0.99))))
    second = pick.choice(("", "", "", "", "cust", "cust class", "dim again", "other"))
    join = {
        "": "",
        "cust": "JOIN cust c ON c.cust = f.cust",
        "cust class": "JOIN cust c ON c.cust = f.cust AND c.class = 3",
        "dim again": f"JOIN dim e ON e.day = f.day AND e.week = {pick.randrange(7)}",
        "other": "",
    }[second]
    on = "d.day = f.day" + (" AND d.other = f.other" if second == "other" else "")
    form = pick.choice(("join", "join", "join", "exists", "in"))
    d = f"(SELECT * FROM dim WHERE {condition}) d"
    where = [fact] if fact else []
    if form == "join":
        rest = f"FROM fact f JOIN {d} ON {on} {join}"
    elif form == "exists":
        rest = f"FROM fact f {join}"
        where.append(f"EXISTS (SELECT FROM {d} WHERE {on})")
    else:
        rest = f"FROM fact f {join}"
        where.append(f"f.day IN (SELECT day FROM {d})")
        second = "" if second == "other" else second
    rest += f" WHERE {' AND '.join(where)}" if where else ""
    end = pick.choice(("sum", "sum", "sum", "group", "order", "limit", "limit", "order limit"))
    limit = pick.choice((1, 10, 100, 1000, 10_000))
    sql = {
        "sum": f"SELECT count(*), sum(f.id::bigint) {rest}",
        "group": f"SELECT count(*), sum(n * m), max(day) FROM (SELECT f.day, count(*) AS n, max(f.id) AS m {rest} GROUP BY f.day) s",
        "order": f"SELECT count(*), min(id), max(id) FROM (SELECT f.id {rest} ORDER BY f.pad, f.id OFFSET 0) s",
        "limit": f"SELECT count(*) FROM (SELECT f.id {rest} LIMIT {limit}) s",
        "order limit": f"SELECT count(*), sum(id::bigint) FROM (SELECT f.id {rest} ORDER BY f.id LIMIT {limit}) s",
    }[end]
    workers = pick.choice((0, 0, 2))
    cost = pick.choice((1.1, 1.1, 4))
    settings = [f"SET max_parallel_workers_per_gather = {workers}", f"SET random_page_cost = {cost}", f"SET work_mem = '{pick.choice((4, 64))}MB'"]
    if workers > 0:
        settings += ["SET min_parallel_table_scan_size = 0", "SET parallel_setup_cost = 100"]
    shape = (
        f"{table.order} rows, {table.kind}"
        f"{' = ' + table.dimension_kind if table.dimension_kind != table.kind else ''}, {' and '.join(table.indexes) or 'no'} index"
        f"{f', {table.unsummarized:.0%} not summarized' if table.unsummarized else ''}; {keys} of {table.keys} keys, estimate: {estimate}; {form}"
        f"{', second join: ' + second if second else ''}{', ' + fact if fact else ''}; {end}{f' {limit}' if 'limit' in end else ''}; {workers} workers, random_page_cost {cost}"
    )
    return Query(f"{number}.{n}", sql, settings, workers, shape)


# ------------------------------------------------------------------------------------ runs


@dataclasses.dataclass
class Ran:
    cpu: float  # ms
    answer: str


def joins(plan):
    """The joins of a plan, from the top.  A filter adds none."""
    return re.findall(r"^(?: *->  )?(?:Parallel )?(Nested Loop|Hash|Merge)(?: \w+)*(?: Join)?$", plan, re.MULTILINE)


def ticks(text):
    """The processor time of a process and the children that have ended, of /proc/PID/stat, in ms."""
    fields = text.rsplit(")", 1)[1].split()
    return 1000 * (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def run(server, query, turns, repeat=1, workers=False):
    """One session runs the query in these modes, in turns.  Returns the plan of each mode, and what each run took."""
    stat = [f"\\set stat `sleep 0.02; cat /proc/{server.pid}/stat`", "\\echo stat :stat"] if workers else []
    commands = ["\\set ON_ERROR_STOP off", *query.settings, "LOAD 'cuckoofilter_join'", f"SET statement_timeout = {SLOWEST}"]
    for mode in MODES:
        commands += [f"SET cuckoofilter.join_filter = {mode}", "\\echo == plan", f"EXPLAIN (COSTS OFF) {query.sql}"]
    commands += ["SET client_min_messages = log"]
    for mode in turns:
        commands += ["SET log_statement_stats = off", f"SET cuckoofilter.join_filter = {mode}", "SET log_statement_stats = on", "\\warn == run", "\\echo == run", *stat, *(repeat * [query.sql]), "\\warn == end", *stat, "\\echo == end"]
    out, err = psql(*commands, errors=True)
    plans, *texts = out.split("== run\n")
    runs = []
    for text, said in zip(texts, err.split("== run\n")[1:]):
        said = said.split("== end")[0]
        lines = text.split("== end")[0].splitlines()
        cpu = [1000 * (float(user) + float(system)) for user, system in re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, ", said)]
        stats = [ticks(line) for line in lines if line.startswith("stat ")]
        answers = {line for line in lines if not line.startswith("stat ")}
        if "canceling statement" in said:
            runs.append(Ran(SLOWEST, None))
        elif "ERROR" in said or len(answers) != 1 or len(cpu) != repeat:
            sys.exit(f"{query.name} {query.sql}\n{text}\n{said}")
        else:
            runs.append(Ran(statistics.mean(cpu) + ((stats[1] - stats[0]) / repeat if workers else 0), answers.pop()))
    return dict(zip(MODES, plans.split("== plan\n")[1:])), runs


def contest(server, query):
    """The processor time of both modes in ms, and how often each was run; 0: their plans agree."""
    plans = run(server, query, ())[0]
    if joins(plans["off"]) == joins(plans["auto"]):
        return {}, 0
    turns = MODES
    runs = run(server, query, ("auto", *turns))[1][1:]  # the first run of a session reads the catalogs
    repeat, workers = 1, any("Gather" in plan for plan in plans.values())
    answers = {ran.answer for ran in runs if ran.answer is not None}
    if len(answers) > 1:
        sys.exit(f"{query.name}: answers differ: {answers}\n{query.settings}\n{query.sql}")
    if workers:  # the time of a worker is known in hundredths of a second
        repeat = max(1, min(10, int(150 / min(ran.cpu for ran in runs))))
        runs = run(server, query, turns, repeat, True)[1]
    cpu = {mode: ran.cpu for mode, ran in zip(turns, runs)}
    if not is_lost(cpu):
        return cpu, 1
    turns = RETRIES * ("off", "auto", "auto", "off")
    runs = run(server, query, turns, repeat, workers)[1]
    return {mode: statistics.median(ran.cpu for ran, of in zip(runs, turns) if of == mode) for mode in MODES}, 2 * RETRIES


def is_lost(cpu):
    return cpu["auto"] > LOST * cpu["off"] and cpu["auto"] > cpu["off"] + LOST_MS


def show(server, query):
    print(f"-- {query.name}: {query.shape}\n{'; '.join(query.settings)};\n{query.sql};")
    for mode in MODES:
        print(psql(*query.settings, "LOAD 'cuckoofilter_join'", f"SET cuckoofilter.join_filter = {mode}", f"EXPLAIN (ANALYZE, TIMING OFF) {query.sql}"))
    print(contest(server, query))


def main():
    print(f"SEED={SEED} QUERIES={QUERIES}", file=sys.stderr)
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    server = Server()
    rows = []
    for number in range(-(-QUERIES // PER_TABLE)):
        names = [f"{number}.{n}" for n in range(min(PER_TABLE, QUERIES - number * PER_TABLE))]
        if ONLY and not set(ONLY) & set(names):
            continue
        if time.monotonic() - START > MINUTES * 60:
            break
        table = draw_table(number)
        psql(*table.sql)
        say(f"table {number}: {table.rows:,} rows, {table.keys} keys, {table.order}, {table.indexes}, {table.unsummarized} not summarized")
        for n in range(len(names)):
            query = draw_query(table, number, n)
            if ONLY:
                if query.name in ONLY:
                    show(server, query)
                continue
            cpu, times = contest(server, query)
            lost = times > 0 and is_lost(cpu)
            rows.append((query.name, *(f"{cpu[mode]:.3f}" if cpu else "" for mode in MODES), times, int(lost), query.shape))
            if lost:
                say(f"{query.name} slower: {cpu} {query.shape}")
        say(f"{sum(row[3] > 0 for row in rows)} of {len(rows)} differ, {sum(row[4] for row in rows)} slower")
        if not ONLY:
            write(sys.argv[1], "replace.csv", ("query", *MODES, "runs", "lost", "shape"), rows)


if __name__ == "__main__":
    main()
