#!/usr/bin/python3
"""Filter tables: their arguments, lookups, changes, and every error. Transactions, commands and
exports are in table_state.py, their surroundings in table_around.py, random histories in
table_model.py.
"""

import itertools
import math
import random
import sqlite3

from suite import SEED, Suite
from tables import NUMBERS, Base, matches

suite = Suite("sqlite-table")
check, equal = suite.check, suite.equal

# An item of each kind of value, and values that are the same item.
ITEMS = (
    5,
    -5,
    0,
    2**63 - 1,
    -(2**63),
    2.5,
    -1e300,
    math.inf,
    "",
    "a",
    "ä日本𝄞",
    "x" * 100_000,
    "5",
    b"",
    b"a",
    b"\x00\xff" * 5000,
)


def fails(what, pattern, base, sql, *parameters):
    """The statement fails with a sentence in which the pattern is."""
    error = base.error(sql, *parameters)
    check(f"{what}: {sql:.200}: {error}, not {pattern}", matches(pattern, error))


def info(base, table="seen"):
    return suite.info(base.export(table))


# ---------------------------------------------------------------- arguments


def test_arguments():
    for args, want in (
        ("", {}),
        ("fpr=0.001", {"target_fpr": 0.001}),
        ("capacity=5000", {"capacity": 5000}),
        ("capacity=1099511627776", {"capacity": 1 << 40}),
        ("kind=set", {"kind": "set"}),
        ("kind=deletable", {}),
        ("bucket_size=2", {"bucket_size": 2, "layout": "plain"}),
        ("bucket_size=8", {"bucket_size": 8, "layout": "plain"}),
        ("bucket_size=4", {}),
        ("layout=plain", {"layout": "plain"}),
        ("layout=semi_sorted", {}),
        ("seed=77", {"seed": 77}),
        ("seed=-1", {"seed": -1}),
        ("seed=18446744073709551615", {"seed": -1}),
        ("seed=-9223372036854775808", {"seed": -(2**63)}),
        ("fpr = 0.05 , capacity\t=\n 10", {"target_fpr": 0.05, "capacity": 10}),
        (
            "seed=3,layout=plain,bucket_size=8,kind=set,capacity=77,fpr=1e-5",
            {
                "target_fpr": 1e-5,
                "capacity": 77,
                "kind": "set",
                "bucket_size": 8,
                "layout": "plain",
                "seed": 3,
            },
        ),
    ):
        all_of_it = {
            "target_fpr": 0.01,
            "capacity": 1_000_000,
            "kind": "deletable",
            "bucket_size": 4,
            "layout": "semi_sorted",
            "seed": 0,
        }
        all_of_it.update(want)
        with Base(args) as base:
            for when in ("at once", "reopened"):
                base.add(1, 3)
                got = info(base)
                got = {name: got[name] for name in all_of_it}
                equal(f"({args}) {when}", got, all_of_it)
                equal(f"({args}) {when}: missing", base.missing(1, 3), 0)
                base.reopen()
    with Base(None) as base:
        base.run("CREATE VIRTUAL TABLE bare USING cuckoofilter")
        base.add(1, 3, "bare")
        equal("without parentheses", info(base, "bare")["capacity"], 1_000_000)


def test_argument_errors():
    with Base(None) as base:
        for args, pattern in (
            ("colour=red", "colour"),
            ("fpr", "fpr"),
            ("=5", "=5|argument|option"),
            ("0.01", r"0\.01"),
            ("fpr=", "fpr|false positive rate"),
            ("fpr=0", "false positive rate"),
            ("fpr=1", "false positive rate"),
            ("fpr=-0.5", "false positive rate"),
            ("fpr=2", "false positive rate"),
            ("fpr=nan", "fpr|false positive rate"),
            ("fpr=abc", "fpr|false positive rate"),
            ("fpr='0.01x'", "fpr|false positive rate"),
            ("fpr=1%", "^invalid cuckoofilter option \"fpr=1%\": a rate of 1 % is 0.01$"),
            ("FPR = '1 %'", "^invalid cuckoofilter option .*: a rate of 1 % is 0.01$"),
            ("capacity=100 kind=set", "^invalid cuckoofilter option \"capacity=100 kind=set\": separate options by commas, as in kind=set, seed=7$"),
            ("fpr=0.1 kind=set", "separate options by commas"),
            ("kind=set seed=1", "separate options by commas"),
            ("capacity=", "capacity"),
            ("capacity=0", "capacity"),
            ("capacity=-1", "capacity"),
            ("capacity=1099511627777", "capacity"),
            ("capacity=9223372036854775808", "capacity"),
            ("capacity=many", "capacity"),
            ("capacity='10x'", "capacity"),
            ("capacity=\f10", "capacity=\f10"),
            ("fpr='0.5\v'", "fpr='0.5\v'"),
            ("kind=bag", "kind=bag"),
            ("kind=", "kind"),
            ("bucket_size=3", "bucket_size=3"),
            ("bucket_size=2, layout=semi_sorted", "layout|semi_sorted"),
            ("bucket_size=8, layout=semi_sorted", "layout|semi_sorted"),
            ("layout=flat", "layout=flat"),
            ("seed='1x'", "seed=1x"),
            ("seed=18446744073709551616", "seed=18446744073709551616"),
            ("seed=-9223372036854775809", "seed=-9223372036854775809"),
            ("capacity=1099511627776, fpr=1e-7", "too precise|1099511627776"),
        ):
            fails(args, pattern, base, f"CREATE VIRTUAL TABLE bad USING cuckoofilter({args})")
            equal(f"({args}): nothing stays", base.rows("SELECT * FROM sqlite_schema WHERE name LIKE 'bad%'"), [])
        base.run("CREATE VIRTUAL TABLE bad USING cuckoofilter(fpr=0.01)")
        fails("a name that is taken", "already exists", base, "CREATE VIRTUAL TABLE bad USING cuckoofilter")
        for shadow in base.shadows("bad"):
            other = shadow.replace("bad_", "worse_")
            base.run(f"CREATE TABLE {other} (a)")
            fails("a shadow's name that is taken", "exists", base, "CREATE VIRTUAL TABLE worse USING cuckoofilter")
            equal("it stays as it was", base.rows(f"SELECT * FROM {other}"), [])
            base.run(f"DROP TABLE {other}")


