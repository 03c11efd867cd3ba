/*
 * nestloop_price.c - when the filter of a nested loop pays.
 *
 * Estimates of the planner are often wrong by a large factor, so this is decided by what the rows
 * show while they pass: the share that has no match, and the time of a lookup that finds nothing.
 * Every 16th lookup is timed, with all that belongs to it, such as a Memoize node.
 *
 * The rows to come follow from the progress of the sequential scan that drives the plan. If that is
 * unknown, or if the node may be stopped early, the ski-rental rule decides: the filter is built
 * when the lookups have cost as much as the build costs.
 */
#include "nestloop_price.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "utils/rel.h"

#define CKFP_WATCH_FIRST 512    /* rows before the first decision */
#define CKFP_WATCH_LAST 4096    /* rows after which the first watch rests if most rows match */
#define CKFP_WATCH_SAMPLE 16    /* one of so many lookups is timed */
#define CKFP_WATCH_PROGRESS 0.5 /* the share of the rows to come that is counted on */

/* The cost of the build, and of a question to the filter, in ns. */
#define CKFP_NEST_TUPLE_NS 180.0
#define CKFP_NEST_KEY_NS 65.0
#define CKFP_NEST_ASK_NS 15.0

/* A build is not aborted for its time before this one, in ns. */
#define CKFP_NEST_PATIENCE_NS 10e6

static void
ckfp_watch_begin(ckfp_watch *watch)
{
	watch->rows = 0;
	watch->matched = 0;
	watch->samples = 0;
	watch->ns = 0;
	watch->most = 0;
	watch->timed = false;
	watch->next = CKFP_WATCH_FIRST;
}

void
ckfp_watch_start(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;

	watch->out = false;
	watch->timed = false;
	watch->scanned = 0;
	if (watch->next == 0)
		ckfp_watch_begin(watch);
}

/* --------------------------------------------------------------- rows to come */

/* The blocks that a sequential scan has read, and all of them. False if they are unknown. */
static bool
ckfp_scan_progress(const ScanState *scan, double *done, double *all)
{
	HeapScanDesc heap = (HeapScanDesc)scan->ss_currentScanDesc;
	ParallelBlockTableScanDesc shared;

	if (heap == NULL || scan->ss_currentRelation->rd_tableam != GetHeapamTableAmRoutine())
		return false;
	shared = (ParallelBlockTableScanDesc)heap->rs_base.rs_parallel;
	if (shared != NULL)
	{
		*all = shared->phs_nblocks;
		*done = (double)pg_atomic_read_u64(&shared->phs_nallocated);
	}
	else
	{
		if (!heap->rs_inited || !BlockNumberIsValid(heap->rs_cblock))
			return false;
		*all = heap->rs_nblocks;
		*done = heap->rs_cblock >= heap->rs_startblock
					? heap->rs_cblock - heap->rs_startblock + 1.0
					: *all - heap->rs_startblock + heap->rs_cblock + 1.0;
	}
	*done = Min(*done, *all);
	return *done > 0;
}

static double
ckfp_rows_to_come(const ckfp_nest *nest)
{
	const ckfp_watch *watch = &nest->watch;
	double done;
	double all;

	if (nest->stops || watch->all > watch->scanned || nest->driver == NULL ||
		!ckfp_scan_progress(nest->driver, &done, &all))
		return (double)watch->all;
	return (double)watch->scanned * (all - done) / done * CKFP_WATCH_PROGRESS;
}

/* ------------------------------------------------------------------- the price */

/* The table of the filter's scan. */
static Relation
ckfp_nest_table(const ckfp_nest *nest)
{
	EState *estate = nest->build.css.ss.ps.state;
	const CustomScan *holder = (const CustomScan *)nest->build.css.ss.ps.plan;
	Index relation = ((const Scan *)linitial(holder->custom_plans))->scanrelid;

#if PG_VERSION_NUM >= 180000
	return ExecGetRangeTableRelation(estate, relation, false);
#else
	return ExecGetRangeTableRelation(estate, relation);
#endif
}

/* The estimated number of rows of the dimension. */
static double
ckfp_dimension_rows(const ckfp_nest *nest)
{
	Relation table = ckfp_nest_table(nest);
	int32 *widths = palloc0((RelationGetNumberOfAttributes(table) + 1) * sizeof(*widths));
	BlockNumber pages;
	double tuples;
	double visible;

	table_relation_estimate_size(table, widths, &pages, &tuples, &visible);
	pfree(widths);
	return tuples;
}

static double
ckfp_build_ns(double tuples, double keys)
{
	return tuples * CKFP_NEST_TUPLE_NS + keys * CKFP_NEST_KEY_NS;
}

