#!/bin/sh
# The amalgamation: as a loadable extension, and in a program beside the engine's header.  No xxHash of the
# system's is there, only the one that comes along.
set -eu
# shellcheck disable=SC1091 # where it lies there
. /packages/check.sh

packages gcc libc6-dev libsqlite3-dev sqlite3 unzip
cd /tmp
unzip -q "/packages/cuckoofilter-amalgamation-$VERSION.zip"
cd "cuckoofilter-amalgamation-$VERSION"

quietly gcc -O2 -shared -fPIC cuckoofilter.c -o cuckoofilter.so
equal "amalgamation: loaded, its filter is the same bytes" "$(sqlite3 -batch :memory: '.load ./cuckoofilter' \
	"SELECT hex(cuckoofilter_agg(column1)) FROM (VALUES ('a'), ('b'), ('c'))" 2>&1)" "$ABC"

cat > program.c << 'TEXT'
#include <cuckoofilter.h>
#include <cuckoofilter_sqlite.h>
#include <stdio.h>

int
main(void)
{
	sqlite3 *db;
	sqlite3_stmt *statement;

	sqlite3_auto_extension((void (*)(void))sqlite3_cuckoofilter_init);
	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
		sqlite3_prepare_v2(db, "SELECT cuckoofilter_hash(77)", -1, &statement, NULL) != SQLITE_OK ||
		sqlite3_step(statement) != SQLITE_ROW)
		return 1;
	puts(sqlite3_column_int64(statement, 0) == (sqlite3_int64)ckf_hash_integer(77, 0) ? CKF_VERSION : "other hashes");
	return 0;
}
TEXT
quietly gcc -O2 -DSQLITE_CORE -I. program.c cuckoofilter.c -lsqlite3 -o program
equal "amalgamation: a program has SQL and the engine in one" "$(./program)" "$VERSION"
