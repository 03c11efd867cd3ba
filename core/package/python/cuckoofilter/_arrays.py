"""Arrays of numpy, whose numbers the C module reads where they are."""

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
        return items.ravel().tolist()  # None where it is masked
    array = numpy.asarray(items)
    if array.dtype.kind == "M":
        numbers, code = array.astype("datetime64[us]").view("int64"), "M"
    else:
        if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
            array = array.astype("float64")
        code = _CODES.get(f"{array.dtype.kind}{array.dtype.itemsize}")
        if code is None:
            return array.ravel().tolist()
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
