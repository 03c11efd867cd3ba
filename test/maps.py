#!/usr/bin/python3
"""The maps of the tree point at what is there.

  - INTERNALS pages: each file in a column "where" exists, and has one of the names in `code` of its row, beside
    the names of files;
  - READMEs: each file in a column "file" or "part" exists, and each source file of a folder whose page has a
    table of files is in it;
  - CONTRIBUTING.md, "How to add": each file exists, and each name of the row is in one of its files; a list has at
    most six rows;
  - test/coverage/reasons.tsv: the file has the function, and the function the line.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"^[\w./-]+\.[ch]$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def tables(page):
    """The rows of a page's tables, each as a dictionary by the heads of its columns."""
    return rows_of(read(page))


def rows_of(text):
    head = None
    for line in text.split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            head = None
        elif head is None:
            head = cells
        elif not set(cells[0]) <= set("-:"):
            yield dict(zip(head, cells))


def words(text):
    return {word for code in CODE.findall(text) for word in re.findall(r"\w{3,}", code)}


def check_where(page):
    """Rows of an INTERNALS page that point nowhere."""
    folder = os.path.dirname(page)
    for row in tables(page):
        if "where" not in row:
            continue
        files = [name for name in CODE.findall(row["where"]) if "/" in name or FILE.match(name)]
        there = [name for name in files if os.path.isfile(os.path.join(ROOT, folder, name)) or os.path.isfile(os.path.join(ROOT, name))]
        yield from (f"{page}: {name} is not there" for name in files if name not in there)
        text = "".join(read(os.path.join(folder, name) if os.path.isfile(os.path.join(ROOT, folder, name)) else name) for name in there)
        if not there or not any(re.search(rf"\b{word}\b", text) for word in words("".join(row.values())) if word not in " ".join(files)):
            yield f"{page}: nothing of this row is in {', '.join(files) or 'a file'}: {' | '.join(row.values())[:90]}"


def check_files(page):
    """Files that a page names and that are not there, and those of its folder that it does not name."""
    folder = os.path.dirname(page)
    named = set()
    for row in tables(page):
        for head in ("file", "part"):
            named |= {name for name in CODE.findall(row.get(head, "")) if FILE.match(name)}
    here = {os.path.relpath(path, os.path.join(ROOT, folder)) for path in glob.glob(os.path.join(ROOT, folder, "**/*.[ch]"), recursive=True)}
    for name in named:
        if not any(path == name or path.endswith("/" + name) for path in here):
            yield f"{page}: {name} is not there"
    if any(os.path.basename(name) == name for name in named) and not glob.glob(os.path.join(ROOT, folder, "*/*.c")):
        yield from (f"{page} does not name {path}" for path in here if path.endswith(".c") and path not in named)


def check_how(page):
    """Of the lists "How to add"."""
    section = re.search(r"\n## How to add\n(.*?)\n## ", read(page), re.DOTALL)[1]
    lists = [list(rows_of(table)) for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)]
    if len(lists) != 5 or max(map(len, lists)) > 6:
        yield f"{page}: lists of {[len(one) for one in lists]} rows, of which 5 with at most 6 are wanted"
    for row in (row for one in lists for row in one):
        files = CODE.findall(row["file"])
        text = "".join(read(name) for name in files if os.path.isfile(os.path.join(ROOT, name)))
        yield from (f"{page}: {name} is not there" for name in files if not os.path.exists(os.path.join(ROOT, name)))
        for name in CODE.findall(row["what"]):
            if re.fullmatch(r"[%@]?\w{4,}", name) and not re.search(rf"\b{name.lstrip('%@')}\b", text):
                yield f"{page}: {name} is not in {', '.join(files)}"


def check_reasons(path):
    for line in read(path).split("\n"):
        if not line or line.startswith("#"):
            continue
        name, function, text, _ = line.split("\t")
        if not os.path.isfile(os.path.join(ROOT, name)):
            yield f"{path}: {name} is not there"
            continue
        body = re.search(rf"^{function}\(.*?^}}", read(name), re.MULTILINE | re.DOTALL)
        if body is None or text not in [one.strip() for one in body[0].split("\n")]:
            yield f"{path}: {name} has no line \"{text}\" in {function}"


def main():
    pages = [os.path.relpath(page, ROOT) for page in sorted(glob.glob(os.path.join(ROOT, "*/**/*.md"), recursive=True)) if not page.startswith(os.path.join(ROOT, "build"))]
    faults = []
    for page in pages:
        if os.path.basename(page) == "INTERNALS.md":
            faults += check_where(page)
        elif os.path.basename(page) == "README.md" and not page.startswith("test/"):
            faults += check_files(page)
    faults += check_how("CONTRIBUTING.md")
    faults += check_reasons("test/coverage/reasons.tsv")
    print("\n".join(faults))
    return 1 if faults or not pages else 0


sys.exit(main())
