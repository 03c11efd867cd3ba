#!/bin/sh
# Runs test suites:  test/run.sh [lint|scripts|core|bench|bindings|sqlite|pg|long|soak|packages]...
#
# TIER=short, which `make test` sets, leaves out what lines that begin with `more` list: second runs of a suite in
# another build, and suites that cost more than they find.  Without it all of a group run, as in `make test-all`.
#
# This file lists the suites of each group, test/run.py runs them and adds up their counts; what a suite is, is
# said there.  The Makefile has built what they need.
#
# All random suites take their seed from here: SEED=n is n for each of them, SEED=fresh draws one, and without
# either it is the same in each run, so that `make test` is deterministic.  ROUNDS=n: n per cent of the rounds
# that are usual here.
set -eu
unset CDPATH GREP_OPTIONS POSIXLY_CORRECT MAKEFLAGS MAKELEVEL MFLAGS
cd "$(dirname "$0")/.."
mkdir -p build/test
: "${SEED:=2}"
[ "$SEED" != fresh ] || SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
for number in "SEED=$SEED" "ROUNDS=${ROUNDS:-100}" "JOBS=${JOBS:-1}"; do
	case ${number#*=} in
		'' | *[!0-9]* | ????????????????????*)
			echo "test/run.sh: ${number%%=*} is a number, not \"${number#*=}\"" >&2
			exit 2
			;;
	esac
done
: "${TIER:=all}"
export TIER SEED PYTHONHASHSEED=0 PERL_HASH_SEED=0

suite() # [VARIABLE=value...] command argument...
{
	echo "$*"
}

# A suite of TIER=all only.
more() # as suite
{
	[ "$TIER" = short ] || suite "$@"
}

# ROUNDS for a suite: so many per cent of its own, scaled by the caller's.
share() # per cent
{
	rounds=$((${ROUNDS:-100} * $1 / 100))
	echo "ROUNDS=$((rounds > 0 ? rounds : 1))"
}

# The same, where TIER=short has other rounds.
share_of() # per cent of the short tier, of all
{
	share "$([ "$TIER" = short ] && echo "$1" || echo "$2")"
}

# A folder in memory, if there is room: files need not be synchronized with a disk there, and clusters are made quicker.
memory() # kB that must be free
{
	free=$({ df -k /dev/shm | awk 'NR == 2 { print $4 }'; sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; } 2> /dev/null | sort -n | head -n 1)
	if [ "${free:-0}" -gt "$1" ] && [ -w /dev/shm ]; then
		echo "TMPDIR=/dev/shm"
	fi
}

# Python files that are suites begin with #!, what they share does not.
is_script() # file
{
	head -n 1 "$1" | grep -q '^#!'
}

# What tools say of the sources, and the scripts that the other suites rely on.
lint()
{
	suite test/lint.sh
	suite test/install_test.sh
	suite test/make_test.sh
	suite test/run_test.py
}

scripts()
{
	suite test/layers.sh
}

# A suite of the core as it ships, with the portable paths, with sanitizers, and with low thresholds.
core_suite() # name share-of-short share share share share
{
	[ -x "build/test/core/$1" ] || return 0
	suite "$(share_of "$2" "$3")" "build/test/core/$1"
	more CUCKOOFILTER_PORTABLE=1 "$(share "$4")" "build/test/core/$1"
	more "$(share "$5")" "build/test/asan/$1"
	[ ! -x "build/test/small/$1" ] || more "$(share "$6")" "build/test/small/$1"
}

core()
{
	for program in build/test/core/*; do
		name=$(basename "$program")
		case $name in
			lockstep) core_suite lockstep 10 50 50 25 50 ;; # from 50 on, all shapes
			*) [ ! -f "test/core/$name.c" ] || core_suite "$name" 15 30 15 6 15 ;;
		esac
	done
	for script in test/core/*.py test/core/format/*.py; do
		case $script in
			*/work_test.py) more "$(share 15)" /usr/bin/python3 "$script" ;; # compiles the core anew
			*) ! is_script "$script" || suite "$(share_of 20 100)" /usr/bin/python3 "$script" ;;
		esac
	done
}

bench()
{
	more build/test/bench/test_reference
}

# The engine for programs: C, Python, JavaScript.
bindings()
{
	suite build/test/bindings/program
	more "$(share 50)" build/test/bindings/asan/program
	suite test/bindings/library.sh
	suite "$(share 50)" test/bindings/python.sh
	for name in vectors functions large chromium; do
		more test/bindings/javascript.sh "$name"
	done
	more "$(share 100)" test/bindings/javascript.sh hostile
}

