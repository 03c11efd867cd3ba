#!/usr/bin/python3
"""Compares the independent reader with the C code, and replays FORMAT.md's worked bytes."""
import json
import os
import random
import re
import sys

import answers
import reader

FILTERS = 2500
MUTANTS = 6000
FORGED = 15000
TABLES = 400
CLASSES = ("number", "text", "bytes", "timestamp", "timestamptz", "other", "hash")  # [2]


def worked_bytes():
    """(bytes, {n: hash(n)}) of each block of section 9, with the hashes told above it."""
    with open(os.path.join(answers.ROOT, "core/FORMAT.md"), encoding="utf-8") as page:
        section = page.read().split("## 9.")[1].split("## 10.")[0]
    hashes = {}
    for part in re.split(r"\n\n", section):
        hashes.update({int(n): int(h, 16) for n, h in re.findall(r"hash\((\d+)\)\s*=\s*`(\w+)`", part)})
        lines = re.findall(r"^    ([0-9a-f]+)$", part, re.M)
        if lines:
            yield bytes.fromhex("".join(lines)), dict(hashes)


def check_worked_bytes():
    blocks = list(worked_bytes())
    assert len(blocks) == 3, "%d worked blocks" % len(blocks)
    for data, hashes in blocks:
        f = reader.Filter(data)
        assert len(hashes) == 3
        assert all(f.contains(h) for h in hashes.values()), "a worked item is not in"
        assert f.count == sum(len(list(filter(None, b))) for b in f.buckets) \
            if f.encoding != reader.HASHES else f.count == len(f.hashes)


def golden(version):
    """(name, info, filter)"""
    page = os.path.join(answers.ROOT, "test/vectors/golden/format-%d.tsv" % version)
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                fields = line.rstrip("\n").split("\t")
                yield fields[0], json.loads(fields[1]), reader.Filter(bytes.fromhex(fields[-1]))


def check_golden():
    """The golden filters open here, too; what they answer is for the other suites."""
    for version, least in ((1, 90), (2, 30)):
        number = 0
        for name, told, f in golden(version):
            classes = told.get("item_classes", ["hash"] if f.count else [])
            assert (f.count, f.w) == (told["count"], told["prefix_bits"]), name
            assert [n for i, n in enumerate(CLASSES) if f.item_classes >> i & 1] == classes, name
            number += 1
        assert number >= least, "%d golden filters of version %d" % (number, version)


def check_emitted(seed):
    shapes = set()
    for number, (data, expected) in enumerate(answers.emitted(FILTERS, seed)):
        f = reader.Filter(data)
        shapes.add((f.encoding, f.b, f.f, f.is_set, f.g > 0))
        for item_hash, copies in expected.items():
            assert f.copies(item_hash) == copies, "filter %d, hash %x" % (number, item_hash)
    assert number >= FILTERS
    print("    %d filters of %d shapes" % (number + 1, len(shapes)))
    for encoding, b in ((0, 2), (0, 4), (0, 8), (1, 4), (2, 2), (2, 4), (2, 8)):
        for is_set in (False, True):
            assert any(s[0] == encoding and s[1] == b and s[3] == is_set for s in shapes), \
                "no filter of encoding %d, b %d" % (encoding, b)
    assert any(s[4] for s in shapes), "no filter of several segments"


def check_chunks_of(seed):
    """What the C code writes, and that a changed byte is noticed; the kinds that came."""
    rng = random.Random(seed)
    kinds = set()
    number = 0
    for chunks, start, data, expected in answers.emitted_chunks(TABLES, seed):
        chunk = reader.Chunk(chunks, start, data)
        kinds.add((chunk.kind, chunk.depth > 0, chunks.b))
        for item_hash, copies in expected.items():
            assert chunk.copies(item_hash) == copies, "chunk %d, hash %x" % (number, item_hash)
        at = rng.randrange(len(data))
        wrong = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        try:
            reader.Chunk(chunks, start, wrong)
            raise AssertionError("a changed byte is not noticed")
        except reader.NotAFilter:
            number += 1
    print("    %d chunks" % number)
    return kinds


def check_chunks(seed):
    """Tables of one seed, and of as many more as it takes to see each kind of chunk."""
    wanted = {(kind, deep, b) for b in (2, 4, 8)
              for kind, deep in ((0, False), (1, False), (2, False), (2, True))}
    kinds = set()
    for more in range(10):
        kinds |= check_chunks_of(seed + more)
        if wanted <= kinds:
            return
    raise AssertionError("no chunk of kind, depth > 0, b: %s" % (wanted - kinds))


def check_worked_chunks():
    """Section 10."""
    with open(os.path.join(answers.ROOT, "core/FORMAT.md"), encoding="utf-8") as page:
        section = page.read().split("## 10.")[1]
    blocks = [bytes.fromhex(block.replace("\n", "").replace(" ", ""))
              for block in re.findall(r"(?m)(?:^    [0-9a-f]+\n)+", section + "\n")]
    chunks = reader.Chunks(17, 7, 4, reader.SEMI_SORTED, False, 0)
    assert "salt `%016x`" % chunks.salt in section
    item = 0x85671091EDA75EB5
    expected = ((0, 1), (0, 1), (1 << 63, 2))
    assert len(blocks) == len(expected)
    for (start, copies), data in zip(expected, blocks):
        assert reader.Chunk(chunks, start, data).copies(item) == copies
    built = [data for _, _, data, _ in answers.emitted_chunks(0, 0)]
    assert built == blocks[:2], "the C code builds other chunks"


def check_bytes(drawn, seed, least):
    """Of any bytes both readers say the same."""
    rng = random.Random(seed)
    c_reader = answers.CReader()
    opened = number = 0
    for data in drawn(rng):
        hashes = [rng.getrandbits(64) for _ in range(8)]
        mine, wrong = answers.compare(c_reader, data, hashes)
        assert not wrong, wrong
        opened += mine is not None
        number += 1
    c_reader.close()
    print("    %d of %d opened" % (opened, number))
    assert opened > number * least, "hardly one opened"


def check_mutants(seed):
    sound = [d for d, _ in answers.emitted(300, seed + 1) if len(d) < 2000]
    check_bytes(lambda rng: (answers.mutate(rng.choice(sound), rng) for _ in range(MUTANTS)), seed, 0.02)


def check_forged(seed):
    check_bytes(lambda rng: (answers.forge(rng) for _ in range(FORGED)), seed, 0.2)


def main():
    seed = answers.new_seed()
    print("reader: SEED=%d" % seed)
    answers.build()
    checks = (("worked bytes", check_worked_bytes), ("golden filters", check_golden),
              ("worked chunks", check_worked_chunks), ("chunks", lambda: check_chunks(seed)),
              ("emitted filters", lambda: check_emitted(seed)),
              ("mutants", lambda: check_mutants(seed)), ("forged fields", lambda: check_forged(seed)))
    return answers.run("reader", checks, seed)


if __name__ == "__main__":
    sys.exit(main())
