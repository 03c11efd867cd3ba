#!/usr/bin/python3
"""A second implementation of the hashes of values that consist of other values.

It was written from FORMAT.md, section 6, and not from the C code. It replays
test/vectors/containers.tsv.
"""
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../.."))
from recipes import lines
from xxh3 import xxh3


def hash_of_class(data, number, seed):
    """XXH3 of bytes under a class."""
    return xxh3(data, seed + number)


def class_7(words, seed):
    return hash_of_class(packed(words), 7, seed)


def packed(words):
    return b"".join(struct.pack("<Q", word % 2**64) for word in words)


def real(value, seed):
    if math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63:
        return hash_of_class(struct.pack("<q", int(value)), 1, seed)
    return hash_of_class(struct.pack("<d", value), 2, seed)


def range_words(value, seed):
    if value["range"] == "empty":
        return [3, 1]
    first, last = value["range"]
    flags = 2 * (first == "[") + 4 * (last == "]") + 8 * ("lower" not in value) + 16 * ("upper" not in value)
    return [3, flags] + [part(value[end], seed) for end in ("lower", "upper") if end in value]


def json_part(value, seed):
    if isinstance(value, bool):
        return class_7([8, value], seed)
    if isinstance(value, list):
        return class_7([6, len(value)] + [json_part(v, seed) for v in value], seed)
    if isinstance(value, dict):
        if "decimal" in value:
            return part(value, seed)
        members = sorted((part(k, seed), json_part(v, seed)) for k, v in value.items())
        return class_7([7, len(members)] + [word for member in members for word in member], seed)
    return part(value, seed)


def words_of(value, seed):
    """The words of a value that consists of others, in the notation of the vectors."""
    if "array" in value:
        sizes = [word for size_and_bound in value["dimensions"] for word in size_and_bound]
        return [1, len(value["dimensions"])] + sizes + [part(v, seed) for v in value["array"]]
    if "record" in value:
        return [2, len(value["record"])] + [part(v, seed) for v in value["record"]]
    if "range" in value:
        return range_words(value, seed)
    if "multirange" in value:
        return [4, len(value["multirange"])] + [part(v, seed) for v in value["multirange"]]
    if "folded" in value:
        return [9, part(value["folded"], seed)]
    document = value["json"]
    if isinstance(document, list):
        return [6, len(document)] + [json_part(v, seed) for v in document]
    if isinstance(document, dict) and "decimal" not in document:
        members = sorted((part(k, seed), json_part(v, seed)) for k, v in document.items())
        return [7, len(members)] + [word for member in members for word in member]
    return [5, json_part(document, seed)]


def part(value, seed):
    """The hash of any value."""
    if value is None:
        return hash_of_class(b"", 7, seed)
    if isinstance(value, int):
        return hash_of_class(struct.pack("<q", value), 1, seed)
    if isinstance(value, float):
        return real(value, seed)
    if isinstance(value, str):
        return hash_of_class(value.encode(), 3, seed)
    for name, number in (("timestamp", 5), ("timestamptz", 6)):
        if name in value:
            return hash_of_class(struct.pack("<q", value[name]), number, seed)
    if "decimal" in value:
        import decimals  # which imports this

        return decimals.hashes_of(decimals.decimal.Decimal(value["decimal"]), seed)[0]
    if "bytes" in value:
        return hash_of_class(bytes.fromhex(value["bytes"]), 4, seed)
    return class_7(words_of(value, seed), seed)


def main():
    passed = failed = 0
    for notation, seed, words, hashed, _ in lines("containers.tsv"):
        value, seed = json.loads(notation), int(seed)
        ours = packed(words_of(value, seed)).hex(), part(value, seed)
        if ours == (words, int(hashed) % 2**64):
            passed += 1
        else:
            failed += 1
            print(f"{notation}, seed {seed}: {ours} here, {words}, {hashed} there")
    if passed < 40:
        failed += 1
        print(f"only {passed} vectors")
    pairs = 0
    for item, value, seed, hashed, *_ in lines("pairs.tsv"):
        words = [2, 2, int(item) % 2**64, int(value) % 2**64]
        if class_7(words, int(seed)) == int(hashed) % 2**64:
            pairs += 1
        else:
            failed += 1
            print(f"pair {item}, {value}, seed {seed}: {hashed} there")
    if pairs < 20:
        failed += 1
        print(f"only {pairs} pairs")
    passed += pairs
    print(f"containers: {passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
