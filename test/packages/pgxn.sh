#!/bin/sh
# The sources as PGXN has them, built as its client builds: make and make install, with PG_CONFIG.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages "postgresql-$SERVER" "postgresql-server-dev-$SERVER" libxxhash-dev gcc make unzip
pg_config=/usr/lib/postgresql/$SERVER/bin/pg_config
cd /tmp
unzip -q "/packages/cuckoofilter-$VERSION.zip"
cd "cuckoofilter-$VERSION"
quietly make all PG_CONFIG="$pg_config"
quietly make install PG_CONFIG="$pg_config"
pg_lsclusters -h | grep -q online || quietly pg_ctlcluster "$SERVER" main start

ask() # sql
{
	su postgres -c 'psql -XAtq -v ON_ERROR_STOP=1' << TEXT 2>&1
$1
TEXT
}

quietly ask 'CREATE EXTENSION cuckoofilter'
equal "PGXN: the extension is there" "$(ask 'SELECT cuckoofilter_version()')" "$VERSION"
equal "PGXN: its filter is the same bytes" \
	"$(ask "SELECT upper(encode(cuckoofilter_agg(v)::bytea, 'hex')) FROM (VALUES ('a'), ('b'), ('c')) AS t(v)")" "$ABC"
