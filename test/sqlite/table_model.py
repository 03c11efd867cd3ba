#!/usr/bin/python3
"""Filter tables compared with an exact model through random histories: adds, removals, batches,
merges, commands, savepoints, rollbacks, reopening, a second connection, processes that are killed,
and files that cannot grow.

  SEED=n ROUNDS=percent test/sqlite/table_model.py

The model counts how often each item was added, and has the multiset of the prefixes
(core/FORMAT.md, section 1) of the hashes. A small table has whole hashes, so it may know more
than the prefixes, but never less than the items: the copies of an item in the table are between
the two. A false "no" is always a failure, and so is a false "yes" that no prefix explains.
"""

import collections
import json
import os
import random
import re
import resource
import signal
import sqlite3
import struct
import sys
import time

from suite import PERCENT, SEED, Suite, connect, refusal, rounds
from tables import MASK, Base, aggregate, arguments, create, draw_args

suite = Suite("sqlite-table-model")
check, equal = suite.check, suite.equal

MOST = 60_000  # copies in a table
MOST_ITEMS = 15_000  # that may be in a table

# Items of every type, by their number; twice as many as may be in.
ITEMS = """
CREATE TABLE item (x INTEGER PRIMARY KEY, item);
INSERT INTO item WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < {0})
    SELECT x, CASE x % 4 WHEN 0 THEN x WHEN 1 THEN 'i' || x WHEN 2 THEN CAST('b' || x AS BLOB) ELSE x + 0.5 END FROM s;
"""


def signed(seed):
    return seed - (1 << 64) if seed >= 1 << 63 else seed


def precision(db, args):
    """w, c and b of tables with these arguments: core/FORMAT.md, section 10."""
    b, c = struct.unpack_from("<B3xB", db.execute(f"SELECT {create(args)}").fetchone()[0], 7)
    db.execute(f"CREATE VIRTUAL TABLE temp.other USING cuckoofilter({arguments(args)})")
    db.execute("WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 520) INSERT INTO other(item) SELECT x FROM s")
    w = json.loads(db.execute("SELECT cuckoofilter_table_info('other', 'temp')").fetchone()[0])["prefix_bits"]
    db.execute("DROP TABLE temp.other")
    return w, c, b


class Model:
    """The truth about a table."""

    def __init__(self, args, prefixes, precision, items):
        self.prefixes = prefixes  # of each item, by its number; shared
        w, c, b = precision
        self.precision = w, c
        self.set = args.get("kind") == "set"
        self.most = 1 if self.set else 2 * b
        self.items = items  # the numbers that may be in: 1 .. items
        self.clear()

    def clear(self):
        self.true = collections.Counter()
        self.stored = collections.Counter()
        self.once = True  # each item added once, none removed

    def copy(self):
        other = Model.__new__(Model)
        other.__dict__ = dict(self.__dict__)
        other.true, other.stored = self.true.copy(), self.stored.copy()
        return other

    def add(self, x):
        self.once &= self.true[x] == 0
        self.true[x] += 1
        prefix = self.prefixes[x]
        if self.stored[prefix] < self.most:
            self.stored[prefix] += 1

    def remove(self, x):
        self.once = False
        if self.true[x] > 1:
            self.true[x] -= 1
        else:
            del self.true[x]
        prefix = self.prefixes[x]
        if self.stored[prefix] < self.most:
            self.stored[prefix] -= 1

    def least(self, x):
        return min(self.true.get(x, 0), self.most)

    def largest(self, x):
        return self.stored.get(self.prefixes[x], 0)

    def wrong(self, x, copies):
        return not self.least(x) <= copies <= self.largest(x)


