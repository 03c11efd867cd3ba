/*
 * batch.c - cuckoofilter_add_agg: a filter and a batch of items.
 *
 * The state is the filter and a collector of the items' hashes. At the end, all of them are added
 * in one rebuild. The state is `internal`, since no other process can use it: a part of a group
 * does not know which filter is the first one.
 */
#include "function/call.h"
#include "type/owned.h"
#include "type/state.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_add_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_add_agg_final);

/* The first capacity of the list of waiting items, which doubles. */
#define CKFP_FIRST_ROOM 64

/* The state of a group. Items wait for the first filter, whose seed is needed to hash them. */
typedef struct ckfp_batch
{
	struct varlena *filter;  /* NULL: no row had one yet */
	uint64 seed;             /* of the filter */
	unsigned item_class;     /* of the items, after one was hashed */
	ckf_collector collector; /* of the hashes, after there is a filter */
	uint64 items;            /* the number of items so far */
	Datum *waiting;          /* copies */
	size_t waits, wait_room;
	MemoryContext context; /* of all these */
} ckfp_batch;

/* The first item decides the class of all: raise an error if the filter has no item of this
 * class. */
static void
ckfp_require_class_of_batch(ckfp_batch *batch, unsigned item_class)
{
	ckf_filter filter;

	ckfp_open_datum(PointerGetDatum(batch->filter), CKF_STORED, &filter);
	ckfp_require_class(&filter, item_class, false);
	batch->item_class = item_class;
}

static void
ckfp_add_to_batch(ckfp_batch *batch, ckf_hashes item, unsigned item_class)
{
	if (unlikely(batch->item_class == 0))
		ckfp_require_class_of_batch(batch, item_class);
	ckfp_collect(&batch->collector, batch->context, item.hash,
				 item_class | ckf_decimal_class(item));
	batch->items++;
}

/* Store the item of argument 2 until there is a filter. */
static void
ckfp_let_wait(FunctionCallInfo fcinfo, ckfp_batch *batch)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);
	int16 length;
	bool by_value;

	get_typlenbyval(ckfp_argument_type(fcinfo->flinfo, 2), &length, &by_value);
	if (batch->waits == batch->wait_room)
	{
		batch->wait_room = Max(CKFP_FIRST_ROOM, batch->wait_room * 2);
		batch->waiting =
			batch->waiting == NULL
				? palloc(batch->wait_room * sizeof *batch->waiting)
				: repalloc_huge(batch->waiting, batch->wait_room * sizeof *batch->waiting);
	}
	batch->waiting[batch->waits++] = datumCopy(PG_GETARG_DATUM(2), by_value, length);
	MemoryContextSwitchTo(caller);
}

/* Begin with the filter of argument 1, and hash the items that waited for it. */
static void
ckfp_begin_batch(FunctionCallInfo fcinfo, ckfp_call_cache *cache, ckfp_batch *batch)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);
	ckf_filter filter;

	batch->filter = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(1));
	MemoryContextSwitchTo(caller);
	ckfp_open_datum(PointerGetDatum(batch->filter), CKF_STORED, &filter);
	batch->seed = filter.seed;
	ckf_collect_start(&batch->collector, &filter, CKF_MOST_COPIES);
	if (batch->waits == 0)
		return;
	ckfp_prepare_hasher(fcinfo, 2, cache);
	for (size_t i = 0; i < batch->waits; i++)
	{
		ckfp_add_to_batch(batch, ckfp_hash_item(&cache->hasher, batch->waiting[i], batch->seed),
						  cache->hasher.item_class);
		CHECK_FOR_INTERRUPTS();
	}
	batch->waits = 0; /* the copies are freed with the group */
}

/* (state, filter, item); each may be NULL */
Datum
cuckoofilter_add_agg_transition(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_batch *batch = PG_ARGISNULL(0) ? NULL : (ckfp_batch *)PG_GETARG_POINTER(0);
	MemoryContext context = ckfp_require_aggregate(fcinfo);

	if (batch == NULL)
	{
		batch = MemoryContextAllocZero(context, sizeof *batch);
		batch->context = context;
	}
	if (batch->filter == NULL && !PG_ARGISNULL(1))
		ckfp_begin_batch(fcinfo, cache, batch);
	if (!PG_ARGISNULL(2) && batch->filter == NULL)
		ckfp_let_wait(fcinfo, batch);
	else if (!PG_ARGISNULL(2))
	{
		ckf_hashes item = ckfp_hash_argument(fcinfo, 2, cache, batch->seed);

		ckfp_add_to_batch(batch, item, cache->hasher.item_class);
	}
	PG_RETURN_POINTER(batch);
}

/* The state stays valid, since a window function calls this for each row. */
Datum
cuckoofilter_add_agg_final(PG_FUNCTION_ARGS)
{
	ckfp_batch *batch;
	ckf_filter filter;
	ckf_filter owned;

	if (PG_ARGISNULL(0)) /* no rows, so no filter: an empty one could replace a stored filter */
		PG_RETURN_NULL();
	batch = (ckfp_batch *)PG_GETARG_POINTER(0);
	if (batch->filter == NULL)
		PG_RETURN_NULL();
	if (batch->items == 0)
		PG_RETURN_POINTER(batch->filter);
	ckfp_open_datum(PointerGetDatum(batch->filter), CKF_STORED, &filter);
	(void)ckf_host_settle(CKFP_HOST_IN(batch->context), &batch->collector);
	(void)ckf_host_add_collected(CKFP_HOST, &filter, &batch->collector, batch->items, &owned);
	CKFP_RETURN_OWNED(&owned);
}
