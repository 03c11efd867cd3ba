#!/usr/bin/python3
"""The Python package: vectors, values, arrays, errors, interrupts, threads; program.c opens damaged bytes.

test/bindings/python.sh runs it with each Python that is there.
"""

import ast
import base64
import copy
import datetime
import decimal
import enum
import fractions
import gc
import inspect
import itertools
import os
import pickle
import random
import re
import signal
import sqlite3
import sys
import threading
import traceback
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "build", "python"))

sys.path.insert(0, os.path.join(ROOT, "test"))

import cuckoofilter  # noqa: E402
import cuckoofilter.sqlite  # noqa: E402
from cuckoofilter import Error, Filter, ItemError  # noqa: E402
from recipes import expand, lines  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

LOADS = hasattr(sqlite3.Connection, "load_extension")
SEED = int(os.environ.get("SEED") or random.SystemRandom().getrandbits(31))
ROUNDS = int(os.environ.get("ROUNDS", 100))
EPOCH = datetime.datetime(2000, 1, 1)
UTC = datetime.timezone.utc
MICROSECOND = datetime.timedelta(microseconds=1)


def check(ok, what):
    if not ok:
        raise AssertionError(what)


def equal(got, want, what=""):
    check(got == want and type(got) is type(want), f"{what}: got {got!r}, want {want!r}")


def raises(kind, sentence, call, *arguments):
    """The error, whose text begins with a sentence."""
    try:
        got = call(*arguments)
    except kind as error:
        check(str(error).startswith(sentence), f"got {error}, want {sentence}")
        return error
    raise AssertionError(f"no error but {got!r}; want {sentence}")


