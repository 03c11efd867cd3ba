/*
 * compare.c - what filters have in common: cuckoofilter_intersect, _intersect_agg,
 * _overlap, _jaccard.
 */
#include "function/call.h"
#include "type/owned.h"

PG_FUNCTION_INFO_V1(cuckoofilter_intersect);
PG_FUNCTION_INFO_V1(cuckoofilter_intersect_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_overlap);
PG_FUNCTION_INFO_V1(cuckoofilter_jaccard);

/*
 * The two filters of a call.  A query that compares one stored filter with many fetches
 * that one once, whichever argument it is: each has a cache, the second one behind the
 * first.
 */
static void
ckfp_read_pair(FunctionCallInfo fcinfo, const ckf_filter **a, const ckf_filter **b)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_call_cache *second = cache->more;

	if (second == NULL)
	{
		second = MemoryContextAllocZero(cache->context, sizeof *second);
		second->context = cache->context;
		cache->more = second;
	}
	*a = ckfp_read_filter(fcinfo, 0, cache);
	*b = ckfp_read_filter(fcinfo, 1, second);
}

/* cuckoofilter_intersect(a, b); and two partial states of cuckoofilter_intersect_agg as one */
Datum
cuckoofilter_intersect(PG_FUNCTION_ARGS)
{
	const ckf_filter *a;
	const ckf_filter *b;
	ckf_filter owned;

	ckfp_read_pair(fcinfo, &a, &b);
	ckfp_run(CKF_INTERSECT, a, b, &owned);
	CKFP_RETURN_OWNED(&owned);
}

/*
 * (state, filter), either may be NULL.  The state is an ordinary filter, what the filters
 * so far have in common: so it may leave its process, and needs no end.  Before the
 * first filter it is NULL, which is not the same as having nothing in common.
 */
Datum
cuckoofilter_intersect_agg_transition(PG_FUNCTION_ARGS)
{
	ckf_filter state;
	ckf_filter filter;
	ckf_filter owned;

	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (!PG_ARGISNULL(0))
		ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &state);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &filter);
	if (PG_ARGISNULL(0))
		ckfp_run(CKF_INTERSECT, &filter, NULL, &owned);
	else
		ckfp_run(CKF_INTERSECT, &state, &filter, &owned);
	CKFP_RETURN_OWNED(&owned);
}

static void
ckfp_compare_arguments(FunctionCallInfo fcinfo, ckf_comparison *comparison)
{
	const ckf_filter *a;
	const ckf_filter *b;

	ckfp_read_pair(fcinfo, &a, &b);
	ckfp_compare(a, b, comparison);
}

/* cuckoofilter_overlap(a, b) */
Datum
cuckoofilter_overlap(PG_FUNCTION_ARGS)
{
	ckf_comparison comparison;

	ckfp_compare_arguments(fcinfo, &comparison);
	PG_RETURN_FLOAT8(comparison.overlap);
}

/* cuckoofilter_jaccard(a, b); of two empty filters NULL */
Datum
cuckoofilter_jaccard(PG_FUNCTION_ARGS)
{
	ckf_comparison comparison;

	ckfp_compare_arguments(fcinfo, &comparison);
	if (comparison.empty)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(comparison.jaccard);
}
