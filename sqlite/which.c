/*
 * which.c - cuckoofilter_which: the candidates with which an item was added.
 */
#include "argument.h"
#include "error.h"
#include "function.h"
#include "library.h"
#include "json.h"
#include "json_array.h"

#include <string.h>

/* Candidates between two checks for interrupts. */
#define CKFS_STEP 65536

/* A candidate as it is written in the array. */
typedef struct ckfs_candidate
{
	const char *text;
	size_t size;
} ckfs_candidate;

/* All candidates, and the memory to read them. */
typedef struct ckfs_candidates
{
	ckfs_array array;
	ckfs_candidate *candidate;
	uint64_t *hashes; /* of the pairs */
	uint8_t *in;      /* whether the pair is in the filter */
	size_t count;
	sqlite3_stmt *real; /* converts text to REAL; NULL until it is needed */
} ckfs_candidates;

static void
ckfs_free_candidates(ckfs_candidates *all)
{
	sqlite3_finalize(all->real);
	sqlite3_free(all->array.room);
	sqlite3_free(all->candidate);
	sqlite3_free(all->hashes);
	sqlite3_free(all->in);
}

/* Allocate memory for as many candidates as the text may have: one more than it has commas. */
static bool
ckfs_make_candidates(sqlite3_context *ctx, sqlite3_value *value, ckfs_candidates *all)
{
	const char *text = (const char *)sqlite3_value_text(value);
	size_t size = (size_t)sqlite3_value_bytes(value);
	sqlite3_uint64 most = 1;
	size_t i;

	memset(all, 0, sizeof *all);
	if (!text)
	{
		sqlite3_result_error_nomem(ctx);
		return false;
	}
	for (i = 0; i < size; i++)
		most += text[i] == ',';
	all->array.text = all->array.at = text;
	all->array.end = text + size;
	all->array.room = sqlite3_malloc64(size + 1);
	all->candidate = sqlite3_malloc64(most * sizeof *all->candidate);
	all->hashes = sqlite3_malloc64(most * sizeof *all->hashes);
	all->in = sqlite3_malloc64(most);
	if (all->array.room && all->candidate && all->hashes && all->in)
		return true;
	sqlite3_result_error_nomem(ctx);
	ckfs_free_candidates(all);
	return false;
}

/* Convert text to REAL as SQLite does.  C's strtod uses the decimal point of the locale, and may
 * differ in the last bit. */
static bool
ckfs_read_real(sqlite3_context *ctx, ckfs_candidates *all, const ckfs_element *element,
			   double *real)
{
	sqlite3 *db = sqlite3_context_db_handle(ctx);
	int rc = SQLITE_OK;

	if (!all->real)
		rc = sqlite3_prepare_v2(db, "SELECT CAST(?1 AS REAL)", -1, &all->real, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text64(all->real, 1, element->text, element->size, SQLITE_STATIC,
								 SQLITE_UTF8);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(all->real);
	if (rc == SQLITE_ROW)
		*real = sqlite3_column_double(all->real, 0);
	sqlite3_reset(all->real);
	if (rc != SQLITE_ROW)
		sqlite3_result_error_code(ctx, rc);
	return rc == SQLITE_ROW;
}

static bool
ckfs_hash_element(sqlite3_context *ctx, ckfs_candidates *all, const ckfs_element *element,
				  uint64_t seed, uint64_t *hash)
{
	double real;

	switch (element->type)
	{
		case SQLITE_INTEGER:
			*hash = ckf_hash_integer(element->integer, seed);
			return true;
		case SQLITE_TEXT:
			*hash = ckf_hash_bytes(CKF_CLASS_TEXT, element->string, element->string_size, seed);
			return true;
		default:
			if (!ckfs_read_real(ctx, all, element, &real))
				return false;
			*hash = ckf_hash_real(real, seed);
			return true;
	}
}

/* Read all candidates, and hash each one with the item. false, with an error: they are not an array
 * of numbers and strings. */
static bool
ckfs_read_candidates(sqlite3_context *ctx, ckfs_candidates *all, uint64_t item, uint64_t seed)
{
	ckfs_element element;
	ckfs_read read;
	uint64_t hash;

	while ((read = ckfs_read_element(&all->array, &element)) == CKFS_READ_ELEMENT)
	{
		if (!ckfs_hash_element(ctx, all, &element, seed, &hash))
			return false;
		all->hashes[all->count] = ckf_hash_pair(item, hash, seed);
		all->candidate[all->count++] = (ckfs_candidate){element.text, element.size};
		if (all->count % CKFS_STEP == 0 && ckfs_interrupted(ctx))
			return false;
	}
	if (read == CKFS_READ_BAD)
		ckfs_error_candidates(ctx, (size_t)(all->array.at - all->array.text) + 1);
	return read == CKFS_READ_END;
}

/* Look up all pairs. false: interrupted. */
static bool
ckfs_ask_candidates(sqlite3_context *ctx, const ckf_filter *filter, ckfs_candidates *all)
{
	size_t i;

	for (i = 0; i < all->count; i += CKFS_STEP)
	{
		size_t n = all->count - i < CKFS_STEP ? all->count - i : CKFS_STEP;

		if (i > 0 && ckfs_interrupted(ctx))
			return false;
		ckf_contains_many(filter, all->hashes + i, n, all->in + i);
	}
	return true;
}

/* Return the candidates that are in the filter as a JSON array. */
static void
ckfs_result_candidates(sqlite3_context *ctx, const ckfs_candidates *all)
{
	sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(ctx));
	size_t i;

	sqlite3_str_appendchar(json, 1, '[');
	for (i = 0; i < all->count; i++)
		if (all->in[i])
		{
			if (sqlite3_str_length(json) > 1)
				sqlite3_str_appendchar(json, 1, ',');
			sqlite3_str_append(json, all->candidate[i].text, (int)all->candidate[i].size);
		}
	ckfs_json_result(ctx, json, ']');
}

/* cuckoofilter_which(filter, item, candidates) */
void
ckfs_sql_which(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_STORED, &local);
	ckfs_candidates all;
	ckfs_hashed item;

	(void)argc;
	if (!filter || !ckfs_hash_item(ctx, argv + 1, filter->seed, &item) ||
		sqlite3_value_type(argv[2]) == SQLITE_NULL)
		return;
	if (sqlite3_value_type(argv[2]) != SQLITE_TEXT)
	{
		ckfs_error_type(ctx, "candidates", "a JSON array", argv[2]);
		return;
	}
	if (!ckfs_make_candidates(ctx, argv[2], &all))
		return;
	if (ckfs_read_candidates(ctx, &all, item.hash, filter->seed))
	{
		if (all.count > 0 && !ckfs_may_hold(ctx, filter, CKF_ITEM_OTHER))
			all.count = 0;
		if (ckfs_ask_candidates(ctx, filter, &all))
			ckfs_result_candidates(ctx, &all);
	}
	ckfs_free_candidates(&all);
}
