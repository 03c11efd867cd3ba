/*
 * owned.c - filters in memory of our own: copies, growth, jobs, results.
 */
#include "host.h"

#include <string.h>

/* Does a result of this size pass SQLite's limit?  `filter` is what it grew
 * out of. */
static bool
ckfs_fits(sqlite3_context *ctx, size_t size, const ckf_filter *filter)
{
	int64_t limit = sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);

	if (size <= (size_t)limit)
		return true;
	ckfs_error_too_large(ctx, filter, limit);
	return false;
}

/* Memory of at least one byte: SQLite has NULL for none. */
static void *
ckfs_allocate(sqlite3_context *ctx, size_t size)
{
	void *memory = sqlite3_malloc64(size > 0 ? size : 1);

	if (!memory)
		sqlite3_result_error_nomem(ctx);
	return memory;
}

bool
ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, int more, ckf_filter *owned)
{
	size_t room = filter->size + (size_t)more * sizeof(uint64_t);
	uint8_t *bytes = ckfs_allocate(ctx, room);

	if (!bytes)
		return false;
	memcpy(bytes, filter->bytes, filter->size);
	*owned = *filter;
	owned->bytes = bytes;
	owned->room = room;
	return true;
}

/* A buffer of a job. */
typedef struct ckfs_buffer
{
	void *memory;
	size_t room;
} ckfs_buffer;

static bool
ckfs_make_room(sqlite3_context *ctx, ckfs_buffer *buffer, size_t room)
{
	sqlite3_free(buffer->memory);
	buffer->memory = ckfs_allocate(ctx, room);
	buffer->room = buffer->memory ? room : 0;
	return buffer->memory != NULL;
}

bool
ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
		 ckf_filter *owned)
{
	ckf_job job = {0};
	ckfs_buffer dst = {0}, scratch = {0};
	ckf_status status = ckf_job_start(&job, goal, a, b);
	bool going = status == CKF_OK;

	while (going)
	{
		status = ckf_job_step(&job, dst.memory, dst.room, scratch.memory, scratch.room);
		if (status == CKF_ROOM) /* what grows is no result yet: ckfs_result looks at it */
			going = (goal == CKF_GROW || ckfs_fits(ctx, job.size, a)) &&
					ckfs_make_room(ctx, &dst, job.size) &&
					ckfs_make_room(ctx, &scratch, job.scratch);
		else
			going = status == CKF_MORE;
	}
	sqlite3_free(scratch.memory);
	*owned = (ckf_filter){.bytes = dst.memory, .size = job.size, .room = dst.room};
	if (status == CKF_OK)
		return true;
	ckfs_discard(owned);
	if (status != CKF_ROOM) /* or a failure that is reported already */
		ckfs_error(ctx, status, (ckfs_subject){.filter = a, .other = b});
	return false;
}

bool
ckfs_grow(sqlite3_context *ctx, ckf_filter *owned)
{
	ckf_filter larger;
	size_t room;
	ckf_status status;

	if (!ckfs_run(ctx, CKF_GROW, owned, NULL, &larger))
		return false;
	ckfs_discard(owned);
	room = larger.room;
	status = ckf_open(owned, larger.bytes, larger.size, CKF_STATE);
	owned->bytes = larger.bytes; /* to free, even if it were damaged */
	owned->room = room;
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){0});
	return status == CKF_OK;
}

bool
ckfs_add(sqlite3_context *ctx, ckf_filter *owned, uint64_t hash)
{
	ckf_status status;

	while ((status = ckf_add(owned, hash)) == CKF_ROOM)
		if (!ckfs_grow(ctx, owned))
			return false;
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){.filter = owned});
	return status == CKF_OK;
}

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
