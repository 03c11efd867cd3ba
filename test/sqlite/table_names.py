#!/usr/bin/python3
"""Filter tables that are created, dropped and renamed among savepoints while queries are open:
items that are added to a table never go into another one, and no open query reads another
table.
"""

import itertools
import sqlite3

from suite import PERCENT, SEED, Suite, rounds
from tables import Base, matches

suite = Suite("sqlite-table-names")
check, equal = suite.check, suite.equal

print(f"SEED={SEED}")

ITEMS = 20
GONE = "was (dropped|renamed while|rolled back while)"


def ask_on(table, kind):
    """A query that asks the table about one item after the other, from a table or from none."""
    if kind == "table":
        return f"SELECT x, (SELECT count(*) FROM {table} WHERE item = x) FROM number"
    return (
        "WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s LIMIT 100) "
        f"SELECT x, (SELECT count(*) FROM {table} WHERE item = x) FROM s"
    )


def ask_late_on(table):
    """The same from none, about items from 4 on only."""
    return ask_on(table, "none").replace("(SELECT count", "CASE WHEN x > 3 THEN (SELECT count").replace("x) FROM", "x) END FROM")


def interrupted(base, count, sql):
    """The rows of a statement that is interrupted after so many steps, and its error or None."""
    left = [count]

    def stop():
        left[0] -= 1
        return left[0] == 0

    base.db.set_progress_handler(stop, 1)
    try:
        return base.rows(sql), None
    except sqlite3.Error as error:
        return None, str(error)
    finally:
        base.db.set_progress_handler(None, 0)


def answers(cursor):
    """The other rows of an open query, and its error or None."""
    got = set()
    try:
        for _, found in cursor:
            got.add(found)
    except sqlite3.Error as error:
        return got, str(error)
    return got, None


# --------------------------------------------------------------- open queries


def test_rename_that_fails():
    """A view that cannot be read any more makes ALTER TABLE fail after the table was renamed."""
    for begin in ("", "BEGIN", "BEGIN; INSERT INTO seen VALUES ('a')"):
        with Base(numbers=100) as base:
            base.run("CREATE VIEW v AS SELECT seen.item, u.item AS i FROM seen JOIN (SELECT 1 AS item) AS u ON seen.item = 1")
            base.add(1, 100)
            base.run(begin)
            cursor = base.db.execute(ask_on("seen", "none"))
            cursor.fetchone()
            check("it fails", matches("ambiguous|after rename", base.error("ALTER TABLE seen RENAME TO u")))
            base.read_schema()
            base.run("CREATE VIRTUAL TABLE u USING cuckoofilter")
            got, error = answers(cursor)
            check(f"{begin}: {got}, {error}", 0 not in got)
            if begin:
                base.run("COMMIT")
            equal(f"{begin}: what waited", base.has("a"), int("INSERT" in begin))


def test_created_and_rolled_back_while_open():
    """The name belongs to another table then, which may have the same arguments; the query may ask for the first time."""
    adds = "INSERT INTO other(item) SELECT x FROM number"
    for start, begin, back in itertools.product(
            (f"{adds}; BEGIN; SAVEPOINT a", f"BEGIN; {adds}; SAVEPOINT a", f"BEGIN; SAVEPOINT z; {adds}; SAVEPOINT a", f"{adds}; SAVEPOINT a"),
            ("", "ALTER TABLE other RENAME TO seen; DROP TABLE seen"), ("ROLLBACK TO a", "ROLLBACK TO a; COMMIT", "ROLLBACK")):  # fmt: skip
        for args, add, asked in itertools.product(("", "seed=5"), ("", "; INSERT INTO seen VALUES (1000)", "; PRAGMA query_only = 1"), (0, 1)):
            with Base(None, numbers=100) as base:
                base.run("CREATE VIRTUAL TABLE other USING cuckoofilter")
                base.run(f"{start}; {begin}; CREATE VIRTUAL TABLE seen USING cuckoofilter({args}){add}")
                cursor = base.db.execute(ask_on("seen", "none") if asked else ask_late_on("seen"))
                cursor.fetchone()
                base.run(f"PRAGMA query_only = 0; {back}; ALTER TABLE other RENAME TO seen")
                got, error = answers(cursor)
                what = f"{start}, {begin}, {back}, {args}{add}, {asked}"
                check(f"{what}: {got}, {error}", got <= {None, 0} and matches(f"abort|{GONE}", error))
                in_rows = adds in start.split("BEGIN")[0] or back != "ROLLBACK"
                equal(f"{what}: the other table", base.missing(1, 100), 0 if in_rows else 100)


