#!/usr/bin/python3
"""Pairs of an item and its value, and cuckoofilter_which, beside exact models."""

import json
import random
import struct
import sys

from suite import NUMBERS, PERCENT, ROOT, SEED, Suite, refusal

sys.path.insert(0, f"{ROOT}/test")
from recipes import signed
from xxh3 import xxh3

suite = Suite("sqlite-pairs")
one, equal, check, is_sql, refuses = (
    suite.one,
    suite.equal,
    suite.check,
    suite.is_sql,
    suite.refuses,
)

print(f"SEED={SEED}")
rng = random.Random(SEED)

SAY_CANDIDATES = "candidates must be a JSON array of numbers and strings: error at byte %d"
JSON = one("SELECT count(*) FROM pragma_function_list WHERE name = 'json'") > 0


def word(number):
    return struct.pack("<q", number)


def hash_of(item, seed):
    """A value's hash by FORMAT.md, section 6."""
    if isinstance(item, float) and item == int(item) and -(2**63) <= item < 2**63:
        item = int(item)
    if isinstance(item, int):
        return xxh3(word(item), seed + 1)
    if isinstance(item, float):
        return xxh3(struct.pack("<d", item), seed + 2)
    return xxh3(item.encode(), seed + 3) if isinstance(item, str) else xxh3(item, seed + 4)


def pair_hash(item, value, seed=0):
    """That of the record of both."""
    words = struct.pack("<QQQQ", 2, 2, hash_of(item, seed), hash_of(value, seed))
    return xxh3(words, seed + 7)


def draw_value():
    return rng.choice(
        (
            rng.randrange(10),
            rng.randrange(-(2**63), 2**63),
            float(rng.randrange(9)),
            rng.random(),
            f"text {rng.randrange(9)}",
            "",
            "ß→𝄞",
            bytes(rng.randrange(256) for _ in range(rng.randrange(9))),
        )
    )


def as_other(filter):
    """A filter of hashes as one of items of the class `other`: byte 14."""
    return filter[:14] + (b"\x20" if filter[14] else b"\0") + filter[15:]


# ---------------------------------------------------------------- pairs


def test_pairs_are_records():
    for _ in range(3 * PERCENT):
        seed = rng.choice((0, 0, 7, -1))
        fpr = rng.choice((0.01, 0.001, 0.3))
        options = f"seed={seed}{rng.choice(('', ',kind=set', ',bucket_size=8'))}"
        count = rng.choice((0, 1, 5, 100, 3000)) if rng.random() < 0.1 else rng.randrange(9)
        pairs = [(draw_value(), draw_value()) for _ in range(count)]
        rows = pairs + [rng.choice(((None, 1), ("a", None), (None, None)))]
        rng.shuffle(rows)
        suite.db.execute("CREATE TEMP TABLE pair (item, value, hash)")
        for item, value in rows:
            there = item is not None and value is not None
            hash = signed(pair_hash(item, value, seed)) if there else None
            suite.db.execute("INSERT INTO pair VALUES (?, ?, ?)", (item, value, hash))
        got, want = suite.db.execute(
            "SELECT cuckoofilter_agg_pair(item, value, ?1, NULL, ?2), "
            "cuckoofilter_agg_hash(hash, ?1, NULL, ?2) FROM pair",
            (fpr, options),
        ).fetchone()
        equal(f"aggregate of {count} pairs, {options}", got, as_other(want))
        one_by_one = one("SELECT cuckoofilter_create(1000, ?, ?)", fpr, options)
        by_hash = one_by_one
        for item, value in rows[:50]:
            one_by_one = one("SELECT cuckoofilter_add_pair(?, ?, ?)", one_by_one, item, value)
            if item is not None and value is not None:
                hash = signed(pair_hash(item, value, seed))
                by_hash = one("SELECT cuckoofilter_add_hash(?, ?)", by_hash, hash)
        equal("added one by one", one_by_one, as_other(by_hash))
        for item, value in rows[:50]:
            there = item is not None and value is not None
            is_sql(
                1 if there else None,
                "SELECT cuckoofilter_contains_pair(?, ?, ?)",
                got,
                item,
                value,
            )
        suite.db.execute("DROP TABLE pair")


def test_model():
    """Random adds and removals, compared with the number of copies."""
    copies = {}
    filter = one("SELECT cuckoofilter_create(1000, 0.0001)")
    for _ in range(15 * PERCENT):
        pair = (rng.randrange(40), f"v{rng.randrange(6)}")
        count = copies.get(pair, 0)
        remove = count > 0 and (rng.random() < 0.45 or count > 5)
        name = "remove" if remove else "add"
        filter = one(f"SELECT cuckoofilter_{name}_pair(?, ?, ?)", filter, *pair)
        copies[pair] = count + (-1 if remove else 1)
    lost = [
        pair
        for pair, count in copies.items()
        if count and not one("SELECT cuckoofilter_contains_pair(?, ?, ?)", filter, *pair)
    ]
    equal("lost pairs", lost, [])
    is_sql(sum(copies.values()), "SELECT cuckoofilter_count(?)", filter)


