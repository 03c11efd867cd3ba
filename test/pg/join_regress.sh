#!/bin/bash
# PostgreSQL's own regression suite with join filters wherever they are legal: the
# same results as without them, but for EXPLAIN; in modes on and verify, and on and
# verify again with each query run by a worker, and with nested loops only.  Then random
# joins, 10,000 of them.
#
#   test/pg/join_regress.sh [MODE...]     on verify on-parallel verify-parallel on-nested verify-nested random
#
# The suite comes with the source of the server's package (apt-get source), into
# build/join_regress.  SOURCE=directory names a source tree that is there already.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
: "${PG_CONFIG:=pg_config}"
[ $# != 0 ] || set -- on verify on-parallel verify-parallel on-nested verify-nested random

version=$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
passed=0
failed=0

verdict() # what problem
{
	if [ -z "$2" ]; then
		passed=$((passed + 1))
		echo "  ok $1"
	else
		failed=$((failed + 1))
		echo "  FAILED $1:"
		echo "$2" | head -n 30
	fi
}

# The source package, by lists of our own: most machines have none of sources.
fetch() # into directory
{
	apt=$1/apt
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	# shellcheck source=/dev/null
	echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" > "$apt/sources.list"
	options="-o Dir::Etc::sourcelist=$apt/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$apt/lists -o Dir::Cache=$apt/cache"
	# shellcheck disable=SC2086 # options are words
	(cd "$1" && apt-get $options update && apt-get $options source --download-only "postgresql-$version") > "$1/fetch.log" 2>&1 || {
		cat "$1/fetch.log"
		exit 1
	}
	mkdir -p "$1/source"
	tar xf "$1"/postgresql-*.orig.tar.* -C "$1/source" --strip-components=1 --wildcards '*/src/test/regress/*'
}

if [ -z "${SOURCE:-}" ]; then
	SOURCE=$root/build/join_regress/source
	mkdir -p "$root/build/join_regress"
	[ -d "$SOURCE" ] || fetch "$root/build/join_regress"
fi

# shellcheck source=test/pg/throwaway.sh
. test/pg/throwaway.sh
throwaway join
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
server=$PG_CONFIG # random joins stage it again
PG_CONFIG=$(PG_CONFIG="$PG_CONFIG" test/pg/stage.sh "$work/stage")
bindir=$($PG_CONFIG --bindir)
pgxs=$(dirname "$($PG_CONFIG --pgxs)")/../..
settings=$(PG_CONFIG="$PG_CONFIG" test/pg/staged.sh "$work/stage")
cp -R "$SOURCE/src/test/regress" "$work/suite"
gcc -shared -fPIC -w -O1 -I"$($PG_CONFIG --includedir-server)" -o "$work/suite/regress.so" "$work/suite/regress.c"
[ -z "$as_user" ] || chown -R postgres "$work"

# The suite in a mode of join_filter; its results are in $work/$2/results.
run_suite() # mode name settings
{
	mkdir -p "$work/$2/sql" "$work/$2/expected"
	cat > "$work/$2/conf" <<-CONF
		$settings
		session_preload_libraries = 'cuckoofilter_join'
		cuckoofilter.join_filter = $1
		cuckoofilter.join_filter_min_rows = 0
		cuckoofilter.join_filter_max_pass = 1
		jit = off
		fsync = off
		$3
	CONF
	[ -z "$as_user" ] || chown -R postgres "$work/$2"
	# files of the suite that fail do so without a filter too: what counts is whether they differ
	# shellcheck disable=SC2086 # a command and its arguments
	(cd "$work/suite" && $as_user "$pgxs/src/test/regress/pg_regress" --inputdir="$work/suite" --outputdir="$work/$2" --dlpath="$work/suite" \
		--bindir="$bindir" --temp-instance="$work/$2/cluster" --temp-config="$work/$2/conf" --max-connections=4 \
		--schedule="$work/suite/parallel_schedule" > "$work/$2.log" 2>&1) || true
}

# Results without the plans that they show, and the reasons below those that are no result of psql.
plain() # name
{
	mkdir -p "$work/$1/plain"
	for result in "$work/$1"/results/*.out; do
		awk '/^No Join Filter for / { next } /QUERY PLAN|^ *explain_[a-z_]+ *$/ { plan = 1 } !plan { print } /^\([0-9]+ rows?\)$/ { plan = 0 }' "$result" > "$work/$1/plain/$(basename "$result")"
	done
}

# A mode's results beside those of off under the same settings.
compare() # mode name settings
{
	off=off-${2#"$1"}
	if [ ! -d "$work/$off" ]; then
		run_suite off "$off" "$3"
		plain "$off"
	fi
	run_suite "$1" "$2" "$3"
	plain "$2"
	verdict "$2: as many results" "$(diff <(cd "$work/$off/plain" && ls) <(cd "$work/$2/plain" && ls))"
	for result in "$work/$off"/plain/*.out; do
		verdict "$2: $(basename "$result" .out)" "$(diff "$result" "$work/$2/plain/$(basename "$result")" 2>&1)"
	done
	filters=$(cat "$work/$2"/results/*.out | grep -c 'Custom Scan (Cuckoo ' || true)
	verdict "$2: $filters filters in its plans" "$([ "$filters" -gt 20 ] || echo "too few")"
	verdict "$2: no backend died" "$(grep -h 'terminated by signal\|PANIC' "$work/$2/log/postmaster.log")"
}

# What forces a worker on each query has been renamed in PostgreSQL 16.
forced=$([ "$version" -ge 16 ] && echo debug_parallel_query || echo force_parallel_mode)

# Nested loops wherever they are possible.
nested="enable_hashjoin = off
enable_mergejoin = off"

for mode in "$@"; do
	case $mode in
	on | verify) compare "$mode" "$mode" "" ;;
	*-parallel) compare "${mode%-parallel}" "$mode" "$forced = regress" ;;
	*-nested) compare "${mode%-nested}" "$mode" "$nested" ;;
	random)
		output=$(PG_CONFIG="$server" ROUNDS=${ROUNDS:-3340} test/pg/run.sh test/pg/t/032_join_random.pl 2>&1) || true
		echo "$output" | grep -v '^ok' || true
		verdict "random joins" "$(echo "$output" | tail -n 1 | grep -v ' 0 failed$')"
		;;
	esac
done

echo "join_regress: $passed passed, $failed failed"
[ "$failed" = 0 ]
