/*
 * aggregate.c - cuckoofilter_agg, _agg_hash, _agg_pair, _union_agg, _sum_agg.
 *
 * The state is a cuckoofilter too, a flat one that transitions change in
 * place, so that a group costs one small allocation and partial states travel
 * between processes as they are, and between servers as the filters that
 * cuckoofilter_out and _send make of them.  Where a state must grow, the larger one is
 * returned from the short-lived memory of the row: the executor copies it
 * into the aggregate's memory and frees the old one there.  A large one is spared
 * that (large_state.h).
 */
#include "function/call.h"
#include "error.h"
#include "function/pair.h"
#include "type/large_state.h"
#include "type/owned.h"

#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_hash_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_float8_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_hash_float8_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_pair_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_pair_float8_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_final);
PG_FUNCTION_INFO_V1(cuckoofilter_union_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_sum_agg_transition);
PG_FUNCTION_INFO_V1(cuckoofilter_union_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_sum_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_merge_agg_final);

/* ------------------------------------------------------------------- states */

/* The state of a row. */
typedef struct ckfp_state
{
	ckf_filter *filter;      /* opened, and owned: it is changed in place */
	ckfp_large_state *large; /* that has it; NULL: it is a flat one */
} ckfp_state;

/* The memory in which states live. */
static MemoryContext
ckfp_require_aggregate(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ckfp_error_not_aggregate();
	return context;
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
 * Open the state in argument 0.  The executor keeps a flat one with a full header; one that
 * a caller brings otherwise is copied.
 */
static ckfp_state
ckfp_open_state(FunctionCallInfo fcinfo, ckfp_argument_cache *argument)
{
	struct varlena *value = (struct varlena *)PG_GETARG_POINTER(0);

	if (unlikely(!VARATT_IS_4B_U(value)))
	{
		ckfp_large_state *large = ckfp_large_state_of(value);

		if (large != NULL && VARATT_IS_EXTERNAL_EXPANDED_RW(value))
			return (ckfp_state){&large->filter, large};
		value = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	}
	return (ckfp_state){ckfp_reopen(argument, value, CKF_STATE), NULL};
}

/*
 * A larger state in place of this one: CKF_GROW, or CKF_COLLECT_* with what comes in.  A
 * flat one that is outgrown is left to the executor, whose memory it is in: it frees
 * it when it gets another.
 */
static void
ckfp_outgrow(FunctionCallInfo fcinfo, ckfp_state *state, ckf_goal goal, const ckf_filter *in)
{
	ckf_filter *filter = state->filter;
	bool becomes_large = state->large == NULL && filter->size >= CKFP_LARGE_STATE;
	MemoryContext row = CurrentMemoryContext;
	MemoryContext context = row;
	ckf_filter result;

	if (state->large != NULL)
		context = state->large->header.eoh_context;
	else if (becomes_large)
		context = ckfp_large_state_context(ckfp_require_aggregate(fcinfo));
	MemoryContextSwitchTo(context);
	ckfp_run(goal, filter, in, &result);
	MemoryContextSwitchTo(row);
	if (becomes_large && result.bytes != filter->bytes)
	{
		state->large = ckfp_new_large_state(context, &result);
		state->filter = &state->large->filter;
		return;
	}
	if (becomes_large)
		MemoryContextDelete(context); /* the state took in place what came */
	else if (state->large != NULL && result.bytes != filter->bytes)
		pfree(filter->bytes - VARHDRSZ);
	*filter = result;
}

/* Add a hash, of an item of this class, to the state of this row. */
static inline void
ckfp_add_to_state(FunctionCallInfo fcinfo, ckfp_state *state, uint64 hash, unsigned item_class)
{
	ckf_status status = ckf_add(state->filter, hash, item_class);

	while (unlikely(status == CKF_ROOM))
	{
		ckfp_outgrow(fcinfo, state, CKF_GROW, NULL);
		status = ckf_add(state->filter, hash, item_class);
	}
	if (unlikely(status != CKF_OK))
		ckfp_error(status, (ckfp_subject){.filter = state->filter});
}

/* What the executor gets back. */
static inline Datum
ckfp_state_datum(const ckfp_state *state)
{
	return state->large != NULL ? ckfp_large_state_datum(state->large)
								: PointerGetDatum(ckfp_result(state->filter));
}

/* ---------------------------------------------------------- items and hashes */

/*
 * What the arguments of an aggregate over items are: behind the state stand the item, in one
 * argument or two, and its parameters.
 */
typedef struct ckfp_arguments
{
	int first; /* of the parameters: fpr, capacity, options */
	bool real; /* the capacity is a double precision, else a bigint */
} ckfp_arguments;

static const ckfp_arguments of_one = {2, false};
static const ckfp_arguments of_one_real = {2, true};
static const ckfp_arguments of_pair = {3, false};
static const ckfp_arguments of_pair_real = {3, true};

/* Is there an argument n that is not NULL? */
static bool
ckfp_is_given(FunctionCallInfo fcinfo, int n)
{
	return n < PG_NARGS() && !PG_ARGISNULL(n);
}

/* A capacity where the rate belongs, and the other way round, as cuckoofilter_create has them. */
static void
ckfp_require_order(double fpr, double capacity)
{
	ckf_params params = {.fpr = fpr};

	if (fpr >= 1 && capacity < 1)
		ckfp_error(CKF_BAD_FPR, (ckfp_subject){.params = &params, .swapped = true});
}

/* Parameters that are NULL have their defaults. */
static void
ckfp_state_params(FunctionCallInfo fcinfo, ckfp_arguments of, ckf_params *params)
{
	int n = of.first;

	ckf_params_default(params);
	if (ckfp_is_given(fcinfo, n))
		params->fpr = PG_GETARG_FLOAT8(n);
	if (ckfp_is_given(fcinfo, n + 1))
	{
		ckfp_require_order(params->fpr,
						   of.real ? PG_GETARG_FLOAT8(n + 1) : (double)PG_GETARG_INT64(n + 1));
		params->capacity =
			of.real ? ckfp_whole_capacity(PG_GETARG_FLOAT8(n + 1)) : PG_GETARG_INT64(n + 1);
	}
	if (ckfp_is_given(fcinfo, n + 2))
		ckfp_parse_options(PG_GETARG_TEXT_PP(n + 2), params);
}

/* The state of the group, made at its first row also where that has no item:
 * it keeps the parameters. */
static ckfp_state
ckfp_item_state(FunctionCallInfo fcinfo, ckfp_arguments of, ckfp_argument_cache *argument)
{
	ckf_params params;

	(void)ckfp_require_aggregate(fcinfo);
	if (!PG_ARGISNULL(0))
		return ckfp_open_state(fcinfo, argument);
	ckfp_state_params(fcinfo, of, &params);
	ckfp_new_state(&params, &argument->filter);
	return (ckfp_state){&argument->filter, NULL};
}

/* The state after an item's row.  A flat one is known again at the next. */
static inline Datum
ckfp_item_state_datum(const ckfp_state *state, ckfp_argument_cache *argument)
{
	if (likely(state->large == NULL))
		ckfp_keep(argument);
	return ckfp_state_datum(state);
}

static pg_attribute_always_inline Datum
ckfp_collect_item(FunctionCallInfo fcinfo, ckfp_arguments of)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_state state = ckfp_item_state(fcinfo, of, &cache->argument);

	if (!PG_ARGISNULL(1))
	{
		uint64 hash = ckfp_hash_argument(fcinfo, 1, cache, state.filter->seed);

		ckfp_add_to_state(fcinfo, &state, hash, cache->hasher.item_class);
	}
	PG_RETURN_DATUM(ckfp_item_state_datum(&state, &cache->argument));
}

