#!/usr/bin/python3
"""Every error message, through Python's sqlite3."""

import re
import random
import sqlite3

from suite import CALLS, NUMBERS, Suite, connect, refusal

suite = Suite("sqlite-errors")
one, check, equal = suite.one, suite.check, suite.equal
is_sql, refuses = suite.is_sql, suite.refuses

OPTIONS = (
    "valid options are kind=deletable|set, bucket_size=2|4|8, layout=semi_sorted|plain "
    "(semi_sorted needs bucket_size=4) and seed=<64-bit integer>"
)
BAD_BYTES = "not a cuckoofilter: the bytes are damaged or are something else"
PRECISION = re.compile(
    r"cuckoofilter has no precision left: it has (\d+) items at a false positive rate of (0\.\d+); "
    r"build it with a larger capacity"
)
MORE = re.compile(
    r"cuckoofilter has no precision left for (\d+) more items: it has (\d+) items at a false positive "
    r"rate of (0\.\d+); build it with a capacity of at least (\d+)"
)
TEXT = "TEXT: ask a filter table by EXISTS (SELECT 1 FROM name WHERE item = ..)"
ORDER = "the filter is the first argument, the item the second"


def test_error_of_parameters():
    for value in ("0", "-5", "1099511627777", "9223372036854775807"):
        refuses(
            f"capacity must be from 1 to 1099511627776, not {value}",
            f"SELECT cuckoofilter_create({value})",
        )
    for value, shown in (
        ("0", "0.0"),
        ("1000000", "1000000.0"),
        ("1", "1.0"),
        ("-0.5", "-0.5"),
        ("1.5", "1.5"),
        ("9e999", "Inf"),
    ):
        sentence = f"false positive rate must be greater than 0 and less than 1, not {shown}"
        high = shown in ("1000000.0", "1.0", "1.5", "Inf")
        percent = ": a rate of 1 % is 0.01" if high else ""
        order = ": aggregates take the rate, 0.01 for 1 %, before the capacity: cuckoofilter_agg(item, fpr, capacity)"
        refuses(sentence + percent, f"SELECT cuckoofilter_create(10, {value})")
        refuses(sentence + (order if high else ""), f"SELECT cuckoofilter_agg(1, {value})")
    refuses(
        "capacity 1099511627776 at a false positive rate of 1.0e-06 is too precise: "
        "the quotient of capacity and rate must not exceed 2^56; lower the capacity or raise the false positive rate",
        "SELECT cuckoofilter_create(1 << 40, 1e-6)",
    )
    refuses(
        "capacity must be from 1 to 1099511627776, not -1", "SELECT cuckoofilter_agg(1, 0.01, -1)"
    )
    for text, bad in (
        ("colour=red", "colour=red"),
        ("kind=bag", "kind=bag"),
        ("kind", "kind"),
        ("bucket_size=3", "bucket_size=3"),
        ("bucket_size=", "bucket_size="),
        ("seed=1x", "seed=1x"),
        ("seed=18446744073709551616", "seed=18446744073709551616"),
        ("seed=-9223372036854775809", "seed=-9223372036854775809"),
        ("KIND=set", "KIND=set"),
        ("layout=flat", "layout=flat"),
        ("kind=set, , seed=1", ""),
        ("kind=set,", ""),
        ("=set", "=set"),
        ("layout=semi_sorted,bucket_size=8", "layout=semi_sorted,bucket_size=8"),
        ("é=1", "é=1"),
    ):
        sentence = f'invalid cuckoofilter option "{bad}": {OPTIONS}'
        refuses(sentence, "SELECT cuckoofilter_create(10, 0.01, ?)", text)
        refuses(sentence, "SELECT cuckoofilter_agg(1, 0.01, 10, ?)", text)
        refuses(sentence, "SELECT cuckoofilter_agg_hash(1, 0.01, 10, ?)", text)
    for text in ("fpr=1%", "fpr=0.01"):
        sentence = f'invalid cuckoofilter option "{text}": the rate is an argument of its own, 0.01 for 1 %'
        refuses(sentence, "SELECT cuckoofilter_create(10, 0.01, ?)", text)
        refuses(sentence, "SELECT cuckoofilter_agg(1, 0.01, 10, 'kind=set, ' || ?)", text)
    for text in ("kind=set;seed=1", "kind=set seed=1", "fpr=0.1 kind=set"):
        sentence = f'invalid cuckoofilter option "{text}": separate options by commas, as in kind=set, seed=7'
        refuses(sentence, "SELECT cuckoofilter_create(10, 0.01, 'layout=plain, ' || ?)", text)
    for text, twice in (("kind=set,kind=set", "kind=set"), ("seed=1, kind=set , seed = 2 ,layout=plain", "seed = 2")):
        sentence = f'invalid cuckoofilter option "{twice}": give this option once'
        refuses(sentence, "SELECT cuckoofilter_create(10, 0.01, ?)", text)
        refuses(sentence, "SELECT cuckoofilter_agg_pair(1, 2, 0.01, 10, ?)", text)


