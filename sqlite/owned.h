/*
 * owned.h - SQLite as the host of the engine, and filters as results.
 */
#ifndef CKFS_OWNED_H
#define CKFS_OWNED_H

#include "host.h"

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

/* Check each slot of a filter. false, with an error: one is damaged, or the statement is
 * interrupted. */
bool ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter);

/* Memory for so many bytes, in place of `old` if that is not NULL.  NULL, with an error: there is
 * none, and `old` stays as it is. */
void *ckfs_allocate(sqlite3_context *ctx, void *old, size_t size);

/* The state of the group of a row, all zeros at its first row.  NULL, with an error: there is no
 * memory. */
static inline void *
ckfs_aggregate_state(sqlite3_context *ctx, size_t size)
{
	void *state = sqlite3_aggregate_context(ctx, (int)size);

	if (!state)
		sqlite3_result_error_nomem(ctx);
	return state;
}

void ckfs_discard(ckf_filter *owned);

/* Return the bytes of the owned filter as the result of the function. */
void ckfs_result(sqlite3_context *ctx, ckf_filter *owned);

/* Run a rebuild, and return its filter as the result. */
void ckfs_result_of(sqlite3_context *ctx, const ckf_task *task);

/* Return the empty filter with these parameters as the result. */
void ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params);

/* Return the result of an aggregate over no rows: the empty filter with default parameters. */
void ckfs_result_no_rows(sqlite3_context *ctx);

#endif
