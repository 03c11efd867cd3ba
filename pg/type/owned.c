/*
 * owned.c - filters in memory of our own: copies, growth, rebuilds, results.
 */
#include "type/owned.h"

#include "error.h"

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
	ckf_status status = ckf_open(owned, VARDATA(value), size, CKF_STATE);

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
static void
ckfp_step_to_end(ckf_rebuild *rebuild, ckf_status status, const ckf_filter *a, const ckf_filter *b,
				 ckf_buffers *buffers)
{
	*buffers = (ckf_buffers){0};
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = a, .other = b, .rebuild = rebuild});
	while ((status = ckf_rebuild_step(rebuild, buffers)) != CKF_OK)
	{
		if (status == CKF_ROOM)
			ckfp_make_room(buffers, a);
		else if (status != CKF_MORE)
			ckfp_error(status, (ckfp_subject){.filter = a, .other = b, .rebuild = rebuild});
		CHECK_FOR_INTERRUPTS();
	}
	if (buffers->scratch)
		pfree(buffers->scratch);
}

static void
ckfp_finish_rebuild(ckf_rebuild *rebuild, ckf_status status, const ckf_filter *a,
					const ckf_filter *b, ckf_filter *owned)
{
	ckf_buffers buffers;

	ckfp_step_to_end(rebuild, status, a, b, &buffers);
	pfree(rebuild);
	if (buffers.dst_size > 0)
	{
		ckfp_open_owned(owned, (struct varlena *)((char *)buffers.dst - VARHDRSZ),
						buffers.dst_size);
		owned->room = buffers.dst_room;
		return;
	}
	if (buffers.dst)
		pfree((char *)buffers.dst - VARHDRSZ);
	ckfp_open_owned(owned, (struct varlena *)(a->bytes - VARHDRSZ), a->size);
	owned->room = a->room;
}

void
ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE);

	ckfp_finish_rebuild(rebuild, ckf_rebuild_start(rebuild, goal, a, b), a, b, owned);
}

void
ckfp_compare(const ckf_filter *a, const ckf_filter *b, ckf_comparison *comparison)
{
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE);
	ckf_buffers buffers;
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
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE);

	ckfp_finish_rebuild(rebuild,
						ckf_rebuild_start_hashes(rebuild, goal, a, hashes, n, item_classes), a,
						NULL, owned);
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
ckfp_add_many(const ckf_filter *filter, const uint64 *hashes, size_t n, unsigned item_classes,
			  ckf_filter *owned)
{
	size_t i;

	if (!ckf_few(filter, n))
	{
		ckfp_run_hashes(CKF_ADD_MANY, filter, hashes, n, item_classes, owned);
		return;
	}
	ckfp_copy(filter, n, owned);
	for (i = 0; i < n; i++)
	{
		ckfp_add(owned, hashes[i], item_classes);
		CHECK_FOR_INTERRUPTS(); /* a change of many sorted hashes moves half of them */
	}
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
