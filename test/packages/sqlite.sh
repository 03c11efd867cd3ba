#!/bin/sh
# Debian's package for SQLite.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages sqlite3 /packages/sqlite3-cuckoofilter_*_"$(dpkg --print-architecture)".deb

ask() # sql
{
	sqlite3 -batch :memory: '.load /usr/lib/sqlite3/cuckoofilter' "$1" 2>&1
}

equal "deb: SQLite has the extension" "$(ask 'SELECT cuckoofilter_version()')" "$VERSION"
equal "deb: SQLite's filter is the same bytes" \
	"$(ask "SELECT hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))")" "$ABC"
equal "deb: SQLite asks a filter" "$(ask "SELECT cuckoofilter_contains(f, 77), cuckoofilter_contains(f, 5000)
	FROM (SELECT cuckoofilter_agg(value, 1e-9) AS f FROM generate_series(1, 1000))")" "1|0"
quietly apt-get purge -y -q sqlite3-cuckoofilter
equal "deb: SQLite's package leaves nothing behind" "$(find /usr /etc /var/lib -name '*cuckoofilter*')" ""
