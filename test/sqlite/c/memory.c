/*
 * memory.c - every allocation fails once.
 *
 * Each statement runs with its first allocation failing, then the second, and so on until it
 * succeeds.  Before that it must report that memory is short; then it must give its usual result,
 * and leave the table and SQLite's memory as they were.  In UTF-16, the texts of our functions need
 * memory, too.  The extension is linked in (SQLITE_CORE), under sanitizers.
 */
#include "failing.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

static const char *const statements[] = {
	"SELECT hex(cuckoofilter_create(1000, 0.01, 'kind=set'))",
	"SELECT hex(cuckoofilter_add(few, 7)) FROM stored",
	"SELECT hex(cuckoofilter_add_all(many, 1, 'a', x'00', 2.5)) FROM stored",
	"SELECT hex(cuckoofilter_add_hash(full, 7)) FROM stored",
	"SELECT hex(cuckoofilter_remove_all(many, 1, 2, 3)) FROM stored",
	"SELECT cuckoofilter_contains(many, 7), cuckoofilter_copies(few, 7) FROM stored",
	"SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(many) FROM stored), value)) FROM "
	"number",
	/* handles of new filters, and what they are for */
	"SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(cuckoofilter_add(many, random())) "
	"FROM stored), value)) >= 500 FROM number",
	"SELECT cuckoofilter_count(h), length(cuckoofilter_info(h)) > 0 FROM (SELECT "
	"cuckoofilter_open(cuckoofilter_add(few, random())) AS h FROM stored LIMIT 1)",
	"SELECT length(cuckoofilter_add_all((SELECT cuckoofilter_open(many) FROM stored), NULL))",
	"SELECT cuckoofilter_count(x'636b662d6f70656e00000000000000000000000000000000')",
	"SELECT cuckoofilter_contains('before its filter', few) FROM stored",
	"SELECT cuckoofilter_create(9, '1%')",
	"SELECT hex(cuckoofilter_add_agg(many, value)) FROM stored, number",
	"SELECT hex(cuckoofilter_add_agg(iif(value = 300, few, NULL), 'item ' || value)) FROM stored, "
	"number",
	"SELECT cuckoofilter_add_agg(NULL, 'item ' || value) FROM number",
	"SELECT sum(length(f)) FROM (SELECT cuckoofilter_add_agg(few, value) OVER (ORDER BY value) AS "
	"f FROM stored, number WHERE value < 40)",
	"SELECT cuckoofilter_contains(many, 'text') FROM stored",
	"SELECT hex(cuckoofilter_union(few, many)), hex(cuckoofilter_sum(many, few)) FROM stored",
	"SELECT hex(cuckoofilter_intersect(few, many)), cuckoofilter_overlap(many, few), "
	"cuckoofilter_jaccard(many, many) FROM stored",
	"SELECT hex(cuckoofilter_intersect_agg(f)) FROM (SELECT few AS f FROM stored UNION ALL SELECT "
	"many "
	"FROM stored)",
	"SELECT hex(cuckoofilter_intersect_agg(f) OVER (ORDER BY n)) FROM (SELECT 1 AS n, few AS f "
	"FROM "
	"stored UNION ALL SELECT 2, many FROM stored)",
	"SELECT hex(cuckoofilter_compact(many)) FROM stored",
	"SELECT cuckoofilter_info(many), cuckoofilter_version() FROM stored",
	"SELECT cuckoofilter_bytes(1000, 0.01, 'kind=set')",
	"SELECT hex(cuckoofilter_agg_pair(value, 'p' || (value % 5), 0.001, 500)) FROM number",
	"SELECT hex(cuckoofilter_remove_pair(f, 7, 'x')), cuckoofilter_contains_pair(f, 7, 'x'), "
	"cuckoofilter_which(f, 7, '[\"x\", 1.5, \"\\u0078\", 2e400, 3]') FROM (SELECT "
	"cuckoofilter_add_pair(cuckoofilter_create(9), 7, 'x') AS f)",
	"SELECT hex(cuckoofilter_agg(value)) FROM number",
	"SELECT hex(cuckoofilter_agg(value, 0.001, 5000, 'bucket_size=8')) FROM number",
	"SELECT hex(cuckoofilter_agg(value)) FROM number GROUP BY value % 3 ORDER BY 1",
	"SELECT sum(length(f)) FROM (SELECT cuckoofilter_agg(value) OVER (ORDER BY value) AS f FROM "
	"number WHERE value < 40)",
	"SELECT hex(cuckoofilter_agg(1)) FROM number WHERE value < 0",
	"SELECT hex(cuckoofilter_union_agg(f)) FROM (SELECT few AS f FROM stored UNION ALL SELECT many "
	"FROM stored)",
	"SELECT hex(cuckoofilter_sum_agg(f)) FROM (SELECT many AS f FROM stored UNION ALL SELECT few "
	"FROM stored)",
	"SELECT cuckoofilter_hash(cast(zeroblob(1000) || value AS TEXT)) FROM number",
	"SELECT cuckoofilter_hash(zeroblob(1000 + value)) FROM number WHERE value < 9",
	"SELECT cuckoofilter_part(zeroblob(1000 + value), 64) FROM number WHERE value < 9",
	"SELECT cuckoofilter_contains_any(many, 'a' || few, 'b' || few) FROM stored",
	"UPDATE stored SET few = cuckoofilter_add(few, 7) RETURNING hex(few)",
	/* filter tables, in a transaction that is taken back; table_faults has whole ones */
	"CREATE VIRTUAL TABLE fresh USING cuckoofilter(fpr=0.001, capacity=5000, kind=set, seed=-5)",
	"CREATE VIRTUAL TABLE fresh USING cuckoofilter",
	"INSERT INTO seen VALUES (7), ('a')",
	"INSERT INTO seen(item) SELECT value FROM number",
	"INSERT INTO seen(item) SELECT value FROM number WHERE NOT EXISTS (SELECT 1 FROM seen WHERE "
	"item = value)",
	"SELECT item, copies, rowid FROM seen WHERE item IN (SELECT value FROM number)",
	"SELECT count(*) FROM number LEFT JOIN seen ON item = 'item ' || value WHERE item IS NULL",
	"DELETE FROM seen WHERE item IN (SELECT value FROM number)",
	"SELECT hex(cuckoofilter_export('seen')), hex(cuckoofilter_export('seen', 'main'))",
	"INSERT INTO seen(seen) VALUES ('optimize')",
	"INSERT INTO seen(seen) VALUES ('integrity-check')",
	"INSERT INTO seen(seen) VALUES ('delete-all')",
	"INSERT INTO seen(seen, item) SELECT 'merge', many FROM stored",
	"ALTER TABLE seen RENAME TO other",
	"DROP TABLE seen",
	/* errors, whose sentences need memory too */
	"CREATE VIRTUAL TABLE fresh USING cuckoofilter(colour=red)",
	"SELECT * FROM seen",
	"SELECT * FROM seen WHERE item = 'A' COLLATE NOCASE",
	"UPDATE seen SET item = 6 WHERE item = 5",
	"REPLACE INTO seen VALUES (5)",
	"INSERT INTO seen(seen) VALUES ('polish')",
	"INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(1, 0.001, 5000, 'seed=9')",
	"INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(value, 0.2) FROM number",
	"SELECT cuckoofilter_create(0)",
	"SELECT cuckoofilter_create(1, 0.1, 'colour=red')",
	"SELECT cuckoofilter_count('a')",
	"SELECT cuckoofilter_count(zeroblob(1000))",
	"SELECT cuckoofilter_agg(value, 2.0) FROM number",
};
enum
{
	STATEMENTS = sizeof(statements) / sizeof(statements[0])
};

