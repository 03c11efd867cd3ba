/*
 * aggregate.c - cuckoofilter_agg, _agg_hash, _agg_pair.
 *
 * The state is a filter in hashes or, if it is large, a collector (state.h). Partial states are
 * sent to other processes and servers as ordinary filters.
 */
#include "function/call.h"
#include "error.h"
#include "messages.h"
#include "type/owned.h"
#include "type/state.h"

#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_agg_combine);
PG_FUNCTION_INFO_V1(cuckoofilter_agg_final);

/* ------------------------------------------------------------------- states */

/* The state of a row: flat, or a collector. */
typedef struct ckfp_state
{
	ckf_filter *flat; /* open; changed in place */
	ckfp_collected *collected;
} ckfp_state;

/* A new flat state, with room for one hash. */
static ckfp_state
ckfp_new_state(const ckf_params *params, ckf_filter *flat)
{
	char *bytes = VARDATA(palloc(VARHDRSZ + CKF_HEADER_SIZE + sizeof(uint64)));
	ckf_status status = ckf_create_state(params, bytes);

	if (status == CKF_OK)
		status = ckf_open(flat, bytes, CKF_HEADER_SIZE, CKF_STATE);
	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = params});
	flat->room = CKF_HEADER_SIZE + sizeof(uint64);
	return (ckfp_state){.flat = flat};
}

/*
 * Open the state in argument 0. The executor stores a flat state with a full header, in a chunk of
 * memory of its own. A state of another caller is copied if it is stored differently.
 */
static ckfp_state
ckfp_open_state(FunctionCallInfo fcinfo, ckfp_argument_cache *argument)
{
	struct varlena *value = (struct varlena *)PG_GETARG_POINTER(0);
	ckf_filter *flat;

	if (unlikely(!VARATT_IS_4B_U(value)))
	{
		ckfp_collected *collected = ckfp_collected_of(value);

		if (collected != NULL && VARATT_IS_EXTERNAL_EXPANDED_RW(value))
			return (ckfp_state){.collected = collected};
		value = PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	}
	flat = ckfp_reopen_state(argument, value);
	flat->room = ckfp_room_of_chunk(value);
	return (ckfp_state){.flat = flat};
}

/* Replace a flat state by a larger one, and leave the old one to the executor; or by a
 * collector. */
static void
ckfp_outgrow(FunctionCallInfo fcinfo, ckfp_state *state)
{
	ckf_filter larger;

	if (state->flat->encoding == CKF_HASHES && state->flat->count >= CKFP_MOST_FLAT)
	{
		state->collected = ckfp_new_collected(ckfp_require_aggregate(fcinfo), state->flat);
		state->flat = NULL;
		return;
	}
	if (state->flat->encoding == CKF_HASHES)
		(void)ckf_host_copy(CKFP_HOST, state->flat, 1, &larger);
	else
		/* a set in a table, which a server of 1.3 has sent */
		(void)ckf_host_build(CKFP_HOST, CKF_GROW, state->flat, NULL, &larger);
	*state->flat = larger;
}

/* Add the hash of an item of this class to the state. */
static inline void
ckfp_add_to_state(FunctionCallInfo fcinfo, ckfp_state *state, uint64 hash, unsigned item_class)
{
	while (likely(state->collected == NULL))
	{
		ckf_status status = ckf_add(state->flat, hash, item_class);

		if (likely(status == CKF_OK))
			return;
		if (status != CKF_ROOM)
			ckfp_error(status, (ckf_about){.filter = state->flat});
		ckfp_outgrow(fcinfo, state);
	}
	ckfp_collect(&state->collected->collector, state->collected->header.eoh_context, hash,
				 item_class);
}

/* The value that the executor receives. */
static inline Datum
ckfp_state_datum(const ckfp_state *state)
{
	if (state->collected != NULL)
		return EOHPGetRWDatum(&state->collected->header);
	return PointerGetDatum(ckfp_result(state->flat));
}

/* ---------------------------------------------------------- items and hashes */

/* The arguments after the state are what an aggregate collects. Then come fpr, capacity and
 * options.
 */

/* Whether there is an argument n that is not NULL. */
static bool
ckfp_is_given(FunctionCallInfo fcinfo, int n)
{
	return n < PG_NARGS() && !PG_ARGISNULL(n);
}