class Case:
    """A table with arguments of its own, its file, and the model."""

    def __init__(self, rnd, journal=None):
        self.args = draw_args(rnd, (30_000, 1_000_000, 10**8))
        if rnd.random() < 0.5:
            self.args["fpr"] = round(0.001 * 400 ** rnd.random(), 4)  # 0.001 to 0.4
        self.items = rnd.choice((40, 300, 3000, MOST_ITEMS))
        page = rnd.choice((512, 1024, 4096, 4096, 4096, 65_536))
        self.journal = journal or rnd.choice(("delete", "wal", "truncate", "persist"))
        before = f"PRAGMA page_size = {page}; PRAGMA journal_mode = {self.journal}; {ITEMS.format(2 * self.items)}"
        self.base = Base(arguments(self.args), 0, before=before + "CREATE TABLE state (turn); INSERT INTO state VALUES (0);")
        cache = rnd.choice((5, 30, 2000))
        self.base.run(f"PRAGMA cache_size = {cache}")
        w, c, b = precision(self.base.db, self.args)
        seed = self.args.get("seed", 0)
        rows = self.base.rows("SELECT cuckoofilter_hash(item, ?) FROM item ORDER BY x", signed(seed))
        prefixes = [0] + [self.cut(hash & MASK, w, c) for (hash,) in rows]
        self.model = Model(self.args, prefixes, (w, c, b), self.items)
        self.what = f"({arguments(self.args)}) of {self.items}, pages of {page}, {self.journal}, cache {cache}"

    @staticmethod
    def cut(hash, w, c):
        prefix = hash >> (64 - w)
        if w == 64:
            return prefix or 1
        return prefix if prefix & ((1 << c) - 1) else prefix | 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.base.close()


# -------------------------------------------------------------- the history

# An act changes the model, and returns the statements that do the same to a table: SQL, a list of
# parameters for each time that it runs, and perhaps the error with which it fails.

INSERT = "INSERT INTO seen(item) SELECT item FROM item WHERE x = ?"
DELETE = "DELETE FROM seen WHERE item = (SELECT item FROM item WHERE x = ?)"


# What errors say, as patterns.
CROWDED = re.compile(
    r"cuckoofilter cannot store so many copies of the same items: it has (\d+) items at a false positive rate of "
    r"[0-9.e-]+; build it with kind=set, which keeps one copy of each item; if the hashes .*"
)
IS_SET = (
    "cannot merge the filter into cuckoofilter table seen: only a table with kind=set takes a filter of kind set, "
    "since removing an item could remove another item, too; merge deletable filters, or create the table with kind=set"
)
COARSE = (
    r"cannot merge the filter into cuckoofilter table seen: it is too coarse: it has a capacity of {} at a false "
    r"positive rate of {}; a capacity of \d+ at a rate of {} is enough"
)

outcomes = collections.Counter()  # of merges


def act_add(model, rnd):
    few = [rnd.randint(1, model.items) for _ in range(rnd.choice((1, 1, 1, 5, 50)))]
    if rnd.random() < 0.2:
        few = few[:1] * rnd.randint(2, 20)
    return adds(model, few)


def act_fresh(model, rnd):
    """Items that were never in, so that some histories have each only once."""
    fresh = [x for x in rnd.sample(range(1, model.items + 1), min(model.items, 200)) if x not in model.true]
    return adds(model, fresh[: rnd.choice((1, 10, 200))])


def adds(model, numbers):
    for x in numbers:
        model.add(x)
    return [(INSERT, [(x,) for x in numbers])]


def act_range(model, rnd):
    """Many at once, in the order of their numbers or in no order."""
    first = rnd.randint(1, model.items)
    last = min(model.items, first + rnd.choice((10, 1000, 20_000)))
    order = rnd.choice(("x", "x DESC", "x * 7919 % 10007"))
    for x in range(first, last + 1):
        model.add(x)
    sql = f"INSERT INTO seen(item) SELECT item FROM item WHERE x BETWEEN ? AND ? ORDER BY {order}"
    return [(sql, [(first, last)])]


def present(model, rnd, most):
    return rnd.sample(sorted(model.true), min(len(model.true), rnd.choice((1, 5, most))))


def act_remove(model, rnd):
    if model.set:
        return []
    gone = present(model, rnd, 400)
    for x in gone:
        model.remove(x)
    return [(DELETE, [(x,) for x in gone])]


def act_remove_list(model, rnd):
    if model.set:
        return []
    gone = present(model, rnd, 5000)
    for x in gone:
        model.remove(x)
    marks = ", ".join(map(str, gone))
    return [(f"DELETE FROM seen WHERE item IN (SELECT item FROM item WHERE x IN ({marks}))", [()])]


