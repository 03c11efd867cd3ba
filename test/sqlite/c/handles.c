/*
 * handles.c - what a connection remembers: its handles, with limits so low that they are closed all
 * the time, and what it has written to SQLite's log.
 *
 * It is built with small CKFS_MAX_HANDLE_BYTES and CKFS_MAX_NAMES (see the Makefile) and linked
 * with the extension (SQLITE_CORE), under sanitizers: a statement that reads freed memory stops the
 * program.
 */
#include "check.h"
#include "sqlite3.h"

#include <stdlib.h>
#include <string.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

#define NOT_OPEN                                                                                   \
	"the cuckoofilter of this handle is not open: another connection opened it, or it was closed " \
	"as the least recently used one; call cuckoofilter_open again, or pass the filter itself"

enum
{
	HANDLE_SIZE = 24,
	HANDLES = 40,
	STEPS = 8000
};

static sqlite3 *db;
static unsigned long lines; /* of the log */
static char last_line[400];
static int last_code;

static void
log_line(void *data, int code, const char *text)
{
	(void)data;
	if (strncmp(text, "the cuckoofilter holds ", 23) != 0)
		return; /* SQLite's own */
	lines++;
	last_code = code;
	snprintf(last_line, sizeof(last_line), "%s", text);
}

static unsigned
random_below(unsigned n)
{
	return (unsigned)(check_random() % n);
}

/* The first value of a statement, whose parameters are a handle and a number, as text; or its
 * error's sentence.  Freed by the caller. */
static char *
answer(const char *sql, const void *handle, sqlite3_int64 number)
{
	sqlite3_stmt *statement;
	char *text;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return sqlite3_mprintf("%s", sqlite3_errmsg(db));
	if (sqlite3_bind_parameter_count(statement) > 1)
		sqlite3_bind_int64(statement, 2, number);
	if (handle)
		sqlite3_bind_blob(statement, 1, handle, HANDLE_SIZE, SQLITE_TRANSIENT);
	if (sqlite3_step(statement) == SQLITE_ROW)
		text = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
	else
		text = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return text;
}

static void
is(const char *sql, const void *handle, sqlite3_int64 number, const char *want)
{
	char *got = answer(sql, handle, number);
	char *what = sqlite3_mprintf("%s: got %s, want %s", sql, got, want);

	check(strcmp(got, want) == 0, what);
	sqlite3_free(what);
	sqlite3_free(got);
}

