/*
 * state.c - the states of all aggregates.
 */
#include "type/state.h"

#include "type/owned.h"

#include "utils/memutils.h"

/* The header of a chunk of memory: one word since PostgreSQL 16, two words before. */
#if PG_VERSION_NUM >= 160000
#define CKFP_CHUNK_HEAD sizeof(uint64)
#else
#define CKFP_CHUNK_HEAD (2 * sizeof(void *))
#endif

MemoryContext
ckfp_require_aggregate(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("support function of a cuckoofilter aggregate was called outside an "
							   "aggregate")));
	return context;
}

size_t
ckfp_room_of_chunk(const struct varlena *value)
{
#ifdef MEMORY_CONTEXT_CHECKING
	return VARSIZE(value) - VARHDRSZ; /* a write past the requested size would be reported */
#else
	return GetMemoryChunkSpace((void *)unconstify(struct varlena *, value)) - CKFP_CHUNK_HEAD -
		   VARHDRSZ;
#endif
}

/* --------------------------------------------------------------- large states */

/* A new object of this size, in memory of its own below `parent`. */
static void *
ckfp_new_object(MemoryContext parent, Size size, const ExpandedObjectMethods *methods)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "cuckoofilter state", ALLOCSET_SMALL_SIZES);
	ExpandedObjectHeader *header = MemoryContextAlloc(context, size);

	EOH_init_header(header, methods, context);
	return header;
}

/* The object of a value, if it has these methods; else NULL. */
static void *
ckfp_object_of(const struct varlena *value, const ExpandedObjectMethods *methods)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(value))
		return NULL;
	header = DatumGetEOHP(PointerGetDatum(value));
	return header->eoh_methods == methods ? header : NULL;
}

/* The size of the value with the items of a state. */
static Size
ckfp_flat_size(const ckf_filter *state)
{
	if (state->size > CKFP_MOST_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the state of a cuckoofilter aggregate is too large to be stored or sent"),
				 errdetail("It has %llu items and %zu bytes; the limit is %zu bytes.",
						   (unsigned long long)state->count, state->size, (size_t)MaxAllocSize),
				 errhint("Set max_parallel_workers_per_gather to 0, so that the aggregate runs in "
						 "one process.")));
	return VARHDRSZ + state->size;
}

/* ------------------------------------------------------------------ over items */

const ckf_filter *
ckfp_collected_items(ckfp_collected *collected)
{
	(void)ckf_host_settle(CKFP_HOST_IN(collected->header.eoh_context), &collected->collector);
	return &collected->collector.filter;
}

static Size
ckfp_collected_size(ExpandedObjectHeader *header)
{
	return ckfp_flat_size(ckfp_collected_items((ckfp_collected *)header));
}

/* Sorting works in the state's own memory, since flattening may happen in a context that frees
 * nothing by itself (BumpContext, from 17 on). */
static void
ckfp_collected_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	MemoryContext caller = MemoryContextSwitchTo(header->eoh_context);
	const ckf_filter *items = ckfp_collected_items((ckfp_collected *)header);
	ckf_task task = {.operation = CKF_MERGE_SUM,
					 .in = &items,
					 .inputs = 1,
					 .bytes = VARDATA(result),
					 .room = allocated_size - VARHDRSZ};

	(void)ckf_host_run(CKFP_HOST, &task, NULL);
	SET_VARSIZE(result, allocated_size);
	MemoryContextSwitchTo(caller);
}

static const ExpandedObjectMethods ckfp_collected_methods = {ckfp_collected_size,
															 ckfp_collected_flatten};

ckfp_collected *
ckfp_collected_of(const struct varlena *value)
{
	return ckfp_object_of(value, &ckfp_collected_methods);
}

ckfp_collected *
ckfp_new_collected(MemoryContext parent, const ckf_filter *filter)
{
	ckfp_collected *collected = ckfp_new_object(parent, sizeof *collected, &ckfp_collected_methods);

	ckf_collect_start(&collected->collector, filter, 1);
	(void)ckf_host_collect_filter(CKFP_HOST_IN(collected->header.eoh_context),
								  &collected->collector, filter);
	return collected;
}

/* ---------------------------------------------------------------- over filters */

/* The host of a merger.  Its filters are not values, so they may have any size.  They are in the
 * current memory context, which must be the object's. */
static ckfp_host
ckfp_host_of_parts(void)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	host.huge = true;
	return host;
}

/* All filters as one, so that the state can be a value. */
static const ckf_filter *
ckfp_merge_all(ckfp_merged *merged)
{
	MemoryContext caller = MemoryContextSwitchTo(merged->header.eoh_context);
	ckfp_host host = ckfp_host_of_parts();

	(void)ckf_host_merge_all(&host.host, &merged->merger);
	MemoryContextSwitchTo(caller);
	return &merged->merger.part[0];
}

static Size
ckfp_merged_size(ExpandedObjectHeader *header)
{
	return ckfp_flat_size(ckfp_merge_all((ckfp_merged *)header));
}

static void
ckfp_merged_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	const ckf_filter *all = ckfp_merge_all((ckfp_merged *)header);

	(void)ckf_host_copy_bytes(CKFP_HOST, VARDATA(result), all->bytes, all->size);
	SET_VARSIZE(result, allocated_size);
}

static const ExpandedObjectMethods ckfp_merged_methods = {ckfp_merged_size, ckfp_merged_flatten};

ckfp_merged *
ckfp_merged_of(const struct varlena *value)
{
	return ckfp_object_of(value, &ckfp_merged_methods);
}

void
ckfp_merged_take(ckfp_merged *merged, const ckf_filter *in)
{
	MemoryContext caller = MemoryContextSwitchTo(merged->header.eoh_context);
	ckfp_host host = ckfp_host_of_parts();

	(void)ckf_host_merge(&host.host, &merged->merger, in);
	MemoryContextSwitchTo(caller);
}

ckfp_merged *
ckfp_new_merged(MemoryContext parent, const ckf_filter *filter, ckf_operation operation)
{
	ckfp_merged *merged = ckfp_new_object(parent, sizeof *merged, &ckfp_merged_methods);

	ckf_merger_start(&merged->merger, operation);
	ckfp_merged_take(merged, filter);
	return merged;
}