static sqlite3 *db;

/* Step through a statement; its rows, or its error's sentence, end up in `result`. */
static int
step(sqlite3_stmt *stmt, char *result)
{
	int rc;

	result[0] = '\0';
	rc = step_all(stmt, result);
	if (rc == SQLITE_ERROR)
		snprintf(result, LONGEST, "error: %s", sqlite3_errmsg(db));
	return rc;
}

/* Run a statement in a transaction that is taken back. */
static int
run(const char *sql, char *result, long failure)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	has_failed = false;
	until_failure = failure;
	rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = step(stmt, result);
	until_failure = -1;
	sqlite3_finalize(stmt);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* unless the failure has done it */
	return rc;
}

/* The same statement over and over, with each of its allocations failing, or a sample of them. */
static void
exhaust(const char *sql)
{
	char *want = malloc(LONGEST), *got = malloc(LONGEST);
	int wanted_rc = run(sql, want, -1);
	sqlite3_int64 used = sqlite3_memory_used();
	long n = sample_start(), runs = 0;
	int rc;

	do
	{
		rc = run(sql, got, n);
		n += sample_step();
		runs++;
		if (rc == SQLITE_NOMEM)
			check(has_failed, sql);
		else /* SQLite can do without some memory */
			check(rc == wanted_rc && strcmp(got, want) == 0, sql);
	} while (has_failed);
	check(sqlite3_memory_used() <= used + 4096, "no memory is left behind");
	printf("%5ld failures: %.80s\n", runs - 1, sql);
	free(want);
	free(got);
}

