"""Builds filters of items, for PostgreSQL's suite 053_one_truth: make_filter.py PACKAGES python|sqlite.

Each line of the input is a case: rate, capacity, options and items, separated by tabs. Items are
separated by commas: i:integer, r:real, t:text, b:bytes, u:uuid in hex, d:days, s:microseconds and
z:microseconds since 1970 as a date, timestamp and timestamptz, x:decimal, y:integer of any size,
n: NULL. Each line of the output is
a filter in hex; "-" where SQLite has no such values.
"""

import datetime
import decimal
import sqlite3
import sys
import uuid

sys.path.insert(0, sys.argv[1])
import cuckoofilter.sqlite  # noqa: E402
from cuckoofilter import Filter  # noqa: E402

DAY = datetime.date(1970, 1, 1)
MOMENT = datetime.datetime(1970, 1, 1)
READ = {
    "i": int,
    "r": float,
    "t": lambda hex: bytes.fromhex(hex).decode(),
    "b": bytes.fromhex,
    "u": lambda hex: uuid.UUID(hex=hex),
    "d": lambda days: DAY + datetime.timedelta(int(days)),
    "s": lambda microseconds: MOMENT + datetime.timedelta(microseconds=int(microseconds)),
    "z": lambda microseconds: READ["s"](microseconds).replace(tzinfo=datetime.timezone.utc),
    "x": decimal.Decimal,
    "y": int,
    "n": lambda _: None,
}


def python(items, fpr, capacity, options):
    pairs = dict(option.split("=") for option in options.split(",") if option)
    return Filter.build(items, fpr, capacity, **{k: int(v) if k in ("seed", "bucket_size") else v for k, v in pairs.items()})


def sqlite(items, fpr, capacity, options):
    if any(isinstance(x, (datetime.date, decimal.Decimal)) or isinstance(x, int) and not -(2**63) <= x < 2**63 for x in items):
        return None
    conn = sqlite3.connect(":memory:")
    cuckoofilter.sqlite.load(conn)
    conn.execute("CREATE TABLE item (x)")
    conn.executemany("INSERT INTO item VALUES (?)", [(x.bytes if isinstance(x, uuid.UUID) else x,) for x in items])
    return conn.execute("SELECT cuckoofilter_agg(x, ?, ?, ?) FROM item", (fpr, capacity, options)).fetchone()[0]


make = {"python": python, "sqlite": sqlite}[sys.argv[2]]
for line in sys.stdin:
    fpr, capacity, options, items = line.rstrip("\n").split("\t")
    made = make([READ[item[0]](item[2:]) for item in items.split(",")], float(fpr), int(capacity), options)
    print("-" if made is None else bytes(made).hex())
