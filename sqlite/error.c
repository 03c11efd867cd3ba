/*
 * error.c - every error of the SQLite extension.
 *
 * A message is one sentence: the error with its values, then, after a colon, what to do.
 * PostgreSQL's errors begin with the same words. messages.h has the messages that both databases
 * share.
 */
#include "error.h"

#include "messages.h"

/* Report a message from sqlite3_mprintf. */
static void
ckfs_report(sqlite3_context *ctx, char *sentence)
{
	if (sentence)
		sqlite3_result_error(ctx, sentence, -1);
	else
		sqlite3_result_error_nomem(ctx);
	sqlite3_free(sentence);
}

/* A merge that fails because one filter is too coarse: the message names that filter. */
static char *
ckfs_sentence_coarse(const ckf_refusal *refusal, const ckfs_subject *about)
{
	const ckf_filter *coarse = refusal->input == 1 ? about->other : about->filter;
	unsigned long long items = refusal->items;

	if (refusal->input < 0)
		return sqlite3_mprintf(CKF_SAY_COARSEST CKF_REST_COARSEST, items,
							   (long long)refusal->capacity, refusal->fpr, refusal->limit);
	return sqlite3_mprintf(CKF_SAY_COARSE CKF_REST_COARSE,
						   refusal->input == 0 ? CKF_FIRST : CKF_SECOND, items,
						   (unsigned long long)coarse->count, ckf_fpr(coarse),
						   (long long)coarse->capacity, refusal->fpr, refusal->limit, items);
}

/* A filter, or the result of a merge, has no precision left. */
static char *
ckfs_sentence_precision(const ckfs_subject *about)
{
	ckf_refusal refusal = {.cause = CKF_FULL};

	if (about->rebuild)
		ckf_rebuild_refusal(about->rebuild, &refusal);
	switch (refusal.cause)
	{
		case CKF_COARSE:
			return ckfs_sentence_coarse(&refusal, about);
		case CKF_CROWDED:
			return sqlite3_mprintf(CKF_SAY_CROWDED CKF_REST_CROWDED,
								   (unsigned long long)refusal.items, refusal.fpr);
		case CKF_CROWDED_HASHES:
			return sqlite3_mprintf(CKF_SAY_CROWDED_HASHES CKF_REST_CROWDED_HASHES,
								   (unsigned long long)refusal.items, refusal.fpr);
		case CKF_FULL:
			break;
	}
	if (!about->rebuild)
	{
		refusal.items = about->filter->count;
		refusal.fpr = ckf_fpr(about->filter);
	}
	return sqlite3_mprintf(CKF_SAY_PRECISION CKF_REST_PRECISION, (unsigned long long)refusal.items,
						   refusal.fpr);
}

char *
ckfs_sentence(ckf_status status, ckfs_subject about)
{
	switch (status)
	{
		case CKF_BAD_BYTES:
		case CKF_UNFINISHED: /* SQLite never stores such a state */
			return sqlite3_mprintf(CKF_SAY_BAD_BYTES);
		case CKF_BAD_VERSION:
			return sqlite3_mprintf(CKF_SAY_BAD_VERSION CKF_REST_BAD_VERSION);
		case CKF_BAD_CAPACITY:
			return sqlite3_mprintf(CKF_SAY_BAD_CAPACITY, (long long)CKF_MAX_CAPACITY,
								   (long long)about.params->capacity);
		case CKF_BAD_FPR:
			if (about.order)
				return sqlite3_mprintf(CKF_SAY_BAD_FPR("%!.15g") CKF_REST_SWAPPED,
									   about.params->fpr, about.order);
			if (about.params->fpr >= 1)
				return sqlite3_mprintf(CKF_SAY_BAD_FPR("%!.15g") CKF_REST_PERCENT,
									   about.params->fpr);
			return sqlite3_mprintf(CKF_SAY_BAD_FPR("%!.15g"), about.params->fpr);
		case CKF_BAD_TARGET:
			return sqlite3_mprintf(CKF_SAY_BAD_TARGET("%!.15g") CKF_REST_BAD_TARGET,
								   (long long)about.params->capacity, about.params->fpr);
		case CKF_BAD_OPTION:
			return sqlite3_mprintf(CKF_SAY_BAD_OPTION CKF_REST_BAD_OPTION, (int)about.option_size,
								   about.option);
		case CKF_OPTION_TWICE:
			return sqlite3_mprintf(CKF_SAY_BAD_OPTION CKF_REST_OPTION_TWICE, (int)about.option_size,
								   about.option);
		case CKF_SEED_DIFFERS:
			return sqlite3_mprintf(CKF_SAY_SEED_DIFFERS CKF_REST_SEED_DIFFERS,
								   (long long)about.filter->seed, (long long)about.other->seed);
		case CKF_UNLIKE_SIZES:
			return sqlite3_mprintf(CKF_SAY_UNLIKE_SIZES CKF_REST_UNLIKE_SIZES,
								   (unsigned long long)about.filter->count,
								   (unsigned long long)about.other->count,
								   about.comparison->coarse == 0 ? CKF_FIRST : CKF_SECOND,
								   about.comparison->error, (long long)about.comparison->capacity);
		case CKF_OLD_ITEMS:
			return sqlite3_mprintf(CKF_SAY_OLD_ITEMS CKF_REST_OLD_ITEMS);
		case CKF_IS_SET:
			return sqlite3_mprintf(CKF_SAY_IS_SET CKF_REST_IS_SET);
		case CKF_PRECISION:
			return ckfs_sentence_precision(&about);
		case CKF_OK:
		case CKF_MORE:
		case CKF_ROOM:
		case CKF_FEED:
			break; /* not failures */
	}
	return sqlite3_mprintf(CKF_SAY_UNEXPECTED, (int)status);
}

