/*
 * library.c - one build of the extension with many versions of the SQLite library.
 *
 * The extension is loaded with the library's table of routines, except for the routine that reports
 * the version, and sqlite3_is_interrupted, which is at the index where SQLite 3.41 has it.  So this
 * program can simulate each version with any library.  Long calls are interrupted at each of their
 * checks in turn: each call must report the interrupt, and leave SQLite's memory as it was before.
 */
#include "check.h"

#define SQLITE_CORE /* the routines' names are functions here */
#include "sqlite3ext.h"

#include <dlfcn.h>
#include <string.h>

enum
{
	ROUTINES = 512,
	IS_INTERRUPTED = 266 /* sqlite3ext.h of 3.41: the 267th member */
};

typedef int entry_point(sqlite3 *db, char **error, const sqlite3_api_routines *api);
typedef void routine(void);

static const sqlite3_api_routines *real;
static union
{
	sqlite3_api_routines known;
	routine *all[ROUTINES];
} fake;
static entry_point *init;
static int version;
static long looks, looks_until; /* interrupted at the last; 0: never */

static int
fake_version(void)
{
	return version;
}

static int
fake_is_interrupted(sqlite3 *db)
{
	(void)db;
	looks++;
	return looks_until > 0 && looks >= looks_until;
}

static int
take_routines(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	(void)db;
	(void)error;
	real = api;
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ versions */

static void
try_versions(void)
{
	static const struct
	{
		int version;
		bool does;
	} versions[] = {{3007017, false}, {3033000, false}, {3034000, true}, {3040001, true},
					{3041000, true},  {3999000, true},  {4000000, true}};
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
	{
		sqlite3 *db;
		char *error = NULL;
		int rc;

		version = versions[i].version;
		real->open(":memory:", &db);
		rc = init(db, &error, &fake.known);
		check_found((rc == SQLITE_OK) == versions[i].does, "version", error);
		check_found((error != NULL) != versions[i].does, "sentence", error);
		check_found(versions[i].does ||
						strncmp(error, "cuckoofilter needs SQLite 3.34.0 or later, not 3.", 49) ==
							0,
					"sentence", error);
		rc = real->exec(db, "SELECT cuckoofilter_version()", NULL, NULL, NULL);
		check_found((rc == SQLITE_OK) == versions[i].does, "functions", real->errmsg(db));
		real->free(error);
		real->close(db);
	}
	version = 3033000;
	check_found(init(NULL, NULL, &fake.known) == SQLITE_ERROR, "no place for a sentence", "");
}

/* ---------------------------------------------------------------- interrupts */

static const char *const setup =
	"CREATE TABLE number AS WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n "
	"WHERE value < 120000) SELECT value FROM n;"
	"CREATE TABLE stored AS SELECT (SELECT cuckoofilter_agg(value) FROM number WHERE value <= "
	"80000) AS a, (SELECT cuckoofilter_agg(value) FROM number WHERE value > 40000) AS b, "
	"(SELECT cuckoofilter_agg(value) FROM number WHERE value < 3) AS few;";

static const char *const statements[] = {
	"SELECT cuckoofilter_count(cuckoofilter_union(a, b)) FROM stored",
	"SELECT cuckoofilter_count(cuckoofilter_sum(a, b)) FROM stored",
	"SELECT cuckoofilter_count(cuckoofilter_compact(a)) FROM stored",
	"SELECT cuckoofilter_info(a) FROM stored",
	"SELECT cuckoofilter_count(cuckoofilter_agg(value)) FROM number",
	"SELECT cuckoofilter_count(cuckoofilter_union_agg(f)) FROM (SELECT a AS f FROM stored UNION "
	"ALL SELECT b FROM stored)",
	"SELECT cuckoofilter_count(cuckoofilter_sum_agg(f)) FROM (SELECT a AS f FROM stored UNION ALL "
	"SELECT b FROM stored)",
	"SELECT cuckoofilter_count(cuckoofilter_add_all(few, 3, 4, 5, 6)) FROM stored",
};

/* Run a statement of one row; its text, up to `size` bytes. */
static int
run(sqlite3 *db, const char *sql, char *text, int size)
{
	sqlite3_stmt *statement;
	int rc = real->prepare_v2(db, sql, -1, &statement, NULL);

	text[0] = '\0';
	if (rc == SQLITE_OK && real->step(statement) == SQLITE_ROW)
		real->xsnprintf(size, text, "%s", (const char *)real->column_text(statement, 0));
	return rc == SQLITE_OK ? real->finalize(statement) : rc;
}

static void
interrupt_each(sqlite3 *db, const char *sql)
{
	char wanted[1000], got[1000];
	sqlite3_int64 used;
	long all, i;

	looks = looks_until = 0;
	check_found(run(db, sql, wanted, sizeof(wanted)) == SQLITE_OK, sql, real->errmsg(db));
	all = looks;
	check_found(all >= 1, sql, "it looks for interrupts");
	used = 0;
	for (i = 1; i <= all; i += 1 + all / 20)
	{
		looks = 0;
		looks_until = i;
		check_found(run(db, sql, got, sizeof(got)) == SQLITE_INTERRUPT, sql, real->errmsg(db));
		/* an aggregate is asked for its end, too, to which it does not come either */
		check_found(looks == i || looks == i + 1, sql, "it ends at once");
		check_found(used == 0 || real->memory_used() == used, sql, "memory as before");
		used = real->memory_used();
	}
	looks_until = 0;
	check_found(run(db, sql, got, sizeof(got)) == SQLITE_OK && strcmp(got, wanted) == 0, sql, got);
	printf("%5ld looks: %s\n", all, sql);
}

static void
try_interrupts(void)
{
	sqlite3 *db;
	char text[100];
	char *error = NULL;
	size_t i;

	version = 3041000;
	real->open(":memory:", &db);
	check_found(init(db, &error, &fake.known) == SQLITE_OK, "start", error);
	check_found(real->exec(db, setup, NULL, NULL, NULL) == SQLITE_OK, "setup", real->errmsg(db));
	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		interrupt_each(db, statements[i]);

	/* before 3.41 there is nothing to ask */
	version = 3040001;
	looks = 0;
	looks_until = 1;
	check_found(run(db, statements[0], text, sizeof(text)) == SQLITE_OK && looks == 0, "3.40",
				text);
	real->close(db);
}

int
main(void)
{
	void *module = dlopen("build/sqlite/cuckoofilter.so", RTLD_NOW | RTLD_LOCAL);
	sqlite3 *db;

	if (!module)
	{
		printf("FAILED: %s\nsqlite-library: 0 passed, 1 failed\n", dlerror());
		return 1;
	}
	*(void **)&init = dlsym(module, "sqlite3_cuckoofilter_init");
	sqlite3_auto_extension((routine *)take_routines);
	sqlite3_open(":memory:", &db);
	sqlite3_close(db);
	fake.known = *real;
	fake.known.libversion_number = fake_version;
	fake.all[IS_INTERRUPTED] = (routine *)fake_is_interrupted;
	try_versions();
	try_interrupts();
	return check_end("sqlite-library");
}