/* The rate, which is no capacity as in the order of cuckoofilter_create. */
static double
ckfp_rate(double fpr, bool pair)
{
	ckf_params params = {.fpr = fpr};

	if (fpr >= 1)
		ckfp_error(CKF_BAD_FPR, (ckf_about){.params = &params,
											.order = pair ? CKF_CALL_AGG_PAIR : CKF_CALL_AGG});
	return fpr;
}

/* Read the parameters. NULL stands for the default. real: the capacity is double precision, else
 * bigint. */
static void
ckfp_state_params(FunctionCallInfo fcinfo, ckfp_given what, bool real, ckf_params *params)
{
	int n = what == CKFP_PAIR ? 3 : 2; /* the first parameter */

	ckf_params_default(params);
	if (ckfp_is_given(fcinfo, n))
		params->fpr = ckfp_rate(PG_GETARG_FLOAT8(n), what == CKFP_PAIR);
	if (ckfp_is_given(fcinfo, n + 1))
		params->capacity =
			real ? ckfp_whole_capacity(PG_GETARG_FLOAT8(n + 1)) : PG_GETARG_INT64(n + 1);
	if (ckfp_is_given(fcinfo, n + 2))
		ckfp_parse_options(PG_GETARG_TEXT_PP(n + 2), params);
}

/* Could items be decimals, or hold some? If the first item is NULL, their type may be one without
 * a hash, which is no error yet. */
static bool
ckfp_may_be_decimal(FunctionCallInfo fcinfo)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);

	if (!OidIsValid(cache->hasher.type))
	{
		if (PG_ARGISNULL(1))
			return true;
		ckfp_prepare_hasher(fcinfo, 1, cache);
	}
	return cache->hasher.kind == CKFP_NUMERIC || cache->hasher.item_class == CKF_ITEM_OTHER;
}

/* The state of the group. It is made at the first row, even if that row has no item, since this row
 * has the parameters. */
static ckfp_state
ckfp_item_state(FunctionCallInfo fcinfo, ckfp_given what, bool real, ckfp_argument_cache *argument)
{
	ckf_params params;

	(void)ckfp_require_aggregate(fcinfo);
	if (!PG_ARGISNULL(0))
		return ckfp_open_state(fcinfo, argument);
	ckfp_state_params(fcinfo, what, real, &params);
	params.decimals = what == CKFP_PAIR || (what == CKFP_ITEM && ckfp_may_be_decimal(fcinfo));
	return ckfp_new_state(&params, &argument->filter);
}

/* Collect a row; inline, since what it has is a constant. */
static pg_always_inline Datum
ckfp_collect_row(FunctionCallInfo fcinfo, ckfp_given what, bool real)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_state state = ckfp_item_state(fcinfo, what, real, &cache->argument);

	if (!PG_ARGISNULL(1) && !(what == CKFP_PAIR && PG_ARGISNULL(2)))
	{
		uint64 seed =
			state.collected != NULL ? state.collected->collector.filter.seed : state.flat->seed;
		ckf_hashes item = ckfp_hash_given(fcinfo, 1, what, cache, seed);

		ckfp_add_to_state(fcinfo, &state, item.hash, ckfp_class_given(what, cache, item));
	}
	if (likely(state.collected == NULL))
		ckfp_keep(&cache->argument); /* a flat state stays open for the next row */
	PG_RETURN_DATUM(ckfp_state_datum(&state));
}

/* (state, item [, fpr [, capacity bigint [, options]]]) */
CKFP_FUNCTION(cuckoofilter_agg_transition, ckfp_collect_row(fcinfo, CKFP_ITEM, false));

/* (state, item, fpr, capacity double precision [, options]) */
CKFP_FUNCTION(cuckoofilter_agg_float8_transition, ckfp_collect_row(fcinfo, CKFP_ITEM, true));

/* (state, hash [, fpr [, capacity bigint [, options]]]) */
CKFP_FUNCTION(cuckoofilter_agg_hash_transition, ckfp_collect_row(fcinfo, CKFP_HASH, false));

/* (state, hash, fpr, capacity double precision [, options]) */
CKFP_FUNCTION(cuckoofilter_agg_hash_float8_transition, ckfp_collect_row(fcinfo, CKFP_HASH, true));

/* (state, item, value [, fpr [, capacity bigint [, options]]]) */
CKFP_FUNCTION(cuckoofilter_agg_pair_transition, ckfp_collect_row(fcinfo, CKFP_PAIR, false));

