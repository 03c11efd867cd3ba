#!/bin/sh
# The extension in the sqlite3 shell: as built, as installed, as the one-file
# amalgamation, and linked into a program.
set -eu
cd "$(dirname "$0")/../.."

out=build/test/shell
mkdir -p "$out"
# shellcheck source=test/counts.sh
. test/counts.sh

# shellcheck source=test/sqlite/tour.sh
. test/sqlite/tour.sh

built=build/sqlite/cuckoofilter
bytes=$(sql "$built" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")
tour "$built"
same "by its file name" "$(sql "$built.so" 'SELECT 1')" 1
same "only the entry point is exported" \
	"$(nm -D --defined-only "$built.so" | awk '{print $3}')" sqlite3_cuckoofilter_init
echo "ok   as built"

make -s install-sqlite DESTDIR="$PWD/$out/root" SQLITE_DIR=/lib > "$out/install.log"
tour "$out/root/lib/cuckoofilter"
echo "ok   as installed"

for compiler in gcc clang; do
	mkdir -p "$out/$compiler"
	$compiler -shared -fPIC build/cuckoofilter.c -o "$out/$compiler/cuckoofilter.so"
	tour "$out/$compiler/cuckoofilter"
	same "only the entry point is exported" \
		"$(nm -D --defined-only "$out/$compiler/cuckoofilter.so" | awk '{print $3}')" sqlite3_cuckoofilter_init
done
echo "ok   the amalgamation"

# The program of the guide, sqlite/README.md.
# shellcheck disable=SC2016 # no command
sed -n '/^```c$/,/^```$/{/^```/!p}' sqlite/README.md > "$out/program.c"
cc -O2 -Wall -Wextra -Werror -DSQLITE_CORE -Isqlite "$out/program.c" build/cuckoofilter.c -lsqlite3 -o "$out/program"
same "linked in" "$("$out/program" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")" "$bytes"
echo "ok   linked into a program"

# The portable paths give the same bytes and answers.  Only a test build can be told to take them.
export CUCKOOFILTER_PORTABLE=1
tour build/test/portable/cuckoofilter
unset CUCKOOFILTER_PORTABLE
echo "ok   without the fast paths"

# A filter goes through a dump and a backup.
rm -f "$out/a.db" "$out/b.db"
sqlite3 "$out/a.db" ".load $built" "CREATE TABLE t AS SELECT cuckoofilter_agg(x) AS f FROM $numbers"
sqlite3 "$out/a.db" .dump | sqlite3 "$out/b.db"
same "dump" "$(sqlite3 "$out/b.db" 'SELECT hex(f) FROM t')" "$bytes"
sqlite3 "$out/a.db" ".backup $out/b.db"
same "backup" "$(sqlite3 "$out/b.db" 'SELECT hex(f) FROM t')" "$bytes"
echo "ok   dump and backup"

counts sqlite-shell