sqlite()
{
	tmp=$(memory 500000)
	for script in test/sqlite/*.py; do
		is_script "$script" || continue
		build=
		which='suite'
		case $TIER:$script in
			# in the build that asserts the order of SQLite's calls
			all:*/table_names.py | all:*/table_reentry.py | all:*/table_state.py) build=CUCKOOFILTER_EXTENSION=build/test/sqlite/cuckoofilter ;;
			short:*/table_loaded.py) build=CUCKOOFILTER_LOADED=build/test/sqlite/plain/loaded ;;
			*/table_authorizer.py | */table_work.py | */orm.py | */programs.py) which='more' ;;
		esac
		$which "$tmp" "$(share_of 15 30)" "$build" /usr/bin/python3 "$script"
	done
	more "$tmp" "$(share 15)" CUCKOOFILTER_EXTENSION=build/test/sqlite/cuckoofilter /usr/bin/python3 test/sqlite/table_model.py
	more test/sqlite/shell.sh
	more "$(share 2)" test/sqlite/windows.sh
	more test/sqlite/wasm.sh
	more test/drivers/better_sqlite3.sh
	[ "$TIER" = all ] || suite build/test/sqlite/plain/hostile
	more build/test/sqlite/hostile
	more "$(share 20)" build/test/sqlite/memory
	more build/test/sqlite/handles
	suite "$tmp" build/test/sqlite/library
	more "$tmp" "$(share 20)" build/test/sqlite/table_faults
	more "$tmp" "$(share 20)" build/test/sqlite/table_hostile
	[ "$TIER" = all ] || suite build/test/sqlite/plain/table_shared
	more build/test/sqlite/table_shared
}

pg()
{
	pgtmp=$(memory 4000000)
	more test/drivers/postgresql.sh # npm may compile for minutes
	suite "$pgtmp" test/pg/run.sh regress
	for script in test/pg/t/*.pl; do
		case $script in
			*/032_* | */036_*) more "$pgtmp" "$(share 10)" test/pg/run.sh "$script" ;;
			*/005_* | */006_* | */015_* | */019_* | */038_* | */046_* | */049_* | */052_* | */057_* | */060_* | */064_* | */069_*) more "$pgtmp" "$(share 25)" test/pg/run.sh "$script" ;;
			*) suite "$pgtmp" "$(share 25)" test/pg/run.sh "$script" ;; # with fewer rounds, too few cases for some seeds
		esac
	done
}

# The random suites with rounds that `make test` has no time for, and every fault.
# shellcheck disable=SC2013 # names without spaces
long()
{
	tmp=$(memory 500000)
	for source in $(grep -l check_rounds test/core/*.c); do
		core_suite "$(basename "$source" .c)" 400 400 100 50 200
	done
	for script in test/core/*_test.py test/core/format/*_test.py; do
		suite "$(share 100)" /usr/bin/python3 "$script"
	done
	for script in $(grep -lE "^from suite import .*(PERCENT|rounds)" test/sqlite/*.py); do
		suite "$tmp" "$(share 300)" /usr/bin/python3 "$script"
	done
	for program in handles hostile memory table_hostile table_faults; do
		suite "$tmp" "$(share 100)" "build/test/sqlite/$program"
	done
	for script in $(grep -lE '\b(seed|rounds)\(' test/pg/t/*.pl); do
		case $script in
			*/032_join_random.pl) suite "$(share 100)" test/pg/run.sh "$script" ;;
			*) suite "$(share 300)" test/pg/run.sh "$script" ;;
		esac
	done
}

# Longer rounds, for test/soak/run.sh.
soak()
{
	for script in test/soak/postgresql_*.pl; do
		suite test/pg/run.sh "$script"
	done
	suite "$(memory 500000)" "$(share 200)" /usr/bin/python3 test/sqlite/table_model.py
}

# What `make dist` writes.
packages()
{
	suite test/packages.sh
}

# The suites of the groups.
suites() # group...
{
	for group in "$@"; do
		case $group in
			lint | scripts | core | bench | bindings | sqlite | pg | long | soak | packages) "$group" ;;
			*)
				echo "test/run.sh: no group \"$group\"; test/README.md says how to run one suite" >&2
				exit 2
				;;
		esac
	done
}

# The longest suites start first, so that none runs alone at the end.
longest='/(postgresql\.sh|(00[56]|019|03[237]|049|05[12678]|06[034])_.*|table(_state)?\.py|(read|writ)er_test\.py|lockstep|layers\.sh|asan/.*|sqlite/(memory|table_.*))$'
whole=
[ $# != 0 ] || {
	whole=yes
	set -- pg sqlite core bindings bench scripts
}
groups=$(echo "$*" | tr ' ' -)
[ "$TIER" = all ] || groups=$groups-$TIER
list=build/test/suites-$groups
suites "$@" > "$list.all"
{ grep -E "$longest" "$list.all" || true; grep -vE "$longest" "$list.all" || true; } > "$list"
rm "$list.all"
[ -z "${LIST:-}" ] || exit 0 # LIST=yes only writes the list
export CUCKOOFILTER_ONCE="$PWD/build/test/pg/once"
rm -rf "$CUCKOOFILTER_ONCE"
mkdir -p "$CUCKOOFILTER_ONCE"
if [ "$TIER$whole" = shortyes ]; then
	suites=$(TIER=all; suites "$@" | wc -l)
	export REST="make test-all has $suites suites, $((suites - $(wc -l < "$list"))) more: sanitizers, portable paths, low thresholds, drivers, ORMs, JavaScript, wine"
fi
exec /usr/bin/python3 test/run.py "build/test/log/$groups" "$list"
