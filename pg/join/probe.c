/*
 * probe.c - which scans ask which filters, when a query starts.
 */
#include "probe.h"
#include "condition.h"
#include "nestloop.h"
#include "remote.h"
#include "verify.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

/* ------------------------------------------------------------------ installing */

/* A scan of the plan and a filter that it asks. */
typedef struct ckfp_assignment
{
	int node;
	ckfp_build *build;
	const ckfp_join_target *target;
	int number; /* of the target */
} ckfp_assignment;

typedef struct ckfp_assignments
{
	size_t n;
	ckfp_assignment *list; /* sorted by node, then by the order in which the filters are asked */
	ckfp_family *family;   /* the partitions of the query; NULL until they are needed */
	AppendState *append;   /* the node above the current one, if it is an Append */
} ckfp_assignments;

static int
ckfp_compare_assignments(const void *a, const void *b)
{
	const ckfp_assignment *one = a;
	const ckfp_assignment *other = b;
	double difference = one->build->record.pass - other->build->record.pass;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return (difference > 0) - (difference < 0); /* the filter that passes fewest rows comes first */
}

static ckfp_assignments
ckfp_collect_assignments(ckfp_build *builds)
{
	ckfp_assignments assignments = {0};
	ckfp_build *build;
	ListCell *cell;

	for (build = builds; build != NULL; build = build->next)
		assignments.n += list_length(build->record.targets);
	assignments.list = palloc(Max(assignments.n, 1) * sizeof(ckfp_assignment));
	assignments.n = 0;
	for (build = builds; build != NULL; build = build->next)
	{
		int number = 0;

		foreach (cell, build->record.targets)
		{
			const ckfp_join_target *target = lfirst(cell);

			assignments.list[assignments.n++] =
				(ckfp_assignment){target->node, build, target, number++};
		}
	}
	qsort(assignments.list, assignments.n, sizeof(ckfp_assignment), ckfp_compare_assignments);
	return assignments;
}

/* The first assignment of a node; *n is the number of its assignments. */
static const ckfp_assignment *
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
ckfp_probe_partition(ckfp_probe *probe, ckfp_assignments *assignments,
					 const ckfp_assignment *assignment, int n)
{
	PlanState *scan = probe->scan;
	int i;

	for (i = 0; i < n; i++)
	{
		ckfp_build *build = assignment[i].build;

		if (!assignment[i].target->partition)
			continue;
		if (assignments->family == NULL)
			assignments->family = ckfp_family_of(scan->state);
		if (!ckfp_partitions_add_scan(&build->partitions, &build->record, assignment[i].number,
									  assignments->family, ((ScanState *)scan)->ss_currentRelation,
									  scan->state->es_query_cxt))
			continue;
		ckfp_skip_add(&probe->skip, scan, assignments->append, n, build, assignment[i].number);
		build->allocates |= !build->partitions.by_value;
	}
}

static void
ckfp_probe_scan(PlanState *scan, ckfp_assignments *assignments, const ckfp_assignment *assignment,
				int n)
{
	MemoryContext caller = MemoryContextSwitchTo(scan->state->es_query_cxt);
	ckfp_probe *probe = ckfp_condition_make(scan, n);
	int i;

	for (i = 0; i < n; i++)
	{
		probe->ask[i].build = assignment[i].build;
		probe->ask[i].target = assignment[i].number;
		probe->ask[i].served = ckfp_remote_asks(assignment[i].target);
		memcpy(probe->ask[i].attribute, assignment[i].target->attribute,
			   sizeof(probe->ask[i].attribute));
		ckfp_sleep_add(&assignment[i].build->sleepers, &probe->ask[i].sleep);
		assignment[i].build->probes = lappend(assignment[i].build->probes, probe);
		assignment[i].build->disabled = false;
	}
	MemoryContextSwitchTo(caller);
	ckfp_probe_partition(probe, assignments, assignment, n);
}

/* The build node of a hash join, or NULL. */
static ckfp_build *
ckfp_build_of_join(PlanState *join)
{
	PlanState *hash = innerPlanState(join);
	PlanState *child = IsA(hash, HashState) ? outerPlanState(hash) : NULL;

	return child != NULL && ckfp_join_is_build(child->plan) ? (ckfp_build *)child : NULL;
}

static bool
ckfp_probe_walk(PlanState *state, void *context)
{
	ckfp_assignments *assignments = context;
	AppendState *append = assignments->append;
	const ckfp_assignment *assignment;
	int n;

	if (IsA(state, HashJoinState))
	{
		ckfp_build *build = ckfp_build_of_join(state);

		if (build != NULL)
			build->join = (HashJoinState *)state;
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
		ckfp_probe_scan(state, assignments, assignment, n);
	assignments->append = IsA(state, AppendState) ? (AppendState *)state : NULL;
	planstate_tree_walker(state, ckfp_probe_walk, context);
	assignments->append = append;
	return false;
}

/* Start the filter of a hash join, when its scans and its join are known. */
static void
ckfp_probe_start(ckfp_build *build)
{
	List *keys = ((CustomScan *)build->css.ss.ps.plan)->custom_exprs;

	if (build->join == NULL)
		build->disabled = true;
	if (!build->disabled && ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
		ckfp_verify_install(build, &build->join->js.ps, &build->join->hashclauses,
							list_copy_tail(keys, build->record.columns));
	ckfp_build_start(build);
	ckfp_skip_arm(build);
}

void
ckfp_probe_install(QueryDesc *query, ckfp_build *builds)
{
	ckfp_assignments assignments = ckfp_collect_assignments(builds);
	ckfp_build *build;

	ckfp_probe_walk(query->planstate, &assignments);
	for (build = builds; build != NULL; build = build->next)
		if (build->nest != NULL)
			ckfp_nest_install(build->nest);
		else
			ckfp_probe_start(build);
	pfree(assignments.list);
}
