/*
 * owned.c - filters in memory of our own: copies, growth, rebuilds, results.
 */
#include "type/owned.h"

#include "error.h"
#include "type/collect.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* Bytes copied between two looks for interrupts. */
#define CKFP_COPY_STEP ((size_t)16 << 20)

/* A varlena for `size` bytes of filter. */
static struct varlena *
ckfp_new_value(size_t size, const ckf_filter *origin)
{
	if (size > MaxAllocSize - VARHDRSZ)
		ckfp_error_too_large(origin);
	return palloc(VARHDRSZ + size);
}

static void
ckfp_open_owned(ckf_filter *owned, struct varlena *value, size_t size)
{
	ckf_status status = ckf_open(owned, VARDATA(value), size, CKF_STORED);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){0});
}

void
ckfp_copy_bytes(void *to, const void *from, size_t size)
{
	size_t done = 0;

	for (; size - done > CKFP_COPY_STEP; done += CKFP_COPY_STEP)
	{
		memcpy((char *)to + done, (const char *)from + done, CKFP_COPY_STEP);
		CHECK_FOR_INTERRUPTS();
	}
	memcpy((char *)to + done, (const char *)from + done, size - done);
}

void
ckfp_create(const ckf_params *params, ckf_filter *owned)
{
	struct varlena *value = palloc(VARHDRSZ + CKF_HEADER_SIZE);
	ckf_status status = ckf_create(params, VARDATA(value));

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.params = params});
	ckfp_open_owned(owned, value, CKF_HEADER_SIZE);
}

void
ckfp_create_no_rows(ckf_filter *owned)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1;
	ckfp_create(&params, owned);
}

void
ckfp_copy_state(const ckf_filter *state, size_t more, ckf_filter *owned)
{
	ckfp_copy(state, more, owned);
	owned->deduplicated = true;
}

void
ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	size_t room = filter->size + (filter->encoding == CKF_HASHES ? sizeof(uint64) * more : 0);
	struct varlena *value = ckfp_new_value(room, filter);

	ckfp_copy_bytes(VARDATA(value), filter->bytes, filter->size);
	ckfp_open_owned(owned, value, filter->size);
	owned->room = room;
}

/* Give the buffers that are too small a new one; the other keeps its contents. */
static void
ckfp_make_room(ckf_buffers *buffers, const ckf_filter *origin)
{
	if (buffers->dst_room < buffers->dst_size)
	{
		if (buffers->dst)
			pfree((char *)buffers->dst - VARHDRSZ);
		buffers->dst = VARDATA(ckfp_new_value(buffers->dst_size, origin));
		buffers->dst_room = buffers->dst_size;
	}
	if (buffers->scratch_room < buffers->scratch_size)
	{
		if (buffers->scratch)
			pfree(buffers->scratch);
		buffers->scratch = MemoryContextAllocHuge(CurrentMemoryContext, buffers->scratch_size);
		buffers->scratch_room = buffers->scratch_size;
	}
}

/* The steps of a rebuild that was started, with that status, to its end. */
static ckf_status
ckfp_steps(ckf_rebuild *rebuild, ckf_status status, const ckf_filter *a, ckf_buffers *buffers)
{
	if (status != CKF_OK)
		return status;
	while ((status = ckf_rebuild_step(rebuild, buffers)) == CKF_MORE || status == CKF_ROOM)
	{
		if (status == CKF_ROOM)
			ckfp_make_room(buffers, a);
		CHECK_FOR_INTERRUPTS();
	}
	return status;
}

/* The same, which must be its result. */
static void
ckfp_step_to_end(ckf_rebuild *rebuild, ckf_status status, const ckf_filter *a, const ckf_filter *b,
				 ckf_buffers *buffers)
{
	status = ckfp_steps(rebuild, status, a, buffers);
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = a, .other = b, .rebuild = rebuild});
	if (buffers->scratch)
		pfree(buffers->scratch);
}

static void
ckfp_own_result(const ckf_buffers *buffers, ckf_filter *owned)
{
	ckfp_open_owned(owned, (struct varlena *)((char *)buffers->dst - VARHDRSZ), buffers->dst_size);
	owned->room = buffers->dst_room;
}

void
ckfp_run_many(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE(inputs));
	const ckf_filter *b = inputs > 1 ? in[1] : NULL;
	ckf_buffers buffers = {0};

	ckfp_step_to_end(rebuild, ckf_rebuild_start_many(rebuild, goal, in, inputs), in[0], b,
					 &buffers);
	pfree(rebuild);
	ckfp_own_result(&buffers, owned);
}

void
ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned)
{
	const ckf_filter *in[2] = {a, b};

	ckfp_run_many(goal, in, b != NULL ? 2 : 1, owned);
}

