/*
 * nestloop.c - the plan node that filters the outer rows of a nested loop: "Cuckoo Nested Loop
 * Filter", between the loop and its outer side.
 *
 * It returns the rows of its child and watches which of them find a match. When a filter pays, it
 * runs a scan of the dimension and builds the filter of its keys. From then on the scans that the
 * outer rows come from ask the filter, or, if there is none that can, this node.
 */
#include "nestloop.h"
#include "build.h"
#include "condition.h"
#include "explain.h"
#include "nestloop_node.h"
#include "nestloop_price.h"
#include "shared.h"
#include "verify.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/pg_rusage.h"

/* The false positive rate: a row that passes by chance costs a lookup, as without a filter. */
#define CKFP_NEST_FPR 0.01

/* The number of keys between two checks of a build's cost. */
#define CKFP_NEST_CHECK 1024

/* ------------------------------------------------------------------- the scan */

/* Start the scan of the dimension. It is started late: most queries never need it. */
static void
ckfp_nest_open_scan(ckfp_nest *nest, int eflags)
{
	CustomScanState *css = &nest->build.css;
	const CustomScan *holder = (const CustomScan *)css->ss.ps.plan;
	EState *estate = css->ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	int jit = estate->es_jit_flags;

	estate->es_jit_flags = 0; /* to compile a condition takes longer than most scans */
	nest->scan = ExecInitNode(linitial(holder->custom_plans), estate,
							  eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	estate->es_jit_flags = jit;
	css->custom_ps = list_make1(nest->scan);
	MemoryContextSwitchTo(caller);
}

/* ------------------------------------------------------------------- the build */

/* The hash of the key of a row of the dimension. False if one of its columns is NULL. */
static bool
ckfp_nest_hash(ckfp_nest *nest, TupleTableSlot *slot, uint64 *hash)
{
	int i;

	*hash = 0;
	for (i = 0; i < nest->build.record.columns; i++)
	{
		bool isnull;
		Datum value = slot_getattr(slot, i + 1, &isnull);

		if (isnull)
			return false;
		*hash = ckfp_key_combine(*hash, ckfp_key_hash(&nest->build.build_key[i], value));
	}
	return true;
}

/* The processor time of this process, in ns. On a busy machine it is much less than the time. */
static double
ckfp_processor_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
		   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

/* Gather the keys of all rows of the dimension. */
static ckfp_given_up
ckfp_nest_gather(ckfp_nest *nest)
{
	ckfp_join_filter *filter = &nest->build.filter;
	ExprContext *econtext = nest->build.css.ss.ps.ps_ExprContext;
	double start = ckfp_processor_ns();
	uint64 keys = 0;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(nest->scan);
		MemoryContext caller;
		uint64 hash;
		bool found;

		if (TupIsNull(slot))
			return CKFP_GIVEN_UP_NOT;
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found = ckfp_nest_hash(nest, slot, &hash);
		MemoryContextSwitchTo(caller);
		if (found && !ckfp_filter_gather(filter, hash))
			return CKFP_GIVEN_UP_MEMORY;
		if (++keys % CKFP_NEST_CHECK == 0 &&
			ckfp_watch_is_exceeded(nest, (double)filter->n, ckfp_processor_ns() - start))
			return CKFP_GIVEN_UP_KEYS;
	}
}

/* Build the filter, or give it up. */
static void
ckfp_nest_build(ckfp_nest *nest)
{
	ckfp_build *build = &nest->build;
	bool shown = nest->scan != NULL;
	ckfp_given_up why;

	nest->watch.on = false;
	if (!shown)
		ckfp_nest_open_scan(nest, 0);
	why = ckfp_nest_gather(nest);
	if (why == CKFP_GIVEN_UP_NOT &&
		(!ckfp_filter_settle(&build->filter) || !ckfp_filter_build(&build->filter)))
		why = CKFP_GIVEN_UP_MEMORY;
	if (!shown)
	{
		ExecEndNode(nest->scan);
		build->css.custom_ps = NIL;
		nest->scan = NULL;
	}
	if (why != CKFP_GIVEN_UP_NOT)
	{
		ckfp_build_give_up(build, why);
		return;
	}
	build->counts.keys = build->filter.keys;
	build->counts.memory = build->filter.size;
	build->counts.built_after = nest->watch.all;
	build->asking = true;
	ckfp_condition_update_all(build);
}

