/*
 * table_hostile.c - shadow tables with rows that somebody else has written.
 *
 * Anybody who opens a database without the extension can write the rows of a filter table.  This
 * program does so in many ways, and undoes each change.  Every statement must end soon with an
 * answer or an error, under AddressSanitizer and UndefinedBehaviorSanitizer.  SEED=n replays a run
 * of ROUNDS=n per cent of the changes.
 */
#define _XOPEN_SOURCE 700
#include "check.h"
#include "sample.h"
#include "sqlite3.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

/* What is asked of the table after each change of what lies behind it. */
static const char *const statements[] = {
	"SELECT count(*), sum(copies) FROM number JOIN seen ON item = value",
	"INSERT INTO seen VALUES (7), ('a'), (70001)",
	"DELETE FROM seen WHERE item IN (SELECT value FROM number WHERE value < 40)",
	"INSERT INTO seen(item) SELECT value FROM number",
	"INSERT INTO seen(item) SELECT value * 5 FROM number; SELECT count(*) FROM number JOIN seen ON "
	"item = value",
	"SELECT length(cuckoofilter_export('seen'))",
	"INSERT INTO seen(seen) VALUES ('integrity-check')",
	"INSERT INTO seen(seen) VALUES ('optimize')",
	"SELECT count(*), sum(copies) FROM number JOIN seen ON item = value",
	"INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(value + 9, 1e-4, 100000) FROM "
	"number",
	"SELECT length(cuckoofilter_export('seen'))",
	"INSERT INTO seen(seen) VALUES ('delete-all')",
	"INSERT INTO seen VALUES (7)",
	"ALTER TABLE seen RENAME TO other",
	"DROP TABLE other",
	"DROP TABLE seen",
};
enum
{
	STATEMENTS = sizeof(statements) / sizeof(statements[0]),
	ROUNDS = 60,    /* random changes of each kind, for each table */
	SOON = 600,     /* seconds for all statements after one change */
	MOST_NAMES = 8, /* shadow tables, and columns of one */
};

static const char *const tables[] = {
	"fpr=0.01, capacity=1000000",
	"fpr=0.001, capacity=20000, kind=set",
	"fpr=0.02, bucket_size=8",
	"fpr=0.001, layout=plain, seed=77",
	"fpr=0.1, bucket_size=2, capacity=50000",
};
enum
{
	TABLES = sizeof(tables) / sizeof(tables[0])
};

/* Values for a column, and changes of a row: %s is the column. */
static const char *const values[] = {
	"NULL",
	"5",
	"-1",
	"9223372036854775807",
	"-9223372036854775808",
	"1e300",
	"'text'",
	"''",
	"x''",
	"x'00'",
	"zeroblob(48)",
	"zeroblob(5000)",
	"zeroblob(3000000)",
	"randomblob(20)",
	"randomblob(600)",
	"randomblob(4056)",
	"randomblob(70000)",
	"cast(%s AS TEXT)",
	"substr(%s, 1, length(%s) - 1)",
	"substr(%s, 1, length(%s) / 2)",
	"substr(%s, 1, 3)",
	"substr(%s, 2)",
	"cast(%s || x'00' AS BLOB)",
	"cast(%s || %s AS BLOB)",
	"%s + 1",
	"%s - 1",
	"-%s",
	"random()",
	"%s ^ 1", /* no operator of SQLite: an error here, too, must do no harm */
};
enum
{
	VALUES = sizeof(values) / sizeof(values[0])
};

static sqlite3 *db;
static char path[200];
static char shadows[MOST_NAMES][100];
static int shadow_count;
static unsigned long errors;
static char now_doing[200];

static void
check_sql(bool ok, const char *what)
{
	char text[sizeof(now_doing) + 300];

	snprintf(text, sizeof(text), "%s, %.250s", now_doing, what);
	check_found(ok, text, sqlite3_errmsg(db));
}

