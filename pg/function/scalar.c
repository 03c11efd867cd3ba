/*
 * scalar.c - functions of one filter and one item, hash or pair, or of two filters. All are STRICT
 * in SQL, except those that change a filter by an item: a NULL item changes nothing.
 */
#include "function/call.h"
#include "messages.h"
#include "type/owned.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(cuckoofilter_copies);
PG_FUNCTION_INFO_V1(cuckoofilter_compact);
PG_FUNCTION_INFO_V1(cuckoofilter_count);
PG_FUNCTION_INFO_V1(cuckoofilter_fpr);
PG_FUNCTION_INFO_V1(cuckoofilter_hash);
PG_FUNCTION_INFO_V1(cuckoofilter_part);

/* Read parameters of this capacity: the false positive rate and the options are arguments 1 and 2.
 */
static void
ckfp_read_params(FunctionCallInfo fcinfo, int64 capacity, ckf_params *params)
{
	ckf_params_default(params);
	params->capacity = capacity;
	params->fpr = PG_GETARG_FLOAT8(1);
	ckfp_parse_options(PG_GETARG_TEXT_PP(2), params);
}

/* Create a filter of this capacity. */
static Datum
ckfp_empty(FunctionCallInfo fcinfo, int64 capacity)
{
	ckf_params params;

	ckfp_read_params(fcinfo, capacity, &params);
	return ckfp_create(&params);
}

/* cuckoofilter_create(capacity bigint, fpr double precision, options text) */
CKFP_FUNCTION(cuckoofilter_create, ckfp_empty(fcinfo, PG_GETARG_INT64(0)));

/* cuckoofilter_create(capacity double precision, fpr double precision, options text) */
CKFP_FUNCTION(cuckoofilter_create_float8,
			  ckfp_empty(fcinfo, ckfp_whole_capacity(PG_GETARG_FLOAT8(0))));

static Datum
ckfp_planned_bytes(FunctionCallInfo fcinfo, int64 capacity)
{
	ckf_params params;
	ckf_status status;
	uint64_t bytes;

	ckfp_read_params(fcinfo, capacity, &params);
	status = ckf_planned_bytes(&params, &bytes);
	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = &params});
	PG_RETURN_INT64((int64)bytes);
}

/* cuckoofilter_bytes(capacity bigint, fpr double precision, options text) */
CKFP_FUNCTION(cuckoofilter_bytes, ckfp_planned_bytes(fcinfo, PG_GETARG_INT64(0)));

/* cuckoofilter_bytes(capacity double precision, fpr double precision, options text) */
CKFP_FUNCTION(cuckoofilter_bytes_float8,
			  ckfp_planned_bytes(fcinfo, ckfp_whole_capacity(PG_GETARG_FLOAT8(0))));

/* ----------------------------------------------------------- filter and item */

/* The hashes of argument n, for a lookup, an add or a removal in this filter. */
static pg_always_inline ckf_hashes
ckfp_hash_for(FunctionCallInfo fcinfo, int n, ckfp_given what, ckfp_call_cache *cache,
			  const ckf_filter *filter)
{
	ckf_hashes hashes = ckfp_hash_given(fcinfo, n, what, cache, filter->seed);

	if (what == CKFP_ITEM)
		ckfp_require_class(filter, cache->hasher.item_class, cache->hasher.kind == CKFP_ARRAY);
	if (what == CKFP_PAIR)
		ckfp_require_pairs(filter);
	return hashes;
}

/* Is argument n in the filter in argument `in`? */
static pg_always_inline Datum
ckfp_contains_argument(FunctionCallInfo fcinfo, int in, int n, ckfp_given what)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_filter_ref ref = ckfp_filter_ref_of(fcinfo, in, cache);

	PG_RETURN_BOOL(ckfp_contains_item(ref, ckfp_hash_for(fcinfo, n, what, cache, ref.filter)));
}

/* cuckoofilter_contains(filter, item), filter @> item */
CKFP_FUNCTION(cuckoofilter_contains, ckfp_contains_argument(fcinfo, 0, 1, CKFP_ITEM));

/* item <@ filter */
CKFP_FUNCTION(cuckoofilter_contained, ckfp_contains_argument(fcinfo, 1, 0, CKFP_ITEM));

CKFP_FUNCTION(cuckoofilter_contains_hash, ckfp_contains_argument(fcinfo, 0, 1, CKFP_HASH));