def act_replace(model, rnd):
    """Remove items and add them again, one by one."""
    if model.set:
        return []
    some = present(model, rnd, 50)
    for x in some:
        model.remove(x)
        model.add(x)
    return [pair for x in some for pair in ((DELETE, [(x,)]), (INSERT, [(x,)]))]


def draw_merged(rnd, args):
    """Arguments of a filter that is merged into a table with these arguments."""
    theirs = draw_args(rnd)
    if rnd.random() < 0.9:
        theirs["seed"] = args.get("seed", 0)
    if rnd.random() < 0.8:
        # a table of a high rate has some bits more than a filter of it
        theirs["fpr"] = min(0.4, args.get("fpr", 0.01) / rnd.choice((16, 100, 16, 100, 0.5)))
        theirs["capacity"] = args.get("capacity", 1_000_000) * rnd.choice((1, 2))
    else:
        theirs["capacity"] = max(theirs.get("capacity", 1_000_000), 30_000)
    return theirs


def filter_of(theirs, once, many, times):
    """SELECT of a filter, and its parameters: the items of one range once, those of the other so many times."""
    filter = aggregate(theirs, "item")
    sql = f"SELECT {filter} AS f FROM item WHERE x BETWEEN ? AND ?"
    if not many:
        return sql, (once[0], once[-1])
    for _ in range(times.bit_length() - 1):
        sql = f"SELECT cuckoofilter_sum(f, f) AS f FROM ({sql})"
    if not once:
        return sql, (many[0], many[-1])
    sql = f"SELECT cuckoofilter_sum(f, (SELECT {filter} FROM item WHERE x BETWEEN ? AND ?)) AS f FROM ({sql})"
    return sql, (once[0], once[-1], many[0], many[-1])


def crowded(error, copies, saturated):
    """The error of a sum that cannot place the copies of saturated items, as a pattern."""
    found = CROWDED.fullmatch(str(error))
    check(f"{copies} copies, {saturated} items saturated: {error}", found and saturated and int(found[1]) <= copies)
    return re.escape(str(error))


def merge_error(model, args, filter):
    """The error of merging this filter into the table, as a pattern; None: it is merged."""
    info = suite.info(filter)
    theirs = info["prefix_bits"], filter[11]  # w, c
    if info["seed"] != signed(args.get("seed", 0)):
        return f"cannot merge cuckoofilters with different seeds: the seeds are {signed(args.get('seed', 0))} and {info['seed']}; use the same seed option for all filters that are merged"
    if info["kind"] == "set" and not model.set:
        return IS_SET
    if theirs < model.precision:
        return COARSE.format(info["capacity"], f"{info['target_fpr']:g}", f"{args.get('fpr', 0.01):g}")
    return None


def act_merge(model, rnd, args):
    """Merge a filter.  Saturated items may have no place in it, and the table may refuse it."""
    theirs = draw_merged(rnd, args)
    first = rnd.randint(1, model.items)
    once = range(first, min(model.items, first + rnd.choice((0, 3, 100, 5000))) + 1)
    first = rnd.randint(1, model.items)
    saturated = range(first, min(model.items + 1, first + rnd.choice((0, 0, 0, 1, 2, 5, 11))))
    if saturated and rnd.random() < 0.3:
        once = range(0)
    times = theirs.get("bucket_size", 4) * rnd.choice((2, 4))  # of 2 b copies on, all are stored as 2 b
    sql, parameters = filter_of(theirs, once, saturated, times)
    try:
        error = merge_error(model, args, suite.one(sql, *parameters))
    except sqlite3.Error as crowd:
        error = crowded(crowd, len(once) + times * len(saturated), len(saturated))
    outcomes[error[:40] if error else "merged"] += 1
    if not error:
        for x in (*once, *saturated):
            model.add(x)
        for x in saturated if theirs.get("kind") != "set" else ():
            model.once = False
            model.true[x] += times - 1
            model.stored[model.prefixes[x]] = model.most
    return [(f"INSERT INTO seen(seen, item) SELECT 'merge', f FROM ({sql})", [parameters], error)]


