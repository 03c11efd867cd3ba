/*
 * table_faults.c - filter tables while memory and disk fail.
 *
 * Each script runs on a copy of a database with the first allocation failing, then the second, and
 * so on until it succeeds; then the same with each read, write, sync and truncation of a file.  If
 * it fails, it must end with an error and never with a wrong answer.  The table is then as it was
 * before or after the script, also for the next process that opens the file, and all of SQLite's
 * memory is freed.  The extension is linked in (SQLITE_CORE), under sanitizers.
 */
#define _XOPEN_SOURCE 700
#include "failing.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

/* What a script's last statement gives is its answer. */
static const char *const scripts[] = {
	"SELECT count(*), sum(copies) FROM number JOIN seen ON item = value",
	"SELECT count(*) FROM number WHERE NOT EXISTS (SELECT 1 FROM seen WHERE item = value)",
	"SELECT count(*) FROM seen WHERE item IN (SELECT value FROM number WHERE value < 200)",
	"SELECT hex(cuckoofilter_export('seen'))",
	"SELECT hex(cuckoofilter_export('few'))",
	"INSERT INTO seen VALUES ('one more')",
	"INSERT INTO few(item) SELECT value FROM number WHERE value < 100",
	"INSERT INTO seen(item) SELECT value FROM number WHERE value > 400",
	"BEGIN; INSERT INTO seen(item) SELECT value FROM number WHERE value > 580; SELECT sum(copies) "
	"FROM number JOIN seen ON item = value; DELETE FROM seen WHERE item IN (5, 6, 590); COMMIT",
	"BEGIN; INSERT INTO seen VALUES (5001); SAVEPOINT a; INSERT INTO seen VALUES (5002); SAVEPOINT "
	"b; INSERT INTO seen VALUES (5003); ROLLBACK TO a; INSERT INTO seen VALUES (5004); RELEASE a; "
	"COMMIT",
	"BEGIN; INSERT INTO seen VALUES (5001), (5002); INSERT INTO seen(item) SELECT value + 5000 "
	"FROM number WHERE value < 9; COMMIT",
	"BEGIN; INSERT INTO seen VALUES (5001); PRAGMA query_only = 1; SELECT count(*) FROM seen WHERE "
	"item = 5001; COMMIT",
	"BEGIN; INSERT INTO seen VALUES (5001); PRAGMA query_only = 1; COMMIT",
	"DELETE FROM seen WHERE item IN (SELECT value FROM number WHERE value < 50)",
	"INSERT INTO seen(item) SELECT value FROM number WHERE NOT EXISTS (SELECT 1 FROM seen WHERE "
	"item = value)",
	"INSERT INTO seen(seen) VALUES ('optimize')",
	"INSERT INTO seen(seen) VALUES ('integrity-check')",
	"INSERT INTO seen(seen) VALUES ('delete-all')",
	"INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(value + 5000, 0.001, 10000) "
	"FROM number",
	"INSERT INTO seen(seen, item) SELECT 'merge', zeroblob(100)",
	"BEGIN; ALTER TABLE seen RENAME TO other; ALTER TABLE other RENAME TO seen; COMMIT",
	"CREATE VIRTUAL TABLE fresh USING cuckoofilter(kind=set, seed=5, bucket_size=8); INSERT INTO "
	"fresh VALUES (1), ('a'); SELECT count(*) FROM fresh WHERE item IN (1, 'a', 2)",
	"CREATE VIRTUAL TABLE bad USING cuckoofilter(colour=red)",
	"DROP TABLE few",
	"SELECT * FROM seen",
	"UPDATE seen SET item = 6 WHERE item = 5",
	"VACUUM",
};
enum
{
	SCRIPTS = sizeof(scripts) / sizeof(scripts[0])
};

static const char *path, *before_path;

/* ----------------------------------------------------------------- faults */

/*
 * A VFS whose files are those of the system's, but that their methods are in a copy
 * of the table in which some are ours.  Behind each file stand the system's own.
 */
static sqlite3_vfs *system_vfs;
static sqlite3_vfs failing_vfs;

typedef struct methods
{
	sqlite3_io_methods ours;
	const sqlite3_io_methods *theirs;
} methods;

static methods known[8];

static const sqlite3_io_methods *
theirs(sqlite3_file *file)
{
	return ((const methods *)(const void *)file->pMethods)->theirs;
}