static void
open_database(const char *encoding)
{
	static const char schema[] =
		"CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
		"FROM s WHERE value < 500) SELECT value FROM s;"
		"CREATE TABLE stored AS SELECT cuckoofilter_agg(value) FILTER (WHERE value < 9) AS few, "
		"cuckoofilter_agg(value, 0.001, 5000) AS many, NULL AS full FROM number;"
		/* a table without room for more */
		"UPDATE stored SET full = (SELECT cuckoofilter_compact(many) FROM stored);"
		"CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=0.001, capacity=5000);"
		"INSERT INTO seen(item) SELECT value FROM number WHERE value < 400";

	check(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
	check(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension");
	check(sqlite3_exec(db, encoding, NULL, NULL, NULL) == SQLITE_OK, encoding);
	check(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK, "schema");
}

/* A connection's first steps with each of their allocations failing: an entry point that
 * fails leaves no function behind, as SQLite unloads a module then. */
static void
exhaust_start(void)
{
	static const char statement[] =
		"SELECT cuckoofilter_count(cuckoofilter_open(cuckoofilter_create(1)))";
	static char result[LONGEST];
	sqlite3_int64 used = sqlite3_memory_used();
	sqlite3_stmt *stmt;
	long n = 0;
	int rc;

	do
	{
		check(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
		has_failed = false;
		until_failure = n++;
		rc = sqlite3_cuckoofilter_init(db, NULL, NULL);
		if (rc != SQLITE_OK)
		{
			until_failure = -1;
			check(rc == SQLITE_NOMEM && has_failed, "the entry point");
			rc = sqlite3_prepare_v2(db, "SELECT cuckoofilter_version()", -1, &stmt, NULL);
			check(rc == SQLITE_ERROR, "no function is left");
			rc = sqlite3_prepare_v2(db, "SELECT cuckoofilter_agg(1, 0.1)", -1, &stmt, NULL);
			check(rc == SQLITE_ERROR, "no aggregate is left");
		}
		else
		{
			stmt = NULL;
			rc = sqlite3_prepare_v2(db, statement, -1, &stmt, NULL);
			if (rc == SQLITE_OK)
				rc = step(stmt, result);
			until_failure = -1;
			check(rc == SQLITE_NOMEM ? has_failed : strcmp(result, "0|") == 0, statement);
			sqlite3_finalize(stmt);
		}
		check(sqlite3_close(db) == SQLITE_OK, "close");
		check(sqlite3_memory_used() == used, "no memory is left behind");
	} while (has_failed);
	printf("%5ld allocations: the entry point, and a first handle\n", n - 1);
}

static void
exhaust_all(const char *encoding)
{
	int i;

	puts(encoding);
	open_database(encoding);
	for (i = 0; i < STATEMENTS; i++)
		exhaust(statements[i]);
	check(sqlite3_close(db) == SQLITE_OK, "close");
}

int
main(void)
{
	install_failing_memory();
	exhaust_start();
	exhaust_all("PRAGMA encoding = 'UTF-8'");
	exhaust_all("PRAGMA encoding = 'UTF-16'");
	check(sqlite3_shutdown() == SQLITE_OK && sqlite3_memory_used() == 0,
		  "all memory is given back");
	return check_end("sqlite-memory");
}