static void
execute(const char *sql)
{
	check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

static void
open_database(void)
{
	check(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
	check(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension");
	execute(
		"CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
		"FROM s WHERE value < 1000) SELECT value FROM s");
	/* part k has the numbers of rest k, and part 99 is larger than the limit by itself */
	execute("CREATE TABLE part AS SELECT value % 40 AS k, cuckoofilter_agg(value) AS f FROM number "
			"GROUP BY 1");
	execute(
		"INSERT INTO part SELECT 99, cuckoofilter_agg(a.value * 1000 + b.value) FROM number AS a, "
		"number AS b WHERE b.value < 30");
}

static void
open_part(int k, char *handle)
{
	sqlite3_stmt *statement;

	sqlite3_prepare_v2(db, "SELECT cuckoofilter_open(f) FROM part WHERE k = ?1", -1, &statement,
					   NULL);
	sqlite3_bind_int(statement, 1, k);
	check(sqlite3_step(statement) == SQLITE_ROW &&
			  sqlite3_column_bytes(statement, 0) == HANDLE_SIZE,
		  "a handle");
	memcpy(handle, sqlite3_column_blob(statement, 0), HANDLE_SIZE);
	sqlite3_finalize(statement);
}

/* ------------------------------------------------------------------ handles */

/* Open and ask at random.  A handle answers for its own filter or is an error; those
 * of the two used last answer. */
static void
try_random(void)
{
	static char handle[HANDLES][HANDLE_SIZE];
	bool opened[HANDLES] = {false};
	unsigned long answered = 0, dropped = 0;
	int last = -1, before = -1;
	int i;

	for (i = 0; i < STEPS; i++)
	{
		/* most of the time one of a few */
		int k = (int)random_below(random_below(4) > 0 ? 6 : HANDLES);
		char *got;

		if (!opened[k] || random_below(8) == 0)
		{
			open_part(k, handle[k]);
			opened[k] = true;
		}
		else
		{
			got = answer("SELECT cuckoofilter_contains_all(?1, ?2, ?2 + 40) || "
						 "cuckoofilter_count(?1)",
						 handle[k], k > 0 ? k : 40);
			if (strcmp(got, "125") == 0)
				answered++;
			else
			{
				dropped++;
				check(strcmp(got, NOT_OPEN) == 0, got);
				check(k != last && k != before, "of the two used last");
				opened[k] = false;
				sqlite3_free(got);
				continue;
			}
			sqlite3_free(got);
		}
		if (k != last)
		{
			before = last;
			last = k;
		}
	}
	printf("%lu answered, %lu dropped\n", answered, dropped);
	check(answered > 1000 && dropped > 200, "both happen");
}

/* One that is larger than the limit works, beside another one. */
static void
try_large(void)
{
	char large[HANDLE_SIZE], small[HANDLE_SIZE], other[HANDLE_SIZE];

	open_part(99, large);
	is("SELECT cuckoofilter_count(?1)", large, 0, "29000");
	open_part(1, small);
	is("SELECT cuckoofilter_count(?1)", small, 0, "25");
	is("SELECT cuckoofilter_count(?1)", large, 0, "29000");
	open_part(2, other);
	is("SELECT cuckoofilter_count(?1)", small, 0, NOT_OPEN);
	is("SELECT cuckoofilter_count(?1)", large, 0, "29000");
	is("SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(f) FROM part WHERE k = 99), "
	   "value * 1000 + 7) AND cuckoofilter_contains((SELECT cuckoofilter_open(f) FROM part WHERE "
	   "k = value % 40), value)) FROM number",
	   NULL, 0, "1000");
}

/* Statements go on while the handles that they hold are dropped: by themselves and by
 * others.  What they still have of a handle is its name, which is an error. */
static void
try_dropped_meanwhile(void)
{
	static const char *const dropping[] = {
		/* each row opens another, then asks the first */
		"SELECT cuckoofilter_count(h) FROM (SELECT cuckoofilter_open(f) AS h FROM part WHERE k = 3 "
		"LIMIT 1), (SELECT cuckoofilter_open(f) AS other, k FROM part ORDER BY k) WHERE "
		"cuckoofilter_count(other) > 0 ORDER BY k",
		"WITH all_of AS MATERIALIZED (SELECT k, cuckoofilter_open(f) AS h FROM part) SELECT "
		"sum(cuckoofilter_count(h)) FROM all_of",
		"SELECT cuckoofilter_count(max(h)) FROM (SELECT cuckoofilter_open(f) AS h FROM part)",
		"SELECT cuckoofilter_count(cuckoofilter_sum_agg(h)) FROM (SELECT cuckoofilter_open(f) AS h "
		"FROM part ORDER BY h)",
	};
	sqlite3_stmt *first, *second;
	char handle[HANDLE_SIZE], kept[HANDLE_SIZE];
	size_t i;

	for (i = 0; i < sizeof(dropping) / sizeof(dropping[0]); i++)
	{
		if (strstr(dropping[i], "MATERIALIZED") && sqlite3_libversion_number() < 3035000)
			continue;
		char *got = answer(dropping[i], NULL, 0);

		check(strcmp(got, NOT_OPEN) == 0 || strtoul(got, NULL, 10) > 0, got);
		sqlite3_free(got);
	}
	sqlite3_prepare_v2(db, "SELECT cuckoofilter_open(f), cuckoofilter_open(f) FROM part", -1,
					   &first, NULL);
	sqlite3_prepare_v2(db, "SELECT cuckoofilter_open(f) FROM part ORDER BY k DESC", -1, &second,
					   NULL);
	while (sqlite3_step(first) == SQLITE_ROW)
	{
		memcpy(kept, sqlite3_column_blob(first, 0), HANDLE_SIZE);
		for (i = 0; i < 7; i++)
			if (sqlite3_step(second) == SQLITE_ROW)
				memcpy(handle, sqlite3_column_blob(second, 0), HANDLE_SIZE);
		/* the row's values stay, whatever became of the filter */
		check(memcmp(sqlite3_column_blob(first, 0), kept, HANDLE_SIZE) == 0, "a row's value");
		check(memcmp(sqlite3_column_blob(first, 1), kept, HANDLE_SIZE) == 0, "a row's value");
	}
	sqlite3_finalize(first);
	sqlite3_finalize(second);
}

/* What is opened over and over takes the memory of one. */
static void
try_memory(void)
{
	sqlite3_int64 used;
	int i;

	is("SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(f) FROM part WHERE k = 3 AND "
	   "value > "
	   "0), value)) FROM number WHERE value % 40 = 3",
	   NULL, 0, "25");
	used = sqlite3_memory_used();
	for (i = 0; i < 50; i++)
		is("SELECT sum(cuckoofilter_contains((SELECT cuckoofilter_open(f) FROM part WHERE k = 3 "
		   "AND "
		   "value > 0), value)) FROM number WHERE value % 40 = 3",
		   NULL, 0, "25");
	check(sqlite3_memory_used() <= used, "no more memory for what is open");
	is("SELECT count(DISTINCT cuckoofilter_open(cuckoofilter_add(cuckoofilter_create(9), value))) "
	   "FROM number",
	   NULL, 0, "1000");
	used = sqlite3_memory_used();
	for (i = 0; i < 5; i++)
		is("SELECT count(cuckoofilter_open(cuckoofilter_add(cuckoofilter_create(9), value + ?2))) "
		   "FROM number WHERE ?1 IS NULL",
		   NULL, (i + 1) * 1000, "1000");
	check(sqlite3_memory_used() < used + 20000, "nor for what was dropped");
}

/* --------------------------------------------------------------------- log */

/* Ask; then the log has so many lines in all, and the last is this. */
static void
logs(const char *expression, unsigned long wanted, const char *line)
{
	char *sql = sqlite3_mprintf("SELECT %s FROM mixed", expression);
	char *got = answer(sql, NULL, 0);

	check(lines == wanted, sql);
	if (line)
	{
		check(strcmp(last_line, line) == 0, last_line);
		check(last_code == SQLITE_WARNING, sql);
		check(strcmp(got, "0") == 0, got);
	}
	sqlite3_free(got);
	sqlite3_free(sql);
}

static void
try_log(void)
{
	execute("CREATE TABLE mixed AS SELECT cuckoofilter_agg(value) AS numbers, "
			"cuckoofilter_agg('a' || value) AS texts, cuckoofilter_union_agg(cuckoofilter_add_all("
			"cuckoofilter_create(2000), value, x'01')) AS both, cuckoofilter_create(9) AS empty, "
			"cuckoofilter_agg_hash(cuckoofilter_hash(value)) AS hashes FROM number");
	lines = 0;
	logs("cuckoofilter_contains(numbers, 7)", 0, NULL);
	logs("cuckoofilter_contains(numbers, 7.5)", 0, NULL);
	logs("cuckoofilter_contains(numbers, NULL)", 0, NULL);
	logs("cuckoofilter_contains_hash(numbers, 7)", 0, NULL);
	logs("cuckoofilter_remove_hash(numbers, 7)", 0, NULL);
	logs("cuckoofilter_contains_any(empty, 'a', 7, x'01')", 0, NULL);
	logs("cuckoofilter_contains_any(hashes, 'a', 7, x'01')", 0, NULL);
	logs("cuckoofilter_add(numbers, 1001)", 0, NULL);
	logs("cuckoofilter_add_all(empty, 'a', x'01', 7)", 0, NULL);
	logs("cuckoofilter_add_agg(empty, 'a')", 0, NULL);
	logs("cuckoofilter_add_hash(numbers, 7)", 0, NULL);
	logs("cuckoofilter_union(numbers, texts)", 0, NULL);
	logs("cuckoofilter_contains(numbers, '7')", 1,
		 "the cuckoofilter holds numbers, the item is text");
	logs("cuckoofilter_contains(numbers, '8')", 1, NULL);
	logs("cuckoofilter_copies(numbers, '8')", 1, NULL);
	logs("cuckoofilter_remove(numbers, '8')", 1, NULL);
	logs("cuckoofilter_contains(cuckoofilter_open(numbers), '8')", 1, NULL);
	logs("cuckoofilter_contains_all(numbers, x'07')", 2,
		 "the cuckoofilter holds numbers, the item is bytes");
	logs("cuckoofilter_contains(texts, 7)", 3, "the cuckoofilter holds text, the item is a number");
	logs("cuckoofilter_contains(texts, 7.5)", 3, NULL);
	logs("cuckoofilter_contains(both, 'a')", 4,
		 "the cuckoofilter holds numbers and bytes, the item is text");
	logs("cuckoofilter_copies(texts, x'07')", 5, "the cuckoofilter holds text, the item is bytes");
	logs("cuckoofilter_contains(cuckoofilter_add(both, 'a'), 'a')", 5, NULL);
	/* another connection starts anew, and every lookup has its line */
	check(sqlite3_close(db) == SQLITE_OK, "close");
	open_database();
	execute(
		"CREATE TABLE mixed AS SELECT cuckoofilter_agg(value) AS numbers, 0 AS zero FROM number");
	logs("cuckoofilter_copies(numbers, '7')", 6,
		 "the cuckoofilter holds numbers, the item is text");
	logs("cuckoofilter_count(cuckoofilter_remove_all(numbers, 7, '7', x'07')) - 999", 7,
		 "the cuckoofilter holds numbers, the item is bytes");
	check(sqlite3_close(db) == SQLITE_OK, "close");
	open_database();
	execute("CREATE TABLE mixed AS SELECT cuckoofilter_agg(value) AS numbers FROM number");
	logs("cuckoofilter_count(cuckoofilter_remove(numbers, '7')) - 1000", 8,
		 "the cuckoofilter holds numbers, the item is text");
	logs("cuckoofilter_contains_any(numbers, 'a', x'07')", 9,
		 "the cuckoofilter holds numbers, the item is bytes");
	check(sqlite3_close(db) == SQLITE_OK, "close");
	open_database();
	/* so have additions, which are as likely a mistake */
	execute("CREATE TABLE mixed AS SELECT cuckoofilter_agg(value) AS numbers, "
			"cuckoofilter_agg('a' || value) AS texts FROM number");
	logs("cuckoofilter_count(cuckoofilter_add(numbers, '7')) - 1001", 10,
		 "the cuckoofilter holds numbers, the item is text");
	logs("cuckoofilter_count(cuckoofilter_add_all(numbers, 1001, '7', x'07')) - 1003", 11,
		 "the cuckoofilter holds numbers, the item is bytes");
	logs("cuckoofilter_count(cuckoofilter_add_agg(texts, 7)) - 1001", 12,
		 "the cuckoofilter holds text, the item is a number");
	/* filter tables, too */
	check(sqlite3_close(db) == SQLITE_OK, "close");
	open_database();
	execute("CREATE VIRTUAL TABLE seen USING cuckoofilter; INSERT INTO seen SELECT value FROM "
			"number; CREATE TABLE mixed AS SELECT 7 AS x");
	lines = 0;
	logs("(SELECT count(*) FROM seen WHERE item = 7) - 1", 0, NULL);
	logs("(SELECT count(*) FROM seen WHERE item = '7')", 1,
		 "the cuckoofilter holds numbers, the item is text");
	logs("(SELECT count(*) FROM seen WHERE item = '8')", 1, NULL);
}

/* Look up n - 1 items of a filter table in one statement, and then one of another class.  From the
 * 17th lookup on, a statement reads chunks without their rows; the log has the same line. */
static void
try_log_nth(bool of_numbers, unsigned n)
{
	static const char *const items[] = {"'a' || value", "value"};
	static const char *const says[] = {"the cuckoofilter holds text, the item is a number",
									   "the cuckoofilter holds numbers, the item is text"};
	char *fill = sqlite3_mprintf("CREATE VIRTUAL TABLE seen USING cuckoofilter; INSERT INTO seen "
								 "SELECT %s FROM number; CREATE TABLE mixed AS SELECT 7 AS x",
								 items[of_numbers]);
	char *ask = sqlite3_mprintf(
		"(SELECT sum((SELECT count(*) FROM seen WHERE item = CASE WHEN value < %u THEN %s ELSE %s "
		"END)) FROM number WHERE value <= %u) - %u",
		n, items[of_numbers], items[!of_numbers], n, n - 1);

	printf("item %u is %s\n", n, of_numbers ? "text" : "a number");
	open_database();
	execute(fill);
	lines = 0;
	is(of_numbers ? "SELECT count(*) FROM number CROSS JOIN seen ON item = value"
				  : "SELECT count(*) FROM number CROSS JOIN seen ON item = 'a' || value",
	   NULL, 0, "1000");
	logs(ask, 1, says[of_numbers]);
	logs(ask, 1, NULL);
	check(sqlite3_close(db) == SQLITE_OK, "close");
	sqlite3_free(fill);
	sqlite3_free(ask);
}

static void
try_log_in_statement(void)
{
	unsigned i;

	check(sqlite3_close(db) == SQLITE_OK, "close");
	for (i = 0; i < 12; i++)
		try_log_nth(i % 2, 1 + random_below(i % 4 < 2 ? 17 : 1000));
	/* a class that was added after the hints were learned is no reason for a line */
	open_database();
	execute("CREATE VIRTUAL TABLE seen USING cuckoofilter; INSERT INTO seen SELECT value FROM "
			"number; CREATE TABLE mixed AS SELECT 7 AS x");
	is("SELECT count(*) FROM number CROSS JOIN seen ON item = value", NULL, 0, "1000");
	execute("INSERT INTO seen SELECT 'a' || value FROM number");
	lines = 0;
	logs("(SELECT count(*) FROM number CROSS JOIN seen ON item = CASE WHEN value < 500 THEN value "
		 "ELSE 'a' || value END) - 1000",
		 0, NULL);
}

/* opens(): a function of a constraint, which opens many filters, twice. */
static void
open_many(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	static int times;

	(void)argc;
	(void)argv;
	if (times++ < 2)
		execute("INSERT INTO opened SELECT cuckoofilter_open(f) FROM part WHERE k < 40");
	sqlite3_result_int(ctx, 1);
}

/* A merge into a table reads a filter while a constraint of the shadow table opens so many others
 * that it would be dropped.  The filter has several segments: the rest is read after it ran. */
static void
try_merge(void)
{
	char handle[HANDLE_SIZE];

	sqlite3_create_function(db, "opens", 0, SQLITE_UTF8, NULL, open_many, NULL, NULL);

	execute("CREATE VIRTUAL TABLE merged USING cuckoofilter(fpr=0.01, capacity=400000);"
			"CREATE TABLE opened (h);"
			"ALTER TABLE merged_chunk ADD COLUMN opens CHECK (opens())");
	execute(
		"INSERT INTO part SELECT 100, cuckoofilter_agg(a.value * 1000 + b.value) FROM number AS "
		"a, number AS b WHERE b.value < 400");
	open_part(100, handle);
	is("INSERT INTO merged(merged, item) VALUES ('merge', ?1)", handle, 0,
	   sqlite3_errstr(SQLITE_DONE));
	is("SELECT sum((SELECT count(*) FROM merged WHERE item = value * 1000 + 7)) > 0 FROM "
	   "json_each('[1]')",
	   NULL, 0, "1");
	is("SELECT count(*) > 40 FROM opened", NULL, 0, "1");
	is("SELECT cuckoofilter_count(?1)", handle, 0, "399000");
	execute("DROP TABLE merged; DROP TABLE opened; DELETE FROM part WHERE k = 100");
}

int
main(void)
{
	check_seed();
	sqlite3_config(SQLITE_CONFIG_LOG, log_line, NULL);
	open_database();
	try_large();
	try_random();
	try_dropped_meanwhile();
	try_merge();
	try_memory();
	try_log();
	try_log_in_statement();
	check(sqlite3_close(db) == SQLITE_OK, "close");
	check(sqlite3_shutdown() == SQLITE_OK && sqlite3_memory_used() == 0,
		  "all memory is given back");
	return check_end("sqlite-handles-c");
}