def rounds(n):
    return max(1, n * ROUNDS // 100)


# ------------------------------------------------------------------ vectors


def options(text):
    """Options of SQL as keywords."""
    pairs = [option.split("=") for option in text.split(",")] if text != "-" else []
    return {name: int(value) if name in ("seed", "bucket_size") else value for name, value in pairs}


def value_of(number, content):
    """The value of a class and its canonical bytes; None where Python has none."""
    word = int.from_bytes(content, "little", signed=True)
    if number == 1:
        return word
    if number == 2:
        import struct

        return struct.unpack("<d", content)[0]
    if number == 3:
        return content.decode()
    if number == 4:
        return uuid.UUID(bytes=content) if len(content) == 16 else content
    try:
        moment = EPOCH + word * MICROSECOND
    except OverflowError:
        return None
    return moment if number == 5 else moment.replace(tzinfo=UTC)


def test_hashes():
    n = 0
    for number, content, seed, hash, _, literal in lines("hashes.tsv"):
        if number == "8":
            value = decimal.Decimal(literal.split("'")[1])
        else:
            value = value_of(int(number), bytes.fromhex("" if content == "-" else content))
        if value is not None:
            n += 1
            equal(cuckoofilter.hash(value, int(seed)), int(hash), f"{value!r}, seed {seed}")
            equal(Filter.create(9, seed=int(seed)).hash(value), int(hash), f"{value!r}")
    check(n > 100, f"{n} hashes")


def of_json(value):
    """A value of containers.tsv; raises where Python has none."""
    if isinstance(value, dict):
        (kind, content), *others = value.items()
        check(not others, kind)
        if kind == "record":
            return tuple(of_json(part) for part in content)
        if kind == "decimal":
            return decimal.Decimal(content)
        if kind == "bytes":
            return bytes.fromhex(content)
        if kind == "timestamp":
            return EPOCH + content * MICROSECOND
        if kind == "timestamptz":
            return (EPOCH + content * MICROSECOND).replace(tzinfo=UTC)
        raise AssertionError(kind)
    check(not isinstance(value, (list, bool)), value)
    return value


def test_rows():
    import json

    n = 0
    for text, seed, _, hash, _ in lines("containers.tsv"):
        try:
            value = of_json(json.loads(text))
        except AssertionError:
            continue
        if isinstance(value, tuple):
            n += 1
            equal(cuckoofilter.hash(value, int(seed)), int(hash), text)
    check(n >= 5, f"{n} rows")
    f = Filter.build([("ann", 5), ("bob", None)])
    equal([("ann", 5) in f, ("ann", 6) in f, ("bob", None) in f], [True, False, True])


def of_literal(text):
    """The value of a literal of SQLite's."""
    if text.startswith("x'"):
        return bytes.fromhex(text[2:-1])
    return eval(text)


def test_pairs():
    n = 0
    for _, _, seed, hash, literals, _ in lines("pairs.tsv"):
        if literals == "-":
            continue
        item, value = map(of_literal, literals.split(", "))
        equal(cuckoofilter.hash((item, value), int(seed)), int(hash), literals)
        filter = Filter.create(9, seed=int(seed))
        equal([filter.add_pair(item, value), filter.contains_pair(item, value), filter.remove_hash(int(hash))], [None, True, True], literals)
        filter = Filter.build_pairs([(item, value), (None, value), [item, value]], seed=int(seed))
        equal([len(filter), filter.contains_hash(int(hash))], [1, True], literals)
        n += 1
    check(n >= 18, f"{n} pairs")
    filter = Filter.build_pairs({"ann": 5, "bob": datetime.date(2024, 2, 29), "cleo": None}.items(), 0.001)
    equal(filter == Filter.build([("bob", datetime.date(2024, 2, 29)), ("ann", 5)], 0.001), True)
    equal([filter.contains_pair(*pair) for pair in (("ann", 5), ("ann", 6), (5, "ann"), (None, 5), ("ann", None))], [True, False, False, None, None])
    equal([filter.remove_pair("ann", 5), filter.remove_pair("ann", 5), filter.remove_pair(None, 5), filter.add_pair("x", None)], [True, False, None, None])
    equal([len(filter), filter.info["item_classes"]], [1, ["other"]])
    raises(ItemError, "the cuckoofilter holds numbers, the item is of another type", Filter.build([1]).contains_pair, 1, 2)
    raises(ItemError, "the cuckoofilter holds numbers, the item is of another type", Filter.build([1]).add_pair, 1, 2)
    raises(ItemError, "type list has no hash function", filter.add_pair, 1, [])
    raises(ItemError, "a cuckoofilter is not an item", filter.add_pair, 1, filter)
    for wrong in (5, "ab", (1,), (1, 2, 3), None):
        raises(TypeError, "a pair must be a tuple of two items, (item, value)", Filter.build_pairs, [(1, 2), wrong])
    for wrong in ("ab", b"ab", 5):
        raises(TypeError, "", Filter.build_pairs, wrong)
    raises(TypeError, "", filter.add_pair, 1)


def add_one(filter, item):
    """Add an item; one of a class that the filter has not is refused, and a sum takes it."""
    try:
        filter.add(item)
        return filter
    except ItemError:
        info = filter.info
        one = Filter.create(info["capacity"], info["target_fpr"])
        one.add(item)
        return filter.sum(one)


def build(recipe, made):
    filter = None
    for step in recipe.split("; "):
        word, *arguments = step.split(" ")
        if word == "create":
            filter = Filter.create(int(arguments[0]), float(arguments[1]), **options(arguments[2]))
        elif word == "agg":
            filter = Filter.build(expand(arguments[3]), float(arguments[0]), int(arguments[1]), **options(arguments[2]))
        elif word == "add":
            for item in expand(arguments[0]):
                filter = add_one(filter, item)
        elif word == "remove":
            for item in expand(arguments[0]):
                filter.remove(item)
        elif word == "union":
            filter = filter | made[arguments[0]]
        elif word == "sum":
            filter = filter.sum(made[arguments[0]])
        elif word == "intersect":
            filter = filter & made[arguments[0]]
        else:
            equal(word, "compact")
            filter.compact()
    return filter


def is_in(filter, item):
    """A class that the filter never saw is refused, and so not in it."""
    try:
        return item in filter
    except ItemError:
        return False


def test_filters():
    made = {}
    for name, recipe, count, content, present, absent in lines("filters.tsv"):
        filter = made[name] = build(recipe, made)
        check(bytes(filter).hex() == content, f"{name}: other bytes")
        equal(len(filter), int(count), name)
        equal(Filter(bytes.fromhex(content)) == filter, True, name)
        equal([x for x in expand(present) if x not in filter], [], name)
        equal([x for x in expand(absent) if is_in(filter, x)], [], name)
    check(len(made) > 30, "filters")
    for a, b, overlap, jaccard in lines("overlaps.tsv"):
        if overlap == "sizes":
            raises(Error, "cannot compare cuckoofilters of", made[a].overlap, made[b])
            raises(Error, "cannot compare cuckoofilters of", made[a].jaccard, made[b])
            continue
        check(abs(made[a].overlap(made[b]) - float(overlap)) < 1e-8, f"overlap of {a} and {b}")
        if jaccard == "-":
            equal(made[a].jaccard(made[b]), None)
        else:
            check(abs(made[a].jaccard(made[b]) - float(jaccard)) < 1e-8, f"jaccard of {a} and {b}")


def test_decimals():
    """Filters of 1.7 hold decimals by the nearest double, and never deny them."""
    for name, info, present, absent, copies, content in lines("golden/decimals.tsv"):
        read = lambda items: [decimal.Decimal(item[2:]) for item in items.split(",") if item != "-"]
        old, numbers = Filter(bytes.fromhex(content)), read(present)
        check(all(number in old for number in numbers) and all(old.contains_many(numbers)), name)
        check(not any(old.contains_many(read(absent))), name)
        if "deletable" in info:
            old.remove_many([number for number in numbers if len(str(number)) > 20 and number != decimal.Decimal(float(number))][:1] * 3)
            old.remove(decimal.Decimal("12345678901234567.11"))
            check(all(number in old for number in numbers if number != decimal.Decimal(repr(float(number)))), f"{name} after removals")
        array = Filter.build([(number, "a") for number in numbers])
        check(all((number, "a") in array for number in numbers), "in rows")


def test_golden():
    import json

    n = 0
    for version in 1, 2:
        for name, info, present, absent, copies, content in lines(f"golden/format-{version}.tsv"):
            filter = Filter(bytes.fromhex(content))
            equal(bytes(filter).hex(), content, name)
            got = filter.info
            equal({key: got[key] for key in json.loads(info)}, json.loads(info), name)
            equal([x for x in expand(present) if x not in filter], [], name)
            equal([x for x in expand(absent) if is_in(filter, x)], [], name)
            for each in copies.split(",") if copies != "-" else ():
                item, count = each.split("=")
                equal(filter.copies(next(expand(item))), int(count), f"{name}: {item}")
            n += 1
    check(n > 100, f"{n} golden filters")


# ------------------------------------------------------------------- values


class Text(str, enum.Enum):
    A = "a"


class Number(enum.IntEnum):
    FIVE = 5


def test_values():
    hash = cuckoofilter.hash
    five = hash(5)
    for value in (5.0, decimal.Decimal(5), decimal.Decimal("5.00"), Number.FIVE, fractions.Fraction(5)):
        equal(hash(value), five, repr(value))
    equal(hash(True), hash(1))
    equal(hash(-0.0), hash(0))
    equal(hash(Text.A), hash("a"))
    equal(hash(bytearray(b"ab")), hash(b"ab"))
    equal(hash(memoryview(b"ab")), hash(b"ab"))
    check(hash("5") != five and hash(b"5") != five and hash("ab") != hash(b"ab"), "classes")
    # as a numeric: exact, and a double is its value
    equal(hash(2**64), hash(float(2**64)))
    check(hash(-(2**63) - 1) != hash(-float(2**63)), "an integer below 64 bits is exact")
    check(hash(2**64 + 1) == hash(decimal.Decimal(2**64 + 1)) != hash(2**64), "above, too")
    check(hash(10**5000) == hash(decimal.Decimal("1e5000")), "an integer that str refuses")
    equal(hash(decimal.Decimal(2**53 + 1)), hash(2**53 + 1))
    equal(hash(decimal.Decimal("0.1")), hash(0.1))
    check(hash(decimal.Decimal("1e400")) != hash(float("inf")), "1e400 is finite")
    a, b = decimal.Decimal("12345678901234567.11"), decimal.Decimal("12345678901234567.12")
    two = Filter.build([a, b])
    check(two.remove(b) and a in two and b not in two, "a removal leaves the neighbour in")
    equal((two.info["format_version"], Filter.build([1.5, 2]).info["format_version"]), (3, 2))
    for nan in ("NaN", "sNaN", "-sNaN123"):
        equal(hash(decimal.Decimal(nan)), hash(float("nan")), nan)
    equal(hash(decimal.Decimal("-Infinity")), hash(float("-inf")))
    equal(hash(fractions.Fraction(10**400, 3)), hash(float("inf")))
    equal(hash(fractions.Fraction(-(10**400), 3)), hash(float("-inf")))
    equal(hash(fractions.Fraction(1, 2)), hash(0.5))
    equal(hash(None), None)
    for value in ([1], {1: 2}, {1}, object(), 1j, datetime.time(1), datetime.timedelta(1), range(3)):
        error = raises(ItemError, f"type {type(value).__qualname__} has no hash function for cuckoofilter", hash, value)
        equal(error.sqlstate, "42883")
        check(isinstance(error, TypeError) and isinstance(error, ValueError), "kinds")
    raises(UnicodeEncodeError, "", hash, "\ud800")
    deep = ()
    for _ in range(100000):
        deep = (deep,)
    raises(RecursionError, "", hash, deep)
    while deep:
        deep = deep[0]  # without recursion
    raises(OverflowError, "", hash, 1, 2**64)
    raises(OverflowError, "", hash, 1, -(2**63) - 1)
    raises(TypeError, "", hash, 1, "2")
    equal(hash(1, 2**64 - 1), hash(1, -1))


def test_dates():
    hash = cuckoofilter.hash
    day = datetime.date(2024, 2, 29)
    midnight = datetime.datetime(2024, 2, 29)
    equal(hash(day), hash(midnight))
    zone = datetime.timezone(datetime.timedelta(hours=2))
    equal(hash(midnight.replace(tzinfo=zone)), hash(datetime.datetime(2024, 2, 28, 22, tzinfo=UTC)))
    check(hash(midnight) != hash(midnight.replace(tzinfo=UTC)), "a zone is another class")
    for moment in (datetime.datetime.min, datetime.datetime.max, datetime.datetime(1999, 12, 31, 23, 59, 59, 999999)):
        filter = Filter.build([moment])
        equal(filter.info["item_classes"], ["timestamp"])
        check(moment in filter and moment.replace(microsecond=7) not in filter, moment)
    equal(Filter.build([midnight.replace(tzinfo=UTC)]).info["item_classes"], ["timestamptz"])
    identity = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    equal(hash(identity), hash(identity.bytes))


def test_null():
    filter = Filter.build([None, 1, None, 2])
    equal(len(filter), 2)
    equal(None in filter, False)
    equal(filter.contains(None), None)
    equal(filter.copies(None), None)
    equal(filter.contains_hash(None), None)
    equal(filter.contains_many([1, None, 3]), [True, False, False])
    before = bytes(filter)
    for change in (filter.add, filter.remove, filter.add_hash, filter.remove_hash):
        equal(change(None), None)
    filter.add_many([None, None])
    filter.remove_many([None])
    filter.add_many([])
    equal(bytes(filter), before)


# ------------------------------------------------------------------- arrays


def arrays(random):
    """Arrays of numpy, each with the list of the same values."""
    ints = [random.randrange(-100, 100) for _ in range(random.choice((0, 1, 7, 1023, 1024, 1025, 3000)))]
    for code in "bhilq":
        yield numpy.array(ints, dtype=code), ints
    for code in "BHILQ":
        yield numpy.array([abs(x) for x in ints], dtype=code), [abs(x) for x in ints]
    for code in "efdg":
        yield numpy.array([x / 4 for x in ints], dtype=code), [x / 4 for x in ints]
    yield numpy.array([x % 2 for x in ints], dtype=bool), [x % 2 for x in ints]
    yield numpy.array(ints, dtype=">i4"), ints
    yield numpy.array([x / 4 for x in ints], dtype=">f8"), [x / 4 for x in ints]
    yield numpy.array(ints + ints, dtype="i8")[::2], (ints + ints)[::2]
    yield numpy.array(ints, dtype="i8")[::-1], ints[::-1]
    huge = [random.randrange(2**64) for _ in range(50)]
    yield numpy.array(huge, dtype="u8"), huge
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(x) for x in ints]
    for unit in ("D", "s", "us", "ns"):
        yield numpy.array(days, dtype=f"M8[{unit}]"), days
    yield numpy.array(["2000-01-02", "NaT", "2000-01-05"], dtype="M8[ns]"), [datetime.date(2000, 1, 2), None, datetime.date(2000, 1, 5)]
    yield numpy.array([str(x) for x in ints]), [str(x) for x in ints]
    yield numpy.array([None, *ints, 2.5], dtype=object), [None, *ints, 2.5]
    yield numpy.ma.array([1, 2, 3], mask=[False, True, False]), [1, None, 3]