def test_error_of_types():
    refuses("capacity must be an integer, not TEXT", "SELECT cuckoofilter_create('1000')")
    refuses("capacity must be an integer, not 2.5", "SELECT cuckoofilter_create(2.5)")
    refuses("capacity must be an integer, not -0.5", "SELECT cuckoofilter_create(-0.5)")
    for call in ("create(0.01, 1000)", "bytes(0.01, 1000)", "agg(1, 0.5, 0.01)"):
        refuses(
            "capacity must be an integer, not 0.01: cuckoofilter_create and cuckoofilter_bytes take the capacity "
            "before the rate, aggregates after it",
            f"SELECT cuckoofilter_{call}",
        )
    refuses("capacity must be an integer, not Inf", "SELECT cuckoofilter_create(9e999)")
    refuses("capacity must be from 1 to 1099511627776, not 1.0e+19", "SELECT cuckoofilter_create(1e19)")
    refuses("capacity must be from 1 to 1099511627776, not -1.0e+20", "SELECT cuckoofilter_agg(1, 0.1, -1e20)")
    refuses("capacity must be an integer, not BLOB", "SELECT cuckoofilter_agg(1, 0.1, x'00')")
    for text in ("0.01", "1%", "1 %"):
        refuses(
            "false positive rate must be a number, not TEXT: a rate of 1 % is 0.01", "SELECT cuckoofilter_create(10, ?)", text
        )
    refuses("false positive rate must be a number, not BLOB: a rate of 1 % is 0.01", "SELECT cuckoofilter_agg(1, x'')")
    refuses("options must be TEXT, not INTEGER", "SELECT cuckoofilter_create(10, 0.01, 4)")
    refuses("options must be TEXT, not 0.5", "SELECT cuckoofilter_agg(1, 0.01, 4, 0.5)")
    refuses("seed must be an integer, not TEXT", "SELECT cuckoofilter_hash(1, 'a')")
    refuses("seed must be an integer, not 0.5", "SELECT cuckoofilter_hash(1, 0.5)")
    empty = "cuckoofilter_create(9)"
    for name in ("add", "contains", "remove"):
        refuses(
            "hash must be an integer, not TEXT", f"SELECT cuckoofilter_{name}_hash({empty}, '5')"
        )
        refuses(
            "hash must be an integer, not 1.8446744073709552e+19",
            f"SELECT cuckoofilter_{name}_hash({empty}, 18446744073709551616.0)",
        )
        is_sql(1, f"SELECT cuckoofilter_{name}_hash({empty}, 5.0) IS NOT NULL")
    refuses("hash must be an integer, not BLOB", "SELECT cuckoofilter_agg_hash(x'01')")
    for shown, value in ((TEXT, "'abc'"), ("INTEGER", "5"), ("5.5", "5.5")):
        sentence = f"cuckoofilter must be a BLOB or come from cuckoofilter_open, not {shown}"
        for call in CALLS:
            refuses(sentence, "SELECT " + call.format(v=value))


