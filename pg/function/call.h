/*
 * call.h - what a function keeps between calls, and how it reads its arguments.
 *
 * A lookup takes some ten nanoseconds, so finding its filter must take less: no detoasting, copy,
 * validation or catalog lookup for each row.
 */
#ifndef CKFP_CALL_H
#define CKFP_CALL_H

#include "type/argument_cache.h"
#include "error.h"
#include "item/item.h"
#include "type/filter_ref.h"

#include "cuckoofilter_host.h"

#include "utils/array.h"

/* What a function takes as an item. */
typedef enum ckfp_given
{
	CKFP_ITEM,
	CKFP_HASH,
	CKFP_PAIR /* an item and its value, in two arguments */
} ckfp_given;

/* What a function keeps between calls, in flinfo->fn_extra. */
typedef struct ckfp_call_cache
{
	ckfp_argument_cache argument;
	ckfp_hasher hasher;
	MemoryContext context; /* lives as long as the cache */
	void *more;            /* for the function itself */
} ckfp_call_cache;

/* Create a call cache. flinfo keeps it; without flinfo it is for this call only. */
ckfp_call_cache *ckfp_new_call_cache(FmgrInfo *flinfo);

/* The call cache of this call. */
static inline ckfp_call_cache *
ckfp_call_cache_of(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL))
		return fcinfo->flinfo->fn_extra;
	return ckfp_new_call_cache(fcinfo->flinfo);
}

/*
 * The filter in argument n, for reading. A toasted value is fetched once. A plain value is not
 * copied, and is validated again only if its header or size differs from the last call.
 */
static inline const ckf_filter *
ckfp_read_filter(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	const struct varlena *value = (struct varlena *)PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
		value =
			ckfp_fetch(&cache->argument, (struct varlena *)PG_GETARG_POINTER(n), cache->context);
	return ckfp_reopen(&cache->argument, value, CKF_STORED);
}

/* The filter in argument n, for lookups. Of a large value in a TOAST table only the slices that
 * a lookup needs are read, until fetching the whole value is cheaper (slices.c). */
static pg_always_inline ckfp_filter_ref
ckfp_filter_ref_of(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	const struct varlena *value = (struct varlena *)PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
	{
		const struct varlena *whole;

		if (ckfp_use_slices(&cache->argument, (struct varlena *)PG_GETARG_POINTER(n),
							cache->context, &whole))
			return (ckfp_filter_ref){&cache->argument.slices->filter, cache->argument.slices};
		value = whole;
	}
	return (ckfp_filter_ref){ckfp_reopen(&cache->argument, value, CKF_STORED), NULL};
}

/*
 * Look up the items of a list in the filter in argument 0, to which `ref` refers: in[i]
 * becomes 0 if an item is not there, unless `in` is NULL.  True if one has the wanted answer,
 * unless `wanted` is NULL: then the others may have got none.
 */
bool ckfp_look_up_many(FunctionCallInfo fcinfo, ckfp_call_cache *cache, ckfp_filter_ref ref,
					   const ckf_list *list, const bool *wanted, uint8 *in);

/* A list with room for n items, and an item at its end. */
ckf_list ckfp_new_list(size_t n);

static inline void
ckfp_put(ckf_list *list, ckf_hashes item)
{
	((uint64 *)list->hashes)[list->count] = item.hash;
	((uint64 *)list->rounded)[list->count++] = item.rounded;
	list->item_classes |= ckf_decimal_class(item);
}

/* The type of argument n, from the expression of the call or, without one, from the declared
 * type. Raises an error if neither has the type. */
Oid ckfp_argument_type(FmgrInfo *flinfo, int n);

/* Read the storage of the elements of an array, unless *layout has it already. */
void ckfp_read_layout(ArrayMetaState *layout, Oid element);

/* Prepare the hasher of the cache for the items of argument n. */
void ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache);

/* The hashes of the item in argument n. */
static pg_always_inline ckf_hashes
ckfp_hash_argument(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed)
{
	if (cache->hasher.kind == CKFP_INT8) /* the most common types, without a call */
		return ckfp_hashes_of(ckf_hash_integer(PG_GETARG_INT64(n), seed));
	if (cache->hasher.kind == CKFP_INT4)
		return ckfp_hashes_of(ckf_hash_integer(PG_GETARG_INT32(n), seed));
	if (unlikely(!OidIsValid(cache->hasher.type)))
		ckfp_prepare_hasher(fcinfo, n, cache);
	return ckfp_hash_item(&cache->hasher, PG_GETARG_DATUM(n), seed);
}

/* The hashes of the pair in arguments n and n + 1, which are not NULL: those of the record
 * ROW(item, value).  (pair.c) */
ckf_hashes ckfp_hash_pair(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed);

/* The hashes of what argument n, and perhaps the next one, gives; inline, since `what` is a
 * constant. */
static pg_always_inline ckf_hashes
ckfp_hash_given(FunctionCallInfo fcinfo, int n, ckfp_given what, ckfp_call_cache *cache,
				uint64 seed)
{
	if (what == CKFP_HASH)
		return ckfp_hashes_of((uint64)PG_GETARG_INT64(n));
	return what == CKFP_PAIR ? ckfp_hash_pair(fcinfo, n, cache, seed)
							 : ckfp_hash_argument(fcinfo, n, cache, seed);
}

/* The class of that. */
static pg_always_inline unsigned
ckfp_class_given(ckfp_given what, const ckfp_call_cache *cache, ckf_hashes item)
{
	if (what == CKFP_HASH)
		return CKF_ITEM_HASH;
	return (what == CKFP_PAIR ? CKF_ITEM_OTHER : cache->hasher.item_class) |
		   ckf_decimal_class(item);
}

/*
 * Raise an error unless the filter can have items of a class. SQL's types are static, so looking
 * for an item of a class that the filter does not have is a mistake: usually a literal or a
 * driver's parameter is text, but a number was meant. array: the item is an array.
 */
static inline void
ckfp_require_class(const ckf_filter *filter, unsigned item_class, bool array)
{
	/* the common case in one test: the filter has items of this class; ckf_may_hold handles
	 * CKF_ITEM_OTHER */
	if (likely(filter->item_classes & item_class & ~(unsigned)CKF_ITEM_OTHER))
		return;
	if (!ckf_may_hold(filter, item_class))
		ckfp_error_class(filter, item_class, array);
}

/* Raise an error unless the filter can have pairs. */
static inline void
ckfp_require_pairs(const ckf_filter *filter)
{
	if (unlikely(!ckf_may_hold(filter, CKF_ITEM_OTHER)))
		ckfp_error_pair(filter);
}

#endif