def test_arrays():
    if numpy is None:
        raise_skip("arrays of numpy, which this Python has not")
    generator = random.Random(SEED)
    for _ in range(rounds(3)):
        for array, values in arrays(generator):
            filter = Filter.build(values, 0.001)
            what = f"{array.dtype}, {len(values)} items"
            equal(bytes(Filter.build(array, 0.001)) == bytes(filter), True, what)
            half = Filter.build(values[::2], 0.001)
            answers = half.contains_many(array)
            equal(list(map(bool, answers)), half.contains_many(values), what)
            added = Filter.create(max(1, len(values)), 0.001)
            added.add_many(array)
            equal(added.contains_many(values), [x is not None for x in values], what)
            equal(len(added), sum(x is not None for x in values) if len(values) < 9 else len(added))
            scalars = [None if array is numpy.ma.masked else array[i] for i in range(min(5, len(values)))]
            equal([x in half for x in scalars if x is not numpy.ma.masked], [x in half for x in values[:5] if x is not None or array.dtype.kind in "MO"], what)
    table = numpy.arange(12).reshape(3, 4)
    answers = Filter.build([0, 5]).contains_many(table)
    equal(answers.shape, (3, 4))
    equal(answers.dtype, numpy.dtype(bool))
    equal(answers.tolist(), [[True, False, False, False], [False, True, False, False], [False] * 4])
    equal(Filter.build(table.T[::2]).contains_many(table).tolist(), [[True, False, True, False]] * 3)
    raises(ItemError, "the cuckoofilter holds numbers, the item is text", Filter.build([1]).contains_many, numpy.array(["a"]))
    raises(ItemError, "the cuckoofilter holds text, the item is a number", Filter.build(["a"]).contains_many, numpy.arange(2000))
    raises(ItemError, "type complex has no hash function", Filter.build, numpy.array([1j]))


