/*
 * scalar.c - functions of one filter and one item or hash, or of two filters. All are STRICT in
 * SQL, except those that change a filter by an item or a hash: a NULL item changes nothing.
 */
#include "function/call.h"
#include "type/owned.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(cuckoofilter_create);
PG_FUNCTION_INFO_V1(cuckoofilter_create_float8);
PG_FUNCTION_INFO_V1(cuckoofilter_bytes);
PG_FUNCTION_INFO_V1(cuckoofilter_bytes_float8);
PG_FUNCTION_INFO_V1(cuckoofilter_add);
PG_FUNCTION_INFO_V1(cuckoofilter_add_hash);
PG_FUNCTION_INFO_V1(cuckoofilter_contains);
PG_FUNCTION_INFO_V1(cuckoofilter_contained);
PG_FUNCTION_INFO_V1(cuckoofilter_contains_hash);
PG_FUNCTION_INFO_V1(cuckoofilter_copies);
PG_FUNCTION_INFO_V1(cuckoofilter_remove);
PG_FUNCTION_INFO_V1(cuckoofilter_remove_hash);
PG_FUNCTION_INFO_V1(cuckoofilter_union);
PG_FUNCTION_INFO_V1(cuckoofilter_sum);
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
Datum
cuckoofilter_create(PG_FUNCTION_ARGS)
{
	return ckfp_empty(fcinfo, PG_GETARG_INT64(0));
}

/* cuckoofilter_create(capacity double precision, fpr double precision, options text) */
Datum
cuckoofilter_create_float8(PG_FUNCTION_ARGS)
{
	return ckfp_empty(fcinfo, ckfp_whole_capacity(PG_GETARG_FLOAT8(0)));
}

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
Datum
cuckoofilter_bytes(PG_FUNCTION_ARGS)
{
	return ckfp_planned_bytes(fcinfo, PG_GETARG_INT64(0));
}

/* cuckoofilter_bytes(capacity double precision, fpr double precision, options text) */
Datum
cuckoofilter_bytes_float8(PG_FUNCTION_ARGS)
{
	return ckfp_planned_bytes(fcinfo, ckfp_whole_capacity(PG_GETARG_FLOAT8(0)));
}

/* ----------------------------------------------------------- filter and item */

/* cuckoofilter_contains(filter, item), filter @> item */
Datum
cuckoofilter_contains(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_asked asked = ckfp_filter_to_ask(fcinfo, 0, cache);

	PG_RETURN_BOOL(ckfp_contains(asked, ckfp_hash_for(fcinfo, 1, cache, asked.filter)));
}

/* item <@ filter */
Datum
cuckoofilter_contained(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_asked asked = ckfp_filter_to_ask(fcinfo, 1, cache);

	PG_RETURN_BOOL(ckfp_contains(asked, ckfp_hash_for(fcinfo, 0, cache, asked.filter)));
}

Datum
cuckoofilter_contains_hash(PG_FUNCTION_ARGS)
{
	ckfp_asked asked = ckfp_filter_to_ask(fcinfo, 0, ckfp_call_cache_of(fcinfo));

	PG_RETURN_BOOL(ckfp_contains(asked, (uint64)PG_GETARG_INT64(1)));
}

Datum
cuckoofilter_copies(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_asked asked = ckfp_filter_to_ask(fcinfo, 0, cache);

	PG_RETURN_INT32((int32)ckfp_copies(asked, ckfp_hash_for(fcinfo, 1, cache, asked.filter)));
}

/*
 * A NULL item returns the filter unchanged and not detoasted. In the SQL of 1.0.0 these functions
 * are STRICT.
 */

/* cuckoofilter_add(filter, item), filter + item */
Datum
cuckoofilter_add(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter;
	uint64 hash;

	CKFP_RETURN_UNCHANGED_BY_NULL(1);
	filter = ckfp_read_filter(fcinfo, 0, cache);
	hash = ckfp_hash_for(fcinfo, 1, cache, filter);
	return ckfp_with(filter, hash, cache->hasher.item_class);
}

Datum
cuckoofilter_add_hash(PG_FUNCTION_ARGS)
{
	CKFP_RETURN_UNCHANGED_BY_NULL(1);
	return ckfp_with(ckfp_read_filter(fcinfo, 0, ckfp_call_cache_of(fcinfo)),
					 (uint64)PG_GETARG_INT64(1), CKF_ITEM_HASH);
}

/* cuckoofilter_remove(filter, item), filter - item */
Datum
cuckoofilter_remove(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter;

	CKFP_RETURN_UNCHANGED_BY_NULL(1);
	filter = ckfp_read_filter(fcinfo, 0, cache);
	return ckfp_without(filter, ckfp_hash_for(fcinfo, 1, cache, filter));
}

Datum
cuckoofilter_remove_hash(PG_FUNCTION_ARGS)
{
	CKFP_RETURN_UNCHANGED_BY_NULL(1);
	return ckfp_without(ckfp_read_filter(fcinfo, 0, ckfp_call_cache_of(fcinfo)),
						(uint64)PG_GETARG_INT64(1));
}

/* ------------------------------------------------------------------- filters */

static Datum
ckfp_merge(FunctionCallInfo fcinfo, ckf_goal goal)
{
	ckf_filter a;
	ckf_filter b;
	ckf_filter owned;

	ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &a);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &b);
	(void)ckf_host_build(CKFP_HOST, goal, &a, &b, &owned);
	CKFP_RETURN_OWNED(&owned);
}

/* cuckoofilter_union(a, b), a | b */
Datum
cuckoofilter_union(PG_FUNCTION_ARGS)
{
	return ckfp_merge(fcinfo, CKF_UNION);
}

Datum
cuckoofilter_sum(PG_FUNCTION_ARGS)
{
	return ckfp_merge(fcinfo, CKF_SUM);
}

Datum
cuckoofilter_compact(PG_FUNCTION_ARGS)
{
	ckf_filter filter;
	ckf_filter owned;

	ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &filter);
	(void)ckf_host_build(CKFP_HOST, CKF_COMPACT, &filter, NULL, &owned);
	CKFP_RETURN_OWNED(&owned);
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

	PG_RETURN_INT64((int64)ckfp_hash_argument(fcinfo, 0, ckfp_call_cache_of(fcinfo), seed));
}

/* cuckoofilter_part(item, parts) */
Datum
cuckoofilter_part(PG_FUNCTION_ARGS)
{
	int32 parts = PG_GETARG_INT32(1);

	if (parts < 1)
		ckfp_error_parts(parts);
	PG_RETURN_INT32((int32)ckf_part(ckfp_hash_argument(fcinfo, 0, ckfp_call_cache_of(fcinfo), 0),
									(uint32)parts));
}
