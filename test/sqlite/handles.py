#!/usr/bin/python3
"""Handles wherever a value can be used: a handle from cuckoofilter_open gives the answers of its
filter."""

import os
import resource
import tempfile

from suite import CALLS, NUMBERS, Suite, connect, refusal

suite = Suite("sqlite-handles")
one, check, equal = suite.one, suite.check, suite.equal
is_sql, refuses = suite.is_sql, suite.refuses

NOT_OPEN = (
    "the cuckoofilter of this handle is not open: another connection opened it, or it was closed "
    "as the least recently used one; call cuckoofilter_open again, or pass the filter itself"
)

suite.db.executescript("""
    CREATE TABLE item (x INTEGER PRIMARY KEY);
    WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 2000)
        INSERT INTO item SELECT x FROM s;
    CREATE TABLE seen AS SELECT cuckoofilter_agg(x, 0.0001) AS f FROM item WHERE x % 2;
    CREATE TABLE part AS SELECT x % 10 AS k, cuckoofilter_agg(x, 0.0001) AS f FROM item GROUP BY 1;
    CREATE VIEW opened AS SELECT cuckoofilter_open(f) AS h FROM seen;
    CREATE VIEW opened_part AS SELECT k, cuckoofilter_open(f) AS h FROM part;
""")


def test_form():
    handle = one("SELECT cuckoofilter_open(f) FROM seen")
    equal("bytes", len(handle), 24)
    equal("sign", handle[:8], b"ckf-open")
    is_sql("blob", "SELECT typeof(cuckoofilter_open(f)) FROM seen")
    is_sql(1, "SELECT cuckoofilter_open(f) = cuckoofilter_open(f) FROM seen")
    is_sql(1, "SELECT cuckoofilter_open(cuckoofilter_open(f)) = cuckoofilter_open(f) FROM seen")
    is_sql(10, "SELECT count(DISTINCT cuckoofilter_open(f)) FROM part")
    is_sql(None, "SELECT cuckoofilter_open(NULL)")


def test_wherever_a_value_goes():
    """Each query counts the 1,000 odd numbers, with a handle that it gets in another way."""
    item = "cuckoofilter_contains(h, x)"
    rows = one("SELECT sum(cuckoofilter_contains(f, x)) FROM item, seen")
    check("nearly exact", 1000 <= rows <= 1003)
    open_it = "SELECT cuckoofilter_open(f) AS h FROM seen"
    for sql in (
        f"SELECT count(*) FROM item WHERE cuckoofilter_contains(({open_it}), x)",
        f"SELECT count(*) FROM ({open_it}), item WHERE {item}",
        f"SELECT count(*) FROM item JOIN ({open_it} LIMIT 1) ON {item}",
        f"WITH w AS ({open_it}) SELECT count(*) FROM w, item WHERE {item}",
        f"SELECT count(*) FROM item WHERE cuckoofilter_contains(CAST(({open_it}) AS BLOB), x)",
        f"SELECT count(*) FROM item WHERE cuckoofilter_contains(unhex_of(hex(({open_it}))), x)",
        f"SELECT count(*) FROM (SELECT max(h) AS h FROM opened), item WHERE {item}",
        f"SELECT count(*) FROM (SELECT h FROM opened UNION SELECT h FROM opened), item WHERE {item}",
        f"SELECT count(*) FROM (SELECT x, lag(h, 1, h) OVER (ORDER BY x) AS h FROM item, opened) WHERE {item}",
        f"SELECT count(*) FROM (SELECT column1 AS h FROM (VALUES (({open_it})))), item WHERE {item}",
        f"WITH RECURSIVE r(n, h) AS (SELECT 1, cuckoofilter_open(f) FROM seen UNION ALL SELECT n + 1, h "
        "FROM r WHERE n < 2000) SELECT count(*) FROM r WHERE cuckoofilter_contains(h, n)",
        f"SELECT sum({item}) FROM (SELECT x, h FROM item, opened ORDER BY x % 7, h)",
        f"SELECT count(*) FILTER (WHERE {item}) FROM item, opened",
    ):
        is_sql(rows, sql)
    # every group by its own handle, and the functions that take two
    for source in (
        "opened_part",
        "(SELECT * FROM opened_part ORDER BY k DESC LIMIT 10)",
        "(SELECT k, max(h) AS h FROM opened_part GROUP BY k)",
    ):
        is_sql(2000, f"SELECT count(*) FROM item JOIN {source} ON k = x % 10 AND {item}")
        is_sql(2000, f"SELECT cuckoofilter_count(cuckoofilter_sum_agg(h)) FROM {source}")
    is_sql(
        1,
        "SELECT cuckoofilter_union(a.h, b.h) = cuckoofilter_union(c.f, d.f) FROM opened_part AS a, "
        "opened_part AS b, part AS c, part AS d WHERE a.k = 3 AND b.k = 4 AND c.k = 3 AND d.k = 4",
    )