def test_null():
    filter = one("SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, 'x')")
    for call in ("add", "remove"):
        is_sql(filter, f"SELECT cuckoofilter_{call}_pair(?, NULL, 'x')", filter)
        is_sql(filter, f"SELECT cuckoofilter_{call}_pair(?, 1, NULL)", filter)
        is_sql(None, f"SELECT cuckoofilter_{call}_pair(NULL, 1, 'x')")
    is_sql(None, "SELECT cuckoofilter_contains_pair(?, NULL, 'x')", filter)
    is_sql(None, "SELECT cuckoofilter_contains_pair(?, 1, NULL)", filter)
    is_sql(None, "SELECT cuckoofilter_contains_pair(NULL, 1, 'x')")
    is_sql(None, "SELECT cuckoofilter_which(NULL, 1, '[1]')")
    is_sql(None, "SELECT cuckoofilter_which(?, NULL, '[1]')", filter)
    is_sql(None, "SELECT cuckoofilter_which(?, 1, NULL)", filter)
    is_sql(0, "SELECT cuckoofilter_count(cuckoofilter_agg_pair(1, NULL))")
    is_sql(1, "SELECT cuckoofilter_agg_pair(1, 2) = cuckoofilter_agg(1) FROM (SELECT 1) WHERE 0")


def test_classes():
    filter = one("SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, 'x')")
    equal("class", suite.info(filter)["item_classes"], ["other"])
    is_sql(0, "SELECT cuckoofilter_contains(?, 1)", filter)
    is_sql(0, "SELECT cuckoofilter_contains_pair(cuckoofilter_add(cuckoofilter_create(9), 1), 1, 1)")
    is_sql("[]", "SELECT cuckoofilter_which(cuckoofilter_add(cuckoofilter_create(9), 1), 1, '[1]')")
    numbers = suite.agg(1, 10000, ", 0.3")  # chance would let a third of the candidates through
    candidates = json.dumps(list(range(100)))
    is_sql("[]", "SELECT cuckoofilter_which(?, 1, ?)", numbers, candidates)
    refuses(
        "cannot remove from a cuckoofilter of kind set: removing an item from a set could remove another item, too; "
        "build it with kind=deletable, and merge with cuckoofilter_sum",
        "SELECT cuckoofilter_remove_pair(cuckoofilter_agg_pair(1, 2, 0.01, 9, 'kind=set'), 1, 2)",
    )


def test_swapped():
    """An aggregate whose arguments are in the order of cuckoofilter_create names its own order."""
    for call, order in (
        ("agg(x, 10000, 0.01)", "agg(item, fpr, capacity)"),
        ("agg_hash(x, 10000, 0.01)", "agg(item, fpr, capacity)"),
        ("agg_pair(x, x, 10000, 0.01)", "agg_pair(item, value, fpr, capacity)"),
        ("agg_pair(x, x, 10000)", "agg_pair(item, value, fpr, capacity)"),
        ("agg_pair(x, 0.01, 10000, NULL, 'kind=set')", "agg_pair(item, value, fpr, capacity)"),
        ("agg_hash(x, 10000, 0)", "agg(item, fpr, capacity)"),
        ("agg(x, 10000)", "agg(item, fpr, capacity)"),
        ("agg(x, 10000, 5)", "agg(item, fpr, capacity)"),
        ("agg(x, 10000, NULL)", "agg(item, fpr, capacity)"),
        ("agg_pair(x, x, 10000, 1)", "agg_pair(item, value, fpr, capacity)"),
    ):
        refuses(
            "false positive rate must be greater than 0 and less than 1, not 10000.0: aggregates "
            f"take the rate, 0.01 for 1 %, before the capacity: cuckoofilter_{order}",
            f"SELECT cuckoofilter_{call} FROM (SELECT 1 AS x)",
        )


