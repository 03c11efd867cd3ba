/*
 * filter.c - the filter of a join in one process.
 *
 * Hashes are collected as they come, and the engine builds the filter of them at
 * once: that is several times faster than adding each by itself.
 */
#include "filter.h"

#include "miscadmin.h"
#include "utils/memutils.h"

void
ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr)
{
	memset(filter, 0, sizeof(*filter));
	filter->parent = parent;
	filter->limit = limit;
	filter->fpr = fpr;
}

void
ckfp_filter_free(ckfp_join_filter *filter)
{
	if (filter->context != NULL)
		MemoryContextDelete(filter->context);
	ckfp_filter_init(filter, filter->parent, filter->limit, filter->fpr);
}

/* An empty filter, to which the hashes are the items. */
static void
ckfp_filter_create(ckf_filter *empty, void *bytes, double fpr)
{
	ckf_params params;
	ckf_status status;

	ckf_params_default(&params);
	params.capacity = 1; /* of as many as come, the result is sized to them */
	params.fpr = fpr;
	params.set = true;
	params.plain = true; /* the layout that is asked fastest */
	status = ckf_create(&params, bytes);
	if (status == CKF_OK)
		status = ckf_open(empty, bytes, CKF_HEADER_SIZE, CKF_STORED);
	if (status != CKF_OK)
		elog(ERROR, "could not create a join filter: %d", (int)status);
}

static void
ckfp_filter_start(ckfp_join_filter *filter)
{
	char header[CKF_HEADER_SIZE];
	ckf_filter empty;

	if (filter->context == NULL)
		filter->context =
			AllocSetContextCreate(filter->parent, "cuckoo join filter", ALLOCSET_DEFAULT_SIZES);
	filter->collector = MemoryContextAlloc(filter->context, sizeof *filter->collector);
	ckfp_filter_create(&empty, header, filter->fpr);
	ckf_collect_start(filter->collector, &empty, 1);
}

static void
ckfp_filter_free_spent(ckfp_join_filter *filter)
{
	void *block;

	while ((block = ckf_collect_spent(filter->collector)) != NULL)
	{
		filter->gathered -= GetMemoryChunkSpace(block);
		pfree(block);
	}
}

/* Give the collector a block, within the limit. */
static bool
ckfp_filter_give_block(ckfp_join_filter *filter)
{
	size_t size = filter->collector->block_size;
	void *block;

	if (filter->gathered + size > filter->limit)
		return false;
	block = MemoryContextAllocHuge(filter->context, size);
	filter->gathered += GetMemoryChunkSpace(block);
	ckf_collect_give(filter->collector, block, size);
	return true;
}

bool
ckfp_filter_make_room(ckfp_join_filter *filter)
{
	ckf_status status;

	if (filter->collector == NULL)
		ckfp_filter_start(filter);
	while ((status = ckf_collect_step(filter->collector)) != CKF_OK)
	{
		ckfp_filter_free_spent(filter);
		if (status == CKF_ROOM ? !ckfp_filter_give_block(filter) : status != CKF_MORE)
			return false;
		CHECK_FOR_INTERRUPTS();
	}
	ckfp_filter_free_spent(filter);
	return true;
}

bool
ckfp_filter_settle(ckfp_join_filter *filter)
{
	if (filter->collector == NULL)
		ckfp_filter_start(filter); /* of no keys it is empty */
	ckf_collect_settle(filter->collector);
	return ckfp_filter_make_room(filter);
}

/* Give the buffers that are too small a new one, within the limit. */
static bool
ckfp_filter_give_buffers(ckfp_join_filter *filter, ckf_buffers *buffers)
{
	size_t dst = Max(buffers->dst_room, buffers->dst_size);
	size_t scratch = Max(buffers->scratch_room, buffers->scratch_size);

	if ((uint64)filter->gathered + dst + scratch > filter->limit)
		return false;
	if (buffers->dst_room < dst)
	{
		if (buffers->dst != NULL)
			pfree(buffers->dst);
		buffers->dst = MemoryContextAllocHuge(filter->context, dst);
		buffers->dst_room = dst;
	}
	if (buffers->scratch_room < scratch)
	{
		if (buffers->scratch != NULL)
			pfree(buffers->scratch);
		buffers->scratch = MemoryContextAllocHuge(filter->context, scratch);
		buffers->scratch_room = scratch;
	}
	return true;
}

bool
ckfp_filter_build(ckfp_join_filter *filter)
{
	ckf_buffers buffers = {0};
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE(1));
	ckf_status status;

	filter->keys = (size_t)filter->collector->filter.count;
	status = ckf_rebuild_start(rebuild, CKF_FINISH, &filter->collector->filter, NULL);
	if (status == CKF_OK)
		while ((status = ckf_rebuild_step(rebuild, &buffers)) == CKF_MORE || status == CKF_ROOM)
		{
			if (status == CKF_ROOM && !ckfp_filter_give_buffers(filter, &buffers))
				break;
			CHECK_FOR_INTERRUPTS();
		}
	pfree(rebuild);
	if (status != CKF_OK)
		return false;
	ckf_collect_end(filter->collector);
	ckfp_filter_free_spent(filter);
	pfree(filter->collector);
	filter->collector = NULL;
	filter->n = 0;
	if (buffers.scratch != NULL)
		pfree(buffers.scratch);
	filter->size = buffers.dst_size;
	return ckf_open(&filter->filter, buffers.dst, buffers.dst_size, CKF_STORED) == CKF_OK;
}