def act_optimize(_model, _rnd):
    return [("INSERT INTO seen(seen) VALUES ('optimize')", [()])]


def act_empty(model, _rnd):
    model.clear()
    return [("INSERT INTO seen(seen) VALUES ('delete-all')", [()])]


ACTS = (
    (act_add, 8),
    (act_fresh, 6),
    (act_range, 3),
    (act_remove, 6),
    (act_remove_list, 2),
    (act_replace, 2),
    (act_merge, 1),
    (act_optimize, 1),
    (act_empty, 0.3),
)


def act(model, rnd, args):
    """An act, and its name."""
    chosen = rnd.choices([a for a, _ in ACTS], [weight for _, weight in ACTS])[0]
    if sum(model.true.values()) > MOST:
        chosen = act_empty
    statements = chosen(model, rnd, args) if chosen is act_merge else chosen(model, rnd)
    return chosen.__name__[4:], statements


def perform(db, statements):
    """Run statements; one with a pattern of an error must fail with this error."""
    for sql, many, *error in statements:
        if error and error[0]:
            fails(db, sql, many[0], error[0])
        elif len(many) == 1:
            db.execute(sql, many[0]).fetchall()
        else:
            db.executemany(sql, many)


def fails(db, sql, parameters, pattern):
    error = refusal(db, sql, *parameters)
    check(f"{sql}, {parameters}: {error}, not {pattern}", error and re.fullmatch(pattern, error))


# --------------------------------------------------------------- the checks


def examine(what, db, model, rnd=None):
    """The copies of all items, or of some."""
    where = ""
    if rnd is not None:
        few = sorted({rnd.randint(1, 2 * model.items) for _ in range(20)} | set(present(model, rnd, 20)))
        where = f"WHERE x IN ({', '.join(map(str, few))})"
    sql = f"SELECT x, coalesce((SELECT copies FROM seen WHERE seen.item = item.item), 0) FROM item {where}"
    wrong = [
        (x, copies, model.least(x), model.largest(x)) for x, copies in db.execute(sql) if model.wrong(x, copies)
    ]
    check(f"{what}: {len(wrong)} wrong: item, copies, least, most {wrong[:5]}", not wrong)
    return not wrong


def examine_export(what, db, model, args):
    bytes = db.execute("SELECT cuckoofilter_export('seen')").fetchone()[0]
    info = suite.info(bytes)
    if model.once and model.true:
        numbers = ", ".join(map(str, model.true))
        want = db.execute(f"SELECT {aggregate(args, 'item')} FROM item WHERE x IN ({numbers})").fetchone()[0]
        check(f"{what}: export, byte for byte: {suite.info(bytes)}, not {suite.info(want)}", bytes == want)
    # a table knows more than its export at high rates, where copies crowd, and while it has whole hashes
    like = info["kind"] == ("set" if model.set else "deletable") and info["target_fpr"] == args.get("fpr", 0.01)
    like = like and info["bucket_size"] == args.get("bucket_size", 4)
    unlike = "IS NOT" if like and args.get("fpr", 0) < 0.03 and info["count"] > 600 else "<"
    differ = db.execute(
        f"SELECT count(*) FROM item WHERE cuckoofilter_copies((SELECT cuckoofilter_open(?)), item) {unlike} "
        "min(?, coalesce((SELECT copies FROM seen WHERE seen.item = item.item), 0))",
        (bytes, 1 if info["kind"] == "set" else 16),
    ).fetchone()[0]  # fmt: skip
    equal(f"{what}: answers of the export that differ", differ, 0)
    found = db.execute(
        "WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 5000) SELECT "
        "sum(cuckoofilter_contains_hash((SELECT cuckoofilter_open(?)), cuckoofilter_hash('none' || x, 0))) FROM s", (bytes,)
    ).fetchone()[0]  # fmt: skip
    most = 5000 * info["fpr"]
    check(f"{what}: {found} of 5000 found by chance at {info}", found <= 1.12 * most + 6 * most**0.5 + 6)


