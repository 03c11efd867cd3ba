/*
 * call.h - what a function keeps from call to call, and reads its arguments
 * with.
 *
 * A probe costs some ten nanoseconds, so that finding its filter must cost
 * less: no detoast, copy, validation or catalog look-up for each row.
 */
#ifndef CKFP_CALL_H
#define CKFP_CALL_H

#include "type/argument.h"
#include "error.h"
#include "item/item.h"
#include "type/slices.h"

#pragma GCC visibility push(hidden)

/* What a function keeps from call to call in flinfo->fn_extra. */
typedef struct ckfp_call_cache
{
	ckfp_argument_cache argument;
	ckfp_hasher hasher;
	MemoryContext context; /* lives as long as this */
	void *more;            /* of a function's own */
} ckfp_call_cache;

/* A new call cache: kept by flinfo, or of this call where there is none. */
ckfp_call_cache *ckfp_new_call_cache(FmgrInfo *flinfo);

/* The cache of this call. */
static inline ckfp_call_cache *
ckfp_call_cache_of(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL))
		return fcinfo->flinfo->fn_extra;
	return ckfp_new_call_cache(fcinfo->flinfo);
}

/*
 * The filter of argument n, to be read.  Bytes that stay where they are are
 * neither copied nor validated again, and a toasted value is fetched once.
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

/* The filter of argument n, to be asked: as above, but of a large value that is stored
 * apart only what a question needs is read, unless it is asked on and on. */
static inline ckfp_asked
ckfp_filter_to_ask(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	const struct varlena *value = (struct varlena *)PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
	{
		value = ckfp_fetch_or_slice(&cache->argument, (struct varlena *)PG_GETARG_POINTER(n),
									cache->context);
		if (value == NULL)
			return (ckfp_asked){&cache->argument.slices->filter, cache->argument.slices};
	}
	return (ckfp_asked){ckfp_reopen(&cache->argument, value, CKF_STORED), NULL};
}

/*
 * At the head of a function that changes the filter of argument 0 by argument n:
 * a NULL changes nothing, so that the filter is returned as it came, not even
 * fetched.  NULL is only what becomes of no filter.
 */
#define CKFP_RETURN_UNCHANGED_BY_NULL(n)                                                           \
	do                                                                                             \
	{                                                                                              \
		if (PG_ARGISNULL(0))                                                                       \
			PG_RETURN_NULL();                                                                      \
		if (PG_ARGISNULL(n))                                                                       \
			PG_RETURN_DATUM(PG_GETARG_DATUM(0));                                                   \
	} while (0)

/* The type of argument n: that of the call's expression or, for a caller without
 * one, the declared type; an error where neither tells. */
Oid ckfp_argument_type(FmgrInfo *flinfo, int n);

/* Make the cache's hasher ready for the items of argument n. */
void ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache);

/* The hash of the item in argument n. */
static inline uint64
ckfp_hash_argument(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed)
{
	if (cache->hasher.kind == CKFP_INT8) /* the usual keys, without a detour */
		return ckf_hash_integer(PG_GETARG_INT64(n), seed);
	if (cache->hasher.kind == CKFP_INT4)
		return ckf_hash_integer(PG_GETARG_INT32(n), seed);
	if (unlikely(!OidIsValid(cache->hasher.type)))
		ckfp_prepare_hasher(fcinfo, n, cache);
	return ckfp_hash_item(&cache->hasher, PG_GETARG_DATUM(n), seed);
}

/*
 * Require that a filter may hold items of a class.  Types are static here: a
 * question of another class than the filter's items is not about them.  Mostly it
 * is a literal, or a driver's parameter, that is text where a number was meant.
 */
static inline void
ckfp_require_class(const ckf_filter *filter, unsigned item_class)
{
	/* it has items of the class, as it mostly has: one test, without what is special
	 * about CKF_ITEM_OTHER */
	if (likely(filter->item_classes & item_class & ~(unsigned)CKF_ITEM_OTHER))
		return;
	if (!ckf_may_hold(filter, item_class))
		ckfp_error_class(filter, item_class);
}

/* The hash of the item in argument n, which the filter is asked for, or which is
 * added to it or removed. */
static inline uint64
ckfp_hash_for(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, const ckf_filter *filter)
{
	uint64 hash = ckfp_hash_argument(fcinfo, n, cache, filter->seed);

	ckfp_require_class(filter, cache->hasher.item_class);
	return hash;
}

#pragma GCC visibility pop

#endif
