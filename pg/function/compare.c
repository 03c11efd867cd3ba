/*
 * compare.c - intersection and comparison of filters: cuckoofilter_intersect, _intersect_agg,
 * _overlap, _overlap_error, _jaccard.
 */
#include "function/call.h"
#include "type/owned.h"

PG_FUNCTION_INFO_V1(cuckoofilter_intersect);
PG_FUNCTION_INFO_V1(cuckoofilter_intersect_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_jaccard);

/*
 * The two filters of a call. Each argument has a cache, the second one in `more` of the first. So a
 * query that compares one stored filter with many others fetches that filter only one time,
 * whichever argument it is.
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

/* cuckoofilter_intersect(a, b); also the combine function of cuckoofilter_intersect_agg */
Datum
cuckoofilter_intersect(PG_FUNCTION_ARGS)
{
	const ckf_filter *a;
	const ckf_filter *b;

	ckfp_read_pair(fcinfo, &a, &b);
	return ckfp_rebuilt(CKF_INTERSECT, a, b);
}

/*
 * (state, filter); either may be NULL. The state is an ordinary filter, the intersection of the
 * filters so far. It can therefore be sent to another process, and needs no final function. It is
 * NULL before the first filter, which is not the same as an empty intersection.
 */
Datum
cuckoofilter_intersect_agg_transition(PG_FUNCTION_ARGS)
{
	ckf_filter state;
	ckf_filter filter;

	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (!PG_ARGISNULL(0))
		ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &state);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &filter);
	if (PG_ARGISNULL(0))
		return ckfp_rebuilt(CKF_INTERSECT, &filter, NULL);
	return ckfp_rebuilt(CKF_INTERSECT, &state, &filter);
}

static ckf_comparison
ckfp_compare_arguments(FunctionCallInfo fcinfo)
{
	const ckf_filter *in[2];
	ckf_comparison comparison;
	ckf_task task = {.operation = CKF_COMPARE, .in = in, .inputs = 2, .comparison = &comparison};

	ckfp_read_pair(fcinfo, &in[0], &in[1]);
	(void)ckf_host_run(CKFP_HOST, &task, NULL);
	return comparison;
}

/* cuckoofilter_overlap(a, b) */
CKFP_FUNCTION(cuckoofilter_overlap, Float8GetDatum(ckfp_compare_arguments(fcinfo).overlap));

/* cuckoofilter_overlap_error(a, b) */
CKFP_FUNCTION(cuckoofilter_overlap_error, Float8GetDatum(ckfp_compare_arguments(fcinfo).error));

/* cuckoofilter_jaccard(a, b); NULL if both filters are empty */
Datum
cuckoofilter_jaccard(PG_FUNCTION_ARGS)
{
	ckf_comparison comparison = ckfp_compare_arguments(fcinfo);

	if (comparison.empty)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(comparison.jaccard);
}