def test_columns():
    with Base() as base:
        equal(
            "columns, and whether they are hidden",
            [(row[1], row[6]) for row in base.rows("PRAGMA table_xinfo(seen)")],
            [("item", 0), ("copies", 1), ("seen", 1)],
        )
        # copies is hidden, so that one value is an item
        base.run("INSERT INTO seen VALUES (55), ('b'), (x'00')")
        equal("star", base.rows("SELECT * FROM seen WHERE item = 55"), [(55,)])
        equal("copies", base.rows("SELECT item, copies FROM seen WHERE item = 'b'"), [("b", 1)])
        equal("command's column", base.rows("SELECT seen FROM seen WHERE item = 55"), [(None,)])
        equal(
            "rowid",
            base.rows("SELECT rowid, typeof(rowid) FROM seen WHERE item = 55"),
            base.rows("SELECT cuckoofilter_hash(55), 'integer'"),
        )
        base.run("CREATE VIRTUAL TABLE other USING cuckoofilter(seed=9); INSERT INTO other VALUES (55)")
        equal(
            "rowid under a seed",
            base.one("SELECT rowid FROM other WHERE item = 55"),
            base.one("SELECT cuckoofilter_hash(55, 9)"),
        )
        fails("two values", "has 1 columns but 2 values|columns", base, "INSERT INTO seen VALUES (1, 2)")
        error = base.error("INSERT INTO seen(item, copies) VALUES ('three', 3)")
        check(f"copies are not ignored: {error}", error or base.copies("three") == 3)


# ---------------------------------------------------------------- lookups


def test_items():
    """Every kind of value, found, read back, and not found."""
    with Base() as base:
        for item in ITEMS:
            equal(f"before {item!r:.30}", base.rows("SELECT item FROM seen WHERE item = ?", item), [])
        for item in ITEMS:
            base.db.execute("INSERT INTO seen(item) VALUES (?)", (item,))
        for when in ("now", "reopened"):
            for item in ITEMS:
                got = base.rows("SELECT item, copies FROM seen WHERE item = ?", item)
                equal(f"{item!r:.30} {when}", got, [(item, 1)])
                check(f"{item!r:.30}: its type", got and type(got[0][0]) is type(item))
            for item in ("b", 6, 5.5, b"5", "X", "A"):
                equal(f"not {item!r}", base.has(item), 0)
            base.reopen()


def test_equal_values():
    """5 and 5.0 are one item, and read back as what was asked."""
    with Base() as base:
        base.run("INSERT INTO seen VALUES (5), (7.0), (-0.0)")
        for asked, shown in ((5, "5"), (5.0, "5.0"), (7, "7"), (7.0, "7.0"), (0, "0"), (0.0, "0.0")):
            got = base.rows("SELECT item FROM seen WHERE item = ?", asked)
            equal(f"{asked}", [repr(row[0]) for row in got], [shown])
        base.run("INSERT INTO seen VALUES (5.0)")
        equal("two copies", base.copies(5), 2)
        base.run("DELETE FROM seen WHERE item = 5; DELETE FROM seen WHERE item = 5.0")
        equal("none", base.copies(5.0), 0)
        equal("text is another item", base.has("7"), 0)
        equal("in a list", base.rows("SELECT item FROM seen WHERE item IN (7, 7.0, '7')"), [(7,)])


