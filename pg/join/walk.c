/*
 * walk.c - walks through plan trees, and finds volatile functions in them.
 */
#include "walk.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

static void
ckfp_visit_list(const List *plans, ckfp_plan_visitor visit, void *context)
{
	ListCell *cell;

	foreach (cell, plans)
		visit(lfirst(cell), context);
}

void
ckfp_plan_children(Plan *plan, ckfp_plan_visitor visit, void *context)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			ckfp_visit_list(((Append *)plan)->appendplans, visit, context);
			break;
		case T_MergeAppend:
			ckfp_visit_list(((MergeAppend *)plan)->mergeplans, visit, context);
			break;
		case T_BitmapAnd:
			ckfp_visit_list(((BitmapAnd *)plan)->bitmapplans, visit, context);
			break;
		case T_BitmapOr:
			ckfp_visit_list(((BitmapOr *)plan)->bitmapplans, visit, context);
			break;
		case T_SubqueryScan:
			visit(((SubqueryScan *)plan)->subplan, context);
			break;
		case T_CustomScan:
			ckfp_visit_list(((CustomScan *)plan)->custom_plans, visit, context);
			break;
#if PG_VERSION_NUM < 140000
		case T_ModifyTable:
			ckfp_visit_list(((ModifyTable *)plan)->plans, visit, context);
			break;
#endif
		default:
			break;
	}
	if (plan->lefttree != NULL)
		visit(plan->lefttree, context);
	if (plan->righttree != NULL)
		visit(plan->righttree, context);
}

/* ----------------------------------------------------------------- volatility */

typedef struct ckfp_volatility
{
	const ckfp_statement *statement;
	Bitmapset *searched; /* the subplans that were searched, by plan_id */
	bool found;
} ckfp_volatility;

static void ckfp_find_volatile(Plan *plan, void *context);

SubPlan *
ckfp_initplan_of(const ckfp_statement *statement, const Param *param)
{
	ListCell *cell;

	if (param->paramkind != PARAM_EXEC)
		return NULL;
	foreach (cell, statement->initplans)
		if (list_member_int(((SubPlan *)lfirst(cell))->setParam, param->paramid))
			return lfirst(cell);
	return NULL;
}

/* Search a subplan, once: several nodes may refer to it. */
static void
ckfp_search_subplan(ckfp_volatility *volatility, int plan_id)
{
	Plan *plan;

	if (bms_is_member(plan_id, volatility->searched))
		return;
	volatility->searched = bms_add_member(volatility->searched, plan_id);
	plan = list_nth(volatility->statement->plan->subplans, plan_id - 1);
	if (plan == NULL)
		volatility->found = true; /* unknown, so it may be volatile */
	else
		ckfp_find_volatile(plan, volatility);
}

static bool
ckfp_function_is_volatile(Oid function, void *context)
{
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

static bool
ckfp_find_volatile_expression(Node *node, void *context)
{
	ckfp_volatility *volatility = context;

	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr) || check_functions_in_node(node, ckfp_function_is_volatile, NULL))
		volatility->found = true;
	else if (IsA(node, SubPlan))
		ckfp_search_subplan(volatility, ((SubPlan *)node)->plan_id);
	else if (IsA(node, Param))
	{
		const SubPlan *initplan = ckfp_initplan_of(volatility->statement, (Param *)node);

		if (initplan != NULL)
			ckfp_search_subplan(volatility, initplan->plan_id);
	}
	return volatility->found ||
		   expression_tree_walker(node, ckfp_find_volatile_expression, context);
}

List *
ckfp_own_expressions(Plan *plan, bool *known)
{
	*known = true;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_SubqueryScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_Append:
		case T_MergeAppend:
		case T_RecursiveUnion:
		case T_Material:
		case T_Sort:
		case T_IncrementalSort:
		case T_Group:
		case T_Agg:
		case T_Unique:
		case T_Gather:
		case T_GatherMerge:
		case T_Hash:
		case T_SetOp:
		case T_ProjectSet:
			return NIL;
		case T_Result:
			return list_make1(((Result *)plan)->resconstantqual);
		case T_SampleScan:
			return list_make1(((SampleScan *)plan)->tablesample);
		case T_IndexScan:
			return list_make2(((IndexScan *)plan)->indexqual, ((IndexScan *)plan)->indexorderby);
		case T_IndexOnlyScan:
			return list_make2(((IndexOnlyScan *)plan)->indexqual,
							  ((IndexOnlyScan *)plan)->indexorderby);
		case T_BitmapIndexScan:
			return list_make1(((BitmapIndexScan *)plan)->indexqual);
		case T_BitmapHeapScan:
			return list_make1(((BitmapHeapScan *)plan)->bitmapqualorig);
		case T_TidScan:
			return list_make1(((TidScan *)plan)->tidquals);
#if PG_VERSION_NUM >= 140000
		case T_TidRangeScan:
			return list_make1(((TidRangeScan *)plan)->tidrangequals);
		case T_Memoize:
			return list_make1(((Memoize *)plan)->param_exprs);
#endif
		case T_FunctionScan:
			return list_make1(((FunctionScan *)plan)->functions);
		case T_ValuesScan:
			return list_make1(((ValuesScan *)plan)->values_lists);
		case T_TableFuncScan:
			return list_make1(((TableFuncScan *)plan)->tablefunc);
		case T_ForeignScan:
			return list_make1(((ForeignScan *)plan)->fdw_exprs);
		case T_NestLoop:
			return list_make1(((NestLoop *)plan)->join.joinqual);
		case T_MergeJoin:
			return list_make2(((MergeJoin *)plan)->join.joinqual,
							  ((MergeJoin *)plan)->mergeclauses);
		case T_HashJoin:
			return list_make2(((HashJoin *)plan)->join.joinqual, ((HashJoin *)plan)->hashclauses);
		case T_WindowAgg:
			return list_make2(((WindowAgg *)plan)->startOffset, ((WindowAgg *)plan)->endOffset);
		case T_Limit:
			return list_make2(((Limit *)plan)->limitOffset, ((Limit *)plan)->limitCount);
		case T_CustomScan: /* of any extension; it is trusted like a foreign scan */
			return list_make1(((CustomScan *)plan)->custom_exprs);
		default:
			*known = false;
			return NIL;
	}
}

static void
ckfp_find_volatile(Plan *plan, void *context)
{
	ckfp_volatility *volatility = context;
	bool known;
	List *own;

	if (volatility->found)
		return;
	own = ckfp_own_expressions(plan, &known);
	volatility->found = !known ||
						ckfp_find_volatile_expression((Node *)plan->targetlist, volatility) ||
						ckfp_find_volatile_expression((Node *)plan->qual, volatility) ||
						ckfp_find_volatile_expression((Node *)own, volatility) ||
						ckfp_find_volatile_expression((Node *)plan->initPlan, volatility);
	if (!volatility->found && IsA(plan, CteScan))
		ckfp_search_subplan(volatility, ((CteScan *)plan)->ctePlanId);
	if (!volatility->found)
		ckfp_plan_children(plan, ckfp_find_volatile, context);
}

bool
ckfp_plan_is_volatile(Plan *plan, const ckfp_statement *statement)
{
	ckfp_volatility volatility = {.statement = statement};

	ckfp_find_volatile(plan, &volatility);
	return volatility.found;
}

bool
ckfp_expression_is_volatile(Node *expression, const ckfp_statement *statement)
{
	ckfp_volatility volatility = {.statement = statement};

	return ckfp_find_volatile_expression(expression, &volatility);
}
