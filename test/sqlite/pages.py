#!/usr/bin/python3
"""The SQL for SQLite in README.md, sql/FAQ.md and sqlite/README.md runs from top to bottom, one page after the
other in one database, and gives the results that are shown; so does the guide's Python. On all pages, links lead to existing targets, and
lines of prose are broken.
"""

import html
import os
import re
import subprocess
import sys
import tempfile

from examples import check_page, examples, run
from suite import ROOT, Suite

sys.path.insert(0, f"{ROOT}/test/bench")
import gains  # noqa: E402

sys.path.insert(0, f"{ROOT}/test/bench/join")
import picture  # noqa: E402

suite = Suite("sqlite-pages")
check, equal = suite.check, suite.equal

LONGEST_README = 150
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


def test_sql():
    """A reader follows one page after the other in one database: no name is used twice."""
    paths = ("README.md", "sql/FAQ.md", "sqlite/README.md")
    for path, least in zip(paths, (12, 8, 60)):
        check(f"{path} has examples", len(examples(read(path))) >= least)
    check_page(suite, " ".join(paths), "\n".join(map(read, paths)))


def test_readme():
    text = read("README.md")
    equal("lines of README.md", text.count("\n") <= LONGEST_README, True)
    (version,) = re.findall(r'^#define CKF_VERSION "(.*)"', read("core/cuckoofilter.h"), re.M)
    check(f"its version is {version}", f"\nVersion {version}, " in text)
    for databases in ("", "sqlite"), ("", "postgresql"):
        loads = examples(text, databases)[0].statement
        check(f"the first statement loads the extension: {loads}", re.match(r"\.load |CREATE EXTENSION IF", loads))
    check("nothing to fill in", not re.search(r"@\w+@", text))
    block = examples(re.search(r"^```sql sqlite\n.*?^```", text, re.M | re.S).group(0))
    once, again = run(block), run(block * 2)[len(block) :]
    equal("the first block pasted twice", again, once)


def test_rule_in_one_place():
    """Where adding ends is told by the reference; the other pages for users link there."""
    users = ("README.md", "sql/FAQ.md", "sql/REFERENCE.md", "pg/README.md", "sqlite/README.md")
    equal("pages with the rule", [page for page in users for _ in re.findall(r"(?<![\d.])8\s+times\b", read(page))], ["sql/REFERENCE.md"])
    for page in users:
        check(f"{page}: links to the rule", re.search(r"limit\]\([\w./]*#words\)", read(page)))


def test_changelog():
    """From 1.7.0 on the changes of a version are in sections, of which some may be missing."""
    sections = ["Before you upgrade", "Added", "Changed", "Fixed"]
    for version, text in re.findall(r"^## ([\d.]+)$\n(.*?)(?=^## |\Z)", read("CHANGELOG.md"), re.M | re.S):
        heads = re.findall(r"^### (.*)", text, re.M)
        equal(f"{version}: sections", heads, [head for head in sections if head in heads])
        check(f"{version}: all changes are in sections", tuple(map(int, version.split("."))) < (1, 7) or not re.search(r"^- ", text.split("\n### ")[0], re.M))


def test_story():
    """The demos run the SQL of the README's story."""
    story = examples(re.search(r"## Example: find new visitors.*?\n\*Skip", read("README.md"), re.S).group(0), ("",))
    check("it has statements", len(story) >= 5)
    for path in "test/demo.sql", "test/pg/demo.sql":
        for example in story:
            check(f"{path}: {example.statement}", example.statement in read(path))


def test_exact_join():
    """The README's join has the same rows with a filter as without."""
    part = read("README.md").split("*Skip lookups*")[1].split("## ")[0]
    plain, filtered = examples(part, ("",))[-2:]
    equal("the join, and then the filter", filtered.statement[: len(plain.statement) - 1], plain.statement[:-1])
    equal("its rows", filtered.rows, plain.rows)


def check_picture(path, panels):
    """A picture shows the rows of its page of results, an axis for each unit, and no bar or word beyond its edge."""
    svg = read(path)
    texts = [html.unescape(text) for text in re.findall("<text>(.*?)</text>", svg)]
    check(f"{path}: has a title", len(texts[0]) > 10)
    for heading, legend, rows in panels:
        names = [row[0] for row in rows]
        first = texts.index(names[-1])
        equal(f"{path}: names, the last one first", texts[first : first + len(rows)], names[::-1])
        first = texts.index(heading) + 1
        equal(f"{path}: figures and legend", texts[first : first + len(rows) + len(legend)], [row[3] for row in rows] + list(legend))
        meant = set(legend.values()) or {row[2] for row in rows if row[3] != "no filter"}
        equal(f"{path}: colours that the legend does not name", {row[2] for row in rows if row[3] != "no filter"} - meant, set())
        check(f"{path}: no more than one colour without a legend", legend or len(meant) == 1)
    for red, green, blue in re.findall(r"fill = 'rgb\( *(\d+), *(\d+), *(\d+)\)'", svg):
        check(f"{path}: a red bar", int(red) <= max(int(green), int(blue)))
    for at, anchor, text in re.findall(r'translate\(([\d.]+),[^>]*"(start|middle|end)">\s*<text>(?:<tspan[^>]*>)?([^<]*)', svg):
        half = len(html.unescape(text)) * 7 / 2  # a letter is about 7 pixels wide
        middle = float(at) + {"start": half, "middle": 0, "end": -half}[anchor]
        check(f"{path}: cuts off: {text}", middle - half > 0 and middle + half < 900)


