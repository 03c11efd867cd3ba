#!/usr/bin/python3
"""The SQL for SQLite in README.md and sqlite/README.md, and the guide's Python, run from top to
bottom and give the results that are shown. On all pages, links lead to existing targets, and
lines of prose are broken.
"""

import os
import re
import subprocess
import sys
import tempfile

from examples import check_page
from suite import ROOT, Suite

suite = Suite("sqlite-pages")
check, equal = suite.check, suite.equal

LONGEST_README = 200
LONGEST_LINE = 100


def read(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


def pages():
    """All of the project's pages, named from its root."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in (".git", "build", "node_modules")]
        for name in files:
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def test_readme():
    check("README.md has examples", len(check_page(suite, "README.md", read("README.md"))) >= 20)
    equal("lines of README.md", read("README.md").count("\n") <= LONGEST_README, True)


def test_guide():
    page = "sqlite/README.md"
    check(f"{page} has examples", len(check_page(suite, page, read(page))) >= 60)


def test_python_of_the_guide():
    (program,) = re.findall(r"^```python\n(.*?)^```", read("sqlite/README.md"), re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(f"{ROOT}/build", f"{folder}/build")
        ran = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    equal("what it prints", ran.stdout, "1\n0\n")
    equal("what it complains of", ran.stderr, "")


# ------------------------------------------------------------------- all pages


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text):
    """Of the headings, as GitHub names them."""
    found = re.findall(r"^#+ (.*)", without_code(text), re.M)
    plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower() for heading in found]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def test_links():
    for page in sorted(pages()):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(read(page))):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            check(f"{page}: {target}", os.path.exists(f"{ROOT}/{file}"))
            if anchor and file.endswith(".md"):
                check(f"{page}: {target}", anchor in anchors(read(file)))


def test_lines():
    """Lines of prose have at most 100 characters, except tables, headings, code and lines without a blank."""
    for page in sorted(pages()):
        for line in without_code(read(page)).splitlines():
            free = re.match(r" *\||#|!\[|    |\t", line) or not re.search(r"\S +\S", line[:LONGEST_LINE].lstrip("-* "))
            if len(line) > LONGEST_LINE and not free and not WRITTEN.search(page):
                check(f"{page}: a line of {len(line)} characters: {line:.60}..", False)
        check(page, True)


# Pages that programs write, that list what was, or whose words are those of a release.
WRITTEN = re.compile(r"(^|/)(CHANGELOG|RELEASES|RESULTS)\.md$|/results/|/1\.0\.0/")

suite.run(globals())
