"""The type cuckoofilter in psycopg 3.

    conn = psycopg.connect()
    cuckoofilter.psycopg.register(conn)
    f = conn.execute("SELECT cuckoofilter_agg(id) FROM person").fetchone()[0]  # a Filter
    conn.execute("INSERT INTO filter VALUES (%s)", [f])
"""

from base64 import b64decode, b64encode
from typing import Any, Optional

from psycopg import AsyncConnection, Connection
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ._filter import Filter

__all__ = ["register", "register_async", "register_type"]


class _TextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Any) -> Filter:
        return Filter(b64decode(bytes(data)))


class _BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Filter:
        return Filter(data)


class _TextDumper(Dumper):
    format = Format.TEXT

    def dump(self, obj: Filter) -> bytes:
        return b64encode(bytes(obj))


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Filter) -> bytes:
        return bytes(obj)


def register(conn: "Connection[Any]", context: Optional[Any] = None) -> None:
    """Load and dump cuckoofilter as Filter.

    The type's OID is read by conn. context is where the type is registered: conn if it is None,
    or another connection or cursor, or psycopg.adapters for all connections.
    """
    if not isinstance(conn, Connection):
        raise TypeError(f"register needs a psycopg.Connection, not {type(conn).__name__}; register_async takes an AsyncConnection")
    register_type(TypeInfo.fetch(conn, "cuckoofilter"), conn if context is None else context)


async def register_async(conn: Any, context: Optional[Any] = None) -> None:
    """The same for an AsyncConnection."""
    if not isinstance(conn, AsyncConnection):
        raise TypeError(f"register_async needs a psycopg.AsyncConnection, not {type(conn).__name__}")
    register_type(await TypeInfo.fetch(conn, "cuckoofilter"), conn if context is None else context)


def register_type(info: Optional[TypeInfo], context: Any) -> None:
    """Register a type that TypeInfo.fetch found."""
    if info is None:
        raise ValueError("the database has no type cuckoofilter: CREATE EXTENSION cuckoofilter")
    info.register(context)
    adapters = context.adapters if hasattr(context, "adapters") else context
    for loader in (_TextLoader, _BinaryLoader):
        adapters.register_loader(info.oid, loader)
    for base in (_BinaryDumper, _TextDumper):  # the last one is the default
        dumper = type(base.__name__, (base,), {"oid": info.oid})
        adapters.register_dumper(Filter, dumper)
