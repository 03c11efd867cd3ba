/*
 * filter.c - the filter of a join in one process.
 *
 * Hashes are gathered as they come, and the engine builds the filter of them at
 * once: that is several times faster than adding each by itself.
 */
#include "filter.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define CKFP_FIRST_ROOM 1024

/* The build sorts the keys in room of its own. */
#define CKFP_BYTES_OF_A_KEY (2 * sizeof(uint64))

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

bool
ckfp_filter_grow(ckfp_join_filter *filter)
{
	size_t room = filter->room == 0 ? CKFP_FIRST_ROOM : filter->room * 2;

	if (room > filter->limit / CKFP_BYTES_OF_A_KEY)
		room = filter->limit / CKFP_BYTES_OF_A_KEY;
	if (room <= filter->room)
		return false;
	if (filter->context == NULL)
		filter->context =
			AllocSetContextCreate(filter->parent, "cuckoo join filter", ALLOCSET_DEFAULT_SIZES);
	if (filter->hashes == NULL)
		filter->hashes = MemoryContextAllocHuge(filter->context, room * sizeof(uint64));
	else
		filter->hashes = repalloc_huge(filter->hashes, room * sizeof(uint64));
	filter->room = room;
	return true;
}

/* Give back the room that no hash has come to. */
static void
ckfp_filter_fit(ckfp_join_filter *filter)
{
	filter->room = Max(filter->n, 1);
	filter->hashes = repalloc_huge(filter->hashes, filter->room * sizeof(uint64));
}

/* Give the buffers that are too small a new one, within the limit. */
static bool
ckfp_filter_make_room(ckfp_join_filter *filter, ckf_buffers *buffers)
{
	size_t gathered = filter->room * sizeof(uint64);
	size_t dst = Max(buffers->dst_room, buffers->dst_size);
	size_t scratch = Max(buffers->scratch_room, buffers->scratch_size);

	if ((uint64)gathered + dst + scratch > filter->limit)
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

bool
ckfp_filter_build(ckfp_join_filter *filter)
{
	char header[CKF_HEADER_SIZE];
	ckf_filter empty;
	ckf_buffers buffers = {0};
	ckf_rebuild *rebuild = palloc(CKF_REBUILD_SIZE);
	ckf_status status;

	if (filter->context == NULL && !ckfp_filter_grow(filter)) /* of no keys it is empty */
		return false;
	ckfp_filter_create(&empty, header, filter->fpr);
	ckfp_filter_fit(filter);
	filter->keys = filter->n;
	status = ckf_rebuild_start_hashes(rebuild, CKF_FINISH, &empty, filter->hashes, filter->n,
									  CKF_ITEM_HASH);
	if (status == CKF_OK)
		while ((status = ckf_rebuild_step(rebuild, &buffers)) == CKF_MORE || status == CKF_ROOM)
		{
			if (status == CKF_ROOM && !ckfp_filter_make_room(filter, &buffers))
				break;
			CHECK_FOR_INTERRUPTS();
		}
	pfree(rebuild);
	if (status != CKF_OK)
		return false;
	pfree(filter->hashes);
	filter->hashes = NULL;
	filter->n = 0;
	filter->room = 0;
	if (buffers.scratch != NULL)
		pfree(buffers.scratch);
	filter->size = buffers.dst_size;
	return ckf_open(&filter->filter, buffers.dst, buffers.dst_size, CKF_STORED) == CKF_OK;
}