def test_tables_and_parameters():
    """A handle that was stored, or handed out, serves later statements of its connection."""
    handle = one("SELECT h FROM opened")
    want = one("SELECT sum(cuckoofilter_contains(f, x)) FROM item, seen")
    equal("parameter", one("SELECT sum(cuckoofilter_contains(?, x)) FROM item", handle), want)
    suite.db.execute("CREATE TEMP TABLE kept AS SELECT k, h FROM opened_part")
    is_sql(2000, "SELECT count(*) FROM item JOIN kept ON k = x % 10 AND cuckoofilter_contains(h, x)")
    suite.db.execute("CREATE INDEX kept_h ON kept (h)")
    is_sql(200, "SELECT sum(cuckoofilter_contains(h, x)) FROM item, kept WHERE h = (SELECT h FROM "
           "opened_part WHERE k = 3) AND x % 10 = 3")
    equal(
        "what is written is a filter",
        one("SELECT cuckoofilter_add(?, 'new')", handle),
        one("SELECT cuckoofilter_add(f, 'new') FROM seen"),
    )
    suite.db.execute("DELETE FROM kept")
    equal("it does not need the table", one("SELECT cuckoofilter_count(?)", handle), 1000)


def test_snapshot():
    """A handle is the filter as it was opened."""
    handle = one("SELECT cuckoofilter_open(cuckoofilter_agg(x)) FROM item WHERE x < 10")
    suite.db.execute("CREATE TEMP TABLE changing AS SELECT cuckoofilter_agg(x) AS f FROM item WHERE x < 10")
    equal("the same bytes", one("SELECT cuckoofilter_open(f) FROM changing"), handle)
    suite.db.execute("UPDATE changing SET f = cuckoofilter_add(f, 77)")
    check("other bytes", one("SELECT cuckoofilter_open(f) FROM changing") != handle)
    is_sql(0, "SELECT cuckoofilter_contains(?, 77)", handle)
    is_sql(1, "SELECT cuckoofilter_contains(cuckoofilter_open(f), 77) FROM changing")


def test_other_connections():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "test.db")
        first, second = connect(path), connect(path)
        first.execute("CREATE TABLE t AS SELECT cuckoofilter_open(cuckoofilter_agg(1)) AS h")
        count = "SELECT cuckoofilter_count(h) FROM t"
        equal("its own", first.execute(count).fetchone()[0], 1)
        for call in (*CALLS, *(f"cuckoofilter_{call}" for call in ("add({v}, NULL)", "add_all({v})", "contains_all({v})", "overlap_error({v}, cuckoofilter_create(1))"))):
            for db in (second, connect(path)):
                # also where that connection has filters open of its own, even of the same bytes
                db.execute("SELECT cuckoofilter_open(cuckoofilter_agg(1))").fetchone()
                equal(f"{call} of another connection's handle", refusal(db, f"SELECT {call.format(v='h')} FROM t"), NOT_OPEN)
        first.close()
        equal("a handle ends with its connection", refusal(connect(path), count), NOT_OPEN)
    handle = one("SELECT h FROM opened")
    for at in range(24):
        broken = handle[:at] + bytes([handle[at] ^ 1]) + handle[at + 1 :]
        bad = "not a cuckoofilter: the bytes are damaged or are something else"
        refuses(bad if at < 8 else NOT_OPEN, "SELECT cuckoofilter_count(?)", broken)
    nothing = connect()  # where nothing was opened yet
    for value in (bytes(24), handle):
        equal("no handle yet", refusal(nothing, "SELECT cuckoofilter_count(?)", value), NOT_OPEN if value == handle else bad)
    for size in (8, 23, 25, 48):
        refuses(bad, "SELECT cuckoofilter_count(?)", (handle + handle)[:size])


