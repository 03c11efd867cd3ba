"""Shared by the suites of filter tables: databases, statements, and random parameters."""

import os
import re
import sqlite3
import tempfile

from suite import connect, refusal

MASK = (1 << 64) - 1

# A table of the integers ?1 .. ?2, for FROM; of none where there are none.
NUMBERS = (
    "(WITH RECURSIVE s(x) AS (SELECT ?1 WHERE ?1 <= ?2 UNION ALL SELECT x + 1 FROM s WHERE x < ?2) "
    "SELECT x FROM s)"
)


class Base:
    """A connection with a table `number` of the integers 1 .. n; its file, where it has one, is its own."""

    def __init__(self, args="", numbers=1000, path=None, before=""):
        self.directory = tempfile.TemporaryDirectory() if path is None else None
        self.path = path or os.path.join(self.directory.name, "test.db")
        self.db = connect(self.path)
        self.run(f"PRAGMA synchronous = off; {before}")
        if numbers:
            self.run("CREATE TABLE number (x INTEGER PRIMARY KEY)")
            self.db.execute(f"INSERT INTO number SELECT x FROM {NUMBERS}", (1, numbers))
        if args is not None:
            self.run(f"CREATE VIRTUAL TABLE seen USING cuckoofilter({args})")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.db.close()
        if self.directory:
            self.directory.cleanup()

    def reopen(self):
        self.db.close()
        self.db = connect(self.path)

    def run(self, script):
        """Statements one by one: executescript would commit first."""
        statement = ""
        for part in script.split(";"):
            statement += part + ";"
            if sqlite3.complete_statement(statement):
                self.db.execute(statement).fetchall()
                statement = ""

    def rows(self, sql, *parameters):
        return self.db.execute(sql, parameters).fetchall()

    def one(self, sql, *parameters):
        row = self.db.execute(sql, parameters).fetchone()
        return row and row[0]

    def error(self, sql, *parameters):
        """The message with which the statement fails; None: it succeeds."""
        return refusal(self.db, sql, *parameters)

    def error_of(self, call):
        """What the call gives of this, or its error."""
        try:
            return call(self)
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)

    def read_schema(self):
        """SQLite before 3.35 may hold a table, of any module, for existing after a rename or CREATE was undone."""
        self.rows("SELECT count(*) FROM sqlite_master")

    def read_again(self):
        """SQLite forgets its schema when it cannot attach a database, and connects each table again."""
        with open(self.path + ".garbage", "w", encoding="ascii") as file:
            file.write("no database\n" * 1000)
        assert self.error(f"ATTACH '{self.path}.garbage' AS bad")

    def add(self, first, last, table="seen"):
        self.rows(f"INSERT INTO {table}(item) SELECT x FROM {NUMBERS}", first, last)

    def has(self, item, table="seen"):
        return self.one(f"SELECT count(*) FROM {table} WHERE item = ?", item)

    def copies(self, item, table="seen"):
        return self.one(f"SELECT copies FROM {table} WHERE item = ?", item) or 0

    def missing(self, first, last, table="seen"):
        """How many of the integers the table denies."""
        return self.one(
            f"SELECT count(*) FROM {NUMBERS} AS n WHERE NOT EXISTS "
            f"(SELECT 1 FROM {table} WHERE item = n.x)",
            first,
            last,
        )

    def export(self, table="seen"):
        return self.one("SELECT cuckoofilter_export(?)", table)

    def check(self, table="seen"):
        """The table's own check; None or its error."""
        return self.error(f"INSERT INTO {table}({table}) VALUES('integrity-check')")

    def shadows(self, table="seen"):
        """The names of the tables behind it."""
        return [
            name
            for (name,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if name.startswith(table + "_")
        ]


def arguments(args):
    """A dictionary as the arguments of CREATE VIRTUAL TABLE."""
    return ", ".join(f"{name}={value}" for name, value in args.items())


def aggregate(args, item="x"):
    """The aggregate with the same parameters."""
    options = ",".join(
        f"{name}={value}" for name, value in args.items() if name not in ("fpr", "capacity")
    )
    fpr, capacity = args.get("fpr", 0.01), args.get("capacity", 1_000_000)
    return f"cuckoofilter_agg({item}, {fpr}, {capacity}, '{options}')"


def create(args):
    """The call that creates an empty filter with the same parameters."""
    options = ",".join(
        f"{name}={value}" for name, value in args.items() if name not in ("fpr", "capacity")
    )
    fpr, capacity = args.get("fpr", 0.01), args.get("capacity", 1_000_000)
    return f"cuckoofilter_create({capacity}, {fpr}, '{options}')"


def draw_args(rnd, capacities=(1000, 20_000, 1_000_000, 10**8)):
    """Arguments of a table, each drawn independently, or left to its default."""
    args = {}
    if rnd.random() < 0.8:
        args["fpr"] = rnd.choice((0.2, 0.05, 0.01, 0.003, 0.001, 1e-4, 1e-6))
    if rnd.random() < 0.8:
        args["capacity"] = rnd.choice(capacities)
    if rnd.random() < 0.3:
        args["kind"] = rnd.choice(("set", "deletable"))
    b = rnd.choice((None, None, 2, 4, 8))
    if b:
        args["bucket_size"] = b
    if rnd.random() < 0.3:
        args["layout"] = "plain"
    elif b == 4 and rnd.random() < 0.5:
        args["layout"] = "semi_sorted"
    if rnd.random() < 0.4:
        args["seed"] = rnd.choice((0, 1, -1, 77, 1 << 63, MASK))
    names = list(args)
    rnd.shuffle(names)
    return {name: args[name] for name in names}


def matches(pattern, error):
    return error is not None and re.search(pattern, error) is not None