void
ckfs_error(sqlite3_context *ctx, ckf_status status, ckfs_subject subject)
{
	ckfs_report(ctx, ckfs_sentence(status, subject));
}

char *
ckfs_sentence_type(const char *what, const char *must_be, sqlite3_value *value)
{
	switch (sqlite3_value_type(value))
	{
		case SQLITE_FLOAT:
			return sqlite3_mprintf("%s must be %s, not %!.17g", what, must_be,
								   sqlite3_value_double(value));
		case SQLITE_INTEGER:
			return sqlite3_mprintf("%s must be %s, not INTEGER", what, must_be);
		case SQLITE_TEXT:
			return sqlite3_mprintf("%s must be %s, not TEXT", what, must_be);
		case SQLITE_NULL:
			return sqlite3_mprintf("%s must be %s, not NULL", what, must_be);
		default:
			return sqlite3_mprintf("%s must be %s, not BLOB", what, must_be);
	}
}

void
ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be, sqlite3_value *value)
{
	ckfs_report(ctx, ckfs_sentence_type(what, must_be, value));
}

void
ckfs_error_capacity(sqlite3_context *ctx, double capacity, bool is_integer)
{
	if (is_integer)
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_HUGE_CAPACITY("%!.17g"),
										 (long long)CKF_MAX_CAPACITY, capacity));
	else
		ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_FRACTION("%!.17g%s"), capacity,
										 capacity > 0 && capacity < 1 ? CKF_REST_FRACTION : ""));
}

void
ckfs_error_handle(sqlite3_context *ctx, bool is_handle)
{
	if (!is_handle)
	{
		ckfs_error(ctx, CKF_BAD_BYTES, (ckfs_subject){0});
		return;
	}
	sqlite3_result_error(ctx, CKFS_SAY_NO_HANDLE, -1);
}

void
ckfs_error_no_table(sqlite3_context *ctx, const char *name, const char *why)
{
	ckfs_report(ctx, sqlite3_mprintf("there is no cuckoofilter table \"%s\"%s%s", name,
									 why ? ": " : "", why ? why : ""));
}

void
ckfs_error_no_filter(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx, "the first argument must be a cuckoofilter", -1);
}

void
ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit)
{
	ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_TOO_LARGE CKF_REST_TOO_LARGE, (long long)limit,
									 (unsigned long long)filter->count, ckf_fpr(filter)));
}

/* The classes of the items in a filter, as words, from sqlite3_malloc.  NULL: out of memory. */
static char *
ckfs_describe_held(unsigned item_classes)
{
	static const char *const words[] = {CKF_WORDS_HELD};
	sqlite3_str *list = sqlite3_str_new(NULL);
	unsigned left = item_classes & (CKF_ITEM_HASH - 1);
	int i;

	for (i = 0; left >> i != 0; i++)
		if (left >> i & 1)
		{
			if (sqlite3_str_length(list) > 0)
				sqlite3_str_appendall(list, left >> i == 1 ? CKF_WORDS_AND : ", ");
			sqlite3_str_appendall(list, words[i]);
		}
	return sqlite3_str_finish(list);
}

void
ckfs_log_unlike(ckfs_connection *connection, unsigned item_classes, unsigned item_class)
{
	static const char *const words[] = {CKF_WORDS_ITEM};
	uint8_t *logged = &connection->logged[item_classes & (CKF_ITEM_HASH - 1)];
	char *held;
	int i = 0;

	if (*logged & item_class)
		return;
	*logged |= (uint8_t)item_class;
	while (item_class >> i != 1)
		i++;
	held = ckfs_describe_held(item_classes);
	if (held)
		sqlite3_log(SQLITE_WARNING, CKF_SAY_UNLIKE, held, words[i]);
	sqlite3_free(held);
}

void
ckfs_error_candidates(sqlite3_context *ctx, size_t at)
{
	ckfs_report(ctx,
				sqlite3_mprintf("candidates must be a JSON array of numbers and strings: error "
								"at byte %llu",
								(unsigned long long)at));
}

void
ckfs_error_frame(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx,
						 "cuckoofilter aggregates cannot drop rows: the window frame must start at "
						 "UNBOUNDED PRECEDING",
						 -1);
}
