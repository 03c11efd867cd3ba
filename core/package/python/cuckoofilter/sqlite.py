"""The functions of cuckoofilter in SQLite.

    >>> import sqlite3, cuckoofilter.sqlite
    >>> conn = sqlite3.connect(":memory:")
    >>> cuckoofilter.sqlite.load(conn)
    >>> conn.execute("SELECT cuckoofilter_contains(cuckoofilter_agg(value), 2) FROM json_each('[1, 2, 3]')").fetchone()
    (1,)
"""

import os
import sqlite3
from typing import Any

from ._filter import Filter

__all__ = ["load", "loadable_path"]

# A Filter is a parameter of a statement: conn.execute("INSERT INTO t VALUES (?)", (f,)).
sqlite3.register_adapter(Filter, bytes)


def loadable_path() -> str:
    """The full path of the extension, for programs that load extensions themselves."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuckoofilter.so")


def load(conn: Any) -> None:
    """Load the extension into one connection.

    conn is a connection of sqlite3, or of a module with the same two methods. It may load
    extensions afterwards only if it could before.
    """
    if not hasattr(conn, "load_extension"):
        raise sqlite3.NotSupportedError("this Python's sqlite3 cannot load extensions")
    try:
        conn.load_extension(loadable_path())
        return
    except sqlite3.OperationalError as error:
        if str(error) != "not authorized":
            raise
    conn.enable_load_extension(True)
    try:
        conn.load_extension(loadable_path())
    finally:
        conn.enable_load_extension(False)
