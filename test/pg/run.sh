#!/bin/sh
# The PostgreSQL suites on throw-away clusters, as root or not: pg_regress
# through `make installcheck`, then the TAP tests.  Nothing is installed and
# nothing stays running.  PG_CONFIG names the server: Debian's, or any other, such as one built from
# source with --enable-tap-tests.
#
#   test/pg/run.sh [regress|FILE...]     only pg_regress, or only these TAP tests, named from the root
#
# CUCKOOFILTER_ONCE is a folder for what suites share that test/run.sh starts: the staged extension, and a cluster that
# initdb made; theirs are copies.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
: "${PG_CONFIG:=pg_config}"
[ -n "${CUCKOOFILTER_ONCE:-}" ] || test/install.sh pg
PG_CONFIG="$PG_CONFIG" test/pg/headers.sh

# A copy that the tests' user can read, whoever that is.
# shellcheck source=test/pg/throwaway.sh
. test/pg/throwaway.sh
throwaway pg
# For the suites that follow.
keep() # folder in $work
{
	[ -n "${CUCKOOFILTER_ONCE:-}" ] || return 0
	cp -R "$work/$1" "$CUCKOOFILTER_ONCE/$1.$$"
	mv -nT "$CUCKOOFILTER_ONCE/$1.$$" "$CUCKOOFILTER_ONCE/$1"
	rm -rf "${CUCKOOFILTER_ONCE:?}/$1.$$"
}
clean()
{
	for pid in "$work"/tmp_check/*/pgdata/postmaster.pid "$work/regress/data/postmaster.pid"; do
		[ ! -f "$pid" ] || kill -QUIT "$(head -n 1 "$pid")" || true
	done
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 143' INT TERM
if [ -d "${CUCKOOFILTER_ONCE:-}/stage" ]; then
	cp -R "$CUCKOOFILTER_ONCE/stage" "$work"
else
	PG_CONFIG="$PG_CONFIG" test/pg/stage.sh "$work/stage" > /dev/null
	keep stage
fi
# The stage may have a copy of the server.
staged=$work/stage$($PG_CONFIG --bindir)/pg_config
[ ! -x "$staged" ] || PG_CONFIG=$staged
[ -z "${CUCKOOFILTER_BESIDE:-}" ] || cp -R "$CUCKOOFILTER_BESIDE/." "$work/stage"
bindir=$($PG_CONFIG --bindir)
pgxs=$(dirname "$($PG_CONFIG --pgxs)")/../..
version=$($PG_CONFIG --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
# The first install scripts, from which a test makes the extension at an old version.
scripts=$(find "$work/stage" -path '*/extension/cuckoofilter.control' -printf %h)
cp test/pg/1.0.0/cuckoofilter--1.1.0.sql "$scripts"
sed -f test/pg/1.0.0/1.0.0.sed test/pg/1.0.0/cuckoofilter--1.1.0.sql > "$scripts/cuckoofilter--1.0.0.sql"
PG_CONFIG="$PG_CONFIG" test/pg/staged.sh "$work/stage" > "$work/staged.conf"
[ ! -f build/sqlite/cuckoofilter.so ] || cp build/sqlite/cuckoofilter.so "$work"
[ ! -d build/test/drivers/node_modules/pg ] || cp -R build/test/drivers/node_modules "$work"
mkdir -p "$work/bindings"
for made in build/test/bindings/make_filter test/bindings/make_filter.* test/bindings/psycopg_filter.py \
	build/python core/package/python/README.md; do
	[ ! -e "$made" ] || cp -R "$made" "$work/bindings"
done
[ ! -d build/javascript/cuckoofilter ] || cp -R build/javascript/cuckoofilter "$work/bindings/javascript"
mkdir -p "$work/src/build/pg"
mkdir -p "$work/src/sqlite"
cp -R core pg sql test Makefile README.md "$work/src"
cp -R sqlite/package "$work/src/sqlite"
mkdir "$work/bin"
if [ -n "${CUCKOOFILTER_ONCE:-}" ]; then
	[ ! -d "$CUCKOOFILTER_ONCE/cluster" ] || cp -R "$CUCKOOFILTER_ONCE/cluster" "$work"
	cat > "$work/bin/initdb" <<SCRIPT
#!/bin/sh
case \$* in
	"-D \$2 -A trust -N --encoding=UTF8 --locale=C" | "--no-sync --pgdata \$3 --auth trust --encoding=UTF8 --locale=C")
		[ "\$1" = -D ] || shift
		exec cp -R "$work/cluster" "\$2"
		;;
