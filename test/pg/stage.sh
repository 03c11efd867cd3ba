#!/bin/sh
# Installs the extension into a folder, from where the server of PG_CONFIG takes it, so that nothing
# is installed; prints the PG_CONFIG of the server to run.
#
#   test/pg/stage.sh STAGE
#
# PostgreSQL 18 and Debian's servers have settings for such a folder (staged.sh). For 18 and later it is
# laid out by `make image`, as for an image volume. Any other server takes extensions from its own
# folders only. Then the stage gets a copy of the server: PostgreSQL's programs find their folders by
# the place of the program.
set -eu
: "${PG_CONFIG:=pg_config}"
bindir=$($PG_CONFIG --bindir)
pg_config=$PG_CONFIG

mkdir -p "$1"
if [ -z "$(PG_CONFIG="$PG_CONFIG" "$(dirname "$0")/staged.sh" "$1")" ]; then
	server=$(dirname "$bindir")
	case $server:$($PG_CONFIG --sharedir) in
		/:* | /usr:* | /usr/local:*) own=no ;;
		*:"$server"/*) own=yes ;;
		*) own=no ;;
	esac
	[ $own = yes ] || {
		echo "The server of $PG_CONFIG can't be copied: it has no folder of its own." >&2
		exit 1
	}
	mkdir -p "$1$server"
	cp -R "$server/." "$1$server"
	pg_config=$1$bindir/pg_config
fi
target=install
[ "$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -lt 18 ] || target=image
make -s $target PG_CONFIG="$PG_CONFIG" DESTDIR="$1" > "$1/make.log" 2>&1 || {
	cat "$1/make.log" >&2
	exit 1
}
echo "$pg_config"
