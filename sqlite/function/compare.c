/*
 * compare.c - rebuild and compare filters.
 *
 * These functions read all of a filter, so they also check each of its slots (CKF_FOREIGN).
 */
#include "function.h"

#include "../argument.h"
#include "../connection.h"
#include "../owned.h"

/* Read the filters of a call, at most two. false: one is NULL or not a filter. */
static bool
ckfs_read_filters(sqlite3_context *ctx, int argc, sqlite3_value **argv, ckf_filter *local,
				  const ckf_filter **filter)
{
	int i;

	for (i = 0; i < argc; i++)
	{
		filter[i] = ckfs_filter(ctx, argv[i], CKF_FOREIGN, &local[i]);
		if (!filter[i])
			return false;
	}
	return true;
}

/* cuckoofilter_union(a, b), _sum(a, b), _intersect(a, b), _compact(filter) */
void
ckfs_sql_rebuild(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_operation operation = (ckf_operation)ckfs_user_data(ctx)->what;
	ckf_filter local[2];
	const ckf_filter *filter[2];

	if (ckfs_read_filters(ctx, argc, argv, local, filter))
		ckfs_result_of(ctx,
					   &(ckf_task){.operation = operation, .in = filter, .inputs = (unsigned)argc});
}

/* cuckoofilter_overlap(a, b), _overlap_error(a, b), _jaccard(a, b): the index is NULL for two empty
 * filters */
void
ckfs_sql_compare(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_compared what = (ckfs_compared)ckfs_user_data(ctx)->what;
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter local[2];
	const ckf_filter *filter[2];
	ckf_comparison comparison;
	ckf_task task = {
		.operation = CKF_COMPARE, .in = filter, .inputs = 2, .comparison = &comparison};

	if (!ckfs_read_filters(ctx, argc, argv, local, filter) ||
		!ckf_host_run(&host.host, &task, NULL) || (what == CKFS_JACCARD && comparison.empty))
		return;
	sqlite3_result_double(ctx, what == CKFS_JACCARD         ? comparison.jaccard
							   : what == CKFS_OVERLAP_ERROR ? comparison.error
															: comparison.overlap);
}

/*
 * cuckoofilter_intersect_agg(filter): the state is the intersection of the filters so far, an owned
 * filter.  Before the first filter it has no bytes.
 */
void
ckfs_intersect_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter *state = ckfs_aggregate_state(ctx, sizeof(ckf_filter));
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter local;
	const ckf_filter *filter = state ? ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local) : NULL;

	(void)argc;
	if (filter && state->bytes)
		(void)ckf_host_rebuild(&host.host, CKF_INTERSECT, state, filter);
	else if (filter)
		(void)ckf_host_build(&host.host, CKF_INTERSECT, filter, NULL, state);
}

/* NULL if there were no filters.  The state stays valid. */
void
ckfs_intersect_value(sqlite3_context *ctx)
{
	const ckf_filter *state = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter owned;

	if (state && state->bytes && ckf_host_copy(&host.host, state, 0, &owned))
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
