#!/usr/bin/python3
"""The results of every function, through Python's sqlite3."""

import json
import math

from suite import CALLS, NUMBERS, ROOT, Suite, refusal

suite = Suite("sqlite-functions")
one, check, equal = suite.one, suite.check, suite.equal
is_sql, refuses = suite.is_sql, suite.refuses

BAD_BYTES = "not a cuckoofilter: the bytes are damaged or are something else"


def test_version():
    with open(f"{ROOT}/core/cuckoofilter.h") as file:
        header = file.read()
    check("version", f'"{one("SELECT cuckoofilter_version()")}"' in header)


def test_create():
    empty = one("SELECT cuckoofilter_create(1000)")
    equal("bytes", len(empty), 48)
    is_sql(0, "SELECT cuckoofilter_count(?)", empty)
    is_sql(0.0, "SELECT cuckoofilter_fpr(?)", empty)
    is_sql(0, "SELECT cuckoofilter_contains(?, 1)", empty)
    equal("capacity", suite.info(empty)["capacity"], 1000)
    equal("default rate", suite.info(empty)["target_fpr"], 0.01)
    equal("kind", suite.info(empty)["kind"], "deletable")
    made = suite.info(
        one("SELECT cuckoofilter_create(5e6, 0.001, 'kind = set,bucket_size=8 , seed=-7')")
    )
    equal("capacity as REAL", made["capacity"], 5000000)
    equal("rate", made["target_fpr"], 0.001)
    equal("set", made["kind"], "set")
    equal("bucket size", made["bucket_size"], 8)
    equal("layout of 8", made["layout"], "plain")
    equal("seed", made["seed"], -7)
    equal("no options", one("SELECT cuckoofilter_create(1000, 0.01, '')"), empty)
    equal(
        "layout",
        suite.info(one("SELECT cuckoofilter_create(9, 0.5, 'layout=plain')"))["layout"],
        "plain",
    )
    for nothing in ("NULL", "NULL, 0.1", "5, NULL", "5, 0.1, NULL", "NULL, 7, 'x'"):
        is_sql(None, f"SELECT cuckoofilter_create({nothing})")


def test_add_and_contains():
    filter = one("SELECT cuckoofilter_add(cuckoofilter_create(100), 'apple')")
    is_sql(1, "SELECT cuckoofilter_contains(?, 'apple')", filter)
    is_sql(0, "SELECT cuckoofilter_contains(?, 'pear')", filter)
    is_sql(1, "SELECT cuckoofilter_count(?)", filter)
    more = one("SELECT cuckoofilter_add_all(?, 1, NULL, 2.5, x'00', 'pear')", filter)
    is_sql(5, "SELECT cuckoofilter_count(?)", more)
    is_sql(1, "SELECT cuckoofilter_contains_all(?, 1, 2.5, x'00', 'pear', 'apple')", more)
    is_sql(0, "SELECT cuckoofilter_contains_all(?, 1, 'no')", more)
    is_sql(1, "SELECT cuckoofilter_contains_any(?, 'no', 'pear')", more)
    is_sql(0, "SELECT cuckoofilter_contains_any(?, 'no', 'nor')", more)
    is_sql(1, "SELECT cuckoofilter_contains_all(?, NULL, 1, NULL)", more)
    is_sql(0, "SELECT cuckoofilter_contains_any(?, NULL)", more)
    is_sql(1, "SELECT cuckoofilter_contains_all(?)", more)
    is_sql(0, "SELECT cuckoofilter_contains_any(?)", more)
    equal("no items", one("SELECT cuckoofilter_add_all(?)", more), more)
    equal("only NULL", one("SELECT cuckoofilter_add_all(?, NULL)", more), more)
    items = ", ".join(str(i) for i in range(126))
    full = one(f"SELECT cuckoofilter_add_all(cuckoofilter_create(1), {items})")
    is_sql(126, "SELECT cuckoofilter_count(?)", full)
    is_sql(1, f"SELECT cuckoofilter_contains_all(?, {items})", full)


def test_copies_and_remove():
    filter = one("SELECT cuckoofilter_add_all(cuckoofilter_create(100), 7, 7, 8)")
    is_sql(2, "SELECT cuckoofilter_copies(?, 7)", filter)
    is_sql(0, "SELECT cuckoofilter_copies(?, 9)", filter)
    less = one("SELECT cuckoofilter_remove(?, 7)", filter)
    is_sql(1, "SELECT cuckoofilter_copies(?, 7)", less)
    is_sql(2, "SELECT cuckoofilter_count(?)", less)
    equal("not there", one("SELECT cuckoofilter_remove(?, 9)", filter), filter)
    equal("no items", one("SELECT cuckoofilter_remove_all(?, NULL)", filter), filter)
    none = one("SELECT cuckoofilter_remove_all(?, 7, NULL, 8, 7.0, 9)", filter)
    is_sql(0, "SELECT cuckoofilter_count(?)", none)
    equal("empty again", none, one("SELECT cuckoofilter_create(100)"))
    big = suite.agg(1, 20000)
    items = ", ".join(str(i) for i in range(1, 101))
    big = one(f"SELECT cuckoofilter_remove_all(?, {items})", big)
    is_sql(19900, "SELECT cuckoofilter_count(?)", big)
    equal("the others", suite.contained(big, 101, 20000), 19900)
    saturated = one(
        "SELECT cuckoofilter_add_all(cuckoofilter_create(9), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"
    )
    is_sql(8, "SELECT cuckoofilter_copies(?, 1)", saturated)
    equal("stuck", one("SELECT cuckoofilter_remove(?, 1)", saturated), saturated)


