/*
 * merge.c - cuckoofilter_union_agg and _sum_agg.
 *
 * The state is a merger, which keeps a few filters.
 */
#include "function.h"

#include "../argument.h"
#include "../connection.h"
#include "../error.h"
#include "../owned.h"

/* SQLite's aggregate context, at first zeros. */
typedef struct ckfs_merged
{
	ckf_merger *merger; /* NULL: there was no row */
} ckfs_merged;

/* The merger of a group; NULL: there is no memory. */
static ckf_merger *
ckfs_merger_of(sqlite3_context *ctx, ckf_goal goal)
{
	ckfs_merged *merged = sqlite3_aggregate_context(ctx, sizeof(ckfs_merged));

	if (merged && !merged->merger)
	{
		merged->merger = sqlite3_malloc64(sizeof(ckf_merger));
		if (merged->merger)
			ckf_merger_start(merged->merger, goal);
	}
	if (!merged || !merged->merger)
		sqlite3_result_error_nomem(ctx);
	return merged ? merged->merger : NULL;
}

/* cuckoofilter_union_agg(filter), cuckoofilter_sum_agg(filter) */
void
ckfs_merge_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const ckfs_merges *merges = ckfs_user_data(ctx)->data;
	ckf_merger *merger = ckfs_merger_of(ctx, merges->collect);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter local;
	const ckf_filter *filter;

	(void)argc;
	if (!merger)
		return;
	filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	if (filter)
		(void)ckf_host_merge(&host.host, merger, filter);
}

/* The filter of the rows so far.  The state stays valid. */
void
ckfs_merge_value(sqlite3_context *ctx)
{
	const ckfs_merges *merges = ckfs_user_data(ctx)->data;
	const ckfs_merged *merged = sqlite3_aggregate_context(ctx, 0);
	const ckf_filter *parts[CKF_MOST_INPUTS];

	if (!merged || !merged->merger || merged->merger->parts == 0)
		ckfs_result_no_rows(ctx);
	else
		ckfs_result_of(ctx, &(ckf_task){.goal = merges->finish,
										.in = parts,
										.inputs = ckf_merger_parts(merged->merger, parts)});
}

void
ckfs_merge_final(sqlite3_context *ctx)
{
	ckfs_merged *merged = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);

	ckfs_merge_value(ctx);
	if (!merged || !merged->merger)
		return;
	ckf_host_merge_end(&host.host, merged->merger);
	sqlite3_free(merged->merger);
	merged->merger = NULL;
}
