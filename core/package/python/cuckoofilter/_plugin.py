"""The plugin of sqlite-utils and datasette, which find it by the wheel's entry points: all of their connections have the
functions."""

import sqlite3

from pluggy import HookimplMarker

from .sqlite import load


@HookimplMarker("datasette")
@HookimplMarker("sqlite_utils")
def prepare_connection(conn: sqlite3.Connection) -> None:
    load(conn)
