/*
 * effects.c - what reading a plan may do: call volatile functions, return other rows than before,
 * or fail.
 */
#include "join/plan/plan.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

typedef struct ckfp_volatility
{
	const ckfp_statement *statement;
	bool again;          /* searched for what may vary when the plan is read again */
	Bitmapset *searched; /* the subplans that were searched, by plan_id */
	bool found;
} ckfp_volatility;

static void ckfp_find_volatile(Plan *plan, void *context);

SubPlan *
ckfp_initplan_of(const ckfp_statement *statement, const Param *param)
{
	if (param->paramkind != PARAM_EXEC)
		return NULL;
	foreach_ptr (SubPlan, initplan, statement->initplans)
		if (list_member_int(initplan->setParam, param->paramid))
			return initplan;
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

/* Functions that are immutable in the catalog, but depend on a setting: abbreviations of time zones
 * on timezone_abbreviations, the last one on quote_all_identifiers. */
static const Oid ckfp_functions_of_settings[] = {
	F_TIMEZONE_TEXT_TIMESTAMP,
	F_TIMEZONE_TEXT_TIMESTAMPTZ,
	F_TIMEZONE_TEXT_TIMETZ,
	F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT,
#if PG_VERSION_NUM >= 160000
	F_DATE_ADD_TIMESTAMPTZ_INTERVAL_TEXT,
	F_DATE_SUBTRACT_TIMESTAMPTZ_INTERVAL_TEXT,
	F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL_TEXT,
#endif
	F_QUOTE_IDENT,
};

/* A stable function may give another result when it is called again: a setting may have changed. */
static bool
ckfp_function_is_volatile(Oid function, void *context)
{
	char kind = func_volatile(function);

	if (kind == PROVOLATILE_VOLATILE || !((ckfp_volatility *)context)->again)
		return kind == PROVOLATILE_VOLATILE;
	for (size_t i = 0; i < lengthof(ckfp_functions_of_settings); i++)
		if (function == ckfp_functions_of_settings[i])
			return true;
	return kind == PROVOLATILE_STABLE;
}

/* May such an expression give another result when a setting has changed? It is the role or the
 * schema, a cast by the text of a value, as of bytea and float8, XML or JSON. */
static bool
ckfp_depends_on_settings(const Node *node)
{
#if PG_VERSION_NUM >= 160000
	if (IsA(node, JsonConstructorExpr))
		return true;
#endif
#if PG_VERSION_NUM >= 170000
	if (IsA(node, JsonExpr))
		return true;
#endif
	return IsA(node, SQLValueFunction) || IsA(node, CoerceViaIO) || IsA(node, XmlExpr);
}

static bool
ckfp_find_volatile_expression(Node *node, void *context)
{
	ckfp_volatility *volatility = context;

	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr) || (volatility->again && ckfp_depends_on_settings(node)) ||
		check_functions_in_node(node, ckfp_function_is_volatile, context))
		volatility->found = true;
	else if (IsA(node, SubPlan))
		ckfp_search_subplan(volatility, ((SubPlan *)node)->plan_id);
	else if (IsA(node, Param) && !volatility->again)
	{
		const SubPlan *initplan = ckfp_initplan_of(volatility->statement, (Param *)node);

		if (initplan != NULL)
			ckfp_search_subplan(volatility, initplan->plan_id);
	}
	return volatility->found ||
		   expression_tree_walker(node, ckfp_find_volatile_expression, context);
}

static bool
ckfp_node_varies(const Plan *plan)
{
	return (ckfp_node_of(plan)->is & CKFP_NODE_VARIES) && !ckfp_join_is_ours(plan);
}

static void
ckfp_find_volatile(Plan *plan, void *context)
{
	ckfp_volatility *volatility = context;

	if (volatility->found)
		return;
	volatility->found =
		ckfp_node_of(plan)->kind == CKFP_NODE_UNKNOWN ||
		(volatility->again && ckfp_node_varies(plan)) ||
		ckfp_find_volatile_expression((Node *)plan->targetlist, volatility) ||
		ckfp_find_volatile_expression((Node *)plan->qual, volatility) ||
		ckfp_find_volatile_expression((Node *)ckfp_own_expressions(plan), volatility) ||
		(!volatility->again && ckfp_find_volatile_expression((Node *)plan->initPlan, volatility));
	if (!volatility->found && !volatility->again && IsA(plan, CteScan))
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
ckfp_plan_varies(Plan *plan, const ckfp_statement *statement)
{
	ckfp_volatility volatility = {.statement = statement, .again = true};

	ckfp_find_volatile(plan, &volatility);
	return volatility.found;
}

bool
ckfp_expression_is_volatile(Node *expression, const ckfp_statement *statement)
{
	ckfp_volatility volatility = {.statement = statement};

	return ckfp_find_volatile_expression(expression, &volatility);
}

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
