/*
 * planner.c - the planner hook: adds filters to the joins of a finished plan. For EXPLAIN, the same
 * pass finds the reasons why joins have none.
 */
#include "join/hooks.h"
#include "join/nestloop/nestloop.h"
#include "join/remote/remote.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"

static planner_hook_type ckfp_next_planner = NULL;

typedef struct ckfp_planning
{
	ckfp_rules rules;
	int last_node; /* the highest plan_node_id */
	bool joins;    /* there is a hash join or a merge join */
	bool loops;    /* there is a nested loop */
	bool done;     /* there is a filter already: another hook returned the same plan again */
	bool row_security;
	bool fast;         /* the reader of the whole plan may stop early */
	bool rewound;      /* the whole plan may be read again */
	bool gathered;     /* the current part of the plan is below a Gather */
	bool stops;        /* the reader of that part may stop before it has read all of its rows */
	Bitmapset *exists; /* the InitPlans of which only the first row is read, by plan_id */
	/* only for EXPLAIN: */
	ckfp_reason_visitor visit; /* else NULL: filters are added */
	void *context;             /* that of `visit` */
	List *above;               /* the nodes above the current one, the nearest first */
} ckfp_planning;

/* Collect what the rules must know about the whole statement. */
static void
ckfp_survey(Plan *plan, void *context)
{
	ckfp_planning *planning = context;

	planning->last_node = Max(planning->last_node, plan->plan_node_id);
	planning->joins |= IsA(plan, HashJoin) || IsA(plan, MergeJoin);
	planning->loops |= IsA(plan, NestLoop);
	planning->done |= ckfp_join_is_ours(plan);
	foreach_ptr (const SubPlan, initplan, plan->initPlan)
		if (initplan->subLinkType == EXISTS_SUBLINK)
			planning->exists = bms_add_member(planning->exists, initplan->plan_id);
	ckfp_rules_note(&planning->rules, plan);
	ckfp_plan_children(plan, ckfp_survey, context);
}

/* Add a filter to a hash join, if the rules allow one; `mapped` as there. True if its key is a
 * function of a column. */
static bool
ckfp_add_filter(ckfp_planning *planning, HashJoin *join, bool mapped)
{
	Plan *hash = innerPlan(join);
	ckfp_join_record record = {.mapped = false};
	const char *reason;
	CustomScan *build;
	List *expressions = ckfp_rules_allow(&planning->rules, join, mapped, &record, &reason);

	if (expressions == NIL)
		return record.mapped;
	/* not with a security barrier or row security: the server would use the filter before their
	 * conditions, which are not sent to it */
	if (!planning->rules.tables.has_barrier && !planning->row_security && !record.no_filter)
		ckfp_remote_plan(planning->rules.statement.plan, &record);
	ckfp_order_plan(&planning->rules, join, &record);
	ckfp_unorder_scans(&record, &planning->last_node);
	build = ckfp_join_make_node(outerPlan(hash), ++planning->last_node);
	build->custom_exprs = expressions;
	build->custom_private = ckfp_record_to_list(&record);
	build->methods = &ckfp_build_methods;
	/* so that it gets shared memory */
	build->scan.plan.parallel_aware = planning->gathered || hash->parallel_aware;
	outerPlan(hash) = &build->scan.plan;
	return record.mapped;
}

/* Add the filters of a hash join. If it has a plain key and one that is a function of a column, as
 * in e.at::date = c.day AND e.store = c.store, each has a filter of its own. */
static void
ckfp_add_hash_filters(ckfp_planning *planning, HashJoin *join)
{
	if (!ckfp_add_filter(planning, join, false) && list_length(join->hashkeys) > 1)
		(void)ckfp_add_filter(planning, join, true);
}

/* Add a filter to a nested loop, if the rules allow one. */
static void
ckfp_add_nested_filter(ckfp_planning *planning, NestLoop *join)
{
	CustomScan *holder = ckfp_nest_add(&planning->rules, join, &planning->last_node);

	if (holder != NULL)
		holder->scan.plan.parallel_aware = planning->gathered; /* for shared memory */
}

