/*
 * values.c - fuzz target: SQL values through the SQLite functions.  The bytes choose statements and
 * the values bound to them, and results are bound again.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int sqlite3_cuckoofilter_init(sqlite3 *db, char **message, const void *api);

enum
{
	VALUES = 4,
	STATEMENTS = 12,
	MOST_BLOB = 4096,
	MOST_BYTES = 1 << 24
};

/* Each gives one row; ?1 is most often a filter. */
static const char *const statements[] = {
	"SELECT cuckoofilter_create(?2)",
	"SELECT cuckoofilter_create(?2, ?3)",
	"SELECT cuckoofilter_create(?2, ?3, ?4)",
	"SELECT cuckoofilter_add(?1, ?2)",
	"SELECT cuckoofilter_add_all(?1, ?2, ?3, ?4)",
	"SELECT cuckoofilter_remove(?1, ?2)",
	"SELECT cuckoofilter_remove_all(?1, ?2, ?3, ?4)",
	"SELECT cuckoofilter_union(?1, ?2)",
	"SELECT cuckoofilter_sum(?1, ?2)",
	"SELECT cuckoofilter_intersect(?1, ?2)",
	"SELECT cuckoofilter_overlap(?1, ?2)",
	"SELECT cuckoofilter_jaccard(?1, ?2)",
	"SELECT cuckoofilter_intersect_agg(column1) FROM (VALUES (?1), (?2), (NULL), (?3))",
	"SELECT cuckoofilter_compact(?1)",
	"SELECT cuckoofilter_add_hash(?1, ?2)",
	"SELECT cuckoofilter_remove_hash(?1, ?2)",
	"SELECT cuckoofilter_agg(column1, ?2, ?3, ?4) FROM (VALUES (?1), (?2), (?3), (?4), (?2))",
	"SELECT cuckoofilter_agg_hash(column1, ?2) FROM (VALUES (?1), (?2), (?3), (?4))",
	"SELECT cuckoofilter_union_agg(column1) FROM (VALUES (?1), (?2), (?1), (NULL))",
	"SELECT cuckoofilter_sum_agg(column1) FROM (VALUES (?1), (?2), (?1))",
	"SELECT cuckoofilter_contains(?1, ?2)",
	"SELECT cuckoofilter_contains_any(?1, ?2, ?3, ?4)",
	"SELECT cuckoofilter_contains_all(?1, ?2, ?3, ?4)",
	"SELECT cuckoofilter_contains_hash(?1, ?2)",
	"SELECT cuckoofilter_copies(?1, ?2)",
	"SELECT cuckoofilter_count(?1) + cuckoofilter_fpr(?1)",
	"SELECT json(cuckoofilter_info(?1))",
	"SELECT cuckoofilter_hash(?1, ?2)",
	"SELECT cuckoofilter_hash(?1)",
	"SELECT cuckoofilter_contains(cuckoofilter_open(?1), ?2)",
	"SELECT cuckoofilter_union(cuckoofilter_open(?1), cuckoofilter_open(?2))",
	"SELECT cuckoofilter_agg(value, ?2) FROM (WITH RECURSIVE r(value) AS"
	" (SELECT 1 UNION ALL SELECT value + 1 FROM r WHERE value < 300) SELECT value FROM r)",
	/* what must hold wherever it does not fail */
	"SELECT 'must', cuckoofilter_contains(cuckoofilter_add(?1, ?2), ?2)",
	"SELECT 'must', cuckoofilter_contains(cuckoofilter_agg(?2), ?2) FROM (SELECT 1)",
	"SELECT 'must', cuckoofilter_contains(cuckoofilter_intersect(cuckoofilter_add(?1, ?3), "
	"cuckoofilter_add(?2, ?3)), ?3)",
	"SELECT 'must', cuckoofilter_hash(?2) IS cuckoofilter_hash(?3) WHERE ?2 = ?3",
};

