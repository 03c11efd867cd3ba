/*
 * error.h - every error of the SQLite extension.
 */
#ifndef CKFS_ERROR_H
#define CKFS_ERROR_H

#include "connection.h"

/* What a sentence is about: the members that its status needs, else zero. */
typedef struct ckfs_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	bool swapped;             /* BAD_FPR: the capacity may stand in the rate's place */
	const char *option;       /* BAD_OPTION */
	size_t option_size;
	const ckf_filter *filter;         /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;          /* SEED_DIFFERS, PRECISION of a merge */
	const ckf_comparison *comparison; /* UNLIKE_SIZES, with both filters */
	const ckf_rebuild *rebuild;       /* PRECISION: that came to it; NULL: an add */
} ckfs_subject;

/* The sentence of a failed call of the engine, of sqlite3_malloc; NULL without memory. */
char *ckfs_sentence(ckf_status status, ckfs_subject subject);

/* Report a failed call of the engine. */
void ckfs_error(sqlite3_context *ctx, ckf_status status, ckfs_subject subject);

/* `value` is not what it must be: "capacity must be an integer, not TEXT". */
char *ckfs_sentence_type(const char *what, const char *must_be, sqlite3_value *value);
void ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be,
					 sqlite3_value *value);

/* What ckfs_filter takes. */
#define CKFS_SAY_FILTER "a BLOB or come from cuckoofilter_open"

#define CKFS_SAY_NO_HANDLE                                                                         \
	"the cuckoofilter of this handle is not open: another connection opened it, or it was closed " \
	"as the least recently used one; call cuckoofilter_open again, or pass the filter itself"

/* Bytes of a handle's size are that of no open filter, or no handle. */
void ckfs_error_handle(sqlite3_context *ctx, bool is_handle);

/* cuckoofilter_export was asked for a table that is none; why: SQLite's words, or NULL. */
void ckfs_error_no_table(sqlite3_context *ctx, const char *name, const char *why);

/* A variadic function was called without its filter. */
void ckfs_error_no_filter(sqlite3_context *ctx);

/* The result, with the items of `filter` and more, would pass SQLite's limit. */
void ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit);

/* Write to SQLite's log that an item is asked for, added or removed of a class that a
 * filter never saw, once for each pair in a connection. */
void ckfs_log_unlike(ckfs_connection *connection, unsigned item_classes, unsigned item_class);

/*
 * May an item be in?  If its class never was, that goes to the log, and it is not: a
 * match would be another item's.  The usual cause is a parameter that was bound as text
 * where a number was meant; but SQLite's columns mix types, so that it is no error.
 */
static inline bool
ckfs_may_hold(sqlite3_context *ctx, const ckf_filter *filter, unsigned item_class)
{
	if (item_class == CKF_ITEM_HASH || ckf_may_hold(filter, item_class))
		return true;
	ckfs_log_unlike(ckfs_user_data(ctx)->connection, filter->item_classes, item_class);
	return false;
}

/* The candidates are not what they must be, from this byte on. */
void ckfs_error_candidates(sqlite3_context *ctx, size_t at);

/* A window's frame would take rows out of an aggregate. */
void ckfs_error_frame(sqlite3_context *ctx);

#endif
