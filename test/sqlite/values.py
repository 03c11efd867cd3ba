#!/usr/bin/python3
"""Values that are equal in SQL give equal answers, through Python's sqlite3."""

import math

from suite import Suite, connect

suite = Suite("sqlite-values")
one, check, equal, is_sql = suite.one, suite.check, suite.equal, suite.is_sql

# SQL expressions of one value each.
GROUPS = (
    ("5", "5.0", "CAST(5 AS REAL)", "4 + 1", "10 / 2.0", "CAST('5' AS INTEGER)"),
    ("0", "-0.0", "0.0", "1 = 2"),
    ("1", "1.0", "true"),
    ("9007199254740992", "9007199254740992.0"),
    ("9007199254740993",),
    ("-9223372036854775808", "-9223372036854775808.0"),
    ("9223372036854775807",),
    ("9223372036854775808", "9223372036854775808.0", "CAST(9223372036854775808 AS REAL)"),
    ("0.5", "1 / 2.0"),
    ("9e999",),
    ("-9e999",),
    ("'5'", "CAST(5 AS TEXT)", "'' || 5"),
    ("'5.0'",),
    ("x'35'", "CAST('5' AS BLOB)"),
    ("''",),
    ("x''", "zeroblob(0)"),
    ("'abc'", "lower('ABC')", "CAST(x'616263' AS TEXT)"),
    ("x'616263'",),
    ("'ABC'",),
    ("'abc '",),
    ("CAST(x'610062' AS TEXT)",),
    ("x'00'", "zeroblob(1)"),
    ("x'0000'",),
)


def test_equality():
    """As `=` without a column's affinity or collation says."""
    hashes = {}
    for number, group in enumerate(GROUPS):
        for value in group:
            hash = one(f"SELECT cuckoofilter_hash({value})")
            equal(
                f"{value} is a value of its own or its group",
                hashes.setdefault(hash, number),
                number,
            )
            is_sql(1, f"SELECT {value} = {group[0]}")
            filter = one(f"SELECT cuckoofilter_add(cuckoofilter_create(9), {value})")
            for other in group:
                is_sql(1, f"SELECT cuckoofilter_contains(?, {other})", filter)
    equal("as many hashes as groups", len(hashes), len(GROUPS))


def test_bound_values():
    """A value that a driver binds is the same item as a literal."""
    for value, literal in (
        (5, "5"),
        (5.0, "5"),
        (-0.0, "0"),
        (2.0**53, "9007199254740992"),
        (2.0**63, "9223372036854775808.0"),
        (-(2**63), "-9223372036854775808"),
        (math.inf, "9e999"),
        ("é", "'é'"),
        ("", "''"),
        (b"", "x''"),
        (b"\0", "x'00'"),
        (bytearray(b"abc"), "x'616263'"),
    ):
        equal(
            repr(value),
            one("SELECT cuckoofilter_hash(?)", value),
            one(f"SELECT cuckoofilter_hash({literal})"),
        )
    is_sql(None, "SELECT cuckoofilter_hash(?)", math.nan)  # which SQLite binds as NULL


def test_column_types():
    """The type of the value counts, not the type of the column."""
    suite.db.execute("CREATE TEMP TABLE typed (i INTEGER, r REAL, t TEXT, n NUMERIC, b BLOB)")
    suite.db.execute("INSERT INTO typed VALUES ('5', 5, 5, '5.0', 5)")
    row = suite.db.execute(
        "SELECT cuckoofilter_hash(i), cuckoofilter_hash(r), cuckoofilter_hash(n), cuckoofilter_hash(b), "
        "cuckoofilter_hash(t) FROM typed"
    ).fetchone()
    equal("integers", set(row[:4]), {one("SELECT cuckoofilter_hash(5)")})
    equal("text", row[4], one("SELECT cuckoofilter_hash('5')"))


def test_large_keys():
    for size in (10**6, 10**7):
        key = "k" * size
        filter = one(
            "SELECT cuckoofilter_add_all(cuckoofilter_create(10), ?1, CAST(?1 AS BLOB))", key
        )
        equal("small", len(filter), 64)
        is_sql(1, "SELECT cuckoofilter_contains(?, ?)", filter, key)
        is_sql(1, "SELECT cuckoofilter_contains(?, ?)", filter, key.encode())
        is_sql(0, "SELECT cuckoofilter_contains(?, ?)", filter, key[:-1])
        is_sql(0, "SELECT cuckoofilter_contains(?, ?)", filter, key[:-1] + "l")
    filter = one("SELECT cuckoofilter_add(cuckoofilter_create(9), zeroblob(1000000))")
    is_sql(1, "SELECT cuckoofilter_contains(?, zeroblob(1000000))", filter)
    is_sql(0, "SELECT cuckoofilter_contains(?, zeroblob(1000001))", filter)


suite.run(globals())
