/*
 * hostile.c - bytes that are not a filter, through every SQL function.
 *
 * The extension is linked in (SQLITE_CORE), and everything runs under AddressSanitizer and
 * UndefinedBehaviorSanitizer: each call must give an error or an answer, and never crash.  SEED=n
 * replays a run.
 */
#include "check.h"
#include "sqlite3.h"

#include <stdlib.h>
#include <string.h>

int sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const void *api);

/* ?1 is the hostile filter, ?2 a sound one. */
static const char *const statements[] = {
	"SELECT cuckoofilter_count(?1)",
	"SELECT cuckoofilter_fpr(?1)",
	"SELECT cuckoofilter_info(?1)",
	"SELECT cuckoofilter_contains(?1, 7), cuckoofilter_contains(?1, 'a')",
	"SELECT sum(cuckoofilter_contains_hash(?1, cuckoofilter_hash(value))) FROM number",
	"SELECT cuckoofilter_contains_any(?1, 1, 2, 3), cuckoofilter_contains_all(?1, 1, 2, 3)",
	"SELECT cuckoofilter_copies(?1, 7)",
	"SELECT cuckoofilter_contains(cuckoofilter_open(?1), 7)",
	"SELECT length(cuckoofilter_add(?1, 7)), length(cuckoofilter_add_hash(?1, -1))",
	"SELECT length(cuckoofilter_add_all(?1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))",
	"SELECT length(cuckoofilter_remove_all(?1, 1, 2, 3)), length(cuckoofilter_remove_hash(?1, 0))",
	"SELECT length(cuckoofilter_compact(?1))",
	"SELECT length(cuckoofilter_compact(cuckoofilter_add(?1, 7)))",
	"SELECT length(cuckoofilter_union(?1, ?2)), length(cuckoofilter_union(?2, ?1))",
	"SELECT length(cuckoofilter_intersect(?1, ?2)), length(cuckoofilter_intersect(?2, ?1))",
	"SELECT cuckoofilter_overlap_error(?1, ?2), cuckoofilter_overlap(?1, ?2), cuckoofilter_jaccard(?2, ?1)",
	"SELECT length(cuckoofilter_intersect_agg(f)) FROM (SELECT ?2 AS f UNION ALL SELECT ?1)",
	"SELECT length(cuckoofilter_sum(?1, ?2)), length(cuckoofilter_sum(?1, ?1))",
	"SELECT length(cuckoofilter_union_agg(f)) FROM (SELECT ?2 AS f UNION ALL SELECT ?1)",
	"SELECT length(cuckoofilter_sum_agg(f)) FROM (SELECT ?1 AS f UNION ALL SELECT ?2)",
};
enum
{
	STATEMENTS = sizeof(statements) / sizeof(statements[0]),
	FLIPS = 600, /* random changes of each sound filter */
};

/* Sound filters of every encoding, layout and kind. */
static const char *const recipes[] = {
	"SELECT cuckoofilter_create(1000)",
	"SELECT cuckoofilter_agg(value) FROM number WHERE value < 5",
	"SELECT cuckoofilter_agg(value) FROM number",
	"SELECT cuckoofilter_agg(value, 0.001, 5000, 'kind=set,seed=9') FROM number",
	"SELECT cuckoofilter_agg(value, 0.01, 0, 'layout=plain') FROM number",
	"SELECT cuckoofilter_agg(value, 0.0001, 0, 'bucket_size=2') FROM number",
	"SELECT cuckoofilter_agg(value, 0.000001, 1000000, 'bucket_size=8') FROM number",
};
enum
{
	RECIPES = sizeof(recipes) / sizeof(recipes[0])
};

typedef struct bytes
{
	uint8_t *at;
	int size;
} bytes;

static sqlite3 *db;
static sqlite3_stmt *prepared[STATEMENTS];
static bytes sound; /* ?2 */

static void
check_sql(bool ok, const char *what)
{
	check_found(ok, what, sqlite3_errmsg(db));
}

/* The BLOB that a query gives. */
static bytes
query(const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	bytes result = {NULL, 0};

	check_sql(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, sql);
	check_sql(sqlite3_step(stmt) == SQLITE_ROW, sql);
	result.size = sqlite3_column_bytes(stmt, 0);
	result.at = malloc((size_t)result.size + 1);
	memcpy(result.at, sqlite3_column_blob(stmt, 0), (size_t)result.size);
	sqlite3_finalize(stmt);
	return result;
}