/* cuckoofilter_contains_pair(filter, item, value) */
CKFP_FUNCTION(cuckoofilter_contains_pair, ckfp_contains_argument(fcinfo, 0, 1, CKFP_PAIR));

Datum
cuckoofilter_copies(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_filter_ref ref = ckfp_filter_ref_of(fcinfo, 0, cache);

	PG_RETURN_INT32(
		(int32)ckfp_copies(ref, ckfp_hash_for(fcinfo, 1, CKFP_ITEM, cache, ref.filter)));
}

/* Add argument 1 to the filter in argument 0, or remove it. If the filter is NULL, the result is
 * NULL. A NULL item returns the filter unchanged and not detoasted. In the SQL of 1.0.0 these
 * functions are STRICT. */
static pg_always_inline Datum
ckfp_change_one(FunctionCallInfo fcinfo, ckfp_given what, bool add)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter;
	ckf_hashes hashes;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1) || (what == CKFP_PAIR && PG_ARGISNULL(2)))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	filter = ckfp_read_filter(fcinfo, 0, cache);
	hashes = ckfp_hash_for(fcinfo, 1, what, cache, filter);
	return add ? ckfp_with(filter, hashes.hash, ckfp_class_given(what, cache, hashes))
			   : ckfp_without(filter, hashes);
}

/* cuckoofilter_add(filter, item), filter + item */
CKFP_FUNCTION(cuckoofilter_add, ckfp_change_one(fcinfo, CKFP_ITEM, true));

CKFP_FUNCTION(cuckoofilter_add_hash, ckfp_change_one(fcinfo, CKFP_HASH, true));

/* cuckoofilter_add_pair(filter, item, value) */
CKFP_FUNCTION(cuckoofilter_add_pair, ckfp_change_one(fcinfo, CKFP_PAIR, true));

/* cuckoofilter_remove(filter, item), filter - item */
CKFP_FUNCTION(cuckoofilter_remove, ckfp_change_one(fcinfo, CKFP_ITEM, false));

CKFP_FUNCTION(cuckoofilter_remove_hash, ckfp_change_one(fcinfo, CKFP_HASH, false));

/* cuckoofilter_remove_pair(filter, item, value) */
CKFP_FUNCTION(cuckoofilter_remove_pair, ckfp_change_one(fcinfo, CKFP_PAIR, false));

/* ------------------------------------------------------------------- filters */

static Datum
ckfp_merge(FunctionCallInfo fcinfo, ckf_operation operation)
{
	ckf_filter a;
	ckf_filter b;

	ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &a);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &b);
	return ckfp_rebuilt(operation, &a, &b);
}

/* cuckoofilter_union(a, b), a | b */
CKFP_FUNCTION(cuckoofilter_union, ckfp_merge(fcinfo, CKF_UNION));

CKFP_FUNCTION(cuckoofilter_sum, ckfp_merge(fcinfo, CKF_SUM));

Datum
cuckoofilter_compact(PG_FUNCTION_ARGS)
{
	ckf_filter filter;

	ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &filter);
	return ckfp_rebuilt(CKF_COMPACT, &filter, NULL);
}

Datum
cuckoofilter_count(PG_FUNCTION_ARGS)
{
	ckf_filter filter;

	ckfp_open_header(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_INT64((int64)filter.count);
}

Datum
cuckoofilter_fpr(PG_FUNCTION_ARGS)
{
	ckf_filter filter;

	ckfp_open_header(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_FLOAT8(ckf_fpr(&filter));
}

/* ---------------------------------------------------------------------- hash */

/* cuckoofilter_hash(item [, seed bigint]) */
Datum
cuckoofilter_hash(PG_FUNCTION_ARGS)
{
	uint64 seed = PG_NARGS() > 1 ? (uint64)PG_GETARG_INT64(1) : 0;

	PG_RETURN_INT64((int64)ckfp_hash_argument(fcinfo, 0, ckfp_call_cache_of(fcinfo), seed).hash);
}

/* cuckoofilter_part(item, parts) */
Datum
cuckoofilter_part(PG_FUNCTION_ARGS)
{
	int32 parts = PG_GETARG_INT32(1);

	if (parts < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg(CKF_SAY_BAD_PARTS, CKF_MOST_PARTS, (long long)parts)));
	PG_RETURN_INT32((int32)ckf_part(
		ckfp_hash_argument(fcinfo, 0, ckfp_call_cache_of(fcinfo), 0).hash, (uint32)parts));
}