static int
execute(const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void
must(const char *sql)
{
	check_sql(execute(sql) == SQLITE_OK, sql);
}

static void
open_database(void)
{
	check_sql(sqlite3_open(path, &db) == SQLITE_OK, "open");
	check_sql(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension");
	must("PRAGMA journal_mode = memory; PRAGMA synchronous = off; PRAGMA locking_mode = exclusive");
}

/* The texts of a query's first column. */
static int
names_of(const char *sql, char names[MOST_NAMES][100])
{
	sqlite3_stmt *stmt = NULL;
	int n = 0;

	check_sql(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, sql);
	while (n < MOST_NAMES && sqlite3_step(stmt) == SQLITE_ROW)
		snprintf(names[n++], sizeof(names[0]), "%s", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return n;
}

static void
make_database(const char *arguments)
{
	char sql[400];

	open_database();
	must("DROP TABLE IF EXISTS number; DROP TABLE IF EXISTS seen; DROP TABLE IF EXISTS twin;"
		 "CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
		 "FROM s WHERE value < 9000) SELECT value FROM s");
	sqlite3_snprintf((int)sizeof(sql), sql,
					 "CREATE VIRTUAL TABLE seen USING cuckoofilter(%s);"
					 "CREATE VIRTUAL TABLE twin USING cuckoofilter(%s);",
					 arguments, arguments);
	must(sql);
	must("INSERT INTO seen(item) SELECT value FROM number WHERE value < 8000");
	/* of the same parameters, with other items, and another number of them */
	must("INSERT INTO twin(item) SELECT value * 3 FROM number WHERE value < 3000");
	shadow_count = names_of("SELECT name FROM sqlite_schema WHERE name LIKE 'seen\\_%' ESCAPE '\\' "
							"AND type = 'table' ORDER BY 1",
							shadows);
	check_sql(shadow_count > 0, "there are shadow tables");
}

static void
close_database(void)
{
	sqlite3_stmt *stmt = NULL;
	bool closed = sqlite3_close(db) == SQLITE_OK;

	check_sql(closed, "close");
	while (!closed && (stmt = sqlite3_next_stmt(db, stmt)) != NULL)
		printf("still there: %s\n", sqlite3_sql(stmt));
	if (!closed)
		exit(1);
}

/* All statements, in a transaction that is taken back; each ends, by an answer or by an error.  If
 * the adds of a statement cannot be written at its end, SQLite rolls back the transaction: the next
 * one begins with the change. */
static void
ask(const char *change)
{
	int i, rc;

	alarm(SOON);
	for (i = 0; i < STATEMENTS; i++)
	{
		if (sqlite3_get_autocommit(db))
		{
			must("BEGIN");
			execute(change);
		}
		rc = execute(statements[i]);
		errors += rc != SQLITE_OK;
		check_sql(rc != SQLITE_OK || !sqlite3_get_autocommit(db), "the transaction is gone");
		/* none of these is what damaged rows are */
		check_sql(rc != SQLITE_NOMEM && rc != SQLITE_MISUSE && rc != SQLITE_INTERNAL &&
					  rc != SQLITE_LOCKED && rc != SQLITE_BUSY,
				  statements[i]);
	}
	alarm(0);
}

static void
with_change(const char *change)
{
	sqlite3_snprintf(sizeof(now_doing), now_doing, "%s", change);
	ask(change);
	if (!sqlite3_get_autocommit(db))
		must("ROLLBACK");
}

/* The same, but for a connection that opens the file with the change in it. */
static void
with_change_and_reopened(const char *change)
{
	sqlite3_snprintf(sizeof(now_doing), now_doing, "%s", change);
	execute(change);
	close_database();
	open_database();
	ask("SELECT 1");
	if (!sqlite3_get_autocommit(db))
		must("ROLLBACK");
}

/* What an expression of values[] is of this column. */
static void
put_value(char *out, size_t size, const char *value, const char *column)
{
	char *end = out + size - 1;

	for (; *value && out < end; value++)
		if (value[0] == '%' && value[1] == 's')
		{
			out += snprintf(out, (size_t)(end - out), "\"%s\"", column);
			value++;
		}
		else
			*out++ = *value;
	*out = '\0';
}

/* One of the rows of a shadow table, as a WHERE: the first, the last, any, or all. */
static const char *
some_row(const char *shadow)
{
	static char where[300];

	switch (check_random() % 5)
	{
		case 0:
			sqlite3_snprintf((int)sizeof(where), where, "1");
			break;
		case 1:
			sqlite3_snprintf((int)sizeof(where), where, "rowid = (SELECT min(rowid) FROM %s)",
							 shadow);
			break;
		case 2:
			sqlite3_snprintf((int)sizeof(where), where, "rowid = (SELECT max(rowid) FROM %s)",
							 shadow);
			break;
		default:
			sqlite3_snprintf(
				(int)sizeof(where), where,
				"rowid = (SELECT rowid FROM %s LIMIT 1 OFFSET %d %% max(1, (SELECT count(*) "
				"FROM %s)))",
				shadow, (int)(check_random() % 1000), shadow);
	}
	return where;
}

static const char *
random_change(char *sql, size_t size)
{
	static char columns[MOST_NAMES][100];
	char query[200], value[300];
	const char *shadow = shadows[check_random() % (unsigned)shadow_count], *column;
	const char *twin = shadow + strlen("seen_");
	int n;

	sqlite3_snprintf((int)sizeof(query), query, "SELECT name FROM pragma_table_info('%s')", shadow);
	n = names_of(query, columns);
	column = columns[check_random() % (unsigned)n];
	put_value(value, sizeof(value), values[check_random() % VALUES], column);
	switch (check_random() % 10)
	{
		case 0:
			sqlite3_snprintf((int)size, sql, "DELETE FROM %s WHERE %s", shadow, some_row(shadow));
			break;
		case 1: /* rows of its own, in other places */
			sqlite3_snprintf(
				(int)size, sql,
				"UPDATE %s SET \"%s\" = (SELECT \"%s\" FROM %s ORDER BY random() LIMIT 1) "
				"WHERE %s",
				shadow, columns[n - 1], columns[n - 1], shadow, some_row(shadow));
			break;
		case 2: /* the twin's, where the ranges begin alike */
			sqlite3_snprintf(
				(int)size, sql,
				"UPDATE %s SET \"%s\" = coalesce((SELECT \"%s\" FROM twin_%s AS t WHERE "
				"t.rowid = %s.rowid), \"%s\") WHERE random() %% 3 = 0",
				shadow, columns[n - 1], columns[n - 1], twin, shadow, columns[n - 1]);
			break;
		case 3: /* and all besides: ranges that overlap */
			sqlite3_snprintf((int)size, sql, "INSERT OR IGNORE INTO %s SELECT * FROM twin_%s",
							 shadow, twin);
			break;
		case 4:
			sqlite3_snprintf((int)size, sql,
							 "INSERT OR REPLACE INTO %s SELECT * FROM twin_%s WHERE %s", shadow,
							 twin, check_random() & 1 ? "1" : "random() % 2 = 0");
			break;
		case 5:
			snprintf(
				sql, size,
				"INSERT OR IGNORE INTO %s(rowid, \"%s\") SELECT random(), \"%s\" FROM %s LIMIT "
				"%d",
				shadow, columns[n - 1], columns[n - 1], shadow, (int)(check_random() % 50));
			break;
		default:
			sqlite3_snprintf((int)size, sql, "UPDATE OR IGNORE %s SET \"%s\" = %s WHERE %s", shadow,
							 column, value, some_row(shadow));
	}
	return sql;
}

/* Bits of one BLOB turned. */
static void
flip_bits(void)
{
	char columns[MOST_NAMES][100], sql[400];
	const char *shadow = shadows[check_random() % (unsigned)shadow_count];
	sqlite3_stmt *stmt = NULL;
	uint8_t *bytes = NULL;
	int n, size = 0;

	sqlite3_snprintf((int)sizeof(sql), sql, "SELECT name FROM pragma_table_info('%s')", shadow);
	n = names_of(sql, columns);
	sqlite3_snprintf((int)sizeof(sql), sql,
					 "SELECT \"%s\", rowid FROM %s ORDER BY random() LIMIT 1", columns[n - 1],
					 shadow);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_BLOB &&
		(size = sqlite3_column_bytes(stmt, 0)) > 0)
	{
		bytes = malloc((size_t)size);
		memcpy(bytes, sqlite3_column_blob(stmt, 0), (size_t)size);
		sqlite3_snprintf((int)sizeof(sql), sql, "UPDATE %s SET \"%s\" = ? WHERE rowid = %lld",
						 shadow, columns[n - 1], (long long)sqlite3_column_int64(stmt, 1));
	}
	sqlite3_finalize(stmt);
	if (!bytes)
		return;
	for (n = (int)(check_random() % 4); n >= 0; n--)
	{
		uint64_t number = check_random();
		int at = (int)((number >> 8) % (uint64_t)(number & 1 || size < 8 ? size : 8));

		bytes[at] ^= (uint8_t)(1 << (number >> 61));
	}
	sqlite3_snprintf(sizeof(now_doing), now_doing, "flipped bits");
	must("BEGIN");
	check_sql(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, sql);
	sqlite3_bind_blob(stmt, 1, bytes, size, free);
	check_sql(sqlite3_step(stmt) == SQLITE_DONE, sql);
	sqlite3_finalize(stmt);
	ask("SELECT 1");
	if (!sqlite3_get_autocommit(db))
		must("ROLLBACK");
}

/* The shadow tables gone, or of another kind. */
static void
other_schemas(void)
{
	static const char *const kinds[] = {
		"SELECT 1",
		"CREATE TABLE %s (id INTEGER PRIMARY KEY)",
		"CREATE TABLE %s (a, b, c, d, e)",
		"CREATE TABLE %s (id INTEGER PRIMARY KEY, chunk BLOB, value, key)",
		"CREATE TABLE %s (id PRIMARY KEY, chunk BLOB) WITHOUT ROWID",
		"CREATE VIEW %s AS SELECT 1 AS id, x'00' AS chunk",
		"CREATE VIEW %s AS SELECT value AS id, zeroblob(500) AS chunk FROM number",
		"CREATE VIRTUAL TABLE %s USING cuckoofilter",
		"CREATE TABLE %s (id INTEGER PRIMARY KEY, chunk BLOB NOT NULL CHECK (length(chunk) < 5))",
		"CREATE TABLE %s (id INTEGER PRIMARY KEY, chunk BLOB COLLATE NOCASE UNIQUE)",
		"CREATE TABLE %s (id INTEGER PRIMARY KEY, chunk AS (zeroblob(id)) VIRTUAL)",
	};
	char sql[400];
	size_t k;
	int i;

	for (i = 0; i < shadow_count; i++)
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		{
			char create[300];

			sqlite3_snprintf((int)sizeof(create), create, kinds[k], shadows[i]);
			sqlite3_snprintf((int)sizeof(sql), sql, "DROP TABLE %s; %s", shadows[i], create);
			with_change(sql);
		}
	for (i = 0; i < shadow_count; i++)
	{
		sqlite3_snprintf((int)sizeof(sql), sql,
						 "CREATE TRIGGER hostile AFTER INSERT ON %s BEGIN DELETE FROM %s; END",
						 shadows[i], shadows[i]);
		with_change(sql);
		sqlite3_snprintf(
			(int)sizeof(sql), sql,
			"CREATE TRIGGER hostile AFTER UPDATE ON %s BEGIN INSERT INTO seen VALUES (5); "
			"DELETE FROM seen WHERE item = 7; END",
			shadows[i]);
		with_change(sql);
	}
}

int
main(void)
{
	const int rounds = (int)(ROUNDS * sample_percent() / 100);
	char sql[1000];
	int table, i, file;

	check_seed();
	snprintf(path, sizeof(path), "%s/table_hostile.XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	file = mkstemp(path);
	if (file < 0 || close(file) != 0)
		abort();
	for (table = 0; table < TABLES; table++)
	{
		unlink(path);
		make_database(tables[table]);
		printf("%s\n", tables[table]);
		fflush(stdout);
		errors = 0;
		with_change("SELECT 1");
		/* a second DROP, a removal from a set, a merge of unlike seeds */
		check_sql(errors <= 3, "a sound table has few errors");
		for (i = 0; i < rounds; i++)
		{
			with_change(random_change(sql, sizeof(sql)));
			flip_bits();
		}
		other_schemas();
		must("INSERT INTO seen(seen) VALUES ('integrity-check')");
		for (i = 0; i < rounds / 4; i++)
		{
			with_change_and_reopened(random_change(sql, sizeof(sql)));
			close_database();
			unlink(path);
			make_database(tables[table]);
		}
		printf("%lu errors\n", errors);
		close_database();
	}
	unlink(path);
	return check_end("sqlite-table-hostile");
}
