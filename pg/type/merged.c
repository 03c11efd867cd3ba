/*
 * merged.c - the large state of an aggregate over filters: a merger in memory of its own.
 */
#include "type/state.h"

#include "error.h"
#include "type/owned.h"

#include "utils/memutils.h"

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
ckfp_flat_size(ExpandedObjectHeader *header)
{
	const ckf_filter *all = ckfp_merge_all((ckfp_merged *)header);

	if (all->size > CKFP_MOST_BYTES)
		ckfp_error_state_too_large(all);
	return VARHDRSZ + all->size;
}

static void
ckfp_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	const ckf_filter *all = ckfp_merge_all((ckfp_merged *)header);

	(void)ckf_host_copy_bytes(CKFP_HOST, VARDATA(result), all->bytes, all->size);
	SET_VARSIZE(result, allocated_size);
}

static const ExpandedObjectMethods ckfp_merged_methods = {ckfp_flat_size, ckfp_flatten};

ckfp_merged *
ckfp_merged_of(const struct varlena *value)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(value))
		return NULL;
	header = DatumGetEOHP(PointerGetDatum(value));
	return header->eoh_methods == &ckfp_merged_methods ? (ckfp_merged *)header : NULL;
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
ckfp_new_merged(MemoryContext parent, const ckf_filter *filter, ckf_goal goal)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "cuckoofilter state", ALLOCSET_SMALL_SIZES);
	ckfp_merged *merged = MemoryContextAlloc(context, sizeof *merged);

	EOH_init_header(&merged->header, &ckfp_merged_methods, context);
	ckf_merger_start(&merged->merger, goal);
	ckfp_merged_take(merged, filter);
	return merged;
}