def test_set():
    filter = one("SELECT cuckoofilter_add_all(cuckoofilter_create(9, 0.01, 'kind=set'), 1, 1, 2)")
    is_sql(2, "SELECT cuckoofilter_count(?)", filter)
    sentence = (
        "cannot remove from a cuckoofilter of kind set: removing an item from a set could remove another item, too; "
        "build it with kind=deletable, and merge with cuckoofilter_sum"
    )
    refuses(sentence, "SELECT cuckoofilter_remove(?, 1)", filter)
    refuses(sentence, "SELECT cuckoofilter_remove_all(?, 1, 2)", filter)
    refuses(sentence, "SELECT cuckoofilter_remove_hash(?, 1)", filter)


def as_hashes(filter):
    """The same filter as if its items had been added as hashes, which are a class: byte 14."""
    return filter[:14] + b"\x40" + filter[15:]


def test_hash_forms():
    filter = one("SELECT cuckoofilter_create(100, 0.01, 'seed=42')")
    by_item = one("SELECT cuckoofilter_add(?, 'apple')", filter)
    hash = one("SELECT cuckoofilter_hash('apple', 42)")
    equal("same bytes", one("SELECT cuckoofilter_add_hash(?, ?)", filter, hash), as_hashes(by_item))
    is_sql(1, "SELECT cuckoofilter_contains_hash(?, ?)", by_item, hash)
    is_sql(0, "SELECT cuckoofilter_contains_hash(?, ?)", by_item, hash ^ (1 << 62))
    equal("removed", one("SELECT cuckoofilter_remove_hash(?, ?)", by_item, hash), filter)
    check("seeds differ", one("SELECT cuckoofilter_hash('apple')") != hash)
    equal(
        "seed 0",
        one("SELECT cuckoofilter_hash('apple', 0)"),
        one("SELECT cuckoofilter_hash('apple')"),
    )
    equal("seed as REAL", one("SELECT cuckoofilter_hash('apple', 42.0)"), hash)
    for call in ("hash(NULL)", "hash(NULL, 1)", "hash(1, NULL)"):
        is_sql(None, f"SELECT cuckoofilter_{call}")
    equal(
        "aggregate of hashes",
        one(
            f"SELECT cuckoofilter_agg_hash(cuckoofilter_hash(x, 5), 0.01, 0, 'seed=5') FROM {NUMBERS}",
            1,
            3000,
        ),
        as_hashes(suite.agg(1, 3000, ", 0.01, 0, 'seed=5'")),
    )


def test_intersect():
    a, b = suite.agg(1, 30000, ", 0.001, 50000"), suite.agg(25001, 60000, ", 0.001, 50000")
    both = one("SELECT cuckoofilter_intersect(?, ?)", a, b)
    equal("all of both", suite.contained(both, 25001, 30000), 5000)
    check("few others", suite.contained(both, 1, 25000) + suite.contained(both, 30001, 60000) < 60)
    equal("a set", suite.info(both)["kind"], "set")
    equal("any order", one("SELECT cuckoofilter_intersect(?, ?)", b, a), both)
    aggregate = "SELECT cuckoofilter_intersect_agg(column1) FROM (VALUES (?1), (NULL), (?2))"
    equal("of many", one(aggregate, a, b), both)
    equal("of many, any order", one(aggregate, b, a), both)
    equal("in handles", one("SELECT cuckoofilter_intersect(cuckoofilter_open(?), cuckoofilter_open(?))", b, a), both)
    equal("its own", one("SELECT cuckoofilter_intersect(?1, ?1)", both), both)
    equal("of one", one("SELECT cuckoofilter_intersect_agg(?)", a), one("SELECT cuckoofilter_intersect(?1, ?1)", a))
    for empty in ("cuckoofilter_create(10)", "cuckoofilter_create(10, 0.5, 'seed=9,bucket_size=2')"):
        is_sql(0, f"SELECT cuckoofilter_count(cuckoofilter_intersect(?, {empty}))", a)
        is_sql(0, f"SELECT cuckoofilter_count(cuckoofilter_intersect({empty}, ?))", a)
        is_sql(48, f"SELECT length(cuckoofilter_intersect({empty}, ?))", a)
        is_sql(
            0, f"SELECT cuckoofilter_count(cuckoofilter_intersect_agg(x)) FROM (SELECT ? AS x UNION ALL SELECT {empty})", a
        )
    is_sql(None, "SELECT cuckoofilter_intersect_agg(x) FROM (SELECT 1 AS x WHERE 0)")
    is_sql(None, "SELECT cuckoofilter_intersect_agg(x) FROM (SELECT NULL AS x UNION ALL SELECT NULL)")
    rows = suite.db.execute(
        "SELECT cuckoofilter_count(cuckoofilter_intersect_agg(f) OVER (ORDER BY x)) FROM "
        f"(SELECT x, (SELECT cuckoofilter_agg(value) FROM json_each('[1,2,3,4,5,6]') WHERE value >= x) AS f FROM {NUMBERS})",
        (1, 6),
    ).fetchall()
    equal("a window", [n for n, in rows], [6, 5, 4, 3, 2, 1])


def test_intersect_of_classes():
    """Numbers and texts share no item, whatever their hashes."""
    for first, second, classes in (
        ("cuckoofilter_agg(1)", "cuckoofilter_add(cuckoofilter_agg('a'), 1)", ["number"]),
        ("cuckoofilter_agg(1)", "cuckoofilter_agg('1')", []),
        ("cuckoofilter_agg_hash(cuckoofilter_hash(1))", "cuckoofilter_agg(1)", ["number"]),
        ("cuckoofilter_agg_hash(7)", "cuckoofilter_agg_hash(7)", ["hash"]),
    ):
        for a, b in ((first, second), (second, first)):
            both = one(f"SELECT cuckoofilter_intersect({a}, {b})")
            equal(f"{a} and {b}", suite.info(both)["item_classes"], classes)
            is_sql(1.0 if classes else 0.0, f"SELECT cuckoofilter_overlap({a}, {b})")


