/*
 * probe.c - scans that ask filters.
 *
 * A scan evaluates its condition, an ExprState, for each row.  Ours takes its
 * place: it evaluates the old one, and asks the filters of the rows that meet it.
 * Conditions of other executor states of the same plan, as EvalPlanQual makes
 * them, are not touched.
 */
#include "probe.h"
#include "remote.h"
#include "shared.h"
#include "verify.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

/* A scan asks a filter. */
typedef struct ckfp_ask
{
	ckfp_build *build;
	bool served; /* the scan's server asks the filter: its rows have passed */
	AttrNumber attribute[CKFP_JOIN_KEYS];
} ckfp_ask;

/* The condition of a scan with all filters that it asks. */
typedef struct ckfp_probe
{
	ExprState state;
	PlanState *scan;
	ExprState *condition; /* its own, or NULL */
	int asks;
	ckfp_ask ask[FLEXIBLE_ARRAY_MEMBER];
} ckfp_probe;

/* ------------------------------------------------------------------- asking */

/* May a row pass? */
static inline bool
ckfp_ask_row(const ckfp_ask *ask, TupleTableSlot *slot)
{
	ckfp_build *build = ask->build;
	uint64 hash = 0;
	bool passes = true;
	int i;

	for (i = 0; i < build->record.columns && passes; i++)
	{
		bool isnull;
		Datum value = slot_getattr(slot, ask->attribute[i], &isnull);

		if (isnull)
			passes = false; /* it joins none */
		else
			hash = ckfp_key_combine(hash, ckfp_key_hash(&build->probe_key[i], value));
	}
	if (passes && !ckf_contains(&build->filter.filter, hash))
	{
		passes = false;
		if (build->verify)
			ckfp_verify_denied(build, hash);
	}
	ckfp_build_count(build, passes);
	return passes || build->verify;
}

/* The first row of a foreign scan may come before the filter: then its server was not sent it, and
 * we ask, from now on. */
static inline bool
ckfp_server_asked(ckfp_ask *ask)
{
	if (ask->served && !ask->build->sent)
		ask->served = false;
	return ask->served;
}

/* Take the filters out where none is asked any more. */
static void
ckfp_probe_retire(ckfp_probe *probe)
{
	int i;

	for (i = 0; i < probe->asks; i++)
		if (!probe->ask[i].build->over)
			return;
	probe->scan->qual = probe->condition;
}

/* Ask the filters of a row. */
static pg_noinline Datum
ckfp_probe_ask(ckfp_probe *probe, ExprContext *econtext)
{
	int i;

	for (i = 0; i < probe->asks; i++)
	{
		ckfp_ask *ask = &probe->ask[i];

		if (unlikely(!ask->build->asking) && ckfp_shared_is_common(ask->build) && !ask->build->over)
			ckfp_shared_attach(ask->build);
		if (unlikely(ask->build->over))
			ckfp_probe_retire(probe);
		else if (!ckfp_server_asked(ask) && ask->build->asking &&
				 !ckfp_ask_row(ask, econtext->ecxt_scantuple))
		{
			/* EXPLAIN counts these with the build node */
			InstrCountFiltered1(probe->scan, -1);
			return BoolGetDatum(false);
		}
	}
	return BoolGetDatum(true);
}

/* Few rows may meet the condition: it comes first, by the shortest way.  The memory context is
 * the right one already. */
static Datum
ckfp_probe_row(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_probe *probe = state->evalfunc_private;
	ExprState *condition = probe->condition;

	*isnull = false;
	if (condition != NULL && !DatumGetBool(condition->evalfunc(condition, econtext, isnull)))
		return BoolGetDatum(false);
	return ckfp_probe_ask(probe, econtext);
}

/* ------------------------------------------------------------------ installing */

/* A scan of the plan shall ask a filter. */
typedef struct ckfp_wish
{
	int node;
	ckfp_build *build;
	const ckfp_join_target *target;
} ckfp_wish;

typedef struct ckfp_wishes
{
	size_t n;
	ckfp_wish *wish; /* by node, and in the order in which they are to be asked */
} ckfp_wishes;

