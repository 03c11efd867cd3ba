/*
 * table_shared.c - a filter table in a shared cache, read while another connection writes it.
 *
 * A connection with PRAGMA read_uncommitted takes no locks.  After each statement with which the
 * writer's COMMIT writes its adds, the reader looks up an item that was committed before.  The
 * extension is linked in (SQLITE_CORE), under sanitizers.
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

/* After each statement of the writer: it holds no lock of the cache's memory, so that the reader
 * can ask in the same thread. */
static int
ask(unsigned event, void *answers, void *statement, void *time)
{
	(void)event, (void)statement, (void)time;
	append_answer(answers, reader, "SELECT count(*) FROM seen WHERE item = 7");
	return 0;
}

/* Add the items 5001 .. 10000 by statements of one row, whose adds wait until COMMIT. */
static void
add_singly(void)
{
	sqlite3_stmt *statement = NULL;
	int i, done = 0;

	check(sqlite3_prepare_v2(writer, "INSERT INTO seen VALUES (?)", -1, &statement, NULL) ==
			  SQLITE_OK,
		  "prepare");
	for (i = 5001; i <= 10000; i++)
	{
		sqlite3_bind_int(statement, 1, i);
		done += sqlite3_step(statement) == SQLITE_DONE;
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	check(done == 5000, "add singly");
}

/* Commit so many items that all rows are packed anew, and ask meanwhile.  Every answer must contain
 * one of two texts. */
static void
ask_in_commit(const char *what, const char *right, const char *also)
{
	sqlite3_str *answers = sqlite3_str_new(writer);
	char *got, *at, *end;
	unsigned asked = 0;

	execute(writer, "BEGIN");
	add_singly();
	sqlite3_trace_v2(writer, SQLITE_TRACE_PROFILE, ask, answers);
	execute(writer, "COMMIT");
	sqlite3_trace_v2(writer, 0, NULL, NULL);
	got = sqlite3_str_finish(answers);
	for (at = got; at && (end = strchr(at, '\n')) != NULL; at = end + 1, asked++)
	{
		*end = '\0';
		check_found(strstr(at, right) || strstr(at, also), what, at);
	}
	check(asked > 20, "asked between the rows");
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
	ask_in_commit("with locks", "1", "table is locked");
	is(reader, "SELECT count(*) FROM seen WHERE item = 7", "1");

	execute(reader, "PRAGMA read_uncommitted = on");
	ask_in_commit("without locks", REFUSED, REFUSED);
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
