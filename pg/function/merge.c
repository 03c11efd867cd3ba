/*
 * merge.c - cuckoofilter_union_agg, _sum_agg.
 *
 * The state is the merge of the filters so far: one filter or, if it is large, a few of them
 * (state.h).
 */
#include "function/call.h"
#include "error.h"
#include "type/owned.h"
#include "type/state.h"

PG_FUNCTION_INFO_V1(cuckoofilter_merge_agg_final);

static Datum
ckfp_merged_datum(const ckfp_merged *merged)
{
	return EOHPGetRWDatum(&merged->header);
}

/* A state of one filter. */
static Datum
ckfp_start_merge(MemoryContext context, const ckf_filter *in, ckf_operation operation)
{
	if (in->size > CKFP_MOST_FLAT_MERGE)
		return ckfp_merged_datum(ckfp_new_merged(context, in, operation));
	return ckfp_rebuilt(operation, in, NULL);
}

/* Merge a filter into a flat state: in place, into another flat one, or into a few filters. */
static Datum
ckfp_merge_flat(MemoryContext context, struct varlena *value, const ckf_filter *in,
				ckf_operation operation)
{
	ckf_filter flat;
	ckfp_merged *merged;
	ckf_status status;

	ckfp_open_datum(PointerGetDatum(value), CKF_STORED, &flat);
	flat.room = ckfp_room_of_chunk(value);
	status = ckf_merge_few(&flat, in, operation);
	if (status == CKF_OK)
		return PointerGetDatum(ckfp_result(&flat));
	if (status != CKF_ROOM)
		ckfp_error(status, (ckf_about){.filter = &flat, .other = in});
	if (flat.size + in->size <= CKFP_MOST_FLAT_MERGE)
		return ckfp_rebuilt(operation, &flat, in);
	merged = ckfp_new_merged(context, &flat, operation);
	ckfp_merged_take(merged, in);
	return ckfp_merged_datum(merged);
}

/*
 * (state, filter); either may be NULL. Also (state, state), since a state is a filter. The executor
 * stores a flat state with a full header, in a chunk of memory of its own. A state of another
 * caller is copied if it is stored differently.
 */
static Datum
ckfp_merge_transition(FunctionCallInfo fcinfo, ckf_operation operation)
{
	MemoryContext context = ckfp_require_aggregate(fcinfo);
	struct varlena *value;
	ckfp_merged *merged;
	ckf_filter in;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &in);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(ckfp_start_merge(context, &in, operation));
	value = (struct varlena *)PG_GETARG_POINTER(0);
	merged = ckfp_merged_of(value);
	if (merged != NULL && VARATT_IS_EXTERNAL_EXPANDED_RW(value))
	{
		ckfp_merged_take(merged, &in);
		PG_RETURN_DATUM(ckfp_merged_datum(merged));
	}
	if (unlikely(!VARATT_IS_4B_U(value)))
		value = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	PG_RETURN_DATUM(ckfp_merge_flat(context, value, &in, operation));
}

CKFP_FUNCTION(cuckoofilter_union_agg_transition, ckfp_merge_transition(fcinfo, CKF_MERGE_UNION));

CKFP_FUNCTION(cuckoofilter_sum_agg_transition, ckfp_merge_transition(fcinfo, CKF_MERGE_SUM));

CKFP_FUNCTION(cuckoofilter_union_agg_combine, ckfp_merge_transition(fcinfo, CKF_MERGE_UNION));

CKFP_FUNCTION(cuckoofilter_sum_agg_combine, ckfp_merge_transition(fcinfo, CKF_MERGE_SUM));

/* The filter of a state. The state stays valid, since a window function calls this for each row.
 * The state of a union is a set, so its sum is a set, too. */
Datum
cuckoofilter_merge_agg_final(PG_FUNCTION_ARGS)
{
	const ckfp_merged *merged;
	ckf_filter state;
	ckf_filter owned;

	(void)ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(0))
		return ckfp_create_no_rows();
	merged = ckfp_merged_of((struct varlena *)PG_GETARG_POINTER(0));
	if (merged == NULL)
	{
		ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STORED, &state);
		return ckfp_rebuilt(CKF_FINISH_SUM, &state, NULL);
	}
	(void)ckf_host_merge_finish(CKFP_HOST, &merged->merger, &owned);
	CKFP_RETURN_OWNED(&owned);
}
