/*
 * pair.c - the hash of a pair: an item with a value, such as the partition that has its rows; and
 * cuckoofilter_which.
 *
 * A pair is the item ROW(item, value). So each part is hashed by its own type and collation, like
 * the columns of a record.
 */
#include "function/call.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(cuckoofilter_which);

/* The parts of a pair are arguments 1 and 2. */
#define CKFP_OTHER_PART(n) (3 - (n))

/* What is kept about the values between calls, in `more` of the call cache. What is kept about the
 * items is in the call cache itself. */
typedef struct ckfp_values
{
	ckfp_hasher hasher;
	ArrayMetaState layout; /* cuckoofilter_which: the storage of the elements in their array */
} ckfp_values;

/* ------------------------------------------------------------------- hashes */

/* Does an aggregate call this function for its rows? */
static bool
ckfp_aggregate_calls(Oid aggregate, Oid function)
{
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	bool calls;

	if (!HeapTupleIsValid(tuple)) /* a function that is only for windows */
		return false;
	form = (Form_pg_aggregate)GETSTRUCT(tuple);
	calls = form->aggtransfn == function || form->aggmtransfn == function ||
			form->aggminvtransfn == function;
	ReleaseSysCache(tuple);
	return calls;
}

/*
 * The collation of argument n of an aggregate that a window calls. The call does not tell which
 * function of the window it is for. All deterministic collations have the same hashes, so the
 * result is one that is not deterministic, if a function that it could be for has one.
 */
static Oid
ckfp_window_collation(FunctionCallInfo fcinfo, int n)
{
	Oid collation = InvalidOid;
	ListCell *cell;

	foreach (cell, ((WindowAggState *)fcinfo->context)->funcs)
	{
		WindowFunc *function = ((WindowFuncExprState *)lfirst(cell))->wfunc;
		Node *argument;

		if (list_length(function->args) != PG_NARGS() - 1 ||
			function->inputcollid != PG_GET_COLLATION() ||
			!ckfp_aggregate_calls(function->winfnoid, fcinfo->flinfo->fn_oid))
			continue;
		argument = list_nth(function->args, n - 1);
		if (exprType(argument) != get_fn_expr_argtype(fcinfo->flinfo, n))
			continue;
		collation = exprCollation(argument);
		if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
			break;
	}
	return collation;
}

/* The collation of the expression of argument n; 0: it has none, or is not known. */
static Oid
ckfp_argument_collation(FunctionCallInfo fcinfo, int n)
{
	Node *call = fcinfo->flinfo != NULL ? fcinfo->flinfo->fn_expr : NULL;
	Aggref *aggregate = AggGetAggref(fcinfo);
	List *arguments = NIL;

	/* the call of a transition function knows only the types */
	if (fcinfo->context != NULL && IsA(fcinfo->context, WindowAggState))
		return ckfp_window_collation(fcinfo, n);
	if (aggregate != NULL)
	{
		arguments = aggregate->args;
		return --n < list_length(arguments)
				   ? exprCollation((Node *)((TargetEntry *)list_nth(arguments, n))->expr)
				   : InvalidOid;
	}
	if (call != NULL && IsA(call, FuncExpr))
		arguments = ((FuncExpr *)call)->args;
	return n < list_length(arguments) ? exprCollation(list_nth(arguments, n)) : InvalidOid;
}

/*
 * The collation of argument n, which is one of the two parts. If the other one can have none, it is
 * that of the call, which the parser chose: the planner may replace an argument by another
 * expression, such as the only one that is left of a CASE. Else it is that of the argument, as in a
 * record. Without one, a string is an error.
 */
