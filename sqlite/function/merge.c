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

/* The merger of a group; NULL, with an error: there is no memory.  SQLite's aggregate context is a
 * pointer to it, which is NULL before the first row. */
static ckf_merger *
ckfs_merger_of(sqlite3_context *ctx)
{
	ckf_merger **merger = ckfs_aggregate_state(ctx, sizeof *merger);

	if (merger && !*merger)
	{
		*merger = ckfs_allocate(ctx, NULL, sizeof(ckf_merger));
		if (*merger)
			ckf_merger_start(*merger, (ckf_operation)ckfs_user_data(ctx)->what);
	}
	return merger ? *merger : NULL;
}

/* cuckoofilter_union_agg(filter), cuckoofilter_sum_agg(filter) */
void
ckfs_merge_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_merger *merger = ckfs_merger_of(ctx);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter local;
	const ckf_filter *filter = merger ? ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local) : NULL;

	(void)argc;
	if (filter)
		(void)ckf_host_merge(&host.host, merger, filter);
}

/* The filter of the rows so far.  The state stays valid. */
void
ckfs_merge_value(sqlite3_context *ctx)
{
	ckf_merger *const *merger = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter owned;

	host.limited = true;
	if (!merger || !*merger || (*merger)->parts == 0)
		ckfs_result_no_rows(ctx);
	else if (ckf_host_merge_finish(&host.host, *merger, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_merge_final(sqlite3_context *ctx)
{
	ckf_merger **merger = sqlite3_aggregate_context(ctx, 0);
	ckfs_host host = ckfs_host_of(ctx);

	ckfs_merge_value(ctx);
	if (!merger || !*merger)
		return;
	ckf_host_merge_end(&host.host, *merger);
	sqlite3_free(*merger);
	*merger = NULL;
}
