/*
 * probe.c - scans that ask filters.
 *
 * A scan evaluates its condition, an ExprState, for each row. We replace it by one that evaluates
 * the original condition and then asks the filters. Other executor states of the same plan, such as
 * those of EvalPlanQual, keep their conditions.
 */
#include "probe.h"
#include "ask.h"
#include "nestloop.h"
#include "remote.h"
#include "shared.h"
#include "skip.h"
#include "verify.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"

/* The condition of a scan, with all filters that it asks. */
typedef struct ckfp_probe
{
	ckfp_skip skip; /* first: see skip.h */
	ExprState state;
	PlanState *scan;
	ExprState *condition; /* the original condition, or NULL */
	int asks;
	ckfp_ask ask[FLEXIBLE_ARRAY_MEMBER];
} ckfp_probe;

/* ------------------------------------------------------------------- asking */

/* Does the server ask the filter? If the first row of a foreign scan was fetched before the
 * filter was ready, the server did not receive it. Then this process asks for the rest of the
 * query. */
static inline bool
ckfp_server_asked(ckfp_ask *ask)
{
	if (ask->served && !ask->build->sent)
		ask->served = false;
	return ask->served;
}

/* Restore the original condition if all filters are disabled. */
static void
ckfp_probe_retire(ckfp_probe *probe)
{
	int i;

	for (i = 0; i < probe->asks; i++)
		if (!probe->ask[i].build->disabled)
			return;
	if (probe->skip.filters > 0)
		return; /* it is found by the condition */
	probe->scan->qual = probe->condition;
}

/* Do all filters sleep? Counts the row. */
static inline bool
ckfp_probe_sleeps(ckfp_probe *probe)
{
	int i;

	for (i = 0; i < probe->asks; i++)
		if (probe->ask[i].sleep.asleep == 0)
			return false;
	for (i = 0; i < probe->asks; i++)
		probe->ask[i].sleep.asleep--;
	return true;
}

/* Does a row pass all filters? */
static pg_noinline bool
ckfp_probe_ask(ckfp_probe *probe, ExprContext *econtext)
{
	int i;

	for (i = 0; i < probe->asks; i++)
	{
		ckfp_ask *ask = &probe->ask[i];

		if (ckfp_sleep_passes(&ask->sleep))
			continue;
		if (unlikely(!ask->build->asking) && ckfp_shared_is_common(ask->build) &&
			!ask->build->disabled)
			ckfp_shared_attach(ask->build);
		if (unlikely(ask->build->disabled))
			ckfp_probe_retire(probe);
		else if (!ckfp_server_asked(ask) && ask->build->asking &&
				 !ckfp_ask_row(ask, econtext->ecxt_scantuple))
		{
			/* EXPLAIN shows these rows at the build node */
			InstrCountFiltered1(probe->scan, -1);
			return false;
		}
	}
	return true;
}

/* The condition comes first, since it may drop most rows. It is called directly: the current
 * memory context is the per-tuple one already. */
static Datum
ckfp_probe_row(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_probe *probe = state->evalfunc_private;
	ExprState *condition = probe->condition;

	*isnull = false;
	if (condition != NULL && !DatumGetBool(condition->evalfunc(condition, econtext, isnull)))
		return BoolGetDatum(false);
	return BoolGetDatum(ckfp_probe_sleeps(probe) || ckfp_probe_ask(probe, econtext));
}

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

#if PG_VERSION_NUM >= 180000

/* From PostgreSQL 19 on, the start of a scan has flags, which SeqNext sets. */
static TableScanDesc
ckfp_begin_scan(ScanState *scan)
{
	const EState *estate = scan->ps.state;
#if PG_VERSION_NUM >= 190000
	uint32 flags = SO_NONE;

	if (ScanRelIsReadOnly(scan))
		flags |= SO_HINT_REL_READ_ONLY;
	if (estate->es_instrument & INSTRUMENT_IO)
		flags |= SO_SCAN_INSTRUMENT;
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL, flags);
#else
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL);
#endif
}

static TupleTableSlot *
ckfp_next_row(ScanState *scan)
{
	const EState *estate = scan->ps.state;

	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = ckfp_begin_scan(scan);
	return table_scan_getnextslot(scan->ss_currentScanDesc, estate->es_direction,
								  scan->ss_ScanTupleSlot)
			   ? scan->ss_ScanTupleSlot
			   : NULL;
}

static bool
ckfp_recheck_row(ScanState *scan, TupleTableSlot *slot)
{
	return true;
}

/* A sequential scan that evaluates its condition. */
static TupleTableSlot *
ckfp_exec_scan(PlanState *scan)
{
	return ExecScan((ScanState *)scan, ckfp_next_row, ckfp_recheck_row);
}

#endif

/* Make a sequential scan evaluate its condition. From PostgreSQL 18 on, a scan that starts
 * without a condition does not. */
static void
ckfp_make_scan_evaluate(PlanState *scan)
{
#if PG_VERSION_NUM >= 180000
	if (IsA(scan, SeqScanState) && scan->qual == NULL)
		ExecSetExecProcNode(scan, ckfp_exec_scan);
#endif
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
	MemoryContext context = scan->state->es_query_cxt;
	ckfp_probe *probe =
		MemoryContextAllocZero(context, offsetof(ckfp_probe, ask) + n * sizeof(ckfp_ask));
	int i;

	NodeSetTag(&probe->state, T_ExprState);
	probe->state.flags = EEO_FLAG_IS_QUAL;
	probe->state.evalfunc = ckfp_probe_row;
	probe->state.evalfunc_private = probe;
	probe->scan = scan;
	probe->condition = scan->qual;
	probe->asks = n;
	for (i = 0; i < n; i++)
	{
		probe->ask[i].build = assignment[i].build;
		probe->ask[i].target = assignment[i].number;
		probe->ask[i].served = ckfp_remote_asks(assignment[i].target);
		memcpy(probe->ask[i].attribute, assignment[i].target->attribute,
			   sizeof(probe->ask[i].attribute));
		ckfp_sleep_add(&assignment[i].build->sleepers, &probe->ask[i].sleep);
		assignment[i].build->disabled = false;
	}
	ckfp_make_scan_evaluate(scan);
	scan->qual = &probe->state;
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
	if (n > 0 && (state->qual == NULL || state->qual->evalfunc != ckfp_probe_row))
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
