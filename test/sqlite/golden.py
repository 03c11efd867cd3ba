#!/usr/bin/python3
"""Golden filters (test/vectors/golden) open and give the same answers; bytes of unknown versions
are refused."""

import json

from suite import Suite
from vectors import contains, expand, lines, unhex

suite = Suite("sqlite-golden")
one, equal, check, refuses = suite.one, suite.equal, suite.check, suite.refuses

VERSION = "cuckoofilter of an unknown format or hash version: it needs a newer release"
BAD_BYTES = "not a cuckoofilter: the bytes are damaged or are something else"

# Every function that takes a filter; aggregates, too.
DOORS = (
    "cuckoofilter_add(?, 1)",
    "cuckoofilter_add_all(?, 1, 2)",
    "cuckoofilter_add_hash(?, 1)",
    "cuckoofilter_contains(?, 1)",
    "cuckoofilter_contains_any(?, 1, 2)",
    "cuckoofilter_contains_all(?, 1, 2)",
    "cuckoofilter_contains_hash(?, 1)",
    "cuckoofilter_copies(?, 1)",
    "cuckoofilter_remove(?, 1)",
    "cuckoofilter_remove_all(?, 1, 2)",
    "cuckoofilter_remove_hash(?, 1)",
    "cuckoofilter_union(?, cuckoofilter_create(10))",
    "cuckoofilter_sum(cuckoofilter_create(10), ?)",
    "cuckoofilter_intersect(?, cuckoofilter_create(10))",
    "cuckoofilter_overlap(cuckoofilter_create(10), ?)",
    "cuckoofilter_jaccard(?, cuckoofilter_create(10))",
    "cuckoofilter_compact(?)",
    "cuckoofilter_count(?)",
    "cuckoofilter_fpr(?)",
    "cuckoofilter_info(?)",
    "cuckoofilter_contains(cuckoofilter_open(?), 1)",
    "cuckoofilter_union_agg(?)",
    "cuckoofilter_sum_agg(?)",
    "cuckoofilter_intersect_agg(?)",
)

# A byte, values that a later version might store in it, and the error of this version.
UNKNOWN = (
    (3, (0, 3, 255), VERSION),
    (4, (0, 2, 255), VERSION),
    (5, (3, 4, 255), BAD_BYTES),
    (6, (4, 8, 16, 32, 64, 128), BAD_BYTES),
    (14, (1, 64, 128), BAD_BYTES),
    (15, (1, 4, 128), BAD_BYTES),
)


def golden():
    yield from lines("golden/format-1.tsv")
    yield from lines("golden/format-2.tsv")


def test_answers():
    number = 0
    for name, info, present, absent, copies, content in golden():
        filter = unhex(content)
        wanted = json.loads(info)
        told = suite.info(filter)
        equal(f"{name}: info", {key: told[key] for key in wanted}, wanted)
        for same in (filter, one("SELECT cuckoofilter_compact(?)", filter)):
            wrong = [x for x in expand(present) if not contains(same, x)]
            equal(f"{name}: denied", wrong, [])
        equal(f"{name}: not in", [x for x in expand(absent) if contains(filter, x)], [])
        for pair in [] if copies == "-" else copies.split(","):
            item, number_of = pair.split("=")
            (value,) = expand(item)
            got = one("SELECT cuckoofilter_copies(?, ?)", filter, value)
            equal(f"{name}: copies of {item}", got, int(number_of))
        number += 1
    check("some golden filters", number >= 160)


def test_unknown():
    for name, _, _, _, _, content in golden():
        if name not in ("hashes", "semi", "semi-set", "plain-8"):
            continue
        for at, values, sentence in UNKNOWN:
            for value in values:
                changed = bytearray(unhex(content))
                changed[at] = value
                for door in DOORS:
                    refuses(sentence, f"SELECT {door}", bytes(changed))


if __name__ == "__main__":
    suite.run(globals())
