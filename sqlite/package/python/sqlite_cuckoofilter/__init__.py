"""Cuckoo filters for SQLite, as a loadable extension."""

import os
import sqlite3

__all__ = ["load", "loadable_path"]


def loadable_path() -> str:
    """The full path of the library, for whoever loads extensions in a way of their own."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuckoofilter.so")


def load(conn: sqlite3.Connection) -> None:
    """Loads the extension into one connection, which must allow it: conn.enable_load_extension(True)."""
    conn.load_extension(loadable_path())