def test_damage():
    """Opening reads only the header. Functions that merge or describe a filter detect damaged slots."""
    bad = "not a cuckoofilter: the bytes are damaged or are something else"
    filter = bytearray(suite.agg(1, 50000))
    filter[5000:6000] = bytes(1000)
    handle = one("SELECT cuckoofilter_open(?)", bytes(filter))
    for _ in range(2):
        for call in ("info(?1)", "union(?1, ?1)", "compact(?1)", "sum_agg(?1)", "intersect_agg(?1)", "overlap(?1, ?1)", "overlap_error(?1, ?1)"):
            refuses(bad, f"SELECT cuckoofilter_{call}", handle)
        equal("count", one("SELECT cuckoofilter_count(?)", handle), 50000)
    refuses(bad, "SELECT cuckoofilter_open(?)", bytes(filter[:-1]))
    refuses(bad, "SELECT cuckoofilter_open(x'00')")


def test_limit():
    """Handles hold 256 MB: the least recently used handle is closed, a used one stays."""
    db = connect()

    def value(sql, *parameters):
        return db.execute(sql, parameters).fetchone()[0]

    big = value(f"SELECT cuckoofilter_agg(x) FROM {NUMBERS}", 1, 3000000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    first, second = (value("SELECT cuckoofilter_open(cuckoofilter_add(?, ?))", big, i) for i in (0, 1))
    handles = []
    for i in range(2, 200):
        handles.append(value("SELECT cuckoofilter_open(cuckoofilter_add(?, ?))", big, i))
        equal("in use", value("SELECT cuckoofilter_contains(?, 7)", first), 1)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    check(f"{grown:.0f} MB for 200 filters of {len(big) / 1048576:.1f}", 200 < grown < 350)
    most = 256 * 1048576 // len(big)
    equal("the newest", value("SELECT cuckoofilter_count(?)", handles[3 - most]), 3000001)
    for handle in (second, handles[0], handles[-most]):
        equal("a handle that was dropped", refusal(db, "SELECT cuckoofilter_count(?)", handle), NOT_OPEN)
    # the same filter for each row is held once
    db.execute(f"CREATE TABLE item AS SELECT x FROM {NUMBERS}", (1, 300))
    db.execute("CREATE TABLE seen AS SELECT ? AS f", (big,))
    rows = value(
        "SELECT sum((SELECT cuckoofilter_contains(cuckoofilter_open(f), x) FROM seen)) FROM item"
    )
    equal("each row opens it", rows, 300)
    equal("nothing was dropped for it", value("SELECT cuckoofilter_count(?)", handles[-1]), 3000001)
    db.close()


def test_many():
    """More handles than any table's first size, used in any order."""
    suite.db.execute(
        "CREATE TEMP TABLE many AS SELECT x, cuckoofilter_open(cuckoofilter_add(cuckoofilter_create(9), x)) "
        f"AS h FROM {NUMBERS}",
        (1, 20000),
    )
    is_sql(20000, "SELECT count(DISTINCT h) FROM many")
    is_sql(
        20000,
        "SELECT sum(cuckoofilter_contains(h, x)) FROM (SELECT * FROM many ORDER BY x * 7919 % 20011)",
    )
    is_sql(0, "SELECT sum(cuckoofilter_contains(h, -x)) FROM many")
    is_sql(20000, "SELECT cuckoofilter_count(cuckoofilter_sum_agg(h)) FROM many")
    suite.db.execute("DROP TABLE many")


suite.db.create_function("unhex_of", 1, bytes.fromhex)
suite.run(globals())