def test_rolled_back_by_a_value():
    """A function in an INSERT rolls back: the item goes into no table."""
    for start, back in (("BEGIN; SAVEPOINT a", "ROLLBACK TO a"), ("SAVEPOINT a", "ROLLBACK TO a"), ("BEGIN", "ROLLBACK"), ("SAVEPOINT a", "ROLLBACK")):
        for change in ("", "INSERT INTO seen VALUES (2)", "DROP TABLE seen; CREATE VIRTUAL TABLE seen USING cuckoofilter(seed=5)",
                       "DROP TABLE seen; CREATE VIRTUAL TABLE seen USING cuckoofilter"):  # fmt: skip
            for insert in ("INSERT INTO seen VALUES (back())", "INSERT INTO seen(item) SELECT back()", "INSERT INTO seen VALUES (back()), (3)"):
                with Base(numbers=0) as base:
                    base.db.create_function("back", 0, lambda: base.run(back) or 77)
                    base.run(f"INSERT INTO seen VALUES (1); {start}; {change}")
                    error = base.error(insert)
                    what = f"{start}; {change}; {insert}; {back}"
                    stays = error is None and back != "ROLLBACK" and "DROP" not in change
                    check(f"{what}: {error}", stays or matches(f"abort|{GONE}", error or ""))
                    if base.db.in_transaction:
                        base.run("COMMIT")
                    base.reopen()
                    equal(f"{what}: the items", [base.has(x) for x in (1, 2, 3, 77)], [1, 0, int(stays and "3" in insert), int(stays)])
                    equal(f"{what}: its check", base.check(), None)


def test_compiling():
    """Compiling a query of a new table changes nothing in the connection, also where it is interrupted."""
    for count in range(1, 60):
        with Base(None, numbers=0) as base:
            base.run("CREATE TABLE plain (x); BEGIN; INSERT INTO plain VALUES (1), (2); CREATE VIRTUAL TABLE seen USING cuckoofilter")
            interrupted(base, count, "EXPLAIN SELECT x, (SELECT count(*) FROM seen WHERE item = x) FROM plain")
            equal(f"stopped at {count}", (base.db.in_transaction, base.one("SELECT changes()"), base.one("SELECT count(*) FROM plain")), (True, 2, 2))


def test_interrupted():
    """The first use of a new table is interrupted, which may roll back its transaction: no other table is used."""
    for use in ("SELECT count(*) FROM seen WHERE item = 1", "INSERT INTO seen VALUES (1000)"):
        for count in range(1, 60):
            with Base(numbers=0) as base:
                base.run("INSERT INTO seen VALUES (1); BEGIN; DROP TABLE seen; CREATE VIRTUAL TABLE seen USING cuckoofilter")
                rows, error = interrupted(base, count, use)
                inside = base.db.in_transaction
                check(f"{use}, stopped at {count}: {rows}, {error}", error or inside and rows in ([], [(0,)]))
                if inside:
                    base.run("COMMIT")
                base.reopen()
                equal(f"{use}, stopped at {count}: the former item", base.has(1), int(not inside))
                if not error or not inside:
                    equal(f"{use}, stopped at {count}: the new one", base.has(1000), int("INSERT" in use and inside))


