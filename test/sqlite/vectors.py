#!/usr/bin/python3
"""Replays test/vectors, whose README.md says what the columns hold.

Hashes are computed a second time by libxxhash.
"""

import sqlite3
import sys

from suite import ROOT, Suite

sys.path.insert(0, f"{ROOT}/test")
from xxh3 import xxh3

suite = Suite("sqlite-vectors")
one, equal, check = suite.one, suite.equal, suite.check


def lines(name):
    with open(f"{ROOT}/test/vectors/{name}", encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def signed(number):
    return (number + 2**63) % 2**64 - 2**63


def expand(text):
    """The items of a list."""
    for item in [] if text == "-" else text.split(","):
        kind, value = item.split(":", 1)
        if kind == "i":
            first, _, last = value.partition("..")
            yield from range(int(first), int(last or first) + 1)
        else:
            yield {"r": float, "t": str, "b": bytes.fromhex}[kind](value)


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


if __name__ == "__main__":
    suite.run(globals())
