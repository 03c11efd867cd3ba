"""The arguments of Filter.build and Filter.create."""

import math
import operator

from ._errors import Error


def read(capacity, kind, bucket_size, layout, seed, hint):
    """The capacity as an integer, and the options in UTF-8 as the databases write them. hint is that of a bad option."""
    given = {"kind": kind, "bucket_size": bucket_size, "layout": layout, "seed": seed}
    capacity = 0 if capacity is None else _integer(capacity)
    options = [f"{name}={value!s}" for name, value in given.items() if value is not None]
    for option in options:
        # a value is not a list of options, nor is it cut at a zero
        if "," in option or "\0" in option:
            raise Error(f'invalid cuckoofilter option "{option}"', "22023", "", hint)
    return capacity, ", ".join(options).encode()


def _integer(number):
    """The integer that a number is, such as a float or Decimal; of one that is too large for a float, any of more than 64
    bits: to make an integer of a Decimal of many digits can take hours."""
    kind = type(number)
    if hasattr(kind, "__index__") or not (hasattr(kind, "__int__") or hasattr(kind, "__float__")):
        return operator.index(number)
    try:
        nearest = float(number)
        if math.isinf(nearest) and number != nearest:
            return 2**64
    except Exception:
        pass
    try:
        integer = int(number)
        if integer == number:
            return integer
    except (ValueError, OverflowError):  # NaN and infinity have no integer
        pass
    raise Error(f"capacity must be an integer, not {number!r}")