static pg_attribute_always_inline Datum
ckfp_collect_hash(FunctionCallInfo fcinfo, ckfp_arguments of)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_state state = ckfp_item_state(fcinfo, of, &cache->argument);

	if (!PG_ARGISNULL(1))
		ckfp_add_to_state(fcinfo, &state, (uint64)PG_GETARG_INT64(1), CKF_ITEM_HASH);
	PG_RETURN_DATUM(ckfp_item_state_datum(&state, &cache->argument));
}

static Datum
ckfp_collect_pair(FunctionCallInfo fcinfo, ckfp_arguments of)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_state state = ckfp_item_state(fcinfo, of, &cache->argument);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
		ckfp_add_to_state(fcinfo, &state, ckfp_hash_pair(fcinfo, 1, cache, state.filter->seed),
						  CKF_ITEM_OTHER);
	PG_RETURN_DATUM(ckfp_item_state_datum(&state, &cache->argument));
}

/* (state, item [, fpr [, capacity bigint [, options]]]) */
Datum
cuckoofilter_agg_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_item(fcinfo, of_one);
}

/* (state, item, fpr, capacity double precision [, options]) */
Datum
cuckoofilter_agg_float8_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_item(fcinfo, of_one_real);
}

/* (state, hash [, fpr [, capacity bigint [, options]]]) */
Datum
cuckoofilter_agg_hash_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_hash(fcinfo, of_one);
}