def test_null():
    with Base() as base:
        base.run("INSERT INTO seen VALUES (NULL), (1), (NULL); INSERT INTO seen(item) VALUES (NULL)")
        equal("count", info(base)["count"], 1)
        equal("asked", base.rows("SELECT * FROM seen WHERE item = NULL"), [])
        equal("in a list", base.rows("SELECT * FROM seen WHERE item IN (NULL, 1, 2)"), [(1,)])
        base.run("DELETE FROM seen WHERE item = NULL")
        equal("the rest stays", base.has(1), 1)
        base.run("CREATE TABLE log (id); INSERT INTO log VALUES (1), (NULL), (2)")
        equal("joined", base.rows("SELECT id FROM log JOIN seen ON seen.item = log.id"), [(1,)])
        equal(
            "not there",
            base.rows("SELECT id FROM log WHERE NOT EXISTS (SELECT 1 FROM seen WHERE item = id) ORDER BY 1"),
            [(None,), (2,)],
        )


def test_ways_to_ask():
    """Each way to ask gives what a table of the keys gives."""
    with Base("fpr=1e-6") as base:
        base.run(
            """
            CREATE TABLE key (item PRIMARY KEY) WITHOUT ROWID;
            INSERT INTO key SELECT x FROM number WHERE x % 3 = 0;
            INSERT INTO key VALUES ('three');
            INSERT INTO seen(item) SELECT item FROM key;
            CREATE TABLE log (id, other);
            INSERT INTO log SELECT x, 1000 - x FROM number;
            INSERT INTO log VALUES ('three', 3), (6, 6), ('four', 4), (NULL, NULL);
            CREATE INDEX log_id ON log (id);
            """
        )
        for sql in (
            "SELECT item FROM {} WHERE item = 3",
            "SELECT item FROM {} WHERE 3 = item",
            "SELECT item FROM {} WHERE item = 4",
            "SELECT item FROM {} WHERE item = 3 AND item = 3",
            "SELECT item FROM {} WHERE item = 3 AND item = 6",
            "SELECT item FROM {} WHERE item = 3 AND item > 5",
            "SELECT item FROM {} WHERE item = 3 AND item < 5",
            "SELECT item FROM {} WHERE item = 3 AND typeof(item) = 'integer'",
            "SELECT item FROM {} WHERE item IN (3, 4, 5, 6, 6, 'three', 'four', NULL)",
            "SELECT item FROM {} WHERE item IN (9)",
            "SELECT item FROM {} WHERE item IN ()",
            "SELECT item FROM {} WHERE item IN (6, 3) ORDER BY item DESC",
            "SELECT item FROM {} WHERE item IN (SELECT id FROM log)",
            "SELECT item FROM {} WHERE item IN (SELECT id FROM log WHERE id < 20) LIMIT 3 OFFSET 1",
            "SELECT item FROM {} WHERE item IN (3, 6) AND item IN (6, 9)",
            "SELECT item FROM {} WHERE item = 3 OR item = 6 OR item = 7",
            "SELECT item FROM {} WHERE item = (SELECT min(id) + 2 FROM log)",
            "SELECT log.id FROM log JOIN {} AS s ON s.item = log.id",
            "SELECT log.id FROM log JOIN {} AS s ON log.id = s.item",
            "SELECT log.id FROM {} AS s JOIN log ON log.id = s.item",
            "SELECT log.id FROM log, {} AS s WHERE s.item = log.id AND log.other > 500",
            "SELECT log.id FROM log CROSS JOIN {} AS s WHERE s.item = log.id",
            "SELECT id, s.item FROM log LEFT JOIN {} AS s ON s.item = log.id",
            "SELECT id FROM log LEFT JOIN {} AS s ON s.item = log.id WHERE s.item IS NULL",
            "SELECT a.id, b.id FROM log a JOIN log b ON b.id = a.other JOIN {} AS s ON s.item = a.id",
            "SELECT a.id FROM log a JOIN {0} AS s ON s.item = a.id JOIN {0} AS t ON t.item = a.other",
            "SELECT id FROM log WHERE EXISTS (SELECT 1 FROM {} WHERE item = log.id)",
            "SELECT id FROM log WHERE NOT EXISTS (SELECT 1 FROM {} WHERE item = log.id)",
            "SELECT id FROM log WHERE EXISTS (SELECT 1 FROM {} WHERE item = id AND item = other)",
            "SELECT id FROM log WHERE (SELECT count(*) FROM {} WHERE item = id) = 1",
            "SELECT id, (SELECT item FROM {} WHERE item = log.id) FROM log",
            "SELECT id FROM log WHERE EXISTS (SELECT 1 FROM {} WHERE item IN (id, other))",
            "SELECT count(*), min(item) FROM {} WHERE item = 3",
            "SELECT count(*) FROM {} WHERE item = 4",
            "SELECT DISTINCT item FROM {} WHERE item IN (3, 6, 3)",
            "SELECT item, count(*) FROM {} WHERE item IN (3, 6, 7) GROUP BY item",
            "SELECT item + 1 FROM {} WHERE item = abs(-3)",
            "WITH s AS (SELECT * FROM {} WHERE item = 3) SELECT * FROM s",
            "SELECT item FROM {0} WHERE item = 3 UNION ALL SELECT item FROM {0} WHERE item = 6",
            "SELECT * FROM (SELECT item FROM {} WHERE item IN (3, 6)) WHERE item = 6",
            "SELECT * FROM (SELECT id FROM log WHERE id < 10) AS l JOIN {} AS s ON s.item = l.id",
            "SELECT column1 FROM (VALUES (3), (4), (5.0), (6.0)) JOIN {} AS s ON s.item = column1",
        ):
            want = sorted(base.rows(sql.format("key")), key=repr)
            try:
                got = sorted(base.rows(sql.format("seen")), key=repr)
            except sqlite3.Error as error:
                got = error
            if "LIMIT" in sql:
                want, got = len(want), len(got)
            equal(sql, got, want)


