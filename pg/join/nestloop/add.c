/*
 * add.c - which nested loops may have a filter, and its plan nodes.
 *
 * A nested loop looks up each outer row in a table, the dimension, by an index. Its filter has the
 * keys of the rows of the dimension that meet the conditions of that index scan. The plan node of
 * the filter is above the outer side of the loop; it has a sequential scan of the dimension of its
 * own, which it runs when a filter pays (price.c). The filter of an INNER or SEMI loop drops outer
 * rows; that of a LEFT or ANTI loop answers their lookups (answer.c).
 */
#include "join/nestloop/nestloop.h"

#include "access/relation.h"
#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* ---------------------------------------------------------------- row security */

/* Can a table have rows that the user must not know of? The number of keys would tell. Partitions
 * are read under the policies of their parents. */
static bool
ckfp_nest_hides_rows(ckfp_tables *tables, Index relation)
{
	const AppendRelInfo *child = ckfp_parent_of(tables, relation);

	return tables->has_barrier ||
		   ckfp_has_policies(rt_fetch(relation, tables->statement->rtable)->relid) ||
		   (child != NULL && ckfp_nest_hides_rows(tables, child->parent_relid));
}

/* --------------------------------------------------------------- the plan nodes */

/* Estimates for EXPLAIN. Nothing else uses them. */
static void
ckfp_nest_estimate_scan(const ckfp_rules *rules, Index relation, Plan *scan)
{
	Oid table = rt_fetch(relation, rules->statement.plan->rtable)->relid;
	FormData_pg_class class;

	if (!ckfp_read_class(table, &class))
		return;
	scan->plan_rows = Max(class.reltuples, 1);
	scan->plan_width = 8;
	scan->total_cost = seq_page_cost * class.relpages + cpu_tuple_cost * scan->plan_rows;
}

/* A scan of the table that returns the keys of the rows that meet the conditions. */
static Plan *
ckfp_nest_make_scan(const ckfp_rules *rules, const ckfp_nest_inner *inner, int node)
{
	Scan *scan = (Scan *)makeNode(SeqScan);
	Plan *plan = &scan->plan;

	scan->scanrelid = inner->relation;
	plan->plan_node_id = node;
	plan->parallel_safe = true;
	plan->qual = inner->own;
	plan->targetlist = inner->keys;
	plan->extParam = ckfp_nest_params_of((Node *)plan->qual);
	plan->allParam = bms_copy(plan->extParam);
	ckfp_nest_estimate_scan(rules, inner->relation, plan);
	return plan;
}

/* Find the scans that can use the filter, if they cover all outer rows and return each row as soon
 * as it is read. Otherwise the node of the filter tests each row that it returns. */
static void
ckfp_nest_trace(ckfp_rules *rules, NestLoop *join, ckfp_join_record *record)
{
	ckfp_trace trace = {
		.rules = rules, .record = record, .loops = 1, .streaming = true, .ordered = true};

	if (record->skips_lookups || ckfp_rules_is_volatile(rules, outerPlan(join)))
		return;
	ckfp_trace_columns(&trace, outerPlan(join), record->attribute, ckfp_cost_of_join(&join->join));
	if (trace.missed)
		record->targets = NIL;
	/* by the rows of one process, as each one reads the dimension */
	ckfp_index_plan(&rules->tables, 1, record);
}

/* Does a plan return one row at most: that of a key of a unique index, and rows joined to it so?
 * One with parameters may be read again, with another row. */
static bool
ckfp_nest_is_one_row(const Plan *plan)
{
	const IndexScan *scan = (const IndexScan *)plan;
	const OpExpr *condition;
	Relation index;
	bool one;

	if (IsA(plan, Sort) || IsA(plan, Material))
		return ckfp_nest_is_one_row(outerPlan(plan));
	if ((IsA(plan, NestLoop) || IsA(plan, HashJoin) || IsA(plan, MergeJoin)) &&
		ckfp_outer_side_may_lose_rows(((const Join *)plan)->jointype))
		return ((const Join *)plan)->inner_unique && ckfp_nest_is_one_row(outerPlan(plan));
	if (!IsA(plan, IndexScan) || !bms_is_empty(plan->extParam) ||
		list_length(scan->indexqual) != 1 || !IsA(linitial(scan->indexqual), OpExpr))
		return false;
	condition = linitial(scan->indexqual);
	index = try_relation_open(scan->indexid, AccessShareLock); /* EXECUTE locks none */
	if (index == NULL)
		return false; /* an extension invented it for EXPLAIN */
	one = index->rd_index->indisunique && index->rd_index->indnkeyatts == 1 &&
		  get_op_opfamily_strategy(condition->opno, index->rd_opfamily[0]) == BTEqualStrategyNumber;
	relation_close(index, NoLock);
	return one;
}

/* NULL, or the reason why a nested loop can have no filter. */
static const char *
ckfp_nest_refuse(ckfp_rules *rules, const NestLoop *join, ckfp_nest_inner *inner)
{
	const char *reason;

	if (ckfp_join_mode_setting == CKFP_JOIN_AUTO && ckfp_nest_is_one_row(outerPlan(join)))
		return "the outer side has one row at most";
	reason = ckfp_nest_read_inner(rules, join, inner);
	if (reason != NULL)
		return reason;
	if (join->join.joinqual != NIL)
		return "a condition of the join is tested after the lookup";
	if (ckfp_nest_hides_rows(&rules->tables, inner->relation))
		return "row security or a security barrier may hide rows";
	return ckfp_rules_is_volatile(rules, innerPlan(join))
			   ? "the loop's inner side has a volatile function"
			   : NULL;
}

const char *
ckfp_nest_reason(ckfp_rules *rules, const NestLoop *join)
{
	ckfp_nest_inner inner;
	Plan *scan;
	const char *reason = ckfp_nest_refuse(rules, join, &inner);
	List *conditions = list_concat_copy(ckfp_nest_lookup(join, &scan), join->join.joinqual);
	const char *unhashable = reason != NULL ? ckfp_rules_unhashable(conditions, false) : NULL;

	return unhashable != NULL ? unhashable : reason;
}

CustomScan *
ckfp_nest_add(ckfp_rules *rules, NestLoop *join, int *last_node)
{
	ckfp_nest_inner inner;
	ckfp_join_record *record = &inner.record;
	CustomScan *holder;
	Plan *scan;

	if (ckfp_nest_refuse(rules, join, &inner) != NULL)
		return NULL;
	record->stops = bms_is_member(join->join.plan.plan_node_id, rules->stops);
	record->skips_lookups = join->join.jointype == JOIN_LEFT || join->join.jointype == JOIN_ANTI;
	record->probe_rows = Max(outerPlan(join)->plan_rows, 1);
	record->pass = Min(join->join.plan.plan_rows / record->probe_rows, 1);
	ckfp_nest_trace(rules, join, record);
	scan = ckfp_nest_make_scan(rules, &inner, ++*last_node);
	holder = ckfp_join_make_node(outerPlan(join), ++*last_node);
	holder->custom_plans = list_make1(scan);
	holder->custom_exprs = inner.outer_keys;
	holder->custom_private = ckfp_record_to_list(record);
	holder->methods = &ckfp_nest_methods;
	outerPlan(join) = &holder->scan.plan;
	return holder;
}
