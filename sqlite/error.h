/*
 * error.h - how the errors of the SQLite extension are reported, and those of the engine.
 */
#ifndef CKFS_ERROR_H
#define CKFS_ERROR_H

#include "connection.h"

#include "cuckoofilter_host.h"

/* The message of a failed call of the engine, from sqlite3_malloc.  NULL: out of memory. */
char *ckfs_error_text(ckf_status status, ckf_about about);

/* Report a message from sqlite3_mprintf as the error of the function, and free it. */
void ckfs_report(sqlite3_context *ctx, char *sentence);

/* Report a failed call of the engine. */
void ckfs_error(sqlite3_context *ctx, ckf_status status, ckf_about about);

/* The message for a value of the wrong type, such as "capacity must be an integer, not TEXT", and
 * the rest of the sentence. */
char *ckfs_type_error_text(const char *what, const char *must_be, sqlite3_value *value,
						   const char *rest);
void ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be,
					 sqlite3_value *value, const char *rest);

/* The values that ckfs_filter accepts. */
#define CKFS_SAY_FILTER "a BLOB or come from cuckoofilter_open"

#define CKFS_SAY_NO_HANDLE                                                                         \
	"the cuckoofilter of this handle is not open: another connection opened it, or it was closed " \
	"as the least recently used one; call cuckoofilter_open again, or pass the filter itself"

/* The rest of the message for a rate that is no number. It is not a format. */
#define CKFS_REST_PERCENT ": a rate of 1 % is 0.01"

/* Report an item that is a filter. */
void ckfs_error_filter_item(sqlite3_context *ctx);

/* Whether an item may be added: an error if it is a filter.  An earlier version added those, so
 * they can be looked up and removed. */
static inline bool
ckfs_is_addable(sqlite3_context *ctx, const ckfs_hashed *item)
{
	if (item->is_filter)
		ckfs_error_filter_item(ctx);
	return !item->is_filter;
}

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

#endif