static int
failing_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	return fails(DISK) ? SQLITE_IOERR_READ : theirs(file)->xRead(file, to, size, at);
}

static int
failing_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
	return fails(DISK) ? SQLITE_FULL : theirs(file)->xWrite(file, from, size, at);
}

static int
failing_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return fails(DISK) ? SQLITE_IOERR_TRUNCATE : theirs(file)->xTruncate(file, size);
}

static int
failing_sync(sqlite3_file *file, int flags)
{
	return fails(DISK) ? SQLITE_IOERR_FSYNC : theirs(file)->xSync(file, flags);
}

static int
failing_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	const sqlite3_io_methods *real;
	methods *m = known;
	int rc = system_vfs->xOpen(system_vfs, name, file, flags, out);

	(void)vfs;
	real = file->pMethods;
	if (!real)
		return rc;
	while (m->theirs && m->theirs != real)
		m++;
	m->theirs = real;
	m->ours = *real;
	m->ours.xRead = failing_read;
	m->ours.xWrite = failing_write;
	m->ours.xTruncate = failing_truncate;
	m->ours.xSync = failing_sync;
	m->ours.xFetch = NULL; /* no mapped memory: all is read */
	m->ours.xUnfetch = NULL;
	if (m->ours.iVersion > 2)
		m->ours.iVersion = 2;
	file->pMethods = &m->ours;
	return rc;
}

/* -------------------------------------------------------------- a database */

static sqlite3 *
open_database(void)
{
	sqlite3 *db;

	check_found(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "failing") ==
					SQLITE_OK,
				"open", path);
	check_found(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension", "");
	sqlite3_exec(db, "PRAGMA synchronous = normal", NULL, NULL, NULL);
	return db;
}

static void
copy_file(const char *from, const char *to)
{
	static char bytes[1 << 16];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n;

	if (!in || !out)
		abort();
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		fwrite(bytes, 1, n, out);
	fclose(in);
	fclose(out);
}

