/*
 * order.c - may a hash join read its build side first?
 *
 * A serial hash join fetches a row of its probe side before it reads its build side, if that is
 * expected to be cheap: if there is no row, it need not read the build side.  PostgreSQL's order
 * decides about side effects, about errors, and about what never runs, and so it stays: until a
 * filter is ready it lets rows pass.  One row does, or some that other joins below drop.
 *
 * A foreign scan is the exception: it sends its query with the parameters that there are when
 * its first row is fetched, and a filter that comes later is not in them.  There the build side
 * is read first, if
 *
 * - nothing in it has side effects, can fail or starts an InitPlan, so that nobody can tell that
 *   it was read where PostgreSQL would not have read it;
 * - no other join is on the way to the foreign scan: its build side may be empty, and then
 *   PostgreSQL ends without reading this one.
 */
#include "order.h"
#include "remote.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------ does it pay? */

typedef struct ckfp_way
{
	const ckfp_join_record *record;
	bool served; /* a foreign scan is reached whose server asks the filter */
	bool other;  /* so is a node that is not passed */
} ckfp_way;

static bool
ckfp_is_served(const ckfp_join_record *record, const Plan *scan)
{
	ListCell *cell;

	foreach (cell, record->targets)
	{
		const ckfp_join_target *target = lfirst(cell);

		if (target->node == scan->plan_node_id && ckfp_remote_asks(target))
			return true;
	}
	return false;
}

static void
ckfp_follow_way(Plan *plan, void *context)
{
	ckfp_way *way = context;

	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			way->served |= ckfp_is_served(way->record, plan);
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
			ckfp_plan_children(plan, ckfp_follow_way, context);
			break;
		default:
			way->other = true;
			break;
	}
}

/* ------------------------------------------------------------- can nobody tell? */

/* Comparisons of numeric are not marked leakproof, but do not fail. */
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

/* May computing an expression fail, or run something else? */
static bool
ckfp_expression_may_fail(Node *node, void *context)
{
	const ckfp_statement *statement = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Param:
			return ckfp_initplan_of(statement, (Param *)node) != NULL;
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
	return expression_tree_walker(node, ckfp_expression_may_fail, context);
}

/* The keys of a join are hashed by functions that its operators name. */
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
ckfp_look_for_failing(Plan *plan, void *context)
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
			if (!ckfp_join_is_build(plan))
				failing->may_fail = true;
			break;
	}
	if (!known || ckfp_expression_may_fail((Node *)all, (void *)failing->statement))
		failing->may_fail = true;
	if (!failing->may_fail)
		ckfp_plan_children(plan, ckfp_look_for_failing, context);
}

bool
ckfp_order_may_change(const ckfp_statement *statement, HashJoin *join,
					  const ckfp_join_record *record)
{
	ckfp_way way = {.record = record};
	ckfp_failing failing = {.statement = statement};

	ckfp_follow_way(outerPlan(join), &way);
	if (!way.served || way.other || ckfp_hashing_may_fail(join) ||
		ckfp_expression_may_fail((Node *)join->hashclauses, (void *)statement))
		return false;
	ckfp_look_for_failing(innerPlan(join), &failing);
	return !failing.may_fail;
}
