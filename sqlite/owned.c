/*
 * owned.c - SQLite as the host of the engine, and filters as results.
 */
#include "owned.h"

#include "error.h"
#include "messages.h"

/* Whether a result of this size is below SQLite's limit.  `filter` is what it grew from. */
static bool
ckfs_fits(sqlite3_context *ctx, size_t size, const ckf_filter *filter)
{
	int64_t limit = sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);

	if (size <= (size_t)limit)
		return true;
	ckfs_report(ctx, sqlite3_mprintf(CKF_SAY_TOO_LARGE
									 ": " CKF_FILL "; spread the items over several filters, or "
									 "use a lower capacity or a higher rate",
									 (long long)limit, (unsigned long long)filter->count,
									 ckf_fpr(filter)));
	return false;
}

void *
ckfs_allocate(sqlite3_context *ctx, void *old, size_t size)
{
	void *memory = sqlite3_realloc64(old, size);

	if (!memory)
		sqlite3_result_error_nomem(ctx);
	return memory;
}

/* --------------------------------------------------------- SQLite as host */

static void *
ckfs_host_renew(ckf_host *base, void *memory, size_t size, const ckf_filter *origin)
{
	ckfs_host *host = (ckfs_host *)base;

	sqlite3_free(memory);
	if (size == 0 || (origin && host->limited && !ckfs_fits(host->ctx, size, origin)))
		return NULL;
	return ckfs_allocate(host->ctx, NULL, size);
}

static bool
ckfs_host_stops(ckf_host *host)
{
	return ckfs_interrupted(((ckfs_host *)host)->ctx);
}

static void
ckfs_host_report(ckf_host *host, ckf_status status, ckf_about about)
{
	ckfs_error(((ckfs_host *)host)->ctx, status, about);
}

ckfs_host
ckfs_host_of(sqlite3_context *ctx)
{
	return (ckfs_host){{ckfs_host_renew, ckfs_host_stops, ckfs_host_report}, ctx, false};
}

bool
ckfs_check_slots(sqlite3_context *ctx, const ckf_filter *filter)
{
	ckfs_host host = ckfs_host_of(ctx);
	ckf_status status = ckf_host_check(&host.host, filter);

	if (status != CKF_OK && status != CKF_MORE) /* CKF_MORE: interrupted, which has been reported */
		ckfs_error(ctx, status, (ckf_about){0});
	return status == CKF_OK;
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
ckfs_result_of(sqlite3_context *ctx, const ckf_task *task)
{
	ckfs_host host = ckfs_host_of(ctx);
	ckf_filter owned;

	host.limited = true;
	if (ckf_host_run(&host.host, task, &owned))
		ckfs_result(ctx, &owned);
}

void
ckfs_result_empty(sqlite3_context *ctx, const ckf_params *params)
{
	uint8_t bytes[CKF_HEADER_SIZE];
	ckf_status status = ckf_create(params, bytes);

	if (status == CKF_OK)
		sqlite3_result_blob(ctx, bytes, sizeof(bytes), SQLITE_TRANSIENT);
	else
		ckfs_error(ctx, status, (ckf_about){.params = params});
}

void
ckfs_result_no_rows(sqlite3_context *ctx)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1;
	ckfs_result_empty(ctx, &params);
}
