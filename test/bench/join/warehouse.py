#!/usr/bin/python3
"""Queries over the warehouse, as PostgreSQL plans them: off, auto and on: warehouse.py DIRECTORY

Schema, data and queries are in warehouse/, written here: in the form of the stars of SSB, the orders and
lines of TPC-H, the large dimensions and snowflakes of TPC-DS. About half of the plans have nested loops.
"""

import collections
import os
import re
import statistics
import sys

from measure import ROUNDS, SCALE, psql, say, write

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warehouse")
SALES = max(int(2_000_000 * SCALE), 20_000)
MODES = ("off", "auto", "on")
# A table that fits the memory is read by its indexes as PostgreSQL's manual advises.
SETTINGS = f"""
    SET search_path = warehouse, public; SET random_page_cost = 1.1; SET work_mem = '64MB'; SET max_parallel_workers_per_gather = 0;
    SET cuckoofilter.join_filter_min_rows = {min(100_000, SALES // 20)}"""
COUNTERS = ("built", "given_up", "suspended", "rows_tested", "rows_removed", "partitions_skipped", "nested_loops")

# A fault: a query of more than 10 ms that gets slower by more than 5 % in auto.
LEAST = 0.010
MOST = 1.05

Asked = collections.namedtuple("Asked", "name title sql")


def read(name):
    with open(os.path.join(FILES, name), encoding="ascii") as file:
        return file.read()


def queries():
    parts = re.split(r"^-- (\w+): (.*)\n", read("queries.sql"), flags=re.MULTILINE)[1:]
    return [Asked(*each) for each in zip(parts[0::3], parts[1::3], (sql.strip().rstrip(";") for sql in parts[2::3]))]


def fill():
    psql(f"\\set n {SALES}", read("schema.sql"))
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    say(f"{SALES:,} sales")


def run(query, turn):
    """The processor time of a query in each mode, in one session whose caches know its tables; and its answers."""
    commands = ["LOAD 'cuckoofilter_join'", SETTINGS, "SET client_min_messages = log", "\\o /dev/null", f"EXPLAIN {query.sql}", "\\o"]
    for mode in turn:
        commands += [f"SET cuckoofilter.join_filter = {mode}", "\\echo ==", "SET log_statement_stats = on", query.sql, "SET log_statement_stats = off"]
    out, err = psql(*commands, errors=True)
    used = re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, [0-9.]+ s elapsed", err)[0::2]  # SET logs itself, too
    answers = dict(zip(turn, out.split("==\n")[1:]))
    if len(set(answers.values())) != 1:
        sys.exit(f"{query.name}: answers differ: {answers}")
    return {mode: float(user) + float(system) for mode, (user, system) in zip(turn, used)}


def measure(asked, runs, rounds):
    for n in range(rounds):
        for query in asked:
            turn = MODES[n % 3 :] + MODES[: n % 3]
            for mode, seconds in run(query, turn).items():
                runs[query.name, mode].append(seconds)
        say(f"round {n + 1} of {rounds}, {len(asked)} queries")


def nested(query):
    """How many nested loops its plan has without filters."""
    return psql("LOAD 'cuckoofilter_join'", SETTINGS, "SET cuckoofilter.join_filter = off", f"EXPLAIN {query.sql}").count("Nested Loop")


def counters(query, settings=SETTINGS):
    """What its filters did in auto."""
    commands = ["LOAD 'cuckoofilter_join'", settings, "SELECT cuckoofilter_join_stats_reset()", "SET cuckoofilter.join_filter = auto", "\\o /dev/null", query.sql, "\\o"]
    out = psql(*commands, f"SELECT {', '.join(COUNTERS)} FROM cuckoofilter_join_stats WHERE database = current_database()")
    return out.split()[-1].split("|")


def main():
    asked = queries()
    fill()
    runs = collections.defaultdict(list)
    for query in asked:
        run(query, ("off",))  # reads the tables
    measure(asked, runs, ROUNDS)

    def median(query, mode):
        return statistics.median(runs[query.name, mode])

    def slower(query):
        return median(query, "off") > LEAST and median(query, "auto") > MOST * median(query, "off")

    # what chance made slower does not stay slower
    measure([query for query in asked if slower(query)], runs, 2 * ROUNDS if ROUNDS > 1 else 0)
    rows = []
    for query in asked:
        cpu = [f"{median(query, mode):.4f}" for mode in MODES]
        rows.append((query.name, query.title, len(runs[query.name, "off"]), *cpu, nested(query), *counters(query), int(slower(query))))
    head = ("query", "title", "runs", *(f"cpu {mode}" for mode in MODES), "nested loops in the plan", *COUNTERS, "fault")
    write(sys.argv[1], "warehouse.csv", head, rows)
    say(f"{len(asked)} queries, {sum(1 for row in rows if row[6] > 0)} with nested loops in PostgreSQL's plan")
    worst = max(asked, key=lambda query: median(query, "auto") / median(query, "off") if median(query, "off") > LEAST else 0)
    say(f"worst in auto: {worst.name}, {median(worst, 'auto') / median(worst, 'off'):.3f}")
    for query in filter(slower, asked):
        say(f"FAULT: {query.name}, {query.title}: {median(query, 'auto') / median(query, 'off'):.3f}")


if __name__ == "__main__":
    main()
