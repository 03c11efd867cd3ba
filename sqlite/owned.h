/*
 * owned.h - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#ifndef CKFS_OWNED_H
#define CKFS_OWNED_H

#include "hashed.h"

/*
 * An owned filter is a ckf_filter whose bytes come from sqlite3_malloc64. ckfs_discard frees them,
 * and ckfs_result passes them to SQLite.  The functions return false, with an error, if they fail.
 */

/* Copy a filter, with room for `more` additional hashes. */
bool ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Copy bytes, with checks for interrupts if there are many. false: interrupted. */
bool ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size);

/* Run a rebuild of the engine.  Its result becomes *owned, which must not be an input. b is NULL
 * unless the goal needs two filters. */
bool ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
			  ckf_filter *owned);

/*
 * Run a rebuild whose items the host feeds.  `start` starts the rebuild.  `feed` is called for each
 * CKF_FEED, and returns false, with an error, if it fails.  Both get `data`.  `about` describes the
 * result in errors.
 */
typedef ckf_status ckfs_start_fed(ckf_rebuild *rebuild, void *data);
typedef bool ckfs_feed(sqlite3_context *ctx, ckf_rebuild *rebuild, void *data);

bool ckfs_run_fed(sqlite3_context *ctx, ckfs_start_fed *start, ckfs_feed *feed, void *data,
				  const ckf_filter *about, ckf_filter *owned);

/* Run a rebuild of up to CKF_MOST_INPUTS filters. */
bool ckfs_run_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in,
				   unsigned inputs, ckf_filter *owned);

/* Run a rebuild of up to CKF_MOST_INPUTS filters, and open the result.  If the precision is used
 * up, this returns false and sets *refused without an error; if `refused` is NULL, it is an
 * error. */
bool ckfs_try(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in, unsigned inputs,
			  ckf_filter *owned, bool *refused);

/* Open an owned filter of which only bytes, size and room are set. */
bool ckfs_reopen(sqlite3_context *ctx, ckf_filter *owned);

/* Intersect a filter into a running state, an owned filter.  A state without bytes becomes the
 * filter. */
bool ckfs_intersect_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in);

/* Compare two filters. */
bool ckfs_compare(sqlite3_context *ctx, const ckf_filter *a, const ckf_filter *b,
				  ckf_comparison *comparison);

/* Replace an owned filter by a larger one with the same items. */
bool ckfs_grow(sqlite3_context *ctx, ckf_filter *owned);

/* Change an owned filter by one item. false: an error was reported. */
typedef bool ckfs_change(sqlite3_context *ctx, ckf_filter *owned, ckfs_hashed item);

ckfs_change ckfs_add;    /* grows the filter if it must */
ckfs_change ckfs_remove; /* changes nothing if the item is not in the filter */

/* The hashes of many items. */
typedef struct ckfs_list
{
	const uint64_t *hashes;
	size_t count;
	unsigned item_classes; /* of all items */
} ckfs_list;

/* Change an owned filter by each item of the list. false: an error was reported, and the filter was
 * freed. */
bool ckfs_change_each(sqlite3_context *ctx, ckf_filter *owned, const ckfs_list *list,
					  ckfs_change *change);

/* Copy a filter and change it by many items: by `change` for each item, or by one rebuild with
 * `goal`, whichever is faster.  Both results give the same answers. */
bool ckfs_change_many(sqlite3_context *ctx, const ckf_filter *filter, const ckfs_list *list,
					  ckfs_change *change, ckf_goal goal, ckf_filter *owned);

void ckfs_discard(ckf_filter *owned);

/* Return the bytes of the owned filter as the result of the function. */
void ckfs_result(sqlite3_context *ctx, ckf_filter *owned);

/* Return the empty filter with these parameters as the result. */
void ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params);

/* Return the result of an aggregate over no rows: the empty filter with default parameters. */
void ckfs_result_no_rows(sqlite3_context *ctx);

#endif
