#!/usr/bin/python3
"""Queries derived from TPC-H, TPC-DS and the Star Schema Benchmark, off and auto:
TPCH=dir TPCDS=dir SSB=dir tpc.py [FORM...]

The three names say where the kits are. They may not be passed on, so nothing of them is here: tables and queries are
read from the kit. The Star Schema Benchmark's kits have neither, so they are written here, by its paper.
SCALE=1, ROUNDS=3; TIMEOUT=60 seconds of a query; MINUTES=20: no query of a form is started after that;
WAYS="0,4 2,1.1": workers and random_page_cost. What was loaded and measured stays in build/bench-tpc/SCALE: a run keeps
what others found in other ways, with the same ROUNDS and TIMEOUT, and the page keeps its sections of forms of which
nothing is there. QUERIES="7 76": only these are run, and what is there of others stays; one that was above MOST is run
AGAIN times again. To build the generator of TPC-DS's queries takes flex and bison.
"""

import atexit
import collections
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import textwrap
import time

from kits import BUILD, HERE, ROOT, SCALE, aliased, kit, kit_queries, load, read, run
from measure import MINUTES, psql, say

ROUNDS = int(os.environ.get("ROUNDS", "3"))
TIMEOUT = float(os.environ.get("TIMEOUT", "60"))
PAGE = os.path.join(ROOT, "test/bench/join/results/TPC.md" if SCALE >= 1 else "build/bench-tpc.md")
# max_parallel_workers_per_gather and random_page_cost
WAYS = [(int(way.split(",")[0]), float(way.split(",")[1])) for way in os.environ.get("WAYS", "0,4 2,4 0,1.1 2,1.1").split()]
QUERIES = os.environ.get("QUERIES", "").split()
MODES = ("off", "auto")
MOST = 1.05  # what is slower is run again, AGAIN times in each mode
AGAIN = 7


# ---------------------------------------------------------------------------
# The forms: a kit's tables and queries, as they are or changed
# ---------------------------------------------------------------------------

MONTHS = [year * 10000 + month * 100 + 1 for year in range(1992, 1999) for month in range(1, 13)]
Form = collections.namedtuple("Form", "kit title base change", defaults=("", ""))
FORMS = {
    "ssb": Form("SSB", "Derived from the Star Schema Benchmark"),
    "ssb_sorted": Form(
        "SSB",
        "The Star Schema Benchmark, its fact in the order of the date, with a BRIN index on it",
        "ssb",
        "CREATE TABLE fact AS SELECT * FROM lineorder ORDER BY lo_orderdate; DROP TABLE lineorder;"
        "ALTER TABLE fact RENAME TO lineorder; CREATE INDEX ON lineorder USING brin (lo_orderdate)",
    ),
    "ssb_months": Form(
        "SSB",
        "The Star Schema Benchmark, its fact in 84 partitions, one a month",
        "ssb",
        "ALTER TABLE lineorder RENAME TO fact; CREATE TABLE lineorder (LIKE fact) PARTITION BY RANGE (lo_orderdate);"
        + "".join(f"CREATE TABLE month_{m} PARTITION OF lineorder FOR VALUES FROM ({m}) TO ({n});" for m, n in zip(MONTHS, MONTHS[1:] + [19990101]))
        + "INSERT INTO lineorder SELECT * FROM fact; DROP TABLE fact",
    ),
    "tpch": Form("TPCH", "Derived from TPC-H"),
    "tpcds": Form("TPCDS", "Derived from TPC-DS"),
    "tpcds_brin": Form(
        "TPCDS",
        "Derived from TPC-DS, with BRIN indexes on the date keys of the facts",
        "tpcds",
        r"""DO $$ DECLARE c record; BEGIN
            FOR c IN SELECT attrelid::regclass t, attname a FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                WHERE relkind = 'r' AND relnatts > 3 AND attname ~ '(sold|returned|^inv)_date_sk$'
            LOOP EXECUTE format('CREATE INDEX ON %s USING brin (%I)', c.t, c.a); END LOOP; END $$""",
    ),
}

# ---------------------------------------------------------------------------
# The server
# ---------------------------------------------------------------------------


