#!/bin/sh
# `make test-citus CITUS=dir`: filters in Citus.  Its sources are where CITUS says, a release or a clone of its
# repository, and stay as they are: a copy is built in build/citus for the server of PG_CONFIG, and citus.pl
# runs on it, a coordinator and two workers in throw-away clusters.
#
#   TAG=v13.2.2     of a clone; without it, its last commit.  13.x is for PostgreSQL 15 to 17, 14.x for 16 to 18
#
# If nothing failed, the row of these versions in test/pg/CITUS.md is made anew.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
: "${PG_CONFIG:=pg_config}"
[ -f "${CITUS:-}/configure" ] || {
	echo "usage: make test-citus CITUS=dir [TAG=v13.2.2]: the folder of Citus' sources, a release or a clone" >&2
	exit 1
}
test/install.sh citus pg
[ -f "$($PG_CONFIG --includedir-server 2>/dev/null)/postgres.h" ] || test/install.sh pgdev
server=$($PG_CONFIG --version | sed 's/[^0-9]*\([^ ]*\).*/\1/')
commit=
[ ! -e "$CITUS/.git" ] || commit=$(git -C "$CITUS" rev-parse --short "${TAG:-HEAD}^{commit}")

build=$root/build/citus/$server-${commit:-folder}
if [ ! -d "$build/stage" ]; then
	rm -rf "$build"
	mkdir -p "$build/source"
	if [ -n "$commit" ]; then
		git -C "$CITUS" archive "$commit" | tar x -C "$build/source"
	else
		cp -R "$CITUS/." "$build/source"
	fi
	(cd "$build/source" && ./configure PG_CONFIG="$PG_CONFIG" --without-libcurl > "$build/configure.log" 2>&1) || {
		tail -n 5 "$build/configure.log" >&2
		exit 1
	}
	# A function of Citus 13 for PostgreSQL 15, which the server has itself from 15.20 on.
	! grep -qs have_createdb_privilege "$($PG_CONFIG --includedir-server)/commands/dbcommands.h" ||
		sed -i 's/^have_createdb_privilege(void)/citus_&/' "$build/source/src/include/pg_version_compat.h"
	# As test/pg/stage.sh lays out the extension.
	layout=
	[ "${server%%[!0-9]*}" -lt 18 ] || layout="datadir=/share pkglibdir=/lib"
	# shellcheck disable=SC2086 # words
	test/patiently.sh "building Citus" "$build/make.log" nice make -C "$build/source" -j2 install COPT="-O0 -g0" with_llvm=no DESTDIR="$build/staging" $layout
	mv "$build/staging" "$build/stage"
fi
citus=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$build/source/configure")

echo "Citus $citus${commit:+, $commit}, PostgreSQL $server"
log=$build/test.log
CUCKOOFILTER_BESIDE=$build/stage test/pg/run.sh test/pg/citus.pl > "$log" 2>&1 || {
	cat "$log"
	exit 1
}
grep -v '^ok ' "$log" | grep '^# \(SEED\|Citus\|.* rows, \)\|passed' || true

# The page: a row for each pair of versions, and what the last run checked.
page=test/pg/CITUS.md
passed=$(sed -n 's/^citus: \(.*\)/\1/p' "$log")
started="| PostgreSQL $server | Citus $citus |"
touch "$page"
{
	cat <<-'HEAD'
		# Filters in Citus

		`make test-citus CITUS=dir` runs the [Citus section of the guide](../../pg/SERVERS.md#citus), and
		then random rows, on a coordinator and two workers. Each answer must be that of one server without
		Citus. Plans of repartition joins do not show whether a filter was used in them.

		| PostgreSQL | Citus | checks | cuckoofilter |
		|---|---|---|---|
	HEAD
	{
		grep '^| PostgreSQL [0-9]' "$page" | grep -vF "$started" || true
		echo "$started $passed | $(make -s version), $(git log -1 --format='%h of %cs') |"
	} | sort
	printf '\nThe checks beside those of the statements in the guide:\n\n'
	sed -n 's/^ok [0-9]* - //p' "$log" | grep -v '^the page\|^nothing is left\|has an answer$' | sed 's/^/- /'
} > "$build/page"
cp "$build/page" "$page"
echo "the page: $page"
