/*
 * aggregate.c - cuckoofilter_agg, _agg_hash, _union_agg, _sum_agg.
 *
 * The state is a cuckoofilter too, a flat one that transitions change in
 * place, so that a group costs one small allocation and partial states travel
 * between processes as they are, and between servers as the filters that
 * cuckoofilter_out and _send make of them.  Where a state must grow, the larger one is
 * returned from the short-lived memory of the row: the executor copies it
 * into the aggregate's memory and frees the old one there.
 */
#include "call.h"
#include "error.h"
#include "owned.h"

#include "miscadmin.h"

PG_FUNCTION_INFO_V1(cuckoofilter_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_hash_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_float8_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_hash_float8_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_final);
PG_FUNCTION_INFO_V1(cuckoofilter_union_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_sum_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_union_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_sum_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_merge_agg_final);

/* ------------------------------------------------------------------- states */

static void
ckfp_require_aggregate(FunctionCallInfo fcinfo)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		ckfp_error_not_aggregate();
}

static void
ckfp_new_state(const ckf_params *params, ckf_filter *state)
{
	struct varlena *value = palloc(VARHDRSZ + CKF_STATE_SIZE);
	ckf_status status = ckf_collect_create(params, VARDATA(value));

	if (status == CKF_OK)
		status = ckf_open(state, VARDATA(value), CKF_STATE_SIZE, CKF_STATE);
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.params = params});
}

/*
 * Open the state in argument 0, which is then an owned filter, changed in place.  The executor
 * keeps it with a full header; one that a caller brings otherwise is copied.
 */
static ckf_filter *
ckfp_open_state(FunctionCallInfo fcinfo, ckfp_argument_cache *argument)
{
	struct varlena *value = (struct varlena *)PG_GETARG_POINTER(0);

	if (unlikely(!VARATT_IS_4B_U(value)))
		value = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	return ckfp_reopen(argument, value, CKF_STATE);
}

/* Add a hash, of an item of this class, to the state of this row.  One that the state outgrows is
 * left to the executor, whose memory it is in: it frees it when it gets another. */
static inline void
ckfp_add_to_state(ckf_filter *state, uint64 hash, unsigned item_class)
{
	ckf_status status = ckf_add(state, hash, item_class);

	if (unlikely(status == CKF_ROOM))
	{
		ckf_filter larger;

		ckfp_run(CKF_GROW, state, NULL, &larger);
		*state = larger;
		ckfp_add(state, hash, item_class);
	}
	else if (unlikely(status != CKF_OK))
		ckfp_error(status, (ckfp_subject){.filter = state});
}

/* ---------------------------------------------------------- items and hashes */

/* Parameters that follow the item; NULL is the default.  The capacity is a bigint,
 * or (`real`) a double precision. */
static void
ckfp_state_params(FunctionCallInfo fcinfo, bool real, ckf_params *params)
{
	int n = PG_NARGS();

	ckf_params_default(params);
	if (n > 2 && !PG_ARGISNULL(2))
		params->fpr = PG_GETARG_FLOAT8(2);
	if (n > 3 && !PG_ARGISNULL(3))
		params->capacity = real ? ckfp_whole_capacity(PG_GETARG_FLOAT8(3)) : PG_GETARG_INT64(3);
	if (n > 4 && !PG_ARGISNULL(4))
		ckfp_parse_options(PG_GETARG_TEXT_PP(4), params);
}

/* The state of the group, made at its first row also where that has no item:
 * it keeps the parameters. */
static ckf_filter *
ckfp_item_state(FunctionCallInfo fcinfo, bool real, ckfp_argument_cache *argument)
{
	ckf_params params;

	ckfp_require_aggregate(fcinfo);
	if (!PG_ARGISNULL(0))
		return ckfp_open_state(fcinfo, argument);
	ckfp_state_params(fcinfo, real, &params);
	ckfp_new_state(&params, &argument->filter);
	return &argument->filter;
}

static pg_attribute_always_inline Datum
ckfp_collect_item(FunctionCallInfo fcinfo, bool real)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckf_filter *state = ckfp_item_state(fcinfo, real, &cache->argument);

	if (!PG_ARGISNULL(1))
	{
		uint64 hash = ckfp_hash_argument(fcinfo, 1, cache, state->seed);

		ckfp_add_to_state(state, hash, cache->hasher.item_class);
	}
	ckfp_keep(&cache->argument);
	CKFP_RETURN_OWNED(state);
}

