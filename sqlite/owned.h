/*
 * owned.h - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#ifndef CKFS_OWNED_H
#define CKFS_OWNED_H

#include "hashed.h"

#include "cuckoofilter_host.h"

/*
 * An owned filter is a ckf_filter whose bytes come from sqlite3_malloc64. ckfs_discard frees them,
 * and ckfs_result passes them to SQLite.  The functions return false, with an error, if they fail.
 */

/* SQLite as the host of long operations of a function. */
typedef struct ckfs_host
{
	ckf_host host;
	sqlite3_context *ctx;
	bool limited; /* filters must not be larger than a value */
} ckfs_host;

ckfs_host ckfs_host_of(sqlite3_context *ctx);

/* A copy of a filter, with room for some more hashes. */
bool ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Copy bytes, with checks for interrupts if there are many. false: interrupted. */
bool ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size);

/* Run a rebuild of the engine; *owned is its result, opened, and must not be an input.  b is
 * NULL for goals of one filter. */
bool ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
			  ckf_filter *owned);
bool ckfs_perform(sqlite3_context *ctx, const ckf_task *task, ckf_filter *owned);

/* Run a rebuild of up to CKF_MOST_INPUTS filters. */
bool ckfs_run_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in,
				   unsigned inputs, ckf_filter *owned);

/* Intersect a filter into a running state, which is owned; without bytes it has none yet. */
bool ckfs_intersect_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in);

/* Compare two filters. */
bool ckfs_compare(sqlite3_context *ctx, const ckf_filter *a, const ckf_filter *b,
				  ckf_comparison *comparison);

/* Change an owned filter by each hash of a list.  goal: CKF_ADD_MANY or CKF_REMOVE_MANY.  false,
 * with an error: nothing is owned then. */
bool ckfs_change_each(sqlite3_context *ctx, ckf_goal goal, ckf_filter *owned, const ckf_list *list);

/* *owned is a filter changed by each hash of a list, one by one or by a rebuild. */
bool ckfs_change_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *filter,
					  const ckf_list *list, ckf_filter *owned);

/* *owned is a filter and the hashes of a collector that has settled, which took `items`. */
bool ckfs_add_collected(sqlite3_context *ctx, const ckf_filter *filter,
						const ckf_collector *collector, uint64_t items, ckf_filter *owned);

void ckfs_discard(ckf_filter *owned);

/* Return the bytes of the owned filter as the result of the function. */
void ckfs_result(sqlite3_context *ctx, ckf_filter *owned);

/* Return the empty filter with these parameters as the result. */
void ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params);

/* Return the result of an aggregate over no rows: the empty filter with default parameters. */
void ckfs_result_no_rows(sqlite3_context *ctx);

#endif