def start():
    """The server of PG_CONFIG with the libraries of this tree: the number of its postmaster."""
    config = os.environ.get("PG_CONFIG", "pg_config")
    stage = os.path.join(BUILD, "stage")
    run("make", "-s", "install", f"DESTDIR={stage}", cwd=ROOT)
    bin_ = run(config, "--bindir").strip()
    data = os.path.join(HERE, "server")
    become = ("runuser", "-u", "postgres", "--") if os.getuid() == 0 else ()
    if not os.path.exists(f"{data}/PG_VERSION"):
        os.makedirs(data, exist_ok=True)
        if become:
            shutil.chown(data, "postgres")
        run(*become, f"{bin_}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", cwd="/")
    with open(f"{data}/postgresql.auto.conf", "w", encoding="ascii") as file:
        file.write(run(f"{ROOT}/test/pg/staged.sh", stage))
        file.write(f"shared_preload_libraries = 'cuckoofilter_join'\nlisten_addresses = ''\nunix_socket_directories = '{data}'\n")
        file.write("shared_buffers = '1GB'\nmax_wal_size = '8GB'\nwal_level = minimal\nmax_wal_senders = 0\nfsync = off\nautovacuum = off\njit = off\n")
    os.environ.update(PGHOST=data, PGUSER="postgres", PGDATABASE="postgres")
    os.environ.pop("PGPORT", None)
    run(*become, f"{bin_}/pg_ctl", "-w", "-D", data, "-l", f"{data}/log", "start", cwd="/")
    atexit.register(run, *become, f"{bin_}/pg_ctl", "-w", "-m", "fast", "-D", data, "stop", cwd="/")
    return int(read(data, "postmaster.pid").split()[0])


def databases():
    return psql("SELECT datname FROM pg_database").split()


def ready(name):
    """The database of a form is there."""
    form = FORMS[name]
    if name in databases():
        return
    if form.base:
        ready(form.base)
    psql("DROP DATABASE IF EXISTS loading")
    psql(f"CREATE DATABASE loading {'TEMPLATE ' + form.base if form.base else ''}")
    if form.base:
        psql(*form.change.split(";") if "$$" not in form.change else [form.change], "VACUUM ANALYZE", database="loading")
    else:
        load(form.kit, kit(form.kit), "loading")
    psql(f"ALTER DATABASE loading RENAME TO {name}")
    say(f"{name}: loaded")


# ---------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------


def session(database, commands):
    """One that ends at the first error: its output, and its messages."""
    text = "".join(one + ("\n" if one.startswith("\\") else ";\n") for one in commands)
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"], input=text, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def settings(query, workers, cost):
    return [*query.setup, f"SET max_parallel_workers_per_gather = {workers}", f"SET random_page_cost = {cost}", "SET work_mem = '64MB'"]


def least(way):
    """Seconds: what takes less is too short for a ratio, as workers are counted in ticks of 10 ms."""
    return 0.100 if way[0] else 0.010


def understood(database, query):
    """The query as PostgreSQL parses it, and why it does not."""

    def error(sql):
        return session(database, [*query.setup, f"EXPLAIN {sql}"])[1]

    first = error(query.sql)
    if "must have an alias" in first:
        query = query._replace(sql=aliased(query.sql))
        first = error(query.sql)
    last = query.sql.lower().rfind("order by")
    # ORDER BY has no names of results in expressions
    outer = query._replace(sql=f"SELECT * FROM ({query.sql[:last]}) q {query.sql[last:]}")
    if not first or last > 0 and not error(outer.sql):
        return (outer if first else query), ""
    return query, re.sub(r'"[^"]*"|column \S+', "a column", re.search("ERROR: *(.*)", first)[1])


def rows(text):
    """Rows in no order; numbers to twelve digits."""
    return sorted(re.sub(r"-?\d+\.\d+(e[-+]\d+)?", lambda found: f"{float(found[0]):.12g}", line) for line in text.splitlines())