def test_overlap():
    for low, high, shared in ((1, 60, 30), (1, 30000, 5000), (1, 30000, 0), (1, 50000, 50000)):
        a = suite.agg(low, high, ", 0.01, 50000")
        b = suite.agg(high - shared + 1, high - shared + 30000, ", 0.001, 50000, 'bucket_size=2'")
        shared = min(shared, 30000)
        found = one("SELECT cuckoofilter_overlap(?, ?)", a, b)
        check(f"{found} of {shared}", abs(found - shared) < 100)
        jaccard = one("SELECT cuckoofilter_jaccard(?, ?)", a, b)
        check(f"jaccard {jaccard}", abs(jaccard - shared / (high + 30000 - shared)) < 0.005)
        equal("any order", one("SELECT cuckoofilter_overlap(?, ?)", b, a), found)
        error = one("SELECT cuckoofilter_overlap_error(?, ?)", a, b)
        check(f"{found} of {shared}, error {error}", abs(found - shared) <= 5 * error + 1)
        equal("its error, in any order", one("SELECT cuckoofilter_overlap_error(?, ?)", b, a), error)
    # exact where both are hashes
    few = one("SELECT cuckoofilter_add_all(cuckoofilter_create(9), 1, 2, 3, 4, 5, 6)")
    more = one("SELECT cuckoofilter_add_all(cuckoofilter_create(9, 0.1), 3, 4, 5, 6, 7, 8, 9, 9, 10)")
    is_sql(4.0, "SELECT cuckoofilter_overlap(?, ?)", few, more)
    is_sql(0.0, "SELECT cuckoofilter_overlap_error(?, ?)", few, more)
    is_sql(None, "SELECT cuckoofilter_overlap_error(?, NULL)", few)
    is_sql(0.4, "SELECT cuckoofilter_jaccard(?, ?)", few, more)
    is_sql(1.0, "SELECT cuckoofilter_jaccard(?1, ?1)", few)
    is_sql(0.0, "SELECT cuckoofilter_overlap(?, cuckoofilter_create(5, 0.01, 'seed=3'))", few)
    is_sql(0.0, "SELECT cuckoofilter_jaccard(?, cuckoofilter_create(5))", few)
    is_sql(None, "SELECT cuckoofilter_jaccard(cuckoofilter_create(7), cuckoofilter_create(5))")
    is_sql(0.0, "SELECT cuckoofilter_overlap(cuckoofilter_create(7), cuckoofilter_create(5))")
    # copies of an item count once
    many = one("SELECT cuckoofilter_sum(?1, ?1)", suite.agg(1, 20000))
    found = one("SELECT cuckoofilter_overlap(?1, ?1)", many)
    check(f"copies: {found}", abs(found - 20000) < 100)


def test_info():
    keys = (
        "count capacity target_fpr fpr bytes bits_per_item load_factor encoding layout kind "
        "bucket_size fingerprint_bits prefix_bits segments seed format_version "
        "item_classes items_left items_to_limit"
    )
    filter = suite.agg(1, 10000, ", 0.001")
    text = one("SELECT cuckoofilter_info(?)", filter)
    told = json.loads(text)
    equal("keys", " ".join(told), keys)
    equal("count", told["count"], 10000)
    equal("bytes", told["bytes"], len(filter))
    equal("format version", told["format_version"], 2)
    equal("item classes", told["item_classes"], ["number"])
    check("bits per item", abs(told["bits_per_item"] - 8 * len(filter) / 10000) < 1e-9)
    check("rate", 0 < told["fpr"] <= 0.001)
    check("rate", abs(told["fpr"] - one("SELECT cuckoofilter_fpr(?)", filter)) < 1e-12)
    check("load", 0.5 < told["load_factor"] <= 1)
    equal("encoding", (told["encoding"], told["layout"]), ("table", "semi_sorted"))
    equal("few are hashes", suite.info(suite.agg(1, 3))["encoding"], "hashes")
    check("few are small", len(suite.agg(1, 3)) < 100)
    is_sql(10000, "SELECT json_extract(cuckoofilter_info(?), '$.count')", filter)
    is_sql("object", "SELECT json_type(json_array(cuckoofilter_info(?)), '$[0]')", filter)
    big_seed = one("SELECT cuckoofilter_create(1, 0.5, 'seed=18446744073709551615')")
    equal("seed as signed", suite.info(big_seed)["seed"], -1)


def classes(sql, *parameters):
    return suite.info(one(f"SELECT {sql}", *parameters))["item_classes"]


def test_item_classes_of_changes():
    none, numbers = one("SELECT cuckoofilter_create(10)"), suite.agg(1, 30)
    equal("none", classes("?", none), [])
    equal("numbers", classes("?", numbers), ["number"])
    equal("real", classes("cuckoofilter_add(?, 2.5)", none), ["number"])
    equal("text", classes("cuckoofilter_add(?, '2')", none), ["text"])
    equal("bytes", classes("cuckoofilter_add(?, x'32')", none), ["bytes"])
    equal("hash", classes("cuckoofilter_add_hash(?, 2)", none), ["hash"])
    equal("hashes", classes("cuckoofilter_agg_hash(1)"), ["hash"])
    mixed = ["number", "text", "bytes"]
    equal("one by one", classes("cuckoofilter_add_all(?, 'a', x'00')", numbers), mixed)
    equal("at once", classes("cuckoofilter_add_all(?, 'a', x'00', 1)", none), mixed)
    equal("a set has it", classes("cuckoofilter_add(cuckoofilter_union(?, ?), 1)", none, numbers), ["number"])
    equal("NULL", classes("cuckoofilter_add_all(?, NULL)", numbers), ["number"])
    rows = "FROM (SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT NULL)"
    equal("aggregate", one(f"SELECT cuckoofilter_info(cuckoofilter_agg(x)) {rows}").count("number"), 1)
    text = one("SELECT cuckoofilter_add(?, 'a')", none)
    for merge in ("union", "sum"):
        for a, b in ((text, numbers), (numbers, text)):
            equal(merge, classes(f"cuckoofilter_{merge}(?, ?)", a, b), ["number", "text"])
            filters = "(SELECT ?1 AS f UNION ALL SELECT ?2 UNION ALL SELECT ?3)"
            merged = f"(SELECT cuckoofilter_{merge}_agg(f) FROM {filters})"
            equal(f"{merge}_agg", classes(merged, a, none, b), ["number", "text"])
        equal(f"{merge}: empty", classes(f"cuckoofilter_{merge}(?, ?)", none, text), ["text"])
    equal("emptied", classes("cuckoofilter_remove(?, 'a')", text), [])
    equal("emptied at once", classes("cuckoofilter_remove_all(?, 'a', 'b')", text), [])