static void
remove_files(void)
{
	static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
	char name[300];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
	{
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

/* Run a script; the last rows that it gives, or its error's sentence, end up in `answer`. */
static int
run(sqlite3 *db, const char *sql, char *answer)
{
	int rc = SQLITE_OK;

	answer[0] = '\0';
	while (rc == SQLITE_OK && *sql)
	{
		sqlite3_stmt *stmt = NULL;
		int ended;

		rc = sqlite3_prepare_v2(db, sql, -1, &stmt, &sql);
		if (rc != SQLITE_OK || !stmt)
			break;
		rc = step_all(stmt, answer);
		ended = sqlite3_finalize(stmt);
		if (rc == SQLITE_DONE)
			rc = ended;
	}
	if (rc == SQLITE_ERROR)
		snprintf(answer, LONGEST, "error: %s", sqlite3_errmsg(db));
	return rc;
}

/* What the tables hold, and that they are sound. */
static void
describe(sqlite3 *db, char *answer)
{
	static const char first[] =
		"SELECT count(*), sum(copies), sum(copies * value) FROM (SELECT value FROM number UNION "
		"ALL "
		"SELECT value + 5000 FROM number UNION ALL SELECT 'one more') JOIN seen ON item = value";
	static const char second[] =
		"SELECT count(*), sum(copies * value) FROM number JOIN few ON item = value";
	static const char third[] = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema "
								"ORDER BY name); PRAGMA integrity_check";
	static char more[LONGEST];
	int rc;

	rc = run(db, "INSERT INTO seen(seen) VALUES ('integrity-check')", more);
	check_found(rc == SQLITE_OK, "the table's own check", more[0] ? more : sqlite3_errmsg(db));
	rc = run(db, first, answer);
	check_found(rc == SQLITE_OK, "the items", sqlite3_errmsg(db));
	run(db, second, more); /* it may have been dropped */
	strcat(answer, more);
	rc = run(db, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema ORDER BY name)",
			 more);
	check_found(rc == SQLITE_OK, "the schema", sqlite3_errmsg(db));
	strcat(answer, more);
	rc = run(db, third, more);
	check_found(rc == SQLITE_OK && strcmp(more, "ok|") == 0, "PRAGMA integrity_check", more);
}

/* A script on a fresh copy with one failure.  True: none came. */
static bool
run_once(const char *sql, long n, const char *want_answer, const char *before, const char *after)
{
	static char answer[LONGEST], left[LONGEST];
	sqlite3_int64 used = sqlite3_memory_used();
	bool was_complete;
	sqlite3 *db;
	int rc;

	remove_files();
	copy_file(before_path, path);
	db = open_database();
	has_failed = false;
	until_failure = n;
	rc = run(db, sql, answer);
	until_failure = -1;
	was_complete = !has_failed;
	if (rc == SQLITE_OK || rc == SQLITE_ERROR) /* SQLite can do without some of it */
		check_found(strcmp(answer, want_answer) == 0 || (rc == SQLITE_ERROR && has_failed), sql,
					answer);
	else
		check_found(has_failed, sql, sqlite3_errstr(rc));
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(db, "PRAGMA query_only = 0", NULL, NULL, NULL);
	describe(db, left);
	check_found(strcmp(left, after) == 0 || (has_failed && strcmp(left, before) == 0), sql, left);
	check_found(rc == SQLITE_OK || strcmp(left, before) == 0 || strcmp(left, after) == 0, sql,
				left);
	check_found(sqlite3_close(db) == SQLITE_OK, "close", sql);
	db = open_database();
	strcpy(answer, left);
	describe(db, left);
	check_found(strcmp(left, answer) == 0, "for who opens it next", left);
	check_found(sqlite3_close(db) == SQLITE_OK, "close", sql);
	check_found(sqlite3_memory_used() == used, "no memory is left behind", sql);
	return was_complete;
}

/* The same script over and over; past some tens, not at every single call, and of these calls
 * ROUNDS per cent, which SEED shifts. */
static void
exhaust(const char *sql)
{
	static char want[LONGEST], before[LONGEST], after[LONGEST];
	sqlite3 *db;
	const long step = sample_step();
	long n, runs = 0;

	remove_files();
	copy_file(before_path, path);
	db = open_database();
	describe(db, before);
	run(db, sql, want);
	sqlite3_exec(db, "PRAGMA query_only = 0", NULL, NULL, NULL);
	describe(db, after);
	sqlite3_close(db);
	for (n = sample_start(); !run_once(sql, n, want, before, after); n += (1 + n / 20) * step)
		runs++;
	printf("%5ld of %5ld %s: %.70s\n", runs, n, kind == MEMORY ? "allocations" : "file calls", sql);
	fflush(stdout);
}

static void
make_database(const char *journal)
{
	static const char schema[] =
		"CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
		"FROM s WHERE value < 600) SELECT value FROM s;"
		"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=0.001, capacity=10000);"
		"CREATE VIRTUAL TABLE few USING cuckoofilter;"
		"INSERT INTO seen(item) SELECT value FROM number WHERE value < 540;"
		"INSERT INTO few(item) SELECT value FROM number WHERE value < 20";
	char pragma[200];
	sqlite3 *db;

	remove_files();
	db = open_database();
	snprintf(pragma, sizeof(pragma), "PRAGMA page_size = 1024; PRAGMA journal_mode = %s", journal);
	check_found(sqlite3_exec(db, pragma, NULL, NULL, NULL) == SQLITE_OK, pragma,
				sqlite3_errmsg(db));
	check_found(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK, "schema",
				sqlite3_errmsg(db));
	check_found(sqlite3_close(db) == SQLITE_OK, "close", "");
	copy_file(path, before_path);
}

int
main(void)
{
	static const char *const journals[] = {"delete", "wal"};
	static char directory[200], names[2][250];
	int i, j;

	install_failing_memory();
	system_vfs = sqlite3_vfs_find(NULL);
	failing_vfs = *system_vfs;
	failing_vfs.zName = "failing";
	failing_vfs.xOpen = failing_open;
	sqlite3_vfs_register(&failing_vfs, 0);

	snprintf(directory, sizeof(directory), "%s/table_faults.XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(directory))
		abort();
	snprintf(names[0], sizeof(names[0]), "%s/test.db", directory);
	snprintf(names[1], sizeof(names[1]), "%s/before.db", directory);
	path = names[0];
	before_path = names[1];
	for (j = 0; j < 2; j++)
	{
		make_database(journals[j]);
		for (i = 0; i < SCRIPTS; i++)
		{
			/* what memory does is the same in both */
			for (kind = j == 0 ? MEMORY : DISK; kind <= DISK; kind++)
				exhaust(scripts[i]);
		}
	}
	remove_files();
	unlink(before_path);
	rmdir(directory);
	return check_end("sqlite-table-faults");
}