def measure(database, postmaster, query, way, rounds):
    """Runs of both modes in turns, in one session, whose caches know the tables: what they took, and their rows."""
    workers = f"SELECT '@@ ' || split_part(pg_read_file('/proc/{postmaster}/stat'), ')', 2)"  # of processes that have ended
    script = [*settings(query, *way), f"SET statement_timeout = '{TIMEOUT}s'", "SET client_min_messages = log", f"EXPLAIN {query.sql}", "\\echo", "\\echo @@ begin"]
    # the first run, which is not counted, is the first to touch the server's memory
    turns = ["off"] + [mode for n in range(rounds) for mode in (MODES if n % 2 == 0 else MODES[::-1])]
    for mode in turns:
        script += [f"SET cuckoofilter.join_filter = {mode}", f"EXPLAIN (SUMMARY) {query.sql}", workers]
        script += ["SET log_statement_stats = on", f"\\warn @@ {mode}", query.sql, "SET log_statement_stats = off", workers, "\\echo @@ end"]
    out, err = session(database, script)
    took = {mode: {"cpu": [], "plan": [], "rows": None} for mode in MODES}
    backend = [re.findall(r"([0-9.]+) s user, ([0-9.]+) s system, [0-9.]+ s elapsed", part) for part in err.split("@@ ")[1:]]
    parts = out.split("@@ begin\n", 1)[-1].split("@@ end\n")[:-1] if "@@ begin" in out else []
    for n, (mode, part) in enumerate(zip(turns, parts)):
        plan, before, answer, after, _ = re.split(r"^@@ (.*)\n", part, flags=re.MULTILINE)[:5]
        ticks = [sum(map(int, clock.split()[13:15])) for clock in (before, after)]
        if n == 0:
            continue
        took[mode]["cpu"].append(sum(map(float, backend[n][0])) + (ticks[1] - ticks[0]) / os.sysconf("SC_CLK_TCK"))
        took[mode]["plan"].append(float(re.search(r"Planning Time: ([0-9.]+)", plan)[1]))
        took[mode]["rows"] = rows(answer)
    failed = turns[len(parts)] if len(parts) < len(turns) else ""
    return took, failed, "timeout" if "statement timeout" in err else err[-500:] if failed else ""


def what_filters_did(database, query, way):
    out, _ = session(database, [*settings(query, *way), "SET cuckoofilter.join_filter = auto", f"EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {query.sql}"])
    words = "Filter Keys|Rows Tested|Rows Passed Untested|Given Up|Blocks Skipped|Partitions Skipped|Lookups Skipped"
    found = [re.sub(r" by \S+|  +Memory: \S+", "", line.strip()) for line in out.splitlines() if re.search(words, line)]
    return "; ".join(found) or "no filter"


def judge(name, postmaster, query, way, first):
    """A query in one way: what is kept of it.  first: the ratio above MOST of an earlier run, or nothing."""
    result = {"query": query.name, "way": way, "load": os.getloadavg()[0]}
    took, failed, why = measure(name, postmaster, query, way, ROUNDS)
    if failed:
        return {**result, "failed": failed, "why": why}

    def ratio():
        return statistics.median(took["auto"]["cpu"]) / statistics.median(took["off"]["cpu"])

    if (first or ratio() > MOST) and statistics.median(took["off"]["cpu"]) > least(way):
        result["first"] = first or ratio()
        again, failed, _ = measure(name, postmaster, query, way, AGAIN)
        took = took if failed else again
        result["did"] = what_filters_did(name, query, way)
    result["same"] = took["off"]["rows"] == took["auto"]["rows"]
    result["rows"] = len(took["off"]["rows"])
    if not result["same"] and re.search(r"\blimit\s+\d+$", query.sql, re.IGNORECASE):
        # which of the equal rows come first is not defined: all of them are compared
        whole, failed, _ = measure(name, postmaster, query._replace(sql=re.sub(r"\blimit\s+\d+$", "", query.sql, flags=re.IGNORECASE)), way, 1)
        result["same"] = not failed and whole["off"]["rows"] == whole["auto"]["rows"]
    for mode in MODES:
        result[mode] = statistics.median(took[mode]["cpu"])
        result[f"plan {mode}"] = statistics.median(took[mode]["plan"])
    return result


def found_before(name):
    """What is there of a form."""
    if not os.path.exists(f"{HERE}/{name}.json"):
        return {}
    with open(f"{HERE}/{name}.json", encoding="ascii") as file:
        return json.load(file)


def late(kept):
    """Queries and costs: what does not end in one process is not tried in three."""
    return {(one["query"], one["way"][1]) for one in kept["results"] if one.get("failed") == "off" and one["why"] == "timeout"}