/* The input, read piece by piece. */
typedef struct input
{
	const uint8_t *at, *end;
} input;

static uint64_t
take(input *in, size_t n)
{
	uint64_t value = 0;

	for (; n > 0 && in->at < in->end; n--)
		value = value << 8 | *in->at++;
	return value;
}

static void
bind_bytes(sqlite3_stmt *stmt, int i, input *in, int as_text)
{
	size_t size = take(in, 1) % 16 == 0 ? (size_t)take(in, 2) % MOST_BLOB : (size_t)take(in, 1);

	if (size > (size_t)(in->end - in->at))
		size = (size_t)(in->end - in->at);
	if (as_text)
		sqlite3_bind_text(stmt, i, (const char *)in->at, (int)size, SQLITE_TRANSIENT);
	else
		sqlite3_bind_blob(stmt, i, in->at, (int)size, SQLITE_TRANSIENT);
	in->at += size;
}

/* Any value; most often the last result where a filter is expected. */
static void
bind_value(sqlite3_stmt *stmt, int i, input *in, sqlite3_value *last)
{
	static const double reals[] = {0, -0.0, 5, 0.01, 0.5, 1, -1, 1e300, 0x1p63, 0x1p53, 1e-9};
	static const int64_t integers[] = {0, 1, 5, -1, 100, 1000000, INT64_MAX, INT64_MIN};
	uint64_t kind = take(in, 1);
	uint64_t bits;
	double real;

	if (i == 1 && kind < 200 && last != NULL)
		sqlite3_bind_value(stmt, i, last);
	else
		switch (kind % 8)
		{
			case 0:
				sqlite3_bind_null(stmt, i);
				break;
			case 1:
				sqlite3_bind_int64(stmt, i, integers[take(in, 1) % 8]);
				break;
			case 2:
				sqlite3_bind_int64(stmt, i, (int64_t)take(in, 8));
				break;
			case 3:
				sqlite3_bind_double(stmt, i, reals[take(in, 1) % 11]);
				break;
			case 4:
				bits = take(in, 8);
				memcpy(&real, &bits, sizeof real);
				sqlite3_bind_double(stmt, i, real);
				break;
			case 5:
				bind_bytes(stmt, i, in, 1);
				break;
			case 6:
				sqlite3_bind_text(stmt, i, "kind=set, layout=plain, bucket_size=8", -1,
								  SQLITE_STATIC);
				break;
			default:
				bind_bytes(stmt, i, in, 0);
		}
}

static void
fail(const char *sql, const char *why)
{
	fprintf(stderr, "%s: %s\n", sql, why);
	abort();
}

/* Run one statement; its result becomes *last where it is a blob. */
static void
run_statement(sqlite3 *db, const char *sql, input *in, sqlite3_value **last)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail(sql, sqlite3_errmsg(db));
	for (int i = 1; i <= VALUES && i <= sqlite3_bind_parameter_count(stmt); i++)
		bind_value(stmt, i, in, *last);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW && sqlite3_column_count(stmt) == 2)
	{
		if (sqlite3_column_type(stmt, 1) != SQLITE_NULL && sqlite3_column_int(stmt, 1) != 1)
			fail(sql, "does not hold");
	}
	else if (rc == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_BLOB)
	{
		sqlite3_value_free(*last);
		*last = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
	}
	else if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_ERROR && rc != SQLITE_TOOBIG)
		fail(sql, sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static sqlite3 *db;
	sqlite3_value *last = NULL;
	input in = {data, data + size};

	if (db == NULL)
	{
		if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
			sqlite3_cuckoofilter_init(db, NULL, NULL) != SQLITE_OK)
			abort();
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
	}
	for (int i = 0; i < STATEMENTS && in.at < in.end; i++)
		run_statement(db, statements[take(&in, 1) % (sizeof statements / sizeof *statements)], &in,
					  &last);
	sqlite3_value_free(last);
	return 0;
}
