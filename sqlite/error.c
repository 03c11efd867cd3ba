/*
 * error.c - every error sentence of the SQLite extension.
 *
 * One sentence each: what is wrong, with the values, and after a colon what
 * to do about it.  PostgreSQL's errors begin with the same words.
 */
#include "host.h"

#define CKFS_OPTIONS                                                                               \
	"options are kind=deletable|set, bucket_size=2|4|8, layout=semi_sorted|plain (semi_sorted "    \
	"needs bucket_size=4) and seed=<64-bit integer>"

/* Report a sentence that sqlite3_mprintf made. */
static void
ckfs_report(sqlite3_context *ctx, char *sentence)
{
	if (sentence)
		sqlite3_result_error(ctx, sentence, -1);
	else
		sqlite3_result_error_nomem(ctx);
	sqlite3_free(sentence);
}

static char *
ckfs_sentence(ckf_status status, ckfs_subject about)
{
	switch (status)
	{
		case CKF_BAD_BYTES:
			return sqlite3_mprintf("not a cuckoofilter: the bytes are damaged or of something "
								   "else");
		case CKF_BAD_VERSION:
			return sqlite3_mprintf("cuckoofilter of an unknown format or hash version: it needs a "
								   "newer release");
		case CKF_BAD_CAPACITY:
			return sqlite3_mprintf("capacity must be from 1 to %lld, not %lld", CKF_MAX_CAPACITY,
								   about.params->capacity);
		case CKF_BAD_FPR:
			return sqlite3_mprintf("false positive rate must be greater than 0 and less than 1, "
								   "not %!.15g",
								   about.params->fpr);
		case CKF_BAD_TARGET:
			return sqlite3_mprintf("capacity %lld at a false positive rate of %!.15g is too "
								   "precise: lower the capacity or raise the rate",
								   about.params->capacity, about.params->fpr);
		case CKF_BAD_OPTION:
			return sqlite3_mprintf("bad cuckoofilter option \"%.*s\": " CKFS_OPTIONS,
								   (int)about.option_size, about.option);
		case CKF_SEED_DIFFERS:
			return sqlite3_mprintf("cannot merge cuckoofilters of different seeds: %lld and %lld",
								   (int64_t)about.filter->seed, (int64_t)about.other->seed);
		case CKF_IS_SET:
			return sqlite3_mprintf("cannot remove from a cuckoofilter of kind set: build it with "
								   "kind=deletable, and merge with cuckoofilter_sum");
		case CKF_PRECISION:
			return sqlite3_mprintf("cuckoofilter has no precision left: %llu items at a false "
								   "positive rate of %.3g; build it with a larger capacity",
								   about.filter->count, ckf_fpr(about.filter));
		case CKF_OK:
		case CKF_MORE:
		case CKF_ROOM:
			break; /* no failures */
	}
	return sqlite3_mprintf("unexpected cuckoofilter status %d", (int)status);
}

void
ckfs_error(sqlite3_context *ctx, ckf_status status, ckfs_subject subject)
{
	ckfs_report(ctx, ckfs_sentence(status, subject));
}

void
ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be, sqlite3_value *value)
{
	switch (sqlite3_value_type(value))
	{
		case SQLITE_FLOAT:
			ckfs_report(ctx, sqlite3_mprintf("%s must be %s, not %!.17g", what, must_be,
											 sqlite3_value_double(value)));
			break;
		case SQLITE_INTEGER:
			ckfs_report(ctx, sqlite3_mprintf("%s must be %s, not INTEGER", what, must_be));
			break;
		case SQLITE_TEXT:
			ckfs_report(ctx, sqlite3_mprintf("%s must be %s, not TEXT", what, must_be));
			break;
		default:
			ckfs_report(ctx, sqlite3_mprintf("%s must be %s, not BLOB", what, must_be));
	}
}

void
ckfs_error_no_filter(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx, "the first argument must be a cuckoofilter", -1);
}

void
ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit)
{
	ckfs_report(ctx, sqlite3_mprintf("cuckoofilter would be larger than %lld bytes: %llu items at "
									 "a false positive rate of %.3g; spread the items over "
									 "several filters, or lower capacity or raise the rate",
									 limit, filter->count, ckf_fpr(filter)));
}

void
ckfs_error_frame(sqlite3_context *ctx)
{
	sqlite3_result_error(ctx,
						 "cuckoofilter aggregates cannot drop rows: the window frame must start at "
						 "UNBOUNDED PRECEDING",
						 -1);
}