def test_error_of_order():
    """An item before its filter."""
    calls = (
        "add({v}, {f})", "add_all({v}, {f})", "add_all({v}, {f}, 5)", "contains({v}, {f})", "contains_any({v}, {f})",
        "contains_all({v}, {f})", "copies({v}, {f})", "remove({v}, {f})", "remove_all({v}, {f})", "add_pair({v}, {f}, 1)",
        "remove_pair({v}, {f}, 1)", "contains_pair({v}, {f}, 1)", "which({v}, {f}, '[1]')",
        "contains_hash({v}, {f})", "add_hash({v}, {f})", "remove_hash({v}, {f})",
    )
    type_error = "cuckoofilter must be a BLOB or come from cuckoofilter_open, not "
    for f in ("cuckoofilter_create(9)", "cuckoofilter_open(cuckoofilter_create(9))"):
        for v, sentence in (
            ("'bob'", f"{type_error}TEXT: {ORDER}"), ("5", f"{type_error}INTEGER: {ORDER}"), ("0.5", f"{type_error}0.5: {ORDER}"),
            ("x'626f62'", f"{BAD_BYTES}: {ORDER}"), ("zeroblob(24)", f"{BAD_BYTES}: {ORDER}"), ("zeroblob(48)", f"{BAD_BYTES}: {ORDER}"),
        ):
            for call in calls:
                refuses(sentence, f"SELECT cuckoofilter_{call}".replace("{v}", v).replace("{f}", f))
    # no filter follows, or the first one is a filter that cannot be used
    newer = "cuckoofilter of an unknown format or hash version: it needs a newer release of cuckoofilter"
    f = bytearray(suite.agg(1, 5))
    f[3] = 99
    refuses(newer, "SELECT cuckoofilter_contains(?, cuckoofilter_create(9))", bytes(f))
    for v in ("'bob'", "NULL", "zeroblob(48)"):
        refuses(type_error + TEXT, f"SELECT cuckoofilter_contains('bob', {v})")
    gone = one("SELECT cuckoofilter_open(cuckoofilter_create(9))")
    other = connect()
    error = refusal(other, "SELECT cuckoofilter_contains(?, cuckoofilter_create(9))", gone)
    check(f"a handle of another connection: {error}", error and error.startswith("the cuckoofilter of this handle is not open"))
    other.close()


def test_error_of_bytes():
    for value in ("x''", "x'00'", "zeroblob(48)", "x'" + bytes(range(100)).hex() + "'"):
        for call in CALLS:
            refuses(BAD_BYTES, "SELECT " + call.format(v=value))
    filter = bytearray(suite.agg(1, 5))
    for at in (3, 4):
        newer = bytes(filter[:at]) + b"\x63" + bytes(filter[at + 1 :])
        refuses(
            "cuckoofilter of an unknown format or hash version: it needs a newer release of cuckoofilter",
            "SELECT cuckoofilter_count(?)",
            newer,
        )


def test_error_of_arguments():
    for name in ("add_all", "remove_all", "contains_any", "contains_all"):
        refuses("the first argument must be a cuckoofilter", f"SELECT cuckoofilter_{name}()")
    for call in (
        "create()",
        "add(1)",
        "contains(1)",
        "union(1)",
        "intersect(1)",
        "overlap(1, 2, 3)",
        "overlap_error(1)",
        "intersect_agg()",
        "hash()",
        "hash(1, 2, 3)",
        "version(1)",
        "agg()",
    ):
        name = call.split("(")[0]
        refuses(
            f"wrong number of arguments to function cuckoofilter_{name}()",
            f"SELECT cuckoofilter_{call}",
        )


def test_error_of_merging():
    sentence = "cannot merge cuckoofilters with different seeds: the seeds are 1 and -2; use the same seed option for all filters that are merged"
    one_seed = "cuckoofilter_add(cuckoofilter_create(9, 0.01, 'seed=1'), 5)"
    other = "cuckoofilter_add(cuckoofilter_create(9, 0.01, 'seed=-2'), 5)"
    for name in ("overlap", "overlap_error", "jaccard"):
        refuses(sentence, f"SELECT cuckoofilter_{name}({one_seed}, {other})")
    for name in ("union", "sum", "intersect"):
        refuses(sentence, f"SELECT cuckoofilter_{name}({one_seed}, {other})")
        refuses(
            sentence,
            f"SELECT cuckoofilter_{name}_agg(f) FROM (SELECT {one_seed} AS f UNION ALL SELECT {other})",
        )


def test_error_of_precision():
    """Growth is refused with a clear error at about 8 times the target rate.  A batch of a hundred, which
    could be added one by one, is refused as a whole: the error counts the items before it."""
    filter = suite.agg(0, 4999)
    items = ", ".join(f"?1 + {i}" for i in range(100))
    n = 5000
    message = ""
    try:
        while n < 100000:
            filter = one(f"SELECT cuckoofilter_add_all(?2, {items})", n, filter)
            n += 100
    except sqlite3.Error as error:
        message = str(error)
    check(f"stopped at {n}", 30000 < n < 60000)
    told = MORE.fullmatch(message)
    check(message, told)
    equal("the batch, the items, both", told.group(1, 2, 4), ("100", str(n), str(n + 100)))
    check(told[3], float(told[3]) == round(one("SELECT cuckoofilter_fpr(?)", filter), 4))
    message, last = "", n
    try:
        while last < n + 100:
            filter = one("SELECT cuckoofilter_add(?, ?)", filter, last)
            last += 1
    except sqlite3.Error as error:
        message = str(error)
    told = PRECISION.fullmatch(message)
    check(message, told and told[1] == str(last))
    n = last
    check("rate", 0.05 < one("SELECT cuckoofilter_fpr(?)", filter) < 0.1)
    equal("nothing lost", suite.contained(filter, 0, n - 1), n)


