#!/bin/sh
# The extension for Windows, under wine: the DLL in SQLite's shell, and the suites in C, which have SQLite and
# the extension in one program.  SQLite is compiled from its public sources (sqlite/package/source.sh).
set -eu
cd "$(dirname "$0")/../.."

cc=x86_64-w64-mingw32-gcc
for tool in "$cc" wine; do
	command -v "$tool" > /dev/null || { echo "skipped: Windows, without $tool (test/install.sh windows)"; exit 0; }
done
sources=$PWD/build/public/sqlite
if [ ! -f "$sources/shell.c" ]; then
	if [ "${INSTALL:-yes}" = no ] || ! sqlite/package/source.sh "$sources" > build/test/windows.log 2>&1; then
		echo "skipped: Windows, without SQLite's sources (sqlite/package/source.sh build/public/sqlite)"
		exit 0
	fi
fi

out=build/test/windows
mkdir -p "$out/tmp"
# shellcheck source=test/counts.sh
. test/counts.sh

# shellcheck source=test/sqlite/tour.sh
. test/sqlite/tour.sh

make -s windows
[ -f "$out/sqlite3.o" ] || $cc -O1 -DSQLITE_THREADSAFE=1 -I"$sources" -c "$sources/sqlite3.c" -o "$out/sqlite3.o"
[ -f "$out/sqlite3.exe" ] || $cc -O1 -I"$sources" "$sources/shell.c" "$out/sqlite3.o" -static -o "$out/sqlite3.exe"

# The shell of this machine says what the bytes are.
bytes=$(sql build/sqlite/cuckoofilter "SELECT hex(cuckoofilter_agg(x)) FROM $numbers")
export SQLITE3="test/wine.sh $out/sqlite3.exe"
tour build/windows/cuckoofilter
same "only the entry point is exported" \
	"$(x86_64-w64-mingw32-objdump -p build/windows/cuckoofilter.dll | sed -n 's/.*\[ *[0-9]*\] *\([a-z0-9_]*\)$/\1/p' | tr '\n' ' ')" \
	"sqlite3_cuckoofilter_init "
same "it needs Windows' own libraries only" \
	"$(x86_64-w64-mingw32-objdump -p build/windows/cuckoofilter.dll | sed -n 's/.*DLL Name: //p' | sort | tr '\n' ' ')" \
	"KERNEL32.dll msvcrt.dll "
rm -f "$out"/*.db
same "a filter table in a file" "$($SQLITE3 -batch "$out/a.db" ".load build/windows/cuckoofilter" \
	"CREATE VIRTUAL TABLE known USING cuckoofilter(fpr=0.001, capacity=100000);
	INSERT INTO known(item) SELECT x FROM $numbers;
	SELECT count(*) FROM known WHERE item IN (1, 2, 10000, -5)" 2>&1 | tr -d '\r')" 3
same "the same file here" "$(sqlite3 -batch "$out/a.db" ".load build/sqlite/cuckoofilter" \
	"SELECT hex(cuckoofilter_export('known')) = (SELECT hex(cuckoofilter_agg(x, 0.001, 100000)) FROM $numbers)" 2>&1)" 1
echo "ok   the DLL"

# The suites in C.  They count themselves.
for suite in hostile handles memory table_faults table_hostile; do
	kept=
	[ $suite != handles ] || kept="-DCKFS_MAX_HANDLE_BYTES=4000 -DCKFS_MAX_NAMES=100"
	[ $suite != memory ] || kept="-DCKFS_MAX_HANDLE_BYTES=1 -DCKFS_MAX_NAMES=20"
	# shellcheck disable=SC2086 # flags are words
	$cc -std=c11 -O1 -DSQLITE_CORE -D__USE_MINGW_ANSI_STDIO=1 $kept -include test/core/windows/posix.h -Itest/core/windows \
		-Ibuild/windows/include -Isqlite -Icore "test/sqlite/$suite.c" build/cuckoofilter.c "$out/sqlite3.o" -static -o "$out/$suite.exe"
	TMPDIR=$PWD/$out/tmp test/wine.sh "$out/$suite.exe" > "$out/$suite.log" 2>&1 || :
	count=$(tail -n 1 "$out/$suite.log" | tr -d '\r' | sed -n 's/.*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	if [ -z "$count" ]; then
		same "$suite ends with its count" "$(tail -n 3 "$out/$suite.log")" "a count"
	else
		passed=$((passed + ${count% *}))
		failed=$((failed + ${count#* }))
		[ "${count#* }" = 0 ] || grep -a FAIL "$out/$suite.log" | head -n 20
		echo "ok   $suite: $count"
	fi
done

counts sqlite-windows
