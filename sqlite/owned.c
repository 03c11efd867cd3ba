/*
 * owned.c - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#include "owned.h"

#include "collect.h"
#include "error.h"
#include "library.h"

#include <string.h>

/* Bytes that are copied between two checks for interrupts. */
#define CKFS_COPY_STEP ((size_t)16 << 20)

/* Scratch memory that is allocated together with a rebuild.  It is enough for a few items, so small
 * groups save an allocation each. */
#define CKFS_SMALL_SCRATCH 512

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

/* Allocate at least one byte, since sqlite3_malloc64(0) returns NULL. */
static void *
ckfs_allocate(sqlite3_context *ctx, size_t size)
{
	void *memory = sqlite3_malloc64(size > 0 ? size : 1);

	if (!memory)
		sqlite3_result_error_nomem(ctx);
	return memory;
}

bool
ckfs_copy_bytes(sqlite3_context *ctx, void *to, const void *from, size_t size)
{
	size_t done = 0;

	for (; size - done > CKFS_COPY_STEP; done += CKFS_COPY_STEP)
	{
		memcpy((uint8_t *)to + done, (const uint8_t *)from + done, CKFS_COPY_STEP);
		if (ckfs_interrupted(ctx))
			return false;
	}
	memcpy((uint8_t *)to + done, (const uint8_t *)from + done, size - done);
	return true;
}

bool
ckfs_copy(sqlite3_context *ctx, const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	size_t room = filter->size + more * sizeof(uint64_t);
	uint8_t *bytes = ckfs_allocate(ctx, room);

	if (!bytes)
		return false;
	if (!ckfs_copy_bytes(ctx, bytes, filter->bytes, filter->size))
	{
		sqlite3_free(bytes);
		return false;
	}
	*owned = *filter;
	ckf_move(owned, bytes);
	owned->room = room;
	return true;
}

/* Whether the goal gives a state or a filter that grows.  Those are not results; ckfs_result checks
 * the size of the result. */
static bool
ckfs_is_state(ckf_goal goal)
{
	return goal == CKF_GROW || goal == CKF_MERGE_UNION || goal == CKF_MERGE_SUM;
}

/* A rebuild in progress. */
typedef struct ckfs_work
{
	ckf_rebuild *rebuild;
	ckf_goal goal;
	const ckf_filter *a, *b; /* the arguments of ckfs_run */
	unsigned inputs;         /* the most inputs of the rebuild */
	bool *refused;           /* set on CKF_PRECISION; NULL: that is an error */
	ckfs_feed *feed;         /* gives the items of the host; NULL: there are none */
	void *data;
	ckf_buffers buffers;
	void *small_scratch; /* allocated together with the rebuild */
} ckfs_work;

/* Allocate a rebuild and its first buffers. */
static bool
ckfs_new_rebuild(sqlite3_context *ctx, ckfs_work *work)
{
	size_t size;

	if (work->inputs == 0)
		work->inputs = work->b ? 2 : 1;
	size = CKF_REBUILD_SIZE(work->inputs);
	work->rebuild = ckfs_allocate(ctx, size + CKFS_SMALL_SCRATCH);
	if (!work->rebuild)
		return false;
	work->small_scratch = (uint8_t *)work->rebuild + size;
	work->buffers.scratch = work->small_scratch;
	work->buffers.scratch_room = CKFS_SMALL_SCRATCH;
	return true;
}

static void
ckfs_free_rebuild(ckfs_work *work)
{
	if (work->buffers.scratch != work->small_scratch)
		sqlite3_free(work->buffers.scratch);
	sqlite3_free(work->rebuild);
}

/* Give the buffers of a rebuild the sizes that it needs.  A buffer that is large enough stays,
 * since its content is used. */
