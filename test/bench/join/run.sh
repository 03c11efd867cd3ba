#!/bin/sh
# Join filters in PostgreSQL: queries without, with, and where they are expected to pay.
#   sh test/bench/join/run.sh            10 minutes, into test/bench/join/results/
#   QUICK=1 sh test/bench/join/run.sh    a tenth of the rows, into build/bench/join/
# A throw-away cluster; PG_CONFIG names the server.
set -eu

cd "$(dirname "$0")/../../.."
bench=test/bench/join
case "${QUICK:-0}" in
	0 | '') results=$bench/results ;;
	*) results=build/bench/join ;;
esac

test/install.sh pg pgdev
make -s install DESTDIR="$PWD/build/bench/stage" > build/bench-pg.log 2>&1 ||
	{ cat build/bench-pg.log >&2; exit 1; }
mkdir -p "$results"

version=$(pg_config --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
# extension_destdir: where Debian's servers look for extensions first
pg_virtualenv -v "$version" -t -o "extension_destdir=$PWD/build/bench/stage" \
	-o shared_buffers=1GB -o max_wal_size=8GB -o fsync=off -o autovacuum=off -o jit=off \
	/usr/bin/python3 $bench/join.py "$results"
echo "Written: $results/RESULTS.md"