# Why a query cannot be answered, as the error says it.
CAUSES = {
    "NONE": "the query has no condition item = value, item IN (..) or EXISTS, or a LEFT, RIGHT, FULL or CROSS JOIN keeps it from being used; "
            "for DELETE without WHERE use the command 'delete-all', for UPDATE a DELETE and an INSERT, for count(*) cuckoofilter_table_info",
    "LATER": "item is compared with a column of a table that is read later, such as another filter table; add a condition item = value or item IN (..)",
    "COLLATION": "item is compared under another collation than BINARY; write COLLATE BINARY",
}  # fmt: skip


def cause(error):
    """Which of the causes it is; else the error."""
    for name, sentence in CAUSES.items():
        if error == f"cuckoofilter table seen cannot list its items: {sentence}":
            return name
    return error


def test_without_item():
    """A query that names no item raises a clear error: no scan, and no message `no query solution`."""
    with Base() as base:
        base.run("INSERT INTO seen VALUES (1), (2); CREATE TABLE log (id); INSERT INTO log VALUES (1), (2)")
        for sql in (
            "SELECT * FROM seen",
            "SELECT count(*) FROM seen",
            "SELECT * FROM seen WHERE item > 1",
            "SELECT * FROM seen WHERE item <> 1",
            "SELECT * FROM seen WHERE item IS NOT NULL",
            "SELECT * FROM seen WHERE item LIKE 'a%'",
            "SELECT * FROM seen WHERE item BETWEEN 1 AND 2",
            "SELECT * FROM seen WHERE NOT item = 1",
            "SELECT * FROM seen WHERE item NOT IN (1)",
            "SELECT * FROM seen WHERE item + 0 = 1",
            "SELECT * FROM seen WHERE copies = 1",
            "SELECT * FROM seen WHERE item = 1 OR copies = 1",
            "SELECT * FROM log JOIN seen",
            "SELECT * FROM log JOIN seen ON seen.item > log.id",
            "SELECT * FROM seen ORDER BY item LIMIT 1",
            "SELECT * FROM log WHERE id IN (SELECT item FROM seen)",
            "SELECT * FROM log WHERE id NOT IN (SELECT item FROM seen)",
            "SELECT * FROM seen AS a JOIN seen AS b ON a.item = b.item",
            "SELECT * FROM seen CROSS JOIN log ON item = id",
            "DELETE FROM seen",
            "DELETE FROM seen WHERE item > 0",
            "DELETE FROM seen WHERE copies > 0",
            "UPDATE seen SET item = 1",
            "INSERT INTO log SELECT item FROM seen",
        ):
            error = base.error(sql)
            equal(sql, cause(error), "LATER" if "AS b" in sql else "NONE")
            check(f"{sql}: {error}", matches("item =", error) and not matches("no query solution", error))
        equal("nothing went", base.missing(1, 2), 0)


def test_rowid_and_copies():
    """Other conditions of the WHERE are evaluated or are an error; no answer is wrong."""
    with Base() as base:
        base.run("INSERT INTO seen VALUES (1), (2), (2)")
        for sql, want in (
            ("SELECT item FROM seen WHERE item = 2 AND copies = 2", [(2,)]),
            ("SELECT item FROM seen WHERE item = 2 AND copies = 1", []),
            ("SELECT item FROM seen WHERE item IN (1, 2) AND copies > 1", [(2,)]),
            ("SELECT item FROM seen WHERE item IN (1, 2, 3) ORDER BY copies DESC", [(2,), (1,)]),
            ("SELECT sum(copies) FROM seen WHERE item IN (1, 2, 3)", [(3,)]),
            ("SELECT item FROM seen WHERE item = 2 AND rowid = cuckoofilter_hash(2)", [(2,)]),
            ("SELECT item FROM seen WHERE item = 2 AND rowid = cuckoofilter_hash(1)", []),
            ("SELECT item FROM seen WHERE item = 2 AND seen IS NULL", [(2,)]),
            ("SELECT item FROM seen WHERE item = 2 AND seen = 'x'", []),
            ("SELECT item FROM seen WHERE item IS 2", [(2,)]),
            ("SELECT item FROM seen WHERE item IS 3", []),
            ("SELECT 1 FROM seen WHERE rowid = cuckoofilter_hash(2)", [(1,)]),
            ("SELECT 1 FROM seen WHERE rowid = cuckoofilter_hash(2) + 1", []),
            ("SELECT count(*) FROM (SELECT 1) LEFT JOIN seen ON item = 2 AND copies = 3", [(1,)]),
        ):
            try:
                equal(sql, base.rows(sql), want)
            except sqlite3.Error as error:
                refused = (" IS " in sql or "WHERE rowid" in sql) and "item =" in str(error)
                check(f"{sql}: {error}", refused)