/* ---------------------------------------------------------------- installation */

/* The sequential scan whose progress is that of a plan, or NULL. */
static ScanState *
ckfp_nest_driver(PlanState *state)
{
	for (;;)
		switch (nodeTag(state))
		{
			case T_SeqScanState:
				return (ScanState *)state;
			case T_HashJoinState:
			case T_NestLoopState:
				state = outerPlanState(state);
				break;
			case T_SubqueryScanState:
				state = ((SubqueryScanState *)state)->subplan;
				break;
			case T_CustomScanState:
				if (!ckfp_join_is_ours(state->plan))
					return NULL;
				state = outerPlanState(state);
				break;
			default:
				return NULL;
		}
}

void
ckfp_nest_install(ckfp_nest *nest)
{
	ckfp_build *build = &nest->build;

	nest->installed = true;
	/* a sequential scan would lock all of the dimension */
	nest->serializable = nest->loop != NULL && IsolationIsSerializable();
	build->disabled = nest->loop == NULL || nest->serializable;
	ckfp_condition_update_all(build); /* there is no filter yet */
	if (build->disabled)
		return;
	nest->asks = build->record.targets == NIL;
	if (nest->asks)
		ckfp_sleep_add(&build->sleepers, &nest->ask.sleep);
	nest->driver = ckfp_nest_driver(outerPlanState(nest));
	nest->watch.on = true;
	ckfp_watch_start(nest);
	if (ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
		ckfp_verify_install(build, &nest->loop->js.ps, &nest->loop->js.joinqual,
							((CustomScan *)build->css.ss.ps.plan)->custom_exprs);
}

/* ------------------------------------------------------- callbacks of the executor */

static void
ckfp_nest_begin(CustomScanState *node, EState *estate, int eflags)
{
	ckfp_nest *nest = (ckfp_nest *)node;
	CustomScan *scan = castNode(CustomScan, node->ss.ps.plan);
	ckfp_nest_record record;
	int i;

	ckfp_join_begin_child(node, estate, eflags);
	ckfp_nest_record_from_list(scan->custom_private, &record);
	nest->build.record = record.record;
	nest->build.nest = nest;
	nest->stops = record.stops;
	nest->ask.build = &nest->build;
	memcpy(nest->ask.attribute, record.attribute, sizeof(nest->ask.attribute));
	for (i = 0; i < record.record.columns; i++)
		ckfp_key_prepare(&record.record.column[i], &nest->build.build_key[i],
						 &nest->build.probe_key[i], estate->es_query_cxt);
	ckfp_filter_init(&nest->build.filter, estate->es_query_cxt, (size_t)ckfp_join_memory * 1024,
					 CKFP_NEST_FPR);
	nest->build.disabled = true; /* until ckfp_nest_install */
	ckfp_join_enlist(&nest->build);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || estate->es_instrument != 0)
		ckfp_nest_open_scan(nest, eflags); /* EXPLAIN shows it */
}

/* The next row that passes the filter. */
static TupleTableSlot *
ckfp_nest_next_passing(ckfp_nest *nest)
{
	ExprContext *econtext = nest->build.css.ss.ps.ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(outerPlanState(nest));
		MemoryContext caller;
		bool passes;

		if (TupIsNull(slot) || ckfp_sleep_passes(&nest->ask.sleep))
			return slot;
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		passes = ckfp_ask_row(&nest->ask, slot);
		MemoryContextSwitchTo(caller);
		if (passes)
			return slot;
	}
}

/* End a rest. */
static void
ckfp_nest_wake(ckfp_nest *nest)
{
	if (nest->exec != NULL)
		ExecSetExecProcNode(&nest->build.css.ss.ps, nest->exec);
	nest->exec = NULL;
	nest->watch.rest = 0;
}