static pg_attribute_always_inline Datum
ckfp_collect_hash(FunctionCallInfo fcinfo, bool real)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckf_filter *state = ckfp_item_state(fcinfo, real, &cache->argument);

	if (!PG_ARGISNULL(1))
		ckfp_add_to_state(state, (uint64)PG_GETARG_INT64(1), CKF_ITEM_HASH);
	ckfp_keep(&cache->argument);
	CKFP_RETURN_OWNED(state);
}

/* (state, item [, fpr [, capacity bigint [, options]]]) */
Datum
cuckoofilter_agg_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_item(fcinfo, false);
}

/* (state, item, fpr, capacity double precision [, options]) */
Datum
cuckoofilter_agg_float8_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_item(fcinfo, true);
}

/* (state, hash [, fpr [, capacity bigint [, options]]]) */
Datum
cuckoofilter_agg_hash_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_hash(fcinfo, false);
}

/* (state, hash, fpr, capacity double precision [, options]) */
Datum
cuckoofilter_agg_hash_float8_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_hash(fcinfo, true);
}

/* ------------------------------------------------------------------- filters */

/* Merge a filter or another state into a state: at once where that is quick,
 * else by a rebuild, whose result takes the state's place. */
static void
ckfp_merge_into(ckf_filter *state, const ckf_filter *in, ckf_goal goal)
{
	ckf_status status = ckf_collect(state, in, goal);
	ckf_filter merged;

	if (status == CKF_OK)
		return;
	if (status != CKF_ROOM)
		ckfp_error(status, (ckfp_subject){.filter = state, .other = in});
	ckfp_run(goal, state, in, &merged);
	*state = merged;
}

/* (state, filter), either may be NULL */
static Datum
ckfp_merge_transition(FunctionCallInfo fcinfo, ckf_goal goal)
{
	ckfp_argument_cache argument = {0};
	ckf_filter *state = &argument.filter;
	ckf_filter filter;

	ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (PG_ARGISNULL(0))
	{
		ckf_params params;

		ckf_params_default(&params);
		ckfp_new_state(&params, state);
	}
	else
		ckfp_open_state(fcinfo, &argument);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &filter);
	ckfp_merge_into(state, &filter, goal);
	CKFP_RETURN_OWNED(state);
}

Datum
cuckoofilter_union_agg_transition(PG_FUNCTION_ARGS)
{
	return ckfp_merge_transition(fcinfo, CKF_COLLECT_UNION);
}

Datum
cuckoofilter_sum_agg_transition(PG_FUNCTION_ARGS)
{
	return ckfp_merge_transition(fcinfo, CKF_COLLECT_SUM);
}

/* ------------------------------------------------------------ partial states */

/*
 * (state, state), either may be NULL.  What comes from another process is a
 * state with a short header, or the filter that a state is written as where it
 * leaves PostgreSQL (CKF_EXPORT).  The first one is unpacked, to be changed in
 * place from then on.
 */
static Datum
ckfp_combine(FunctionCallInfo fcinfo, ckf_goal goal)
{
	ckfp_argument_cache argument = {0};
	ckf_filter *state = &argument.filter;
	ckf_filter other;

	ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PointerGetDatum(PG_DETOAST_DATUM(PG_GETARG_DATUM(1))));
	ckfp_open_state(fcinfo, &argument);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STATE, &other);
	ckfp_merge_into(state, &other, goal);
	CKFP_RETURN_OWNED(state);
}

Datum
cuckoofilter_agg_combine(PG_FUNCTION_ARGS)
{
	return ckfp_combine(fcinfo, CKF_COLLECT_ITEMS);
}

Datum
cuckoofilter_union_agg_combine(PG_FUNCTION_ARGS)
{
	return ckfp_combine(fcinfo, CKF_COLLECT_UNION);
}

Datum
cuckoofilter_sum_agg_combine(PG_FUNCTION_ARGS)
{
	return ckfp_combine(fcinfo, CKF_COLLECT_SUM);
}

/* ------------------------------------------------------------------ the ends */

/* The filter of a state, which stays as it is: a window asks again and again. */
static Datum
ckfp_finish(FunctionCallInfo fcinfo, ckf_goal goal)
{
	ckf_filter state;
	ckf_filter owned;

	ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(0))
	{
		ckf_params params;

		ckf_params_default(&params);
		ckfp_new_state(&params, &state);
	}
	else
		ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STATE, &state);
	ckfp_run(goal, &state, NULL, &owned);
	CKFP_RETURN_OWNED(&owned);
}

Datum
cuckoofilter_agg_final(PG_FUNCTION_ARGS)
{
	return ckfp_finish(fcinfo, CKF_FINISH);
}

Datum
cuckoofilter_merge_agg_final(PG_FUNCTION_ARGS)
{
	return ckfp_finish(fcinfo, CKF_FINISH_MERGE);
}
