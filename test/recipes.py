"""Reads test/vectors, whose README.md describes the columns, for the suites in Python."""

import os

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")


def lines(name):
    """The fields of each line."""
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#") and line.strip():
                yield line.rstrip("\n").split("\t")


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def signed(number):
    """The 64 bits of a number as SQL has them."""
    return (number + 2**63) % 2**64 - 2**63


def expand(items):
    """The items of a list in filters.tsv."""
    for item in items.split(",") if items != "-" else ():
        kind, value = item.split(":", 1)
        if kind == "i":
            first, _, last = value.partition("..")
            yield from range(int(first), int(last or first) + 1)
        else:
            yield {"r": float, "t": str, "b": bytes.fromhex}[kind](value)
