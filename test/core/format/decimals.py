#!/usr/bin/python3
"""A second implementation of the hashes of numbers in decimal digits.

It was written from FORMAT.md, section 6, and not from the C code. It compares both over random
numbers, and their halves between two doubles; test/core/tool/decimals.c hashes lines of text.
"""
import decimal
import math
import os
import random
import re
import struct
import subprocess
import sys
from fractions import Fraction

import answers
import containers

decimal.setcontext(decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN))


def parts(number):
    """The sign, the digits without zeros at either end, and the exponent of the last digit."""
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    return sign, text.rstrip("0"), exponent + len(text) - len(text.rstrip("0"))


def nearest(number):
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def is_double(number, double):
    """Whether a number is its nearest double, or a shortest text of it."""
    _, digits, exponent = parts(number)
    if math.isinf(double) or double == 0:
        return False
    if decimal.Decimal(double) == number:
        return True
    if len(digits) > 17:
        return False
    unit, n, here = Fraction(10) ** exponent, int(digits), Fraction(abs(double))
    below = Fraction(math.nextafter(abs(double), 0))
    above = math.nextafter(abs(double), math.inf)
    above = here + (here - below) if math.isinf(above) else Fraction(above)
    low, high = (below + here) / 2, (here + above) / 2
    if (math.floor(low / unit / 10) + 1) * 10 * unit < high:
        return False
    return not any(low < m * unit < high and abs(m * unit - here) < abs(n * unit - here) for m in (n - 1, n + 1))


def hashes_of(number, seed=0):
    """The hash of a number, and the one that versions before 1.7.1 gave it."""
    sign, digits, exponent = parts(number)
    if not digits or exponent >= 0 and len(digits) + exponent <= 19 and -2**63 <= int(number) < 2**63:
        return (containers.hash_of_class(struct.pack("<q", int(number)), 1, seed),) * 2
    double = nearest(number)
    rounded = containers.real(double, seed)
    if is_double(number, double):
        return rounded, rounded
    words = containers.packed([sign, exponent, containers.hash_of_class(digits.encode(), 3, seed)])
    return containers.hash_of_class(words, 8, seed), rounded


def draw_double(draw):
    kind = draw.randrange(6)
    if kind == 0:  # any bits
        double = struct.unpack("<d", struct.pack("<Q", draw.getrandbits(63)))[0]
        return 0.1 if math.isnan(double) or math.isinf(double) else double
    if kind == 1:  # subnormal
        return math.ldexp(draw.getrandbits(draw.randrange(1, 53)), -1074)
    if kind == 2:  # whose distance to the double below is half that to the one above
        return math.ldexp(1, draw.randrange(-1074, 1024))
    if kind == 3:
        return float(draw.getrandbits(draw.randrange(50, 80)))
    if kind == 4:
        return float("%de%d" % (draw.randrange(1, 10), draw.randrange(-320, 308)))
    return draw.random() * 10 ** draw.randrange(-5, 20)


def draw_text(draw):
    """A number, often a double, its shortest text, near it, or halfway to its neighbour."""
    double = draw_double(draw) or 0.5
    kind = draw.randrange(9)
    if kind == 0:
        return repr(double)
    if kind == 1:
        return "%.*e" % (draw.randrange(13, 21), double)
    if kind == 2:
        return str(decimal.Decimal(double))
    if kind in (3, 4):  # halfway, or nearly
        above = math.nextafter(double, math.inf)
        half = (decimal.Decimal(double) + decimal.Decimal(above if math.isfinite(above) else 0)) / 2
        if kind == 4:
            half += (half or 1) * decimal.Decimal(10) ** -draw.randrange(15, 1000) * draw.choice((1, -1))
        return str(half)
    if kind == 5:  # the last digit of a shortest text by one more or less
        sign, digits, exponent = parts(decimal.Decimal(repr(double)))
        return "%de%d" % (int(digits) + draw.choice((1, -1)), exponent)
    if kind == 6:
        return str(draw.getrandbits(draw.randrange(1, 200)))
    if kind == 7:
        return "%d.%d" % (draw.getrandbits(draw.randrange(1, 70)), draw.getrandbits(draw.randrange(1, 70)))
    digits = "".join(draw.choice("0000123456789") for _ in range(draw.randrange(1, 2500)))
    return "%s%se%d" % (digits, draw.choice((".0", "", ".12500")), draw.randrange(-3000, 400))


