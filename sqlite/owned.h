/*
 * owned.h - filters in memory of our own: copies, growth, rebuilds, results.
 */
#ifndef CKFS_OWNED_H
#define CKFS_OWNED_H

#include "hashed.h"

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

#endif