/* The number of processes that share the work below a Gather, as the planner estimates it. */
static double
ckfp_processes(int workers)
{
	double leader = parallel_leader_participation ? 1 - 0.3 * workers : 0;

	return Max(workers + Max(leader, 0), 1);
}

/* --------------------------------------------------------------------- the reasons */

/* Is a join a nested loop without a condition? */
static bool
ckfp_join_is_product(const Join *join)
{
	return IsA(join, NestLoop) && join->joinqual == NIL && ((NestLoop *)join)->nestParams == NIL;
}

static bool
ckfp_join_has_filter(Join *join)
{
	return (IsA(join, HashJoin) && ckfp_join_is_ours(outerPlan(innerPlan(join)))) ||
		   (IsA(join, NestLoop) && ckfp_join_is_ours(outerPlan(join)));
}

/* NULL, or the reason why a join without a filter can have none. */
static const char *
ckfp_reason_of(ckfp_planning *planning, Join *join)
{
	ckfp_join_record record;
	const char *reason;

	if (!ckfp_rules_allow_statement(planning->rules.statement.plan))
		return "the statement locks rows, or changes them other than by INSERT";
	if (IsA(join, NestLoop))
		return ckfp_nest_reason(&planning->rules, (NestLoop *)join);
	if (IsA(join, MergeJoin))
	{
		reason = ckfp_rules_unhashable(
			list_concat_copy(((MergeJoin *)join)->mergeclauses, join->joinqual), true);
		return reason != NULL ? reason : "merge joins have none";
	}
	(void)ckfp_rules_allow(&planning->rules, (HashJoin *)join, false, &record, &reason);
	return reason;
}

static void
ckfp_explain_join(ckfp_planning *planning, Join *join)
{
	const char *reason;

	if (ckfp_join_is_product(join) || ckfp_join_has_filter(join))
		return;
	reason = ckfp_reason_of(planning, join);
	planning->visit(
		join, planning->above, reason != NULL ? reason : "the plan was made with other settings",
		reason != NULL && IsA(join, HashJoin) ? planning->rules.unmapped : NULL, planning->context);
}

/* ---------------------------------------------------------------------- the plan */

/* Does a join read only the first match of each outer row? */
static bool
ckfp_stops_at_match(const Join *join)
{
	return join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI || join->inner_unique;
}

/* The share of the rows of its children that a node reads, as the planner expects it, if its own
 * reader reads this share of its rows. */
static double
ckfp_share_of_children(const Plan *plan, double share)
{
	if (IsA(plan, Limit))
		return share * Min(plan->plan_rows / Max(outerPlan(plan)->plan_rows, 1), 1);
	return ckfp_stops_early(plan, true) ? share : 1;
}

static void ckfp_add_filters(Plan *plan, void *context);

/* Add filters below a plan node. A nested loop reads its inner side again for each outer row, a
 * recursive query its own for each round. */
static void
ckfp_add_filters_below(Plan *plan, ckfp_planning *planning)
{
	bool again = planning->rules.again;

	if (IsA(plan, NestLoop) || IsA(plan, RecursiveUnion))
	{
		ckfp_add_filters(outerPlan(plan), planning);
		planning->rules.again = true;
		planning->rules.share = 1;
		planning->stops |= IsA(plan, NestLoop) && ckfp_stops_at_match((Join *)plan);
		ckfp_add_filters(innerPlan(plan), planning);
		planning->rules.again = again;
	}
	else
		ckfp_plan_children(plan, ckfp_add_filters, planning);
}

/* Add filters to all joins of a plan. Joins below are handled first: a filter can be used in
 * the build side of another join. */
