/*
 * host.h - what the files of the SQLite extension share.
 *
 *   extension.c   the entry point and the table of functions
 *   scalar.c      scalar functions
 *   aggregate.c   aggregates over items
 *   merge.c       aggregates over filters
 *   collect.c     hashes that come in any order
 *   compare.c     what filters have in common
 *   batch.c       cuckoofilter_add_agg, which adds to one
 *   info.c        cuckoofilter_info; json.h: what it shares with table/info.c
 *   which.c       cuckoofilter_which; json_array.h: what it reads
 *   argument.c    SQL values to filters, hashes and parameters
 *   handle.c      filters that cuckoofilter_open holds
 *   owned.c       filters in memory of our own: copies, growth, rebuilds, results
 *   library.c     what depends on the version of the SQLite library
 *   table/        the virtual table (table/README.md)
 *   error.c       every error sentence, once
 *
 * Functions that take a sqlite3_context report their failures in it, and
 * return false (or NULL) when the caller has nothing left to do.
 */
#ifndef CKFS_HOST_H
#define CKFS_HOST_H

#include "sqlite3ext.h"
#include "cuckoofilter.h"

SQLITE_EXTENSION_INIT3

/* ----------------------------------------------------------------- handle.c */

/* What cuckoofilter_open gives: the BLOB of a handle.  No filter is as short. */
typedef struct ckfs_name
{
	char sign[8];
	uint64_t hash;   /* of the filter's bytes */
	uint64_t serial; /* from a random number on, so that no other connection has it */
} ckfs_name;

typedef struct ckfs_handle ckfs_handle;
typedef struct ckfs_kept ckfs_kept;

/* The filters that are open in a connection. */
typedef struct ckfs_handles
{
	ckfs_name last; /* name and filter of the newest, which most calls ask for */
	const ckf_filter *last_filter;
	ckfs_handle *newest, *oldest; /* by last use */
	ckfs_handle **chains;         /* by hash of their bytes; NULL at first */
	size_t chain_count;           /* a power of two */
	size_t count;
	uint64_t bytes;  /* all that they take */
	ckfs_kept *kept; /* names that stay */
	size_t kept_count;
	uint64_t serial; /* of the next */
	uint64_t seed;   /* of the hashes */
} ckfs_handles;

void ckfs_handles_start(ckfs_handles *handles);
void ckfs_handles_end(ckfs_handles *handles);

/* The filter of a handle, as many bytes as a name has; NULL, with an error, where it
 * is not open here.  It stays until the function that asks opens another. */
const ckf_filter *ckfs_handle_filter(sqlite3_context *ctx, ckfs_handles *handles, const void *bytes,
									 ckf_trust trust);

/* Do bytes of a name's size look like a handle's? */
bool ckfs_is_handle(const void *bytes);

/* A handle whose filter is read while SQL runs, which may open others: it stays until it is
 * unpinned.  NULL where it is not open here; NULL may be unpinned. */
ckfs_handle *ckfs_handle_pin(ckfs_handles *handles, const void *bytes);
void ckfs_handle_unpin(ckfs_handle *handle);
const ckf_filter *ckfs_pinned_filter(const ckfs_handle *handle);

/* Make a handle of a filter the result. */
void ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter);

/* -------------------------------------------------------------- extension.c */

typedef struct ckfs_connection ckfs_connection;

/* What a function of SQL finds in its user data. */
typedef struct ckfs_user
{
	ckfs_connection *connection;
	const void *data; /* its own */
} ckfs_user;

/* What the functions of a connection share. */
struct ckfs_connection
{
	ckfs_handles handles;
	uint8_t logged[CKF_ITEM_HASH]; /* by a filter's classes: of which an item was asked for */
	int references;                /* of functions, and of the module of tables */
	struct ckfs_table *tables;     /* the first of the filter tables that it has connected */
	uint64_t connected;            /* how many it has connected so far */
	bool replaced;                 /* another module has taken over functions of ours */
	ckfs_user users[];
};

static inline const ckfs_user *
ckfs_user_data(sqlite3_context *ctx)
{
	return sqlite3_user_data(ctx);
}

/* -------------------------------------------------------------- library.c */

/* Is the library as new as we need it?  If not, *error says so. */
bool ckfs_library_will_do(char **error);

/* Was sqlite3_interrupt called?  Then that is the function's result.  Asked
 * between the steps of long work; SQLite before 3.41 cannot tell. */
bool ckfs_interrupted(sqlite3_context *ctx);

/* The same where there is no function. */
bool ckfs_is_interrupted(sqlite3 *db);

/* ---------------------------------------------------------------- check.c */