def varied(text, draw):
    """The same number, or its negative, written differently."""
    number = decimal.Decimal(text)
    kind = draw.randrange(4)
    if kind == 0:
        text = format(number, "f")
    elif kind == 1:
        text = "%de%d" % (int("".join(map(str, number.as_tuple().digits))), number.as_tuple().exponent)
        text = "-" + text if number.is_signed() else text
    elif kind == 2 and "e" not in text.lower():
        text = text + ("00" if "." in text else ".000")
    return "-" + text if draw.randrange(4) == 0 and text[0] != "-" else text


FIXED = """0 -0 0.000 1.50 15e-1 +1.5 .5 5. 1e0 9223372036854775807 -9223372036854775808 9223372036854775808
-9223372036854775809 9223372036854775807.5 18446744073709551615 18446744073709551616 18446744073709552000 1e18 1e19
1e22 1e23 9.999999999999999e22 9007199254740993.0 9007199254740993.5 5e-324 4e-324 3e-324 2e-324 9.9e-324 1e-323 1e-400
1.7976931348623157e308 1.7976931348623159e308 1.8e308 1e309 -1e400 5.684341886080801e-14 5.684341886080802e-14
2.2250738585072014e-308 2.225073858507201e-308 2.2250738585072011e-308 0.1 0.10000000000000001
0.1000000000000000055511151231257827021181583404541015625 1e999999999999999999 12345678901234567.12""".split()


def check_page():
    """FORMAT.md's table of decimals."""
    with open(os.path.join(answers.ROOT, "core/FORMAT.md"), encoding="utf-8") as page:
        table = page.read().split("| decimal | hashed as |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (\S+) \| (double|class 8:) (.*) \|$", table, re.M)
    assert len(rows) == 6, rows
    for text, kind, told in rows:
        hashed, rounded = hashes_of(decimal.Decimal(text))
        if kind == "double":
            double = 2.0 ** int(told[2:]) if told.startswith("2^") else float(told)
            assert hashed == rounded == containers.real(double, 0), text
        else:
            sign, exponent, digits = re.fullmatch(r"(\d), (-?\d+), the hash of `(\d+)`", told).groups()
            words = [int(sign), int(exponent), containers.hash_of_class(digits.encode(), 3, 0)]
            assert hashed == containers.hash_of_class(containers.packed(words), 8, 0) != rounded, text


def main():
    check_page()
    seed = int(os.environ.get("SEED") or 1)
    rounds = int(os.environ.get("ROUNDS") or 20000)
    draw = random.Random(seed)
    texts = FIXED + [varied(draw_text(draw), draw) for _ in range(rounds)]
    bad = ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "NaN", "Infinity", "0x1", "1e5.0", "--1", "1,5"]
    hashed = subprocess.run([answers.compiled("decimals")], input="\n".join(texts + bad) + "\n", stdout=subprocess.PIPE, text=True,
                             check=True).stdout.splitlines()
    assert len(hashed) == len(texts) + len(bad), len(hashed)
    assert hashed[len(texts):] == ["no number"] * len(bad), hashed[len(texts):]
    decimals = 0
    for text, answer in zip(texts, hashed):
        wanted = hashes_of(decimal.Decimal(text))
        decimals += wanted[0] != wanted[1]
        assert answer == "%d %d" % wanted, "SEED=%d %s: %s, must be %d %d" % (seed, text[:400], answer, *wanted)
    assert decimals > rounds // 20
    print("decimals: %d passed, 0 failed" % len(texts))


if __name__ == "__main__":
    sys.exit(main())