/* The time of a lookup that finds nothing, in ns; 0 if it is unknown. The longest one is left
 * out: another process may have run meanwhile. */
static double
ckfp_lookup_ns(const ckfp_watch *watch)
{
	return watch->samples > 1 ? (watch->ns - watch->most) / (double)(watch->samples - 1) : 0;
}

/* Does a filter pay? */
static bool
ckfp_watch_pays(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	double pass = (double)watch->matched / (double)watch->rows;
	double saved = ckfp_lookup_ns(watch) - CKFP_NEST_ASK_NS;

	if (pass > ckfp_join_max_pass || saved <= 0)
		return false;
	watch->tuples = ckfp_dimension_rows(nest);
	watch->keys = watch->tuples * pass;
	watch->gain = ckfp_rows_to_come(nest) * (1 - pass) * saved;
	return watch->keys * 2 * sizeof(uint64) <= ckfp_join_memory * 1024.0 &&
		   watch->gain > ckfp_build_ns(watch->tuples, watch->keys);
}

bool
ckfp_watch_is_exceeded(const ckfp_nest *nest, double keys, double ns)
{
	const ckfp_watch *watch = &nest->watch;
	double planned = ckfp_build_ns(watch->tuples, watch->keys);

	return ckfp_join_mode_setting == CKFP_JOIN_AUTO &&
		   ((keys > 2 * watch->keys && ckfp_build_ns(watch->tuples, keys) > watch->gain) ||
			ns > Max(2 * planned, watch->gain) + CKFP_NEST_PATIENCE_NS);
}

/* ------------------------------------------------------------------- watching */

/* Have the InitPlans run whose results the scan's conditions contain? They run when a row first
 * needs them, and not for a filter. */
static bool
ckfp_params_are_known(const ckfp_nest *nest)
{
	const CustomScan *holder = (const CustomScan *)nest->build.css.ss.ps.plan;
	const ParamExecData *values = nest->build.css.ss.ps.state->es_param_exec_vals;
	const Bitmapset *params = ((Plan *)linitial(holder->custom_plans))->extParam;
	int param = -1;

	while ((param = bms_next_member(params, param)) >= 0)
		if (values[param].execPlan != NULL)
			return false;
	return true;
}

/* Let the watch rest for as many rows as were read so far: they are passed on without a count. */
static void
ckfp_watch_rest(ckfp_watch *watch)
{
	watch->rows_before += watch->rows;
	watch->matched_before += watch->matched;
	watch->rest = watch->all;
	watch->all += watch->rest; /* they are not counted one by one */
	watch->scanned += watch->rest;
	ckfp_watch_begin(watch);
}

/* Is a filter to be built now? Otherwise, when to decide again. */
static bool
ckfp_watch_decide(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	ckfp_join_counts *counts = &nest->build.counts;
	bool pays = ckfp_join_mode_setting != CKFP_JOIN_AUTO || ckfp_watch_pays(nest);

	/* the setting may be off since the query began: a cursor */
	if (nest->build.disabled || ckfp_join_mode_setting == CKFP_JOIN_OFF)
	{
		watch->on = false;
		return false;
	}
	counts->watched = watch->rows_before + watch->rows;
	counts->matched = watch->matched_before + watch->matched;
	counts->not_run = pays && !ckfp_params_are_known(nest);
	if (pays && !counts->not_run)
		return true;
	watch->next += watch->next / 4;
	if ((watch->rows >= CKFP_WATCH_LAST || watch->rows_before > 0) &&
		(double)watch->matched > ckfp_join_max_pass * (double)watch->rows)
		ckfp_watch_rest(watch);
	return false;
}

static void
ckfp_watch_sample(ckfp_watch *watch)
{
	instr_time now;
	double ns;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, watch->left);
	ns = INSTR_TIME_GET_DOUBLE(now) * 1e9;
	watch->samples++;
	watch->ns += ns;
	watch->most = Max(watch->most, ns);
}

bool
ckfp_watch_count(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	bool matched = nest->loop->nl_MatchedOuter;

	if (!watch->out)
		return false;
	watch->out = false;
	watch->scanned++;
	watch->all++;
	watch->rows++;
	if (matched)
		watch->matched++;
	else if (watch->timed)
		ckfp_watch_sample(watch);
	watch->timed = false;
	return watch->rows >= watch->next && ckfp_watch_decide(nest);
}

void
ckfp_watch_row(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;

	watch->out = true;
	if (watch->rows % CKFP_WATCH_SAMPLE == 0)
	{
		watch->timed = true;
		INSTR_TIME_SET_CURRENT(watch->left);
	}
}
