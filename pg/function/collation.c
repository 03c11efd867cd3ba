/*
 * collation.c - keeps the collations of items while the planner moves their expressions.
 *
 * The planner replaces a column of UNION by those of its branches, and their collations may be
 * others. Most expressions store the collation that the parser chose. A row does not: each of its
 * columns has the collation of the expression that is there when the query is executed. Neither
 * does a part of a pair (pair.c). So a column there gets a RelabelType, which keeps its collation.
 */
#include "function/call.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* An expression that is copied. */
typedef struct ckfp_copy
{
	const PlannerInfo *root;
	bool kept; /* a collation had to be kept */
} ckfp_copy;

/* Is an expression a column whose collation may change? Those of a table and of its children are
 * the same. A column of UNION may have none, and then those of the branches are the best there is.
 */
static bool
ckfp_is_variable(const Node *expression, const PlannerInfo *root)
{
	const Var *column = (const Var *)expression;

	if (!IsA(expression, Var) && !IsA(expression, PlaceHolderVar))
		return false;
	if (IsA(expression, Var) && column->varlevelsup == 0 && !IS_SPECIAL_VARNO(column->varno) &&
		rt_fetch(column->varno, root->parse->rtable)->rtekind == RTE_RELATION)
		return false;
	return OidIsValid(exprCollation(expression));
}

/* Wrap the expressions of a list that are such columns. */
static void
ckfp_wrap(List *expressions, ckfp_copy *copy)
{
	ListCell *cell;

	foreach (cell, expressions)
	{
		Expr *column = lfirst(cell);

		if (!ckfp_is_variable((Node *)column, copy->root))
			continue;
		lfirst(cell) = makeRelabelType(column, exprType((Node *)column), exprTypmod((Node *)column),
									   exprCollation((Node *)column), COERCE_IMPLICIT_CAST);
		copy->kept = true;
	}
}

/* Copy an expression, and wrap the columns in its rows. An expression of an outer join
 * (PlaceHolderVar) is the same in all of its places, so it stays as it is. */
static Node *
ckfp_copy_expression(Node *expression, void *copy)
{
	Node *result;

	if (expression == NULL || IsA(expression, PlaceHolderVar) ||
		IsA(expression, Const)) /* a filter, which may be large */
		return expression;
	result = expression_tree_mutator(expression, ckfp_copy_expression, copy);
	if (IsA(result, RowExpr) && ((RowExpr *)result)->row_typeid == RECORDOID)
		ckfp_wrap(((RowExpr *)result)->args, copy);
	return result;
}

/* Is a function of an expression written in SQL? */
static bool
ckfp_is_in_sql(Oid function, void *context)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool in_sql =
		HeapTupleIsValid(tuple) && ((Form_pg_proc)GETSTRUCT(tuple))->prolang == SQLlanguageId;

	(void)context;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return in_sql;
}

/* Has a function this support function? */
static bool
ckfp_is_ours(Oid function, void *support)
{
	return get_func_support(function) == *(Oid *)support;
}

/* Does an expression have a row, or could it when its functions are inlined? The arguments of our
 * own calls do not count: they change in each place of the expression alike. */
static bool
ckfp_may_have_row(Node *expression, void *support)
{
	if (expression == NULL || check_functions_in_node(expression, ckfp_is_ours, support))
		return false;
	if (IsA(expression, RowExpr) || check_functions_in_node(expression, ckfp_is_in_sql, NULL))
		return true;
	return expression_tree_walker(expression, ckfp_may_have_row, support);
}

/* Does the query group by rows? Above the groups the planner must find such an expression again,
 * so it stays as it is. */
static bool
ckfp_groups_by_rows(const PlannerInfo *root, Oid support)
{
	ListCell *cell;

	foreach (cell, root->parse->groupClause)
		if (ckfp_may_have_row(get_sortgroupclause_expr(lfirst(cell), root->parse->targetList),
							  &support))
			return true;
	return false;
}

Node *
ckfp_keep_collations(const SupportRequestSimplify *request)
{
	ckfp_copy copy = {request->root, false};
	FuncExpr *call;
	Oid *types;
	int count;

	if (request->root == NULL) /* an expression of one table */
		return NULL;
	call = (FuncExpr *)ckfp_copy_expression((Node *)request->fcall, &copy);
	if (copy.kept && ckfp_groups_by_rows(request->root, get_func_support(call->funcid)))
		return NULL;
	(void)get_func_signature(call->funcid, &types, &count);
	if (count == 3) /* a filter and the parts of a pair */
		ckfp_wrap(call->args, &copy);
	return copy.kept ? (Node *)call : NULL;
}