def test_version_1():
    """Version 1 has no classes; a change makes it version 2."""
    old = bytearray(suite.agg(1, 30))
    old[3], old[14] = 1, 0
    old = bytes(old)
    equal("version", suite.info(old)["format_version"], 1)
    equal("classes", suite.info(old)["item_classes"], ["hash"])
    equal("all there", suite.contained(old, 1, 30), 30)
    for same in ("remove(?, 31)", "remove_all(?, 31, 32, 33)", "remove_all(?, 'a')", "remove_hash(?, 1)"):
        equal(same, one(f"SELECT cuckoofilter_{same}", old), old)
    for sql in ("add(?, 31)", "add_all(?, 1, 2, 31)", "remove(?, 1)", "compact(?)", "union_agg(?)"):
        changed = one(f"SELECT cuckoofilter_{sql}", old)
        equal(sql, suite.info(changed)["format_version"], 2)
        wanted = ["number", "hash"] if "add" in sql else ["hash"]
        equal(f"{sql}: classes", suite.info(changed)["item_classes"], wanted)
        equal(f"{sql}: old", changed[14] & 0xC0, 0xC0)


def test_aggregate():
    filter = suite.agg(1, 100000)
    is_sql(100000, "SELECT cuckoofilter_count(?)", filter)
    equal("all there", suite.contained(filter, 1, 100000), 100000)
    check("rate", suite.contained(filter, 100001, 300000) < 0.011 * 200000)
    check("not more bits than promised", len(filter) * 8 / 100000 < 11)
    shuffled = one(
        f"SELECT cuckoofilter_agg(x) FROM (SELECT x FROM {NUMBERS} ORDER BY x * 7919 % 100003)",
        1,
        100000,
    )
    equal("canonical", shuffled, filter)
    repeated = one(f"SELECT cuckoofilter_agg(x % 100000 + 1) FROM {NUMBERS}", 1, 250000)
    equal("distinct", repeated, filter)
    few = one(f"SELECT cuckoofilter_agg(x % 30000 + 1) FROM {NUMBERS}", 1, 250000)
    equal("few of many distinct", few, suite.agg(1, 30000))
    equal(
        "NULL skipped",
        one(f"SELECT cuckoofilter_agg(iif(x % 2, x, NULL)) FROM {NUMBERS}", 1, 99),
        one(f"SELECT cuckoofilter_agg(x) FROM {NUMBERS} WHERE x % 2", 1, 99),
    )
    roomy = suite.info(suite.agg(1, 5000, ", 0.001, 1000000"))
    equal("capacity kept", roomy["capacity"], 1000000)
    equal("rate kept", roomy["target_fpr"], 0.001)
    equal(
        "options",
        suite.info(suite.agg(1, 5000, ", 0.01, NULL, 'kind=set,bucket_size=2'"))["kind"],
        "set",
    )
    equal(
        "bucket size",
        suite.info(suite.agg(1, 5000, ", NULL, 0, 'bucket_size=8'"))["bucket_size"],
        8,
    )
    equal("NULL is the default", suite.agg(1, 5000, ", NULL, NULL, NULL"), suite.agg(1, 5000))
    groups = suite.db.execute(
        f"SELECT x % 10, cuckoofilter_agg(x), count(*) FROM {NUMBERS} GROUP BY 1", (1, 5000)
    ).fetchall()
    equal(
        "groups",
        [one("SELECT cuckoofilter_count(?)", g[1]) for g in groups],
        [g[2] for g in groups],
    )
    is_sql(
        50,
        f"SELECT cuckoofilter_count(cuckoofilter_agg(x) FILTER (WHERE x > 50)) FROM {NUMBERS}",
        1,
        100,
    )
    is_sql(7, f"SELECT cuckoofilter_count(cuckoofilter_agg(DISTINCT x % 7)) FROM {NUMBERS}", 1, 100)


def test_aggregate_of_nothing():
    empty = suite.info(one("SELECT cuckoofilter_agg(1) WHERE 0"))
    equal("count", empty["count"], 0)
    equal("default rate", empty["target_fpr"], 0.01)
    none = one("SELECT cuckoofilter_agg(NULL, 0.001, 500)")
    is_sql(0, "SELECT cuckoofilter_count(?)", none)
    equal(
        "its parameters",
        (suite.info(none)["capacity"], suite.info(none)["target_fpr"]),
        (500, 0.001),
    )
    is_sql(0, "SELECT cuckoofilter_contains(cuckoofilter_agg(NULL), 1)")
    is_sql(1, "SELECT NOT cuckoofilter_contains((SELECT cuckoofilter_agg(1) WHERE 0), 1)")
    for name in ("agg_hash", "union_agg", "sum_agg"):
        is_sql(0, f"SELECT cuckoofilter_count(cuckoofilter_{name}(NULL))")
        is_sql(0, f"SELECT cuckoofilter_count(cuckoofilter_{name}(x)) FROM (SELECT 1 AS x WHERE 0)")
    grown = one("SELECT cuckoofilter_add(cuckoofilter_agg(1), 'a') FROM (SELECT 1) WHERE 0")
    is_sql(1, "SELECT cuckoofilter_contains(?, 'a')", grown)


