#!/usr/bin/python3
"""Replays test/vectors, whose README.md says what the columns hold: hashes, which libxxhash computes a second time, and
filters.  Golden filters open and give the same answers; bytes of unknown versions are refused.
"""

import json
import sqlite3
import sys

from suite import CALLS, ROOT, Suite

sys.path.insert(0, f"{ROOT}/test")
from recipes import expand, lines, signed, unhex
from xxh3 import xxh3

suite = Suite("sqlite-vectors")
one, equal, check, refuses = suite.one, suite.equal, suite.check, suite.refuses


def contains(filter, item):
    return one("SELECT cuckoofilter_contains(?, ?)", filter, item)


def build(recipe, made):
    """The filter of a recipe; `made` has those of the lines before."""
    filter = None
    for step in recipe.split("; "):
        word, *arguments = step.split(" ")
        if word == "create":
            capacity, fpr, options = arguments
            filter = one(
                "SELECT cuckoofilter_create(?, ?, ?)",
                int(capacity),
                float(fpr),
                "" if options == "-" else options,
            )
        elif word == "agg":
            fpr, capacity, options, items = arguments
            suite.db.execute("CREATE TEMP TABLE item (x)")
            suite.db.executemany("INSERT INTO item VALUES (?)", ((x,) for x in expand(items)))
            filter = one(
                "SELECT cuckoofilter_agg(x, ?, ?, ?) FROM item",
                float(fpr),
                int(capacity),
                "" if options == "-" else options,
            )
            suite.db.execute("DROP TABLE item")
        elif word in ("add", "remove"):
            for item in expand(arguments[0]):
                filter = one(f"SELECT cuckoofilter_{word}(?, ?)", filter, item)
        elif word in ("union", "sum", "intersect"):
            filter = one(f"SELECT cuckoofilter_{word}(?, ?)", filter, made[arguments[0]])
        elif word == "compact":
            filter = one("SELECT cuckoofilter_compact(?)", filter)
        else:
            sys.exit(f"no such step: {step}")
    return filter


def test_hashes():
    for number, content, seed, hash, literal, _ in lines("hashes.tsv"):
        seed, hash = int(seed), int(hash)
        again = xxh3(unhex(content), seed + int(number))
        equal(f"class {number} {content} {seed}", signed(again), hash)
        if literal != "-":
            equal(literal, one(f"SELECT cuckoofilter_hash({literal}, ?)", seed), hash)


def test_pairs():
    for _, _, seed, hash, literals, _ in lines("pairs.tsv"):
        empty = one("SELECT cuckoofilter_create(9, 0.01, ?)", f"seed={seed}")
        want = bytearray(one("SELECT cuckoofilter_add_hash(?, ?)", empty, int(hash)))
        want[14] = 32  # the class of its item
        if literals != "-":
            got = one(f"SELECT cuckoofilter_add_pair(?, {literals})", empty)
            equal(f"{literals}, seed {seed}", got, bytes(want))


def test_parts():
    for hash, parts, part, literal, _ in lines("parts.tsv"):
        equal(f"{hash} in {parts} parts", (int(hash) & 0xFFFFFFFF) % int(parts), int(part))
        if literal != "-":
            equal(f"{literal} in {parts} parts", one(f"SELECT cuckoofilter_part({literal}, ?)", int(parts)), int(part))


def refuses_sizes(a, b):
    """The two cannot be compared."""
    for name in ("overlap", "jaccard"):
        try:
            check(f"{name}: {one(f'SELECT cuckoofilter_{name}(?, ?)', a, b)}", False)
        except sqlite3.Error as error:
            check(f"{name}: {error}", "is too coarse" in str(error))


def test_filters():
    made = {}
    for name, recipe, count, content, present, absent in lines("filters.tsv"):
        filter = made[name] = unhex(content)
        equal(f"{name}: bytes", build(recipe, made).hex(), content)
        equal(f"{name}: count", one("SELECT cuckoofilter_count(?)", filter), int(count))
        wrong = [x for x in expand(present) if not contains(filter, x)]
        wrong += [x for x in expand(absent) if contains(filter, x)]
        equal(f"{name}: wrong answers", wrong, [])
    check("some filters", len(made) >= 30)
    for a, b, overlap, jaccard in lines("overlaps.tsv"):
        if overlap == "sizes":
            refuses_sizes(made[a], made[b])
            continue
        found = suite.db.execute(
            "SELECT cuckoofilter_overlap(?1, ?2), cuckoofilter_jaccard(?1, ?2)", (made[a], made[b])
        ).fetchone()
        check(f"overlap of {a} and {b}: {found}", abs(found[0] - float(overlap)) < 1e-8)
        if jaccard == "-":
            equal(f"jaccard of {a} and {b}", found[1], None)
        else:
            check(f"jaccard of {a} and {b}: {found}", abs(found[1] - float(jaccard)) < 1e-8)


# ---------------------------------------------------------------------- golden

VERSION = "cuckoofilter of an unknown format or hash version: it needs a newer release of cuckoofilter"
BAD_BYTES = "not a cuckoofilter: the bytes are damaged or are something else"

# A byte, values that a later version might store in it, and the error of this version.
UNKNOWN = (
    (3, (0, 4, 255), VERSION),
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
                for call in CALLS:
                    refuses(sentence, "SELECT " + call.format(v="?1"), bytes(changed))


suite.run(globals())