/* Read each slot of a filter once. False, with an error, if one is damaged. */
bool ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter);

/* ------------------------------------------------------------- argument.c */

/*
 * The filter of an argument: a BLOB, opened in *local, or the one of a handle.
 * NULL where the argument is NULL (the result of a function is NULL until it is
 * set) or no filter.
 */
const ckf_filter *ckfs_filter(sqlite3_context *ctx, sqlite3_value *arg, ckf_trust trust,
							  ckf_filter *local);

/* An item's hash and class. */
typedef struct ckfs_hashed
{
	uint64_t hash;
	unsigned item_class; /* ckf_item_class */
} ckfs_hashed;

/* A value to its hash: SQLITE_OK, SQLITE_DONE where it is NULL, SQLITE_NOMEM. */
int ckfs_hash_value(sqlite3_value *value, uint64_t seed, ckfs_hashed *hashed);

/* Arguments to the hash of an item; false where one of them is NULL.  Three ways:
 * ckfs_hash_item takes an item, ckfs_hash_pair an item and its value, ckfs_hash_given an
 * integer that is a hash already. */
typedef bool ckfs_hasher(sqlite3_context *ctx, sqlite3_value **values, uint64_t seed,
						 ckfs_hashed *hashed);

ckfs_hasher ckfs_hash_item;
ckfs_hasher ckfs_hash_pair;
ckfs_hasher ckfs_hash_given;

/* An integer, also one that a driver bound as REAL; `what` names it in errors. */
bool ckfs_integer(sqlite3_context *ctx, sqlite3_value *value, const char *what, int64_t *number);

/* Parameters of a filter.  The value is not NULL. */
bool ckfs_capacity(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_fpr(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);
bool ckfs_options(sqlite3_context *ctx, sqlite3_value *value, ckf_params *params);

/* ---------------------------------------------------------------- owned.c */

/*
 * An owned filter is a ckf_filter over bytes from sqlite3_malloc64, which ckfs_discard
 * or ckfs_result gives away.
 */

/* A copy of a filter, with room for some more hashes. */
bool ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Copy bytes of which there may be many; false when interrupted. */
bool ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size);

/* Run a rebuild of the engine; *owned is its result, to be given away, and must
 * not be an input.  b is NULL but for goals of two filters. */
bool ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
			  ckf_filter *owned);

/*
 * Run a rebuild whose items the host brings: `start` starts it, and `feed` does what CKF_FEED
 * asks for (false, with an error, where that fails); both get `data`.  `about`: for errors,
 * what the result would be.
 */
typedef ckf_status ckfs_start_fed(ckf_rebuild *rebuild, void *data);
typedef bool ckfs_feed(sqlite3_context *ctx, ckf_rebuild *rebuild, void *data);

bool ckfs_run_fed(sqlite3_context *ctx, ckfs_start_fed *start, ckfs_feed *feed, void *data,
				  const ckf_filter *about, ckf_filter *owned);

/* The same of up to CKF_MOST_INPUTS filters. */
bool ckfs_run_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in,
				   unsigned inputs, ckf_filter *owned);

/* The same, and *owned is open.  false without an error, but with *refused: there is no
 * precision left; where `refused` is NULL that is an error. */
bool ckfs_try(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in, unsigned inputs,
			  ckf_filter *owned, bool *refused);

/* Open an owned filter, of which only bytes, size and room are known. */
bool ckfs_reopen(sqlite3_context *ctx, ckf_filter *owned);

/* Intersect a filter into a running state, which is owned; without bytes it has none yet. */
bool ckfs_intersect_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in);

/* What two filters have in common. */
bool ckfs_compare(sqlite3_context *ctx, const ckf_filter *a, const ckf_filter *b,
				  ckf_comparison *comparison);

/* A larger filter in place of this one. */
bool ckfs_grow(sqlite3_context *ctx, ckf_filter *owned);

/* A change of an owned filter by one item; false, with an error, where it fails. */
typedef bool ckfs_change(sqlite3_context *ctx, ckf_filter *owned, ckfs_hashed item);

ckfs_change ckfs_add;    /* it grows where it must */
ckfs_change ckfs_remove; /* what is not in it changes nothing */

/* Many items, as hashes. */
typedef struct ckfs_list
{
	const uint64_t *hashes;
	size_t count;
	unsigned item_classes; /* of all of them */
} ckfs_list;

/* Change an owned filter by each of them; false, with an error, where that fails, and nothing
 * is owned then. */
bool ckfs_change_each(sqlite3_context *ctx, ckf_filter *owned, const ckfs_list *list,
					  ckfs_change *change);