def test_bytes():
    for count in (1, 100, 9000, 50000):
        for fpr in (0.01, 0.0001):
            for options in ("", "layout=plain, bucket_size=8", "kind=set"):
                size = len(suite.agg(1, count, f", {fpr}, NULL, '{options}'"))
                is_sql(size, "SELECT cuckoofilter_bytes(?, ?, ?)", count, fpr, options)
    is_sql(len(suite.agg(1, 1000)), "SELECT cuckoofilter_bytes(1e3)")
    is_sql(None, "SELECT cuckoofilter_bytes(NULL)")
    is_sql(None, "SELECT cuckoofilter_bytes(1000, NULL)")
    refuses("capacity must be from 1 to 1099511627776, not 0", "SELECT cuckoofilter_bytes(0)")
    refuses("capacity must be an integer, not 1.5", "SELECT cuckoofilter_bytes(1.5)")
    refuses(
        "false positive rate must be greater than 0 and less than 1, not 1.0: a rate of 1 % is 0.01",
        "SELECT cuckoofilter_bytes(9, 1)",
    )


# ---------------------------------------------------------------- which


def draw_number():
    kind = rng.randrange(8)
    if kind < 3:
        return str(rng.randrange(12))
    if kind == 3:
        return str(rng.choice((0, 1, -1)) + rng.choice((2**63, -(2**63), 2**64, 10**25, 2**53)))
    if kind == 4:
        return rng.choice(("-0", "0.0", "-0.0", "1.0", "1e3", "1E+2", "10e-1", "1.50", "2.5e0"))
    if kind == 5:
        return rng.choice(("1e400", "-1e400", "1e-400", "123456789012345678901.5", "0.1", "1e23"))
    return repr(rng.uniform(-1, 1) * 10 ** rng.randrange(-9, 9))


def draw_string():
    pieces = ("a", "b", "text", " ", "é", "→", "𝄞", "\\n", "\\\\", "\\/", '\\"', "\\t", "\\b", "\\f")
    escapes = ("\\u0041", "\\u00e9", "\\u00E9", "\\u2192", "\\ud834\\udd1e", "\\uD834\\uDD1E", "\\r")
    text = "".join(rng.choice(pieces + escapes) for _ in range(rng.randrange(5)))
    return f'"{text}"'


def blank():
    return rng.choice(("", "", "", " ", "\n\t", " \r "))


def draw_elements():
    draw = rng.choice((draw_number, draw_string, lambda: rng.choice((draw_number, draw_string))()))
    return [draw() for _ in range(rng.choice((0, 1, 2, 5, 30)))]


