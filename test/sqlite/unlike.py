#!/usr/bin/python3
"""Filters that differ in size, capacity, rate, bucket size, layout, kind, version and history are
built, merged, compared and changed. SQLite's functions give the bytes, or the error, that the core
gives: test/core/tool/writes.c draws the cases, test/core/format/writer_test.py compares the core
with a second writer, and test/core/unlike.c with a model. PostgreSQL replays such cases, too
(test/pg/t/012_unlike.pl).

  SEED=n ROUNDS=percent test/sqlite/unlike.py
"""

import random
import re
import sqlite3
import struct
import sys
from collections import Counter

from suite import PERCENT, ROOT, SEED, Suite

sys.path.insert(0, f"{ROOT}/test/core/format")
import reader
from writer_test import cases, hashes_in

suite = Suite("sqlite-unlike")
db, one, check, equal = suite.db, suite.one, suite.check, suite.equal
rnd = random.Random(SEED)

CASES = 700
MOST_READ = 25_000  # copies in filters that the second reader reads
MOST_ITEMS = 126  # in a call
MOST_RUNNING = 6  # filters of a window, whose rows are each compared
ERRORS = {
    "precision": re.compile(
        r"cuckoofilter has no precision left(| for \d+ more items): it has \d+ items at a false positive rate of [0-9.e-]+; "
        r"build it with a (larger capacity|capacity of at least \d+)$"
        r"|cannot merge cuckoofilters: (the (first|second) is too coarse for |at least one was built for only )"
        r"|cuckoofilter cannot store so many (copies|items)"
    ),
    "seeds": re.compile(r"cannot merge cuckoofilters with different seeds: the seeds are -?\d+ and -?\d+; use the same seed option for all filters that are merged$"),
    "sizes": re.compile("is too coarse"),
}
seen = Counter()

db.execute("CREATE TABLE input (place INTEGER PRIMARY KEY, x)")


def signed(hash):
    return hash - ((hash >> 63) << 64)


def outcome(call, *arguments):
    """The bytes that a call gives, or its error."""
    try:
        return call(*arguments)
    except sqlite3.Error as error:
        return str(error)


def is_right(what, got, result):
    """Whether the result is a filter, which has these bytes; else it is this error."""
    if result in ERRORS:
        check(f"{what}: {got!r:.200}, not {result}", isinstance(got, str) and ERRORS[result].search(got))
        return False
    check(f"{what}: {got!r:.200}, not {result:.400}", got == bytes.fromhex(result))
    return True


def over(values, call):
    """An aggregate over values in their order."""
    db.execute("DELETE FROM input")
    db.executemany("INSERT INTO input VALUES (?, ?)", enumerate(values))
    return lambda *arguments: one(f"SELECT {call} FROM input", *arguments)


