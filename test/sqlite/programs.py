#!/usr/bin/python3
"""The programs in sql/FAQ.md run, and print what the page says.  A driver that is missing is skipped: those of node.js
come from npm (test/drivers), JDBC's are Debian's libxerial-sqlite-jdbc-java and libpostgresql-jdbc-java, Go's are
Debian's golang-github-jackc-pgx-v4-dev and golang-github-mattn-go-sqlite3-dev.
`programs.py postgresql` runs those for the server of the environment, as test/drivers/postgresql.pl does."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from suite import EXTENSION, ROOT, Suite

POSTGRESQL = sys.argv[1:] == ["postgresql"]
MODULES = os.environ.get("CUCKOOFILTER_NODE") or f"{ROOT}/build/test/drivers/node_modules"
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}  # the packages of Debian

suite = Suite("postgresql-programs" if POSTGRESQL else "sqlite-programs")


def run(mark, name, *command):
    """The program of the page that is marked so, by this command and its file, which has this name."""
    with open(f"{ROOT}/sql/FAQ.md", encoding="utf-8") as file:
        (program,) = re.findall(rf"^```{mark}\n(.*?)^```", file.read(), re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(program.replace("/usr/local/lib/sqlite3/cuckoofilter", EXTENSION))
        arguments = [f"{folder}/{name}" if argument == "FILE" else argument for argument in command]
        ran = subprocess.run(arguments, env={**os.environ, "NODE_PATH": MODULES, **GO, "GOCACHE": f"{folder}/cache"}, capture_output=True, text=True, check=False)
    suite.equal(f"{mark}: errors", (ran.returncode, ran.stderr), (0, ""))
    suite.equal(mark, ran.stdout.lower().split(), ["true", "false"])


def test_psycopg():
    if not POSTGRESQL:
        return
    if not importlib.util.find_spec("psycopg"):
        return print("skipped: psycopg, Debian's python3-psycopg")
    run("python psycopg", "seen.py", sys.executable, "FILE")


def test_node():
    if not POSTGRESQL:
        subprocess.run([f"{ROOT}/test/drivers/npm.sh"], stdout=subprocess.DEVNULL, check=True)
    driver, module = ("node-postgres", "pg") if POSTGRESQL else ("better-sqlite3", "better-sqlite3")
    if not shutil.which("node") or not os.path.isdir(f"{MODULES}/{module}"):
        return print(f"skipped: {driver}, from npm")
    run(f"js {driver}", "seen.js", "node", "FILE")


def test_jdbc():
    jar = f"/usr/share/java/{'postgresql' if POSTGRESQL else 'sqlite-jdbc'}.jar"
    if not shutil.which("javac") or not os.path.exists(jar):
        return print(f"skipped: JDBC, {jar}")
    port, user, database = (os.environ.get(name) for name in ("PGPORT", "PGUSER", "PGDATABASE"))
    url = f"jdbc:postgresql://127.0.0.1:{port}/{database}?user={user}" if POSTGRESQL else "jdbc:sqlite::memory:?enable_load_extension=true"
    run("java", "Seen.java", "java", "-cp", jar, "FILE", url)


def test_go():
    package, mark = ("jackc/pgx/v4", "pgx") if POSTGRESQL else ("mattn/go-sqlite3", "go-sqlite3")
    if not shutil.which("go") or not os.path.isdir(f"{GO['GOPATH']}/src/github.com/{package}"):
        return print(f"skipped: {package}, Debian's golang-go and golang-github-{package.replace('/', '-')}-dev")
    run(f"go {mark}", "seen.go", "go", "run", "FILE")


suite.run(globals())
