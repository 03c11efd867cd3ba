/*
 * node.c - the plan node that filters the outer rows of a nested loop: "Cuckoo Nested Loop
 * Filter", between the loop and its outer side.
 *
 * It returns the rows of its child and samples which of them find a match. When a filter pays, it
 * scans the dimension and makes the filter of its keys. From then on the scans that the outer rows
 * come from use the filter, or this node if no scan can. If the loop is LEFT or ANTI, this node
 * always tests, as the rows that the filter denies stay (answer.c). Scans that can skip blocks do
 * so by the ranges of the keys.
 */
#include "join/nestloop/nestloop.h"
#include "join/show/show.h"

#include "access/xact.h"
#include "executor/executor.h"

/* ------------------------------------------------------------------- the scan */

/* The condition of the scan, which counts the rows that it reads: few of them may meet it. When the
 * scan has become too expensive, the row is returned, so that it can be ended. */
static Datum
ckfp_nest_condition(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_nest *nest = state->evalfunc_private;

	*isnull = false;
	nest->reading.ended = ckfp_sampling_is_exceeded(nest);
	return BoolGetDatum(nest->reading.ended || ExecQual(nest->reading.condition, econtext));
}

/* Start the scan of the dimension. It is started late: most queries never need it. */
static void
ckfp_nest_open_scan(ckfp_nest *nest, int eflags)
{
	CustomScanState *css = &nest->filter_node.css;
	const CustomScan *holder = (const CustomScan *)css->ss.ps.plan;
	EState *estate = css->ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	int jit = estate->es_jit_flags;

	estate->es_jit_flags = 0; /* to compile a condition takes longer than most scans */
	nest->scan = ExecInitNode(linitial(holder->custom_plans), estate,
							  eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	estate->es_jit_flags = jit;
	nest->reading.condition = nest->scan->qual;
	ckfp_condition_init(&nest->reading.counts, ckfp_nest_condition, nest);
	if (nest->scan->qual != NULL)
		nest->scan->qual = &nest->reading.counts;
	css->custom_ps = list_make1(nest->scan);
	MemoryContextSwitchTo(caller);
}

/* ------------------------------------------------------------------- the filter */

/* Gather the keys of all rows of the dimension: ranges of them, and hashes if the filter is to be
 * made. */
static ckfp_given_up
ckfp_nest_gather(ckfp_nest *nest, bool filtered)
{
	ckfp_join_filter *filter = &nest->filter_node.filter;
	ckfp_key_ranges *ranges = &nest->filter_node.ranges;
	ExprContext *econtext = nest->filter_node.css.ss.ps.ps_ExprContext;

	nest->reading.rows = 0;
	nest->reading.ended = false;
	nest->reading.spent = nest->reading.done = 0;
	ckfp_meter_start(&nest->reading.begun);
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(nest->scan);
		MemoryContext caller;
		uint64 hash;
		bool found;

		if (TupIsNull(slot))
			return CKFP_GIVEN_UP_NOT;
		if (nest->reading.condition == NULL ? ckfp_sampling_is_exceeded(nest) : nest->reading.ended)
			return CKFP_GIVEN_UP_KEYS;
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found =
			ckfp_source_hash(&nest->filter_node.source, slot, NULL, nest->filter_node.value, &hash);
		if (found && ranges->state == CKFP_RANGES_GATHERING)
			ckfp_key_ranges_add(ranges, nest->filter_node.value);
		MemoryContextSwitchTo(caller);
		if (found && filtered && !ckfp_filter_gather_key(filter, nest->filter_node.value, hash))
			return CKFP_GIVEN_UP_MEMORY;
	}
}

