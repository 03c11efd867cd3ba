/*
 * large_state.c - the large state of an aggregate, in memory of its own.
 */
#include "type/large_state.h"

#include "type/owned.h"

#include "utils/memutils.h"

static Size
ckfp_flat_size(ExpandedObjectHeader *header)
{
	return VARHDRSZ + ((ckfp_large_state *)header)->filter.size;
}

static void
ckfp_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	const ckf_filter *filter = &((ckfp_large_state *)header)->filter;

	ckfp_copy_bytes(VARDATA(result), filter->bytes, filter->size);
	SET_VARSIZE(result, allocated_size);
}

static const ExpandedObjectMethods ckfp_large_state_methods = {ckfp_flat_size, ckfp_flatten};

ckfp_large_state *
ckfp_large_state_of(const struct varlena *value)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(value))
		return NULL;
	header = DatumGetEOHP(PointerGetDatum(value));
	return header->eoh_methods == &ckfp_large_state_methods ? (ckfp_large_state *)header : NULL;
}

MemoryContext
ckfp_large_state_context(MemoryContext parent)
{
	return AllocSetContextCreate(parent, "cuckoofilter state", ALLOCSET_START_SMALL_SIZES);
}

ckfp_large_state *
ckfp_new_large_state(MemoryContext context, const ckf_filter *owned)
{
	ckfp_large_state *large = MemoryContextAlloc(context, sizeof *large);

	EOH_init_header(&large->header, &ckfp_large_state_methods, context);
	large->filter = *owned;
	return large;
}
