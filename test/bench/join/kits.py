"""The kits of TPC-H, TPC-DS and the Star Schema Benchmark: their generators, tables and queries, as PostgreSQL takes them."""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys

from measure import psql, say

SCALE = float(os.environ.get("SCALE", "1"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
BUILD = os.path.join(ROOT, "build/bench-tpc")
HERE = os.path.join(BUILD, f"{SCALE:g}")

# A query; setup: what it needs before, in the same session.
Query = collections.namedtuple("Query", "name setup sql")

# The Star Schema Benchmark's tables: prefix and columns, # marks integers, the first column is the key.
STAR = {
    "dates": ("d", "datekey# date dayofweek month year# yearmonthnum# yearmonth daynuminweek# daynuminmonth# daynuminyear# monthnuminyear# weeknuminyear# sellingseason lastdayinweekfl lastdayinmonthfl holidayfl weekdayfl"),
    "customer": ("c", "custkey# name address city nation region phone mktsegment"),
    "supplier": ("s", "suppkey# name address city nation region phone"),
    "part": ("p", "partkey# name mfgr category brand1 color type size# container"),
    "lineorder": ("lo", "orderkey# linenumber# custkey# partkey# suppkey# orderdate# orderpriority shippriority quantity# extendedprice# ordtotalprice# discount# revenue# supplycost# tax# commitdate# shipmode"),
}


def star_tables():
    for table, (prefix, columns) in STAR.items():
        columns = [f"{prefix}_{c.rstrip('#')} {'integer' if c.endswith('#') else 'text'}" for c in columns.split()]
        yield f"CREATE TABLE {table} ({', '.join(columns)}{'' if table == 'lineorder' else f', PRIMARY KEY ({columns[0].split()[0]})'})"


def star_queries():
    """Four flights, by the paper."""
    dims = {"d": "dates ON lo_orderdate = d_datekey", "c": "customer ON lo_custkey = c_custkey", "s": "supplier ON lo_suppkey = s_suppkey", "p": "part ON lo_partkey = p_partkey"}

    def flight(name, dimensions, what, groups, where, order=None):
        joins = " ".join(f"JOIN {dims[d]}" for d in dimensions)
        tail = f" GROUP BY {groups} ORDER BY {order or groups}" if groups else ""
        return Query(name, [], f"SELECT {groups + ', ' if groups else ''}{what} FROM lineorder {joins} WHERE {where}{tail}")

    def first(name, where):
        return flight(name, "d", "sum(lo_extendedprice * lo_discount)", "", where)

    def second(name, where):
        return flight(name, "dps", "sum(lo_revenue)", "d_year, p_brand1", where)

    def third(name, level, where):
        return flight(name, "csd", "sum(lo_revenue) AS revenue", f"c_{level}, s_{level}, d_year", where, "d_year, revenue DESC")

    def fourth(name, groups, where):
        return flight(name, "dcsp", "sum(lo_revenue - lo_supplycost)", groups, where)

    years = "d_year BETWEEN 1992 AND 1997"
    cities = "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5')"
    america = "c_region = 'AMERICA' AND s_region = 'AMERICA'"
    makers = "p_mfgr IN ('MFGR#1', 'MFGR#2')"
    return [
        first("1.1", "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25"),
        first("1.2", "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35"),
        first("1.3", "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35"),
        second("2.1", "p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
        second("2.2", "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
        second("2.3", "p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
        third("3.1", "nation", f"c_region = 'ASIA' AND s_region = 'ASIA' AND {years}"),
        third("3.2", "city", f"c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND {years}"),
        third("3.3", "city", f"{cities} AND {years}"),
        third("3.4", "city", f"{cities} AND d_yearmonth = 'Dec1997'"),
        fourth("4.1", "d_year, c_nation", f"{america} AND {makers}"),
        fourth("4.2", "d_year, s_nation, p_category", f"{america} AND d_year IN (1997, 1998) AND {makers}"),
        fourth("4.3", "d_year, s_city, p_brand1", f"c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND d_year IN (1997, 1998) AND p_category = 'MFGR#14'"),
    ]


def run(*command, cwd=None, **names):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **names}, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def read(*path):
    with open(os.path.join(*path), encoding="latin1") as file:
        return file.read()


def kit(name):
    """A copy of the kit, with its generators built in it: the folder of them."""
    copy = os.path.join(BUILD, "kits", name)
    if not os.path.exists(copy):
        shutil.copytree(os.environ[name], copy)
    mark, last = ("tpcds.sql", "dsqgen") if name == "TPCDS" else ("driver.c", "dbgen")
    found = glob.glob(f"{copy}/**/{mark}", recursive=True)
    if not found:
        sys.exit(f"{name}={os.environ[name]} has no {mark}")
    tools = os.path.dirname(found[0])
    if not os.path.exists(f"{tools}/{last}"):
        makefile = next(file for file in ("Makefile", "makefile", "makefile.suite", "Makefile.suite") if os.path.exists(f"{tools}/{file}"))
        # C of the nineties: its variables are defined in headers
        words = ["OS=LINUX"]
        if name != "TPCDS":
            database = "POSTGRESQL" if "POSTGRESQL" in read(tools, "tpcd.h") else "DB2"
            words = ["MACHINE=LINUX", f"DATABASE={database}", f"WORKLOAD={'SSBM' if name == 'SSB' else 'TPCH'}"]
        run("make", "-f", makefile, "CC=gcc -w -fcommon -std=gnu89", *words, cwd=tools)
    return tools


def clean(text):
    """The statements of a file of SQL, in PostgreSQL's."""
    text = re.sub(r"--#SET ROWS_FETCH (-?\d+)", r"limit \1;", text)  # qgen for DB2
    text = re.sub(r"--.*", "", text)
    text = re.sub(r";\s*limit\s+(-?\d+)\s*;", lambda found: ";" if int(found[1]) < 0 else f"\nlimit {found[1]};", text)
    text = re.sub(r"\bday\s*\(\d+\)", "day", text)  # interval '90' day (3)
    text = re.sub(r"([+-])\s*(\d+)\s+days\b(?!\")", r"\1 \2", text)  # a date and 30 days
    text = re.sub(r"\bcreate view\b", "create temp view", text)
    text = re.sub(r"\bTPCD\.", "", text)
    return [one.strip() for one in text.split(";") if one.strip() and not re.match(r"\s*(drop|commit|connect)\b", one, re.IGNORECASE)]


def aliased(sql):
    """With a name for each subquery after FROM, which PostgreSQL wants before 16."""
    for found in reversed(list(re.finditer(r"(\bfrom|,)\s*\((?=[\s(]*(select|with)\b)", sql, re.IGNORECASE))):
        depth = 0
        for end in range(found.end() - 1, len(sql)):
            depth += (sql[end] == "(") - (sql[end] == ")")
            if depth == 0:
                break
        after = r"where\b" if found[1] == "," else r"($|[),]|(where|group|order|union|limit)\b)"
        if re.match(r"\s*" + after, sql[end + 1 :], re.IGNORECASE):
            sql = f"{sql[: end + 1]} q{found.start()}{sql[end + 1 :]}"
    return sql


def kit_tables(name, tools):
    if name == "SSB":
        return list(star_tables())
    tables = clean(read(tools, "tpcds.sql" if name == "TPCDS" else "dss.ddl"))
    keys = clean(read(tools, "dss.ri")) if name == "TPCH" else []
    return [one for one in tables + keys if re.match(r"create table|alter table\s+\w+\s+add primary", one, re.IGNORECASE)]


def kit_queries(name, tools):
    if name == "SSB":
        return star_queries()
    texts = {}
    if name == "TPCH":
        for n in range(1, 23):
            texts[str(n)] = run("./qgen", "-d", "-s", f"{SCALE:g}", str(n), cwd=tools, DSS_QUERY="queries")
    else:
        templates = os.path.join(os.path.dirname(tools), "query_templates")
        dialect = read(templates, "netezza.tpl")
        if "_END" not in dialect:
            with open(f"{templates}/netezza.tpl", "a", encoding="ascii") as file:
                file.write('define _BEGIN = "-- start query " + [_QUERY] + " using template " + [_TEMPLATE];\ndefine _END = "";\n')
        run("./dsqgen", "-DIRECTORY", templates, "-INPUT", f"{templates}/templates.lst", "-SCALE", str(max(1, round(SCALE))), "-DIALECT", "netezza", "-OUTPUT_DIR", HERE, "-QUIET", "Y", "-RNGSEED", "1", cwd=tools)
        parts = re.split(r"-- start query .* using template query(\d+)\S*", read(HERE, "query_0.sql"))[1:]
        texts = dict(sorted(zip(parts[0::2], parts[1::2]), key=lambda one: int(one[0])))
    queries = []
    for number, text in texts.items():
        views = [one for one in clean(text) if one.startswith("create")]
        selects = [one for one in clean(text) if one not in views]
        queries += [Query(number + ("ab"[n] if len(selects) > 1 else ""), views, sql) for n, sql in enumerate(selects)]
    return queries


def generate(name, tools, data):
    os.makedirs(data, exist_ok=True)
    if name == "TPCDS":
        run("./dsdgen", "-DIR", data, "-SCALE", str(max(1, round(SCALE))), "-FORCE", "Y", cwd=tools)
    else:
        shutil.copy(f"{tools}/dists.dss", data)
        # the calendar has 7 years at each scale
        for only in (("c", "p", "s", "l", "d") if name == "SSB" else ("",)):
            scale = 1 if only == "d" else SCALE
            run(f"{tools}/dbgen", "-f", "-s", f"{scale:g}", *(["-T", only] if only else []), cwd=data, DSS_PATH=data)


def load(name, tools, database):
    data = os.path.join(HERE, "data")
    generate(name, tools, data)
    say(f"{name}: generated")
    commands = kit_tables(name, tools)
    for table in re.findall(r"create table (\w+)", "\n".join(commands), re.IGNORECASE):
        file = next((f for f in glob.glob(f"{data}/*") if os.path.basename(f) in (f"{table.lower()}.tbl", f"{table.lower()}.dat", f"{table.lower().rstrip('s')}.tbl")), None)
        if file is None:
            sys.exit(f"{name}: no data of {table}")
        with open(file, encoding="latin1") as lines:
            form = "DELIMITER '|', NULL ''" if "|" in lines.readline() else "FORMAT csv"
        # lines end in a delimiter; a day of the Star Schema Benchmark is a number, and some kits write it as a date
        edit = "s/[|,]$//" + ("; s/([0-9]{4})-([0-9]{2})-([0-9]{2})/\\1\\2\\3/g" if name == "SSB" else "")
        commands.append(f"\\copy {table} FROM PROGRAM 'LC_ALL=C sed -E \"{edit}\" {file}' WITH ({form}, ENCODING 'LATIN1')")
    psql(*commands, "VACUUM ANALYZE", database=database)
    shutil.rmtree(data)
