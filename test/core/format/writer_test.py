#!/usr/bin/python3
"""Compares the independent writer with the C code, and replays FORMAT.md's worked examples."""
import functools
import operator
import os
import random
import re
import struct
import subprocess
import sys
from collections import Counter

import answers
import reader
import writer

sys.path.insert(0, os.path.join(answers.ROOT, "test"))
from xxh3 import xxh3

# Whether the engine has what version 1.1 changes: writes.c and this suite then test that, too.

TEXT = 1 << 1  # a class [2]
DECIMAL = 1 << 8  # the form "exact" of an item, beside its class
NUMBERS = [False]  # drive.c's driven_numbers
CASES = 1000
MERGES = {"union": (False, False), "sum": (True, False),
          "union_agg": (False, True), "sum_agg": (True, True)}


@functools.cache
def compiled(*flags):
    return answers.compiled("writes", *flags)


def cases(*arguments, seed, flags=()):
    """The lines of writes.c, as lists of words."""
    program = compiled(*flags)
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, SEED=str(seed), CASE="")) as run:
        others = []
        for line in run.stdout:
            if line.startswith("case "):
                yield line.split()[1:]
            else:
                others.append(line)
    if run.returncode != 0:
        raise RuntimeError("".join(others))


def hashes_in(text):
    return [] if text == "-" else [int(text[i:i + 16], 16) for i in range(0, len(text), 16)]


def class_of(item):
    """drive.c's class_of_hash."""
    mixed = (item or 1) * 0xD6E8FEB86659FD93 % 2**64
    mixed ^= mixed >> 32
    if NUMBERS[0]:
        return (reader.ITEM_NUMBER if mixed & 3 else reader.ITEM_OTHER) | (0 if mixed & 28 else DECIMAL)
    rank = 0
    while rank < 6 and mixed % 4 == 0:
        mixed >>= 2
        rank += 1
    return 1 << rank


def stays(f, item, forms=None):
    """Whether a removal leaves a number in: drive.c's stays_in and item_of_hash."""
    if NUMBERS[0] and class_of(item) & DECIMAL:
        rounded = item
        while rounded < 2 or rounded == item or class_of(rounded) != reader.ITEM_NUMBER:
            rounded = (rounded * 0x5851F42D4C957F2D + 9) % 2**64
        forms = f.number_forms if forms is None else forms
        return bool(forms & 4 or forms & 2 and f.contains(rounded))
    return False


def classes_of(hashes):
    return functools.reduce(operator.or_, map(class_of, hashes), 0)


def aggregate(capacity, rate, seed, is_set, plain, b, hashes):
    fpr = struct.unpack("<d", struct.pack("<Q", int(rate, 16)))[0]
    hashes = hashes_in(hashes)
    return writer.aggregate(hashes, writer.Promise(
        int(capacity), fpr, int(seed, 16), is_set == "1", plain == "1", int(b), classes_of(hashes)))


def changed(start, *changes):
    w = writer.Writer(bytes.fromhex(start))
    for change in changes:
        item, found = int(change[1:].split(":")[0], 16), change.split(":")[1]
        try:
            done = w.add(item, class_of(item)) is None if change[0] == "+" else \
                not stays(w.f, item, w.p.classes >> 8) and w.remove(item)
        except writer.Refused:
            done = False
        assert done == (found == "1"), "%s of %s" % (change, start)
    return w.bytes()


def built(kind, inputs):
    """What writer.py builds."""
    try:
        if kind == "aggregate":
            return aggregate(*inputs).hex()
        if kind == "change":
            return changed(*inputs).hex()
        if kind in MERGES:
            return writer.merge([bytes.fromhex(f) for f in inputs], *MERGES[kind]).hex()
        if kind == "intersect_agg":
            return writer.intersect_agg([bytes.fromhex(f) for f in inputs]).hex()
        if kind == "add_all":
            hashes = hashes_in(inputs[1])
            return writer.add_all(bytes.fromhex(inputs[0]), hashes, classes_of(hashes)).hex()
        if kind == "remove_all":
            return writer.remove_all(bytes.fromhex(inputs[0]), hashes_in(inputs[1]), stays).hex()
        return {"compact": writer.compact, "grow": writer.grow}[kind](bytes.fromhex(inputs[0])).hex()
    except writer.Refused as refused:
        return str(refused)


