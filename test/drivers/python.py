#!/usr/bin/python3
"""Python's drivers of PostgreSQL.  psycopg2 writes parameters into the statement as literals, psycopg
sends each with its type (a str with none), asyncpg with the type that the server asks for.  Run by
postgresql.pl:  python.py psycopg2|psycopg|asyncpg"""

import asyncio
import datetime
import decimal
import importlib
import sys
import uuid

NAME = sys.argv[1]
try:
    driver = importlib.import_module(NAME)
except ImportError:
    print(f"skipped: {NAME} is not here")
    sys.exit()

UTC = datetime.timezone.utc
START = datetime.datetime(2000, 1, 1)
HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)

# kind: its SQL type, an item that is in, one that is not, and the same in
# another Python type where there is one
KINDS = {
    "numbers": ("bigint", 7, 70000),
    "halves": ("numeric", decimal.Decimal("3.5"), decimal.Decimal("3.25")),
    "texts": ("text", "item 7", "item x"),
    "uuids": ("uuid", uuid.UUID("8f14e45f-ceea-167a-5a36-dedd4bea2543"), uuid.UUID(int=7)),
    "bytes": ("bytea", b"\0\0\0\7", b"\7"),
    "dates": ("date", (START + 7 * DAY).date(), datetime.date(1999, 1, 1)),
    "stamps": ("timestamp", START + 7 * HOUR, START - HOUR),
    "zoned": ("timestamptz", START.replace(tzinfo=UTC) + 7 * HOUR, START.replace(tzinfo=UTC)),
    "truths": ("boolean", True, False),
}


def check(what, got, want):
    print(f"ok {what}" if got == want else f"not ok {what}: got {got!r}, want {want!r}")


class Psycopg:
    """psycopg2 and psycopg: the same calls."""

    async def connect(self):
        self.db = driver.connect("")
        self.db.autocommit = True
        if NAME == "psycopg2":
            importlib.import_module("psycopg2.extras").register_uuid()
        return self

    async def one(self, sql, *parameters):
        """The first column of the first row; the SQLSTATE, where it fails."""
        try:
            with self.db.cursor() as cursor:
                cursor.execute(sql, parameters)
                return cursor.fetchone()[0]
        except driver.Error as error:
            return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or "an error"


class Asyncpg:
    async def connect(self):
        self.db = await driver.connect()
        return self

    async def one(self, sql, *parameters):
        numbered = sql
        for n in range(1, len(parameters) + 1):
            numbered = numbered.replace("%s", f"${n}", 1)
        try:
            return await self.db.fetchval(numbered, *parameters)
        except driver.PostgresError as error:
            return error.sqlstate
        except (driver.InterfaceError, TypeError, ValueError):
            return "an error"


# What the server is told of a parameter's type: psycopg2's int is a literal,
# psycopg's has an OID; both leave a str to the server.
TYPED = {"psycopg2": True, "psycopg": True, "asyncpg": False}[NAME]


