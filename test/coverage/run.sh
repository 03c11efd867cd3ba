#!/bin/sh
# Which lines and branches the suites reach:  test/coverage/run.sh
#
# A copy of the tree is built with gcov's counters and runs the suites of the
# core (with its fast paths and without), SQLite and PostgreSQL there.  The
# result is in build/coverage: coverage.info, html, and the suites' logs.
# What PostgreSQL's build reaches of the core is left out: its other flags
# number other lines.
set -eu
cd "$(dirname "$0")/../.."
make -s install-deps
test/install.sh coverage
out=$PWD/build/coverage
rm -rf "$out"
mkdir -p "$out"

# Where PostgreSQL's own user can write its counters, too.
work=$(mktemp -d -t cuckoofilter-coverage.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
for entry in *; do
	[ "$entry" = build ] || cp -R "$entry" "$work"
done
cd "$work"
: > suites

suite() # [VARIABLE=value...] command argument...
{
	log=$out/$(echo "$*" | tr -c 'A-Za-z0-9\n' -).log
	env "$@" > "$log" 2>&1 || echo "FAILED: $*, see $log" | tee -a suites
	tail -n 1 "$log"
}

# CC for what is linked, SAN_CC and SANITIZE for what else has sanitizers.
# Not inlined, so that a branch counts once, and not in each place.
counting="gcc --coverage -fprofile-update=atomic -Dalways_inline=unused"
make -s -j2 test-build pg CC="$counting" OPT=-O0 COPT=-O0 SAN_CC="$counting" \
	SANITIZE="-std=c11 -O0 -Icore" > "$out/make.log" 2>&1 || { cat "$out/make.log"; exit 1; }

for source in test/core/*.c; do
	program=build/test/core/$(basename "$source" .c)
	[ -x "$program" ] || continue
	suite "$program"
	suite CUCKOOFILTER_PORTABLE=1 "$program"
done
for script in test/sqlite/*.py; do
	! head -n 1 "$script" | grep -q '^#!' || suite /usr/bin/python3 "$script"
done
suite build/test/sqlite/hostile
suite build/test/sqlite/memory
suite build/test/sqlite/handles
suite build/test/sqlite/library
suite build/test/sqlite/table_faults
suite build/test/sqlite/table_hostile
chmod -R a+rwX .
suite test/pg/run.sh

lcov()
{
	command lcov -q --rc lcov_branch_coverage=1 "$@"
}

{
	lcov -c -b . -d build/core -d build/sqlite -d build/test -o all.info
	lcov -e all.info "$work/core/*" "$work/sqlite/*" -o hosts.info
	lcov -c -b . -d build/pg/pg -o all.info
	lcov -e all.info "$work/pg/*" -o pg.info
	lcov -a hosts.info -a pg.info -o "$out/coverage.info"
	genhtml -q --branch-coverage --prefix "$work" -o "$out/html" "$out/coverage.info"
} > "$out/lcov.log" 2>&1 || { cat "$out/lcov.log"; exit 1; }

cat suites
test/coverage/report.py "$out/coverage.info" "$(grep -c . suites || true)"
