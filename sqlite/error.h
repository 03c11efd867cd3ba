/*
 * error.h - every error of the SQLite extension.
 */
#ifndef CKFS_ERROR_H
#define CKFS_ERROR_H

#include "connection.h"

#include "cuckoofilter_host.h"

/* The message of a failed call of the engine, from sqlite3_malloc.  NULL: out of memory. */
char *ckfs_sentence(ckf_status status, ckf_about about);

/* Report a failed call of the engine. */
void ckfs_error(sqlite3_context *ctx, ckf_status status, ckf_about about);

/* The message for a value of the wrong type, such as "capacity must be an integer, not TEXT", and
 * the rest of the sentence. */
char *ckfs_sentence_type(const char *what, const char *must_be, sqlite3_value *value,
						 const char *rest);
void ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be,
					 sqlite3_value *value);

/* Report a rate that is not a number. */
void ckfs_error_fpr(sqlite3_context *ctx, sqlite3_value *value);

/* Report that the first argument is not a filter, while the second one is. */
#define CKFS_REST_ORDER ": the filter is the first argument, the item the second"
void ckfs_error_order(sqlite3_context *ctx, sqlite3_value *first);

/* The rest of the messages for a capacity that seems to be a rate, and for a result that is too
 * large. */
#define CKFS_REST_FRACTION                                                                         \
	": cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates "  \
	"after it"
#define CKFS_REST_SPREAD                                                                           \
	"; spread the items over several filters, or use a lower capacity or a higher rate"

/* Report a capacity in REAL that is no integer, or one that is too large. */
void ckfs_error_capacity(sqlite3_context *ctx, double capacity, bool is_integer);

/* The values that ckfs_filter accepts. */
#define CKFS_SAY_FILTER "a BLOB or come from cuckoofilter_open"

#define CKFS_SAY_NO_HANDLE                                                                         \
	"the cuckoofilter of this handle is not open: another connection opened it, or it was closed " \
	"as the least recently used one; call cuckoofilter_open again, or pass the filter itself"

/* The rest of the message for a rate that is no number. It is not a format. */
#define CKFS_REST_PERCENT ": a rate of 1 % is 0.01"

/* Report a value that is neither; text may be the name of a filter table. */
#define CKFS_REST_TABLE ": ask a filter table by EXISTS (SELECT 1 FROM name WHERE item = ..)"
void ckfs_error_not_filter(sqlite3_context *ctx, sqlite3_value *value);

/* Report that a table does not exist or is not a filter table. why: the message of SQLite, or
 * NULL. */
void ckfs_error_no_table(sqlite3_context *ctx, const char *name, const char *why);

/* Report an item that is a filter. */
void ckfs_error_filter_item(sqlite3_context *ctx);

/* Report a number of parts that is out of range. */
void ckfs_error_parts(sqlite3_context *ctx, int64_t parts);

/* Report a call of a variadic function without a filter. */
void ckfs_error_no_filter(sqlite3_context *ctx);

/* Report a result that exceeds SQLite's limit.  `filter` is what it grew from. */
void ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit);

/* Write to SQLite's log that an item was looked up, added or removed whose class no item of the
 * filter has.  Each pair of classes is logged once in a connection. */
void ckfs_log_unlike(ckfs_connection *connection, unsigned item_classes, unsigned item_class);

/* Whether this was logged. */
static inline bool
ckfs_has_logged(const ckfs_connection *connection, unsigned item_classes, unsigned item_class)
{
	return connection->logged[item_classes & (CKF_ITEM_HASH - 1)] & item_class;
}

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