def test_figures():
    """Of the pictures, and of the FAQ's table of lookups, are those of the pages of results."""
    check_picture("test/bench/results/gains.svg", gains.panels())
    check_picture("test/bench/join/results/figures.svg", picture.panels(f"{ROOT}/test/bench/join/results"))
    labels = [gains.label(times) for _, _, times in gains.gains()]
    least, most = re.search(r"nothing were\s+([\d.]+) to ([\d.]+) times as fast", read("README.md")).groups()
    selective = [times for group, what, times in gains.gains() if group != gains.SIZE and not re.search("all match|partitions", what)]
    equal("figures of README's first paragraph", [least, most], [gains.label(min(selective)), gains.label(max(selective))])
    gained = read("sql/JOIN_FILTERS.md").split("## What they gain\n")[1].split("\n## ")[0]
    joins, benchmarks = gained.split("public benchmarks")
    table = re.findall(r"^\| .* \| ([\d.]+) \|$", joins, re.M)
    equal("figures of the table of join filters", table, [*labels[: len(table) - 1], gains.label(gains.median_of_joins())])
    sections = read("test/bench/join/results/TPC.md").split("\n## ")[1:]
    sums = [float(re.search(r"^\| one process, 4 .*\*\*([\d.]+)\*\*[^*]*$", part, re.M).group(1)) for part in sections]
    worst = [re.search(r"five worst:\n\n- one process, 4: [\w.]+: ([\d.]+)", part).group(1) for part in sections]
    said = re.findall(r"^\| .* \| ([\d.]+) \| ([\d.]+) \|$", benchmarks, re.M)
    equal("worst queries of the page's benchmarks", [row[1] for row in said], worst[: len(said)])
    check("sums of the page's benchmarks", len(said) >= 5 and all(abs(float(row[0]) - one) < 0.006 for row, one in zip(said, sums)))
    page = "sql/FAQ.md"
    prices = read("pg/README.md").split("**The price.**")[1].split("**Batches.**")[0]
    said = re.findall(r"([\d.]+) (kB|bytes)", read(page).split("## What does one add cost?\n")[1].split("\n## ")[0])
    check(f"{page}: what one add costs", len(said) >= 4)
    for number, unit in said:
        check(f"{page}: one add, {number} {unit}", re.search(rf"\| {re.escape(number)}(\.0)? {unit.replace('bytes', 'B')} ", prices))
    in_memory = gains.cells(gains.JOIN, ["10 % match"])
    check(f"{page}: a hash join in memory", all(f" {gains.label(float(in_memory[i]))} times" in read(page) for i in (7, 8)))
    for row, host, key in (
        ("PostgreSQL, bigint", 0, "bigint"),
        ("PostgreSQL, text of 32", 0, "text of 32"),
        ("SQLite, integer", 1, "integer"),
        ("SQLite, text of 32", 1, "text of 32"),
    ):
        part = read(gains.SQL).split("### Membership")[1 + host]
        said = [float(cell) for cell in gains.cells(page, [row])[1:]]
        if row == "PostgreSQL, bigint":
            question = re.search(r"up ([\d.]+) million rows a second with a filter, and ([\d.]+)\s+million", read("README.md")).groups()
            equal("README's figures of lookups are the table's", [float(figure) for figure in question], said[:2])
        for cell, method in zip(said, ("filter from a table", "EXISTS by index", r"IN \(SELECT\)(?:, hash semi join)?")):
            (seconds,) = re.findall(rf"^\| {key} \| {method} \| (\S+) \|", part, re.M)
            check(f"{page}: {row}, {method}: {1 / float(seconds)}", f"{1 / float(seconds):.2g}" == f"{cell:.2g}")


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


def test_join_filters_are_loaded():
    """A block that sets a setting of join filters loads their library first: without it PostgreSQL takes any word."""
    for page in ("README.md", "sql/FAQ.md", "sql/REFERENCE.md", "sql/JOIN_FILTERS.md", "pg/README.md", "pg/SERVERS.md"):
        for block in re.findall(r"^```sql.*?\n(.*?)^```", read(page), re.M | re.S):
            sets = re.search(r"^.*\bSET cuckoofilter\.join.*", block, re.M)
            check(f"{page}: {sets and sets.group(0)}", not sets or re.search(r"join_load\(\)|LOAD 'cuckoofilter_join'", block[: sets.start()]))


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
WRITTEN = re.compile(r"(^|/)(CHANGELOG|CITUS|RELEASES|RESULTS)\.md$|/results/|/1\.0\.0/")

suite.run(globals())