def examine_all(what, db, model, args):
    examine(what, db, model)
    examine_export(what, db, model, args)
    equal(f"{what}: integrity", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    try:
        db.execute("INSERT INTO seen(seen) VALUES ('integrity-check')")
    except sqlite3.Error as error:
        check(f"{what}: its check: {error}", False)


# ------------------------------------------------------------- one connection


def test_histories():
    """Acts, savepoints, rollbacks and reopening, on one connection."""
    for what, rnd in rounds(30):
        with Case(rnd) as case:
            what = f"{what}: {case.what}"
            stack, names = [], []  # what to go back to; the savepoints' names, None: BEGIN
            trail = collections.deque(maxlen=12)
            for step in range(rnd.choice((30, 80, 150))):
                db = case.base.db
                way = rnd.random()
                if way < 0.55:
                    before = case.model.copy() if not stack else None
                    name, statements = act(case.model, rnd, case.args)
                    trail.append(name)
                    try:
                        perform(db, statements)
                    except sqlite3.Error as error:
                        check(f"{what}: step {step}, {list(trail)}: {error}", False)
                        del before
                        return
                elif way < 0.75:
                    step_transaction(case, rnd, stack, names, trail)
                elif way < 0.78 and not stack:
                    case.base.reopen()
                    trail.append("reopen")
                elif way < 0.95:
                    if not examine(f"{what}: step {step}, {list(trail)}", db, case.model, rnd):
                        return
                elif way < 0.97:
                    examine_export(f"{what}: step {step}, {list(trail)}", db, case.model, case.args)
                else:
                    examine(f"{what}: step {step}, {list(trail)}", db, case.model)
            if stack:
                case.base.run("COMMIT" if names[0] is None else f"RELEASE {names[0]}")
            examine_all(f"{what}: in the end, {list(trail)}", case.base.db, case.model, case.args)
            case.base.reopen()
            examine_all(f"{what}: reopened", case.base.db, case.model, case.args)
    print(f"merges: {dict(outcomes)}")


def step_transaction(case, rnd, stack, names, trail):
    """Begin, end or nest a transaction."""
    if not stack:
        names.append(None if rnd.random() < 0.7 else "s0")
        stack.append(case.model.copy())
        sql = "BEGIN" if names[0] is None else "SAVEPOINT s0"
    else:
        way = rnd.random()
        at = rnd.randrange(len(stack))
        if way < 0.35 and len(stack) < 5:
            names.append(f"s{len(stack)}")
            stack.append(case.model.copy())
            sql = f"SAVEPOINT {names[-1]}"
        elif way < 0.55 and names[at]:
            case.model = stack[at].copy()
            del stack[at + 1 :], names[at + 1 :]
            sql = f"ROLLBACK TO {names[at]}"
        elif way < 0.75 and names[at]:
            sql = f"RELEASE {names[at]}"
            del stack[at:], names[at:]
        elif way < 0.9:
            sql = "COMMIT"
            stack.clear()
            names.clear()
        else:
            sql = "ROLLBACK"
            case.model = stack[0]
            stack.clear()
            names.clear()
    trail.append(sql)
    case.base.db.execute(sql)


# ------------------------------------------------------------ two connections


def test_two_connections():
    """They take turns to write. Each sees what is committed, and its own changes."""
    for what, rnd in rounds(15):
        with Case(rnd, rnd.choice(("delete", "wal", "wal"))) as case:
            what = f"{what}: {case.what}"
            other = connect(case.base.path, timeout=0)
            writers = (case.base.db, other)
            for step in range(40):
                writer, reader = writers if rnd.random() < 0.5 else writers[::-1]
                committed = case.model.copy()
                writer.execute("BEGIN IMMEDIATE")
                names = []
                for _ in range(rnd.choice((1, 1, 3, 8))):
                    name, statements = act(case.model, rnd, case.args)
                    names.append(name)
                    perform(writer, statements)
                    if rnd.random() < 0.3:
                        examine(f"{what}: step {step}, {names}: the writer", writer, case.model, rnd)
                    if rnd.random() < 0.5:
                        try:
                            examine(f"{what}: step {step}, {names}: the reader", reader, committed, rnd)
                        except sqlite3.OperationalError as error:
                            locked = "locked" in str(error) and case.journal == "delete"
                            check(f"{what}: the reader: {error}", locked)
                if rnd.random() < 0.7:
                    writer.execute("COMMIT")
                else:
                    writer.execute("ROLLBACK")
                    case.model = committed
                names.append("end")
                for db, who in ((reader, "the reader"), (writer, "the writer")):
                    if rnd.random() < 0.6:
                        examine(f"{what}: step {step}, {names}: {who} after it", db, case.model, rnd)
            examine_all(f"{what}: one in the end", other, case.model, case.args)
            examine_all(f"{what}: the other", case.base.db, case.model, case.args)
            other.close()


# ---------------------------------------------------------------------- kills


def transact(model, args, seed, turn):
    """Transaction number `turn` on the model; its statements."""
    rnd = random.Random(f"{seed} {turn}")
    statements = [("UPDATE state SET turn = ?", [(turn,)])]
    for _ in range(rnd.choice((1, 1, 2, 6))):
        statements += act(model, rnd, args)[1]
    if rnd.random() < 0.15:
        statements += [("SAVEPOINT a", [()])] + act(model.copy(), rnd, args)[1] + [("ROLLBACK TO a", [()])]
    return statements


def write(case, seed, turn, told):
    """The writer: transactions without end. It writes a byte to the pipe before and after each one."""
    db = writer_of(case)
    while True:
        turn += 1
        os.write(told, b"(")
        db.execute("BEGIN IMMEDIATE")
        perform(db, transact(case.model, case.args, seed, turn))
        db.execute("COMMIT")
        os.write(told, b")")


def writer_of(case):
    """A connection with the journal of the case, and a cache so small that it spills."""
    db = connect(case.base.path)
    db.execute(f"PRAGMA journal_mode = {case.journal}")
    # With a WAL and a cache that spills, ROLLBACK TO leaves checksums in the WAL of SQLite 3.40 that
    # end a recovery too soon: plain tables lose committed transactions, too.
    if case.journal != "wal":
        db.execute("PRAGMA cache_size = 8")
    return db


def start_writer(work, *arguments):
    """Run work(.., pipe) in a process; the process, and what reads the pipe."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            work(*arguments, writer)
        except sqlite3.Error as error:
            os.write(writer, f"! {error}".encode())
        finally:
            os._exit(1)
    os.close(writer)
    return child, reader


def kill_writer(case, seed, turn, transactions, delay):
    """Run a writer, kill it in the transaction after those or later, and return what it wrote to the pipe."""
    child, reader = start_writer(write, case, seed, turn)
    told = b""
    while told.count(b"(") <= transactions:
        more = os.read(reader, 1 << 16)
        if not more:
            break
        told += more
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while more := os.read(reader, 1 << 16):
        told += more
    os.close(reader)
    check(f"the writer was at work until it was killed: {told[-200:]}", os.WIFSIGNALED(status))
    return told


def test_kills():
    """A killed writer leaves what it committed, or one transaction more."""
    kills = inside = 0
    for what, rnd in rounds(6):
        with Case(rnd, rnd.choice(("delete", "wal", "persist"))) as case:
            what = f"{what}: {case.what}"
            turn = 0
            for _ in range(8):
                case.base.db.close()
                told = kill_writer(case, what, turn, rnd.randrange(4), rnd.random() * 0.02)
                case.base.db = connect(case.base.path)
                committed = turn + told.count(b")")
                now = case.base.one("SELECT turn FROM state")
                open_one = told.endswith(b"(")
                kills += 1
                inside += open_one
                check(f"{what}: turn {now} after {committed}", committed <= now <= committed + open_one)
                while turn < now:
                    turn += 1
                    transact(case.model, case.args, what, turn)
                examine_all(f"{what}: killed in turn {now + 1}", case.base.db, case.model, case.args)
    print(f"{kills} kills, {inside} inside a transaction")
    check("a kill inside a transaction is no rarity", kills < 20 or inside > kills / 4)


# --------------------------------------------------------------------- limits

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
NO_ROOM = re.compile("disk I/O error|database or disk is full")


def draw_limit(case, rnd):
    """A size at which one of the files cannot grow: often in the middle of a page that it writes."""
    paths = [case.base.path + end for end in ("", "-journal", "-wal")]
    sizes = [os.path.getsize(path) for path in paths if os.path.exists(path)]
    return max(512, rnd.choice(sizes) + rnd.randrange(-20_000, 40_000))


def transact_limited(db, statements, limit, at):
    """A transaction that gets a limit before the statement with this number."""
    db.execute("BEGIN IMMEDIATE")
    for number, statement in enumerate([*statements, ("COMMIT", [()])]):
        if number == at:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        if not db.in_transaction:  # SQLite rolled it back when a merge failed that was to fail
            raise sqlite3.OperationalError("disk I/O error")
        try:
            perform(db, [statement[:2]])
        except sqlite3.Error:
            if not statement[2:] or not statement[2]:  # test_histories checks the errors of a merge
                raise


def write_limited(case, rnd, seed, turn, told):
    """Some transactions with a limit.  One that fails is repeated without a limit, or the process ends."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    db = writer_of(case)
    failed = False
    for _ in range(rnd.choice((2, 5, 10))):
        before = case.model.copy()
        statements = transact(case.model, case.args, seed, turn + 1)
        limit, at = draw_limit(case, rnd), rnd.randrange(len(statements) + 1)
        os.write(told, b"(")
        try:
            transact_limited(db, statements, limit, -1 if failed else at)
            turn, failed = turn + 1, False
            os.write(told, b")")
        except sqlite3.OperationalError as error:
            if not NO_ROOM.fullmatch(str(error)):
                raise
            os.write(told, b"-")
            if rnd.random() < 0.3:
                return
            case.model, failed = before, True
            if db.in_transaction:
                db.execute("ROLLBACK")
        resource.setrlimit(resource.RLIMIT_FSIZE, NO_LIMIT)
        if not examine("the writer", db, case.model, rnd):
            os.write(told, b"! a wrong answer")
    if rnd.random() < 0.5:
        db.close()


def damage(path):
    """What SQLite says about its own trees, without the extension, which writes rows by SQL alone and so cannot damage them."""
    db = sqlite3.connect(path)
    try:
        # of each table, since a connection without the module cannot check a filter table
        return [row for (name,) in db.execute("SELECT name FROM sqlite_master WHERE rootpage > 0 AND type = 'table'").fetchall()
                for row in db.execute(f"PRAGMA integrity_check('{name}')") if row != ("ok",)]  # fmt: skip
    except sqlite3.DatabaseError as error:
        return [str(error)]
    finally:
        db.close()


def test_limits():
    """A file that cannot grow ends a transaction: nothing of it is left, or all of it."""
    ended = collections.Counter()
    for what, rnd in rounds(12):
        with Case(rnd, rnd.choice(("delete", "wal", "truncate", "persist", "persist"))) as case:
            what = f"{what}: {case.what}"
            turn = 0
            for run in range(6):
                case.base.db.close()
                child, reader = start_writer(write_limited, case, random.Random(f"{what} {run}"), what, turn)
                with os.fdopen(reader, "rb") as pipe:
                    told = pipe.read()
                os.waitpid(child, 0)
                ended["limited"] += told.count(b"-")
                found = damage(case.base.path)
                case.base.db = connect(case.base.path)
                if found and case.journal == "persist":
                    ended["damaged by SQLite"] += 1
                    break
                check(f"{what}: {found}", not found)
                check(f"{what}: the writer: {told[-200:]}", b"!" not in told)
                committed, now = turn + told.count(b")"), case.base.one("SELECT turn FROM state")
                open_one = told.endswith((b"(", b"-"))
                check(f"{what}: turn {now} after {committed}", committed <= now <= committed + open_one)
                while turn < now:
                    turn += 1
                    transact(case.model, case.args, what, turn)
                examine_all(f"{what}: after {told}", case.base.db, case.model, case.args)
    print(f"transactions that met a limit: {dict(ended)}")
    check("a limit is met", PERCENT < 15 or ended["limited"] > 0)


print(f"SEED={SEED}")
sys.stdout.flush()
suite.db.executescript(ITEMS.format(2 * MOST_ITEMS))  # where the model builds what is merged
suite.run(globals())