static void
ckfp_add_filters(Plan *plan, void *context)
{
	ckfp_planning *planning = context;
	double processes = planning->rules.processes;
	double share = planning->rules.share;
	bool gathered = planning->gathered;
	bool stops = planning->stops;

	/* Leave alone the children of other extensions' nodes, and the local plan that a foreign
	 * scan keeps for EvalPlanQual. */
	if (IsA(plan, ForeignScan) || (IsA(plan, CustomScan) && !ckfp_join_is_ours(plan)))
		return;
	if (IsA(plan, Gather))
		planning->rules.processes = ckfp_processes(((Gather *)plan)->num_workers);
	else if (IsA(plan, GatherMerge))
		planning->rules.processes = ckfp_processes(((GatherMerge *)plan)->num_workers);
	if (planning->visit != NULL)
		planning->above = lcons(plan, planning->above);
	if (stops && (IsA(plan, NestLoop) || (ckfp_node_of(plan)->kind == CKFP_NODE_SCAN)))
		planning->rules.stops = bms_add_member(planning->rules.stops, plan->plan_node_id);
	planning->gathered |= IsA(plan, Gather) || IsA(plan, GatherMerge);
	planning->stops = ckfp_stops_early(plan, stops);
	planning->rules.share = ckfp_share_of_children(plan, share);
	ckfp_add_filters_below(plan, planning);
	planning->rules.share = share;
	planning->stops = stops;
	planning->gathered = gathered;
	planning->rules.processes = processes;
	if (planning->visit != NULL)
		planning->above = list_delete_first(planning->above);
	if (planning->visit != NULL &&
		(IsA(plan, HashJoin) || IsA(plan, MergeJoin) || IsA(plan, NestLoop)))
		ckfp_explain_join(planning, (Join *)plan);
	else if (IsA(plan, HashJoin))
		ckfp_add_hash_filters(planning, (HashJoin *)plan);
	else if (IsA(plan, NestLoop))
		ckfp_add_nested_filter(planning, (NestLoop *)plan);
}

static void
ckfp_each_plan(PlannedStmt *statement, ckfp_plan_visitor visit, ckfp_planning *planning)
{
	int plan_id = 1;
	ListCell *cell;

	planning->rules.processes = 1;
	planning->rules.share = 1;
	planning->rules.again = planning->rewound;
	planning->stops = planning->fast;
	visit(statement->planTree, planning);
	planning->stops = true; /* the expressions that refer to a subplan may stop it */
	foreach (cell, statement->subplans)
	{
		Plan *subplan = lfirst(cell);

		planning->rules.again = !bms_is_member(plan_id, planning->rules.once);
		planning->rules.share = bms_is_member(plan_id, planning->exists) && subplan != NULL
									? 1 / Max(subplan->plan_rows, 1)
									: 1;
		if (subplan != NULL)
			visit(subplan, planning);
		plan_id++;
	}
}

/* Does row security apply to a table of the query? */
static bool
ckfp_has_row_security(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return ((Query *)node)->hasRowSecurity ||
			   query_tree_walker((Query *)node, ckfp_has_row_security, context, 0);
	return expression_tree_walker(node, ckfp_has_row_security, context);
}

/* Collect what the rules must know. False if there is nothing to do. */
static bool
ckfp_planning_begin(ckfp_planning *planning, PlannedStmt *statement, int options)
{
	planning->rules.statement.plan = statement;
	planning->rules.tables.statement = statement;
	planning->fast = (options & CURSOR_OPT_FAST_PLAN) != 0;
#if PG_VERSION_NUM < 150000
	/* FETCH and MOVE rewind also cursors without SCROLL, whose plan may be any. That of a SCROLL
	 * cursor keeps the rows of its joins. */
	planning->rewound = planning->fast;
#endif
	ckfp_each_plan(statement, ckfp_survey, planning);
	if (!planning->joins && !planning->loops)
		return false;
	ckfp_rules_conclude(&planning->rules);
	return true;
}

