#!/bin/sh
# Debian's package for PostgreSQL.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages /packages/postgresql-[0-9]*-cuckoofilter_*_"$(dpkg --print-architecture)".deb
server=$(dpkg-query -W -f '${Package}\n' 'postgresql-[0-9]*-cuckoofilter' | cut -d - -f 2)
pg_lsclusters -h | grep -q . || quietly pg_createcluster "$server" main
pg_lsclusters -h | grep -q online || quietly pg_ctlcluster "$server" main start

ask() # sql
{
	su postgres -c 'psql -XAtq -v ON_ERROR_STOP=1' << TEXT 2>&1
$1
TEXT
}

quietly ask 'CREATE EXTENSION cuckoofilter'
equal "deb: PostgreSQL has the extension" \
	"$(ask "SELECT extversion, cuckoofilter_version() FROM pg_extension WHERE extname = 'cuckoofilter'")" "$VERSION|$VERSION"
equal "deb: PostgreSQL's filter is the same bytes" \
	"$(ask "SELECT upper(encode(cuckoofilter_agg(v)::bytea, 'hex')) FROM (VALUES ('a'), ('b'), ('c')) AS t(v)")" "$ABC"
equal "deb: PostgreSQL asks a filter" \
	"$(ask "SELECT f @> 77, f @> 5000 FROM (SELECT cuckoofilter_agg(i, 1e-9) AS f FROM generate_series(1, 1000) i) t")" "t|f"
equal "deb: PostgreSQL joins with a filter" "$(ask "
	LOAD 'cuckoofilter_join';
	SET cuckoofilter.join_filter = on;
	CREATE TABLE large AS SELECT i FROM generate_series(1, 100000) i;
	CREATE TABLE small AS SELECT i * 100 AS i FROM generate_series(1, 100) i;
	ANALYZE;
	SELECT count(*) FROM large JOIN small USING (i);")" 100
quietly apt-get purge -y -q "postgresql-$server-cuckoofilter"
equal "deb: PostgreSQL's package leaves nothing behind" "$(find /usr /etc /var/lib -name '*cuckoofilter*')" ""