def test_collations():
    """Under another collation than BINARY equal texts may have unlike hashes: right, or an error."""
    with Base() as base:
        base.run(
            """
            INSERT INTO seen VALUES ('abc'), ('def  '), (7);
            CREATE TABLE log (id COLLATE NOCASE, plain, trimmed COLLATE RTRIM);
            INSERT INTO log VALUES ('ABC', 'abc', 'def'), ('x', 'x', 'x');
            """
        )
        base.db.create_collation("backward", lambda a, b: (a < b) - (a > b))
        for sql, right in (
            ("SELECT 1 FROM seen WHERE item = 'ABC' COLLATE NOCASE", [(1,)]),
            ("SELECT 1 FROM seen WHERE item COLLATE NOCASE = 'ABC'", [(1,)]),
            ("SELECT 1 FROM seen WHERE 'ABC' COLLATE NOCASE = item", [(1,)]),
            ("SELECT 1 FROM seen WHERE item COLLATE RTRIM = 'def'", [(1,)]),
            ("SELECT 1 FROM seen WHERE item COLLATE NOCASE IN ('ABC', 'xyz')", [(1,)]),
            ("SELECT 1 FROM seen WHERE item COLLATE NOCASE IN (SELECT id FROM log)", [(1,)]),
            ("SELECT 1 FROM log JOIN seen ON log.id = seen.item", [(1,)]),
            ("SELECT 1 FROM log JOIN seen ON log.trimmed = seen.item", [(1,)]),
            ("SELECT 1 FROM log WHERE EXISTS (SELECT 1 FROM seen WHERE log.id = item)", [(1,)]),
            ("SELECT 1 FROM log WHERE NOT EXISTS (SELECT 1 FROM seen WHERE log.id = item)", [(1,)]),
            ("SELECT 1 FROM seen WHERE item = 'abc' COLLATE backward", [(1,)]),
        ):
            try:
                equal(sql, base.rows(sql), right)
            except sqlite3.Error as error:
                equal(sql, cause(str(error)), "COLLATION")
        # the same under BINARY, which the column on the left has
        for sql, want in (
            ("SELECT 1 FROM log JOIN seen ON seen.item = log.plain", [(1,)]),
            ("SELECT 1 FROM log JOIN seen ON seen.item = log.id", []),
            ("SELECT 1 FROM log JOIN seen ON log.id COLLATE BINARY = seen.item", []),
            ("SELECT 1 FROM seen WHERE item = 'abc' COLLATE BINARY", [(1,)]),
        ):
            equal(sql, base.rows(sql), want)


def test_plans():
    """The filter is the inner table of a join, whatever its order in the statement."""
    with Base() as base:
        base.run(
            "CREATE TABLE log (id INTEGER PRIMARY KEY, other); CREATE INDEX log_other ON log (other);"
            "INSERT INTO log SELECT x, x % 7 FROM number; ANALYZE"
        )
        base.add(1, 500)
        for sql in (
            "SELECT * FROM seen JOIN log ON seen.item = log.id",
            "SELECT * FROM log JOIN seen ON seen.item = log.id",
            "SELECT * FROM seen, log WHERE log.other = seen.item",
            "SELECT * FROM seen JOIN log ON log.id = seen.item WHERE log.other = 3",
        ):
            plan = [row[3] for row in base.rows("EXPLAIN QUERY PLAN " + sql)]
            check(f"{sql}: {plan}", len(plan) >= 2 and "seen" in plan[-1] and "log" in plan[0])
        plan = base.one("SELECT 1") and base.rows("EXPLAIN QUERY PLAN SELECT * FROM seen WHERE item = 5")
        check(f"{plan}", "VIRTUAL TABLE" in plan[0][3] and "seen" in plan[0][3])
        # of two indexed ways the unique row of the filter comes before a large table
        plan = [
            row[3]
            for row in base.rows(
                "EXPLAIN QUERY PLAN SELECT * FROM log a JOIN seen ON seen.item = a.other JOIN log b"
            )
        ]
        check(f"{plan}", "seen" in plan[1])


# ------------------------------------------------------------------ changes


