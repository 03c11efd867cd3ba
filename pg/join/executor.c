/*
 * executor.c - the executor's hook: which scans use which filters, when a query starts.
 */
#include "join/hooks.h"
#include "join/nestloop/nestloop.h"
#include "join/plan/plan.h"
#include "join/remote/remote.h"
#include "join/show/show.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/execdesc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

/* ------------------------------------------------------- which scans use which filters */

/* A filter that a scan of the plan uses. */
typedef struct ckfp_assignment
{
	ckfp_filter_node *filter_node;
	const ckfp_join_target *target;
	int number;  /* of the target */
	double rank; /* the filters of a scan are used in the order of their ranks */
} ckfp_assignment;

typedef struct ckfp_assignments
{
	int nodes;
	List **of_node;                /* of ckfp_assignment, by plan_node_id: below `nodes` */
	ckfp_descendants *descendants; /* the partitions of the query; NULL until they are needed */
	PlanState *parent;             /* the node above the current one; NULL: there is none */
	const ckfp_join_above *above;  /* the joins above the current one, up to a node that reads all
									* rows before it returns the first one */
} ckfp_assignments;

static ckfp_assignments
ckfp_collect_assignments(ckfp_filter_node *filter_nodes)
{
	ckfp_assignments assignments = {0};

	for (ckfp_filter_node *filter_node = filter_nodes; filter_node != NULL;
		 filter_node = filter_node->next)
		foreach_ptr (const ckfp_join_target, target, filter_node->record.targets)
			assignments.nodes = Max(assignments.nodes, target->node + 1);
	assignments.of_node = palloc0((assignments.nodes + 1) * sizeof(List *));
	for (ckfp_filter_node *filter_node = filter_nodes; filter_node != NULL;
		 filter_node = filter_node->next)
	{
		int number = 0;

		foreach_ptr (const ckfp_join_target, target, filter_node->record.targets)
		{
			ckfp_assignment *assignment = palloc(sizeof(*assignment));

			*assignment = (ckfp_assignment){filter_node, target, number++, 0};
			assignments.of_node[target->node] =
				lappend(assignments.of_node[target->node], assignment);
		}
	}
	return assignments;
}

static int
ckfp_compare_ranks(const ListCell *a, const ListCell *b)
{
	double one = ((const ckfp_assignment *)lfirst(a))->rank;
	double other = ((const ckfp_assignment *)lfirst(b))->rank;

	return (one > other) - (one < other);
}

/* Let a filter of the scan of a partition skip it. */
static void
ckfp_tests_partition(ckfp_scan_filters *tests, ckfp_scan_filter *test,
					 ckfp_assignments *assignments)
{
	PlanState *scan = tests->scan;
	ckfp_filter_node *filter_node = test->filter_node;

	if (assignments->descendants == NULL)
		assignments->descendants = ckfp_descendants_of(scan->state);
	if (!ckfp_partitions_add_scan(&filter_node->partitions, &filter_node->record, test->target,
								  assignments->descendants,
								  ((ScanState *)scan)->ss_currentRelation))
		return;
	ckfp_skip_add(tests, assignments->parent, test);
	filter_node->allocates |= !filter_node->partitions.by_value;
}

/* Let a filter gather its keys for ranges of the column that they are a function of. */
static void
ckfp_map_install(ckfp_filter_node *filter_node)
{
	const CustomScan *plan = (const CustomScan *)filter_node->css.ss.ps.plan;
	EState *estate = filter_node->css.ss.ps.state;

	if (filter_node->ranges.columns > 0)
		return;
	ckfp_key_ranges_init(&filter_node->ranges, &filter_node->record, plan->scan.plan.plan_node_id);
	ckfp_key_ranges_map_to(&filter_node->ranges, &filter_node->record, llast(plan->custom_exprs),
						   estate);
	filter_node->allocates |= !filter_node->ranges.by_value;
	filter_node->verify |= ckfp_join_mode_setting == CKFP_JOIN_VERIFY;
}

