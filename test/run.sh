#!/bin/sh
# Runs test suites and adds up their counts:  test/run.sh [lint|core|bench|sqlite|pg|soak|packages]...
#
# A suite is a command whose last line is "NAME: N passed, M failed" and whose
# exit status is 0 when nothing failed.  What it says after "skipped: ", a line for each
# thing that this machine lacks, is told again at the end; all of it may be skipped.
# The Makefile has built what they need.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/test

total_passed=0
total_failed=0
summary=
skipped=

suite() # [VARIABLE=value...] command argument...
{
	echo
	echo "==== $*"
	started=$(date +%s)
	{
		status=0
		env "$@" || status=$?
		echo "$status" > build/test/status
	} 2>&1 | tee build/test/log
	count=$(tail -n 1 build/test/log | sed -n 's/^.*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p; s/^skipped: .*/0 0/p')
	passed=${count% *}
	failed=${count#* }
	if [ -z "$count" ]; then
		echo "FAILED: the suite ended without its count"
		passed=0
		failed=1
	elif [ "$failed" = 0 ] && [ "$(cat build/test/status)" != 0 ]; then
		echo "FAILED: exit status $(cat build/test/status)"
		failed=1
	fi
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	seconds=$(($(date +%s) - started))
	summary="$summary$(printf '%8d passed %5d failed %5d s   %s' "$passed" "$failed" "$seconds" "$*")
"
	skipped="$skipped$(sed -n 's/^\(# \)*skipped: /skipped: /p' build/test/log)
"
}

# Python files that are suites begin with #!, what they share does not.
scripts() # file...
{
	for script in "$@"; do
		if [ -f "$script" ] && head -n 1 "$script" | grep -q '^#!'; then
			suite /usr/bin/python3 "$script"
		fi
	done
}

lint()
{
	suite test/lint.sh
	suite test/layers.sh
	suite test/install_test.sh
}

core()
{
	for program in build/test/core/*; do
		name=$(basename "$program")
		[ -f "test/core/$name.c" ] || continue
		suite "build/test/core/$name"
		suite CUCKOOFILTER_PORTABLE=1 ROUNDS=50 "build/test/core/$name"
		suite ROUNDS=20 "build/test/asan/$name"
		[ ! -x "build/test/small/$name" ] || suite ROUNDS=50 "build/test/small/$name"
	done
	scripts test/core/*.py
}

bench()
{
	suite build/test/bench/test_reference
}

sqlite()
{
	scripts test/sqlite/*.py
	suite test/sqlite/shell.sh
	suite test/drivers/better_sqlite3.sh
	suite build/test/sqlite/hostile
	suite build/test/sqlite/memory
	suite build/test/sqlite/handles
	suite build/test/sqlite/library
	suite build/test/sqlite/table_faults
	suite build/test/sqlite/table_hostile
}

pg()
{
	suite test/pg/run.sh
	test/drivers/npm.sh
	suite test/pg/run.sh test/drivers/postgresql.pl
}

# Longer rounds, for test/soak/run.sh.
soak()
{
	rounds=${ROUNDS:-100}
	for script in test/soak/postgresql_*.pl; do
		suite test/pg/run.sh "$script"
	done
	suite ROUNDS=$((rounds * 2)) test/soak/sqlite_kill.py
	suite test/soak/sqlite_load.py
}

# What `make dist` writes.
packages()
{
	suite test/packages.sh
}

if [ $# = 0 ]; then
	set -- lint core bench sqlite
	[ -x test/pg/run.sh ] && set -- "$@" pg
fi
for group in "$@"; do
	"$group"
done

echo
printf '%s' "$summary"
printf '%s' "$skipped" | sed '/^$/d' | sort -u
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" = 0 ]