void
ckfp_run_into(ckf_goal goal, const ckf_filter *a, void *bytes, size_t size)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE(1));
	ckf_buffers buffers = {.dst = bytes, .dst_room = size};

	ckfp_step_to_end(rebuild, ckf_rebuild_start(rebuild, goal, a, NULL), a, NULL, &buffers);
	pfree(rebuild);
	Assert(buffers.dst == bytes && buffers.dst_size == size);
}

bool
ckfp_try(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE(inputs));
	const ckf_filter *b = inputs > 1 ? in[1] : NULL;
	ckf_buffers buffers = {0};
	ckf_status status =
		ckfp_steps(rebuild, ckf_rebuild_start_many(rebuild, goal, in, inputs), in[0], &buffers);

	if (status != CKF_OK && status != CKF_PRECISION)
		ckfp_error(status, (ckfp_subject){.filter = in[0], .other = b, .rebuild = rebuild});
	if (buffers.scratch)
		pfree(buffers.scratch);
	pfree(rebuild);
	if (status == CKF_OK)
		ckfp_own_result(&buffers, owned);
	else if (buffers.dst)
		pfree((char *)buffers.dst - VARHDRSZ);
	return status == CKF_OK;
}

void
ckfp_compare(const ckf_filter *a, const ckf_filter *b, ckf_comparison *comparison)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE(2));
	ckf_buffers buffers = {0};
	ckf_status status;

	ckfp_step_to_end(rebuild, ckf_rebuild_start(rebuild, CKF_COMPARE, a, b), a, b, &buffers);
	status = ckf_rebuild_comparison(rebuild, comparison);
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = a, .other = b, .comparison = comparison});
	pfree(rebuild);
}

/* A rebuild of a filter and n hashes, of items of these classes. */
static void
ckfp_run_hashes(ckf_goal goal, const ckf_filter *a, const uint64 *hashes, size_t n,
				unsigned item_classes, ckf_filter *owned)
{
	ckf_collector collector;
	size_t i;

	ckf_collect_start(&collector, a, CKFP_MOST_COPIES);
	for (i = 0; i < n; i++)
		ckfp_collect(&collector, CurrentMemoryContext, hashes[i], item_classes);
	ckfp_collect_settle(&collector, CurrentMemoryContext);
	ckfp_run(goal, a, &collector.filter, owned);
	ckfp_collect_end(&collector);
}

void
ckfp_add_on(ckf_filter *owned, uint64 hash, unsigned item_class, ckf_status status)
{
	while (status == CKF_ROOM)
	{
		ckf_filter larger;

		ckfp_run(CKF_GROW, owned, NULL, &larger);
		pfree(owned->bytes - VARHDRSZ);
		*owned = larger;
		status = ckf_add(owned, hash, item_class);
	}
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = owned});
}

void
ckfp_remove(ckf_filter *owned, uint64 hash)
{
	bool found;
	ckf_status status = ckf_remove(owned, hash, &found);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = owned});
}

/* A few are added or removed singly, as a rebuild would cost more; the answers
 * of the result are the same. */

void
ckfp_add_each(ckf_filter *owned, const uint64 *hashes, size_t n, unsigned item_classes)
{
	size_t i;

	for (i = 0; i < n; i++)
	{
		ckfp_add(owned, hashes[i], item_classes);
		CHECK_FOR_INTERRUPTS(); /* a change of many sorted hashes moves half of them */
	}
}

void
ckfp_add_many(const ckf_filter *filter, const uint64 *hashes, size_t n, unsigned item_classes,
			  ckf_filter *owned)
{
	if (!ckf_few(filter, n))
	{
		ckfp_run_hashes(CKF_ADD_MANY, filter, hashes, n, item_classes, owned);
		return;
	}
	ckfp_copy(filter, n, owned);
	ckfp_add_each(owned, hashes, n, item_classes);
}

void
ckfp_remove_many(const ckf_filter *filter, const uint64 *hashes, size_t n, unsigned item_classes,
				 ckf_filter *owned)
{
	size_t i;

	if (!ckf_few(filter, n))
	{
		ckfp_run_hashes(CKF_REMOVE_MANY, filter, hashes, n, item_classes, owned);
		return;
	}
	ckfp_copy(filter, 0, owned);
	for (i = 0; i < n; i++)
	{
		ckfp_remove(owned, hashes[i]);
		CHECK_FOR_INTERRUPTS();
	}
}

Datum
ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class)
{
	ckf_filter owned;

	ckfp_copy(filter, 1, &owned);
	ckfp_add(&owned, hash, item_class);
	CKFP_RETURN_OWNED(&owned);
}

Datum
ckfp_without(const ckf_filter *filter, uint64 hash)
{
	ckf_filter owned;

	ckfp_copy(filter, 0, &owned);
	ckfp_remove(&owned, hash);
	CKFP_RETURN_OWNED(&owned);
}
