#!/usr/bin/python3
"""The lines for Django, SQLAlchemy and Rails in sql/FAQ.md find what is known, by Debian's packages of them; what is
missing is skipped.  `orm.py postgresql` asks the server of the environment, as test/drivers/postgresql.pl does."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from suite import EXTENSION, ROOT, Suite, connect

POSTGRESQL = sys.argv[1:] == ["postgresql"]

suite = Suite("postgresql-orm" if POSTGRESQL else "sqlite-orm")
equal = suite.equal

DROP = "".join(f"DROP TABLE IF EXISTS {name};" for name in ("guest", "guest_filter", "app_guest", "app_guestfilter"))
CREATE = """CREATE TABLE guest (id integer PRIMARY KEY, name text);
CREATE TABLE guest_filter (id integer PRIMARY KEY, f cuckoofilter);"""
FILL = """INSERT INTO guest VALUES (1, 'ann'), (2, 'bob'), (3, 'zoe');
INSERT INTO guest_filter SELECT 1, cuckoofilter_agg(name) FROM guest WHERE name <> 'zoe';"""


def lines(mark):
    """The block of the page that is marked so."""
    with open(f"{ROOT}/sql/FAQ.md", encoding="utf-8") as file:
        (block,) = re.findall(rf"^```{mark}\n(.*?)^```", file.read(), re.M | re.S)
    return block


def database(folder, script=DROP + CREATE + FILL):
    """The name of a database in which this ran."""
    if POSTGRESQL:
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", script], capture_output=True, check=True)
        return os.environ["PGDATABASE"]
    path = os.path.join(folder, "app.db")
    db = connect(path)
    db.executescript(script)
    db.close()
    return path


def load_on_connect(mark, scope):
    """Runs the page's lines that load the extension into each new connection of SQLite."""
    if not POSTGRESQL:
        exec(lines("python sqlite").replace("/usr/local/lib/sqlite3/cuckoofilter", EXTENSION), scope)
        exec(lines(f"python {mark} sqlite"), scope)


def has(*modules):
    """Whether Python has them, with the driver of the server."""
    return all(map(importlib.util.find_spec, (*modules, *(["psycopg2"] if POSTGRESQL else []))))


def has_ruby():
    needs = f"require 'active_record'; require '{'pg' if POSTGRESQL else 'sqlite3'}'"
    return shutil.which("ruby") and subprocess.run(["ruby", "-e", needs], capture_output=True, check=False).returncode == 0


def test_django():
    block = lines("python django")
    if not has("django"):
        return print("skipped: Django, Debian's python3-django")
    with tempfile.TemporaryDirectory() as folder:
        import django
        from django.conf import settings

        if django.VERSION < (3, 0):
            return print("skipped: Django before 3.0 does not take an expression as a condition")

        os.mkdir(f"{folder}/app")
        with open(f"{folder}/app/models.py", "w", encoding="utf-8") as file:
            file.write(lines("python django models"))
        sys.path.insert(0, folder)
        engine = f"django.db.backends.{'postgresql' if POSTGRESQL else 'sqlite3'}"
        settings.configure(
            DATABASES={"default": {"ENGINE": engine, "NAME": database(folder, DROP)}},
            DEFAULT_AUTO_FIELD="django.db.models.AutoField",
            INSTALLED_APPS=["app"],
        )
        django.setup()
        from django.core.management import call_command
        from django.db import connection

        load_on_connect("django", {})
        call_command("migrate", run_syncdb=True, verbosity=0)
        import app.models

        with connection.cursor() as cursor:
            for statement in FILL.replace("guest_filter", "app_guestfilter").replace("INTO guest ", "INTO app_guest ").replace("FROM guest", "FROM app_guest").split("\n"):
                cursor.execute(statement)
        scope = vars(app.models)
        *before, last = block.strip().split("\n")
        exec("\n".join(before), scope)
        equal("Django", [guest.name for guest in eval(last, scope).order_by("name")], ["ann", "bob"])
        app.models.Guest.objects.create(id=4, name="dora")
        equal("Django, an added item", [guest.name for guest in eval(last, scope).order_by("name")], ["ann", "bob", "dora"])
        connection.close()


def test_sqlalchemy():
    block = lines("python sqlalchemy")
    if not has("sqlalchemy"):
        return print("skipped: SQLAlchemy, Debian's python3-sqlalchemy")
    with tempfile.TemporaryDirectory() as folder:
        import sqlalchemy
        from sqlalchemy import MetaData, create_engine
        from sqlalchemy.orm import Session

        if sqlalchemy.__version__ < "1.4":
            return print("skipped: SQLAlchemy before 1.4 has another select() and no Session in a with statement")

        name = database(folder)
        engine = create_engine(f"postgresql+psycopg2:///{name}" if POSTGRESQL else f"sqlite:///{name}")

        load_on_connect("sqlalchemy", {"engine": engine})
        tables = MetaData()
        tables.reflect(engine)
        with Session(engine) as session:
            scope = {"session": session, **tables.tables}
            *before, last = block.strip().split("\n")
            exec("\n".join(before), scope)
            equal("SQLAlchemy", sorted(name for (name,) in eval(last, scope)), ["ann", "bob"])
        engine.dispose()


RAILS = """require 'active_record'
adapter, database, extension = ARGV
ActiveRecord::Base.establish_connection(adapter: adapter, database: database)
if adapter == 'sqlite3'
  raw = ActiveRecord::Base.connection.raw_connection
  raw.enable_load_extension(true)
  raw.load_extension(extension)
end
class Guest < ActiveRecord::Base; self.table_name = 'guest'; end
class GuestFilter < ActiveRecord::Base; self.table_name = 'guest_filter'; end
%s
puts found.sort.join(','), GuestFilter.where("cuckoofilter_contains(f, 'dora')").count
"""


def test_rails():
    known, query, change = lines("ruby").strip().split("\n")
    if not has_ruby():
        return print("skipped: Rails, Debian's ruby-activerecord and ruby-sqlite3")
    with tempfile.TemporaryDirectory() as folder:
        program = RAILS % f"{known}\nfound = {query}\n{change}"
        adapter = "postgresql" if POSTGRESQL else "sqlite3"
        command = ["ruby", "-W0", "-e", program, adapter, database(folder), f"{EXTENSION}.so"]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    equal("Rails", (ran.returncode, ran.stdout), (0, "ann,bob\n1\n"))


suite.run(globals())
