#!/bin/sh
# The wheel, in an environment of its own and without any index, with and without numpy; its README's
# blocks; the name that it had before.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages python3-venv
python3 -m venv /tmp/venv
quietly /tmp/venv/bin/pip install --no-index "/packages/cuckoofilter-$VERSION-"*"_$(uname -m).whl"
cd /tmp

cat > use.py << 'TEXT'
import pickle
import sqlite3
import sys
from importlib import metadata

import cuckoofilter.sqlite
import sqlite_cuckoofilter
from cuckoofilter import Filter

assert cuckoofilter.__version__ == metadata.version("cuckoofilter") == sys.argv[1]
assert {"LICENSE", "LICENSE.xxhash", "py.typed", "_filter.pyi"} <= {file.name for file in metadata.files("cuckoofilter")}
f = Filter.build("a b c".split())
print(bytes(f).hex().upper(), "b" in pickle.loads(pickle.dumps(f)), "d" in f)
conn = sqlite3.connect(":memory:")
cuckoofilter.sqlite.load(conn)
old = sqlite3.connect(":memory:")
old.enable_load_extension(True)
sqlite_cuckoofilter.load(old)
other = sqlite3.connect(":memory:")
other.enable_load_extension(True)
other.load_extension(sqlite_cuckoofilter.loadable_path())
for each in conn, old, other:
    print(*each.execute("SELECT cuckoofilter_version(), hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))").fetchone())
TEXT
equal "wheel: a filter in Python, and the extension by both names" "$(/tmp/venv/bin/python use.py "$VERSION" 2>&1)" "$ABC True False
$VERSION $ABC
$VERSION $ABC
$VERSION $ABC"

# The README's blocks, each line with its result behind two blanks; psycopg and numpy are not here.
/tmp/venv/bin/python -c 'from importlib import metadata; print(metadata.metadata("cuckoofilter").get_payload())' > page.md
cat > page.py << 'TEXT'
import ast
import re

names, shown = {}, 0
for block in re.findall(r"^```python\n(.*?)^```", open("page.md").read(), re.M | re.S):
    if "psycopg" in block or "numpy" in block:
        continue
    for node in ast.parse(block).body:
        source = ast.get_source_segment(block, node)
        result = block.split("\n")[node.end_lineno - 1].partition("  # ")[2]
        if isinstance(node, ast.Expr) and result:
            got = repr(eval(source, names))
            assert got == result, f"{source}: got {got}, want {result}"
            shown += 1
        else:
            exec(source, names)
print(shown > 4)
TEXT
equal "wheel: its README's blocks run" "$(/tmp/venv/bin/python page.py 2>&1)" "True"

packages python3-numpy
equal "wheel: it takes arrays of numpy" "$(python3 -c '
import sys
sys.path.insert(0, next(__import__("glob").iglob("/tmp/venv/lib/python3*/site-packages")))
import numpy
from cuckoofilter import Filter
print(Filter.build(numpy.arange(5)).contains_many(numpy.array([4, 5])).tolist())' 2>&1)" "[True, False]"

# Debian's sqlite-utils and datasette find the wheel beside them, where they are there and know plugins.
plugin() # package module command argument...
{
	package=$1
	module=$2
	shift 2
	if packages "$package" > /dev/null && PYTHONPATH=$beside python3 -c "import $module" 2> /dev/null; then
		equal "wheel: $package has the functions" "$(PYTHONPATH=$beside "$@" 2>&1 | tr -d ' \n')" "[{\"f\":\"$ABC\"}]"
	else
		echo "skipped: the plugin of $package, which Debian does not have here"
	fi
}

beside=$(echo /tmp/venv/lib/python3*/site-packages)
query="SELECT hex(cuckoofilter_agg(value)) AS f FROM json_each('[\"a\", \"b\", \"c\"]')"
plugin sqlite-utils sqlite_utils.plugins sqlite-utils memory "$query"
plugin datasette datasette.plugins datasette --memory --get "/_memory.json?_shape=array&sql=$(echo "$query" | tr ' ' +)"
quietly /tmp/venv/bin/pip uninstall -y cuckoofilter
equal "wheel: nothing stays behind" "$(find /tmp/venv -name '*cuckoofilter*')" ""
