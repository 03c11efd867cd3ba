/*
 * call.c - what a function keeps between calls, and how it reads its arguments.
 */
#include "function/call.h"

#include "error.h"

#include "catalog/pg_type.h"
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
		ckfp_error_no_type();
	return type;
}

void
ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	ckfp_hasher_prepare(&cache->hasher, ckfp_argument_type(fcinfo->flinfo, n), PG_GET_COLLATION(),
						cache->context);
}
