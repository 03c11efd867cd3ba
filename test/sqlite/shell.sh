#!/bin/sh
# The extension in the sqlite3 shell: as built, as installed, as the one-file
# amalgamation, and linked into a program.
set -eu
cd "$(dirname "$0")/../.."

out=build/test/shell
mkdir -p "$out"
passed=0
failed=0

check() # what got want
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED: %s: got "%s", want "%s"\n' "$1" "$2" "$3"
	fi
}

sql() # extension statement...
{
	extension=$1
	shift
	sqlite3 -batch -noheader :memory: ".load $extension" "$@" 2>&1 || true
}

numbers="(WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 10000)
	SELECT x FROM s)"
one_item="cuckoofilter_contains(cuckoofilter_add(cuckoofilter_create(9), 'a'), 'a')"
handle="(SELECT cuckoofilter_open(cuckoofilter_agg(x)) FROM $numbers)"
sentence="cuckoofilter must be a BLOB or come from cuckoofilter_open, not TEXT"

# What every way to build it must answer.
tour() # extension
{
	check "$1: version" "$(sql "$1" 'SELECT cuckoofilter_version()')" \
		"$(sed -n 's/^#define CKF_VERSION "\(.*\)"/\1/p' core/cuckoofilter.h)"
	check "$1: contains" "$(sql "$1" "SELECT $one_item")" 1
	check "$1: aggregate" "$(sql "$1" "SELECT cuckoofilter_count(cuckoofilter_agg(x)) FROM $numbers")" 10000
	check "$1: bytes" "$(sql "$1" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")" "$bytes"
	check "$1: handle" "$(sql "$1" "SELECT sum(cuckoofilter_contains($handle, x)) FROM $numbers")" 10000
	check "$1: error" "$(sql "$1" "SELECT cuckoofilter_count('a')" | grep -o -m 1 "$sentence")" "$sentence"
}

built=build/sqlite/cuckoofilter
bytes=$(sql "$built" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")
tour "$built"
check "by its file name" "$(sql "$built.so" 'SELECT 1')" 1
check "only the entry point is exported" \
	"$(nm -D --defined-only "$built.so" | awk '{print $3}')" sqlite3_cuckoofilter_init
echo "ok   as built"

make -s install-sqlite DESTDIR="$PWD/$out/root" SQLITE_DIR=/lib > "$out/install.log"
tour "$out/root/lib/cuckoofilter"
echo "ok   as installed"

for compiler in gcc clang; do
	mkdir -p "$out/$compiler"
	$compiler -shared -fPIC build/cuckoofilter.c -o "$out/$compiler/cuckoofilter.so"
	tour "$out/$compiler/cuckoofilter"
	check "only the entry point is exported" \
		"$(nm -D --defined-only "$out/$compiler/cuckoofilter.so" | awk '{print $3}')" sqlite3_cuckoofilter_init
done
echo "ok   the amalgamation"

# The program of the guide, sqlite/README.md.
# shellcheck disable=SC2016 # no command
sed -n '/^```c$/,/^```$/{/^```/!p}' sqlite/README.md > "$out/program.c"
cc -O2 -Wall -Wextra -Werror -DSQLITE_CORE -Isqlite "$out/program.c" build/cuckoofilter.c -lsqlite3 -o "$out/program"
check "linked in" "$("$out/program" "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")" "$bytes"
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
check "dump" "$(sqlite3 "$out/b.db" 'SELECT hex(f) FROM t')" "$bytes"
sqlite3 "$out/a.db" ".backup $out/b.db"
check "backup" "$(sqlite3 "$out/b.db" 'SELECT hex(f) FROM t')" "$bytes"
echo "ok   dump and backup"

echo "sqlite-shell: $passed passed, $failed failed"
[ "$failed" = 0 ]
