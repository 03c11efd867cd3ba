#!/bin/sh
# Runs test suites:  test/run.sh [lint|core|bench|sqlite|pg|long|soak|packages]...
#
# This file lists the suites of each group, test/run.py runs them and adds up their counts; what a suite is, is
# said there.  The Makefile has built what they need.
#
# All random suites take their seed from here: SEED=n is n for each of them, SEED=fresh draws one, and without
# either it is the same in each run, so that `make test` is deterministic.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/test
: "${SEED:=1}"
[ "$SEED" != fresh ] || SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
export SEED

suite() # [VARIABLE=value...] command argument...
{
	echo "$*"
}

# Python files that are suites begin with #!, what they share does not.
scripts() # file...
{
	for script in "$@"; do
		if head -n 1 "$script" | grep -q '^#!'; then
			suite /usr/bin/python3 "$script"
		fi
	done
}

lint()
{
	suite test/lint.sh
	suite test/layers.sh
	suite test/install_test.sh
	suite test/run_test.py
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
	suite test/pg/run.sh regress
	for script in test/pg/t/*.pl; do
		suite test/pg/run.sh "$script"
	done
	suite test/drivers/postgresql.sh
}

# The random suites, with rounds that `make test` has no time for.
long()
{
	for name in $(grep -l 'check_rounds' test/core/*.c | xargs -n 1 basename -s .c); do
		[ -x "build/test/core/$name" ] || continue
		suite ROUNDS=300 "build/test/core/$name"
		suite CUCKOOFILTER_PORTABLE=1 ROUNDS=100 "build/test/core/$name"
		suite ROUNDS=60 "build/test/asan/$name"
		[ ! -x "build/test/small/$name" ] || suite ROUNDS=150 "build/test/small/$name"
	done
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

[ $# != 0 ] || set -- lint core bench sqlite pg
list=build/test/suites-$(echo "$*" | tr ' ' -)
for group in "$@"; do
	"$group"
done > "$list"
exec /usr/bin/python3 test/run.py "build/test/log/$(echo "$*" | tr ' ' -)" "$list"
