/*
 * nestloop_plan.c - which nested loops may have a filter, and its plan nodes.
 *
 * A nested loop looks up each outer row in a table, the dimension, by an index. Its filter has the
 * keys of the rows of the dimension that meet the conditions of that index scan. The plan node of
 * the filter is above the outer side of the loop; it has a sequential scan of the dimension of its
 * own, which it runs when a filter pays (nestloop_price.c).
 */
#include "nestloop_plan.h"
#include "cost.h"
#include "nestloop_keys.h"
#include "nestloop_node.h"
#include "trace.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"

/* --------------------------------------------------------------- early stops */

typedef struct ckfp_nest_walk
{
	bool stops;
	Bitmapset *loops;
} ckfp_nest_walk;

/* May a node stop before its children have returned all rows, if its own reader may (`stops`)?
 * `inner`: of its inner side. */
static bool
ckfp_stops_early(const Plan *plan, bool inner, bool stops)
{
	switch (nodeTag(plan))
	{
		case T_Limit:
		case T_MergeJoin:
			return true;
		case T_Sort:
		case T_Hash:
			return false;
		case T_Agg:
			return stops && ((const Agg *)plan)->aggstrategy == AGG_SORTED;
		case T_NestLoop:
		{
			const Join *join = (const Join *)plan;

			return stops || (inner && (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI ||
									   join->inner_unique));
		}
		default:
			return stops;
	}
}

static void
ckfp_note_stops(Plan *plan, void *context)
{
	ckfp_nest_walk *walk = context;
	bool stops = walk->stops;

	if (IsA(plan, NestLoop) && stops)
		walk->loops = bms_add_member(walk->loops, plan->plan_node_id);
	walk->stops = ckfp_stops_early(plan, false, stops);
	if (IsA(plan, NestLoop))
	{
		ckfp_note_stops(outerPlan(plan), context);
		walk->stops = ckfp_stops_early(plan, true, stops);
		ckfp_note_stops(innerPlan(plan), context);
	}
	else
		ckfp_plan_children(plan, ckfp_note_stops, context);
	walk->stops = stops;
}

Bitmapset *
ckfp_nest_stops(Plan *plan, bool stops, Bitmapset *loops)
{
	ckfp_nest_walk walk = {.stops = stops, .loops = loops};

	ckfp_note_stops(plan, &walk);
	return walk.loops;
}

/* ---------------------------------------------------------------- row security */

/* Has a table row security? */
static bool
ckfp_has_policies(Oid relation)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool has_policies = true;

	if (HeapTupleIsValid(tuple))
	{
		has_policies = ((Form_pg_class)GETSTRUCT(tuple))->relrowsecurity;
		ReleaseSysCache(tuple);
	}
	return has_policies;
}

/* Can a table have rows that the user must not know of? The number of keys would tell. Partitions
 * are read under the policies of their parents. */
static bool
ckfp_nest_hides_rows(const ckfp_rules *rules, Index relation)
{
	const PlannedStmt *statement = rules->statement.plan;
	ListCell *cell;

	if (rules->has_barrier || ckfp_has_policies(rt_fetch(relation, statement->rtable)->relid))
		return true;
	foreach (cell, statement->appendRelations)
	{
		AppendRelInfo *child = lfirst(cell);
		RangeTblEntry *parent = rt_fetch(child->parent_relid, statement->rtable);

		if (child->child_relid == relation && parent->rtekind == RTE_RELATION)
			return ckfp_nest_hides_rows(rules, child->parent_relid);
	}
	return false;
}

/* --------------------------------------------------------------- the plan nodes */

/* Estimates for EXPLAIN. Nothing else uses them. */
static void
ckfp_nest_estimate_scan(const ckfp_rules *rules, Index relation, Plan *scan)
{
	Oid table = rt_fetch(relation, rules->statement.plan->rtable)->relid;
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Form_pg_class class;

	if (!HeapTupleIsValid(tuple))
		return;
	class = (Form_pg_class)GETSTRUCT(tuple);
	scan->plan_rows = Max(class->reltuples, 1);
	scan->plan_width = 8;
	scan->total_cost = seq_page_cost * class->relpages + cpu_tuple_cost * scan->plan_rows;
	ReleaseSysCache(tuple);
}

