"""The Python package in the benchmark of the bindings, beside Debian's flor where it is installed.

A line of output: package, figure, items, seconds of user time."""

import datetime
import os
import resource
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "build", "python"))
from cuckoofilter import Filter  # noqa: E402

ITEMS = 1_000_000
ASKED = [ITEMS // 2 + i * 7919 % ITEMS for i in range(ITEMS)]
TEXTS = [f"user-{i}" for i in ASKED]
EPOCH = datetime.datetime(2024, 1, 1)


def user_time():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def measure(package, figure, call, items=ITEMS):
    start = user_time()
    result = call()
    print(package, figure, items, f"{user_time() - start:.6f}", sep="\t")
    return result


def expect_half(answers, items=ITEMS):
    found = sum(map(bool, answers))
    assert items / 2 <= found <= items * 0.52, found


numbers = measure("Python", "build, integers", lambda: Filter.build(range(ITEMS)))
expect_half(measure("Python", "one by one, integers", lambda: [x in numbers for x in ASKED]))
expect_half(measure("Python", "many, integers", lambda: numbers.contains_many(ASKED)))
users = Filter.build(f"user-{i}" for i in range(ITEMS))
expect_half(measure("Python", "one by one, texts", lambda: [x in users for x in TEXTS]))
expect_half(measure("Python", "many, texts", lambda: users.contains_many(TEXTS)))
some = [EPOCH + datetime.timedelta(seconds=i) for i in ASKED[: ITEMS // 10]]
moments = Filter.build(EPOCH + datetime.timedelta(seconds=i) for i in range(ITEMS))
expect_half(measure("Python", "one by one, dates", lambda: [x in moments for x in some], len(some)), len(some))
try:
    import numpy
except ImportError:
    print("skipped: arrays of numpy, which this Python has not", file=sys.stderr)
else:
    array = numpy.array(ASKED)
    whole = numpy.arange(ITEMS)
    measure("Python, numpy", "build, integers", lambda: Filter.build(whole))
    expect_half(measure("Python, numpy", "many, integers", lambda: numbers.contains_many(array)))
try:
    import flor
except ImportError:
    print("skipped: flor (python3-flor), which is not installed", file=sys.stderr)
else:  # in Python itself, and so slow that a hundredth is asked
    few = ITEMS // 100
    bloom = flor.BloomFilter(few, 0.01)
    measure("flor (Python)", "build, integers", lambda: [bloom.add(b"%d" % i) for i in range(few)], few)
    expect_half(measure("flor (Python)", "one by one, integers", lambda: [b"%d" % (few // 2 + i) in bloom for i in range(few)], few), few)
