"""psycopg 3 loads and dumps the type as Filter: psycopg_filter.py PACKAGES PAGE.

PostgreSQL's suite 053_one_truth runs it, on a cluster that the environment names. PAGE is the
Python package's README.md, whose block about psycopg runs here.
"""

import ast
import asyncio
import datetime
import re
import sys

sys.path.insert(0, sys.argv[1])
from cuckoofilter import Filter  # noqa: E402

try:
    import psycopg
except ImportError:
    print("skipped: psycopg 3, which this machine has not")
    sys.exit()
import cuckoofilter.psycopg  # noqa: E402


def check(what, got, want):
    print(f"{'ok' if got == want and type(got) is type(want) else 'not ok'} {what}: {got!r}"[:300])


def one(conn, sql, *parameters, **options):
    return conn.execute(sql, parameters, **options).fetchone()[0]


conn = psycopg.connect(autocommit=True)
check("a filter before the call is text", type(one(conn, "SELECT cuckoofilter_agg(1)")), str)
cuckoofilter.psycopg.register(conn)
for binary in (False, True):
    cursor = conn.cursor(binary=binary)
    got = cursor.execute("SELECT cuckoofilter_agg(x) FROM generate_series(1, 1000) x").fetchone()[0]
    check(f"a filter, binary={binary}", got, Filter.build(range(1, 1001)))
    got = cursor.execute("SELECT ARRAY[cuckoofilter_create(5), NULL]").fetchone()[0]
    check(f"an array of filters, binary={binary}", got, [Filter.create(5), None])
mine = Filter.build(["ann", "bob"])
conn.execute("CREATE TABLE kept (f cuckoofilter)")
for form in ("%s", "%b", "%t"):
    check(f"a parameter, {form}", one(conn, f"SELECT {form} = cuckoofilter_agg(x) FROM (VALUES ('bob'), ('ann')) s (x)", mine), True)
    check(f"a question, {form}", one(conn, f"SELECT {form} @> 'ann'::text", mine), True)
    conn.execute(f"INSERT INTO kept VALUES ({form})", [mine])
check("kept filters", [f for (f,) in conn.execute("SELECT f FROM kept")], [mine] * 3)
check("an array as a parameter", one(conn, "SELECT cuckoofilter_count(cuckoofilter_union_agg(f)) FROM unnest(%s) f", [mine, mine]), 2)
with conn.cursor() as cursor, cursor.copy("COPY kept FROM STDIN") as copy:
    copy.write_row([mine])
check("COPY", one(conn, "SELECT count(*) FROM kept"), 4)
for item in (5, 2.5, "a", b"\x00\xff", datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12), datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)):
    check(f"the hash of {item!r}", cuckoofilter.hash(item), one(conn, "SELECT cuckoofilter_hash(%s)", item))
    check(f"the filter of {item!r}", one(conn, "SELECT cuckoofilter_agg(%s)", item), Filter.build([item]))
other = psycopg.connect(autocommit=True)
cuckoofilter.psycopg.register(conn, other)
check("another connection", one(other, "SELECT %s", mine), mine)
for wrong in (5, None, "dbname=x"):
    try:
        cuckoofilter.psycopg.register(wrong)
    except TypeError as error:
        check("no connection", str(error), f"register needs a psycopg.Connection, not {type(wrong).__name__}; register_async takes an AsyncConnection")
try:
    cuckoofilter.psycopg.register_type(None, conn)
except ValueError as error:
    check("no extension", str(error), "the database has no type cuckoofilter: CREATE EXTENSION cuckoofilter")


async def run():
    conn = await psycopg.AsyncConnection.connect(autocommit=True)
    await cuckoofilter.psycopg.register_async(conn)
    check("an AsyncConnection", (await (await conn.execute("SELECT %s", [mine])).fetchone())[0], mine)
    await conn.close()


asyncio.run(run())
with open(sys.argv[2], encoding="utf-8") as file:
    (block,) = [block for block in re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S) if "psycopg" in block]
names = {}
for node in ast.parse(block).body:
    source = ast.get_source_segment(block, node)
    comment = block.split("\n")[node.end_lineno - 1].partition("  # ")[2]
    if isinstance(node, ast.Expr) and comment:
        check(f"the page: {source}", repr(eval(source, names)), comment)
    else:
        exec(source, names)
print("end")