/* A scan of the table that returns the keys of the rows that meet the conditions. */
static Plan *
ckfp_nest_make_scan(const ckfp_rules *rules, const ckfp_nest_inner *inner, int node)
{
	Scan *scan = (Scan *)makeNode(SeqScan);
	Plan *plan = &scan->plan;
	int i;

	scan->scanrelid = inner->relation;
	plan->plan_node_id = node;
	plan->parallel_safe = true;
	plan->qual = inner->own;
	for (i = 0; i < inner->keys; i++)
		plan->targetlist =
			lappend(plan->targetlist, makeTargetEntry(copyObject((Expr *)inner->build[i]),
													  (AttrNumber)(i + 1), NULL, false));
	plan->extParam = ckfp_nest_params_of((Node *)plan->qual);
	plan->allParam = bms_copy(plan->extParam);
	ckfp_nest_estimate_scan(rules, inner->relation, plan);
	return plan;
}

/* Find the scans that can ask the filter, if they cover all outer rows and return each row as soon
 * as it is read. Otherwise the node of the filter asks for each row that it returns. */
static void
ckfp_nest_trace(const ckfp_rules *rules, NestLoop *join, double processes, ckfp_nest_record *nest)
{
	ckfp_trace trace = {.statement = rules->statement.plan,
						.processes = processes,
						.has_barrier = rules->has_barrier,
						.record = &nest->record,
						.loops = 1,
						.streaming = true};

	if (ckfp_plan_is_volatile(outerPlan(join), &rules->statement))
		return;
	ckfp_trace_columns(&trace, outerPlan(join), nest->attribute, ckfp_cost_of_join(&join->join));
	if (trace.missed)
		nest->record.targets = NIL;
}

static void
ckfp_nest_make_record(const NestLoop *join, const ckfp_nest_inner *inner, bool stops,
					  ckfp_nest_record *nest)
{
	double outer_rows = Max(outerPlan(join)->plan_rows, 1);
	int i;

	memset(nest, 0, sizeof(*nest));
	nest->stops = stops;
	nest->record.columns = inner->keys;
	nest->record.pass = Min(join->join.plan.plan_rows / outer_rows, 1);
	nest->record.probe_rows = outer_rows;
	for (i = 0; i < inner->keys; i++)
	{
		nest->record.column[i] = inner->key[i];
		nest->attribute[i] = inner->probe[i]->varattno;
	}
}

static List *
ckfp_nest_key_expressions(const ckfp_nest_inner *inner)
{
	List *keys = NIL;
	int i;

	for (i = 0; i < inner->keys; i++)
		keys = lappend(keys, copyObject(inner->probe[i]));
	return keys;
}

CustomScan *
ckfp_nest_add(const ckfp_rules *rules, NestLoop *join, double processes, bool stops, int *last_node)
{
	ckfp_nest_inner inner;
	ckfp_nest_record nest;
	CustomScan *holder;
	Plan *scan;

	if ((join->join.jointype != JOIN_INNER && join->join.jointype != JOIN_SEMI) ||
		join->join.joinqual != NIL || !ckfp_nest_read_inner(rules, join, &inner) ||
		ckfp_nest_hides_rows(rules, inner.relation) ||
		ckfp_plan_is_volatile(innerPlan(join), &rules->statement))
		return NULL;
	ckfp_nest_make_record(join, &inner, stops, &nest);
	ckfp_nest_trace(rules, join, processes, &nest);
	scan = ckfp_nest_make_scan(rules, &inner, ++*last_node);
	holder = ckfp_join_make_node(outerPlan(join), ++*last_node);
	holder->custom_plans = list_make1(scan);
	holder->custom_exprs = ckfp_nest_key_expressions(&inner);
	holder->custom_private = ckfp_nest_record_to_list(&nest);
	holder->methods = &ckfp_nest_methods;
	/* so that it starts anew if a parameter of the scan changes */
	holder->scan.plan.extParam = bms_add_members(holder->scan.plan.extParam, scan->extParam);
	holder->scan.plan.allParam = bms_add_members(holder->scan.plan.allParam, scan->allParam);
	outerPlan(join) = &holder->scan.plan;
	return holder;
}
