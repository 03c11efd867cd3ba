#!/usr/bin/python3
"""sql/REFERENCE.md is complete and correct: its examples give their results, and it names every
function and error."""

import glob
import re
import sqlite3
import tempfile

from examples import begins, check_page, examples
from suite import ROOT, Suite, connect, refusal

suite = Suite("sqlite-reference")
check, equal = suite.check, suite.equal


def read(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


PAGE = read("sql/REFERENCE.md")


def section(heading):
    """The text below a heading, up to the next heading of the same or a higher level."""
    level = heading.index(" ")
    text = PAGE.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"\n#{{1,{level}}} ", text)[0]


def table(text, number=0):
    """The rows of a table, as lists of cells without the backquotes around them."""
    lines = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[number].splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[re.sub(r"^`(.*)`$", r"\1", cell.strip()) for cell in row] for row in cells]


# ---------------------------------------------------------------- examples


def test_examples():
    check("the page has examples", len(check_page(suite, "sql/REFERENCE.md", PAGE)) > 60)


def test_each_has_an_example():
    for name in names():
        used = [e for e in examples(section(f"### {name}")) if f"{name}(" in e.statement]
        check(f"an example of {name}", used)


# ------------------------------------------------------------------- names


def names():
    """Of the functions, with the numbers of their arguments: {-1} is any."""
    found = {}
    for call, _, result in table(section("## Names at a glance")):
        if result == "-":
            continue
        name, arguments = re.match(r"\[`(\w+)\((.*?)\)`\]", call).groups()
        least = len([a for a in arguments.split("[")[0].split(",") if a.strip()])
        most = len([a for a in re.sub(r"[][]", "", arguments).split(",") if a.strip()])
        found[name] = {-1} if "..." in arguments else set(range(least, most + 1))
    return found


def test_names():
    there = {}
    for name, count in suite.db.execute(
        "SELECT DISTINCT name, narg FROM pragma_function_list WHERE name LIKE 'cuckoofilter%'"
    ):
        there.setdefault(name, set()).add(count)
    on_page = names()
    equal("functions that the page does not name", sorted(set(there) - set(on_page)), [])
    equal("functions that there are not", sorted(set(on_page) - set(there)), [])
    for name in sorted(set(there) & set(on_page)):
        equal(f"arguments of {name}", on_page[name], there[name])
    modules = suite.db.execute("SELECT name FROM pragma_module_list WHERE name LIKE 'cuckoo%'")
    equal("modules", [name for (name,) in modules], ["cuckoofilter"])
    internal = re.findall(r"`(\w+)`", section("### Support functions"))
    said = set(re.findall(r"\bcuckoofilter_[a-z_]+\b", PAGE)) - {"cuckoofilter_ops", "cuckoofilter_join"}
    called = [call for call, *_ in table(section("## Names at a glance"))]
    known = set(re.findall(r"cuckoofilter_[a-z_]+", " ".join(called + internal)))
    equal("what the page says and does not explain", sorted(said - known), [])


def test_links():
    for target in re.findall(r"\]\(#([\w-]+)\)", PAGE):
        headings = re.findall(r"^#+ (.*)", PAGE, re.MULTILINE)
        anchors = [heading.lower().replace(" ", "-") for heading in headings]
        check(f"a heading for #{target}", target in anchors)


def test_fields_and_options():
    of_filters, of_tables = (
        re.findall(r"\b[A-Z]+\((\w+)\) *(?:\\|$)", text, re.MULTILINE)
        for text in read("core/info_fields.h").split("#define CKF_TABLE_INFO_FIELDS")
    )
    fields = of_filters
    told = [name for row in table(section("### cuckoofilter_table_info")) for name in re.findall(r"\w+", row[0])]
    equal("fields of tables", sorted(set(told) - {"rows", "pages", "distinct_prefixes"}), sorted(of_tables))
    rows = table(section("### cuckoofilter_info"))
    equal("fields", [row[0] for row in rows], fields)
    filter = suite.one("SELECT cuckoofilter_create(10)")
    equal("what cuckoofilter_info gives", list(suite.info(filter)), fields)
    for name, values, default, _ in table(section("## Words"), 1):
        for value in re.findall(r"`(\w+)`", f"`{values}`") if name != "seed" else ["-1", "7"]:
            options = f"{name}={value}"
            suite.is_sql(1, "SELECT cuckoofilter_create(9, 0.1, ?) IS NOT NULL", options)
        info = suite.info(filter)
        check(f"default of {name}", default.startswith(str(info[name])))