def test_error_of_a_batch():
    """The error names the items that do not fit, and a capacity that is enough."""
    for options, most in (("", 90000), ("kind=set", 90000), ("bucket_size=2", 70000), ("bucket_size=8", 90000)):
        few = f"(SELECT cuckoofilter_agg(x, 0.01, %d, '{options}') AS f FROM {NUMBERS})"
        rest = f"(WITH RECURSIVE r(y) AS (SELECT ?2 + 1 UNION ALL SELECT y + 1 FROM r WHERE y < {most}) SELECT y FROM r)"
        batch = f"SELECT cuckoofilter_add_agg(f, y) FROM {few}, {rest}"
        told = MORE.fullmatch(refusal(suite.db, batch % 0, 1, 10000))
        check(f"{options}: {told}", told and abs(int(told[2]) - 10000) < 100 and abs(int(told[1]) - most + 10000) < 1000)
        capacity = int(told[1]) + int(told[2])
        equal(f"{options}: the capacity", told[4], str(capacity))
        whole = one(batch % capacity, 1, 10000)
        check(f"{options}: the cure", one("SELECT cuckoofilter_fpr(?)", whole) < 0.0101)
        equal(f"{options}: all are in it", suite.contained(whole, 1, most), most)
    # short tags: the rate is below the limit, but there is no such table
    short = suite.agg(1, 10000, ", 0.01, 1000, 'bucket_size=2'")
    for name in ("union", "sum"):
        message = refusal(suite.db, f"SELECT cuckoofilter_{name}(?, ?)", short, suite.agg(10001, 70000, ", 0.01, 1000, 'bucket_size=2'"))
        told = MORE.fullmatch(message)
        equal(message, told and told.group(1, 2, 4), ("60000", "10000", "70000"))
    # the whole list of add_all, many or few beside the filter
    full = one(f"SELECT cuckoofilter_add_agg(f, x) FROM (SELECT ?3 AS f), {NUMBERS}", 10001, 82000, suite.agg(1, 10000))
    for n in (2, 100):
        filter, message, last = full, "", 200000
        while not message:
            items = ", ".join(str(last + i) for i in range(n))
            last += n
            try:
                filter = one(f"SELECT cuckoofilter_add_all(?, {items})", filter)
            except sqlite3.Error as error:
                message = str(error)
        told = MORE.fullmatch(message)
        equal(message, told and told.group(1, 2), (str(n), str(one("SELECT cuckoofilter_count(?)", filter))))


COARSE = re.compile(
    r"cannot merge cuckoofilters: (the first|the second) is too coarse for the (\d+) items of both: it "
    r"has (\d+) items at a false positive rate of (0\.\d+) and a capacity of (\d+); the result would "
    r"have a rate of (0\.\d+|1), above the limit of 0\.08; build both with a capacity of at least "
    r"(\d+)"
)
COARSEST = re.compile(
    r"cannot merge cuckoofilters: at least one was built for only (\d+) items; (\d+) or more do not fit: "
    r"the result would have a rate of (0\.\d+|1), above the limit of 0\.08; build each filter with a "
    r"capacity for the items of all: cuckoofilter_agg\(item, fpr, \(SELECT count\(\*\) FROM t\)\)"
)


def test_error_of_a_coarse_input():
    """The error names the coarse input, whichever it is, and a capacity that is enough."""
    coarse, fine = suite.agg(1, 5000), suite.agg(5001, 200000)
    for name in ("union", "sum"):
        for first, second, which in ((coarse, fine, "the first"), (fine, coarse, "the second")):
            told = COARSE.fullmatch(refusal(suite.db, f"SELECT cuckoofilter_{name}(?, ?)", first, second))
            check(f"{name}: {which}", told and told[1] == which)
            equal("items, capacity", told.group(2, 3, 5, 7), ("200000", "5000", "5000", "200000"))
            check(told[0], 0.009 < float(told[4]) < 0.01 and 0.1 < float(told[6]) <= 1)
    cured = one(f"SELECT cuckoofilter_agg(x, 0.01, 200000) FROM {NUMBERS}", 1, 5000)
    whole = one("SELECT cuckoofilter_union(?, ?)", cured, fine)
    check("the cure", one("SELECT cuckoofilter_fpr(?)", whole) < 0.01)