static int
ckfp_compare_wishes(const void *a, const void *b)
{
	const ckfp_wish *one = a;
	const ckfp_wish *other = b;
	double difference = one->build->record.pass - other->build->record.pass;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return (difference > 0) - (difference < 0); /* the one that lets fewest by comes first */
}

static ckfp_wishes
ckfp_collect_wishes(ckfp_build *builds)
{
	ckfp_wishes wishes = {0};
	ckfp_build *build;
	ListCell *cell;

	for (build = builds; build != NULL; build = build->next)
		wishes.n += list_length(build->record.targets);
	wishes.wish = palloc(Max(wishes.n, 1) * sizeof(ckfp_wish));
	wishes.n = 0;
	for (build = builds; build != NULL; build = build->next)
		foreach (cell, build->record.targets)
		{
			const ckfp_join_target *target = lfirst(cell);

			wishes.wish[wishes.n++] = (ckfp_wish){target->node, build, target};
		}
	qsort(wishes.wish, wishes.n, sizeof(ckfp_wish), ckfp_compare_wishes);
	return wishes;
}

/* The first wish of a node, and how many it has. */
static const ckfp_wish *
ckfp_wishes_of(const ckfp_wishes *wishes, int node, int *n)
{
	size_t low = 0;
	size_t high = wishes->n;

	while (low < high)
	{
		size_t middle = (low + high) / 2;

		if (wishes->wish[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	*n = 0;
	while (low + *n < wishes->n && wishes->wish[low + *n].node == node)
		++*n;
	return &wishes->wish[low];
}

#if PG_VERSION_NUM >= 180000

static TupleTableSlot *
ckfp_next_row(ScanState *scan)
{
	const EState *estate = scan->ps.state;

	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc =
			table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL);
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

/* A sequential scan that looks for a condition. */
static TupleTableSlot *
ckfp_exec_scan(PlanState *scan)
{
	return ExecScan((ScanState *)scan, ckfp_next_row, ckfp_recheck_row);
}

#endif

/* From PostgreSQL 18 on, a sequential scan without a condition does not look for one. */
static void
ckfp_make_scan_look(PlanState *scan)
{
#if PG_VERSION_NUM >= 180000
	if (IsA(scan, SeqScanState) && scan->qual == NULL)
		ExecSetExecProcNode(scan, ckfp_exec_scan);
#endif
}

static void
ckfp_probe_scan(PlanState *scan, const ckfp_wish *wish, int n)
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
		probe->ask[i].build = wish[i].build;
		probe->ask[i].served = ckfp_remote_asks(wish[i].target);
		memcpy(probe->ask[i].attribute, wish[i].target->attribute, sizeof(probe->ask[i].attribute));
		wish[i].build->over = false;
	}
	ckfp_make_scan_look(scan);
	scan->qual = &probe->state;
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
	const ckfp_wishes *wishes = context;
	const ckfp_wish *wish;
	int n;

	if (IsA(state, HashJoinState))
	{
		ckfp_build *build = ckfp_build_of_join(state);

		if (build != NULL)
			build->join = (HashJoinState *)state;
	}
	/* A planner hook after ours may have put a node of its own above.  Which rows it gets is not
	 * for us to say; no filter is made for joins and scans below it. */
	if (IsA(state, CustomScanState) && !ckfp_join_is_build(state->plan))
		return false;
	wish = ckfp_wishes_of(wishes, state->plan->plan_node_id, &n);
	/* a plan that several expressions share is met several times */
	if (n > 0 && (state->qual == NULL || state->qual->evalfunc != ckfp_probe_row))
		ckfp_probe_scan(state, wish, n);
	return planstate_tree_walker(state, ckfp_probe_walk, context);
}

void
ckfp_probe_install(QueryDesc *query, ckfp_build *builds)
{
	ckfp_wishes wishes = ckfp_collect_wishes(builds);
	ckfp_build *build;

	ckfp_probe_walk(query->planstate, &wishes);
	for (build = builds; build != NULL; build = build->next)
	{
		if (build->join == NULL)
			build->over = true;
		if (!build->over && ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
			ckfp_verify_install(build);
		ckfp_build_start(build);
	}
	pfree(wishes.wish);
}