/* Read the dimension. If the ranges of its keys are not known yet, they are then. */
static ckfp_given_up
ckfp_nest_read(ckfp_nest *nest, bool filtered)
{
	ckfp_key_ranges *ranges = &nest->filter_node.ranges;
	bool shown = nest->scan != NULL;
	ckfp_given_up why;

	if (shown)
		ExecReScan(nest->scan);
	else
		ckfp_nest_open_scan(nest, 0);
	if (ranges->state == CKFP_RANGES_NEW)
	{
		ckfp_skip_blocks_start(&nest->filter_node);
		ranges->state = CKFP_RANGES_GATHERING;
	}
	why = ckfp_nest_gather(nest, filtered);
	if (ranges->state == CKFP_RANGES_GATHERING && why != CKFP_GIVEN_UP_NOT)
		ckfp_key_ranges_give_up(ranges);
	else
		ckfp_key_ranges_finish(ranges);
	if (!shown)
	{
		ExecEndNode(nest->scan);
		nest->filter_node.css.custom_ps = NIL;
		nest->scan = NULL;
	}
	return why;
}

/* Gather the ranges of the keys before the first row, if they are worth a scan of their own. If
 * not, the scans do not wait for them: they come with the filter, if it is made. */
static void
ckfp_nest_start_ranges(ckfp_nest *nest)
{
	if (ckfp_sampling_wants_ranges(nest))
		ckfp_nest_read(nest, false);
	else
		nest->filter_node.ranges.state = CKFP_RANGES_OFF;
}

/* Make the filter, or give it up. */
static void
ckfp_nest_make_filter(ckfp_nest *nest)
{
	ckfp_filter_node *filter_node = &nest->filter_node;
	ckfp_given_up why;

	nest->sampling.on = false;
	/* Gather no ranges if processes share the scan. A process that has ranges takes all that is
	 * left of the scan, and a process that has none would read no more. */
	if (filter_node->ranges.columns > 0 && filter_node->ranges.generation == 0 &&
		!filter_node->css.ss.ps.plan->parallel_aware)
		filter_node->ranges.state = CKFP_RANGES_NEW;
	why = ckfp_nest_read(nest, true);
	if (why == CKFP_GIVEN_UP_NOT && !ckfp_filter_finish(&filter_node->filter))
		why = CKFP_GIVEN_UP_MEMORY;
	if (why != CKFP_GIVEN_UP_NOT)
	{
		ckfp_filter_node_give_up(filter_node, why);
		if (why == CKFP_GIVEN_UP_KEYS) /* try again when more rows come than were expected */
		{
			ckfp_filter_node_enter(filter_node, CKFP_FILTER_NEW);
			nest->sampling.on = true;
		}
		return;
	}
	filter_node->counts.built_after = nest->sampling.all;
	filter_node->counts.given_up = CKFP_GIVEN_UP_NOT;
	ckfp_filter_node_ready(filter_node);
	ckfp_condition_update_all(filter_node);
}

/* ---------------------------------------------------------------- installation */

/* Find the scan of the inner side. */
static void
ckfp_nest_find_inner(ckfp_nest *nest)
{
	nest->inner = innerPlanState(nest->loop);
	if (IsA(nest->inner, MemoizeState))
	{
		nest->memoize = nest->inner;
		nest->inner = outerPlanState(nest->memoize);
	}
}

/* The sequential scan whose progress is that of a plan, or NULL. */
static ScanState *
ckfp_nest_driver(PlanState *state)
{
	while (!IsA(state, SeqScanState))
		if (IsA(state, SubqueryScanState))
			state = ((SubqueryScanState *)state)->subplan;
		else if (IsA(state, HashJoinState) || IsA(state, NestLoopState) ||
				 ckfp_join_is_ours(state->plan))
			state = outerPlanState(state);
		else
			return NULL;
	return (ScanState *)state;
}