def test_aggregates_of_no_rows():
    """The empty default filter, since the parameters are unknown without a row."""
    default = one("SELECT cuckoofilter_create(1)")
    for call in (
        "agg(x)",
        "agg(x, 0.2)",
        "agg(x, 0.2, 5000)",
        "agg(x, 0.2, 5000, 'kind=set,seed=9,bucket_size=2,layout=plain')",
        "agg_hash(x)",
        "agg_hash(x, 0.2, 5000, 'kind=set,seed=9')",
        "union_agg(x)",
        "sum_agg(x)",
    ):
        none = f"SELECT cuckoofilter_{call} FROM (SELECT 1 AS x)"
        equal(f"{call} of no rows", one(f"{none} WHERE x > 1"), default)
        filtered = none.replace(" FROM", " FILTER (WHERE x > 1) FROM")
        equal(f"{call} of no row that passes", one(filtered), default)
    # of one empty filter, or of none but NULL
    told = suite.info(default)
    equal(
        "the default",
        (told["count"], told["capacity"], told["target_fpr"], told["kind"], told["seed"]),
        (0, 1, 0.01, "deletable", 0),
    )
    for function, kind in (("union_agg", "set"), ("sum_agg", "deletable")):
        equal(
            f"{function} of NULLs",
            one(f"SELECT cuckoofilter_{function}(x) FROM (SELECT NULL AS x UNION ALL SELECT NULL)"),
            default,
        )
        equal(
            f"{function} of an empty filter",
            one(f"SELECT cuckoofilter_{function}(cuckoofilter_create(7, 0.2, 'seed=9'))"),
            one(f"SELECT cuckoofilter_create(7, 0.2, 'seed=9,kind={kind}')"),
        )


def test_window():
    rows = suite.db.execute(
        f"SELECT x, cuckoofilter_count(cuckoofilter_agg(x % 4) OVER (ORDER BY x)) FROM {NUMBERS}",
        (1, 6),
    ).fetchall()
    equal("growing frame", [n for _, n in rows], [1, 2, 3, 4, 4, 4])
    rows = suite.db.execute(
        f"SELECT cuckoofilter_count(cuckoofilter_sum_agg(f) OVER (ORDER BY x)) FROM "
        f"(SELECT x, cuckoofilter_add(cuckoofilter_create(99), x) AS f FROM {NUMBERS})",
        (1, 5),
    ).fetchall()
    equal("of filters", [n for n, in rows], [1, 2, 3, 4, 5])
    refuses(
        "cuckoofilter aggregates cannot drop rows: the window frame must start at UNBOUNDED PRECEDING",
        f"SELECT max(f) FROM (SELECT cuckoofilter_agg(x) OVER (ROWS 1 PRECEDING) AS f FROM {NUMBERS})",
        1,
        9,
    )


def test_items_of_other_classes():
    """Items of a class that was never added are absent even if they match by chance, and remove no other item's copy."""
    numbers = one(f"SELECT cuckoofilter_agg(x, 0.2, 4000) FROM {NUMBERS}", 1, 4000)
    words = [f"x{i}" for i in range(300)]
    filter = at_once = numbers
    for word in words:
        filter = one("SELECT cuckoofilter_remove(?, ?)", filter, word)
        equal(f"contains {word}", one("SELECT cuckoofilter_contains(?, ?)", numbers, word), 0)
        equal(f"copies of {word}", one("SELECT cuckoofilter_copies(?, ?)", numbers, word), 0)
    equal("one by one", filter, numbers)
    for some in (words[:100], words[100:200], words[200:]):
        marks = ", ".join("?" * len(some))
        at_once = one(f"SELECT cuckoofilter_remove_all(?, {marks})", at_once, *some)
        equal("any", one(f"SELECT cuckoofilter_contains_any(?, {marks})", numbers, *some), 0)
        equal("all", one(f"SELECT cuckoofilter_contains_all(?, {marks})", numbers, *some), 0)
        equal("any but for one", one(f"SELECT cuckoofilter_contains_any(?, {marks}, 1)", numbers, *some), 1)
    equal("at once", at_once, numbers)
    equal("beside others", one("SELECT cuckoofilter_count(cuckoofilter_remove_all(?, 1, 'x', 2))", numbers), 3998)
    equal("all without one", one("SELECT cuckoofilter_contains_all(?, 1, 'x')", numbers), 0)


