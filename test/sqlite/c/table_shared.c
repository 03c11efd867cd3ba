/*
 * table_shared.c - a filter table in a shared cache, read while another connection writes it.
 *
 * A connection with PRAGMA read_uncommitted takes no locks.  While the writer adds items in a
 * transaction, the reader looks up an item that was committed before.  The extension is linked in
 * (SQLITE_CORE), under sanitizers.
 */
#include "check.h"
#include "sqlite3.h"

#include <string.h>

#define SHARED "file:shared?mode=memory&cache=shared"
#define REFUSED                                                                                    \
	"cannot be read in a shared cache with PRAGMA read_uncommitted, which would show changes of "  \
	"several rows that are not complete: set it off"

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

static sqlite3 *writer, *reader;

static sqlite3 *
open_database(const char *name)
{
	sqlite3 *db = NULL;

	check(sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
						  NULL) == SQLITE_OK,
		  name);
	check(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension");
	return db;
}

static void
execute(sqlite3 *db, const char *sql)
{
	check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

/* Append the first value, or the message of the error. */
static void
append_answer(sqlite3_str *answers, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW)
		sqlite3_str_appendall(answers, (const char *)sqlite3_column_text(statement, 0));
	else
		sqlite3_str_appendall(answers, sqlite3_errmsg(db));
	sqlite3_str_appendall(answers, "\n");
	sqlite3_finalize(statement);
}

static void
is(sqlite3 *db, const char *sql, const char *want)
{
	sqlite3_str *answers = sqlite3_str_new(db);
	char *got;

	append_answer(answers, db, sql);
	got = sqlite3_str_finish(answers);
	check_found(strstr(got, want) != NULL, sql, got);
	sqlite3_free(got);
}

/* Add the items 5001 .. 10000 one by one in a transaction, and ask meanwhile.  Every answer must
 * contain one of two texts. */
static void
ask_in_transaction(const char *what, const char *right, const char *also)
{
	sqlite3_stmt *statement = NULL;
	sqlite3_str *answers = sqlite3_str_new(writer);
	char *got, *at, *end;
	int i, done = 0;

	execute(writer, "BEGIN");
	check(sqlite3_prepare_v2(writer, "INSERT INTO seen VALUES (?)", -1, &statement, NULL) ==
			  SQLITE_OK,
		  "prepare");
	for (i = 5001; i <= 10000; i++)
	{
		sqlite3_bind_int(statement, 1, i);
		done += sqlite3_step(statement) == SQLITE_DONE;
		sqlite3_reset(statement);
		if (i % 100 == 0)
			append_answer(answers, reader, "SELECT count(*) FROM seen WHERE item = 7");
	}
	sqlite3_finalize(statement);
	check(done == 5000, "add singly");
	execute(writer, "COMMIT");
	got = sqlite3_str_finish(answers);
	for (at = got; at && (end = strchr(at, '\n')) != NULL; at = end + 1)
	{
		*end = '\0';
		check_found(strstr(at, right) || strstr(at, also), what, at);
	}
	sqlite3_free(got);
}

int
main(void)
{
	sqlite3 *other;

	writer = open_database(SHARED);
	reader = open_database(SHARED);
	execute(writer, "CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT "
					"value + 1 FROM s WHERE value < 5000) SELECT value FROM s");
	execute(writer, "CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=0.001); INSERT INTO seen "
					"SELECT value FROM number");
	ask_in_transaction("with locks", "1", "table is locked");
	is(reader, "SELECT count(*) FROM seen WHERE item = 7", "1");

	execute(reader, "PRAGMA read_uncommitted = on");
	ask_in_transaction("without locks", REFUSED, REFUSED);
	is(reader, "SELECT count(*) FROM seen WHERE item = 7", REFUSED);
	is(reader, "SELECT count(*) FROM number JOIN seen ON item = value", REFUSED);
	is(reader, "SELECT cuckoofilter_export('seen')", REFUSED);
	is(reader, "SELECT cuckoofilter_table_info('seen')", REFUSED);
	is(reader, "INSERT INTO seen(seen) VALUES ('integrity-check')", REFUSED);
	is(reader, "INSERT INTO seen(seen) VALUES ('optimize')", REFUSED);
	is(reader, "INSERT INTO seen VALUES (-1)", REFUSED);
	is(writer, "SELECT count(*) FROM number JOIN seen ON item = value", "5000");
	execute(reader, "PRAGMA read_uncommitted = off");
	is(reader, "SELECT count(*) FROM number JOIN seen ON item = value", "5000");
	is(reader, "SELECT count(*) FROM seen WHERE item = -1", "0");

	/* in a cache that cannot be shared the setting does nothing */
	other = open_database(":memory:");
	execute(other, "PRAGMA read_uncommitted = on; CREATE VIRTUAL TABLE seen USING cuckoofilter; "
				   "INSERT INTO seen VALUES (7); ATTACH '" SHARED "' AS shared");
	is(other, "SELECT count(*) FROM main.seen WHERE item = 7", "1");
	is(other, "SELECT count(*) FROM shared.seen WHERE item = 7", REFUSED);
	check(sqlite3_close(other) == SQLITE_OK && sqlite3_close(reader) == SQLITE_OK &&
			  sqlite3_close(writer) == SQLITE_OK,
		  "close");
	return check_end("sqlite-table-shared");
}
