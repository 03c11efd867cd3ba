"""Items that the C module does not know: dates, UUIDs, decimals, scalars of numpy."""

import datetime
import decimal
import math
import numbers
import uuid

from ._arrays import moment
from ._errors import ItemError

TIMESTAMP = 5
TIMESTAMPTZ = 6
DECIMAL = 8

_EPOCH = datetime.datetime(2000, 1, 1)
_EPOCH_UTC = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_DAY = datetime.date(2000, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = 86_400_000_000


def convert(item):
    """The item as int, float or bytes; as (class, digits or microseconds since 2000); or None for NULL."""
    if isinstance(item, datetime.datetime):
        if item.utcoffset() is None:
            return TIMESTAMP, (item.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        return TIMESTAMPTZ, (item - _EPOCH_UTC) // _MICROSECOND
    if isinstance(item, datetime.date):
        return TIMESTAMP, (item.toordinal() - _EPOCH_DAY) * _DAY
    if isinstance(item, uuid.UUID):
        return item.bytes
    if isinstance(item, (bytearray, memoryview)):
        return bytes(item)
    if isinstance(item, decimal.Decimal):
        if item.is_finite():
            return DECIMAL, decimal.Decimal.__str__(item)
        return math.nan if item.is_nan() else float(item)
    if hasattr(item, "dtype"):
        return _scalar(item)
    if isinstance(item, numbers.Rational) and item.denominator == 1:
        return int(item)
    if isinstance(item, numbers.Real):
        return _number(item)
    raise _no_hash(item)


def _no_hash(item):
    from ._filter import Filter  # which imports this module

    if isinstance(item, Filter):
        hint = "Merge filters by | or Filter.union_all."
        return ItemError("a cuckoofilter is not an item", "42804", "", hint)
    return ItemError(
        f"type {type(item).__qualname__} has no hash function for cuckoofilter",
        "42883",
        "",
        "Convert the item to a type that has one, such as str.",
    )


def digits(integer):
    """The digits of an integer of any size, where str may refuse it."""
    return str(decimal.Decimal(integer))


def _number(item):
    """An integer as such, any other number as the nearest float."""
    if -(2**63) <= item < 2**63 and item == int(item):
        return int(item)
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf


def _scalar(item):
    """A scalar of numpy."""
    if getattr(item, "shape", None) != ():
        raise _no_hash(item)
    if item.dtype.names is None and getattr(item, "mask", False):
        return None
    if item.dtype.kind == "M":
        micros = moment(item)
        return None if micros is None else (TIMESTAMP, micros)
    if item.dtype.kind == "m":  # whose item() may be an int
        raise _no_hash(item)
    value = item.item()
    if type(value) is not type(item):
        return value if type(value) in (int, float, str, bytes, bool) else convert(value)
    if item.dtype.kind != "f":
        raise _no_hash(item)
    nearest = float(item)  # a long double, which has no Python type, may be an integer that is no float
    return int(item) if math.isfinite(nearest) and item % 1 == 0 else nearest