def test_created_by_a_statement_that_fails():
    """A function in a statement in another one creates a table, and the inner statement fails, in no transaction of the user's."""
    for add in ("", "; INSERT INTO seen VALUES (8)"):
        with Base(None, numbers=100) as base:
            base.run("CREATE TABLE plain (x); CREATE TABLE single (x UNIQUE); INSERT INTO single VALUES (1)")
            base.run("CREATE VIRTUAL TABLE other USING cuckoofilter; INSERT INTO other(item) SELECT x FROM number")
            opened = []

            def inner(opened=opened, add=add):
                base.run(f"CREATE VIRTUAL TABLE seen USING cuckoofilter{add}")
                opened.append(base.db.execute(ask_late_on("seen")))
                opened[0].fetchone()
                return 7

            def outer():
                error = base.error("INSERT INTO single SELECT inner_one() UNION ALL SELECT 1")
                check(f"{add}: it fails: {error}", matches("UNIQUE", error))
                return 1

            base.db.create_function("inner_one", 0, inner)
            base.db.create_function("outer_one", 0, outer)
            equal(f"{add}: the outer one", base.error("INSERT INTO plain SELECT outer_one()"), None)
            base.read_schema()
            base.run("ALTER TABLE other RENAME TO seen")
            got, error = answers(opened[0])
            check(f"{add}: {got}, {error}", got <= {None, 0} and matches(f"abort|{GONE}", error))
            equal(f"{add}: the tables", (base.one("SELECT count(*) FROM plain"), base.missing(1, 100), base.check()), (1, 0, None))


# --------------------------------------------------------------------- random


class Model:
    """Which tables there are, and what is in each; a table is known by its seed."""

    def __init__(self):
        self.tables = {}  # name: (seed, items)
        self.committed = {}
        self.savepoints = []

    def copy(self):
        return {name: (seed, set(items)) for name, (seed, items) in self.tables.items()}

    def items(self, seed):
        for other, items in self.tables.values():
            if other == seed:
                return items
        return None


