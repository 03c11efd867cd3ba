/*
 * collected.c - the large state of an aggregate over items: a collector in memory of its own.
 */
#include "type/state.h"

#include "error.h"
#include "type/owned.h"

#include "utils/memutils.h"

const ckf_filter *
ckfp_collected_items(ckfp_collected *collected)
{
	(void)ckf_host_settle(CKFP_HOST_IN(collected->header.eoh_context), &collected->collector);
	return &collected->collector.filter;
}

static Size
ckfp_flat_size(ExpandedObjectHeader *header)
{
	const ckf_filter *items = ckfp_collected_items((ckfp_collected *)header);

	if (items->size > CKFP_MOST_BYTES)
		ckfp_error_state_too_large(items);
	return VARHDRSZ + items->size;
}

/* Sorting works in the state's own memory, since flattening may happen in a context that frees
 * nothing by itself (BumpContext, from 17 on). */
static void
ckfp_flatten(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	MemoryContext caller = MemoryContextSwitchTo(header->eoh_context);
	const ckf_filter *items = ckfp_collected_items((ckfp_collected *)header);
	ckf_task task = {.goal = CKF_MERGE_SUM,
					 .in = &items,
					 .inputs = 1,
					 .bytes = VARDATA(result),
					 .room = allocated_size - VARHDRSZ};

	(void)ckf_host_run(CKFP_HOST, &task, NULL);
	SET_VARSIZE(result, allocated_size);
	MemoryContextSwitchTo(caller);
}

static const ExpandedObjectMethods ckfp_collected_methods = {ckfp_flat_size, ckfp_flatten};

ckfp_collected *
ckfp_collected_of(const struct varlena *value)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(value))
		return NULL;
	header = DatumGetEOHP(PointerGetDatum(value));
	return header->eoh_methods == &ckfp_collected_methods ? (ckfp_collected *)header : NULL;
}

ckfp_collected *
ckfp_new_collected(MemoryContext parent, const ckf_filter *filter)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "cuckoofilter state", ALLOCSET_SMALL_SIZES);
	ckfp_collected *collected = MemoryContextAlloc(context, sizeof *collected);

	EOH_init_header(&collected->header, &ckfp_collected_methods, context);
	ckf_collect_start(&collected->collector, filter, 1);
	(void)ckf_host_collect_filter(CKFP_HOST_IN(context), &collected->collector, filter);
	return collected;
}