/* (state, item, value, fpr, capacity double precision [, options]) */
CKFP_FUNCTION(cuckoofilter_agg_pair_float8_transition, ckfp_collect_row(fcinfo, CKFP_PAIR, true));

/* ------------------------------------------------------------ partial states */

/* Combine states if one is a table, which a server of 1.3 sends for a large set. */
static Datum
ckfp_combine_tables(const ckfp_state *state, const ckf_filter *in)
{
	const ckf_filter *first = state->flat;

	if (state->collected != NULL)
		first = ckfp_collected_items(state->collected);
	return ckfp_rebuilt(CKF_MERGE_UNION, first, in);
}

/* Combine a few hashes with a flat state.  false: it must be a collector. */
static bool
ckfp_combine_few(ckfp_state *state, const ckf_filter *in)
{
	ckf_status status = ckf_merge_few(state->flat, in, CKF_FINISH);
	ckf_filter larger;

	if (status == CKF_ROOM && state->flat->count + in->count <= CKFP_MOST_FLAT)
	{
		(void)ckf_host_copy(CKFP_HOST, state->flat, in->count, &larger);
		*state->flat = larger;
		status = ckf_merge_few(state->flat, in, CKF_FINISH);
	}
	if (status != CKF_OK && status != CKF_ROOM)
		ckfp_error(status, (ckf_about){.filter = state->flat, .other = in});
	return status == CKF_OK;
}

/* (state, state); either may be NULL. A state from another process may have a short header. */
Datum
cuckoofilter_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = ckfp_require_aggregate(fcinfo);
	ckfp_argument_cache argument = {0};
	ckfp_state state = {0};
	ckf_filter in, flat;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	ckfp_open_datum(PG_GETARG_DATUM(1), CKF_STORED, &in);
	if (PG_ARGISNULL(0))
	{
		if (in.encoding != CKF_HASHES || in.count <= CKFP_MOST_FLAT)
		{
			(void)ckf_host_copy(CKFP_HOST, &in, 0, &flat);
			PG_RETURN_POINTER(ckfp_result(&flat));
		}
		state.collected = ckfp_new_collected(context, &in);
		PG_RETURN_DATUM(ckfp_state_datum(&state));
	}
	state = ckfp_open_state(fcinfo, &argument);
	if (in.encoding != CKF_HASHES || (state.flat != NULL && state.flat->encoding != CKF_HASHES))
		PG_RETURN_DATUM(ckfp_combine_tables(&state, &in));
	if (state.flat != NULL && ckfp_combine_few(&state, &in))
		PG_RETURN_DATUM(ckfp_state_datum(&state));
	if (state.collected == NULL)
		state.collected = ckfp_new_collected(context, state.flat);
	(void)ckf_host_collect_filter(CKFP_HOST_IN(state.collected->header.eoh_context),
								  &state.collected->collector, &in);
	PG_RETURN_DATUM(ckfp_state_datum(&state));
}

/* ------------------------------------------------------------------- the end */

/* Open a flat state. The end of the aggregate stores equal items once. Different items of a table
 * may have equal prefixes, so a removal could take the only copy of another item: a table becomes a
 * set, as it does if it is combined with other states. */
static void
ckfp_open_final(Datum value, ckf_filter *state)
{
	ckf_filter set;

	ckfp_open_datum(value, CKF_STATE, state);
	if (state->encoding == CKF_HASHES || state->count == 0)
		return;
	(void)ckf_host_build(CKFP_HOST, CKF_MERGE_UNION, state, NULL, &set);
	*state = set;
}

/* The filter of a state. The state stays valid, since a window function calls this for each row. */
Datum
cuckoofilter_agg_final(PG_FUNCTION_ARGS)
{
	ckfp_collected *collected;
	ckf_filter state;

	(void)ckfp_require_aggregate(fcinfo);
	if (PG_ARGISNULL(0))
		return ckfp_create_no_rows();
	collected = ckfp_collected_of((struct varlena *)PG_GETARG_POINTER(0));
	if (collected != NULL)
		return ckfp_rebuilt(CKF_FINISH, ckfp_collected_items(collected), NULL);
	ckfp_open_final(PG_GETARG_DATUM(0), &state);
	return ckfp_rebuilt(CKF_FINISH, &state, NULL);
}
