/*
 * order.c - may a hash join read its build side first?
 *
 * A serial hash join fetches a row of its probe side before it reads its build side, if that row is
 * expected to be cheap. If there is no row, it need not read the build side. This order determines
 * side effects, errors, and which nodes never run, so join filters keep it. Until
 * a filter is ready it lets all rows pass: one row, or some that other joins below drop.
 *
 * A foreign scan is the exception. It sends its query with the current parameters when its first
 * row is fetched, and cannot use a filter that is built later. Asynchronous ones all send their
 * queries with the first row. For them the build side is read first, if both hold:
 *
 * - Nothing in the build side has side effects, can fail or starts an InitPlan. So reading it where
 *   PostgreSQL would not have read it has no visible effect.
 * - There is no other join between this join and the foreign scan. If the build side of such a join
 *   is empty, PostgreSQL ends without reading this one.
 */
#include "order.h"
#include "remote.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------ does it pay? */

typedef struct ckfp_probe_side
{
	const ckfp_join_record *record;
	bool early; /* there is a foreign scan that must know the filter before its first row */
	bool other; /* there is a node of any other kind */
} ckfp_probe_side;

/* Can a foreign scan only use the filter if that is ready before the first row? Its server asks the
 * filter, or it may be skipped, and is asynchronous: all those start with the first row. */
static bool
ckfp_is_early(const ckfp_join_record *record, const Plan *scan)
{
	ListCell *cell;

	foreach (cell, record->targets)
	{
		const ckfp_join_target *target = lfirst(cell);

		if (target->node != scan->plan_node_id)
			continue;
		if (ckfp_remote_asks(target))
			return true;
#if PG_VERSION_NUM >= 140000
		if (target->partition && scan->async_capable)
			return true;
#endif
	}
	return false;
}

static void
ckfp_inspect_probe_side(Plan *plan, void *context)
{
	ckfp_probe_side *side = context;

	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			side->early |= ckfp_is_early(side->record, plan);
			break;
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
			break;
		case T_SubqueryScan:
		case T_Append:
		case T_MergeAppend:
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Result:
		case T_Agg:
		case T_Group:
		case T_Unique:
		case T_WindowAgg:
			ckfp_plan_children(plan, ckfp_inspect_probe_side, context);
			break;
		default:
			side->other = true;
			break;
	}
}

/* ------------------------------------------------------------- does it have visible effects? */

/* Comparisons of numeric are not marked leakproof, but cannot fail. */
static bool
ckfp_function_may_fail(Oid function, void *context)
{
	switch (function)
	{
		case F_NUMERIC_EQ:
		case F_NUMERIC_NE:
		case F_NUMERIC_LT:
		case F_NUMERIC_LE:
		case F_NUMERIC_GT:
		case F_NUMERIC_GE:
			return false;
		default:
			return !get_func_leakproof(function);
	}
}

static bool
ckfp_find_failing_expression(Node *node, void *context)
{
	const ckfp_statement *statement = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Param:
			return statement != NULL && ckfp_initplan_of(statement, (Param *)node) != NULL;
		case T_List:
		case T_TargetEntry:
		case T_Var:
		case T_Const:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
			break;
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			if (check_functions_in_node(node, ckfp_function_may_fail, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, ckfp_find_failing_expression, context);
}

bool
ckfp_expression_may_fail(Node *expression, const ckfp_statement *statement)
{
	return ckfp_find_failing_expression(expression, (void *)statement);
}

/* Can hashing the keys of a join fail? The hash functions of built-in operators cannot. */
static bool
ckfp_hashing_may_fail(const HashJoin *join)
{
	ListCell *cell;

	foreach (cell, join->hashoperators)
		if (lfirst_oid(cell) >= FirstNormalObjectId)
			return true;
	return false;
}

typedef struct ckfp_failing
{
	const ckfp_statement *statement;
	bool may_fail;
} ckfp_failing;

static void
ckfp_find_failing(Plan *plan, void *context)
{
	ckfp_failing *failing = context;
	bool known;
	List *own = ckfp_own_expressions(plan, &known);
	List *all = list_make4(plan->targetlist, plan->qual, own, plan->initPlan);

	switch (nodeTag(plan))
	{
		case T_HashJoin:
			if (ckfp_hashing_may_fail((HashJoin *)plan))
				failing->may_fail = true;
			break;
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_BitmapIndexScan:
		case T_BitmapHeapScan:
		case T_SubqueryScan:
		case T_ValuesScan:
		case T_Append:
		case T_MergeAppend:
		case T_Material:
		case T_Sort:
		case T_IncrementalSort:
		case T_Unique:
		case T_Result:
		case T_Hash:
		case T_NestLoop:
		case T_MergeJoin:
			break;
		default:
			if (!ckfp_join_is_ours(plan))
				failing->may_fail = true;
			break;
	}
	if (!known || ckfp_expression_may_fail((Node *)all, failing->statement))
		failing->may_fail = true;
	if (!failing->may_fail)
		ckfp_plan_children(plan, ckfp_find_failing, context);
}

bool
ckfp_order_may_change(const ckfp_statement *statement, HashJoin *join,
					  const ckfp_join_record *record)
{
	ckfp_probe_side side = {.record = record};
	ckfp_failing failing = {.statement = statement};

	ckfp_inspect_probe_side(outerPlan(join), &side);
	if (!side.early || side.other || ckfp_hashing_may_fail(join) ||
		ckfp_expression_may_fail((Node *)join->hashclauses, statement))
		return false;
	ckfp_find_failing(innerPlan(join), &failing);
	return !failing.may_fail;
}
