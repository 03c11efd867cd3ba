#!/bin/sh
# What a question to a large stored filter costs in PostgreSQL: cold, warm, and in a scan.
#   sh test/bench/sql/slices.sh             5 minutes, into test/bench/sql/results/SLICES.md
#   QUICK=1 sh test/bench/sql/slices.sh     a twentieth of the items, into build/bench/sql/
# BUSY is a sentence about the machine for the page.
# A throw-away cluster; PG_CONFIG names the server.
set -eu

cd "$(dirname "$0")/../../.."
: "${PG_CONFIG:=pg_config}"
case "${QUICK:-0}" in
	0 | '')
		results=test/bench/sql/results
		items=100000000 rows=5000000 seconds=10
		;;
	*)
		results=build/bench/sql
		items=5000000 rows=250000 seconds=2
		;;
esac
stage=$PWD/build/bench/stage
page=$results/SLICES.md
PATH=$($PG_CONFIG --bindir):$PATH

# ------------------------------------------------------------ outside: the cluster

if [ "${1:-}" != inside ]; then
	test/install.sh bench-sql pg pgdev
	mkdir -p build "$results"
	make -s install DESTDIR="$stage" > build/bench-pg.log 2>&1 || { cat build/bench-pg.log >&2; exit 1; }
	version=$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	# shellcheck disable=SC2046 # options are words
	exec pg_virtualenv -v "$version" -t $(test/pg/staged.sh "$stage" -o) -o shared_buffers=1GB \
		-o max_wal_size=8GB -o fsync=off -o autovacuum=off -o jit=off -o max_parallel_workers_per_gather=0 \
		"$0" inside
fi

# ------------------------------------------------------------ inside: the figures

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sql() # statement...
{
	for statement in "$@"; do
		printf '%s;\n' "$statement"
	done | psql -XqAt -v ON_ERROR_STOP=1
}

cluster()
{
	pg_lsclusters -h | sed 's/^\([^ ]*\) *\([^ ]*\).*/\1 \2/'
}

restart() # directory
{
	test/pg/staged.sh "$1" | sed 's/^/ALTER SYSTEM SET /; s/$/;/' | psql -XqAt -v ON_ERROR_STOP=1
	# shellcheck disable=SC2046 # version and name
	pg_ctlcluster $(cluster) restart -m fast > /dev/null
}

# The median of numbers, and the least: on a busy machine most have waited for others.
median()
{
	sort -n | awk '{ v[NR] = $1 } END { printf "%s (least %s)\n", v[int((NR + 1) / 2)], v[1] }'
}

# Milliseconds of questions in a new session after a restart: of the first one to any filter, which
# loads the library, of the first one to the large filter, and the median of ten more.
cold()
{
	{
		printf '%s\n' '\timing on' 'SELECT f @> 1::bigint FROM little;'
		for n in 1 2 3 4 5 6 7 8 9 10 11; do
			echo "SELECT f @> $((n * 7919 + $1))::bigint FROM large;"
		done
	} | psql -Xq | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' > "$work/times"
	sed -n 1,2p "$work/times"
	sed 1,2d "$work/times" | median
}

# pgbench of a statement: tps, and milliseconds of one.
bench() # clients statement
{
	printf '\\set id random(1, %d)\n%s;\n' $((2 * items)) "$2" > "$work/script.sql"
	pgbench -n -M prepared -c "$1" -j "$1" -T "$seconds" -f "$work/script.sql" 2> /dev/null |
		awk '/^latency average/ { ms = $4 } /^tps/ { tps = $3 } END { printf "%.0f | %.0f", 1000 * ms, tps }'
}

# Seconds of processor time of a statement, the least of three.
processor() # statement
{
	for round in 1 2 3; do
		printf '%s;\n' "SET client_min_messages = log" "SET log_statement_stats = on" "$1" | psql -Xq 2>&1 |
			awk '/ s elapsed/ { n = $2 + $5 } END { print n }' # "! 0.1 s user, 0.2 s system, 0.3 s elapsed"
	done | sort -n | head -n 1
}

