#!/bin/sh
# The wheel, in an environment of its own and without any index; its README's example.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages python3-venv
python3 -m venv /tmp/venv
quietly /tmp/venv/bin/pip install --no-index /packages/sqlite_cuckoofilter-*.whl
cd /tmp

cat > use.py << 'TEXT'
import sqlite3
import sys
from importlib import metadata

import sqlite_cuckoofilter

assert metadata.version("sqlite-cuckoofilter") == sys.argv[1]
assert {"LICENSE", "LICENSE.xxhash"} <= {file.name for file in metadata.files("sqlite-cuckoofilter")}
conn = sqlite3.connect(":memory:")
conn.enable_load_extension(True)
sqlite_cuckoofilter.load(conn)
other = sqlite3.connect(":memory:")
other.enable_load_extension(True)
other.load_extension(sqlite_cuckoofilter.loadable_path())
for each in conn, other:
    print(*each.execute("SELECT cuckoofilter_version(), hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))").fetchone())
TEXT
equal "wheel: load and loadable_path give the extension" "$(/tmp/venv/bin/python use.py "$VERSION" 2>&1)" "$VERSION $ABC
$VERSION $ABC"

# shellcheck disable=SC2016 # no command
/tmp/venv/bin/python -c 'from importlib import metadata; print(metadata.metadata("sqlite-cuckoofilter").get_payload())' |
	sed -n '/^```python/,/^```/{/^```/!p}' > example.py
sed -i 's/^\(conn.execute.*fetchone()\).*/print(\1)/' example.py
equal "wheel: its README's example runs" "$(/tmp/venv/bin/python example.py 2>&1)" "(1,)"
quietly /tmp/venv/bin/pip uninstall -y sqlite-cuckoofilter
equal "wheel: nothing stays behind" "$(find /tmp/venv -name '*cuckoofilter*')" ""
