/*
 * state.c - what the states of all aggregates have in common.
 */
#include "type/state.h"

#include "error.h"

#include "utils/memutils.h"

/* Before a chunk: since PostgreSQL 16 one word, before that two. */
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
	return VARSIZE(value) - VARHDRSZ; /* who writes behind what was asked for is told so */
#else
	return GetMemoryChunkSpace((void *)unconstify(struct varlena *, value)) - CKFP_CHUNK_HEAD -
		   VARHDRSZ;
#endif
}
