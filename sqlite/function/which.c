/*
 * which.c - cuckoofilter_which: the candidates with which an item was added.
 */
#include "../argument.h"
#include "../error.h"
#include "function.h"
#include "json.h"
#include "json_array.h"

#include "cuckoofilter_host.h"

/* Candidates that are looked up at once; then there is a check for interrupts. */
#define CKFS_BATCH 1024

/* The candidates of a batch, and those before it that are in the filter. */
typedef struct ckfs_candidates
{
	ckfs_array array;
	sqlite3_stmt *real; /* converts text to REAL; NULL until it is needed */
	sqlite3_str *json;  /* the result */
	size_t count;
	ckf_text text[CKFS_BATCH];   /* as it is written in the array */
	uint64_t hashes[CKFS_BATCH]; /* of the pairs */
	uint64_t reals[CKFS_BATCH];  /* the same where a number is the REAL that SQLite makes of it */
	uint8_t in[CKFS_BATCH];      /* whether the pair is in the filter */
} ckfs_candidates;

/* The hashes of a candidate.  A number has two: that of its digits, which PostgreSQL may have added
 * as numeric, and as hashes->rounded that of its REAL. */
static bool
ckfs_hash_element(sqlite3_context *ctx, ckfs_candidates *all, const ckfs_element *element,
				  uint64_t seed, ckf_hashes *hashes)
{
	double real;
	int rc;

	switch (element->type)
	{
		case SQLITE_INTEGER:
			hashes->hash = hashes->rounded = ckf_hash_integer(element->integer, seed);
			return true;
		case SQLITE_TEXT:
			hashes->hash = hashes->rounded =
				ckf_hash_bytes(CKF_CLASS_TEXT, element->string, element->string_size, seed);
			return true;
		default:
			rc = ckfs_read_real(sqlite3_context_db_handle(ctx), &all->real, element->text,
								element->size, &real, NULL);
			if (rc != SQLITE_OK)
				sqlite3_result_error_code(ctx, rc);
			else if (ckf_hash_decimal(element->text, element->size, seed, hashes))
				hashes->rounded = ckf_hash_real(real, seed);
			return rc == SQLITE_OK;
	}
}

/* Look up a batch, and append the candidates that are in the filter to the result. */
static void
ckfs_look_up_candidates(sqlite3_context *ctx, const ckf_filter *filter, ckfs_candidates *all)
{
	size_t n = all->count;
	size_t i;

	all->count = 0;
	if (n == 0 || !ckfs_may_hold(ctx, filter, CKF_ITEM_OTHER))
		return;
	ckf_contains_many(filter, all->hashes, n, all->in);
	for (i = 0; i < n; i++)
		if (all->in[i] ||
			(all->reals[i] != all->hashes[i] &&
			 (ckf_contains(filter, all->reals[i]) || ckf_contains_rounded(filter, all->reals[i]))))
		{
			if (sqlite3_str_length(all->json) > 1)
				sqlite3_str_appendchar(all->json, 1, ',');
			sqlite3_str_append(all->json, all->text[i].at, (int)all->text[i].size);
		}
}

/* Hash each candidate with the item, and look them up. false, with an error: they are not an array
 * of numbers and strings. */
static bool
ckfs_read_candidates(sqlite3_context *ctx, const ckf_filter *filter, ckfs_candidates *all,
					 uint64_t item)
{
	ckfs_element element;
	ckfs_read read;
	ckf_hashes value;

	while ((read = ckfs_read_element(&all->array, &element)) == CKFS_READ_ELEMENT)
	{
		if (!ckfs_hash_element(ctx, all, &element, filter->seed, &value))
			return false;
		all->hashes[all->count] = ckf_hash_pair(item, value.hash, filter->seed);
		all->reals[all->count] = ckf_hash_pair(item, value.rounded, filter->seed);
		all->text[all->count++] = (ckf_text){element.text, element.size};
		if (all->count < CKFS_BATCH)
			continue;
		if (ckfs_interrupted(ctx))
			return false;
		ckfs_look_up_candidates(ctx, filter, all);
	}
	if (read == CKFS_READ_BAD)
		ckfs_report(ctx,
					sqlite3_mprintf("candidates must be a JSON array of numbers and strings: "
									"error at byte %llu",
									(unsigned long long)(all->array.at - all->array.text) + 1));
	else
		ckfs_look_up_candidates(ctx, filter, all);
	return read == CKFS_READ_END;
}

/* cuckoofilter_which(filter, item, candidates) */
void
ckfs_sql_which(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter_of_items(ctx, argc, argv, &local);
	ckfs_candidates *all;
	const char *text;
	size_t size;
	ckfs_hashed item;

	if (!filter || !ckfs_hash_item(ctx, argv + 1, filter->seed, &item) ||
		sqlite3_value_type(argv[2]) == SQLITE_NULL)
		return;
	if (sqlite3_value_type(argv[2]) != SQLITE_TEXT)
	{
		ckfs_error_type(ctx, "candidates", "a JSON array", argv[2], "");
		return;
	}
	text = (const char *)sqlite3_value_text(argv[2]);
	size = (size_t)sqlite3_value_bytes(argv[2]);
	all = text ? sqlite3_malloc64(sizeof *all + size + 1) : NULL;
	if (!all)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	all->array =
		(ckfs_array){.text = text, .at = text, .end = text + size, .room = (char *)(all + 1)};
	all->real = NULL;
	all->json = ckfs_json_start(ctx, '[');
	all->count = 0;
	if (ckfs_read_candidates(ctx, filter, all, item.hash))
		ckfs_json_result(ctx, all->json, ']');
	else
		sqlite3_free(sqlite3_str_finish(all->json));
	sqlite3_finalize(all->real);
	sqlite3_free(all);
}
