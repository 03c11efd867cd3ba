/*
 * call.c - what a function keeps between calls, and how it reads its arguments.
 */
#include "function/call.h"

#include "error.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

ckfp_call_cache *
ckfp_new_call_cache(FmgrInfo *flinfo)
{
	MemoryContext context = flinfo != NULL ? flinfo->fn_mcxt : CurrentMemoryContext;
	ckfp_call_cache *cache = MemoryContextAllocZero(context, sizeof *cache);

	cache->context = context;
	if (flinfo != NULL) /* DirectFunctionCall has none */
		flinfo->fn_extra = cache;
	return cache;
}

Oid
ckfp_argument_type(FmgrInfo *flinfo, int n)
{
	Oid type = InvalidOid;

	if (flinfo != NULL)
		type = get_fn_expr_argtype(flinfo, n);
	if (flinfo != NULL && !OidIsValid(type))
	{
		Oid *types;
		int count;

		(void)get_func_signature(flinfo->fn_oid, &types, &count);
		if (n < count && get_typtype(types[n]) != TYPTYPE_PSEUDO)
			type = types[n];
	}
	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
						errmsg("could not determine the type of the cuckoofilter item")));
	return type;
}

void
ckfp_read_layout(ArrayMetaState *layout, Oid element)
{
	if (layout->element_type == element)
		return;
	get_typlenbyvalalign(element, &layout->typlen, &layout->typbyval, &layout->typalign);
	layout->element_type = element;
}

void
ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	ckfp_hasher_prepare(&cache->hasher, ckfp_argument_type(fcinfo->flinfo, n), PG_GET_COLLATION(),
						cache->context);
}

/* Hashes that are looked up between two checks for interrupts. */
#define CKFP_STEP 65536

ckf_list
ckfp_new_list(size_t n)
{
	uint64 *hashes = MemoryContextAllocHuge(CurrentMemoryContext, 2 * n * sizeof *hashes);

	return (ckf_list){.hashes = hashes, .rounded = hashes + n};
}

/* The same for items that may be in the filter by their older hashes. */
static bool
ckfp_look_up_rounded(ckfp_filter_ref ref, const ckf_list *list, const bool *wanted, uint8 *in)
{
	for (size_t i = 0; i < list->count; i++)
	{
		bool found = ckfp_contains_item(ref, (ckf_hashes){list->hashes[i], list->rounded[i]});

		if (in != NULL)
			in[i] = found;
		if (wanted != NULL && found == *wanted)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

bool
ckfp_look_up_many(FunctionCallInfo fcinfo, ckfp_call_cache *cache, ckfp_filter_ref ref,
				  const ckf_list *list, const bool *wanted, uint8 *in)
{
	const uint64 *hashes = list->hashes;
	size_t n = list->count;

	if (unlikely((list->item_classes & CKF_ITEM_DECIMAL) != 0 && ref.filter->number_forms != 0))
		return ckfp_look_up_rounded(ref, list, wanted, in);
	if (ref.slices != NULL && ckfp_slices_pay(ref.slices, n))
		return ckfp_slices_look_up(ref.slices, hashes, n, false, wanted, in);
	if (ref.slices != NULL) /* for so many lookups, fetching the whole value is cheaper */
		ref.filter = ckfp_read_filter(fcinfo, 0, cache);
	for (size_t i = 0; i < n; i += CKFP_STEP)
	{
		size_t step = Min(n - i, CKFP_STEP);
		size_t found = ckf_contains_many(ref.filter, hashes + i, step, in != NULL ? in + i : NULL);

		if (wanted != NULL && (*wanted ? found > 0 : found < step))
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}