class Run:
    def __init__(self, what, rnd, base):
        self.what, self.rnd, self.base = what, rnd, base
        self.model = Model()
        self.seeds = 0
        self.done = []
        self.open = []  # queries
        self.judged = 0
        base.db.create_function("judge", 3, self.judge)

    def judge(self, seed, item, found):
        items = self.model.items(seed)
        self.judged += 1
        check(f"{self.what}: the table of seed {seed} answers {found} about {item}, and has {items}", items is not None and found == (item in items))
        return 1

    def sql(self, statement, may_fail=None):
        error = self.base.error(statement)
        self.done.append(f"{statement} -- {error}")
        check(f"{self.what}: {statement}: {error}", error is None or may_fail and matches(may_fail, error))
        return error is None

    def step(self):
        rnd, model = self.rnd, self.model
        what = rnd.choice(("create", "create", "drop", "rename", "one", "one", "one", "one", "some", "remove", "ask", "again", "open", "open", "fetch", "fetch",
                           "savepoint", "savepoint", "release", "back", "back", "ends"))  # fmt: skip
        free = [name for name in "abc" if name not in model.tables]
        name = rnd.choice(sorted(model.tables)) if model.tables else None
        item = rnd.randrange(ITEMS)
        if what == "create" and free:
            self.seeds += 1
            new = rnd.choice(free)
            self.base.read_schema()
            if self.sql(f"CREATE VIRTUAL TABLE {new} USING cuckoofilter(seed={self.seeds}, fpr=1e-6)"):
                model.tables[new] = (self.seeds, set())
        elif what == "drop" and name and self.sql(f"DROP TABLE {name}", "locked"):
            del model.tables[name]
        elif what == "rename" and name and free:
            new = rnd.choice(free)
            if self.sql(f"ALTER TABLE {name} RENAME TO {new}", "locked|already another"):
                model.tables[new] = model.tables.pop(name)
        elif what in ("one", "some", "remove") and name:
            self.change(what, name, item)
        elif what == "ask" and name:
            found = self.base.has(item, name)
            self.done.append(f"ask {name} {item} -- {found}")
            equal(f"{self.what}: {name} about {item}", found, int(item in model.tables[name][1]))
        elif what == "again":
            self.base.read_again()
            self.done.append("the schema is read again")
        elif what == "open" and name and len(self.open) < 3:
            self.open_query(name)
        elif what == "fetch" and self.open:
            self.fetch(rnd.choice(self.open))
        else:
            self.transaction(what)

    def change(self, what, name, item):
        items = self.model.tables[name][1]
        if what == "one" and item not in items and self.sql(f"INSERT INTO {name} VALUES ({item})"):
            items.add(item)
        elif what == "some":
            more = [x for x in range(item, min(item + 3, ITEMS)) if x not in items]
            if more and self.sql(f"INSERT INTO {name}(item) VALUES {', '.join(f'({x})' for x in more)}"):
                items.update(more)
        elif what == "remove" and item in items and self.sql(f"DELETE FROM {name} WHERE item = {item}"):
            items.discard(item)

    def open_query(self, name):
        source = self.rnd.choice((
            "number", f"(WITH RECURSIVE s(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM s LIMIT 200) SELECT x % {ITEMS} AS x FROM s)"))  # fmt: skip
        seed = self.model.tables[name][0]
        self.done.append(f"open {name} {seed} {source[:6]}")
        late = self.rnd.choice(("", "", "CASE WHEN x < 5 THEN 1 ELSE "))
        self.open.append(self.base.db.execute(
            f"SELECT {late}judge({seed}, x, (SELECT count(*) FROM {name} WHERE item = x)){' END' if late else ''} FROM {source}"))  # fmt: skip

    def fetch(self, query):
        try:
            for _ in range(self.rnd.randrange(1, 5)):
                if query.fetchone() is None:
                    self.open.remove(query)
                    return
        except sqlite3.Error as error:
            self.done.append(f"fetch -- {error}")
            check(f"{self.what}: fetch: {error}", matches(f"abort|locked|no such table|{GONE}", str(error)))
            self.open.remove(query)

    def transaction(self, what):
        rnd, model = self.rnd, self.model
        inside = self.base.db.in_transaction
        if what == "savepoint" and len(model.savepoints) < 4:
            if self.sql(f"SAVEPOINT s{len(model.savepoints)}"):
                model.savepoints.append(model.copy())
        elif what in ("release", "back") and model.savepoints:
            number = rnd.randrange(len(model.savepoints))
            if what == "back" and self.sql(f"ROLLBACK TO s{number}"):
                model.tables = model.savepoints[number]
                del model.savepoints[number:]
                model.savepoints.append(model.copy())
            elif what == "release" and self.sql(f"RELEASE s{number}"):
                del model.savepoints[number:]
        elif what == "ends":
            end = rnd.choice(("COMMIT", "COMMIT", "ROLLBACK")) if inside else "BEGIN"
            if self.sql(end):
                model.savepoints = []
                if end == "ROLLBACK":
                    model.tables = model.committed
        if not self.base.db.in_transaction:
            model.committed = model.copy()
            model.savepoints = []

    def end(self):
        self.open.clear()
        if self.base.db.in_transaction:
            self.sql("COMMIT")
        for name, (seed, items) in self.model.tables.items():
            got = {item for item in range(ITEMS) if self.base.copies(item, name)}
            equal(f"{self.what}: {name} of seed {seed} in the end", got, items)
            equal(f"{self.what}: its check", self.base.check(name), None)


def test_random():
    judged = 0
    for what, rnd in rounds(500):
        with Base(None, numbers=ITEMS - 1) as base:
            run = Run(what, rnd, base)
            before = suite.failed
            for _ in range(rnd.choice((20, 60, 150))):
                run.step()
                if not base.db.in_transaction:
                    run.model.committed = run.model.copy()
                if suite.failed > before:
                    break
            if suite.failed == before:
                run.end()
            if suite.failed > before:
                print("\n".join(run.done))
            judged += run.judged
    check(f"{judged} answers of open queries", judged > 20 * PERCENT)


suite.run(globals())