def test_set():
    with Base("kind=set") as base:
        base.run("INSERT INTO seen VALUES (1), (1), (2)")
        equal("one copy", base.copies(1), 1)
        fails("a removal", "cannot remove from a cuckoofilter of kind set", base, "DELETE FROM seen WHERE item = 1")
        equal("it stays", base.has(1), 1)
        equal("one that is not in", base.error("DELETE FROM seen WHERE item = 3"), None)


def test_delete():
    with Base() as base:
        base.add(1, 100)
        base.run("DELETE FROM seen WHERE item = 7")
        equal("gone", base.has(7), 0)
        equal("others stay", base.missing(8, 100), 0)
        base.run("DELETE FROM seen WHERE item IN (8, 9, 200)")
        equal("a list", base.missing(7, 100), 3)
        base.run("DELETE FROM seen WHERE item IN (SELECT x FROM number WHERE x BETWEEN 10 AND 50)")
        equal("a query", (base.missing(1, 6), base.missing(7, 50), base.missing(51, 100)), (0, 44, 0))
        equal("changes()", base.db.execute("DELETE FROM seen WHERE item IN (60, 61, 300)").rowcount, 2)
        base.run("INSERT INTO seen VALUES (70); DELETE FROM seen WHERE item IN (70, 71) AND copies > 1")
        equal("with more in WHERE", (base.copies(70), base.copies(71)), (1, 1))
        base.run("DELETE FROM seen WHERE item = 71.0")
        equal("5.0 deletes 5", base.has(71), 0)
        equal("count", info(base)["count"], 100 - 44 - 3)
        equal("its check", base.check(), None)


def test_filter_as_item():
    """A filter is merged, not inserted; one that an earlier version has inserted can be found and
    removed."""
    with Base("capacity=1000") as base:
        for filter in (suite.agg(1, 5), suite.agg(1, 5000), base.one("SELECT cuckoofilter_open(cuckoofilter_create(9))")):
            sentence = "a cuckoofilter is not an item: merge it by INSERT INTO seen(seen, item) VALUES ('merge', filter)"
            equal("INSERT", base.error("INSERT INTO seen(item) VALUES (?)", filter), sentence)
        equal("nothing was inserted", info(base)["count"], 0)
        fails("a handle", "a cuckoofilter is not an item$", base, "SELECT count(*) FROM seen WHERE item = ?", filter)
        base.db.execute("INSERT INTO seen(item) VALUES (?)", (suite.agg(1, 5)[:-1],))
        stored = suite.agg(1, 7)
        base.db.execute(
            "INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg_hash(cuckoofilter_hash(?), 0.01, 1000)", (stored,)
        )
        equal("found", base.one("SELECT count(*) FROM seen WHERE item = ?", stored), 1)
        base.db.execute("DELETE FROM seen WHERE item = ?", (stored,))
        equal("removed", info(base)["count"], 1)


def test_what_cannot_be():
    with Base() as base:
        base.run("INSERT INTO seen VALUES (1), (2)")
        for sql, pattern in (
            ("UPDATE seen SET item = 3 WHERE item = 1", "cannot be updated"),
            ("UPDATE seen SET item = 1 WHERE item = 1", "cannot be updated"),
            ("UPDATE seen SET copies = 3 WHERE item = 1", "cannot be updated"),
            ("UPDATE seen SET rowid = 3 WHERE item = 1", "cannot be updated"),
            ("UPDATE OR IGNORE seen SET item = 3 WHERE item = 1", "cannot be updated"),
            ("INSERT INTO seen VALUES (1) ON CONFLICT DO NOTHING", "UPSERT|upsert"),
            ("INSERT INTO seen VALUES (1) ON CONFLICT (item) DO UPDATE SET item = 5", "UPSERT|upsert"),
            ("INSERT INTO seen(rowid, item) VALUES (1, 9)", "rowid|hash"),
            ("INSERT INTO seen(seen) VALUES ('polish')", "polish"),
            ("INSERT INTO seen(seen) VALUES ('')", "."),
            ("INSERT INTO seen(seen) VALUES (5)", "."),
            ("CREATE INDEX i ON seen (item)", "virtual table"),
            ("ALTER TABLE seen ADD COLUMN more", "virtual table"),
            ("CREATE TRIGGER t AFTER INSERT ON seen BEGIN SELECT 1; END", "virtual table"),
        ):
            fails("cannot be", pattern, base, sql)
        equal("nothing changed", (base.copies(1), base.copies(2), base.has(5), base.has(3)), (1, 1, 0, 0))
        equal("count", info(base)["count"], 2)
        equal("no row, no error", base.error("UPDATE seen SET item = 3 WHERE item = 77"), None)