def outcome(result):
    """A case's result in a word, for counting."""
    if not result.startswith("434b46"):
        return result
    return ("hashes", "semi-sorted", "plain")[int(result[10:12], 16)]


def check_comparison(number, result, inputs):
    """OVERLAP:JACCARD, or why there is none; two libraries of mathematics differ in the last digits."""
    try:
        mine = writer.compare([bytes.fromhex(f) for f in inputs])
    except writer.Refused as refused:
        assert result == str(refused), "case %d: %s, must be %s" % (number, result, refused)
        return
    assert not result.isalpha(), "case %d: %s" % (number, result)
    for told, right in zip(map(float, result.split(":")), mine):
        assert abs(told - (right or 0)) < 1e-8, "case %d: %s, must be %s" % (number, result, mine)


def compare(lines):
    """How many there were of each kind and outcome."""
    seen = Counter()
    for number, (numbers, kind, result, *inputs) in enumerate(lines):
        NUMBERS[0] = numbers == "1"
        if kind == "compare":
            check_comparison(number, result, inputs)
            seen[kind, "refused" if result.isalpha() else "told"] += 1
            continue
        mine = built(kind, inputs)
        assert mine == result, "case %d: %s %s\n    C      %.400s\n    Python %.400s" % (
            number, kind, " ".join(inputs)[:2000], result, mine)
        seen[kind, outcome(result)] += 1
    return seen


class Watch:
    """Counts calls of the writer, by what they returned."""

    def __init__(self):
        self.calls = Counter()

    def see(self, owner, name):
        plain = getattr(owner, name)

        def counting(*arguments):
            result = plain(*arguments)
            self.calls[name, bool(result)] += 1
            return result

        setattr(owner, name, counting)


