"""Arrays of numpy, whose numbers the C module reads where they are."""

from ._errors import Error

# The C types that are read, as codes of the module struct.
_CODES = {
    "b1": "?",
    "i1": "b",
    "i2": "h",
    "i4": "i",
    "i8": "q",
    "u1": "B",
    "u2": "H",
    "u4": "I",
    "u8": "Q",
    "f4": "f",
    "f8": "d",
}

_DAY = 86_400_000_000
# Microseconds in a unit of datetime64, as a fraction. Years and months become days first.
_UNITS = {
    "W": (7 * _DAY, 1),
    "D": (_DAY, 1),
    "h": (3_600_000_000, 1),
    "m": (60_000_000, 1),
    "s": (1_000_000, 1),
    "ms": (1000, 1),
    "us": (1, 1),
    "ns": (1, 1000),
    "ps": (1, 10**6),
    "fs": (1, 10**9),
    "as": (1, 10**12),
}
_UNIX = 10957 * _DAY  # microseconds from 1970 to 2000
_LEAST = -2_440_588 * _DAY  # PostgreSQL's least timestamp, since 1970: 4714-11-24 BC
_END = 106_762_940 * _DAY  # after its last one, 294276-12-31
_MOST_DATE = 10**7  # in years or months: numpy turns any such number into days
_NAT = -(2**63)


def _out_of_range(item):
    return Error(f"timestamp out of range: {item.dtype}, {item.view('int64')}", "22008")


def moment(item):
    """The microseconds of a datetime64 since 2000; None for NaT."""
    import numpy

    # an array of no dimension has an order of bytes of its own
    item = item.astype(item.dtype.newbyteorder("="))
    unit, step = numpy.datetime_data(item.dtype)
    number = int(item.view("int64"))
    if number == _NAT:
        return None
    if unit in ("Y", "M") and abs(number) * step <= _MOST_DATE:
        unit, step, number = "D", 1, int(item.astype("M8[D]").view("int64"))
    times, by = _UNITS.get(unit, (0, 1))
    micros = number * step * times // by
    if times == 0 or not _LEAST <= micros < _END:
        raise _out_of_range(item)
    return micros - _UNIX


def moments(array):
    """The same of an array of one dimension, as int64; the least one is NaT."""
    import numpy

    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    unit, step = numpy.datetime_data(array.dtype)
    if step > 1 or unit == "generic":
        return numpy.array([_NAT if m is None else m for m in map(moment, array)], "int64")
    nat = numpy.isnat(array)
    wrong, numbers = numpy.zeros(array.shape, bool), array.view("int64")
    if unit in ("Y", "M"):
        wrong = (numbers < -_MOST_DATE) | (numbers > _MOST_DATE)
        dates = numpy.where(wrong, numpy.zeros(1, array.dtype), array)
        unit, numbers = "D", dates.astype("M8[D]").view("int64")
    times, by = _UNITS[unit]
    least, most = max(-(-_LEAST * by // times), _NAT), min((_END * by - 1) // times, 2**63 - 1)
    wrong = (wrong | (numbers < least) | (numbers > most)) & ~nat
    if wrong.any():
        raise _out_of_range(array[wrong][0])
    # seconds may pass 64 bits here, and come back by the subtraction
    micros = (numbers * times if by == 1 else numbers // by) - _UNIX
    micros[nat] = _NAT
    return micros


def _scalars(array):
    """The items of an array as a list. Of those that Python has no type for, tolist() would make
    integers: of durations and moments, also in rows."""
    kind = array.dtype.kind
    if kind in "biuSUO" or (kind == "f" and array.dtype.itemsize <= 8):
        return array.ravel().tolist()  # None where it is masked
    items = list(array.ravel())
    return [tuple(row) for row in items] if array.dtype.names else items


def describe(items):
    """Of an array of numbers or moments: (array, code, address, length, result, the result's
    address), where result is an array of bool of the same shape. Of another array, a list of its
    items. Of anything else, the items themselves."""
    if not hasattr(items, "__array_interface__") and not hasattr(items, "__array__"):
        return items
    try:
        import numpy
    except ImportError:
        return items
    if isinstance(items, numpy.ma.MaskedArray):
        if items.dtype.kind != "M":
            return _scalars(items)
        items = items.filled(numpy.datetime64("NaT"))
    array = numpy.asarray(items)
    if array.dtype.kind == "M":
        numbers, code = moments(array.ravel()), "M"
    else:
        if array.dtype.kind == "f" and array.dtype.itemsize == 2:
            array = array.astype("float64")
        code = _CODES.get(f"{array.dtype.kind}{array.dtype.itemsize}")
        if code is None:
            return _scalars(array)
        numbers = array.astype(array.dtype.newbyteorder("="), copy=False)
    numbers = numpy.ascontiguousarray(numbers)
    result = numpy.empty(array.shape, dtype=bool)
    return (
        numbers,
        code,
        numbers.__array_interface__["data"][0],
        numbers.size,
        result,
        result.__array_interface__["data"][0],
    )
