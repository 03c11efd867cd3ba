/*
 * variadic.c - functions of a filter and many items, as arguments or as an
 * array.  NULL elements are skipped; all dimensions count.
 */
#include "call.h"
#include "owned.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(cuckoofilter_add_all);
PG_FUNCTION_INFO_V1(cuckoofilter_remove_all);
PG_FUNCTION_INFO_V1(cuckoofilter_contains_any);
PG_FUNCTION_INFO_V1(cuckoofilter_contains_all);

/* Elements, and bytes of them, between two looks for interrupts. */
#define CKFP_STEP 65536
#define CKFP_STEP_BYTES ((size_t)4 << 20)

/* Hashes of the elements that are not NULL. */
typedef struct ckfp_hashes
{
	uint64 *hash;
	size_t count;
} ckfp_hashes;

/* How the elements of the last array lie in it, kept from call to call. */
static ArrayMetaState *
ckfp_element_layout(ckfp_call_cache *cache, Oid type)
{
	ArrayMetaState *layout = cache->more;

	if (layout == NULL)
	{
		layout = MemoryContextAllocZero(cache->context, sizeof *layout);
		cache->more = layout;
	}
	if (layout->element_type != type)
	{
		get_typlenbyvalalign(type, &layout->typlen, &layout->typbyval, &layout->typalign);
		layout->element_type = type;
	}
	return layout;
}

/* The hashes of the array in argument 1, for this filter. */
static ckfp_hashes
ckfp_hash_array(FunctionCallInfo fcinfo, ckfp_call_cache *cache, const ckf_filter *filter)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(1); /* fetched, if it was toasted */
	ArrayMetaState *layout = ckfp_element_layout(cache, ARR_ELEMTYPE(array));
	ckfp_hashes hashes = {NULL, 0};
	size_t seen = 0;
	size_t bytes = 0;
	ArrayIterator iterator;
	Datum item;
	bool is_null;

	ckfp_hasher_prepare(&cache->hasher, ARR_ELEMTYPE(array), PG_GET_COLLATION(), cache->context);
	hashes.hash = palloc(sizeof(uint64) * (Size)ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	iterator = array_create_iterator(array, 0, layout);
	while (array_iterate(iterator, &item, &is_null))
	{
		if (!is_null)
		{
			hashes.hash[hashes.count++] = ckfp_hash_item(&cache->hasher, item, filter->seed);
			if (layout->typlen == -1)
				bytes += VARSIZE_ANY(DatumGetPointer(item));
		}
		if (++seen % CKFP_STEP == 0 || bytes > CKFP_STEP_BYTES)
		{
			bytes = 0;
			CHECK_FOR_INTERRUPTS();
		}
	}
	array_free_iterator(iterator);
	return hashes;
}

/* A few items are added or removed singly, as a rebuild would cost more; the
 * answers of the result are the same. */

Datum
cuckoofilter_add_all(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter = ckfp_read_filter(fcinfo, 0, cache);
	ckfp_hashes hashes = ckfp_hash_array(fcinfo, cache, filter);
	ckf_filter owned;
	size_t i;

	if (!ckf_few(filter, hashes.count))
	{
		ckfp_run_hashes(CKF_ADD_MANY, filter, hashes.hash, hashes.count, cache->hasher.item_class,
						&owned);
		CKFP_RETURN_OWNED(&owned);
	}
	ckfp_copy(filter, hashes.count, &owned);
	for (i = 0; i < hashes.count; i++)
	{
		ckfp_add(&owned, hashes.hash[i], cache->hasher.item_class);
		CHECK_FOR_INTERRUPTS(); /* a change of many sorted hashes moves half of them */
	}
	CKFP_RETURN_OWNED(&owned);
}

Datum
cuckoofilter_remove_all(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter = ckfp_read_filter(fcinfo, 0, cache);
	ckfp_hashes hashes = ckfp_hash_array(fcinfo, cache, filter);
	ckf_filter owned;
	size_t i;

	if (!ckf_few(filter, hashes.count))
	{
		ckfp_run_hashes(CKF_REMOVE_MANY, filter, hashes.hash, hashes.count, 0, &owned);
		CKFP_RETURN_OWNED(&owned);
	}
	ckfp_copy(filter, 0, &owned);
	for (i = 0; i < hashes.count; i++)
	{
		ckfp_remove(&owned, hashes.hash[i]);
		CHECK_FOR_INTERRUPTS();
	}
	CKFP_RETURN_OWNED(&owned);
}

/* Is a hash among these whose answer is `wanted`? */
static bool
ckfp_some(const ckf_filter *filter, const ckfp_hashes *hashes, bool wanted)
{
	size_t i;

	for (i = 0; i < hashes->count; i += CKFP_STEP)
	{
		size_t n = Min(hashes->count - i, CKFP_STEP);
		size_t in = ckf_contains_many(filter, hashes->hash + i, n, NULL);

		if (wanted ? in > 0 : in < n)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

Datum
cuckoofilter_contains_any(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter = ckfp_read_filter(fcinfo, 0, cache);
	ckfp_hashes hashes = ckfp_hash_array(fcinfo, cache, filter);

	PG_RETURN_BOOL(ckfp_some(filter, &hashes, true));
}

Datum
cuckoofilter_contains_all(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter = ckfp_read_filter(fcinfo, 0, cache);
	ckfp_hashes hashes = ckfp_hash_array(fcinfo, cache, filter);

	PG_RETURN_BOOL(!ckfp_some(filter, &hashes, false));
}
