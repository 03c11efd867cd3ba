/*
 * inner.c - the keys and conditions of the inner side of a nested loop.
 *
 * The inner side is the scan of an index, whose conditions are in two places: those of the index,
 * and those that are tested on the rows that it finds. A key is a column that one of them compares
 * with a column of the outer side. A condition that is left out lets more keys into the filter, so
 * more rows pass; never fewer.
 */
#include "join/nestloop/nestloop.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/lsyscache.h"

/* ---------------------------------------------------------------- the inner side */

/* Conditions on the columns of an index, as conditions on those of the table. */
static Node *
ckfp_to_table_columns(Node *node, void *columns)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *)node)->varno == INDEX_VAR)
	{
		TargetEntry *entry = list_nth(columns, ((Var *)node)->varattno - 1);

		return copyObject((Node *)entry->expr);
	}
	return expression_tree_mutator(node, ckfp_to_table_columns, columns);
}

/* The table and the conditions of the inner side. False if it is not the scan of an index. */
static bool
ckfp_nest_describe_inner(Plan *plan, ckfp_nest_inner *inner)
{
	const ckfp_node *node;

	memset(inner, 0, sizeof(*inner));
	if (IsA(plan, Memoize))
		plan = outerPlan(plan);
	node = ckfp_node_of(plan);
	if (node->lookup == 0)
		return false;
	inner->conditions = list_concat_copy(ckfp_node_field(plan, node->lookup), plan->qual);
	if (node->listed != 0)
		inner->conditions = (List *)ckfp_to_table_columns((Node *)inner->conditions,
														  ckfp_node_field(plan, node->listed));
	inner->scan = plan;
	inner->relation = ((Scan *)plan)->scanrelid;
	return true;
}

/* ----------------------------------------------------------------------- keys */

/* The column of the outer side that a parameter of the loop is, or NULL. */
static Var *
ckfp_nest_outer_column(const NestLoop *join, Expr *expression)
{
	const Param *param = (const Param *)ckfp_without_relabeling(expression);

	if (!IsA(param, Param) || param->paramkind != PARAM_EXEC)
		return NULL;
	foreach_ptr (NestLoopParam, set, join->nestParams)
		if (set->paramno == param->paramid && ckfp_column_of((Expr *)set->paramval, OUTER_VAR) != 0)
			return set->paramval;
	return NULL;
}

/* Can the values of a type be hashed by functions that never fail? Those of arrays, records and
 * ranges call the functions of other types. */
static bool
ckfp_nest_type_is_simple(Oid type)
{
	return type != RECORDOID && (!IsPolymorphicType(type) || type == ANYENUMOID);
}

/* Do the hash functions agree with the equality? The hash function of name ignores the collation,
 * but the equality of a name and a text depends on it. */
static bool
ckfp_nest_hash_agrees(Oid left, Oid right, Oid collation)
{
	return (left != NAMEOID && right != NAMEOID) || !OidIsValid(collation) ||
		   get_collation_isdeterministic(collation);
}

/* Describe a key: `equality` has the outer side on the left. False if it cannot be hashed. */
static bool
ckfp_nest_describe_key(Oid equality, Oid collation, Expr *outer, Expr *inner, ckfp_join_column *key)
{
	Oid left;
	Oid right;
	Oid functions[2];

	/* The loop itself computes no hashes, so hashing must not fail: no operators of users. */
	if (!OidIsValid(equality) || equality >= FirstNormalObjectId || !op_strict(equality))
		return false;
	op_input_types(equality, &left, &right);
	if (!ckfp_nest_type_is_simple(left) || !ckfp_nest_type_is_simple(right) ||
		!op_hashjoinable(equality, exprType((Node *)outer)) ||
		!ckfp_nest_hash_agrees(left, right, collation) ||
		!get_op_hash_functions(equality, &functions[0], &functions[1]))
		return false;
	/* The operator sees values as its own types. An index scan does not tell: its conditions lack
	 * the relabeling. */
	*key = (ckfp_join_column){
		.equality = equality,
		.collation = collation,
		.build = IsPolymorphicType(right) ? exprType((Node *)inner) : right,
		.probe = IsPolymorphicType(left) ? exprType((Node *)outer) : left,
	};
	return true;
}

/* If a condition compares a column of the table with one of the outer side, add a key. The
 * arguments show which side is which: an operator may be its own commutator. */
