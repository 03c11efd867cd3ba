#!/bin/sh
# The RPMs, on the system that they were built on, whose packages rpm does not know.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages "postgresql-$SERVER" sqlite3 rpm
quietly rpm -i --nodeps "/packages/cuckoofilter_$SERVER-$VERSION"-1.*.rpm "/packages/sqlite-cuckoofilter-$VERSION"-1.*.rpm
pg_lsclusters -h | grep -q . || quietly pg_createcluster "$SERVER" main
pg_lsclusters -h | grep -q online || quietly pg_ctlcluster "$SERVER" main start

ask() # sql
{
	su postgres -c 'psql -XAtq -v ON_ERROR_STOP=1' << TEXT 2>&1
$1
TEXT
}

quietly ask 'CREATE EXTENSION cuckoofilter'
equal "rpm: PostgreSQL's filter is the same bytes" \
	"$(ask "SELECT upper(encode(cuckoofilter_agg(v)::bytea, 'hex')) FROM (VALUES ('a'), ('b'), ('c')) AS t(v)")" "$ABC"
equal "rpm: PostgreSQL's join filters are there" "$(ask "SELECT cuckoofilter_join_load(); SHOW cuckoofilter.join_filter")" "
auto"
library=$(rpm -ql sqlite-cuckoofilter | grep '\.so$')
equal "rpm: SQLite's filter is the same bytes" "$(sqlite3 -batch :memory: ".load ${library%.so}" \
	"SELECT hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))" 2>&1)" "$ABC"
equal "rpm: the packages have their licences and the version" \
	"$(rpm -q --qf '%{VERSION} %{LICENSE}\n' "cuckoofilter_$SERVER" sqlite-cuckoofilter | uniq)" "$VERSION PostgreSQL AND BSD-2-Clause"
quietly rpm -e "cuckoofilter_$SERVER" sqlite-cuckoofilter
equal "rpm: nothing stays behind" "$(find /usr /etc -name '*cuckoofilter*')" ""
