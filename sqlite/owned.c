/*
 * owned.c - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#include "owned.h"

#include "error.h"
#include "library.h"

/* Whether a result of this size is below SQLite's limit.  `filter` is what it grew from. */
static bool
ckfs_fits(sqlite3_context *ctx, size_t size, const ckf_filter *filter)
{
	int64_t limit = sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);

	if (size <= (size_t)limit)
		return true;
	ckfs_error_too_large(ctx, filter, limit);
	return false;
}

/* --------------------------------------------------------- SQLite as host */

static void *
ckfs_host_renew(ckf_host *base, void *memory, size_t size, const ckf_filter *origin)
{
	ckfs_host *host = (ckfs_host *)base;

	sqlite3_free(memory);
	if (size == 0 || (origin && host->limited && !ckfs_fits(host->ctx, size, origin)))
		return NULL;
	memory = sqlite3_malloc64(size);
	if (!memory)
		sqlite3_result_error_nomem(host->ctx);
	return memory;
}

static bool
ckfs_host_stops(ckf_host *host)
{
	return ckfs_interrupted(((ckfs_host *)host)->ctx);
}

static void
ckfs_host_report(ckf_host *host, ckf_status status, ckf_about about)
{
	ckfs_error(((ckfs_host *)host)->ctx, status,
			   (ckfs_subject){.filter = about.filter,
							  .other = about.other,
							  .rebuild = about.rebuild,
							  .comparison = about.comparison});
}

ckfs_host
ckfs_host_of(sqlite3_context *ctx)
{
	return (ckfs_host){{ckfs_host_renew, ckfs_host_stops, ckfs_host_report}, ctx, false};
}

/* ------------------------------------------------------------------ copies */

bool
ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_copy_bytes(&host.host, to, from, size);
}

bool
ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_copy(&host.host, filter, more, owned);
}

/* ---------------------------------------------------------------- rebuilds */

/* The state of an aggregate may be larger than a value. */
static bool
ckfs_is_state(ckf_goal goal)
{
	return goal == CKF_MERGE_UNION || goal == CKF_MERGE_SUM;
}

bool
ckfs_perform(sqlite3_context *ctx, const ckf_task *task, ckf_filter *owned)
{
	ckfs_host host = ckfs_host_of(ctx);

	host.limited = !ckfs_is_state(task->goal);
	return ckf_host_run(&host.host, task, owned);
}

bool
ckfs_run_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in, unsigned inputs,
			  ckf_filter *owned)
{
	return ckfs_perform(ctx, &(ckf_task){.goal = goal, .in = in, .inputs = inputs}, owned);
}

bool
ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
		 ckf_filter *owned)
{
	const ckf_filter *in[2] = {a, b};

	return ckfs_run_many(ctx, goal, in, b ? 2 : 1, owned);
}

bool
ckfs_compare(sqlite3_context *ctx, const ckf_filter *a, const ckf_filter *b,
			 ckf_comparison *comparison)
{
	const ckf_filter *in[2] = {a, b};

	return ckfs_perform(
		ctx, &(ckf_task){.goal = CKF_COMPARE, .in = in, .inputs = 2, .comparison = comparison},
		NULL);
}

bool
ckfs_intersect_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in)
{
	ckfs_host host = ckfs_host_of(ctx);

	return state->bytes ? ckf_host_rebuild(&host.host, CKF_INTERSECT, state, in)
						: ckfs_run(ctx, CKF_INTERSECT, in, NULL, state);
}

/* ----------------------------------------------------------------- changes */

bool
ckfs_change_each(sqlite3_context *ctx, ckf_goal goal, ckf_filter *owned, const ckf_list *list)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_change_each(&host.host, goal, owned, list);
}

bool
ckfs_change_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *filter,
				 const ckf_list *list, ckf_filter *owned)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_change(&host.host, goal, filter, list, owned);
}

bool
ckfs_add_collected(sqlite3_context *ctx, const ckf_filter *filter, const ckf_collector *collector,
				   uint64_t items, ckf_filter *owned)
{
	ckfs_host host = ckfs_host_of(ctx);

	return ckf_host_add_collected(&host.host, filter, collector, items, owned);
}

/* ----------------------------------------------------------------- results */

void
ckfs_discard(ckf_filter *owned)
{
	sqlite3_free(owned->bytes);
	owned->bytes = NULL;
}

void
ckfs_result(sqlite3_context *ctx, ckf_filter *owned)
{
	if (ckfs_fits(ctx, owned->size, owned))
		sqlite3_result_blob64(ctx, owned->bytes, owned->size, sqlite3_free);
	else
		ckfs_discard(owned);
}

void
ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params)
{
	uint8_t bytes[CKF_HEADER_SIZE];
	ckf_status status = ckf_create(params, bytes);

	if (status == CKF_OK)
		sqlite3_result_blob(ctx, bytes, sizeof(bytes), SQLITE_TRANSIENT);
	else
		ckfs_error(ctx, status, (ckfs_subject){.params = params});
}

void
ckfs_result_no_rows(sqlite3_context *ctx)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1;
	ckfs_result_empty(ctx, &params);
}