def contest(name, postmaster):
    form = FORMS[name]
    queries = kit_queries(form.kit, kit(form.kit))
    kept = {"version": run("make", "-s", "version", cwd=ROOT).strip(), "scale": max(1, round(SCALE)) if form.kit == "TPCDS" else SCALE, "rounds": ROUNDS, "timeout": TIMEOUT, "queries": [query.name for query in queries]}
    before = found_before(name)
    if any(before.get(what) != kept[what] for what in kept):
        if QUERIES and before:
            sys.exit(f"{name}: what is there of it was found with other settings")
        before = {"results": []}
    kept |= {"skipped": before.get("skipped", {}), "results": [one for one in before["results"] if QUERIES or tuple(one["way"]) not in WAYS]}
    begin = time.monotonic()
    for query in queries:
        if time.monotonic() - begin > MINUTES * 60:
            break
        if QUERIES and query.name not in QUERIES:
            continue
        query, why = understood(name, query)
        if why:
            kept["skipped"][query.name] = why
            continue
        again = [one for one in kept["results"] if one["query"] == query.name and tuple(one["way"]) in WAYS]
        first = {tuple(one["way"]): one.get("first") for one in again}
        kept["results"] = [one for one in kept["results"] if one not in again]
        for way in WAYS:
            if (query.name, way[1]) in late(kept):
                continue
            result = judge(name, postmaster, query, way, first.get(way))
            kept["results"].append(result)
            say(f"{name} {query.name} {way}: " + (f"{result['off']:.3f} {result['auto']:.3f} {result['auto'] / result['off']:.2f}" if "off" in result else f"{result['failed']}: {result['why']}"))
        kept["results"].sort(key=lambda one: kept["queries"].index(one["query"]))
        with open(f"{HERE}/{name}.json", "w", encoding="ascii") as file:
            json.dump(kept, file, indent=1)


# ---------------------------------------------------------------------------
# The page
# ---------------------------------------------------------------------------


