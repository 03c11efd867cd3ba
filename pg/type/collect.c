/*
 * collect.c - a collector in memory of PostgreSQL's.
 */
#include "type/collect.h"

#include "error.h"

#include "miscadmin.h"
#include "utils/memutils.h"

static void
ckfp_free_spent(ckf_collector *collector)
{
	void *block;

	while ((block = ckf_collect_spent(collector)) != NULL)
		pfree(block);
}

void
ckfp_collect_room(ckf_collector *collector, MemoryContext context)
{
	ckf_status status;

	while ((status = ckf_collect_step(collector)) == CKF_MORE || status == CKF_ROOM)
	{
		ckfp_free_spent(collector);
		if (status == CKF_ROOM)
			ckf_collect_give(collector, MemoryContextAllocHuge(context, collector->block_size),
							 collector->block_size);
		CHECK_FOR_INTERRUPTS();
	}
	ckfp_free_spent(collector);
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){0});
}

void
ckfp_collect_settle(ckf_collector *collector, MemoryContext context)
{
	ckf_collect_settle(collector);
	ckfp_collect_room(collector, context);
}

void
ckfp_collect_filter(ckf_collector *collector, MemoryContext context, const ckf_filter *in)
{
	ckf_status status;

	ckfp_collect_room(collector, context);
	status = ckf_collect_filter(collector, in);
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = &collector->filter, .other = in});
	ckfp_collect_room(collector, context);
}

void
ckfp_collect_end(ckf_collector *collector)
{
	ckf_collect_end(collector);
	ckfp_free_spent(collector);
}