/* (state, hash, fpr, capacity double precision [, options]) */
Datum
cuckoofilter_agg_hash_float8_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_hash(fcinfo, of_one_real);
}

/* (state, item, value [, fpr [, capacity bigint [, options]]]) */
Datum
cuckoofilter_agg_pair_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_pair(fcinfo, of_pair);
}

/* (state, item, value, fpr, capacity double precision [, options]) */
Datum
cuckoofilter_agg_pair_float8_transition(PG_FUNCTION_ARGS)
{
	return ckfp_collect_pair(fcinfo, of_pair_real);
}

/* ------------------------------------------------------------------- filters */

/* Merge a filter or another state into a state: at once where that is quick,
 * else by a rebuild, whose result takes the state's place. */
static void
ckfp_merge_into(FunctionCallInfo fcinfo, ckfp_state *state, const ckf_filter *in, ckf_goal goal)
{
	ckf_status status = ckf_collect(state->filter, in, goal);

	if (status == CKF_ROOM)
		ckfp_outgrow(fcinfo, state, goal, in);
	else if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = state->filter, .other = in});
}

/* (state, filter), either may be NULL */
static Datum
ckfp_merge_transition(FunctionCallInfo fcinfo, ckf_goal goal)
{
	ckfp_argument_cache argument = {0};
	ckfp_state state = {&argument.filter, NULL};
	ckf_filter filter;

	(void)ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (PG_ARGISNULL(0))
	{
		ckf_params params;

		ckf_params_default(&params);
		ckfp_new_state(&params, state.filter);
	}
	else
		state = ckfp_open_state(fcinfo, &argument);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &filter);
	ckfp_merge_into(fcinfo, &state, &filter, goal);
	PG_RETURN_DATUM(ckfp_state_datum(&state));
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
	ckfp_state state;
	ckf_filter other;

	(void)ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(1) && PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PointerGetDatum(PG_DETOAST_DATUM(PG_GETARG_DATUM(1))));
	state = ckfp_open_state(fcinfo, &argument);
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STATE, &other);
	ckfp_merge_into(fcinfo, &state, &other, goal);
	PG_RETURN_DATUM(ckfp_state_datum(&state));
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
	const ckfp_large_state *large;
	ckf_filter state;
	ckf_filter owned;

	(void)ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(0))
	{
		ckfp_create_no_rows(&owned);
		CKFP_RETURN_OWNED(&owned);
	}
	large = ckfp_large_state_of((struct varlena *)PG_GETARG_POINTER(0));
	if (large == NULL)
		ckfp_open_datum(PG_GETARG_DATUM(0), CKF_STATE, &state);
	ckfp_run(goal, large != NULL ? &large->filter : &state, NULL, &owned);
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