static bool
ckfp_nest_add_key(const NestLoop *join, ckfp_nest_inner *inner, Node *condition)
{
	OpExpr *comparison = (OpExpr *)condition;
	ckfp_join_record *record = &inner->record;
	Expr *arguments[2];
	int outer; /* the argument of the outer side */
	Expr *key;
	Var *outer_key;

	if (!IsA(condition, OpExpr) || list_length(comparison->args) != 2)
		return false;
	arguments[0] = linitial(comparison->args);
	arguments[1] = lsecond(comparison->args);
	outer = ckfp_nest_outer_column(join, arguments[0]) != NULL ? 0 : 1;
	outer_key = ckfp_nest_outer_column(join, arguments[outer]);
	if (outer_key == NULL || ckfp_column_of(arguments[1 - outer], (int)inner->relation) == 0)
		return false;
	if (record->columns == CKFP_JOIN_KEYS)
		return true; /* one that is left out */
	if (!ckfp_nest_describe_key(outer == 0 ? comparison->opno : get_commutator(comparison->opno),
								comparison->inputcollid, arguments[outer], arguments[1 - outer],
								&record->column[record->columns]))
		return false;
	key = copyObject(ckfp_without_relabeling(arguments[1 - outer]));
	record->attribute[record->columns++] = outer_key->varattno;
	inner->keys =
		lappend(inner->keys, makeTargetEntry(key, (AttrNumber)record->columns, NULL, false));
	inner->outer_keys = lappend(inner->outer_keys, copyObject(outer_key));
	return true;
}

/* ----------------------------------------------------------------- conditions */

/* Add the parameters of an expression that the executor sets to a Bitmapset. */
static bool
ckfp_nest_find_params(Node *node, void *context)
{
	Bitmapset **params = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *)node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *)node)->paramid);
	return expression_tree_walker(node, ckfp_nest_find_params, context);
}

Bitmapset *
ckfp_nest_params_of(Node *expression)
{
	Bitmapset *params = NULL;

	ckfp_nest_find_params(expression, &params);
	return params;
}

/* The parameters that a nested loop sets for each outer row. */
static Bitmapset *
ckfp_nest_loop_params(const NestLoop *join)
{
	Bitmapset *params = NULL;

	foreach_ptr (NestLoopParam, param, join->nestParams)
		params = bms_add_member(params, param->paramno);
	return params;
}

/* Sort the conditions into keys and others. Returns NULL, or the reason why there can be no filter.
 * A filter cannot have a condition on both sides that is no key, and would pass rows that have no
 * match by that condition. */
static const char *
ckfp_nest_sort_conditions(const ckfp_rules *rules, const NestLoop *join, ckfp_nest_inner *inner)
{
	Bitmapset *loop_params = ckfp_nest_loop_params(join);
	bool left_out = false;

	foreach_ptr (Node, condition, inner->conditions)
	{
		Bitmapset *params;

		if (ckfp_nest_add_key(join, inner, condition))
			continue;
		params = ckfp_nest_params_of(condition);
		if (bms_overlap(params, loop_params))
			return "a condition on both sides is not an equality of plain columns";
		if (!bms_is_subset(params, rules->harmless) || contain_subplans(condition) ||
			ckfp_expression_may_fail(condition, NULL) ||
			ckfp_expression_is_volatile(condition, &rules->statement))
			left_out = true;
		else
			inner->own = lappend(inner->own, copyObject(condition));
	}
	if (inner->record.columns == 0)
		return "the loop's inner side is not looked up by a column of its outer side";
	return inner->own == NIL && left_out ? "a scan of the inner side cannot test its conditions"
										 : NULL;
}

const char *
ckfp_nest_read_inner(const ckfp_rules *rules, const NestLoop *join, ckfp_nest_inner *inner)
{
	if (!ckfp_nest_describe_inner(innerPlan(join), inner))
		return ckfp_node_of(innerPlan(join))->kind == CKFP_NODE_LIST
				   ? "the loop's inner side reads several tables"
				   : "the loop's inner side is not the scan of an index";
	return ckfp_nest_sort_conditions(rules, join, inner);
}

List *
ckfp_nest_lookup(const NestLoop *join, Plan **scan)
{
	Bitmapset *loop_params = ckfp_nest_loop_params(join);
	ckfp_nest_inner inner;
	List *conditions = NIL;

	if (!ckfp_nest_describe_inner(innerPlan(join), &inner))
		return NIL;
	*scan = inner.scan;
	foreach_ptr (Node, condition, inner.conditions)
		if (bms_overlap(ckfp_nest_params_of(condition), loop_params))
			conditions = lappend(conditions, condition);
	return conditions;
}