def line(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def prose(text):
    return textwrap.fill(text, 100, subsequent_indent="  " if text.startswith("- ") else "", break_long_words=False, break_on_hyphens=False)


def named(way):
    return f"{'two workers' if way[0] else 'one process'}, {way[1]:g}"


def not_run(kept):
    """The queries that lack of time left out, and in which ways."""
    ways = dict.fromkeys(tuple(one["way"]) for one in kept["results"])
    done = {(one["query"], *one["way"]) for one in kept["results"]}
    for query in kept["queries"]:
        left = [way for way in ways if (query, *way) not in done and (query, way[1]) not in late(kept)]
        if left and query not in kept["skipped"]:
            yield query + (f" ({'; '.join(map(named, left))})" if len(left) < len(ways) else "")


def section(name):
    kept = found_before(name)
    loads = [one["load"] for one in kept["results"]]
    yield f"## {FORMS[name].title}\n"
    yield f"Version {kept['version']}, scale factor {kept['scale']:g}, {'medians of ' + str(kept['rounds']) + ' runs' if kept['rounds'] > 1 else 'one run'} in each mode, timeout {kept['timeout']:g} s by the clock, load {min(loads):.0f} to {max(loads):.0f}.\n"
    yield line("processes, `random_page_cost`", "queries", "timeouts in off", "geometric mean", "sum, off, s", "sum, auto, s", "auto : off", "planning, off, ms", "planning, auto, ms", "rows compared")
    yield "|" + "---|" * 10
    best, worst, lost = [], [], []
    for way in dict.fromkeys(tuple(one["way"]) for one in kept["results"]):
        of = [one for one in kept["results"] if tuple(one["way"]) == way]
        done = [one for one in of if "off" in one]
        if not done:
            continue
        long = sorted((one for one in done if one["off"] > least(way)), key=lambda one: one["auto"] / one["off"])
        total = {mode: sum(one[mode] for one in done) for mode in MODES}
        mean = f"**{statistics.geometric_mean(one['auto'] / one['off'] for one in long):.3f}**" if long else ""
        plans = (f"{sum(one[f'plan {mode}'] for one in done):.1f}" for mode in MODES)
        off = sum(1 for one in of if one.get("failed") == "off" and one["why"] == "timeout")
        yield line(named(way), len(done), off, mean, f"{total['off']:.2f}", f"{total['auto']:.2f}", f"**{total['auto'] / total['off']:.3f}**", *plans, f"{sum(one['rows'] for one in done):,}")
        show = lambda some: ", ".join(f"{one['query']}: {one['auto'] / one['off']:.2f}" for one in some)
        best.append(f"- {named(way)}: {show(long[:5])}")
        worst.append(f"- {named(way)}: {show(long[:-6:-1])}")
        lost += [f"{one['query']} ({named(way)})" for one in done if not one["same"]]
    yield "\nThe five best (`auto` : off):\n\n" + "\n".join(best)
    yield "\nThe five worst:\n\n" + "\n".join(worst) + "\n"
    slow = [one for one in kept["results"] if "first" in one and one["off"] > least(one["way"])]
    if slow:
        yield f"Above {MOST} at first, and run {AGAIN} times again, which counts:\n"
        yield line("query", "processes, `random_page_cost`", "off, ms", "first", "again", "filters in auto") + "\n|" + "---|" * 6
        for one in slow:
            yield line(one["query"], named(one["way"]), f"{one['off'] * 1000:.0f}", f"{one['first']:.2f}", f"**{one['auto'] / one['off']:.2f}**", one["did"])
        yield ""
    yield prose(f"- Rows that differ: {', '.join(lost) or 'none'}.")
    for title, mode, timeout in (("Timed out in off", "off", True), ("Timed out in auto only", "auto", True), ("Failed", "off", False), ("Failed in auto only", "auto", False)):
        found = collections.defaultdict(list)
        for one in kept["results"]:
            if one.get("failed") == mode and (one["why"] == "timeout") == timeout:
                found[one["query"]].append(f"{one['way'][1]:g}" if timeout and mode == "off" else named(one["way"]))
        if found:
            yield prose(f"- {title}: " + ", ".join(f"{query} ({'; '.join(ways)})" for query, ways in found.items()) + ".")
    if kept["skipped"]:
        yield prose("- Skipped, as PostgreSQL does not parse them: " + "; ".join(f"{query}: {why}" for query, why in kept["skipped"].items()) + ".")
    left = ", ".join(not_run(kept))
    if left:
        yield prose(f"- Not run, for lack of time: {left}.")
    yield ""


EARLIER = "Of an earlier run."


def section_before(name):
    """That of the page as it is, marked once."""
    found = re.search(rf"^(## {re.escape(FORMS[name].title)}\n\n)({EARLIER} )?(.*?)(?=\n## |\Z)", read(PAGE), re.MULTILINE | re.DOTALL) if os.path.exists(PAGE) else None
    return f"{found[1]}{EARLIER} {found[3]}" if found else ""


def page():
    model = re.search("model name\\s*: (.*)", read("/proc/cpuinfo"))
    version = run(os.environ.get("PG_CONFIG", "pg_config"), "--version").split(" (")[0].strip()
    parts = {name: "\n".join(section(name)) if found_before(name) else section_before(name) for name in FORMS}
    missing = [FORMS[name].title for name, part in parts.items() if not part]
    with open(PAGE, "w", encoding="ascii") as file:
        file.write(f"""# Join filters in queries derived from public benchmarks

Written by `make bench-tpc`. The data and the queries are derived from TPC-H and TPC-DS, and from
the Star Schema Benchmark by its paper. They are not results of these benchmarks: they do not comply
with their rules, and cannot be compared with published results. TPC-H and TPC-DS are trademarks of
the Transaction Processing Performance Council.

{version}; {model[1] if model else platform.machine()}, {os.cpu_count()} cores that other work shares.
Processor time of all processes of a query, planning included, with `cuckoofilter.join_filter` `off`
and `auto` in turns: below 1, `auto` is faster. Primary keys as the kit declares them (of the Star
Schema Benchmark: of the dimensions) are the only indexes, if the title does not say otherwise;
`work_mem` 64 MB, `shared_buffers` 1 GB, no JIT. A query of less than 10 ms (with workers 100 ms,
since workers are counted in ticks of 10 ms) counts in the sums only. A query that times out in
`off` is not run in `auto`, nor with workers. Rows are compared in no order, numbers to twelve
digits; where `LIMIT` cuts among equal rows, all rows without it.

{prose("Not run, for lack of the kit or of time: " + "; ".join(missing) + ".") if missing else "All forms were run."}{" Figures of an earlier run say so." if any(EARLIER in part for part in parts.values()) else ""}

""" + "\n".join(filter(None, parts.values())).rstrip() + "\n")
    say(f"written: {PAGE}")


def main():
    os.makedirs(HERE, exist_ok=True)
    wanted = [name for name in sys.argv[1:] or FORMS if name != "page"]
    unknown = set(wanted) - set(FORMS)
    if unknown:
        sys.exit(f"no such form: {', '.join(unknown)}; there are {', '.join(FORMS)}")
    wanted = [name for name in wanted if os.environ.get(FORMS[name].kit) or say(f"{name}: skipped, {FORMS[name].kit}= does not name its kit")]
    if wanted:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server ends, too
        postmaster = start()
        for name in wanted:
            ready(name)
            contest(name, postmaster)
            page()
    elif "page" in sys.argv:
        page()


if __name__ == "__main__":
    main()