def value_of(element):
    """As SQLite reads it: versions before 3.47 round the last digits of a real otherwise."""
    value = json.loads(element)
    if isinstance(value, float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return one("SELECT CAST(? AS REAL)", element)
    return value


def same(a, b):
    """Are two values equal in SQL?"""
    return a == b and isinstance(a, str) == isinstance(b, str)


def test_which():
    for _ in range(6 * PERCENT):
        elements = draw_elements()
        text = f"{blank()}[{','.join(blank() + e + blank() for e in elements)}]{blank()}"
        if not elements:
            text = f"{blank()}[{blank()}]{blank()}"
        item = draw_value()
        added = [value_of(e) for e in elements if rng.random() < 0.4]
        others = [draw_value() for _ in range(rng.choice((0, 3, 300)))]
        filter = one("SELECT cuckoofilter_create(100000, 1e-6, ?)", f"seed={rng.randrange(3)}")
        for value in added:
            filter = one("SELECT cuckoofilter_add_pair(?, ?, ?)", filter, item, value)
        for value in others:
            filter = one("SELECT cuckoofilter_add_pair(?, ?, ?)", filter, "another", value)
        if item == "another":
            continue
        # those that the filter lets through: what was added, and once in a while another by chance
        asks = "SELECT cuckoofilter_contains_pair(?, ?, ?)"
        want = [e for e in elements if one(asks, filter, item, value_of(e))]
        missing = [e for e in elements if any(same(value_of(e), v) for v in added) and e not in want]
        equal(f"of {text}, denied", missing, [])
        chance = {value_of(e) for e in want if not any(same(value_of(e), v) for v in added)}
        check(f"of {text}, by chance {chance}", len(chance) <= 1)  # at a rate of 1e-6
        is_sql(f"[{','.join(want)}]", "SELECT cuckoofilter_which(?, ?, ?)", filter, item, text)
        # json_each gives the same, if it reads all reals as CAST does
        alike = "SELECT value IS ? FROM json_each(?)"
        if JSON and all(one(alike, value_of(e), f"[{e}]") for e in elements):
            got = suite.db.execute(
                "SELECT json_group_array(fullkey) FROM (SELECT fullkey FROM json_each(?3) "
                "WHERE cuckoofilter_contains_pair(?1, ?2, value))",
                (filter, item, text),
            ).fetchone()[0]
            equal(f"json_each of {text}", len(json.loads(got)), len(want))


def test_halves():
    """Half a surrogate pair is what SQLite makes of it; a NUL is a NUL."""
    if JSON and one("SELECT sqlite_version()") >= "3.40":
        for text in ('["\\ud834"]', '["\\udd1ex"]', '["\\ud834\\u0041"]', '["\\ud834\\ud834"]'):
            filter = one(
                "SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, value) FROM json_each(?)",
                text,
            )
            is_sql(text, "SELECT cuckoofilter_which(?, 1, ?)", filter, text)
    is_sql(
        '["a\\u0000b"]',
        "SELECT cuckoofilter_which(cuckoofilter_add_pair(cuckoofilter_create(9), 1, "
        "'a' || char(0) || 'b'), 1, ?)",
        '["a\\u0000b","a"]',
    )


def test_many_candidates():
    filter = one(
        f"SELECT cuckoofilter_agg_pair(x % 1000, x % 367, 0.001) FROM {NUMBERS}", 1, 100000
    )
    want = [
        value
        for value in range(367)
        if one("SELECT cuckoofilter_contains_pair(?, 17, ?)", filter, value)
    ]
    got = json.loads(one("SELECT cuckoofilter_which(?, 17, ?)", filter, json.dumps(list(range(367)))))
    equal("of 367", got, want)
    check("all that were added", {x % 367 for x in range(17, 100001, 1000)} <= set(got))
    many = json.dumps([x % 367 for x in range(150000)])
    equal("of 150000", json.loads(one("SELECT cuckoofilter_which(?, 17, ?)", filter, many)),
          [x % 367 for x in range(150000) if x % 367 in want])
    handle = "(SELECT cuckoofilter_open(?))"
    is_sql(json.dumps(want, separators=(",", ":")), f"SELECT cuckoofilter_which({handle}, 17, ?)",
           filter, json.dumps(list(range(367))))
    if JSON:
        is_sql(len(want), "SELECT json_array_length(cuckoofilter_which(?, 17, ?))", filter, json.dumps(list(range(367))))
        is_sql(f'{{"in":{json.dumps(want, separators=(",", ":"))}}}', "SELECT json_object('in', cuckoofilter_which(?, 17, ?))", filter, json.dumps(list(range(367))))


def test_bad_candidates():
    filter = one("SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, 'x')")
    call = "SELECT cuckoofilter_which(?, 1, ?)"
    for text, at in (
        ("", 1), (" ", 2), ("x", 1), ("{}", 1), ("1", 1), ('"x"', 1), ("[", 2), ("[1", 3), ("[1,", 4), ("[1,]", 4), ("[,1]", 2), ("[1 2]", 4),
        ("[1]]", 4), ("[1] x", 5), ("[null]", 2), ("[true]", 2), ("[[1]]", 2), ("[{}]", 2), ("[01]", 3), ("[+1]", 2), ("[.5]", 2), ("[1.]", 4),
        ("[1e]", 4), ("[1e+]", 5), ("[-]", 3), ("[0x1]", 3), ("[NaN]", 2), ("['x']", 2), ('["x]', 5), ('["\\x"]', 4), ('["\\u12g4"]', 7), ('["\\u12"]', 7),
        ('["\n"]', 3), ('["a\tb"]', 4), ("[1]\0", 4), ('["\\"]', 6), ("[1/**/]", 3), ("[Infinity]", 2), ("\ufeff[1]", 1),
    ):  # fmt: skip
        refuses(SAY_CANDIDATES % at, call, filter, text)
    for value in (1, 1.5, b"[1]"):
        error = refusal(suite.db, call, filter, value)
        check(f"{value!r}: {error}", error and error.startswith("candidates must be a JSON array, not"))
    # also where none can be in
    refuses(SAY_CANDIDATES % 2, "SELECT cuckoofilter_which(cuckoofilter_create(9), 1, '[null]')")
    # cut anywhere, or with any byte changed, the text is an error or an array
    whole = '["a\\u00e9\\ud834\\udd1e", -1.5e3, 12, "x"]'
    for i in range(len(whole)):
        refuses(SAY_CANDIDATES % (i + 1), call, filter, whole[:i])
    for _ in range(20 * PERCENT):
        i = rng.randrange(len(whole))
        text = whole[:i] + chr(rng.randrange(128)) + whole[i + 1 :]
        try:
            json.loads(one(call, filter, text), strict=True)
        except json.JSONDecodeError as error:
            check(f"{text}: {error}", False)
        except Exception as error:
            check(f"{text}: {error}", str(error).startswith("candidates must be a JSON array of"))
        try:
            fine = all(isinstance(x, (int, float, str)) and not isinstance(x, bool) for x in json.loads(text, parse_constant=lambda c: None))
            fine = fine and isinstance(json.loads(text), list)
        except (ValueError, TypeError):
            fine = False
        ok = refusal(suite.db, call, filter, text) is None
        check(f"{text!r}: {ok}, wanted {fine}", ok == fine)


suite.run(globals())
