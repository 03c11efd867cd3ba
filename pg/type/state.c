/*
 * state.c - functions for the states of all aggregates.
 */
#include "type/state.h"

#include "error.h"

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
		ckfp_error_not_aggregate();
	return context;
}

size_t
ckfp_room_of_chunk(const struct varlena *value)
{
#ifdef MEMORY_CONTEXT_CHECKING
	return VARSIZE(value) - VARHDRSZ; /* a write past the requested size is reported */
#else
	return GetMemoryChunkSpace((void *)unconstify(struct varlena *, value)) - CKFP_CHUNK_HEAD -
		   VARHDRSZ;
#endif
}

/* ------------------------------------------------------------ the first state */

static Size
ckfp_first_size(ExpandedObjectHeader *header)
{
	return ((ckfp_first_state *)header)->size;
}

static void
ckfp_first_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	memcpy(result, ((ckfp_first_state *)header)->value, allocated_size);
}

static const ExpandedObjectMethods ckfp_first_methods = {ckfp_first_size, ckfp_first_flatten};

ckfp_first_state *
ckfp_new_first_state(void)
{
	ckfp_first_state *first = palloc(sizeof *first);

	EOH_init_header(&first->header, &ckfp_first_methods, CurrentMemoryContext);
	return first;
}
