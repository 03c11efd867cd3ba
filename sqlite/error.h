/*
 * error.h - every error of the SQLite extension.
 */
#ifndef CKFS_ERROR_H
#define CKFS_ERROR_H

#include "connection.h"

/* The values for a message.  A status needs some of the members; the others are zero. */
typedef struct ckfs_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	const char *order;        /* BAD_FPR: the call with its arguments in the right order; or NULL */
	const char *option;       /* BAD_OPTION, OPTION_TWICE */
	size_t option_size;
	const ckf_filter *filter;         /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;          /* SEED_DIFFERS, PRECISION of a merge */
	const ckf_comparison *comparison; /* UNLIKE_SIZES, with both filters */
	const ckf_rebuild *rebuild;       /* PRECISION: the rebuild that failed; NULL: an add */
} ckfs_subject;

/* The message of a failed call of the engine, from sqlite3_malloc.  NULL: out of memory. */
char *ckfs_sentence(ckf_status status, ckfs_subject subject);

/* Report a failed call of the engine. */
void ckfs_error(sqlite3_context *ctx, ckf_status status, ckfs_subject subject);

/* The message for a value of the wrong type: "capacity must be an integer, not TEXT". */
char *ckfs_sentence_type(const char *what, const char *must_be, sqlite3_value *value);
void ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be,
					 sqlite3_value *value);

/* Report a capacity in REAL that is no integer, or one that is too large. */
void ckfs_error_capacity(sqlite3_context *ctx, double capacity, bool is_integer);

/* The values that ckfs_filter accepts. */
#define CKFS_SAY_FILTER "a BLOB or come from cuckoofilter_open"

#define CKFS_SAY_NO_HANDLE                                                                         \
	"the cuckoofilter of this handle is not open: another connection opened it, or it was closed " \
	"as the least recently used one; call cuckoofilter_open again, or pass the filter itself"

/* Report bytes as long as a handle that are not a handle, or whose filter is not open. */
void ckfs_error_handle(sqlite3_context *ctx, bool is_handle);

/* Report that a table does not exist or is not a filter table. why: the message of SQLite, or
 * NULL. */
void ckfs_error_no_table(sqlite3_context *ctx, const char *name, const char *why);

/* Report a call of a variadic function without a filter. */
void ckfs_error_no_filter(sqlite3_context *ctx);

/* Report a result that exceeds SQLite's limit.  `filter` is what it grew from. */
void ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit);

/* Write to SQLite's log that an item was looked up, added or removed whose class no item of the
 * filter has.  Each pair of classes is logged once in a connection. */
void ckfs_log_unlike(ckfs_connection *connection, unsigned item_classes, unsigned item_class);

/*
 * Whether an item can be in the filter.  If no item of its class was added, it cannot: a match
 * would be that of another item.  This is logged, since the usual cause is a parameter that was
 * bound as text instead of a number.  It is no error, since a column in SQLite can mix types.
 */
static inline bool
ckfs_may_hold(sqlite3_context *ctx, const ckf_filter *filter, unsigned item_class)
{
	if (item_class == CKF_ITEM_HASH || ckf_may_hold(filter, item_class))
		return true;
	ckfs_log_unlike(ckfs_user_data(ctx)->connection, filter->item_classes, item_class);
	return false;
}

/* Report candidates that are not a JSON array of numbers and strings. at: the byte of the error. */
void ckfs_error_candidates(sqlite3_context *ctx, size_t at);

/* Report a window frame that would remove rows from an aggregate. */
void ckfs_error_frame(sqlite3_context *ctx);

#endif