def test_conflict_clauses():
    """Items are not unique, so no conflict clause changes anything: as in a table without UNIQUE, also in a trigger."""
    verbs = [f"INSERT OR {clause}" for clause in ("ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK")] + ["INSERT", "REPLACE"]
    rnd = random.Random(SEED)
    for verb, kind, way in itertools.product(verbs, ("deletable", "set"), ("", "BEGIN", "SAVEPOINT s")):
        with Base(f"kind={kind}") as base:
            base.run("CREATE TABLE plain (item); CREATE TABLE url (u UNIQUE)")
            for table in ("seen", "plain"):
                base.run(f"CREATE TRIGGER to_{table} AFTER INSERT ON url BEGIN INSERT INTO {table}(item) VALUES (new.u); END")
            base.run(f"INSERT INTO url VALUES ('u1'), ('u3'); {way}")
            about = f"{verb}, {kind}, {way} SEED={SEED}"
            for _ in range(12):
                values = ", ".join(f"({rnd.choice((1, 2, chr(39) + 'a' + chr(39), 'NULL'))})" for _ in range(rnd.choice((1, 1, 2, 5))))
                changes = [base.error(f"{verb} INTO {table}(item) VALUES {values}") or base.one("SELECT changes()") for table in ("seen", "plain")]
                equal(f"{about}: changes() of {values}", changes[0], changes[1])
                sql = f"{verb} INTO url SELECT 'u' || x FROM number WHERE x % 5 < {rnd.randrange(1, 5)} AND x < {rnd.choice((2, 3, 9))}"
                error = base.error(sql)
                check(f"{about}: {sql}: {error}", error is None or matches("UNIQUE constraint failed", error))
            found = {item: (base.copies(item), base.one("SELECT count(*) FROM plain WHERE item = ?", item)) for item in (1, 2, "a", "u1", "u2", "u3")}
            for item, (copies, rows) in found.items():
                equal(f"{about}: copies of {item}", copies, min(rows, 1 if kind == "set" else 8))
            equal(f"{about}: 'optimize'", base.error(f"{verb} INTO seen(seen) VALUES ('optimize')"), None)
            fails(f"{about}: the rowid", "the rowid of a cuckoofilter table", base, f"{verb} INTO seen(rowid, item) VALUES (1, 9)")


def test_returning():
    if sqlite3.sqlite_version_info < (3, 35):
        print("skipped: SQLite before 3.35 has no RETURNING")
        return
    with Base() as base:
        equal("RETURNING", base.rows("INSERT INTO seen VALUES (5), ('a') RETURNING item"), [(5,), ("a",)])
        equal("stored", base.rows("SELECT item FROM seen WHERE item IN (5, 'a')"), [(5,), ("a",)])
        fails("of DELETE", "RETURNING", base, "DELETE FROM seen WHERE item = 5 RETURNING item")
        equal("stays", base.has(5), 1)
        equal("changes()", base.db.execute("INSERT INTO seen VALUES (1), (2), (3)").rowcount, 3)