static void
ckfp_tests_scan(PlanState *scan, ckfp_assignments *assignments, List *filters)
{
	ckfp_scan_filters *tests = ckfp_condition_make(scan, list_length(filters));
	ckfp_scan_filter *test = tests->test;

	if (tests->n > 1)
		foreach_ptr (ckfp_assignment, filter, filters)
			filter->rank = ckfp_cost_of_drop(&filter->filter_node->record, scan->plan,
											 filter->target->attribute);
	list_sort(filters, ckfp_compare_ranks);
	foreach_ptr (const ckfp_assignment, filter, filters)
	{
		ckfp_filter_node *filter_node = filter->filter_node;

		if (filter_node->record.mapped)
			ckfp_map_install(filter_node);
		test->target = filter->number;
		test->remote = ckfp_remote_uses(filter->target);
		ckfp_test_init(test, filter_node, filter->target->attribute);
		test->above = assignments->above;
		test->owner = (PlanState *)(filter_node->nest != NULL ? (void *)filter_node
															  : (void *)filter_node->join);
		for (const ckfp_join_above *above = test->above;
			 above != NULL && above->join != test->owner; above = above->next)
			test->merged |= IsA(above->join, MergeJoinState);
		ckfp_suspension_add(&filter_node->suspensions, &test->suspension);
		filter_node->tests = lappend(filter_node->tests, tests);
		if (!filter_node->record.no_filter)
			ckfp_filter_node_enter(filter_node, CKFP_FILTER_NEW);
		ckfp_skip_blocks_install(tests, filter_node, filter->number);
		if (filter->target->partition)
			ckfp_tests_partition(tests, test, assignments);
		test++;
	}
	for (int i = 0; i < tests->n; i++)
		tests->test[i].blocks = tests->blocks;
}

/* Tell the build nodes of a hash join which one it is. */
static void
ckfp_tests_join(PlanState *join)
{
	PlanState *hash = innerPlanState(join);

	for (PlanState *child = IsA(hash, HashState) ? outerPlanState(hash) : NULL;
		 child != NULL && ckfp_join_is_build(child->plan); child = outerPlanState(child))
		((ckfp_filter_node *)child)->join = (HashJoinState *)join;
}

/* The joins that read the rows of a node on their outer sides, before any other row: those above
 * its parent, `above`, and the parent. A LEFT or ANTI join goes on if its inner side is empty. */
static const ckfp_join_above *
ckfp_joins_above(PlanState *parent, const ckfp_join_above *above, const PlanState *state)
{
	ckfp_join_above *join;

	if (parent == NULL || state == innerPlanState(parent) || !ckfp_stops_early(parent->plan, true))
		return NULL;
	if (!ckfp_join_is_nest(parent->plan) &&
		((!IsA(parent, HashJoinState) && !IsA(parent, MergeJoinState)) ||
		 ((JoinState *)parent)->jointype == JOIN_LEFT ||
		 ((JoinState *)parent)->jointype == JOIN_ANTI))
		return above;
	join = palloc(sizeof(*join));
	*join = (ckfp_join_above){parent, false, above};
	if (innerPlanState(parent) != NULL)
		join->again = !bms_is_empty(innerPlanState(parent)->plan->extParam);
	return join;
}

static bool
ckfp_tests_walk(PlanState *state, void *context)
{
	ckfp_assignments *assignments = context;
	PlanState *parent = assignments->parent;
	const ckfp_join_above *above = assignments->above;
	int node = state->plan->plan_node_id;

	if (IsA(state, HashJoinState))
		ckfp_tests_join(state);
	else if (IsA(state, NestLoopState) && ckfp_join_is_nest(outerPlanState(state)->plan))
		((ckfp_nest *)outerPlanState(state))->loop = (NestLoopState *)state;
	/* A planner hook that runs after ours may have added a node above. We do not know which rows
	 * it needs, so joins and scans below it get no filter. */
	if (IsA(state, CustomScanState) && !ckfp_join_is_ours(state->plan))
		return false;
	assignments->above = ckfp_joins_above(parent, above, state);
	/* a plan that several expressions share is visited several times */
	if (node < assignments->nodes && assignments->of_node[node] != NIL &&
		!ckfp_condition_is_set(state))
		ckfp_tests_scan(state, assignments, assignments->of_node[node]);
	assignments->parent = state;
	planstate_tree_walker(state, ckfp_tests_walk, context);
	assignments->parent = parent;
	assignments->above = above;
	return false;
}