def test_error_of_groups_without_a_capacity():
    """Merges of groups of 10 are refused at some hundred items, and the error says what to do."""
    for name in ("union", "sum"):
        for groups in (100, 2000):
            parts = f"(SELECT cuckoofilter_agg(x) AS f FROM {NUMBERS} GROUP BY x / 10)"
            message = refusal(suite.db, 
                f"SELECT cuckoofilter_{name}_agg(f) FROM {parts}", 10, 10 * groups + 9
            )
            told = COARSEST.fullmatch(message)
            check(message, told and 10 <= int(told[1]) < 20 and int(told[2]) > 80)
    parts = f"(SELECT cuckoofilter_agg(x, 0.01, 20000) AS f FROM {NUMBERS} GROUP BY x / 10)"
    whole = one(f"SELECT cuckoofilter_union_agg(f) FROM {parts}", 10, 20009)
    check("the cure", one("SELECT cuckoofilter_fpr(?)", whole) < 0.011)


def test_error_of_copies():
    """Too many copies of the same items: no capacity helps, but kind=set does."""
    parts = f"(SELECT cuckoofilter_agg(x, 0.01, 1000000, ?3) AS f FROM {NUMBERS}, (VALUES (1), (2), (3), (4), (5), (6)) v GROUP BY v.column1)"
    message = refusal(suite.db, f"SELECT cuckoofilter_sum_agg(f) FROM {parts}", 1, 9000, "")
    check(
        message,
        re.fullmatch(
            r"cuckoofilter cannot store so many copies of the same items: it has 54000 items at a false "
            r"positive rate of 0\.000\d+; build it with kind=set, which keeps one copy of each item; if the "
            r"hashes of all items share their first bits, keep the items in one filter with others: "
            r"cuckoofilter_part chooses the parts of a filter",
            message,
        ),
    )
    # one part of 256, if a filter is kept in parts by the first bits of the hash
    hash = "(cuckoofilter_hash(x) & (1 << 56) - 1) | (3 << 56)"
    part = one(f"SELECT cuckoofilter_agg_hash({hash}, 0.01, 10000) FROM {NUMBERS}", 1, 8000)
    message = refusal(suite.db, 
        f"WITH RECURSIVE grown(f, x) AS (SELECT ?1, 8001 UNION ALL "
        f"SELECT cuckoofilter_add_hash(f, {hash}), x + 1 FROM grown WHERE x < 30000) SELECT max(cuckoofilter_count(f)) FROM grown",
        part,
    )
    check(message, "copies of the same items" in message and "share their first bits" in message)
    whole = one(f"SELECT cuckoofilter_sum_agg(f) FROM {parts}", 1, 9000, "kind=set")
    check("the cure", 8900 < one("SELECT cuckoofilter_count(?)", whole) <= 9000)


def test_error_of_size():
    limit = suite.db.setlimit if hasattr(suite.db, "setlimit") else None
    if limit is None:
        return  # Python before 3.11; the C suite sets the limit too
    filter = suite.agg(1, 1000)
    larger = "cuckoofilter would be larger than 2000 bytes: "
    tail = "; spread the items over several filters, or use a lower capacity or a higher rate"
    limit(0, 2000)
    try:
        error = refusal(suite.db, f"SELECT cuckoofilter_agg(x) FROM {NUMBERS}", 1, 5000)
        check(f"agg past the limit: {error}", error and error.startswith(larger) and error.endswith(tail))
        check("under the limit", len(one(f"SELECT cuckoofilter_agg(x) FROM {NUMBERS}", 1, 1000)) < 2000)
        rnd = random.Random(7)
        error, filled = None, filter
        while error is None:
            call, items = "SELECT cuckoofilter_add_all(?, ?, ?, ?, ?, ?)", [rnd.getrandbits(62) for _ in range(5)]
            error = refusal(suite.db, call, filled, *items)
            filled = filled if error else one(call, filled, *items)
        check(f"add_all past the limit: {error}", error.startswith(larger) and error.endswith(tail))
    finally:
        limit(0, 10**9)


suite.run(globals())
