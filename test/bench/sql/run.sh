#!/bin/sh
# Our functions in SQL beside what a user would otherwise write or install:
# CSV, SVG, RESULTS.md.  PostgreSQL on a throw-away cluster, SQLite on a file.
#   sh test/bench/sql/run.sh             about 20 minutes, into test/bench/sql/results/
#   QUICK=1 sh test/bench/sql/run.sh     about 2 minutes, into build/bench/sql/
set -eu

cd "$(dirname "$0")/../../.."
bench=test/bench/sql
case "${QUICK:-0}" in
	0 | '') results=$bench/results ;;
	*) results=build/bench/sql ;;
esac

test/install.sh bench bench-sql pg pgdev
make -s sqlite
make -s install DESTDIR="$PWD/build/bench/stage" > build/bench-pg.log 2>&1 ||
	{ cat build/bench-pg.log >&2; exit 1; }
mkdir -p "$results"

version=$(pg_config --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
on_cluster() # script
{
	# shellcheck disable=SC2046 # options are words
	pg_virtualenv -v "$version" -t $(test/pg/staged.sh "$PWD/build/bench/stage" -o) \
		-o shared_buffers=1GB -o max_wal_size=8GB -o fsync=off -o autovacuum=off \
		/usr/bin/python3 "$bench/$1" "$results"
}

echo "== SQLite" >&2
/usr/bin/python3 $bench/sqlite.py build/sqlite/cuckoofilter.so "$results"

echo "== PostgreSQL" >&2
on_cluster postgresql.py

/usr/bin/python3 $bench/report.py "$results" > "$results/RESULTS.md.tmp"
mv "$results/RESULTS.md.tmp" "$results/RESULTS.md"
gnuplot -e "dir = '$results'" test/bench/plot/style.gp test/bench/plot/sql.gp
echo "Written: $results/RESULTS.md"