/* Start the filter of a hash join, when its scans and its join are known. */
static void
ckfp_tests_start(ckfp_filter_node *filter_node)
{
	List *keys = ((CustomScan *)filter_node->css.ss.ps.plan)->custom_exprs;

	if (filter_node->join == NULL)
	{
		ckfp_filter_node_enter(filter_node, CKFP_FILTER_OFF);
		filter_node->ranges.state = CKFP_RANGES_OFF;
	}
	if ((!ckfp_filter_node_is_off(filter_node) || filter_node->ranges.state != CKFP_RANGES_OFF) &&
		ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
		ckfp_verify_install(filter_node, &filter_node->join->js.ps, &filter_node->join->hashclauses,
							list_copy_tail(keys, filter_node->record.columns));
	ckfp_build_restart(filter_node);
}

/* What is made here lives as long as the query. */
static void
ckfp_tests_install(QueryDesc *query, ckfp_filter_node *filter_nodes)
{
	MemoryContext caller = MemoryContextSwitchTo(query->estate->es_query_cxt);
	ckfp_assignments assignments = ckfp_collect_assignments(filter_nodes);

	ckfp_tests_walk(query->planstate, &assignments);
	for (ckfp_filter_node *filter_node = filter_nodes; filter_node != NULL;
		 filter_node = filter_node->next)
		if (filter_node->nest != NULL)
			ckfp_nest_install(filter_node->nest);
		else
			ckfp_tests_start(filter_node);
	MemoryContextSwitchTo(caller);
}

/* ------------------------------------------------------------------- starting */

static ExecutorStart_hook_type ckfp_next_start = NULL;

static void
ckfp_call_start(QueryDesc *query, int eflags)
{
	if (ckfp_next_start != NULL)
		ckfp_next_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

/* Start a query, and list the nodes of its filters in `filter_nodes`, if that is not NULL. */
static void
ckfp_start_collecting(QueryDesc *query, int eflags, ckfp_filter_node **filter_nodes)
{
	ckfp_filter_node **outer = ckfp_join_starting; /* starting a query can start other queries */

	ckfp_join_starting = filter_nodes;
	PG_TRY();
	{
		ckfp_call_start(query, eflags);
	}
	PG_FINALLY();
	{
		ckfp_join_starting = outer;
	}
	PG_END_TRY();
}

/* -------------------------------------------------------------------- counting */

/* Count what the filters of a query did. */
static void
ckfp_count_filters(void *filter_nodes)
{
	for (const ckfp_filter_node *filter_node = filter_nodes; filter_node != NULL;
		 filter_node = filter_node->next)
	{
		ckfp_join_counts counts = ckfp_filter_node_all_counts(filter_node);

		ckfp_stats_count(CKFP_STAT_PLANNED,
						 !filter_node->record.no_filter || filter_node->record.mapped);
		ckfp_stats_count(CKFP_STAT_BUILT,
						 counts.memory > 0 ||
							 (filter_node->record.mapped &&
							  counts.tested + counts.skipped + counts.blocks_skipped > 0));
		ckfp_stats_count(CKFP_STAT_NESTED_LOOPS, filter_node->nest != NULL && counts.memory > 0);
		ckfp_stats_count(CKFP_STAT_GIVEN_UP, counts.given_up != CKFP_GIVEN_UP_NOT);
		ckfp_stats_count(CKFP_STAT_SUSPENDED, counts.untested > 0);
		ckfp_stats_count(CKFP_STAT_ROWS_TESTED, counts.tested);
		if (filter_node->verify) /* in this mode no row is dropped */
			continue;
		ckfp_stats_count(filter_node->record.skips_lookups ? CKFP_STAT_LOOKUPS_SKIPPED
														   : CKFP_STAT_ROWS_REMOVED,
						 counts.removed);
		ckfp_stats_count(CKFP_STAT_PARTITIONS_SKIPPED, counts.skipped);
		ckfp_stats_count(CKFP_STAT_BLOCKS_SKIPPED, counts.blocks_skipped);
	}
}

/* Count it when the memory of the query is freed: at its end, or after an error. */
static void
ckfp_count_at_end(const QueryDesc *query, ckfp_filter_node *filter_nodes)
{
	MemoryContext context = query->estate->es_query_cxt;
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(*callback));

	callback->func = ckfp_count_filters;
	callback->arg = filter_nodes;
	MemoryContextRegisterResetCallback(context, callback);
	ckfp_stats_start();
}

/* ------------------------------------------------------------------------ hook */

/* Start a query that may have filters. */
static pg_noinline void
ckfp_start_query(QueryDesc *query, int eflags)
{
	ckfp_filter_node *filter_nodes = NULL;
	/* A worker does what its leader does, whatever its own setting is. A query that may have no
	 * filters can start while another query starts, which goes on to collect its own filters. */
	bool off = ckfp_join_mode_setting == CKFP_JOIN_OFF && !IsParallelWorker();

	/* This plan was cached in another transaction, and reads all blocks now. The next one is made
	 * for this isolation level. */
	if (IsolationIsSerializable() && ckfp_plan_has_mark(query->plannedstmt, CKFP_MARK_LOOP))
		ckfp_forget_plans(CKFP_MARK_LOOP);
	ckfp_start_collecting(query, eflags, off ? NULL : &filter_nodes);
	if (filter_nodes != NULL && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		if (!IsParallelWorker())
			ckfp_count_at_end(query, filter_nodes);
		ckfp_tests_install(query, filter_nodes);
	}
}

/* Each query comes here: one without a join pays for a function call. */
static void
ckfp_join_start(QueryDesc *query, int eflags)
{
	if (ckfp_join_is_possible(query->plannedstmt))
		ckfp_start_query(query, eflags);
	else
		ckfp_call_start(query, eflags);
}

void
ckfp_join_init_executor(void)
{
	ckfp_join_init_build();
	ckfp_join_init_nest();
	ckfp_next_start = ExecutorStart_hook;
	ExecutorStart_hook = ckfp_join_start;
}