def test_add_agg():
    """A batch: the filter of the group with all its items, as if each were added."""
    for first, last, parameters in ((1, 1, ""), (1, 3, ""), (1, 30000, ""), (1, 30000, ", 0.001, 90000")):
        filter = suite.agg(first, last, parameters)
        for low, high in ((7, 7), (40001, 40100), (40001, 52000)):
            what = f"{last} items and {high - low + 1}"
            got = one(f"SELECT cuckoofilter_add_agg(?3, x) FROM {NUMBERS}", low, high, filter)
            told = suite.info(got)
            equal(f"{what}: count", told["count"], last + high - low + 1)
            for key in ("capacity", "target_fpr", "kind", "seed", "bucket_size"):
                equal(f"{what}: {key}", told[key], suite.info(filter)[key])
            if last > 4096:
                equal(f"{what}: precision", told["prefix_bits"], suite.info(filter)["prefix_bits"])
            equal(what, suite.contained(got, low, high), high - low + 1)
            equal(what, suite.contained(got, first, last) or 0, last)
            opened = "(SELECT cuckoofilter_open(?3))"
            for sql in (
                f"SELECT cuckoofilter_add_agg({opened}, x) FROM {NUMBERS}",
                # the filter comes with a later row, or with one row only
                f"SELECT cuckoofilter_add_agg(iif(x > ?1 + 90 OR x = ?2, ?3, NULL), x) FROM {NUMBERS}",
                f"SELECT cuckoofilter_add_agg(f, x) FROM (SELECT NULL AS f, x FROM {NUMBERS} "
                "UNION ALL SELECT ?3, NULL)",
                # of several the first counts
                f"SELECT cuckoofilter_add_agg(f, x) FROM (SELECT ?3 AS f, NULL AS x UNION ALL "
                f"SELECT cuckoofilter_create(9, 0.5, 'seed=9'), x FROM {NUMBERS})",
            ):
                equal(f"{what}: {sql}", one(sql, low, high, filter), got)
    small = one(f"SELECT cuckoofilter_add_agg(cuckoofilter_create(9), x) FROM {NUMBERS}", 1, 9)
    equal("as add_all", one("SELECT cuckoofilter_add_all(cuckoofilter_create(9), 1,2,3,4,5,6,7,8,9)"), small)
    equal("a copy of each", 3, one(
        f"SELECT cuckoofilter_copies(cuckoofilter_add_agg(cuckoofilter_create(9), 7), 7) FROM {NUMBERS}", 1, 3))
    is_sql(1, "SELECT cuckoofilter_count(cuckoofilter_add_agg(cuckoofilter_create(9, 0.1, 'kind=set'), 7)) "
           f"FROM {NUMBERS}", 1, 3)
    texts = one("SELECT cuckoofilter_add_agg(column2, column1) FROM (VALUES ('a', NULL), (x'01', NULL), "
                "(2.5, NULL), (NULL, cuckoofilter_create(9, 0.01, 'seed=5')), (7, NULL))")
    is_sql(1, "SELECT cuckoofilter_contains_all(?, 'a', x'01', 2.5, 7)", texts)
    # no rows, no filter, no items
    is_sql(None, "SELECT cuckoofilter_add_agg(1, 1) WHERE 0")
    is_sql(None, "SELECT cuckoofilter_add_agg(NULL, 1)")
    is_sql(None, f"SELECT cuckoofilter_add_agg(NULL, x) FROM {NUMBERS}", 1, 1000)
    filter = suite.agg(1, 5000)
    is_sql(None, f"SELECT cuckoofilter_add_agg(?3, x) FILTER (WHERE x > ?2) FROM {NUMBERS}", 1, 9, filter)
    rows = suite.db.execute(
        "SELECT cuckoofilter_count(cuckoofilter_add_agg(?3, x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING "
        f"AND 2 PRECEDING)) FROM {NUMBERS}",
        (1, 4, filter),
    ).fetchall()
    equal("an empty frame", [n for n, in rows], [None, None, 5001, 5002])
    # an empty batch leaves the stored filter as it is, in both recipes
    for batch in (
        "coalesce((SELECT cuckoofilter_add_agg(f, x) FROM batch), f)",
        "(SELECT cuckoofilter_add_agg(f, x) FROM (SELECT 1) LEFT JOIN batch ON 1)",
    ):
        suite.db.execute("CREATE TABLE stored(f NOT NULL)")
        suite.db.execute("CREATE TABLE batch(x)")
        suite.db.execute("INSERT INTO stored VALUES (?)", (filter,))
        suite.db.execute(f"UPDATE stored SET f = {batch}")
        equal(f"no batch: {batch}", one("SELECT f FROM stored"), filter)
        suite.db.execute("INSERT INTO batch VALUES (-1), (NULL), (-2)")
        suite.db.execute(f"UPDATE stored SET f = {batch}")
        equal(f"a batch: {batch}", one("SELECT cuckoofilter_count(f) FROM stored"), 5002)
        suite.db.execute("DELETE FROM batch")
        refuses("NOT NULL constraint failed: stored.f", "UPDATE stored SET f = (SELECT cuckoofilter_add_agg(f, x) FROM batch)")
        suite.db.execute("DROP TABLE stored")
        suite.db.execute("DROP TABLE batch")
    equal("no items", one(f"SELECT cuckoofilter_add_agg(?3, NULL) FROM {NUMBERS}", 1, 9, filter), filter)
    # groups, and a window that grows
    rows = suite.db.execute(
        f"SELECT x % 10, cuckoofilter_add_agg(?3, -x) FROM {NUMBERS} GROUP BY 1", (1, 1000, filter)
    ).fetchall()
    for k, got in rows:
        equal(f"group {k}", (suite.info(got)["count"], suite.contained(got, -1000, -1) >= 100), (5100, True))
    rows = suite.db.execute(
        f"SELECT cuckoofilter_count(cuckoofilter_add_agg(?3, x) OVER (ORDER BY x)) FROM {NUMBERS}",
        (1, 20, filter),
    ).fetchall()
    equal("window", [n for n, in rows], list(range(5001, 5021)))
    refuses(
        "cuckoofilter aggregates cannot drop rows: the window frame must start at UNBOUNDED PRECEDING",
        f"SELECT max(f) FROM (SELECT cuckoofilter_add_agg(?3, x) OVER (ROWS 1 PRECEDING) AS f FROM {NUMBERS})",
        1,
        9,
        filter,
    )
    refuses(BAD_BYTES, "SELECT cuckoofilter_add_agg(x'00', 1)")
    sentence = "cuckoofilter must be a BLOB or come from cuckoofilter_open, not TEXT: ask a filter table by EXISTS (SELECT 1 FROM name WHERE item = ..)"
    refuses(sentence, "SELECT cuckoofilter_add_agg('a', 1)")