def aggregate(what, _, result, capacity, rate, seed, is_set, plain, b, hashes):
    fpr = struct.unpack("<d", struct.pack("<Q", int(rate, 16)))[0]
    options = [f"seed={signed(int(seed, 16))}", f"bucket_size={b}"]
    options += ["kind=set"] * int(is_set) + ["layout=plain"] * int(plain)
    items = [signed(hash) for hash in hashes_in(hashes)] or [None]
    for _ in range(2):
        call = over(items, "cuckoofilter_agg_hash(x, ?, ?, ?)")
        is_right(what, outcome(call, fpr, int(capacity), ",".join(rnd.sample(options, len(options)))), result)
        # in another order, with items that come again, and NULL
        items += [*rnd.choices(items, k=len(items) // 9), None]
        rnd.shuffle(items)


def two(what, kind, result, *inputs):
    """The scalar union or sum, either way round; sometimes of opened filters."""
    inputs = [bytes.fromhex(f) for f in inputs]
    for a, b in (inputs, inputs[::-1]):
        argument = "cuckoofilter_open(?)" if rnd.random() < 0.3 else "?"
        got = outcome(one, f"SELECT cuckoofilter_{kind}({argument}, {argument})", a, b)
        is_right(f"{what} of {a.hex()} and {b.hex()}", got, result)


def many(what, kind, result, *inputs):
    """union_agg or sum_agg, in any order, and in a window that asks for a result at each row."""
    inputs = [bytes.fromhex(f) for f in inputs]
    call = f"cuckoofilter_{kind}(x)"
    want = outcome(over(inputs, call))
    is_right(what, want, result)
    for _ in range(3):
        got = outcome(over(rnd.sample(inputs, len(inputs)), call))
        named = result == "seeds" and isinstance(got, str) and ERRORS["seeds"].match(got)  # two of them, in their order
        check(f"{what}, in another order: {got!r:.200}, not {want!r:.200}", got == want or named)
    prefixes = [outcome(over(inputs[: n + 1], call)) for n in range(min(len(inputs), MOST_RUNNING))]
    if not any(isinstance(prefix, str) for prefix in prefixes):
        over(inputs[:MOST_RUNNING], call)
        running = [f for (f,) in db.execute(f"SELECT {call} OVER (ORDER BY place) FROM input")]
        check(f"{what}, in a window", running == prefixes)


def in_common(what, kind, result, *inputs):
    is_right(what, outcome(over(map(bytes.fromhex, inputs), f"cuckoofilter_{kind}(x)")), result)


def compare(what, _, result, *inputs):
    for name, want in zip(("overlap", "jaccard"), result.split(":") * 2):
        got = outcome(one, f"SELECT cuckoofilter_{name}(?, ?)", *map(bytes.fromhex, inputs))
        if result in ERRORS:
            is_right(f"{what}, {name}", got, result)
        else:
            check(f"{what}, {name}: {got}, not {want}", abs(float(got or 0) - float(want)) < 1e-8)


def compact(what, _, result, filter):
    is_right(what, outcome(one, "SELECT cuckoofilter_compact(?)", bytes.fromhex(filter)), result)


def change(what, _, result, start, *changes):
    """Single adds and removals, up to the end of precision."""
    filter = bytes.fromhex(start)
    for change in changes:
        hash, found = change[1:].split(":")
        name = {"+": "add", "-": "remove"}[change[0]]
        got = outcome(one, f"SELECT cuckoofilter_{name}_hash(?, ?)", filter, signed(int(hash, 16)))
        if isinstance(got, str):
            is_right(f"{what}, {change}", got, "precision")
            check(f"{what}, {change} of {filter.hex()}: {got}", name == "add" and found == "0")
            return  # the core's filter may have grown for it
        if name == "remove":
            check(f"{what}, {change} of {filter.hex()}", (got != filter) == (found == "1"))
        filter = got
    is_right(what, filter, result)


def integers(what, kind, result, start, first, span, n):
    """add_all or remove_all. The copies are then those that the second reader finds."""
    if int(n) > MOST_ITEMS:
        return
    items = [int(first) + i % int(span) for i in range(int(n))]
    filter, function = bytes.fromhex(start), kind.replace("integers", "all")
    got = outcome(one, f"SELECT cuckoofilter_{function}(?{', ?' * len(items)})", filter, *items)
    if not is_right(what, got, result) or suite.info(got)["count"] > MOST_READ:
        return
    opened = reader.Filter(got)
    for x in {*items, *range(int(first), int(first) + 50)}:
        copies = opened.copies(one("SELECT cuckoofilter_hash(?, ?)", x, signed(opened.seed)) % 2**64)
        equal(f"{what}: copies of {x}", one("SELECT cuckoofilter_copies(?, ?)", got, x), copies)
        equal(f"{what}: has {x}", one("SELECT cuckoofilter_contains(?, ?)", got, x), int(copies > 0))


def check_rate(what, filter):
    opened = reader.Filter(filter)
    doubled = 2 / 2**opened.c if opened.encoding else 0
    rate = min(1, opened.count * (1 + doubled) / 2**opened.w)
    told = one("SELECT cuckoofilter_fpr(?)", filter)
    check(f"{what}: rate {told}, not {rate}", abs(told - rate) <= 1e-12 * rate)


REPLAYS = {
    "aggregate": aggregate, "union": two, "sum": two, "union_agg": many, "sum_agg": many, "intersect_agg": in_common,
    "compare": compare, "compact": compact, "change": change, "add_integers": integers, "remove_integers": integers,
}  # fmt: skip


def test_cases():
    for number, (kind, result, *inputs) in enumerate(cases("sql", str(max(1, CASES * PERCENT // 100)), seed=SEED)):
        what = f"SEED={SEED} case {number}: {kind}"
        REPLAYS[kind](what, kind, result, *inputs)
        if result.startswith("434b46") and len(result) < 4 * MOST_READ:
            check_rate(what, bytes.fromhex(result))
        seen[kind, result if result in ERRORS else ""] += 1


def test_emptied():
    """Tables that lost all items, alone, together and beside an empty filter: each merge is a header."""
    empty = one("SELECT cuckoofilter_create(1000, 0.01)")
    for options in ("", "layout=plain", "bucket_size=2", "bucket_size=8"):
        for n in (60, 2000):
            table = over(range(n), "cuckoofilter_agg(x, 1e-4, NULL, ?)")(options)
            for x in range(n):
                table = one("SELECT cuckoofilter_remove(?, ?)", table, x)
            check(f"{options}, {n}: a table", suite.info(table)["count"] == 0 and len(table) > reader.HEADER.size)
            small = one("SELECT cuckoofilter_compact(?)", table)
            for inputs in ([table], [small], [table, empty], [empty, table], [table, small], [small, empty, table] * 5):
                for name in ("union", "sum", "intersect"):
                    what = f"{options}, {n}: {name} of {[len(f) for f in inputs]}"
                    equal(what, len(over(inputs, f"cuckoofilter_{name}_agg(x)")()), reader.HEADER.size)
                    if len(inputs) == 2:
                        equal(what, len(one(f"SELECT cuckoofilter_{name}(?, ?)", *inputs)), reader.HEADER.size)


def test_what_the_cases_reached():
    print("    " + ", ".join(f"{n} {' '.join(what)}" for what, n in sorted(seen.items())))
    if PERCENT >= 100:
        for kind in REPLAYS:
            check(f"no {kind} gave a result", seen[kind, ""] > 0)
        for error in ("precision", "seeds"):
            check(f"nothing was refused: {error}", sum(seen[kind, error] for kind in REPLAYS) > 0)


print(f"SEED={SEED}")
suite.run(globals())
