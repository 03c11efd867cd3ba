"""The SQL on the project's pages: reads its blocks, and runs them in SQLite's shell.

A block marked `sql` is for both databases, `sql postgresql` and `sql sqlite` for one.  A statement
ends with a semicolon at the end of its line; a line that begins with a backslash or a dot is a
command of psql or of SQLite's shell.  `-- text` behind a statement, and each line that begins with
`-- ` right below it, is a row of its result.  Below an empty line, and at the start of a block, such
a line is a comment.  `…` in a row stands for anything, and alone for any rows.  test/pg/lib/CuckooPages.pm reads
the same blocks for PostgreSQL.
"""

import os
import re
import subprocess
import tempfile

from suite import EXTENSION, ROOT

MARK = "@@ end of an example"


class Example:
    def __init__(self, statement, row, line):
        self.statement = statement
        self.rows = [] if row is None else [row]
        self.line = line


def is_whole(statement):
    """Not within the body of a function or of a trigger."""
    trigger = re.match(r"\s*CREATE (TEMP )?TRIGGER\b", statement) and "\nBEGIN" in statement
    return statement.count("$$") % 2 == 0 and (not trigger or statement.endswith("END;"))


def examples(text, databases=("", "sqlite")):
    """The statements of these databases, with their rows, in the order of the page."""
    found = []
    for block in re.finditer(r"^```sql ?(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        number = text.count("\n", 0, block.start(2))
        statement, below = "", False
        for line in block.group(2).splitlines() if block.group(1) in databases else []:
            number += 1
            ends = re.match(r"(.*;)(?: +-- (.*))?$", line)
            if not statement and line.startswith("-- "):
                if below:
                    found[-1].rows.append(line[3:])
            elif not statement and line[:1] in ("\\", "."):
                found.append(Example(line, None, number))
                below = True
            elif ends and is_whole(statement + ends.group(1)):
                found.append(Example(statement + ends.group(1), ends.group(2), number))
                statement, below = "", True
            elif line or statement:
                statement += line + "\n"
            else:
                below = False
        if statement:
            raise ValueError(f"what is left of a block that ends in line {number}: {statement}")
    return found


def run(found):
    """The shell's output for each statement; an error is its message after `ERROR: `."""
    script, first = [".mode list", ".nullvalue NULL", f".load {EXTENSION}"], {}
    for number, example in enumerate(found):
        first.update((len(script) + 1 + i, number) for i in range(example.statement.count("\n") + 1))
        script += example.statement.replace(".load /usr/local/lib/sqlite3/cuckoofilter", f".load {EXTENSION}").split("\n") + [f".print '{MARK}'"]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(f"{ROOT}/build", f"{folder}/build")  # for `.load build/sqlite/cuckoofilter`
        shell = subprocess.run(
            ["sqlite3", "-batch", "-noheader", "-init", os.devnull, ":memory:"],
            input="\n".join(script) + "\n",
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    got = [part.splitlines() for part in re.split(rf"^{MARK}\n", shell.stdout, flags=re.MULTILINE)]
    said = {}
    for line, sentence in re.findall(r"near line (\d+): (.*)", shell.stderr):
        said.setdefault(first.get(int(line), -1), sentence)
    sentences = [re.sub(r"^stepping, | \(\d+\)$", "", said.get(i, "")) for i in range(len(found))]
    return [[f"ERROR: {sentence}"] if sentence else rows for sentence, rows in zip(sentences, got)]


def wanted(row):
    """A row of the page, in SQLite's words."""
    words = {"true": "1", "false": "0"}
    return "|".join(words.get(cell, cell) for cell in row.split("|"))


def whole_numbers(row):
    """SQLite's REAL that is a whole number, as the page shows it."""
    return "|".join(re.sub(r"^(-?\d+)\.0$", r"\1", cell) for cell in row.split("|"))


def begins(sentence, row):
    """Does this message match that row? A … in the row matches anything."""
    return re.match(".+".join(map(re.escape, row.split("…"))), sentence)


def pattern(rows):
    """Rows of the page as a regular expression; … alone stands for any rows."""
    row = lambda text: ".*".join(map(re.escape, wanted(text).split("…"))) + "\n"
    return "".join("(?:.*\n)*" if text == "…" else row(text) for text in rows)


def gives(got, rows):
    if rows and rows[0].startswith("ERROR"):
        sentence = re.sub(r"^ERROR(?: \w{5})?: ", "", rows[0])
        return got[:1] and got[0].startswith("ERROR: ") and begins(got[0][7:], sentence)
    return re.fullmatch(pattern(rows), "".join(whole_numbers(row) + "\n" for row in got))


def check_page(suite, name, text):
    """Every example of a page gives the rows that it shows."""
    found = examples(text)
    got = run(found)
    suite.equal(f"{name}: examples that ran", len(got), len(found))
    for example, rows in zip(found, got):
        what = f"{name}:{example.line}: {example.statement}\n  gives {rows},\n  not {example.rows}"
        suite.check(what, gives(rows, example.rows))
    return found