def test_precision():
    """Past 8 times the rate or 3 % an insert fails, and changes nothing."""
    for args, capacity, fpr in (
        ("capacity=100", 100, 0.01),
        ("capacity=1000, fpr=0.001", 1000, 0.001),
        ("capacity=1000, fpr=0.05, bucket_size=8, layout=plain", 1000, 0.05),
        ("capacity=500, fpr=0.0001, bucket_size=2", 500, 0.0001),
        ("capacity=3000, kind=set", 3000, 0.01),
    ):
        with Base(args, numbers=0) as base:
            # the least number of items at which the limit may be, and the most
            limit = max(8 * fpr, 0.03)
            base.add(1, capacity)
            equal(f"{args}: its capacity", base.missing(1, capacity), 0)
            last, step, error = capacity, max(capacity // 4, 50), None
            while error is None and last < 1000 * capacity * limit / fpr:
                before = info(base)["count"]
                error = base.error(f"INSERT INTO seen(item) SELECT x FROM {NUMBERS}", last + 1, last + step)
                last += step if error is None else 0
            check(
                f"{args}: {error}",
                matches("no precision left|so many (items|copies)", error) and matches("a capacity for all items|kind=set", error),
            )
            check(f"{args}: ends at {last} items", last + step >= 0.9 * capacity * limit / fpr)
            equal(f"{args}: after the error", info(base)["count"], before)
            equal(f"{args}: lost", base.missing(1, last), 0)
            equal(f"{args}: its check", base.check(), None)
            check(f"{args}: rate {info(base)['fpr']}", info(base)["fpr"] <= 1.15 * limit)
            # one by one, up to the end
            error, n = None, 0
            while error is None and n <= step:
                n += 1
                error = base.error("INSERT INTO seen VALUES (?)", last + n)
            check(f"{args}: one by one: {error}", matches("no precision left|so many", error))
            if "no precision" in error:
                full = info(base)["count"]
                check(f"{args}: the capacity: {error}", error.endswith(f"; build it with a capacity for all items, more than {full}"))
            equal(f"{args}: lost, one by one", base.missing(1, last + n - 1), 0)
            if "set" not in args:
                base.run("DELETE FROM seen WHERE item = 1; INSERT INTO seen VALUES ('in its place')")
                equal(f"{args}: one goes, one comes", base.has("in its place"), 1)


def test_merge_that_does_not_fit():
    """The error names the items that do not fit, and a capacity that is enough."""
    with Base("capacity=10", numbers=0) as base:
        base.add(1, 1)
        merge = ("INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(x, 0.01, 1000) FROM "
                 "(WITH RECURSIVE n(x) AS (SELECT 101 UNION ALL SELECT x + 1 FROM n WHERE x < 500) SELECT x FROM n)")
        error = base.error(merge)
        wanted = ("^cuckoofilter table seen has no precision left for 400 more items: it has 1 items at a false positive rate "
                  "of [0-9.e-]+; build it with a capacity of at least 401$")
        check(f"its error: {error}", matches(wanted, error))
        equal("nothing is merged", info(base)["count"], 1)
    with Base("capacity=401", numbers=0) as base:
        base.run("INSERT INTO seen VALUES (1)")
        base.run(merge)
        check(f"the cure: {info(base)}", info(base)["fpr"] < 0.01 and base.missing(101, 500) == 0)


def test_given_twice():
    """An option that is given twice is an error, as is a value that a command ignores."""
    with Base("", numbers=0) as base:
        for args, bad in (
            ("fpr=0.1, fpr=0.2", "fpr=0.2"), ("capacity=5, kind=set, capacity=5", "capacity=5"),
            ("seed=1, seed=1", "seed=1"), ("kind=set, layout=plain, kind=set", "kind=set"),
        ):  # fmt: skip
            error = base.error(f"CREATE VIRTUAL TABLE t USING cuckoofilter({args})")
            equal(args, error, f'invalid cuckoofilter option "{bad}": give this option once')
        # version 1.3.0 took them, the last one counting: what it created is asked, changed and dropped
        base.run("CREATE VIRTUAL TABLE t USING cuckoofilter(seed=2, fpr=0.1); INSERT INTO t VALUES ('a')")
        twice = "fpr=0.5, seed=1, bucket_size=2, layout=plain, seed=2, bucket_size=4, FPR=0.1, layout=semi_sorted"
        base.run("PRAGMA writable_schema = on")
        base.rows("UPDATE sqlite_schema SET sql = ? WHERE name = 't'", f"CREATE VIRTUAL TABLE t USING cuckoofilter({twice})")
        base.reopen()
        base.run("INSERT INTO t VALUES ('b')")
        equal("of 1.3.0", [base.has(x, "t") for x in "abc"] + [base.check("t")], [1, 1, 0, None])
        equal("its parameters", suite.info(base.export("t"))["target_fpr"], 0.1)
        base.run("DROP TABLE t")
        error = base.error("SELECT cuckoofilter_create(5, 0.1, 'seed=1, kind=set, seed=2')")
        check(f"a function: {error}", error is not None and error.startswith('invalid cuckoofilter option "seed=2"'))
        for name in ("optimize", "delete-all", "integrity-check"):
            for item in (5, "'a'", "x''"):
                error = base.error(f"INSERT INTO seen(seen, item) VALUES ('{name.upper()}', {item})")
                equal(f"{name} of {item}", error, f"command '{name}' of cuckoofilter table seen takes no item")
        for name in ("optimize", "delete-all", "integrity-check", "merge"):
            for column in ("copies", "rowid"):
                error = base.error(f"INSERT INTO seen(seen, {column}) VALUES ('{name}', 3)")
                check(f"{name} with {column}: {error}", matches("cannot be set", error))


def test_outer_joins():
    """A join that has to list the table says so."""
    with Base("", numbers=5) as base:
        base.add(1, 3)
        equal("LEFT JOIN", base.one("SELECT count(item) FROM number LEFT JOIN seen ON item = x"), 3)
        joins = ["seen CROSS JOIN number", "seen LEFT JOIN number"]
        if sqlite3.sqlite_version_info >= (3, 39):
            joins += ["number RIGHT JOIN seen", "number FULL JOIN seen", "seen RIGHT JOIN number"]
        for join in joins:
            equal(join, cause(base.error(f"SELECT count(*) FROM {join} ON item = x")), "NONE")
        check("IN", matches("cannot list", base.error("SELECT count(*) FROM number WHERE x IN (SELECT item FROM seen)")))


def test_interrupted_while_connecting():
    """An interrupt while a table is connected is one, and no failed constructor."""
    with Base("fpr=0.001", numbers=0) as base:
        base.add(1, 10)
        said = set()
        for steps in range(1, 60):
            for sql in ("SELECT count(*) FROM seen WHERE item = 1", "CREATE VIRTUAL TABLE other USING cuckoofilter(fpr=0.01)"):
                base.reopen()
                left = [steps]

                def look(left=left):
                    left[0] -= 1
                    return left[0] < 0

                base.db.set_progress_handler(look, 1)
                said.add(base.error(sql))
                base.db.set_progress_handler(None, 1)
                base.run("DROP TABLE IF EXISTS other")
        check(f"{said}", said - {None} == {"interrupted"})


suite.run(globals())