static Oid
ckfp_part_collation(FunctionCallInfo fcinfo, int n)
{
	Oid other = fcinfo->flinfo == NULL ? InvalidOid
									   : get_fn_expr_argtype(fcinfo->flinfo, CKFP_OTHER_PART(n));
	Oid collation;

	ckfp_require_deterministic(PG_GET_COLLATION());
	/* an untyped literal can have COLLATE */
	if (OidIsValid(other) && other != UNKNOWNOID && !type_is_collatable(other))
		return PG_GET_COLLATION();
	collation = ckfp_argument_collation(fcinfo, n);
	ckfp_require_deterministic(collation);
	return collation;
}

/* Prepare a hasher for argument n, or for the elements of an array. */
static void
ckfp_prepare_part(FunctionCallInfo fcinfo, int n, Oid type, ckfp_hasher *hasher,
				  MemoryContext context)
{
	ckfp_hasher_prepare(hasher, type, ckfp_part_collation(fcinfo, n), context);
}

static ckfp_values *
ckfp_values_of(ckfp_call_cache *cache)
{
	if (unlikely(cache->more == NULL))
		cache->more = MemoryContextAllocZero(cache->context, sizeof(ckfp_values));
	return cache->more;
}

/* Hash argument n, the item of a pair. */
static ckf_hashes
ckfp_hash_first(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed)
{
	if (unlikely(!OidIsValid(cache->hasher.type)))
		ckfp_prepare_part(fcinfo, n, ckfp_argument_type(fcinfo->flinfo, n), &cache->hasher,
						  cache->context);
	return ckfp_hash_item(&cache->hasher, PG_GETARG_DATUM(n), seed);
}

ckf_hashes
ckfp_hash_pair(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed)
{
	ckfp_hasher *hasher = &ckfp_values_of(cache)->hasher;

	if (unlikely(!OidIsValid(hasher->type)))
		ckfp_prepare_part(fcinfo, n + 1, ckfp_argument_type(fcinfo->flinfo, n + 1), hasher,
						  cache->context);
	return ckf_hashes_of_pair(ckfp_hash_first(fcinfo, n, cache, seed),
							  ckfp_hash_item(hasher, PG_GETARG_DATUM(n + 1), seed), seed);
}

/* ------------------------------------------------------- one item, many values */

/* cuckoofilter_which(filter, item, candidates) */
Datum
cuckoofilter_which(PG_FUNCTION_ARGS)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_values *values = ckfp_values_of(cache);
	ArrayMetaState *layout = &values->layout;
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(2);
	Oid type = ARR_ELEMTYPE(array);
	ckfp_filter_ref ref;
	Datum *candidates;
	bool *nulls;
	ckf_list pairs;
	uint8 *in; /* whether the pair is in the filter */
	ckf_hashes item;
	int elements, count = 0, found = 0;

	if (values->hasher.type != type)
	{
		ckfp_read_layout(layout, type);
		ckfp_prepare_part(fcinfo, 2, type, &values->hasher, cache->context);
	}
	deconstruct_array(array, type, layout->typlen, layout->typbyval, layout->typalign, &candidates,
					  &nulls, &elements);
	for (int i = 0; i < elements; i++)
		if (!nulls[i])
			candidates[count++] = candidates[i];
	if (count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(type));
	ref = ckfp_filter_ref_of(fcinfo, 0, cache);
	item = ckfp_hash_first(fcinfo, 1, cache, ref.filter->seed);
	pairs = ckfp_new_list((size_t)count);
	in = palloc(sizeof *in * count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ckfp_put(&pairs, ckf_hashes_of_pair(
							 item, ckfp_hash_item(&values->hasher, candidates[i], ref.filter->seed),
							 ref.filter->seed));
	}
	ckfp_require_pairs(ref.filter);
	(void)ckfp_look_up_many(fcinfo, cache, ref, &pairs, NULL, in);
	for (int i = 0; i < count; i++)
		if (in[i])
			candidates[found++] = candidates[i];
	PG_RETURN_ARRAYTYPE_P(construct_array(candidates, found, type, layout->typlen, layout->typbyval,
										  layout->typalign));
}
