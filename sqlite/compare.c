/*
 * compare.c - compare filters.
 *
 * These functions read all of a filter, so they also check each of its slots (CKF_FOREIGN).
 */
#include "compare.h"

#include "argument.h"
#include "owned.h"

/* Read the two filters of a call. false: one is NULL or not a filter. */
static bool
ckfs_read_pair(sqlite3_context *ctx, sqlite3_value **argv, ckf_filter *local,
			   const ckf_filter **filter)
{
	int i;

	for (i = 0; i < 2; i++)
	{
		filter[i] = ckfs_filter(ctx, argv[i], CKF_FOREIGN, &local[i]);
		if (!filter[i])
			return false;
	}
	return true;
}

/* cuckoofilter_intersect(a, b) */
void
ckfs_sql_intersect(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local[2], owned;
	const ckf_filter *filter[2];

	(void)argc;
	if (ckfs_read_pair(ctx, argv, local, filter) &&
		ckfs_run(ctx, CKF_INTERSECT, filter[0], filter[1], &owned))
		ckfs_result(ctx, &owned);
}

static bool
ckfs_compare_arguments(sqlite3_context *ctx, sqlite3_value **argv, ckf_comparison *comparison)
{
	ckf_filter local[2];
	const ckf_filter *filter[2];

	return ckfs_read_pair(ctx, argv, local, filter) &&
		   ckfs_compare(ctx, filter[0], filter[1], comparison);
}

/* cuckoofilter_overlap(a, b) */
void
ckfs_sql_overlap(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_comparison comparison;

	(void)argc;
	if (ckfs_compare_arguments(ctx, argv, &comparison))
		sqlite3_result_double(ctx, comparison.overlap);
}

/* cuckoofilter_jaccard(a, b): NULL for two empty filters */
void
ckfs_sql_jaccard(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_comparison comparison;

	(void)argc;
	if (ckfs_compare_arguments(ctx, argv, &comparison) && !comparison.empty)
		sqlite3_result_double(ctx, comparison.jaccard);
}

/*
 * cuckoofilter_intersect_agg(filter): the state is the intersection of the filters so far, an owned
 * filter.  Before the first filter it has no bytes.
 */
void
ckfs_intersect_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter *state = sqlite3_aggregate_context(ctx, sizeof(ckf_filter));
	ckf_filter local;
	const ckf_filter *filter;

	(void)argc;
	if (!state)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	if (filter)
		ckfs_intersect_into(ctx, state, filter);
}

/* NULL if there were no filters.  The state stays valid. */
void
ckfs_intersect_value(sqlite3_context *ctx)
{
	const ckf_filter *state = sqlite3_aggregate_context(ctx, 0);
	ckf_filter owned;

	if (state && state->bytes && ckfs_copy(ctx, state, 0, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_intersect_final(sqlite3_context *ctx)
{
	ckf_filter *state = sqlite3_aggregate_context(ctx, 0);

	if (!state || !state->bytes)
		return;
	ckfs_result(ctx, state);
	state->bytes = NULL; /* SQLite owns it now */
}
