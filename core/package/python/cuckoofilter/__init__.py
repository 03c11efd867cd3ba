"""Cuckoo filters: the same bytes as in PostgreSQL and SQLite.

A filter stands for a large set of items. A lookup of an item returns False (certainly not in it) or
True (probably).

    >>> from cuckoofilter import Filter
    >>> seen = Filter.build(range(1000))
    >>> 77 in seen
    True

Items are int, bool, float, Decimal, str, bytes, datetime, date, UUID and tuples of these. None is
no item.
"""

from ._errors import Error, ItemError
from ._filter import Filter, hash, part, version as __version__

__all__ = ["Error", "Filter", "ItemError", "hash", "part"]