static bool
ckfs_make_room(sqlite3_context *ctx, ckfs_work *work)
{
	ckf_buffers *buffers = &work->buffers;

	if (buffers->dst_room < buffers->dst_size)
	{
		if (!ckfs_is_state(work->goal) && !ckfs_fits(ctx, buffers->dst_size, work->a))
			return false;
		sqlite3_free(buffers->dst);
		buffers->dst = ckfs_allocate(ctx, buffers->dst_size);
		buffers->dst_room = buffers->dst_size;
		if (!buffers->dst)
			return false;
	}
	if (buffers->scratch_room < buffers->scratch_size)
	{
		if (buffers->scratch != work->small_scratch)
			sqlite3_free(buffers->scratch);
		buffers->scratch = ckfs_allocate(ctx, buffers->scratch_size);
		buffers->scratch_room = buffers->scratch_size;
		if (!buffers->scratch)
			return false;
	}
	return true;
}

/* Do what a step asks for before the next one. false: it failed, or the rebuild is refused. */
static bool
ckfs_serve(sqlite3_context *ctx, ckfs_work *work, ckf_status status)
{
	if (ckfs_interrupted(ctx))
		return false;
	if (status == CKF_FEED)
		return work->feed(ctx, work->rebuild, work->data);
	return status == CKF_MORE || ckfs_make_room(ctx, work);
}

/* Run the steps of a rebuild that was started with this status. false: it did not finish, and the
 * result of the function is the error. */
static bool
ckfs_steps(sqlite3_context *ctx, ckfs_work *work, ckf_status status)
{
	bool going = status == CKF_OK;
	bool stopped = false;

	while (going && (status = ckf_rebuild_step(work->rebuild, &work->buffers)) != CKF_OK)
	{
		going = status == CKF_MORE || status == CKF_ROOM || (status == CKF_FEED && work->feed);
		stopped = going && !ckfs_serve(ctx, work, status);
		going = going && !stopped;
	}
	if (status == CKF_PRECISION && work->refused)
		*work->refused = true;
	else if (status != CKF_OK && !stopped)
		ckfs_error(ctx, status,
				   (ckfs_subject){.filter = work->a, .other = work->b, .rebuild = work->rebuild});
	return status == CKF_OK;
}

/* The same; the result becomes *owned. */
static bool
ckfs_step_to_end(sqlite3_context *ctx, ckfs_work *work, ckf_status status, ckf_filter *owned)
{
	ckf_buffers *buffers = &work->buffers;
	bool ok = ckfs_steps(ctx, work, status);

	*owned =
		(ckf_filter){.bytes = buffers->dst, .size = buffers->dst_size, .room = buffers->dst_room};
	if (!ok)
		ckfs_discard(owned);
	ckfs_free_rebuild(work);
	return ok;
}

bool
ckfs_run(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
		 ckf_filter *owned)
{
	ckfs_work work = {.goal = goal, .a = a, .b = b};

	return ckfs_new_rebuild(ctx, &work) &&
		   ckfs_step_to_end(ctx, &work, ckf_rebuild_start(work.rebuild, goal, a, b), owned);
}

bool
ckfs_compare(sqlite3_context *ctx, const ckf_filter *a, const ckf_filter *b,
			 ckf_comparison *comparison)
{
	ckfs_work work = {.goal = CKF_COMPARE, .a = a, .b = b};
	ckf_status status = CKF_OK;
	bool ok;

	if (!ckfs_new_rebuild(ctx, &work))
		return false;
	ok = ckfs_steps(ctx, &work, ckf_rebuild_start(work.rebuild, CKF_COMPARE, a, b));
	if (ok)
		status = ckf_rebuild_comparison(work.rebuild, comparison);
	ckfs_free_rebuild(&work);
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){.filter = a, .other = b, .comparison = comparison});
	return ok && status == CKF_OK;
}

bool
ckfs_reopen(sqlite3_context *ctx, ckf_filter *owned)
{
	uint8_t *bytes = owned->bytes;
	size_t room = owned->room;
	ckf_status status = ckf_open(owned, bytes, owned->size, CKF_STORED);

	owned->bytes = bytes; /* so that it is freed even if it is damaged */
	owned->room = room;
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){0});
	return status == CKF_OK;
}

bool
ckfs_run_many(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in, unsigned inputs,
			  ckf_filter *owned)
{
	ckfs_work work = {.goal = goal, .a = in[0], .inputs = inputs};

	return ckfs_new_rebuild(ctx, &work) &&
		   ckfs_step_to_end(ctx, &work, ckf_rebuild_start_many(work.rebuild, goal, in, inputs),
							owned);
}

