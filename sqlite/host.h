/*
 * host.h - what the files of the SQLite extension share.
 *
 *   extension.c   the entry point and the table of functions
 *   scalar.c      scalar functions
 *   aggregate.c   aggregates
 *   info.c        cuckoofilter_info
 *   argument.c    SQL values to filters, hashes and parameters
 *   owned.c       filters in memory of our own: copies, growth, rebuilds, results
 *   library.c     what depends on the version of the SQLite library
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

/* -------------------------------------------------------------- library.c */

/* Is the library as new as we need it?  If not, *error says so. */
bool ckfs_library_will_do(char **error);

/* Was sqlite3_interrupt called?  Then that is the function's result.  Asked
 * between the steps of long work; SQLite before 3.41 cannot tell. */
bool ckfs_interrupted(sqlite3_context *ctx);

/* ------------------------------------------------------------- argument.c */

/*
 * The filter of an argument: a BLOB, opened in *local, or one that
 * cuckoofilter_open holds.  NULL where the argument is NULL (the result of a
 * function is NULL until it is set) or no filter.
 */
const ckf_filter *ckfs_filter(sqlite3_context *ctx, sqlite3_value *arg, ckf_trust trust,
							  ckf_filter *local);

/* Make a handle of a filter the result: the copy that ckfs_filter finds. */
void ckfs_result_handle(sqlite3_context *ctx, const ckf_filter *filter);

/* A value to its hash; false where it is NULL.  Two ways: ckfs_hash_item takes
 * an item, ckfs_hash_given an integer that is a hash already. */
typedef bool ckfs_hasher(sqlite3_context *ctx, sqlite3_value *value, uint64_t seed, uint64_t *hash);

ckfs_hasher ckfs_hash_item;
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
bool ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, int more, ckf_filter *owned);

/* Copy bytes of which there may be many; false when interrupted. */
bool ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size);

/* Run a rebuild of the engine; *owned is its result, to be given away, and must
 * not be an input.  b is NULL but for goals of two filters. */
bool ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
			  ckf_filter *owned);

/* The same of a filter and n hashes. */
bool ckfs_run_hashes(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a,
					 const uint64_t *hashes, size_t n, ckf_filter *owned);

/* Merge a filter into a running state, which is owned: CKF_COLLECT_*. */
bool ckfs_merge_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in, ckf_goal goal);

/* A larger filter in place of this one. */
bool ckfs_grow(sqlite3_context *ctx, ckf_filter *owned);

/* Add a hash to an owned filter, which grows where it must. */
bool ckfs_add(sqlite3_context *ctx, ckf_filter *owned, uint64_t hash);

void ckfs_discard(ckf_filter *owned);

/* Make the owned filter's bytes the function's result. */
void ckfs_result(sqlite3_context *ctx, ckf_filter *owned);

/* ---------------------------------------------------------------- error.c */

/* What a sentence is about: the members that its status needs, else zero. */
typedef struct ckfs_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	const char *option;       /* BAD_OPTION */
	size_t option_size;
	const ckf_filter *filter;   /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;    /* SEED_DIFFERS, PRECISION of a merge */
	const ckf_rebuild *rebuild; /* PRECISION: that came to it; NULL: an add */
} ckfs_subject;

/* Report a failed call of the engine. */
void ckfs_error(sqlite3_context *ctx, ckf_status status, ckfs_subject subject);

/* `value` is not what it must be: "capacity must be an integer, not TEXT". */
void ckfs_error_type(sqlite3_context *ctx, const char *what, const char *must_be,
					 sqlite3_value *value);

/* A variadic function was called without its filter. */
void ckfs_error_no_filter(sqlite3_context *ctx);

/* The result, with the items of `filter` and more, would pass SQLite's limit. */
void ckfs_error_too_large(sqlite3_context *ctx, const ckf_filter *filter, int64_t limit);

/* A state in whole hashes would be larger than SQLite's memory has bytes in one piece. */
#define CKFS_MOST_BYTES 2147483391
void ckfs_error_state_too_large(sqlite3_context *ctx, const ckf_filter *state);

/* A window's frame would take rows out of an aggregate. */
void ckfs_error_frame(sqlite3_context *ctx);

/* ------------------------------------- scalar.c, info.c: functions of SQL */

/* How add, remove and contains take what follows the filter: user data. */
typedef struct ckfs_items
{
	ckfs_hasher *hash;
} ckfs_items;

typedef void ckfs_function(sqlite3_context *ctx, int argc, sqlite3_value **argv);

ckfs_function ckfs_sql_create;
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

/* ------------------------------------- aggregate.c: the steps of aggregates */

/* What an aggregate collects, and how it ends: user data. */
typedef struct ckfs_aggregate
{
	ckfs_hasher *hash; /* of items; NULL: filters */
	ckf_goal collect;  /* of filters */
	ckf_goal finish;
} ckfs_aggregate;

ckfs_function ckfs_step_item;
ckfs_function ckfs_step_filter;
ckfs_function ckfs_inverse;
void ckfs_value(sqlite3_context *ctx);
void ckfs_final(sqlite3_context *ctx);

#endif
