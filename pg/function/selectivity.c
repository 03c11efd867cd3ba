/*
 * selectivity.c - the planner's estimate for "filter @> item".
 *
 * If the filter is known while planning, the column's most common values and the bounds of its
 * histogram are looked up in it. The operator gets its estimate through RESTRICT,
 * cuckoofilter_contains through its support function; both call the functions below.
 */
#include "function/call.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/selfuncs.h"

PG_FUNCTION_INFO_V1(cuckoofilter_sel);
PG_FUNCTION_INFO_V1(cuckoofilter_support);

/* The default: a filter that is useful as a prefilter. */
#define CKFP_SELECTIVITY 0.1

/* A histogram with fewer bounds is not used, and the smallest share that one can give. */
#define CKFP_MIN_BOUNDS 10
#define CKFP_MIN_SHARE 0.0001

/* The share of the values in a statistics slot that are in the filter: by frequency if the slot
 * has frequencies, else by number. *total is the sum over all values. */
static double
ckfp_share(const AttStatsSlot *slot, const ckf_filter *filter, ckfp_hasher *hasher, double *total)
{
	double in = 0;

	*total = 0;
	for (int i = 0; i < slot->nvalues; i++)
	{
		double weight = slot->nnumbers > 0 ? slot->numbers[i] : 1.0 / slot->nvalues;

		*total += weight;
		if (ckf_contains_item(filter, ckfp_hash_item(hasher, slot->values[i], filter->seed)))
			in += weight;
	}
	return in;
}

/* The share of the rows of a column whose value is in the filter. */
static double
ckfp_share_of_column(const VariableStatData *column, const ckf_filter *filter, ckfp_hasher *hasher)
{
	double nulls = ((Form_pg_statistic)GETSTRUCT(column->statsTuple))->stanullfrac;
	double rest = CKFP_SELECTIVITY;
	double common = 0;
	double share = 0;
	double total;
	AttStatsSlot slot;

	if (get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_MCV, InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
	{
		share = ckfp_share(&slot, filter, hasher, &common);
		rest = common > 0 ? share / common : rest;
		free_attstatsslot(&slot);
	}
	if (get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues >= CKFP_MIN_BOUNDS)
			rest = Max(ckfp_share(&slot, filter, hasher, &total), CKFP_MIN_SHARE);
		free_attstatsslot(&slot);
	}
	return share + rest * Max(0, 1 - nulls - common);
}

static double
ckfp_estimate_column(const SupportRequestSelectivity *call, Datum value,
					 const VariableStatData *column)
{
	ckfp_hasher hasher = {0};
	ckf_filter filter;

	if (!HeapTupleIsValid(column->statsTuple) ||
		!statistic_proc_security_check(unconstify(VariableStatData *, column), call->funcid))
		return CKFP_SELECTIVITY;
	ckfp_open_datum(value, CKF_STORED, &filter); /* makeConst detoasts constants */
	ckfp_hasher_prepare(&hasher, column->vartype, call->inputcollid, CurrentMemoryContext);
	return ckfp_share_of_column(column, &filter, &hasher);
}

/* The estimate for the arguments of a call. */
static double
ckfp_estimate_arguments(const SupportRequestSelectivity *call, Node *filter, Node *item)
{
	VariableStatData column;
	double share;

	filter = estimate_expression_value(call->root, filter);
	if (!IsA(filter, Const))
		return CKFP_SELECTIVITY;
	if (((Const *)filter)->constisnull)
		return 0;
	examine_variable(call->root, item, call->varRelid, &column);
	share = ckfp_estimate_column(call, ((Const *)filter)->constvalue, &column);
	ReleaseVariableStats(column);
	CLAMP_PROBABILITY(share);
	return share;
}

/*
 * The same, but it raises no error except a cancel. An estimate is a guess: if the filter is
 * damaged, its items cannot be hashed, or an expression fails, the query raises that error when it
 * is executed, if it gets there. These errors are not ours to return as a status:
 * estimate_expression_value runs stable functions of the user, hashing runs those of a type, and
 * detoasting may find a damaged TOAST table. A subtransaction undoes what was begun before the
 * error, as in PL/pgSQL. Parallel mode allows no subtransactions, so the default is used there.
 */
static double
ckfp_estimate_safely(const SupportRequestSelectivity *call, Node *filter, Node *item)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile double share = CKFP_SELECTIVITY;

	if (IsInParallelMode())
		return share;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		share = ckfp_estimate_arguments(call, filter, item);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return share;
}

/* The estimate for a call; for one that is not of a filter and an item, the default. */
static double
ckfp_estimate(const SupportRequestSelectivity *call)
{
	Oid *types;
	int count;
	bool commuted; /* item <@ filter */
	Node *filter;

	(void)get_func_signature(call->funcid, &types, &count);
	if (call->is_join || list_length(call->args) != 2 || count != 2)
		return CKFP_SELECTIVITY;
	commuted = types[0] == ANYCOMPATIBLEOID;
	filter = commuted ? lsecond(call->args) : linitial(call->args);
	if (IsA(filter, Var)) /* a column, whose value differs by row */
		return CKFP_SELECTIVITY;
	return ckfp_estimate_safely(call, filter,
								commuted ? linitial(call->args) : lsecond(call->args));
}

/* RESTRICT of @> and <@ */
Datum
cuckoofilter_sel(PG_FUNCTION_ARGS)
{
	SupportRequestSelectivity call = {.root = (PlannerInfo *)PG_GETARG_POINTER(0),
									  .funcid = get_opcode(PG_GETARG_OID(1)),
									  .args = (List *)PG_GETARG_POINTER(2),
									  .inputcollid = PG_GET_COLLATION(),
									  .varRelid = PG_GETARG_INT32(3)};

	PG_RETURN_FLOAT8(ckfp_estimate(&call));
}

/* Is a function cuckoofilter_contains or cuckoofilter_contained? */
static bool
ckfp_is_lookup(Oid function)
{
	Oid *types;
	int count;

	(void)get_func_signature(function, &types, &count);
	return count == 2 && (types[0] == ANYCOMPATIBLEOID || types[1] == ANYCOMPATIBLEOID);
}

/* SUPPORT of functions of a filter and items, and of cuckoofilter_hash */
Datum
cuckoofilter_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *)PG_GETARG_POINTER(0);
	SupportRequestSelectivity *call = (SupportRequestSelectivity *)request;

	if (!IsA(request, SupportRequestSelectivity) || !ckfp_is_lookup(call->funcid))
		PG_RETURN_POINTER(NULL);
	call->selectivity = ckfp_estimate(call);
	PG_RETURN_POINTER(request);
}