bool
ckfs_try(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *const *in, unsigned inputs,
		 ckf_filter *owned, bool *refused)
{
	ckfs_work work = {.goal = goal, .a = in[0], .inputs = inputs, .refused = refused};

	return ckfs_new_rebuild(ctx, &work) &&
		   ckfs_step_to_end(ctx, &work, ckf_rebuild_start_many(work.rebuild, goal, in, inputs),
							owned) &&
		   ckfs_reopen(ctx, owned);
}

bool
ckfs_run_fed(sqlite3_context *ctx, ckfs_start_fed *start, ckfs_feed *feed, void *data,
			 const ckf_filter *about, ckf_filter *owned)
{
	ckfs_work work = {.goal = CKF_FINISH, .a = about, .feed = feed, .data = data};

	return ckfs_new_rebuild(ctx, &work) &&
		   ckfs_step_to_end(ctx, &work, start(work.rebuild, data), owned);
}

/* Replace the owned filter by the result of a rebuild. */
static bool
ckfs_take(sqlite3_context *ctx, ckf_filter *owned, const ckf_filter *result)
{
	ckfs_discard(owned);
	*owned = *result;
	return ckfs_reopen(ctx, owned);
}

bool
ckfs_grow(sqlite3_context *ctx, ckf_filter *owned)
{
	ckf_filter larger;

	return ckfs_run(ctx, CKF_GROW, owned, NULL, &larger) && ckfs_take(ctx, owned, &larger);
}

bool
ckfs_intersect_into(sqlite3_context *ctx, ckf_filter *state, const ckf_filter *in)
{
	bool first = !state->bytes;
	ckf_filter common;

	return ckfs_run(ctx, CKF_INTERSECT, first ? in : state, first ? NULL : in, &common) &&
		   ckfs_take(ctx, state, &common);
}

bool
ckfs_add(sqlite3_context *ctx, ckf_filter *owned, ckfs_hashed item)
{
	ckf_status status;

	while ((status = ckf_add(owned, item.hash, item.item_class)) == CKF_ROOM)
		if (!ckfs_grow(ctx, owned))
			return false;
	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){.filter = owned});
	return status == CKF_OK;
}

bool
ckfs_remove(sqlite3_context *ctx, ckf_filter *owned, ckfs_hashed item)
{
	bool found;
	ckf_status status = ckf_remove(owned, item.hash, &found);

	if (status != CKF_OK)
		ckfs_error(ctx, status, (ckfs_subject){0});
	return status == CKF_OK;
}

bool
ckfs_change_each(sqlite3_context *ctx, ckf_filter *owned, const ckfs_list *list,
				 ckfs_change *change)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		/* a change of many sorted hashes moves half of them */
		if (!change(ctx, owned, (ckfs_hashed){list->hashes[i], list->item_classes}) ||
			ckfs_interrupted(ctx))
		{
			ckfs_discard(owned);
			return false;
		}
	return true;
}

/* Run a rebuild of a filter and a list of hashes. */
static bool
ckfs_run_hashes(sqlite3_context *ctx, ckf_goal goal, const ckf_filter *a, const ckfs_list *list,
				ckf_filter *owned)
{
	ckf_collector collector;
	bool ok = true;
	size_t i;

	ckf_collect_start(&collector, a, CKFS_MOST_COPIES);
	for (i = 0; ok && i < list->count; i++)
		ok = ckfs_collect(ctx, &collector, (ckfs_hashed){list->hashes[i], list->item_classes});
	ok = ok && ckfs_collect_settle(ctx, &collector) &&
		 ckfs_run(ctx, goal, a, &collector.filter, owned);
	ckfs_collect_end(&collector);
	return ok;
}

bool
ckfs_change_many(sqlite3_context *ctx, const ckf_filter *filter, const ckfs_list *list,
				 ckfs_change *change, ckf_goal goal, ckf_filter *owned)
{
	if (!ckf_few(filter, list->count))
		return ckfs_run_hashes(ctx, goal, filter, list, owned);
	/* few items: a rebuild would cost more */
	return ckfs_copy(ctx, filter, list->count, owned) && ckfs_change_each(ctx, owned, list, change);
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