def check_cases(seed):
    n = max(CASES * int(os.environ.get("ROUNDS") or 100) // 100, 1)
    seen = compare(cases("emit", str(n), seed=seed))
    print("    " + ", ".join("%d %s to %s" % (count, *what) for what, count in sorted(seen.items())))
    assert sum(seen.values()) == n, "%d cases" % sum(seen.values())
    return seen


def check_reached(seen, watch):
    """Did the cases reach what they are for?"""
    for kinds in (["aggregate"], ["union", "sum"], ["union_agg", "sum_agg"], ["compact", "grow"], ["change"]):
        for what in ("hashes", "semi-sorted", "plain"):
            assert any(seen[kind, what] for kind in kinds), "no %s came to %s" % (kinds, what)
    assert seen["intersect_agg", "hashes"] and seen["intersect_agg", "plain"], "nothing in common"
    assert seen["compare", "told"], "nothing was compared"
    # some 30 of each; of two filters there are 6, so that none would come in one run of 500
    for what in ("seeds", "precision"):
        assert any(seen[kind, what] for kind in MERGES), "no merge was refused: %s" % what
    print("    " + ", ".join("%s to %s: %d" % (*what, count) for what, count in sorted(watch.calls.items())))
    assert watch.calls["larger", True] > 20, "hardly a build failed"
    assert watch.calls["move", True] > 100, "hardly a build moved items"
    assert watch.calls["move_tags", True] > 10, "hardly an add moved items"
    assert watch.calls["larger_table", True] > 10, "hardly a table grew"


# -------------------------------------------------- FORMAT.md's worked examples

def page_blocks(number):
    """A section's blocks of hex: bytes, or lists of hashes."""
    with open(os.path.join(answers.ROOT, "core/FORMAT.md"), encoding="utf-8") as page:
        section = page.read().split("\n## %d." % number)[1].split("\n## ")[0]
    for block in re.findall(r"(?:^    [0-9a-f ]+\n)+", section, re.M):
        if re.search(r"\w \w", block):
            yield [int(word, 16) for word in block.split()]
        else:
            yield bytes.fromhex("".join(block.split()))


def check_worked():
    few, many = page_blocks(5)
    for header, n, g in ((few, 108, 0), (many, 600000, 2)):
        p = writer.Promise(capacity=n, classes=reader.ITEM_HASH)
        geometry = writer.choose(n, writer.prefix_bits(n, p.fpr, p.c), p)
        assert geometry.g == g
        assert header == p.header(p.encoding, n, geometry.w, geometry.g, geometry.m, geometry.f)
    hashes, table = page_blocks(7)
    assert table == writer.aggregate(
        hashes, writer.Promise(0, 0.1, b=2, classes=reader.ITEM_HASH)), "section 7"
    hashes, first, empty, union, total, two, nothing = page_blocks(8)
    assert first == writer.aggregate(hashes, writer.Promise(100, classes=TEXT)), "section 8, hashes"
    for inputs in ([first, table], [table, first]):
        assert union == writer.union(*inputs) == writer.union_agg([empty, *inputs]), "union"
        assert total == writer.sum_of(*inputs) == writer.sum_agg([*inputs, empty]), "sum"
        assert two == writer.intersect(inputs), "intersection"
        assert nothing == writer.intersect_agg([empty, *inputs]), "intersection with nothing"
        assert ["%.4f" % told for told in writer.compare(inputs)] == ["0.9565", "0.1175"], "overlap"
    for data, n, options in zip(page_blocks(9), (3, 20, 20), ({}, {}, {"seed": 7, "is_set": True, "plain": True, "b": 2})):
        p = writer.Promise(0, classes=1, **options)
        hashes = [xxh3(item.to_bytes(8, "little"), p.seed + 1) for item in range(1, n + 1)]
        assert data == writer.aggregate(hashes, p), "section 9, %d items" % n


# --------------------------------------- what the engine of this version lacks

def random_promise(rng):
    return writer.Promise(rng.choice((1, 300, 10**6)), rng.choice((0.3, 0.01, 1e-6)), 0,
                          rng.random() < 0.3, rng.random() < 0.5, rng.choice((2, 4, 8)),
                          rng.randrange(1, 128))


def check_many_at_once(seed):
    """Many changes at once leave the copies that single ones do."""
    rng = random.Random(seed)
    for _ in range(20):
        p = random_promise(rng)
        hashes = [rng.getrandbits(64) for _ in range(rng.choice((0, 3, 30, 300, 1000)))]
        given = [rng.choice((*hashes, rng.getrandbits(64))) for _ in range(rng.choice((1, 20, 500)))]
        given += given[:5] * rng.randrange(20)
        start = writer.aggregate(hashes, p)
        for many, one in (
                (lambda data, given: writer.add_all(data, given, TEXT), lambda w, item: w.add(item, TEXT)),
                (writer.remove_all, writer.Writer.remove)):
            if p.is_set and many == writer.remove_all:
                continue
            singly = writer.Writer(start)
            try:
                for item in given:
                    one(singly, item)
                at_once = reader.Filter(many(start, given))
            except writer.Refused:
                continue
            assert at_once.item_classes == reader.Filter(singly.bytes()).item_classes
            for item in (*hashes, *given):
                assert at_once.w < 64 or singly.f.w == 64
                if singly.f.w == at_once.w:
                    assert at_once.copies(item) == singly.f.copies(item), "copies of %x" % item


def main():
    seed = answers.new_seed()
    print("writer: SEED=%d" % seed)
    watch = Watch()
    for owner, name in ((writer, "larger"), (writer, "larger_table"), (writer.Table, "move"),
                        (writer.Writer, "move_tags")):
        watch.see(owner, name)
    seen = Counter()
    checks = [("worked examples", check_worked),
              ("random cases", lambda: seen.update(check_cases(seed))),
              ("several segments", lambda: compare(cases("large", seed=seed))),
              ("many at once", lambda: check_many_at_once(seed))]
    if int(os.environ.get("ROUNDS") or 100) >= 100:
        checks.insert(2, ("what they reached", lambda: check_reached(seen, watch)))
    return answers.run("writer", checks, seed)


if __name__ == "__main__":
    sys.exit(main())