/* The next row, while the node rests: the executor calls this function instead of the node's. */
static TupleTableSlot *
ckfp_nest_exec_resting(PlanState *state)
{
	ckfp_nest *nest = (ckfp_nest *)state;

	if (--nest->watch.rest == 0)
		ckfp_nest_wake(nest);
	return ExecProcNode(outerPlanState(nest));
}

static void
ckfp_nest_rest(ckfp_nest *nest, uint64 rows)
{
	PlanState *state = &nest->build.css.ss.ps;

	nest->watch.rest = rows;
	nest->exec = state->ExecProcNodeReal;
	ExecSetExecProcNode(state, ckfp_nest_exec_resting);
}

static TupleTableSlot *
ckfp_nest_exec(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;
	TupleTableSlot *slot;

	if (nest->watch.on && ckfp_watch_count(nest))
		ckfp_nest_build(nest);
	if (nest->watch.rest > 0)
		ckfp_nest_rest(nest, nest->watch.rest);
	else if (!nest->watch.on && !nest->asks)
		ckfp_nest_rest(nest, PG_UINT64_MAX); /* there is nothing left to do */
	if (nest->exec != NULL)
		return ckfp_nest_exec_resting(&node->ss.ps);
	if (nest->asks && nest->build.asking)
		return ckfp_nest_next_passing(nest);
	slot = ExecProcNode(outerPlanState(node));
	if (nest->watch.on && !TupIsNull(slot))
		ckfp_watch_row(nest);
	return slot;
}

static void
ckfp_nest_end(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;

	ckfp_filter_free(&nest->build.filter);
	if (nest->scan != NULL)
		ExecEndNode(nest->scan);
	ExecEndNode(outerPlanState(node));
}

/* Forget the filter, whose scan has another parameter now. */
static void
ckfp_nest_forget(ckfp_nest *nest)
{
	if (nest->scan != NULL)
	{
		UpdateChangedParamSet(nest->scan, nest->build.css.ss.ps.chgParam);
		ExecReScan(nest->scan);
	}
	ckfp_filter_free(&nest->build.filter);
	nest->build.asking = false;
	ckfp_condition_update_all(&nest->build);
	ckfp_nest_wake(nest);
	nest->watch = (ckfp_watch){.on = nest->loop != NULL && !nest->build.disabled};
}

/* The outer side is read again. The filter stays. */
static void
ckfp_nest_rescan(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;
	const CustomScan *holder = (const CustomScan *)node->ss.ps.plan;
	const Plan *scan = linitial(holder->custom_plans);

	if (bms_overlap(node->ss.ps.chgParam, scan->extParam))
		ckfp_nest_forget(nest);
	ckfp_watch_start(nest);
	if (outerPlanState(node)->chgParam == NULL)
		ExecReScan(outerPlanState(node));
}

static const CustomExecMethods ckfp_nest_exec_methods = {
	.CustomName = CKFP_NEST_NAME,
	.BeginCustomScan = ckfp_nest_begin,
	.ExecCustomScan = ckfp_nest_exec,
	.EndCustomScan = ckfp_nest_end,
	.ReScanCustomScan = ckfp_nest_rescan,
	.EstimateDSMCustomScan = ckfp_shared_estimate,
	.InitializeDSMCustomScan = ckfp_shared_initialize,
	.ReInitializeDSMCustomScan = ckfp_shared_reinitialize,
	.InitializeWorkerCustomScan = ckfp_shared_initialize_worker,
	.ShutdownCustomScan = ckfp_shared_shutdown,
	.ExplainCustomScan = ckfp_join_explain,
};

static Node *
ckfp_nest_create(CustomScan *scan)
{
	ckfp_nest *nest = palloc0(sizeof(*nest));

	NodeSetTag(nest, T_CustomScanState);
	nest->build.css.methods = &ckfp_nest_exec_methods;
	return (Node *)nest;
}

void
ckfp_join_init_nest(void)
{
	ckfp_nest_methods.CreateCustomScanState = ckfp_nest_create;
	RegisterCustomScanMethods(&ckfp_nest_methods);
}