# ------------------------------------------------------------------ errors


LITERALS = r"((?:\"(?:[^\"\\]|\\.)*\"[\s\\]*)+)"


def words(literals):
    """C's string literals as one text, with … for each value; `real` and `form` are conversions, too."""
    text = re.sub(r"\b(?:real|form)\b(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", '"…"', literals)
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')
    return re.sub(r"%(?:\.\*s|!?[.\d]*g|[zl]*[dus])", "…", text)


def sentences_of_core():
    text = read("core/messages.h").replace("\\\n", " ")
    shared = re.findall(r"#define CKF_SAY_\w+(?:\(\w+\))? +(.*)", text)
    of_engine = rf"(?:\bSAY\((?!\"%s\")|\[CKF_\w+\] =\s*\{{){LITERALS}"
    return [words(said) for said in shared + re.findall(of_engine, read("core/host/error.c"))]


PLACES = (
    ("pg/**/*.c", rf"errmsg\({LITERALS}"),
    ("sqlite/**/*.c", rf"(?:sqlite3_mprintf|sqlite3_result_error)\(\s*(?:ctx,\s*)?{LITERALS}"),
    ("sqlite/**/*.c", rf"ckfs_table_fail\(\s*\w+,\s*\w+,\s*{LITERALS}"),
    ("sqlite/**/*.[ch]", rf"#define CKFS_SAY_(?!FILTER\b)\w+[\s\\]*{LITERALS}"),
)


def sentences_of_hosts():
    """Messages of one host only (FILTER is a part of one); SQL begins with a capital or has names (%w)."""
    for place, pattern in PLACES:
        for path in glob.glob(f"{ROOT}/{place}", recursive=True):
            with open(path, encoding="utf-8") as file:
                for literals in re.findall(pattern, file.read()):
                    sentence = words(literals)
                    sql = re.match("[A-Z]", sentence) or "%w" in sentence
                    if " " in sentence and not sql:
                        yield sentence


def test_errors():
    rows = [row[0].replace("\\|", "|") for row in table(section("## Errors"))]
    core = sentences_of_core()
    check("messages.h has sentences", len(core) >= 18)
    for sentence in core:
        check(f"a row for: {sentence}", sentence in rows)
    hosts = list(sentences_of_hosts())
    with tempfile.TemporaryDirectory() as folder:
        db = connect(f"{folder}/seen.db")
        db.execute("CREATE VIRTUAL TABLE seen USING cuckoofilter")
        db.close()
        db = sqlite3.connect(f"{folder}/seen.db")  # without the extension
        for sql in ("DROP TABLE seen", "SELECT * FROM seen WHERE item = 1", "INSERT INTO seen VALUES (1)"):
            hosts.append(refusal(db, sql) or f"no error: {sql}")
        db.close()
    check("hosts have sentences", len(hosts) >= 12)
    for sentence in hosts:
        check(f"a row for: {sentence}", any(begins(sentence, row) for row in rows))
    for row in rows:
        check(f"a sentence for: {row}", any(begins(s, row) for s in core + hosts))


def test_states():
    """The SQLSTATE of an example is its row's; PostgreSQL's suite shows that it is right."""
    rows = table(section("## Errors"))
    for example in examples(PAGE, ("", "sqlite", "postgresql")):
        said = re.match(r"ERROR (\w{5}): (.*)", example.rows[0]) if example.rows else None
        if said:
            states = [row[1] for row in rows if row[1] != "-" and begins(said.group(2), row[0])]
            check(f"{said.group(0)}: {states}", len(set(states)) == 1 and said.group(1) in states[0])


suite.run(globals())
