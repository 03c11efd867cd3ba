#!/bin/sh
# `make demo-pg`: test/pg/demo.sql on a throw-away cluster, as root or not.  Nothing is
# installed and nothing stays running, whether it ends, fails or is interrupted.
#
#   test/pg/demo.sh [FILE FOLDER]     another file of SQL; FOLDER gets what it writes into the folder `out`
# PG_CONFIG names the server; TIMER=on shows psql's own time of each statement, too.
set -eu
cd "$(dirname "$0")/../.."
sources=$PWD
: "${PG_CONFIG:=pg_config}"
headers=
[ -f "$($PG_CONFIG --includedir-server 2>/dev/null)/postgres.h" ] || headers=pgdev
# shellcheck disable=SC2086 # a group, or none
test/install.sh demo-pg $headers

bindir=$($PG_CONFIG --bindir)
psql=
# shellcheck source=test/pg/throwaway.sh
. test/pg/throwaway.sh
throwaway demo

# shellcheck disable=SC2086 # a command and its arguments
clean()
{
	trap '' INT TERM HUP
	[ -z "$psql" ] || kill "$psql" 2>/dev/null || true
	[ ! -f "$work/data/postmaster.pid" ] || (cd "$work" && $as_user "$bindir/pg_ctl" -D data -m immediate -s stop) || true
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

run() # command argument...
{
	"$@" > "$work/log" 2>&1 || {
		cat "$work/log" >&2
		exit 1
	}
}

test/building.sh "building the extension" build/demo-pg.make.log -j2 install PG_CONFIG="$PG_CONFIG" DESTDIR="$work/stage"
settings=$(PG_CONFIG="$PG_CONFIG" test/pg/staged.sh "$work/stage")
cp "${1:-test/pg/demo.sql}" "$work/demo.sql"
folder=${2:+$(mkdir -p "$2" && cd "$2" && pwd)}
mkdir "$work/out"
touch "$work/log" "$work/server.log"
[ -z "$as_user" ] || chown -R postgres "$work"
cd "$work"

# One process, so that times compare; no other setting matters to what the demo shows.
# shellcheck disable=SC2086
run $as_user "$bindir/initdb" -D data -U demo -A trust -E UTF8 --locale=C --no-sync
cat >> data/postgresql.conf <<CONF
$settings
listen_addresses = ''
unix_socket_directories = '$work'
max_parallel_workers_per_gather = 0
jit = off
autovacuum = off
shared_buffers = 512MB
max_wal_size = 4GB
fsync = off
CONF
# shellcheck disable=SC2086
run $as_user "$bindir/pg_ctl" -D data -l server.log -s -w start

# In the background, since a shell that waits hears signals at once.
# shellcheck disable=SC2086
$as_user "$bindir/psql" -X -q -a -h "$work" -U demo -d postgres ${TIMER:+-c "\\timing $TIMER"} -f demo.sql &
psql=$!
failed=0
wait "$psql" || failed=1
psql=
[ "$failed" = 0 ]
[ -z "$folder" ] || cp out/* "$folder"
[ $# != 0 ] || "$sources/test/next.sh" "pg/README.md, the guide; sudo make install; make demo, make demo-web" "make clean"