# Functions that add the item ?1 to a filter, and the others that take an item.
ADDS = (
    "add(cuckoofilter_create(9), ?1)",
    "add_all(cuckoofilter_create(9), 1, ?1)",
    "add_pair(cuckoofilter_create(9), ?1, 1)",
    "add_pair(cuckoofilter_create(9), 1, ?1)",
    "agg(?1)",
    "agg(?1, 0.01, 100)",
    "agg_pair(?1, 1)",
    "agg_pair(1, ?1)",
    "add_agg(cuckoofilter_create(9), ?1)",
    "add_agg(CASE column1 WHEN 2 THEN cuckoofilter_create(9) END, ?1) FROM (VALUES (1), (2))",
)
TAKES = (
    "hash(?1)",
    "hash(?1, 7)",
    "part(?1, 7)",
    "contains(cuckoofilter_create(9), ?1)",
    "contains_any(cuckoofilter_create(9), ?1)",
    "contains_all(cuckoofilter_create(9), ?1)",
    "contains_pair(cuckoofilter_create(9), ?1, 1)",
    "contains_pair(cuckoofilter_create(9), 1, ?1)",
    "copies(cuckoofilter_create(9), ?1)",
    "which(cuckoofilter_create(9), ?1, '[1]')",
    "remove(cuckoofilter_create(9), ?1)",
    "remove_all(cuckoofilter_create(9), 1, ?1)",
    "remove_pair(cuckoofilter_create(9), ?1, 1)",
    "remove_pair(cuckoofilter_create(9), 1, ?1)",
)


def test_filter_as_item():
    """A filter is not added as an item; what an earlier version added can be found and removed."""
    sentence = "a cuckoofilter is not an item: merge filters by cuckoofilter_union"
    filters = [one("SELECT cuckoofilter_create(9, 0.01, 'seed=3')"), suite.agg(1, 5), suite.agg(1, 5000)]
    filters += [suite.agg(1, 5000, ", 0.1, 9000, 'bucket_size=8'"), one("SELECT cuckoofilter_union(?1, ?1)", filters[2])]
    for filter in filters:
        for call in ADDS:
            refuses(sentence, f"SELECT cuckoofilter_{call}", filter)
        for call in TAKES:
            check(call, one(f"SELECT (SELECT cuckoofilter_{call}) IS NOT NULL", filter))
        added = one("SELECT cuckoofilter_add_hash(cuckoofilter_add(cuckoofilter_create(9), x'00'), cuckoofilter_hash(?))", filter)
        is_sql(1, "SELECT cuckoofilter_contains(?, ?)", added, filter)
        is_sql(1, "SELECT cuckoofilter_count(cuckoofilter_remove(?, ?))", added, filter)
        # bytes that are not quite a filter are an item
        for item in (filter[:-1], filter + b"\0", b"X" + filter[1:], filter[:3], filter[:47], b"CKF" + bytes(45), bytes(16)):
            for call in ADDS + TAKES:
                check(call, one(f"SELECT (SELECT cuckoofilter_{call}) IS NOT NULL", item))
        # a handle is no item anywhere, whether it is open or not
        for handle in (one("SELECT cuckoofilter_open(?)", filter), b"ckf-open" + bytes(16)):
            for call in ADDS + TAKES:
                refuses(sentence, f"SELECT cuckoofilter_{call}", handle)
        for item in (b"ckf-open", b"ckf-open" + bytes(15), b"ckf-open" + bytes(17), b"ckf-oper" + bytes(16)):
            for call in ADDS + TAKES:
                check(call, one(f"SELECT (SELECT cuckoofilter_{call}) IS NOT NULL", item))


def test_part():
    """The part of an item: the last 32 bits of its hash, unsigned, modulo the number of parts."""
    for item in (0, 1, -1, 2**62, 2.5, "a", "", b"", b"\0" * 48):
        for parts in (1, 2, 3, 64, 1000, 1 << 16, (1 << 31) - 2, (1 << 31) - 1):
            want = (one("SELECT cuckoofilter_hash(?)", item) & 0xFFFFFFFF) % parts
            is_sql(want, "SELECT cuckoofilter_part(?, ?)", item, parts)
            is_sql(want, "SELECT cuckoofilter_part(?, ?)", item, float(parts))
    for parts in (0, -1, 1 << 31, 1 << 32, (1 << 32) + 1, -(1 << 63), (1 << 63) - 1):
        refuses(f"parts must be from 1 to 2147483647, not {parts}", "SELECT cuckoofilter_part(1, ?)", parts)
    for parts, shown in (("64", "TEXT"), (b"64", "BLOB"), (2.5, "2.5")):
        refuses(f"parts must be an integer, not {shown}", "SELECT cuckoofilter_part(1, ?)", parts)
    is_sql(None, "SELECT cuckoofilter_part(NULL, 7)")
    is_sql(None, "SELECT cuckoofilter_part(1, NULL)")
    is_sql(None, "SELECT cuckoofilter_part(NULL, 'x')")