def moments(generator):
    """A value of each kind of datetime64, with its microseconds since 1970."""
    day = 86_400_000_000
    units = {"W": 7 * day, "D": day, "h": day // 24, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
    units.update({"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12})
    for unit, size in units.items():
        fine = unit in ("ns", "ps", "fs", "as")
        for step in (1, generator.choice((2, 7, 25, 10**6, 2**31 - 1))):
            for edge in (-2_440_588 * day, 106_762_940 * day, 0, generator.randrange(-(10**17), 10**17), 2**63 - 1, 2**62 * 10**6):
                value = edge * size // step if fine else edge // (size * step)
                for number in (value - 1, value, value + 1, value + generator.randrange(-(10**9), 10**9)):
                    if -(2**63) < number < 2**63:
                        yield f"M8[{step}{unit}]", number, number * step // size if fine else number * step * size
    for unit in ("Y", "M"):
        for year in (-4715, -4714, -4713, -4712, 1600, 1970, 2000, 2024, 9999):
            months = generator.randrange(12) if unit == "M" else 0
            number = (year - 1970) * (12 if unit == "M" else 1) + months
            moment = datetime.date(year % 400 + 1600, months + 1, 1) - datetime.date(1970, 1, 1)
            yield f"M8[{unit}]", number, (moment.days + (year - (year % 400 + 1600)) // 400 * 146097) * day
        for number in (292307 * (12 if unit == "M" else 1), -(2**63) + 1, 2**63 - 1, 2**62, generator.randrange(10**6 * 12, 2**63)):
            yield f"M8[{unit}]", number, 10**19
            yield f"M8[{unit}]", -number, -(10**19)


def test_moments():
    """Moments in each unit: the timestamp of PostgreSQL, or out of its range, singly and in arrays."""
    if numpy is None:
        raise_skip("moments of numpy, which this Python has not")
    try:
        from xxh3 import xxh3
    except OSError:
        raise_skip("moments of numpy, without libxxhash")
    generator = random.Random(SEED)
    in_range = 0
    for dtype, number, micros in moments(generator):
        array = numpy.array([0, number, -(2**63), number], dtype="i8").view(dtype)
        scalar, what = array[1], f"{dtype} {number}"
        if not -211_813_488_000_000_000 <= micros - 946_684_800_000_000 < 9_223_371_331_200_000_000:
            for call in (cuckoofilter.hash, Filter.create(9).add, Filter.create(9).contains):
                equal(raises(Error, "timestamp out of range: ", call, scalar).sqlstate, "22008", what)
            for call in (Filter.build, Filter.create(9).add_many, Filter.create(9).contains_many):
                equal(raises(Error, "timestamp out of range: ", call, array).sqlstate, "22008", what)
            continue
        in_range += 1
        want = xxh3((micros - 946_684_800_000_000).to_bytes(8, "little", signed=True), 5)
        equal(cuckoofilter.hash(scalar) % 2**64, want, what)
        filter = Filter.create(9)
        filter.add_hash(want)
        swapped = array.astype(array.dtype.newbyteorder())
        for some in (array, swapped, array[::-1], numpy.ma.array(array).filled()):
            equal(filter.contains_many(some).tolist()[1:3] in ([True, False], [False, True]), True, what)
        equal(Filter.build(array).contains_hash(want), True, what)
        equal(cuckoofilter.hash(array[2]), None, what)
        for single in (array, swapped):
            equal(cuckoofilter.hash(single[1:2].reshape(())) % 2**64, want, what)
        masked = numpy.ma.array(array, mask=[True, False, False, True])
        equal(Filter.build(masked).contains_hash(want), True, what)
        equal(len(Filter.build(masked)), 1, what)
    check(in_range > 100, f"{in_range} moments in range")
    equal(len(Filter.build(numpy.array(["NaT", "NaT"], dtype="M8"))), 0)
    raises(Error, "timestamp out of range: ", Filter.build, numpy.array([5], dtype="i8").view("M8"))
    equal(Filter.build([5]).contains_many(numpy.array([], dtype="M8[s]")).tolist(), [])
    for duration in (numpy.timedelta64(5, "ns"), numpy.timedelta64(5, "s")):
        raises(ItemError, "type timedelta64 has no hash function", cuckoofilter.hash, duration)
        raises(ItemError, "type timedelta64 has no hash function", Filter.build, numpy.array([duration]))


def ways(array):
    """Several items that are the one item of an array of numpy, and NULLs at most; the last ones are rows with it."""
    objects = numpy.empty(1, dtype=object)
    objects[0] = array[0]
    masked = numpy.ma.array(numpy.concatenate([array, array]), mask=[False, True])
    yield "list", list(array)
    yield "without a dimension", [array.reshape(())]
    yield "array", array
    yield "reversed", array[::-1]
    yield "two dimensions", array.reshape((1, 1))
    yield "swapped bytes", array.astype(array.dtype.newbyteorder())
    yield "objects", objects
    yield "masked", masked
    yield "masked list", list(masked)
    yield "nothing masked", numpy.ma.array(array)
    yield "masked objects", numpy.ma.array(objects, mask=[False])
    rows = numpy.empty(1, dtype=[("a", "i4"), ("b", array.dtype)])
    rows["a"], rows["b"] = 7, array
    yield "row", rows
    try:
        with numpy.errstate(over="ignore"):
            yield "masked row", numpy.ma.array(rows)
    except ValueError:  # numpy makes none of durations
        pass


def values_of_numpy(generator):
    """Arrays of one item, each with a value of Python that is the same item; ItemError: it is none."""
    units = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
    for dtype in ("m8", *(f"m8[{unit}]" for unit in units)):
        for number in (5, generator.randrange(-(2**62), 2**62)):
            yield numpy.array([number], dtype="i8").view(dtype), ItemError
    for unit in ("D", "s", "ms", "us", "ns", "ps"):
        moment = numpy.array([generator.randrange(-(10**6), 10**6)], dtype="i8").view(f"M8[{unit}]")
        micros = int(moment.astype("M8[us]").view("i8")[0])
        if unit != "ps":  # picoseconds are rounded otherwise
            yield moment, datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)
    for number in (0, 5, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63, 2**64 + 1, generator.randrange(-(2**63), 2**63)):
        exact = numpy.array([str(number)]).astype(numpy.longdouble)
        yield exact, int(exact[0])
    for text in ("nan", "inf", "-inf", "-0.0", "0.1", "1e4000", "0.1000000000000000001", str(generator.uniform(-1e9, 1e9))):
        long = numpy.array([text]).astype(numpy.longdouble)
        yield long, float(long[0])
    for code in "bhilqBHILQefd?":
        yield numpy.array([1], dtype=code), 1
    yield numpy.array(["a"]), "a"
    yield numpy.array([b"a"]), b"a"
    for code in "FDG":
        yield numpy.array([1], dtype=code), ItemError


def test_ways():
    """A value of numpy is the same item in each way to hand it over, or is refused in each."""
    if numpy is None:
        raise_skip("ways to hand over values of numpy, which this Python has not")
    generator = random.Random(SEED)
    for array, value in values_of_numpy(generator):
        for name, items in ways(array):
            what = f"{array.dtype} {array[0]!r}, {name}"
            try:
                filter = Filter.build(items)
            except ItemError:
                equal(ItemError, value, what)
                continue
            if value is ItemError:
                check(False, f"{what} is an item")
                continue
            want = cuckoofilter.hash((7, value) if "row" in name else value)
            equal((len(filter), filter.contains_hash(want)), (1, True), what)
            equal(numpy.array(filter.contains_many(items)).ravel()[0], numpy.True_, what)
    equal(cuckoofilter.hash(numpy.ma.masked), None)
    rows = numpy.ma.array([(5, 6)], mask=[(False, True)], dtype=[("a", "i4"), ("b", "i4")])
    equal(Filter.build(rows).contains((5, None)), True)


def test_iterables():
    filter = Filter.build([1, 3, 5])
    for items in ([1, 2, 3], (1, 2, 3), range(1, 4), iter([1, 2, 3]), {1: 0, 2: 0, 3: 0}, (x for x in [1, 2, 3])):
        equal(filter.contains_many(items), [True, False, True])
    for items in ("abc", b"abc"):
        for call in (filter.contains_many, filter.add_many, filter.remove_many, Filter.build):
            raises(TypeError, "items must be several, not one str or bytes", call, items)
    raises(TypeError, "", filter.contains_many, 5)
    equal(filter.contains_many([]), [])

    def broken():
        yield 1
        raise KeyError("broken")

    for call in (filter.contains_many, filter.add_many, Filter.build):
        raises(KeyError, "'broken'", call, broken())
    equal(len(filter), 3)
    # items that change the list, or the filter, while they are read
    items = [1, 2, 3]

    class Shrinks:
        @property
        def dtype(self):
            items.clear()
            filter.add(77)
            raise TypeError("shrunk")

    items[1:1] = [Shrinks()]
    raises(TypeError, "shrunk", filter.contains_many, items)
    check(77 in filter, "the filter was changed meanwhile")
    filter.add_many(x for x in [8] if filter.add(9) is None)
    check(8 in filter and 9 in filter, "an add in an add")


# ------------------------------------------------------------------- errors


def test_errors():
    error = raises(Error, "capacity must be from 1 to 1099511627776, not 0", Filter.create, 0)
    equal(error.sqlstate, "22023")
    raises(Error, "false positive rate must be greater than 0 and less than 1, not 1.5\nHINT: A rate of 1 % is 0.01.", Filter.create, 9, 1.5)
    error = raises(Error, "capacity 1000000000 at a false positive rate of 1e-12 is too precise", Filter.create, 1e9, 1e-12)
    equal(error.detail, "The quotient of capacity and rate must not exceed 2^56.")
    equal(error.hint, "Lower the capacity or raise the false positive rate.")
    equal(str(error).split("\n")[1:], ["DETAIL: " + error.detail, "HINT: " + error.hint])
    sevens = [7.0, decimal.Decimal(7), decimal.Decimal("7.00"), decimal.Decimal("0.7e1"), fractions.Fraction(14, 2)]
    if numpy is not None:
        sevens += [numpy.array([7]).astype(code)[0] for code in ("i1", "f4", "f8", "g")]
    for seven in sevens:
        equal(Filter.create(seven).info["capacity"], 7, repr(seven))
        equal(Filter.build([1], 0.01, seven).info["capacity"], 7, repr(seven))
    for wrong in (decimal.Decimal("7.5"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("Infinity"), fractions.Fraction(1, 2)):
        raises(Error, f"capacity must be an integer, not {wrong!r}", Filter.create, wrong)
    # the last two would take years to become integers
    for wrong in (decimal.Decimal("1e30"), 1e300, -1e300, decimal.Decimal(0), decimal.Decimal("1e999999999"), decimal.Decimal("-1e999999999")):
        raises(Error, "capacity must be from 1 to ", Filter.create, wrong)
    for wrong in ("7", b"7", [7], 7j, datetime.date(2000, 1, 1)):
        raises(TypeError, "", Filter.create, wrong)
    raises(Error, "capacity must be an integer, not 1.5", Filter.create, 1.5)
    raises(Error, "capacity must be an integer, not inf", Filter.create, float("inf"))
    raises(Error, "capacity must be an integer, not nan", Filter.create, float("nan"))
    raises(Error, "capacity must be from 1 to 1099511627776, not 1e+19", Filter.create, 1e19)
    raises(Error, "capacity must be from 1 to 1099511627776, not -18446744073709551616", Filter.create, -(2**64))
    # a repr that fails

    class Nameless(int):
        def __repr__(self):
            raise KeyError("no repr")

    raises(KeyError, "'no repr'", Filter.create, Nameless(2**64))
    raises(KeyError, "'no repr'", Filter.build, [], 0.01, Nameless(2**64))
    raises(KeyError, "'no repr'", cuckoofilter.part, 5, Nameless(0))
    raises(TypeError, "", Filter.create, "9")
    raises(Error, 'invalid cuckoofilter option "kind=other"', lambda: Filter.create(9, kind="other"))
    raises(Error, 'invalid cuckoofilter option "bucket_size=3"', lambda: Filter.build([], bucket_size=3))
    raises(Error, "invalid cuckoofilter option", lambda: Filter.build([], layout="semi_sorted", bucket_size=8))
    raises(Error, 'invalid cuckoofilter option "seed=', lambda: Filter.build([], seed=2**64))
    for wanted in ({"kind": "set\0"}, {"kind": "deletable\0x"}, {"kind": "set, seed=5"}, {"seed": "5,kind=set"}, {"layout": "plain\0"}):
        ((name, value),) = wanted.items()
        error = raises(Error, f'invalid cuckoofilter option "{name}={value}"', lambda: Filter.create(9, **wanted))
        check(error.hint.startswith("Valid options are kind="), error.hint)
        raises(Error, f'invalid cuckoofilter option "{name}={value}"', lambda: Filter.build([], **wanted))
    for content in (b"", b"CKF", bytes(100), "text".encode()):
        error = raises(Error, "not a cuckoofilter: the bytes are damaged or are something else", Filter, content)
        equal(error.sqlstate, "22P03")
    for wrong in (5, None, [67, 75]):
        raises(TypeError, f"a filter is made of bytes or a base64 text, not {type(wrong).__name__}", Filter, wrong)
    newer = bytearray(bytes(Filter.build([1])))
    newer[3] = 99
    error = raises(Error, "cuckoofilter of an unknown format or hash version", Filter, newer)
    equal(error.hint, "It needs a newer release of cuckoofilter.")


def test_filter_errors():
    numbers = Filter.build(range(3))
    for call in (numbers.contains, numbers.copies, numbers.add, numbers.remove, numbers.__contains__):
        error = raises(ItemError, "the cuckoofilter holds numbers, the item is text", call, "1")
        equal(error.sqlstate, "42804")
    for call in (numbers.contains_many, numbers.add_many, numbers.remove_many):
        raises(ItemError, "the cuckoofilter holds numbers, the item is bytes", call, [1, b"1"])
    equal(len(numbers), 3)
    mixed = Filter.build([1, "a", b"b", EPOCH, EPOCH.replace(tzinfo=UTC)])
    raises(ItemError, "the cuckoofilter holds numbers, text, bytes, timestamps and timestamps with time zone, the item is of another type", mixed.contains, (1, 2))
    equal(numbers.contains_hash(numbers.hash(1)), True)
    equal(numbers.contains_hash(numbers.hash("1")), False)
    numbers.add_hash(numbers.hash("1"))
    equal("1" in numbers, True, "hashes of one's own allow every class")
    error = raises(Error, "cannot remove from a cuckoofilter of kind set", Filter.build([1], kind="set").remove, 1)
    equal(error.sqlstate, "55000")
    equal(error.hint, "Build it with kind=deletable, and merge with Filter.sum.")
    error = raises(Error, "cannot merge cuckoofilters with different seeds", lambda: Filter.build([1]) | Filter.build([1], seed=-7))
    equal(error.detail, "The seeds are 0 and -7.")
    full = Filter.build(range(5000))
    error = raises(Error, "cuckoofilter has no precision left", lambda: [full.add(x) for x in itertools.count(5000)])
    equal(error.sqlstate, "54000")
    equal(all(full.contains_many(range(len(full)))), True)
    raises(Error, "cuckoofilter has no precision left", full.add_many, range(10**6))
    for wrong in (lambda: numbers | 5, lambda: 5 & numbers, lambda: numbers.sum(5), lambda: numbers.overlap("a"), lambda: numbers.overlap_error("a")):
        raises(TypeError, "", wrong)


# ------------------------------------------------------------------- object


def test_object():
    filter = Filter.build(range(100), 0.001)
    for again in (Filter(bytes(filter)), copy.copy(filter), copy.deepcopy(filter), filter.copy(), *(pickle.loads(pickle.dumps(filter, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1))):
        equal(again == filter, True)
        equal(again != filter, False)
        again.add(-5)
        check(again != filter and -5 not in filter, "a copy is its own")
    equal(Filter(bytearray(bytes(filter))) == filter, True)
    equal(Filter(memoryview(bytes(filter))) == filter, True)
    raises(TypeError, "unhashable", hash, filter)
    equal(filter == 5, False)
    equal(repr(filter), f"<cuckoofilter.Filter: 100 items, {len(bytes(filter))} bytes, rate {filter.fpr!r}>")
    check(sys.getsizeof(filter) > len(bytes(filter)), "getsizeof")
    equal([bool(Filter.create(5)), bool(filter)], [False, True])
    equal(filter.info["count"], 100)
    raises(AttributeError, "", lambda: setattr(filter, "fpr", 1))

    class Mine(Filter):
        pass

    mine = Mine.build([1, 2])
    equal(type(mine), Mine)
    equal(type(mine.copy()), Mine)
    equal(type(Mine(bytes(mine))), Mine)
    equal(mine == Filter.build([1, 2]), True)
    equal(cuckoofilter.__version__, re.search(r'CKF_VERSION "(.*)"', open(os.path.join(ROOT, "core", "cuckoofilter.h")).read())[1])


def test_text():
    """Base64 as JavaScript's atob takes it."""
    for items in ([], ["a"], ["a", "b"], list(range(5000))):
        filter = Filter.build(items)
        text = base64.b64encode(bytes(filter)).decode()
        for same in (text, text.rstrip("="), f" {text}\n", re.sub("(.{7})", "\\1\t\r\n\f", text)):
            equal(Filter(same) == filter, True, same)
    for wrong in ("text!", "\\x434b46", "ä", "A", "AAAAA", "AAA==", "=", "AAAA=", "AA=A", "AA-_", "A\x0bA", "AA\u2003AA", "AAAA\0"):
        error = raises(Error, "not a cuckoofilter: the text is not base64", Filter, wrong)
        equal(error.sqlstate, "22P03")
    raises(Error, "not a cuckoofilter: the bytes are damaged", Filter, "")
    raises(Error, "not a cuckoofilter: the bytes are damaged", Filter, "Q0tGAA==")


def test_many_filters():
    """union_all and sum_all: the bytes of SQL's aggregates, in any order."""
    generator = random.Random(SEED)
    conn = sqlite3.connect(":memory:")
    if LOADS:
        cuckoofilter.sqlite.load(conn)
    else:
        raises(sqlite3.NotSupportedError, "this Python's sqlite3 cannot load extensions", cuckoofilter.sqlite.load, conn)
    for n in (0, 1, 2, 15, 16, 17, 40, *(generator.randrange(60) for _ in range(rounds(10)))):
        filters, items = [], set()
        for i in range(n):
            some = range(i * 1000, i * 1000 + generator.choice((0, 3, 1500)))
            items.update(some)
            filters.append(Filter.build(some, 0.001, generator.choice((100_000, 200_000)), kind=generator.choice(("set", "deletable"))))
        for name, call in (("union", Filter.union_all), ("sum", Filter.sum_all)):
            merged = call(iter(filters))
            equal(all(merged.contains_many(list(items))), True, f"{name} of {n}")
            if LOADS:
                rows = " UNION ALL ".join(["SELECT ? AS f"] * n) or "SELECT 1 AS f WHERE 0"
                (want,) = conn.execute(f"SELECT cuckoofilter_{name}_agg(f) FROM ({rows})", filters).fetchone()
                equal(bytes(merged) == want, True, f"{name} of {n}")
            generator.shuffle(filters)
            equal(call(filters) == merged, True, f"{name} of {n}, another order")
    for call in (Filter.union_all, Filter.sum_all):
        for wrong in ([5], [filters[0] if filters else Filter.create(1), None], 5, filters[0] if filters else Filter.create(1), "ab"):
            raises(TypeError, "", call, wrong)
        error = raises(Error, "cannot merge cuckoofilters with different seeds", call, [Filter.build([1]), Filter.create(5), Filter.build([1], seed=-7)])
        equal(error.detail, "The seeds are 0 and -7.")
        error = raises(Error, "cannot merge cuckoofilters: at least one was built for only ", call, [Filter.build(range(x, x + 5000)) for x in range(0, 100_000, 5000)])
        equal(error.hint, "Build each filter with a capacity for the items of all: Filter.build(items, fpr, capacity).")

    class Mine(Filter):
        pass

    equal(type(Mine.union_all([Filter.build([1])])), Mine)


def test_part():
    for item in (5, "a", b"a", 0.5, EPOCH, (1, "a")):
        for parts in (1, 2, 7, 64, 2**31 - 1, True):
            equal(cuckoofilter.part(item, parts), cuckoofilter.hash(item) % 2**32 % parts, f"{item!r}, {parts}")
    equal(cuckoofilter.part(item=5, parts=64), cuckoofilter.part(5, 64))
    equal(cuckoofilter.part(None, 5), None)
    for parts in (0, -1, 2**31, 2**64, -(2**70)):
        for item in (5, None):
            equal(raises(Error, f"parts must be from 1 to 2147483647, not {parts}", cuckoofilter.part, item, parts).sqlstate, "22023")
    for parts in (5.0, "5", None):
        raises(TypeError, "", cuckoofilter.part, 5, parts)


def test_two():
    a, b = Filter.build(range(600), 0.01, 2000), Filter.build(range(500, 900), 0.01, 2000)
    equal(all((a | b).contains_many(range(900))), True)
    equal(all((a & b).contains_many(range(500, 600))), True)
    equal(len(a.sum(b)), 1000)
    equal((a | b).info["kind"], "set")
    check(90 < a.overlap(b) < 110, "overlap")
    some, other = Filter.build(range(600), 0.01, 600), Filter.build(range(500, 20_000), 0.01, 600)
    least, cells = 100 * 100 / 2 + 500 * 19_400, 2 ** some.info["prefix_bits"]
    check(0.95 < some.overlap_error(other) / (least * 1.0156 / cells) ** 0.5 < 1.1, "its standard error")
    equal((a.overlap_error(a), Filter.build(range(5)).overlap_error(Filter.build(range(3)))), (a.overlap_error(a.copy()), 0.0))
    raises(Error, "cannot merge cuckoofilters with different seeds", a.overlap_error, Filter.build([1], seed=5))
    c = a
    c |= b
    check(c is not a and len(a) == 600, "|= makes a new filter")
    empty = Filter.create(5)
    equal(empty.jaccard(empty), None)
    removed = Filter.build(range(1000))
    equal([removed.remove(5), removed.remove(-5), removed.remove_hash(7)], [True, False, False])
    removed.add(5)
    size = len(bytes(removed))
    removed.remove_many(range(100, 1000))
    removed.compact()
    check(len(bytes(removed)) < size / 2 and all(removed.contains_many(range(100))), "compact")


def test_references():
    item, filter = "an item".upper(), Filter.build(["AN ITEM"])

    def counts():
        return sys.getrefcount(item), sys.getrefcount(Filter), sys.getrefcount(filter)

    gc.collect()  # filters of other tests' tracebacks
    before = counts()
    for _ in range(100):
        for items in ([item], (item,), iter([item])):
            filter.contains_many(items)
        filter.add(item)
        filter.add_many([item])
        filter.remove(item)
        item in filter, filter.copies(item), filter.info, filter | filter, pickle.dumps(filter)
        for call in (Filter, Filter.build, filter.add, filter.contains_many):
            try:
                call(1)
            except (Error, TypeError):
                pass
    del call, items
    equal(counts(), before)


def test_stubs():
    """The stubs name what the module has, and each public name has a docstring."""
    with open(os.path.join(os.path.dirname(cuckoofilter.__file__), "_filter.pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    (stub,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    named = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in vars(Filter) if not name.startswith("_")}
    equal({name for name in named if not name.startswith("_")}, public)
    equal({name for name in named if not hasattr(Filter, name)}, set())
    equal([name for name in public if not getattr(Filter, name).__doc__], [])
    check(Filter.__doc__ and cuckoofilter.__doc__ and cuckoofilter.hash.__doc__, "docstrings")
    equal({node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, {"hash", "part"})
    for node in stub.body:  # the same arguments
        if isinstance(node, ast.FunctionDef) and node.name in ("build", "build_pairs", "create"):
            want = [a.arg for a in node.args.args[1:] + node.args.kwonlyargs]
            equal(list(inspect.signature(getattr(Filter, node.name)).parameters), want, node.name)


# ------------------------------------------------------ signals and threads


class Alarm(Exception):
    pass


def ring(*_):
    raise Alarm


def test_interrupts():
    """A signal's handler that raises ends each long call."""
    big = Filter.build(range(3_000_000), 0.001)
    other = Filter.build(range(3_000_000, 6_000_000), 0.001)
    before = len(big)
    large = bytes(Filter.build(range(9_000_000), 1e-6))
    calls = {
        "build of an iterator": lambda: Filter.build(itertools.count()),
        "build of a list": lambda: Filter.build([5] * 30_000_000),
        "add_many": lambda: big.add_many(itertools.cycle(range(10**6))),
        "|": lambda: big | other,
        "&": lambda: big & other,
        "overlap": lambda: big.overlap(other),
        "sum": lambda: big.sum(other),
        "union_all": lambda: Filter.union_all([big, other]),
        "opening": lambda: Filter(large),
    }
    if numpy is not None:
        numbers = numpy.arange(10_000_000)
        calls["build of an array"] = lambda: Filter.build(numbers)
        calls["contains_many of an array"] = lambda: big.contains_many(numbers)
        calls["add_many of an array"] = lambda: big.add_many(numbers)
    signal.signal(signal.SIGALRM, ring)
    for name, call in calls.items():
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            call()
        except Alarm:
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        check(False, f"{name} was not interrupted")
    equal(len(big), before)
    check(all(big.contains_many(range(0, 3_000_000, 1000))), "nothing has changed")
    # a handler that changes the filter which is being changed
    said = []

    def change(*_):
        try:
            big.add(-1)
        except RuntimeError as error:
            said.append(str(error))

    signal.signal(signal.SIGALRM, change)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    big.add_many(range(6_000_000, 9_000_000))
    signal.setitimer(signal.ITIMER_REAL, 0)
    equal(set(said), {"the filter is being changed"})


def test_threads():
    """Threads that ask and change one filter: what was in stays in."""
    filter = Filter.build(range(200_000), 0.001, 10**6)
    wrong, done = [], threading.Event()
    asked = numpy.arange(200_000) if numpy is not None else list(range(200_000))

    def ask():
        while not done.is_set():
            try:
                if not all(filter.contains_many(asked)) or not all((filter | filter).contains_many(asked)) or not all(Filter.sum_all([filter] * 2).contains_many(asked)):
                    wrong.append("denied")
            except Exception as error:
                wrong.append(error)

    def change(first):
        try:
            for start in range(first, first + 20_000, 4000):
                filter.add_many(range(start, start + 4000))
                for x in range(start, start + 100):
                    filter.add(x + 10**7)
                    if x + 10**7 not in filter:
                        wrong.append(x)
                filter.add_many(range(1000 * start, 1000 * start + 100_000))
                for x in range(start, start + 20):  # a compact filter grows at its next item
                    filter.compact()
                    filter.add(x + 10**8)
        except Exception as error:
            wrong.append(error)

    readers = [threading.Thread(target=ask) for _ in range(2)]
    writers = [threading.Thread(target=change, args=(10**6 * (n + 1),)) for n in range(2)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    equal(wrong, [])
    equal(len(filter), 200_000 + 2 * (20_000 + 5 * 100 + 5 * 100_000 + 5 * 20))


# ------------------------------------------------------------------- the page


def statements(block):
    """The statements of a block, each with the comment of its last line."""
    text = block.split("\n")
    for node in ast.parse(block).body:
        yield node, text[node.end_lineno - 1].partition("  # ")[2]


def test_page():
    """Each block of README.md runs, and gives what it shows."""
    with open(os.path.join(ROOT, "core", "package", "python", "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    names, shown = {}, 0
    folder = os.getcwd()
    os.makedirs(os.path.join(ROOT, "build", "test", "bindings", "page"), exist_ok=True)
    os.chdir(os.path.join(ROOT, "build", "test", "bindings", "page"))
    try:
        for block in blocks:
            if ("numpy" in block and numpy is None) or ("sqlite" in block and not LOADS) or "psycopg" in block:
                continue  # PostgreSQL's suite runs psycopg's block
            for node, comment in statements(block):
                source = ast.get_source_segment(block, node)
                if isinstance(node, ast.Expr) and comment:
                    shown += 1
                    equal(repr(eval(source, names)), comment, source)
                else:
                    exec(source, names)
    finally:
        os.chdir(folder)
    check(shown >= 8, f"{shown} results")


# ----------------------------------------------------------------------- main


class Skip(Exception):
    pass


def raise_skip(why):
    raise Skip(why)


def main():
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}, {'numpy ' + numpy.__version__ if numpy else 'no numpy'}, SEED={SEED} ROUNDS={ROUNDS}")
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or os.environ.get("CASE", "") not in name:
            continue
        try:
            test()
        except Skip as why:
            print(f"skipped: {why}")
        except BaseException:
            failed += 1
            print(f"FAILED {name}, SEED={SEED}")
            traceback.print_exc(file=sys.stdout)
        else:
            passed += 1
            print(f"  ok {name}")
    print(f"package {version}: {passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