async def run():
    db = await (Asyncpg if NAME == "asyncpg" else Psycopg)().connect()
    print(f"driver {driver.__version__}")
    for kind, (sql, item, other) in KINDS.items():
        where = f"FROM filter WHERE kind = '{kind}'"
        check(f"{kind}: %s::{sql}", await db.one(f"SELECT bool_and(f @> %s::{sql}) {where}", item), True)
        check(f"{kind}: of another", await db.one(f"SELECT bool_or(f @> %s::{sql}) {where}", other), False)
        check(f"{kind}: <@", await db.one(f"SELECT bool_and(%s::{sql} <@ f) {where}", item), True)
        check(f"{kind}: added", await db.one(f"SELECT bool_and((f + %s::{sql}) @> %s::{sql}) {where}", other, other), True)
        check(f"{kind}: any", await db.one(f"SELECT bool_and(cuckoofilter_contains_any(f, %s::{sql}, %s::{sql})) {where}", other, item), True)
        lists = f"SELECT bool_and(cuckoofilter_contains_%s(f, VARIADIC %%s::{sql}[])) {where}"
        check(f"{kind}: all of a list", await db.one(lists % "all", [item, item]), True)
        check(f"{kind}: any of a list", await db.one(lists % "any", [other, item]), True)
        check(f"{kind}: all of a list with another", await db.one(lists % "all", [other, item]), False)
        check(f"{kind}: added from a list", await db.one(
            f"SELECT bool_and(cuckoofilter_add_all(f, VARIADIC %s::{sql}[]) @> %s::{sql}) {where}", [other, None], other), True)  # fmt: skip
        check(f"{kind}: aggregated", await db.one(f"SELECT cuckoofilter_agg(x) @> %s::{sql} FROM unnest(%s::{sql}[]) x", item, [item, other]), True)
        check(f"{kind}: a batch", await db.one(
            f"SELECT cuckoofilter_add_agg(f, x) @> %s::{sql} FROM filter, unnest(%s::{sql}[]) x WHERE kind = '{kind}' AND n = 10", other, [other]), True)  # fmt: skip

        # Without a type in the statement: as the driver says, else text.
        got = await db.one(f"SELECT bool_and(f @> %s) {where}", item)
        if kind == "texts" or TYPED:
            check(f"{kind}: %s", got, True)
            check(f"{kind}: f + %s", await db.one(f"SELECT bool_and((f + %s) @> %s) {where}", other, other), True)
            if kind != "texts" or NAME == "psycopg2":
                check(f"{kind}: any of %s, %s", await db.one(f"SELECT bool_and(cuckoofilter_contains_any(f, %s, %s)) {where}", other, item), True)
        else:
            check(f"{kind}: %s is an error: {got}", isinstance(got, str), True)
        if kind != "texts":
            check(f"{kind}: str", await db.one(f"SELECT bool_and(f @> %s) {where}", str(item)), "42804")
            check(f"{kind}: NOT str", await db.one(f"SELECT count(*) {where} AND NOT f @> %s", str(item)), "42804")
            check(f"{kind}: f + str", await db.one(f"SELECT cuckoofilter_count(f + %s) {where}", str(item)), "42804")
            check(f"{kind}: f - str", await db.one(f"SELECT cuckoofilter_count(f - %s) {where}", str(item)), "42804")
            got = await db.one(f"SELECT bool_and(cuckoofilter_contains_any(f, %s, %s)) {where}", str(item), str(other))
            check(f"{kind}: any of str is an error: {got}", isinstance(got, str), True)
            got = await db.one(f"SELECT ((SELECT f FROM filter WHERE kind = 'empty') + %s) @> %s::{sql}", str(item), item)
            check(f"{kind}: str in an empty one", got, "42804")
        for parameter in ("%s", f"%s::{sql}"):
            check(f"{kind}: a question about None, {parameter}", await db.one(f"SELECT count(f @> {parameter}) {where}", None), 0)
            check(f"{kind}: a change by None, {parameter}", await db.one(f"SELECT bool_and(f + {parameter} = f) {where}", None), True)
        check(f"{kind}: a list of None", await db.one(f"SELECT bool_and(cuckoofilter_remove_all(f, VARIADIC %s::{sql}[]) = f) {where}", None), True)
        # psycopg prepares a statement when it comes for the sixth time
        again = [await db.one(f"SELECT bool_and(f @> %s::{sql}) {where}", value) for value in [item, other] * 6]
        check(f"{kind}: prepared", again, [True, False] * 6)

    where = "FROM filter WHERE kind = 'numbers'"
    for item, want in ((7.0, True), (decimal.Decimal("7.00"), True), (7.5, False), (2**62, False)):
        if TYPED:
            check(f"{item!r}", await db.one(f"SELECT bool_or(f @> %s) {where}", item), want)
    text = await db.one(f"SELECT f::text {where} AND n = 2000")
    check("a filter as text", await db.one("SELECT cuckoofilter_contains(%s::text::cuckoofilter, %s::int)", text, 7), True)
    content = bytes(await db.one(f"SELECT f::bytea {where} AND n = 2000"))
    check("a filter as bytes", await db.one("SELECT %s::bytea::cuckoofilter @> %s::int", content, 7), True)
    check("a hash", await db.one(f"SELECT bool_and(cuckoofilter_contains_hash(f, %s)) {where}", await db.one("SELECT cuckoofilter_hash(7)")), True)
    print("end")


asyncio.run(run())