void
ckfp_nest_install(ckfp_nest *nest)
{
	ckfp_filter_node *filter_node = &nest->filter_node;

	nest->installed = true;
	/* a sequential scan would lock all of the dimension */
	nest->serializable = nest->loop != NULL && IsolationIsSerializable();
	ckfp_filter_node_enter(filter_node, nest->loop == NULL || nest->serializable ? CKFP_FILTER_OFF
																				 : CKFP_FILTER_NEW);
	ckfp_condition_update_all(filter_node); /* there is no filter yet */
	if (filter_node->state == CKFP_FILTER_OFF)
	{
		filter_node->ranges.state = CKFP_RANGES_OFF;
		return;
	}
	nest->tests = filter_node->record.targets == NIL;
	if (nest->tests)
		ckfp_suspension_add(&filter_node->suspensions, &nest->test.suspension);
	ckfp_nest_find_inner(nest);
	nest->driver = ckfp_nest_driver(outerPlanState(nest));
	nest->sampling.on = true;
	ckfp_sampling_start(nest);
	if (filter_node->record.skips_lookups)
		ckfp_answer_install(nest);
	if (ckfp_join_mode_setting == CKFP_JOIN_VERIFY)
		ckfp_verify_install(filter_node, &nest->loop->js.ps, &nest->loop->js.joinqual,
							((CustomScan *)filter_node->css.ss.ps.plan)->custom_exprs);
}

/* ----------------------------------------------------------------- for EXPLAIN */

/* A number with commas between thousands. */
static const char *
ckfp_with_commas(uint64 number)
{
	if (number < 1000)
		return psprintf(UINT64_FORMAT, number);
	return psprintf("%s,%03d", ckfp_with_commas(number / 1000), (int)(number % 1000));
}

/* Was the filter built, or why not? */
static const char *
ckfp_nest_text(const ckfp_nest *nest)
{
	ckfp_join_counts total = ckfp_filter_node_all_counts(&nest->filter_node);
	const ckfp_join_counts *counts = &total;
	const char *rows = ckfp_with_commas(counts->sampled);

	if (nest->serializable)
		return "not built, the transaction is serializable";
	if (counts->memory > 0)
		return psprintf("built after %s rows, %s keys", ckfp_with_commas(counts->built_after),
						ckfp_with_commas(counts->keys));
	if (counts->given_up == CKFP_GIVEN_UP_MEMORY)
		return psprintf("given up after %s rows, memory", rows);
	if (counts->given_up == CKFP_GIVEN_UP_KEYS)
		return psprintf("given up after %s rows, the scan of the table costs more than expected",
						rows);
	if (!nest->installed)
		return "not built, cuckoofilter.join_filter was off when the query began";
	if (counts->sampled == 0)
		return "not built, too few rows";
	if (counts->not_run)
		return psprintf("not built after %s rows, a subquery of its condition has not run", rows);
	return psprintf("not built after %s rows, %.1f %% of them match%s", rows,
					100.0 * (double)counts->matched / (double)counts->sampled,
					(double)counts->matched > ckfp_join_max_pass * (double)counts->sampled
						? ""
						: " and it does not pay");
}

/* ------------------------------------------------------- callbacks of the executor */

static void
ckfp_nest_begin(CustomScanState *node, EState *estate, int eflags)
{
	ckfp_nest *nest = (ckfp_nest *)node;

	ckfp_filter_node_begin(&nest->filter_node, estate, eflags);
	nest->filter_node.nest = nest;
	ckfp_test_init(&nest->test, &nest->filter_node, nest->filter_node.record.attribute);
	for (int i = 0; i < nest->filter_node.record.columns; i++)
		nest->filter_node.source.attribute[i] = (AttrNumber)(i + 1);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || estate->es_instrument != 0)
		ckfp_nest_open_scan(nest, eflags); /* EXPLAIN shows it */
}

/* The next row that passes the filter. NULL also if the lookup of a row is answered. */
static TupleTableSlot *
ckfp_nest_next_passing(ckfp_nest *nest)
{
	ExprContext *econtext = nest->filter_node.css.ss.ps.ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(outerPlanState(nest));
		MemoryContext caller;
		bool passes;

		if (TupIsNull(slot) || ckfp_suspension_passes(&nest->test.suspension))
			return slot;
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		passes = ckfp_test_row(&nest->test, slot);
		MemoryContextSwitchTo(caller);
		if (passes)
			return slot;
		if (nest->answer.loop_function != NULL)
		{
			nest->denied = slot;
			return NULL;
		}
	}
}