static void
ckfp_join_pass(PlannedStmt *statement, bool row_security, int options)
{
	/* dependsOnRole: row security in an inlined function */
	ckfp_planning planning = {.row_security = row_security || statement->dependsOnRole};

	if (ckfp_rules_allow_statement(statement) &&
		ckfp_planning_begin(&planning, statement, options) && !planning.done)
		ckfp_each_plan(statement, ckfp_add_filters, &planning);
}

void
ckfp_reasons_find(PlannedStmt *statement, int options, ckfp_reason_visitor visit, void *context)
{
	ckfp_planning planning = {.visit = visit, .context = context};

	if (ckfp_join_mode_setting != CKFP_JOIN_OFF && ckfp_join_is_possible(statement) &&
		ckfp_planning_begin(&planning, statement, options))
		ckfp_each_plan(statement, ckfp_add_filters, &planning);
}

/* From PostgreSQL 19 on, the planner also gets the state of EXPLAIN, or NULL. We pass it on. */
#if PG_VERSION_NUM >= 190000
#define CKFP_PLANNER_EXPLAIN_PARAMETER , ExplainState *explain
#define CKFP_PLANNER_EXPLAIN_ARGUMENT , explain
#else
#define CKFP_PLANNER_EXPLAIN_PARAMETER
#define CKFP_PLANNER_EXPLAIN_ARGUMENT
#endif

static PlannedStmt *
ckfp_call_planner(Query *query, const char *text, int options,
				  ParamListInfo parameters CKFP_PLANNER_EXPLAIN_PARAMETER)
{
	planner_hook_type planner = ckfp_next_planner != NULL ? ckfp_next_planner : standard_planner;

	return planner(query, text, options, parameters CKFP_PLANNER_EXPLAIN_ARGUMENT);
}

/* Let the plan be made again when filters are switched on or off, if it is cached. A plan that
 * costs less than reading the fewest rows for which there are filters is the same with them, so
 * that a cheap function with a setting of its own is not planned in each call. */
static void
ckfp_mark_joins(PlannedStmt *statement)
{
	if (ckfp_join_is_possible(statement) &&
		statement->planTree->total_cost >= ckfp_join_min_rows * cpu_tuple_cost)
		ckfp_mark_plan(statement, CKFP_MARK_JOIN);
}

/* Plan a query, and add filters. */
static pg_noinline PlannedStmt *
ckfp_plan_query(Query *query, const char *text, int options,
				ParamListInfo parameters CKFP_PLANNER_EXPLAIN_PARAMETER)
{
	/* before planning, which changes the query */
	bool row_security = ckfp_join_remote && ckfp_has_row_security((Node *)query, NULL);
	PlannedStmt *statement;
	bool took_place = ckfp_join_took_place; /* planning a query can plan other queries */

	ckfp_join_need_paths();
	ckfp_join_took_place = false;
	statement = ckfp_call_planner(query, text, options, parameters CKFP_PLANNER_EXPLAIN_ARGUMENT);
	if (ckfp_join_took_place)
		ckfp_mark_plan(statement, CKFP_MARK_LOOP);
	ckfp_join_took_place = took_place;
	ckfp_mark_joins(statement);
	if (ckfp_join_is_possible(statement))
		ckfp_join_pass(statement, row_security, options);
	return statement;
}

/* With `off`, a statement pays for a function call: the rest is a function of its own, which saves
 * registers. */
static PlannedStmt *
ckfp_join_planner(Query *query, const char *text, int options,
				  ParamListInfo parameters CKFP_PLANNER_EXPLAIN_PARAMETER)
{
	PlannedStmt *statement;

	if (ckfp_join_mode_setting != CKFP_JOIN_OFF)
		return ckfp_plan_query(query, text, options, parameters CKFP_PLANNER_EXPLAIN_ARGUMENT);
	statement = ckfp_call_planner(query, text, options, parameters CKFP_PLANNER_EXPLAIN_ARGUMENT);
	ckfp_mark_joins(statement);
	return statement;
}

void
ckfp_join_init_planner(void)
{
	ckfp_next_planner = planner_hook;
	planner_hook = ckfp_join_planner;
}