/* A filter changed by many items: each by `change`, or all at once by `goal`, whichever
 * is quicker; the answers of the result are the same. */
bool ckfs_change_many(sqlite3_context *ctx, const ckf_filter *filter, const ckfs_list *list,
					  ckfs_change *change, ckf_goal goal, ckf_filter *owned);

void ckfs_discard(ckf_filter *owned);

/* Make the owned filter's bytes the function's result. */
void ckfs_result(sqlite3_context *ctx, ckf_filter *owned);

/* Make the empty filter of these parameters the result. */
void ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params);

/* Make that of an aggregate over no rows the result, which knows no parameters. */
void ckfs_result_no_rows(sqlite3_context *ctx);

/* ---------------------------------------------------------------- collect.c */

/* Copies of a hash that a batch of adds or removals has: more make no difference to a filter. */
#define CKFS_MOST_COPIES 16

/* Make room in a collector, or settle it.  Each of these is false, with an error, where memory
 * or a filter's bytes fail, or the statement is interrupted. */
bool ckfs_collect_room(sqlite3_context *ctx, ckf_collector *collector);
bool ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector);

bool ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item);
bool ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in);

/* Free its memory. */
void ckfs_collect_end(ckf_collector *collector);

/* ---------------------------------------------------------------- error.c */

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
	"the cuckoofilter of this handle is not open: it was opened by another connection, or "        \
	"dropped as the one longest unused; call cuckoofilter_open again, or pass the filter itself"

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

/* -------------------------- scalar.c, info.c, which.c: functions of SQL */

/* How add, remove and contains take what follows the filter: user data. */
typedef struct ckfs_items
{
	ckfs_hasher *hash;
	int count; /* arguments of an item */
} ckfs_items;

typedef void ckfs_function(sqlite3_context *ctx, int argc, sqlite3_value **argv);

ckfs_function ckfs_sql_create;
ckfs_function ckfs_sql_bytes;
ckfs_function ckfs_sql_open;
ckfs_function ckfs_sql_add;      /* ckfs_items */
ckfs_function ckfs_sql_remove;   /* ckfs_items */
ckfs_function ckfs_sql_contains; /* ckfs_items */
ckfs_function ckfs_sql_add_all;
ckfs_function ckfs_sql_remove_all;
ckfs_function ckfs_sql_contains_any;
ckfs_function ckfs_sql_contains_all;
ckfs_function ckfs_sql_copies;
ckfs_function ckfs_sql_union;
ckfs_function ckfs_sql_sum;
ckfs_function ckfs_sql_compact;
ckfs_function ckfs_sql_count;
ckfs_function ckfs_sql_fpr;
ckfs_function ckfs_sql_hash;
ckfs_function ckfs_sql_version;
ckfs_function ckfs_sql_info;
ckfs_function ckfs_sql_export;     /* table/export.c */
ckfs_function ckfs_sql_table_info; /* table/info.c */
ckfs_function ckfs_sql_which;

/* ---------------------------------------------------------- table/module.c */

/* Register the virtual table; `forget` is called for the connection when it is gone. */
int ckfs_register_table(sqlite3 *db, ckfs_connection *connection, void (*forget)(void *));

/* ------------------------------------- aggregate.c: the steps of aggregates */

/* What an aggregate collects, and how it ends: user data. */
typedef struct ckfs_aggregate
{
	ckfs_hasher *hash; /* of items; NULL: filters */
	int count;         /* arguments of an item or filter */
	ckf_goal collect;  /* of filters */
	ckf_goal finish;   /* the same */
} ckfs_aggregate;

ckfs_function ckfs_step_item;
ckfs_function ckfs_inverse;
void ckfs_value(sqlite3_context *ctx);
void ckfs_final(sqlite3_context *ctx);

/* ------------------------------- merge.c: cuckoofilter_union_agg, _sum_agg */

ckfs_function ckfs_merge_step;
void ckfs_merge_value(sqlite3_context *ctx);
void ckfs_merge_final(sqlite3_context *ctx);

/* ------------------------------------- compare.c: what filters have in common */

ckfs_function ckfs_sql_intersect;
ckfs_function ckfs_sql_overlap;
ckfs_function ckfs_sql_jaccard;
ckfs_function ckfs_intersect_step;
void ckfs_intersect_value(sqlite3_context *ctx);
void ckfs_intersect_final(sqlite3_context *ctx);

/* ------------------------------------------- batch.c: cuckoofilter_add_agg */

ckfs_function ckfs_batch_step;
void ckfs_batch_value(sqlite3_context *ctx);
void ckfs_batch_final(sqlite3_context *ctx);

#endif
