#!/bin/sh
# Join filters in PostgreSQL: queries off, on, in auto and by hand; plots; planning.
#   sh test/bench/join/run.sh [PART...]  half an hour, into test/bench/join/results/
#   QUICK=1 sh test/bench/join/run.sh    a tenth of the rows, into build/bench/join/
#   SCALE=0.05 QUICK=1 sh test/bench/join/run.sh warehouse targets    a minute
# Parts: targets, blocks, days, keys, ranges, warehouse, figures, curves, planning, wrong.  ROUNDS=5 runs each query so often;
# after MINUTES=20 of a part none is run again.  BUSY is a sentence about the machine for the page.  A
# throw-away cluster for each part; PG_CONFIG names the server.
set -eu

cd "$(dirname "$0")/../../.."
bench=test/bench/join
case "${QUICK:-0}" in
	0 | '') results=$bench/results ;;
	*) results=build/bench/join ;;
esac
[ $# -gt 0 ] || set -- targets blocks days keys ranges warehouse figures curves planning wrong

test/install.sh bench pg pgdev valgrind
mkdir -p build "$results"
make -s install DESTDIR="$PWD/build/bench/stage" > build/bench-pg.log 2>&1 ||
	{ cat build/bench-pg.log >&2; exit 1; }

version=$(pg_config --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
for part in "$@"; do
	echo "== $part" >&2
	case $part in
		planning | wrong)
			/usr/bin/python3 "$bench/$part.py" build/bench/stage "$results"
			continue
			;;
	esac
	# shellcheck disable=SC2046 # options are words
	pg_virtualenv -v "$version" -t $(test/pg/staged.sh "$PWD/build/bench/stage" -o) \
		-o shared_buffers=1GB -o max_wal_size=8GB -o fsync=off -o autovacuum=off -o jit=off \
		/usr/bin/python3 "$bench/$part.py" "$results"
done

/usr/bin/python3 $bench/report.py "$results" > "$results/RESULTS.md.tmp"
mv "$results/RESULTS.md.tmp" "$results/RESULTS.md"
[ ! -f "$results/figures.csv" ] || /usr/bin/python3 $bench/picture.py "$results"
echo "Written: $results/RESULTS.md"