def test_numbers_as_reals():
    """Drivers of JavaScript bind every number as REAL; what is exact counts as the integer."""
    hash = one("SELECT cuckoofilter_hash('a')")
    exact = 9007199254740992.0
    filter = one("SELECT cuckoofilter_add_hash(cuckoofilter_create(100.0), ?)", exact)
    equal("capacity", suite.info(filter)["capacity"], 100)
    is_sql(1, "SELECT cuckoofilter_contains_hash(?, ?)", filter, int(exact))
    is_sql(1, "SELECT cuckoofilter_contains_hash(?, ?)", filter, exact)
    is_sql(1, "SELECT cuckoofilter_contains(cuckoofilter_agg(5), 5.0)")
    is_sql(1, "SELECT cuckoofilter_contains(cuckoofilter_agg(5.0), 5)")
    is_sql(1, "SELECT cuckoofilter_hash(7, 3.0) = cuckoofilter_hash(7.0, 3)")
    is_sql(1, "SELECT cuckoofilter_agg(x, 0.01, 1e6) = cuckoofilter_agg(x, 0.01, 1000000) FROM (SELECT 7 AS x)")
    # a double may have rounded the hash, so it is refused
    for number in (float(hash), 1e300, 0.5, -1e19):
        error = refusal(suite.db, "SELECT cuckoofilter_add_hash(?, ?)", filter, number)
        check(f"{number} is refused: {error}", error and error.startswith("hash must be an integer, not "))
    for number, shown in ((1.5, "1.5"), (math.inf, "Inf"), (-math.inf, "-Inf")):
        refuses(f"capacity must be an integer, not {shown}", "SELECT cuckoofilter_create(?)", number)
    for number, shown in ((1e20, "1.0e+20"), (2.0**60, "1.152921504606847e+18"), (-1e19, "-1.0e+19")):
        refuses(f"capacity must be from 1 to 1099511627776, not {shown}", "SELECT cuckoofilter_create(?)", number)
    refuses("capacity must be from 1 to 1099511627776, not 2199023255552", "SELECT cuckoofilter_create(?)", 2.0**41)
    is_sql(1 << 40, "SELECT json_extract(cuckoofilter_info(cuckoofilter_create(?, 0.5)), '$.capacity')", 2.0**40)


def test_open():
    filter = suite.agg(1, 50000)
    handle = "(SELECT cuckoofilter_open(?3))"
    equal(
        "contains",
        one(f"SELECT sum(cuckoofilter_contains({handle}, x)) FROM {NUMBERS}", 1, 50000, filter),
        50000,
    )
    for call in CALLS:
        if "_open({v})" not in call:  # which gives a handle
            got = one("SELECT " + call.format(v="cuckoofilter_open(?1)"), filter)
            equal(call, got, one("SELECT " + call.format(v="?1"), filter))
    is_sql(1, "SELECT cuckoofilter_count(cuckoofilter_open(cuckoofilter_open(?1))) = cuckoofilter_count(?1)", filter)
    is_sql(None, "SELECT cuckoofilter_open(NULL)")
    is_sql(None, "SELECT cuckoofilter_count(cuckoofilter_open(NULL))")
    refuses(BAD_BYTES, "SELECT cuckoofilter_open(x'00')")
    is_sql(
        0,
        "SELECT cuckoofilter_contains((SELECT cuckoofilter_open(cuckoofilter_agg(1)) WHERE 0), 1)",
    )


def test_null_filter():
    for call in CALLS:
        if call not in ("cuckoofilter_union_agg({v})", "cuckoofilter_sum_agg({v})"):  # an empty filter
            is_sql(None, "SELECT " + call.format(v="NULL"))
    for call in ("contains({e}, NULL)", "copies({e}, NULL)", "contains_hash({e}, NULL)"):
        is_sql(None, f"SELECT cuckoofilter_{call}".format(e="cuckoofilter_create(9)"))


def test_null_item():
    """NULL is no item: adding or removing it changes no filter."""
    filters = [
        one("SELECT cuckoofilter_create(9)"),
        one("SELECT cuckoofilter_create(9, 0.1, 'kind=set')"),
        suite.agg(1, 3),
        suite.agg(1, 50000),
        suite.agg(1, 5000, ", 0.01, 0, 'kind=set'"),
    ]
    for filter in filters:
        for opened in ("?", "cuckoofilter_open(?)"):
            for call in (
                "add({f}, NULL)",
                "add_hash({f}, NULL)",
                "add_all({f})",
                "add_all({f}, NULL)",
                "add_all({f}, NULL, NULL, NULL)",
                "remove({f}, NULL)",
                "remove_hash({f}, NULL)",
                "remove_all({f})",
                "remove_all({f}, NULL, NULL)",
            ):
                call = f"cuckoofilter_{call}".replace("{f}", opened)
                equal(call, one(f"SELECT {call}", filter), filter)
        is_sql(0, "SELECT cuckoofilter_contains_any(?, NULL, NULL)", filter)
        is_sql(1, "SELECT cuckoofilter_contains_all(?, NULL, NULL)", filter)
    refuses(BAD_BYTES, "SELECT cuckoofilter_add(x'00', NULL)")
    for call in ("add(NULL, NULL)", "remove_hash(NULL, NULL)", "add_all(NULL, NULL)"):
        is_sql(None, f"SELECT cuckoofilter_{call}")


def test_null_item_in_a_trigger():
    suite.db.executescript("""
        CREATE TEMP TABLE person (email TEXT);
        CREATE TEMP TABLE known AS SELECT cuckoofilter_create(100) AS f;
        CREATE TEMP TRIGGER learn AFTER INSERT ON person BEGIN
            UPDATE known SET f = cuckoofilter_add(f, new.email);
        END;
        CREATE TEMP TRIGGER forget AFTER DELETE ON person BEGIN
            UPDATE known SET f = cuckoofilter_remove(f, old.email);
        END;
        INSERT INTO person VALUES ('a@b'), (NULL), ('c@d');
        DELETE FROM person WHERE email IS NULL;
    """)
    is_sql(1, "SELECT cuckoofilter_contains_all(f, 'a@b', 'c@d') FROM known")
    is_sql(2, "SELECT cuckoofilter_count(f) FROM known")
    suite.db.executescript("DROP TABLE person; DROP TABLE known;")


suite.run(globals())