/* Sample or test rows again. */
static void
ckfp_nest_resume(ckfp_nest *nest)
{
	if (nest->node_function != NULL)
		ExecSetExecProcNode(&nest->filter_node.css.ss.ps, nest->node_function);
	nest->node_function = NULL;
	nest->sampling.suspended = 0;
}

/* The next row, untested and unsampled: the executor calls this function instead of the node's. */
static TupleTableSlot *
ckfp_nest_exec_suspended(PlanState *state)
{
	ckfp_nest *nest = (ckfp_nest *)state;

	if (--nest->sampling.suspended == 0)
		ckfp_nest_resume(nest);
	return ExecProcNode(outerPlanState(nest));
}

static void
ckfp_nest_suspend(ckfp_nest *nest, uint64 rows)
{
	PlanState *state = &nest->filter_node.css.ss.ps;

	nest->sampling.suspended = rows;
	nest->node_function = state->ExecProcNodeReal;
	ExecSetExecProcNode(state, ckfp_nest_exec_suspended);
}

static TupleTableSlot *
ckfp_nest_exec(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;
	TupleTableSlot *slot;

	if (nest->filter_node.ranges.state == CKFP_RANGES_NEW)
		ckfp_nest_start_ranges(nest);
	if (nest->sampling.on && ckfp_sampling_count(nest))
		ckfp_nest_make_filter(nest);
	if (nest->sampling.suspended > 0)
		ckfp_nest_suspend(nest, nest->sampling.suspended);
	else if (!nest->sampling.on && !(nest->tests && nest->filter_node.state == CKFP_FILTER_READY))
	{
		ckfp_nest_suspend(nest, PG_UINT64_MAX); /* there is nothing left to do */
		if (nest->answer.loop_function != NULL)
			ckfp_answer_remove(nest);
	}
	if (nest->node_function != NULL)
		return ckfp_nest_exec_suspended(&node->ss.ps);
	if (nest->tests && nest->filter_node.state == CKFP_FILTER_READY)
		return ckfp_nest_next_passing(nest);
	slot = ExecProcNode(outerPlanState(node));
	if (nest->sampling.on && !TupIsNull(slot))
		ckfp_sampling_row(nest);
	return slot;
}

static void
ckfp_nest_end(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;

	ckfp_skip_blocks_finish(&nest->filter_node);
	ckfp_filter_free(&nest->filter_node.filter);
	if (nest->scan != NULL)
		ExecEndNode(nest->scan);
	ExecEndNode(outerPlanState(node));
}

/* The outer side is read again. The filter and the ranges stay: no parameter of their scan ever
 * changes. */
static void
ckfp_nest_rescan(CustomScanState *node)
{
	ckfp_nest *nest = (ckfp_nest *)node;

	ckfp_sampling_start(nest);
	if (outerPlanState(node)->chgParam == NULL)
		ExecReScan(outerPlanState(node));
}

static void
ckfp_nest_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	ckfp_nest *nest = (ckfp_nest *)node;

	ckfp_explain_filter(&nest->filter_node, es->analyze ? ckfp_nest_text(nest) : NULL, es);
}

static const CustomExecMethods ckfp_nest_exec_methods = {
	.CustomName = CKFP_NEST_NAME,
	.BeginCustomScan = ckfp_nest_begin,
	.ExecCustomScan = ckfp_nest_exec,
	.EndCustomScan = ckfp_nest_end,
	.ReScanCustomScan = ckfp_nest_rescan,
	CKFP_SHARED_CALLBACKS,
	.ExplainCustomScan = ckfp_nest_explain,
};

static Node *
ckfp_nest_create(CustomScan *scan)
{
	ckfp_nest *nest = palloc0(sizeof(*nest));

	NodeSetTag(nest, T_CustomScanState);
	nest->filter_node.css.methods = &ckfp_nest_exec_methods;
	return (Node *)nest;
}

void
ckfp_join_init_nest(void)
{
	ckfp_nest_methods.CreateCustomScanState = ckfp_nest_create;
	RegisterCustomScanMethods(&ckfp_nest_methods);
}