# The same of 20,000 statements, each executed by itself, about an item $1.
loop() # expression
{
	processor "DO \$\$BEGIN FOR i IN 1 .. 20000 LOOP EXECUTE 'SELECT $1 FROM large' USING (i * 7919::bigint % (2 * $items)); END LOOP; END\$\$"
}

scans()
{
	for n in $((rows / 1000)) $((rows / 100)) $((rows / 10)) "$rows"; do
		processor "SELECT count(*) FROM log WHERE id <= $n AND (SELECT f FROM large) @> id"
	done
}

echo "== a filter of $items items" >&2
sql 'CREATE EXTENSION cuckoofilter' \
	"CREATE TABLE large AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, $items) g" \
	'CREATE TABLE little AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, 1000) g' \
	"CREATE TABLE log AS SELECT g::bigint * 7 % (2 * $items) AS key, g::bigint AS id FROM generate_series(1, $rows) g" \
	'VACUUM ANALYZE' 'CHECKPOINT'
bytes=$(sql 'SELECT octet_length(f::bytea) FROM large')

echo "== cold" >&2
for round in 1 2 3 4 5 6 7; do
	restart "$stage"
	cold "$((round * 104729))" > "$work/cold.$round"
done
first=$(for f in "$work"/cold.*; do sed -n 1p "$f"; done | median)
second=$(for f in "$work"/cold.*; do sed -n 2p "$f"; done | median)
next=$(for f in "$work"/cold.*; do sed -n 3p "$f"; done | median)

echo "== warm" >&2
sql 'SELECT count(f @> g) FROM large, generate_series(1, 100000) g' > /dev/null # all blocks into shared buffers
# shellcheck disable=SC2016 # parameters of a statement
each=$(echo "$(loop 'f @> $1') $(loop '$1 > 0')" | awk '{ printf "%.1f", ($1 - $2) * 1e6 / 20000 }')
for statement in 'SELECT :id > 0 FROM large' 'SELECT f @> :id::bigint FROM large' \
	'SELECT cuckoofilter_copies(f, :id::bigint) FROM large' \
	'SELECT cuckoofilter_contains_any(f, :id::bigint, :id::bigint + 1, :id::bigint + 2) FROM large'; do
	for clients in 1 8; do
		echo "| \`$statement\` | $clients | $(bench "$clients" "$statement") |"
	done
done > "$work/warm"

echo "== scans" >&2
scans > "$work/scans"

{
	cat << EOF
# Questions to a large stored filter

Written by \`make bench-slices\`: PostgreSQL $(sql 'SHOW server_version' | sed 's/ .*//'), one filter of $items items, $bytes bytes, in its TOAST table; $(nproc) cores. ${BUSY:-}

**Cold**: a new session of a server that was restarted, so that shared buffers are empty; the operating system may still have the blocks. Medians of
7 restarts. The first question to it, for which the session reads from the catalogs what it needs to know of the table, its TOAST table and their
indexes: $second ms. Ten more, whose blocks are as cold: $next ms each. (The statement before all these, which asks a little filter and so loads the library, took $first ms.)

**Warm**: all in shared buffers, \`pgbench -M prepared\`, random items. The first line is what a statement costs by itself. With more clients than cores a
statement waits for the others: look at statements a second. In processor time, over 20,000 statements in a loop, the question \`f @> item\` takes
$each us, without what its statement costs.

| statement | clients | us | statements a second |
|---|---|---|---|
$(cat "$work/warm")

**Scans** that ask for each row, \`WHERE (SELECT f FROM large) @> id\`, seconds of processor time, the least of 3. At first each row costs two slices; where
these have cost as much as the whole, it is fetched.

| rows | seconds |
|---|---|
EOF
	for n in $((rows / 1000)) $((rows / 100)) $((rows / 10)) "$rows"; do
		echo "$n"
	done | paste - "$work/scans" | awk '{ printf "| %d | %.3f |\n", $1, $2 }'
} > "$page.tmp"
mv "$page.tmp" "$page"
echo "Written: $page"
