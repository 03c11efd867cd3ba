#!/usr/bin/python3
"""Writes the seed corpus of the bytes target, corpus/bytes, and the table of README.md about it.

One file for each interesting byte: a sound filter in which one thing is wrong, or at its edge.
Run it from the repository's root after a change of the format, and commit what it wrote.
"""
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../core/FORMAT.md")
FIELDS = {"format": 3, "hash-version": 4, "encoding": 5, "flags": 6, "b": 7, "f": 8, "w": 9,
          "g": 10, "c": 11}


def worked():
    """The hashes, semi-sorted and plain filters of FORMAT.md, section 9."""
    with open(PAGE, encoding="utf-8") as page:
        section = page.read().split("## 9.")[1].split("## 10.")[0]
    blocks = re.findall(r"(?:^    [0-9a-f]+\n)+", section, re.M)
    return [bytes.fromhex(re.sub(r"\s", "", block)) for block in blocks]


def put(data, at, new):
    return data[:at] + new + data[at + len(new):]


def u16(value):
    return struct.pack("<H", value)


def u64(value):
    return struct.pack("<Q", value)


def real(value):
    return struct.pack("<d", value)


def seeds():
    """(name, bytes, what is interesting)."""
    hashes, semi, plain = worked()
    size = len(semi)
    yield "hashes", hashes, "sound: three hashes"
    yield "semi-sorted", semi, "sound: 20 items, b 4"
    yield "plain", plain, "sound: 20 items, b 2, a set"
    yield "empty", put(put(hashes[:48], 14, b"\0"), 16, u64(0)), "sound: no items"
    yield "nothing", b"", "no bytes"
    yield "magic", put(semi, 2, b"G"), "byte 2: another magic"
    yield "header-cut", semi[:47], "a header one byte short"
    yield "body-cut", semi[:-1], "one byte short"
    yield "body-long", semi + b"\0", "one byte more"
    yield "no-tail", semi[:-8], "without the 8 zero bytes at the end"
    for name, at in FIELDS.items():
        for value in (0, 255):
            yield "%s-%d" % (name, value), put(semi, at, bytes([value])), \
                "byte %d, %s: %d" % (at, name, value)
    yield "encoding-state", put(hashes, 5, b"\x03"), "byte 5: an aggregate's state from outside"
    yield "encoding-plain", put(semi, 5, b"\x02"), "byte 5: semi-sorted bytes said to be plain"
    yield "flag-state", put(hashes, 6, b"\x04"), "byte 6: the flag of a state"
    yield "semi-b-8", put(semi, 7, b"\x08"), "byte 7: semi-sorted with b 8"
    yield "f-less", put(semi, 8, bytes([semi[8] - 1])), "byte 8: f one less than m asks for"
    yield "w-57", put(semi, 9, b"\x39"), "byte 9: w past 56"
    yield "g-32", put(semi, 10, b"\x20"), "byte 10: 2^32 segments, a length that would overflow"
    yield "m-0", put(semi, 12, u16(0)), "bytes 12-13: no buckets"
    yield "m-32769", put(semi, 12, u16(32769)), "bytes 12-13: more buckets than a half may have"
    yield "version-1", put(put(semi, 3, b"\x01"), 14, b"\0"), "sound: format version 1, without classes"
    yield "version-1-classes", put(semi, 3, b"\x01"), "byte 14: classes in version 1"
    yield "classes-none", put(semi, 14, b"\0"), "byte 14: items of no class"
    yield "classes-all", put(semi, 14, b"\xff"), "byte 14: sound, items of all classes, old ones, too"
    yield "classes-old", put(semi, 14, b"\x80"), "byte 14: old items that are no hashes"
    yield "classes-of-nothing", put(put(hashes[:48], 16, u64(0)), 14, b"\1"), "byte 14: classes, but no items"
    yield "forms-2", put(semi, 15, b"\1"), "byte 15: forms of numbers in version 2"
    for name, forms, what in (
            ("none", 0, "sound, no number"), ("exact", 1, "sound, exact numbers"),
            ("rounded", 2, "rounded numbers, as version 2 says"), ("both", 3, "sound, exact and rounded numbers"),
            ("unknown", 4, "sound, unknown"), ("all", 7, "sound, all forms"), ("8", 8, "a form that there is not")):
        yield f"forms-{name}", put(put(semi, 3, b"\3"), 15, bytes([forms])), f"byte 15 of version 3: {what}"
    yield "count-less", put(semi, 16, u64(19)), "bytes 16-23: a count too small"
    yield "count-huge", put(semi, 16, u64(10**9)), "bytes 16-23: 10^9 items in 75 bytes"
    yield "hashes-count-wraps", put(hashes, 16, u64(2**61 + 3)), \
        "bytes 16-23: 8 * count wraps to the right length"
    yield "seed-all-ones", put(semi, 24, u64(2**64 - 1)), "bytes 24-31: sound, the largest seed"
    yield "capacity-0", put(semi, 32, u64(0)), "bytes 32-39: capacity 0"
    yield "capacity-max", put(semi, 32, u64(2**40)), "bytes 32-39: sound, the largest capacity"
    yield "capacity-negative", put(semi, 32, u64(2**63)), "bytes 32-39: a negative capacity"
    yield "fpr-nan", put(semi, 40, real(float("nan"))), "bytes 40-47: fpr NaN"
    yield "fpr-1", put(semi, 40, real(1.0)), "bytes 40-47: fpr 1"
    yield "fpr-tiny", put(semi, 40, real(5e-324)), "bytes 40-47: fpr 5e-324, c does not fit"
    yield "code-3876", put(semi, 48, b"\x24\x0f"), "bits 0-11 of the body: a code past 3875"
    yield "all-ones", semi[:48] + b"\xff" * (size - 56) + bytes(8), "a body of ones"
    yield "all-free", put(put(semi[:48], 14, b"\0"), 16, u64(0)) + bytes(size - 48), \
        "sound: a table with no item"
    yield "tail", semi[:-1] + b"\x01", "the last byte: not zero"
    yield "hash-0", put(hashes, 48, u64(0)), "bytes 48-55: hash 0 is not written so"
    yield "hashes-fall", put(hashes, 56, u64(1)), "bytes 56-63: hashes out of order"
    yield "hashes-repeat", put(put(hashes, 6, b"\x01"), 56, hashes[48:56]), \
        "bytes 56-63: two copies in a set"
    yield "plain-wrong-bucket", plain[:48] + plain[49:57] + plain[48:49] + plain[57:], \
        "the body's first bytes moved: tags in buckets that are not theirs"
    yield "g-without-room", put(plain, 10, b"\x01"), "byte 10: two segments, half the length"


def main():
    folder = os.path.join(HERE, "corpus/bytes")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    rows = ["| file | what is interesting |", "|---|---|"]
    for name, data, about in seeds():
        with open(os.path.join(folder, name), "wb") as seed_file:
            seed_file.write(data)
        rows.append("| %s | %s |" % (name, about))
    page = os.path.join(HERE, "README.md")
    with open(page, encoding="utf-8") as old:
        text = old.read()
    with open(page, "w", encoding="utf-8") as new:
        new.write(text.split("| file |")[0] + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
