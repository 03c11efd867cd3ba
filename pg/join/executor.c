/*
 * executor.c - the executor's hook: which scans use which filters, when a query starts.
 */
#include "join/hooks.h"
#include "join/nestloop/nestloop.h"
#include "join/remote/remote.h"
#include "join/show/show.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/execdesc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

/* ------------------------------------------------------- which scans use which filters */

/* A scan of the plan and a filter that it uses. */
typedef struct ckfp_assignment
{
	int node;
	ckfp_owner *owner;
	const ckfp_join_target *target;
	int number;  /* of the target */
	double rank; /* the filters of a scan are used in the order of their ranks */
} ckfp_assignment;

typedef struct ckfp_assignments
{
	size_t n;
	ckfp_assignment *list;         /* sorted by node, then by rank */
	ckfp_descendants *descendants; /* the partitions of the query; NULL until they are needed */
	AppendState *append;           /* the node above the current one, if it is an Append */
} ckfp_assignments;

static int
ckfp_compare_assignments(const void *a, const void *b)
{
	const ckfp_assignment *one = a;
	const ckfp_assignment *other = b;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

static ckfp_assignments
ckfp_collect_assignments(ckfp_owner *owners)
{
	ckfp_assignments assignments = {0};

	for (ckfp_owner *owner = owners; owner != NULL; owner = owner->next)
		assignments.n += list_length(owner->record.targets);
	assignments.list = palloc(Max(assignments.n, 1) * sizeof(ckfp_assignment));
	assignments.n = 0;
	for (ckfp_owner *owner = owners; owner != NULL; owner = owner->next)
	{
		int number = 0;

		foreach_ptr (const ckfp_join_target, target, owner->record.targets)
			assignments.list[assignments.n++] =
				(ckfp_assignment){target->node, owner, target, number++, 0};
	}
	qsort(assignments.list, assignments.n, sizeof(ckfp_assignment), ckfp_compare_assignments);
	return assignments;
}

/* The first assignment of a node; *n is the number of its assignments. */
static ckfp_assignment *
ckfp_assignments_of(const ckfp_assignments *assignments, int node, int *n)
{
	size_t low = 0;
	size_t high = assignments->n;

	while (low < high)
	{
		size_t middle = (low + high) / 2;

		if (assignments->list[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	*n = 0;
	while (low + *n < assignments->n && assignments->list[low + *n].node == node)
		++*n;
	return &assignments->list[low];
}

/* Let the filters of a scan of a partition skip it. */
static void
ckfp_tests_partition(ckfp_tests *tests, ckfp_assignments *assignments,
					 const ckfp_assignment *assignment, int n)
{
	PlanState *scan = tests->scan;

	for (int i = 0; i < n; i++)
	{
		ckfp_owner *owner = assignment[i].owner;

		if (!assignment[i].target->partition)
			continue;
		if (assignments->descendants == NULL)
			assignments->descendants = ckfp_descendants_of(scan->state);
		if (!ckfp_partitions_add_scan(
				&owner->partitions, &owner->record, assignment[i].number, assignments->descendants,
				((ScanState *)scan)->ss_currentRelation, scan->state->es_query_cxt))
			continue;
		ckfp_skip_add(tests, assignments->append, &tests->test[i]);
		owner->allocates |= !owner->partitions.by_value;
	}
}

/* Order the filters of a scan. */
static void
ckfp_rank_assignments(const Plan *scan, ckfp_assignment *assignment, int n)
{
	for (int i = 0; i < n; i++)
		assignment[i].rank =
			ckfp_cost_of_drop(&assignment[i].owner->record, scan, assignment[i].target->attribute);
	qsort(assignment, n, sizeof(ckfp_assignment), ckfp_compare_assignments);
}

/* Let a filter gather its keys for ranges of the column that they are a function of. */
static void
ckfp_map_install(ckfp_owner *owner)
{
	const CustomScan *plan = (const CustomScan *)owner->css.ss.ps.plan;
	EState *estate = owner->css.ss.ps.state;

	if (owner->ranges.columns > 0)
		return;
	ckfp_key_ranges_init(&owner->ranges, estate->es_query_cxt, &owner->record,
						 plan->scan.plan.plan_node_id);
	ckfp_key_ranges_map_to(&owner->ranges, &owner->record, llast(plan->custom_exprs), estate);
	owner->allocates |= !owner->ranges.by_value;
	owner->verify |= ckfp_join_mode_setting == CKFP_JOIN_VERIFY;
}

static void
ckfp_tests_scan(PlanState *scan, ckfp_assignments *assignments, ckfp_assignment *assignment, int n)
{
	MemoryContext caller = MemoryContextSwitchTo(scan->state->es_query_cxt);
	ckfp_tests *tests = ckfp_condition_make(scan, n);

	if (n > 1)
		ckfp_rank_assignments(scan->plan, assignment, n);
	for (int i = 0; i < n; i++)
	{
		if (assignment[i].owner->record.mapped)
			ckfp_map_install(assignment[i].owner);
		tests->test[i].target = assignment[i].number;
		tests->test[i].remote = ckfp_remote_uses(assignment[i].target);
		ckfp_test_init(&tests->test[i], assignment[i].owner, assignment[i].target->attribute);
		ckfp_suspension_add(&assignment[i].owner->suspensions, &tests->test[i].suspension);
		assignment[i].owner->tests = lappend(assignment[i].owner->tests, tests);
		if (!assignment[i].owner->record.only_ranges)
			ckfp_owner_enter(assignment[i].owner, CKFP_FILTER_NEW);
		ckfp_blocks_install(tests, assignment[i].owner, assignment[i].number);
	}
	for (int i = 0; i < n; i++)
		tests->test[i].blocks = tests->blocks;
	MemoryContextSwitchTo(caller);
	ckfp_tests_partition(tests, assignments, assignment, n);
}

/* The build node of a hash join, or NULL. */
static ckfp_owner *
ckfp_build_of_join(PlanState *join)
{
	PlanState *hash = innerPlanState(join);
	PlanState *child = IsA(hash, HashState) ? outerPlanState(hash) : NULL;

	return child != NULL && ckfp_join_is_build(child->plan) ? (ckfp_owner *)child : NULL;
}

static bool
ckfp_tests_walk(PlanState *state, void *context)
{
	ckfp_assignments *assignments = context;
	AppendState *append = assignments->append;
	ckfp_assignment *assignment;
	int n;

	if (IsA(state, HashJoinState))
	{
		ckfp_owner *owner = ckfp_build_of_join(state);

		if (owner != NULL)
			owner->join = (HashJoinState *)state;
	}
	else if (IsA(state, NestLoopState) && ckfp_join_is_nest(outerPlanState(state)->plan))
		((ckfp_nest *)outerPlanState(state))->loop = (NestLoopState *)state;
	/* A planner hook that runs after ours may have added a node above. We do not know which rows
	 * it needs, so joins and scans below it get no filter. */
	if (IsA(state, CustomScanState) && !ckfp_join_is_ours(state->plan))
		return false;
	assignment = ckfp_assignments_of(assignments, state->plan->plan_node_id, &n);
	/* a plan that several expressions share is visited several times */
	if (n > 0 && !ckfp_condition_is_set(state))
		ckfp_tests_scan(state, assignments, assignment, n);
	assignments->append = IsA(state, AppendState) ? (AppendState *)state : NULL;
	planstate_tree_walker(state, ckfp_tests_walk, context);
	assignments->append = append;
	return false;
}

/* Start the filter of a hash join, when its scans and its join are known. */
static void
ckfp_tests_start(ckfp_owner *owner)
{
	List *keys = ((CustomScan *)owner->css.ss.ps.plan)->custom_exprs;

	if (owner->join == NULL)
	{
		ckfp_owner_enter(owner, CKFP_FILTER_OFF);
		owner->ranges.state = CKFP_RANGES_OFF;
	}
	if (!ckfp_owner_is_off(owner) && ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
		ckfp_verify_install(owner, &owner->join->js.ps, &owner->join->hashclauses,
							list_copy_tail(keys, owner->record.columns));
	ckfp_build_restart(owner);
}

static void
ckfp_tests_install(QueryDesc *query, ckfp_owner *owners)
{
	ckfp_assignments assignments = ckfp_collect_assignments(owners);

	ckfp_tests_walk(query->planstate, &assignments);
	for (ckfp_owner *owner = owners; owner != NULL; owner = owner->next)
		if (owner->nest != NULL)
			ckfp_nest_install(owner->nest);
		else
			ckfp_tests_start(owner);
	pfree(assignments.list);
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

/* Start a query, and list the owners of its filters in `owners`, if that is not NULL. */
static void
ckfp_start_collecting(QueryDesc *query, int eflags, ckfp_owner **owners)
{
	ckfp_owner **outer = ckfp_join_starting; /* starting a query can start other queries */

	ckfp_join_starting = owners;
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
ckfp_count_filters(void *owners)
{
	for (const ckfp_owner *owner = owners; owner != NULL; owner = owner->next)
	{
		ckfp_join_counts counts = ckfp_owner_all_counts(owner);

		ckfp_stats_count(CKFP_STAT_PLANNED, !owner->record.only_ranges || owner->record.mapped);
		ckfp_stats_count(CKFP_STAT_BUILT,
						 counts.memory > 0 ||
							 (owner->record.mapped &&
							  counts.tested + counts.skipped + counts.blocks_skipped > 0));
		ckfp_stats_count(CKFP_STAT_NESTED_LOOPS, owner->nest != NULL && counts.memory > 0);
		ckfp_stats_count(CKFP_STAT_GIVEN_UP, counts.given_up != CKFP_GIVEN_UP_NOT);
		ckfp_stats_count(CKFP_STAT_SUSPENDED, counts.untested > 0);
		ckfp_stats_count(CKFP_STAT_ROWS_TESTED, counts.tested);
		if (owner->verify) /* in this mode no row is dropped */
			continue;
		ckfp_stats_count(owner->record.answers ? CKFP_STAT_LOOKUPS_SKIPPED : CKFP_STAT_ROWS_REMOVED,
						 counts.removed);
		ckfp_stats_count(CKFP_STAT_PARTITIONS_SKIPPED, counts.skipped);
		ckfp_stats_count(CKFP_STAT_BLOCKS_SKIPPED, counts.blocks_skipped);
	}
}

/* Count it when the memory of the query is freed: at its end, or after an error. */
static void
ckfp_count_at_end(const QueryDesc *query, ckfp_owner *owners)
{
	MemoryContext context = query->estate->es_query_cxt;
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(*callback));

	callback->func = ckfp_count_filters;
	callback->arg = owners;
	MemoryContextRegisterResetCallback(context, callback);
	ckfp_stats_start();
}

/* ------------------------------------------------------------------------ hook */

/* Start a query that may have filters. */
static pg_noinline void
ckfp_start_query(QueryDesc *query, int eflags)
{
	ckfp_owner *owners = NULL;
	/* A worker follows its leader, whatever its own setting is. An error can be caught below the
	 * start of the query around, which still collects its own. */
	bool off = ckfp_join_mode_setting == CKFP_JOIN_OFF && !IsParallelWorker();

	/* This plan was cached in another transaction, and reads all blocks now. The next one is made
	 * for this isolation level. */
	if (IsolationIsSerializable() && ckfp_plan_has_mark(query->plannedstmt, CKFP_MARK_LOOP))
		ckfp_forget_plans(CKFP_MARK_LOOP);
	ckfp_start_collecting(query, eflags, off ? NULL : &owners);
	if (owners != NULL && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		if (!IsParallelWorker())
			ckfp_count_at_end(query, owners);
		ckfp_tests_install(query, owners);
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
