/*
 * bounds.c - the bounds that the condition of a scan sets to a column, such as those of a range of
 * time. Keys beyond them have no rows that the scan returns, so no index is searched for them.
 */
#include "join/base/monotone.h"
#include "join/blocks/blocks.h"

#include "access/stratnum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* A column of an index, and its bounds. */
typedef struct ckfp_bounds
{
	ScanState *scan;
	AttrNumber column; /* of the table */
	Oid family;
	Oid type;
	ckfp_limits limits;
	ckfp_range range; /* the values that are left */
} ckfp_bounds;

/* Does a value of the column compare so with another value? */
static bool
ckfp_bounds_compare(const ckfp_bounds *bounds, FmgrInfo *operator, int64 value, Datum other)
{
	return DatumGetBool(
		FunctionCall2(operator, ckfp_integer_datum(value, get_typlen(bounds->type)), other));
}

/* The first value of the column for which an operator, which is monotone, has this result; or the
 * value after the upper limit. */
static int64
ckfp_bounds_first(const ckfp_bounds *bounds, Oid operator, Datum other, bool result)
{
	FmgrInfo function;
	int64 low = bounds->limits.low - 1;
	int64 high = bounds->limits.high + 1;

	fmgr_info(get_opcode(operator), &function);
	while ((uint64)high - (uint64)low > 1)
	{
		int64 middle = (int64)((uint64)low + ((uint64)high - (uint64)low) / 2);

		if (ckfp_bounds_compare(bounds, &function, middle, other) == result)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Apply "column operator value". Beyond the limits all values are left. */
static void
ckfp_bounds_apply(ckfp_bounds *bounds, Oid operator, StrategyNumber strategy, Datum value)
{
	Oid left;
	Oid right;
	bool equal = strategy == BTEqualStrategyNumber;

	op_input_types(operator, & left, &right);
	if (equal || strategy >= BTGreaterEqualStrategyNumber)
	{
		Oid from =
			equal ? get_opfamily_member(bounds->family, left, right, BTGreaterEqualStrategyNumber) :
				  operator;
		int64 first = ckfp_bounds_first(bounds, from, value, true);

		if (first > bounds->limits.low)
			bounds->range.low = Max(bounds->range.low, first);
	}
	if (equal || strategy <= BTLessEqualStrategyNumber)
	{
		Oid to = equal ? get_opfamily_member(bounds->family, left, right, BTLessEqualStrategyNumber)
					   :
					   operator;
		int64 first = ckfp_bounds_first(bounds, to, value, false);

		if (first <= bounds->limits.high)
			bounds->range.high = Min(bounds->range.high, first - 1);
	}
}

/* The value of an expression that no row can change. */
static Datum
ckfp_bounds_value(const ckfp_bounds *bounds, Expr *expression, bool *isnull)
{
	return ExecEvalExprSwitchContext(ExecInitExpr(expression, NULL),
									 bounds->scan->ps.ps_ExprContext, isnull);
}

/* Can an expression be computed before the first row? One of the index's own condition is computed
 * then anyway, if it is `early`. */
static bool
ckfp_bounds_is_known(Expr *expression, bool early)
{
	expression = ckfp_without_relabeling(expression);
	if (IsA(expression, Const) ||
		(IsA(expression, Param) && ((Param *)expression)->paramkind == PARAM_EXTERN))
		return true;
	return early && !contain_var_clause((Node *)expression) &&
		   !contain_subplans((Node *)expression) && !contain_volatile_functions((Node *)expression);
}

static bool
ckfp_bounds_is_column(const ckfp_bounds *bounds, Expr *expression)
{
	const Var *var = (Var *)ckfp_without_relabeling(expression);

	return IsA(var, Var) && var->varno == (int)((Scan *)bounds->scan->ps.plan)->scanrelid &&
		   var->varattno == bounds->column;
}

/* Apply a condition, if it is a bound. */
static bool
ckfp_bounds_note(ckfp_bounds *bounds, const OpExpr *clause, bool early)
{
	Oid operator;
	Expr *other;
	StrategyNumber strategy;
	Oid left;
	Oid right;
	Datum value;
	bool isnull;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return false;
	operator= clause->opno;
	other = lsecond(clause->args);
	if (!ckfp_bounds_is_column(bounds, linitial(clause->args)))
	{
		if (!ckfp_bounds_is_column(bounds, other))
			return false;
		operator= get_commutator(operator);
		other = linitial(clause->args);
	}
	if (!OidIsValid(operator) || !ckfp_bounds_is_known(other, early))
		return false;
	strategy = (StrategyNumber)get_op_opfamily_strategy(operator, bounds->family);
	op_input_types(operator, & left, &right);
	/* one that depends on the time zone is not monotone */
	if (strategy == InvalidStrategy || left != bounds->type ||
		func_volatile(get_opcode(operator)) != PROVOLATILE_IMMUTABLE)
		return false;
	value = ckfp_bounds_value(bounds, other, &isnull);
	if (isnull)
		bounds->range = (ckfp_range){1, 0}; /* true for no row */
	else
		ckfp_bounds_apply(bounds, operator, strategy, value);
	return true;
}

/* Leave the parts of ranges that are in another one. */
static void
ckfp_bounds_leave(ckfp_ranges *ranges, const ckfp_range *within)
{
	double before = ckfp_ranges_integers(ranges);
	const ckfp_range *range = ranges->range;
	int n = ranges->ranges;
	double left;

	ranges->range = palloc(Max(n, 1) * sizeof(ckfp_range));
	ranges->ranges = 0;
	for (int i = 0; i < n; i++)
	{
		ckfp_range part = {Max(range[i].low, within->low), Min(range[i].high, within->high)};

		if (part.low <= part.high)
			ranges->range[ranges->ranges++] = part;
	}
	left = ckfp_ranges_integers(ranges);
	ranges->n = ranges->ranges == 0 ? 0 : ranges->n * left / before;
	ranges->few = left <= CKFP_FEW_KEYS ? (int)left : 0;
}

ckfp_cut
ckfp_bounds_cut(ScanState *scan, Relation index, AttrNumber column, ckfp_ranges *ranges)
{
	Oid type = index->rd_opcintype[column - 1];
	const List *own =
		IsA(scan, BitmapHeapScanState) ? ((BitmapHeapScan *)scan->ps.plan)->bitmapqualorig : NIL;
	bool simple = own != NIL && IsA(outerPlan(scan->ps.plan), BitmapIndexScan);
	int applied = 0;
	int others = 0;
	ckfp_bounds bounds = {.scan = scan,
						  .column = index->rd_index->indkey.values[column - 1],
						  .family = index->rd_opfamily[column - 1],
						  .type = type};

	/* integers of several lengths are the same ones */
	if (!ranges->integers || !ckfp_type_is_integer(type) ||
		(type != ranges->type && (type > INT4OID || ranges->type > INT4OID)))
		return CKFP_CUT_NOT;
	bounds.limits = ckfp_monotone_limits(type);
	bounds.range = (ckfp_range){bounds.limits.least, bounds.limits.greatest};
	foreach_ptr (const OpExpr, clause, own)
		applied += ckfp_bounds_note(&bounds, clause, simple);
	foreach_ptr (const OpExpr, clause, scan->ps.plan->qual)
		others += ckfp_bounds_note(&bounds, clause, false);
	if (applied + others == 0)
		return CKFP_CUT_NOT;
	ckfp_bounds_leave(ranges, &bounds.range);
	return simple && applied == list_length(own) ? CKFP_CUT_COVERS : CKFP_CUT_SOME;
}