esac
exec "$bindir/initdb" "\$@"
SCRIPT
	chmod +x "$work/bin/initdb"
fi
[ -z "$as_user" ] || chown -R postgres "$work"
# shellcheck disable=SC2086 # a command and its arguments
if [ -n "${CUCKOOFILTER_ONCE:-}" ] && [ ! -d "$work/cluster" ]; then
	$as_user "$bindir/initdb" -D "$work/cluster" -A trust -N --encoding=UTF8 --locale=C > "$work/initdb.log"
	keep cluster
fi

cd "$work"
export CUCKOOFILTER_STAGED="$work/staged.conf" CUCKOOFILTER_SQLITE="$work/cuckoofilter.so" CUCKOOFILTER_NODE="$work/node_modules" CUCKOOFILTER_BINDINGS="$work/bindings"
# A busy machine may need long to start a server, or to reach a state that a test waits for.
export PG_TEST_TIMEOUT_DEFAULT="${PG_TEST_TIMEOUT_DEFAULT:-900}" PGCTLTIMEOUT="${PGCTLTIMEOUT:-600}"

# shellcheck disable=SC2086 # a command and its arguments
regress()
{
	echo "pg_regress, PostgreSQL $version"
	{ cat staged.conf; echo "autovacuum = off"; } > regress.conf
	$as_user env HOME="$work" EXTRA_REGRESS_OPTS="--temp-instance=$work/regress --temp-config=$work/regress.conf" \
		make -s -C src installcheck PG_CONFIG="$PG_CONFIG" > regress.log 2>&1 || true
	sed -n '/^\(test\|ok\|not ok\) /p' regress.log
	grep -q 'ests passed' regress.log || whole=no
}

# A person at a terminal sees no checks that pass.
shown()
{
	if [ -t 1 ]; then
		grep -v '^ok '
	else
		cat
	fi
}

# shellcheck disable=SC2086
tap() # file...
{
	# TESTDIR is for PostgreSQL up to 15, the other two for later ones
	(cd src && $as_user env TESTDIR="$work" TESTDATADIR="$work/tmp_check" TESTLOGDIR="$work/tmp_check/log" PATH="$work/bin:$bindir:$PATH" PG_REGRESS="$pgxs/src/test/regress/pg_regress" \
		prove -v --ext .pl -I "$pgxs/src/test/perl" -I test/pg/lib "$@" 2>&1) | tee tap.log | shown || true
	grep -q '^Result: PASS' tap.log || whole=no
}

whole=yes
touch regress.log tap.log
if [ $# = 0 ]; then
	name=pg
	regress
	tap test/pg/t
elif [ "$1" = regress ]; then
	name=regress
	regress
else
	name=$(basename "$1" .pl)
	tap "$@"
fi

# pg_regress prints "test NAME ... ok" up to PostgreSQL 15, "ok 1 - NAME" later
passed=$(($(grep -c '^test .* ok \|^ok ' regress.log || true) + $(grep -c '^ok ' tap.log || true)))
failed=$(($(grep -c '^test .* FAILED\|^not ok ' regress.log || true) + $(grep -c '^not ok ' tap.log || true)))
[ "$whole" = yes ] || [ "$failed" != 0 ] || failed=1
if [ "$failed" != 0 ]; then
	cat regress.log src/build/pg/regression.diffs 2>/dev/null | tail -n 100
	rm -rf "$root/build/test/pg/$name"
	mkdir -p "$root/build/test/pg/$name"
	cp -R regress.log tap.log src/build/pg/regression.diffs tmp_check/log "$root/build/test/pg/$name" 2>/dev/null || true
	echo "logs: build/test/pg/$name"
fi
echo "$name: $passed passed, $failed failed"
[ "$failed" = 0 ]
