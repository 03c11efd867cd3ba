#!/usr/bin/python3
"""The SQL of README.md gives the results that stand in its comments."""

import re
import subprocess

from suite import EXTENSION, ROOT, Suite

suite = Suite("sqlite-readme")


def blocks():
    """The SQL of the part about SQLite."""
    with open(f"{ROOT}/README.md", encoding="utf-8") as file:
        part = file.read().split("\n## SQLite\n")[1].split("\n## ")[0]
    return re.findall(r"```sql\n(.*?)```", part, re.DOTALL)


def test_readme():
    sql = "".join(blocks())
    want = re.findall(r";  *-- (.*)", sql)
    suite.check("README has examples", len(want) >= 5)
    shell = subprocess.run(
        ["sqlite3", "-batch", ":memory:"],
        input=f".load {EXTENSION}\n{sql}",
        capture_output=True,
        text=True,
        check=False,
    )
    suite.equal("errors", shell.stderr, "")
    got = shell.stdout.splitlines()
    suite.equal("results", len(got), len(want))
    for number, (line, result) in enumerate(zip(got, want), 1):
        suite.equal(f"result {number}", line, result)


suite.run(globals())