/*
 * Every function takes the bytes, in memory of exactly their size, and gives
 * an answer or a sentence of the extension: not one about memory.
 */
static void
feed(const uint8_t *at, int size)
{
	uint8_t *exact = malloc((size_t)size + !size);
	bool fine = true;
	int i;

	memcpy(exact, at, (size_t)size);
	for (i = 0; i < STATEMENTS && fine; i++)
	{
		sqlite3_stmt *stmt = prepared[i];
		int rc;

		sqlite3_bind_blob(stmt, 1, exact, size, SQLITE_STATIC);
		if (sqlite3_bind_parameter_count(stmt) > 1)
			sqlite3_bind_blob(stmt, 2, sound.at, sound.size, SQLITE_STATIC);
		rc = sqlite3_step(stmt);
		fine =
			rc == SQLITE_ROW || (rc == SQLITE_ERROR && strstr(sqlite3_errmsg(db), "cuckoofilter"));
		if (!fine)
			check_sql(false, statements[i]);
		sqlite3_reset(stmt);
	}
	passed += fine;
	free(exact);
}

/* Each byte of the header takes values that mean something somewhere. */
static void
break_header(bytes filter)
{
	static const uint8_t values[] = {0, 1, 2, 3, 4, 8, 13, 31, 56, 63, 64, 127, 128, 254, 255};
	size_t i;
	int at;

	for (at = 0; at < 48; at++)
	{
		uint8_t old = filter.at[at];

		for (i = 0; i < sizeof(values); i++)
		{
			filter.at[at] = values[i];
			feed(filter.at, filter.size);
		}
		filter.at[at] = old;
	}
}

static void
cut(bytes filter)
{
	int size;

	for (size = 0; size < filter.size; size++)
		feed(filter.at, size);
}

/* Some bits, bytes, or a stretch of random bytes. */
static void
flip(bytes filter)
{
	uint8_t *copy = malloc((size_t)filter.size);
	int i, n;

	for (i = 0; i < FLIPS; i++)
	{
		memcpy(copy, filter.at, (size_t)filter.size);
		for (n = (int)(check_random() % 8); n >= 0; n--)
		{
			uint64_t number = check_random();
			int at = (int)((number >> 8) % (uint64_t)(number & 1 ? filter.size : 48));

			copy[at] =
				number & 2 ? (uint8_t)(number >> 40) : copy[at] ^ (uint8_t)(1 << (number >> 61));
		}
		feed(copy, filter.size);
	}
	for (i = 48; i < filter.size; i++)
		copy[i] = (uint8_t)check_random();
	memcpy(copy, filter.at, 48);
	feed(copy, filter.size);
	free(copy);
}

static void
open_database(void)
{
	int i;

	check_sql(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
	check_sql(sqlite3_cuckoofilter_init(db, NULL, NULL) == SQLITE_OK, "the static extension");
	check_sql(sqlite3_exec(db,
						   "CREATE TABLE number AS WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL "
						   "SELECT value + 1 FROM s WHERE value < 120) SELECT value FROM s",
						   NULL, NULL, NULL) == SQLITE_OK,
			  "table");
	for (i = 0; i < STATEMENTS; i++)
		check_sql(sqlite3_prepare_v2(db, statements[i], -1, &prepared[i], NULL) == SQLITE_OK,
				  statements[i]);
	sound = query("SELECT cuckoofilter_agg(value + 60) FROM number");
}

int
main(void)
{
	int i;

	check_seed();
	open_database();
	for (i = 0; i < RECIPES; i++)
	{
		bytes filter = query(recipes[i]);

		printf("%d bytes: %s\n", filter.size, recipes[i]);
		fflush(stdout);
		feed(filter.at, filter.size);
		break_header(filter);
		cut(filter);
		flip(filter);
		free(filter.at);
	}
	for (i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(prepared[i]);
	free(sound.at);
	check_sql(sqlite3_close(db) == SQLITE_OK, "close");
	return check_end("sqlite-hostile");
}
