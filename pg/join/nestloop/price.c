/*
 * price.c - when the filter of a nested loop pays.
 *
 * Estimates of the planner are often wrong by a large factor, so this is decided by what the rows
 * show while they pass: the share that has no match, and the cost of a lookup that finds nothing.
 * Some lookups are measured, with all that belongs to them, such as a Memoize node. What they and
 * the build cost is processor time and the wait for blocks (meter.c).
 *
 * The rows to come follow from the progress of the sequential scan that drives the plan. If that is
 * unknown, or if the node may be stopped early, the ski-rental rule decides: the filter is built
 * when the lookups have cost as much as the build costs. If processes share that scan, each of them
 * builds a filter: their builds are weighed against the lookups of all.
 */
#include "join/nestloop/nestloop.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#define CKFP_WATCH_FIRST 512    /* rows before the first decision */
#define CKFP_WATCH_LAST 4096    /* rows after which the first watch rests if most rows match */
#define CKFP_WATCH_SAMPLE 64    /* one of so many lookups is measured, a system call; */
#define CKFP_WATCH_SHARE 64     /* later one in a stretch of this part of the rows before it */
#define CKFP_WATCH_PROGRESS 0.5 /* the share of the rows to come that is counted on */

/* The share of the price of the build that the lookups must have cost before. The first ones cost
 * more: the process has not used the pages of the table yet. So do the first rows of the build: it
 * is not aborted before it has cost this share of what the filter saves. */
#define CKFP_WATCH_PAID 0.1

/* The cost of the build, without the wait for blocks, and of a question to the filter, in ns. To
 * read a row of few columns takes 70 to 90, and up to 450 where the condition is on a late column
 * of a wide one: then the build is stopped when it has cost too much. */
#define CKFP_NEST_TUPLE_NS 110.0
#define CKFP_NEST_KEY_NS 65.0
#define CKFP_NEST_LOOKUP_NS 15.0

/* A scan of the dimension for ranges of keys alone may cost this share of the scans that can skip
 * blocks by them. */
#define CKFP_NEST_RANGES_SHARE 0.02

static void
ckfp_watch_begin(ckfp_watch *watch)
{
	watch->rows = 0;
	watch->matched = 0;
	watch->lookups = (ckfp_samples){0};
	watch->measured = false;
	watch->next = CKFP_WATCH_FIRST;
	watch->next_sample = CKFP_WATCH_SAMPLE; /* short loops measure none */
}

void
ckfp_watch_start(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;

	watch->out = false;
	watch->measured = false;
	watch->scanned = 0;
	watch->published = 0;
	if (watch->next == 0)
		ckfp_watch_begin(watch);
}

/* --------------------------------------------------------------- rows to come */

/* The part of a sequential scan that has been read. 0 if it is unknown. *shared: other processes
 * read parts of it. */
static double
ckfp_scan_progress(const ScanState *scan, bool *shared)
{
	const ckfp_blocks *blocks = ckfp_condition_blocks(&scan->ps);
	TableScanDesc heap = scan->ss_currentScanDesc;

	if (heap == NULL || scan->ss_currentRelation->rd_tableam != GetHeapamTableAmRoutine())
		return 0;
	*shared = heap->rs_parallel != NULL;
	return blocks != NULL ? ckfp_blocks_progress(blocks) : ckfp_scan_share(heap);
}

/* The rows to come in this process; in each process, if they share the scan. */
static double
ckfp_rows_to_come(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	double rows = (double)watch->scanned;
	bool shared = false;
	double done = nest->driver != NULL ? ckfp_scan_progress(nest->driver, &shared) : 0;

	if (nest->stops || watch->all > watch->scanned || done == 0)
		return (double)watch->all;
	if (shared && nest->build.shared != NULL)
		rows = ckfp_shared_rows(&nest->build, watch->scanned - watch->published);
	watch->published = watch->scanned;
	return rows * (1 - done) / done * CKFP_WATCH_PROGRESS;
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

/* The wait for the blocks of a table that is read in order, if a lookup in it waits so long. */
static double
ckfp_wait_for_pages(Relation table, BlockNumber pages, double lookup)
{
	double random;
	double sequential;

	get_tablespace_page_costs(table->rd_rel->reltablespace, &random, &sequential);
	return pages * lookup * (sequential < random ? sequential / random : 1);
}

/* What a build is expected to cost, in ns, if this share of the rows of the dimension has keys, and
 * a lookup waits so long for blocks. The number of keys in *keys. */
static double
ckfp_build_ns(const ckfp_nest *nest, double share, double wait, double *keys)
{
	Relation table = ckfp_nest_table(nest);
	int32 *widths = palloc0((RelationGetNumberOfAttributes(table) + 1) * sizeof(*widths));
	BlockNumber pages;
	double tuples;
	double visible;

	table_relation_estimate_size(table, widths, &pages, &tuples, &visible);
	pfree(widths);
	*keys = tuples * share;
	return tuples * CKFP_NEST_TUPLE_NS + *keys * CKFP_NEST_KEY_NS +
		   ckfp_wait_for_pages(table, pages, wait);
}

/* Does a filter pay? */
static bool
ckfp_watch_pays(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	const ckfp_samples *lookups = &watch->lookups;
	double pass = (double)watch->matched / (double)watch->rows;
	double saved = ckfp_samples_mean(lookups) - CKFP_NEST_LOOKUP_NS;
	double build;
	double keys;

	if (pass > ckfp_join_max_pass || saved <= 0)
		return false;
	saved *= 1 - pass;
	build = ckfp_build_ns(nest, pass, lookups->wait / lookups->n, &keys);
	watch->gain = ckfp_rows_to_come(nest) * saved;
	return ckfp_cost_fits(keys) && watch->gain > build &&
		   (double)watch->all * saved > build * CKFP_WATCH_PAID;
}

bool
ckfp_watch_is_exceeded(const ckfp_nest *nest, double keys, double spent)
{
	bool shared;
	double done = ckfp_scan_progress((const ScanState *)nest->scan, &shared);

	if (ckfp_join_mode_setting != CKFP_JOIN_AUTO)
		return false;
	if (done == 0)
		return spent > nest->watch.gain;
	return spent > nest->watch.gain * CKFP_WATCH_PAID &&
		   (spent * (1 - done) + keys * CKFP_NEST_KEY_NS) / done > nest->watch.gain;
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

bool
ckfp_watch_wants_ranges(ckfp_nest *nest)
{
	double keys;

	if (ckfp_join_mode_setting == CKFP_JOIN_OFF || !ckfp_params_are_known(nest))
		return false;
	nest->watch.gain = CKFP_NEST_RANGES_SHARE * nest->build.record.block_rows * CKFP_ROW_NS;
	return ckfp_join_mode_setting != CKFP_JOIN_AUTO ||
		   (!nest->stops && ckfp_build_ns(nest, 0, 0, &keys) < nest->watch.gain);
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
	if (nest->build.state == CKFP_BUILD_OFF || ckfp_join_mode_setting == CKFP_JOIN_OFF)
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

/* Has another filter removed rows from the inner side since the outer row was handed on? Then the
 * dimension has rows for it, and a filter of the dimension's keys would pass it. The scan of the
 * build does not ask that filter, too: it may be built anew, and ours would have to follow it. */
static bool
ckfp_watch_is_emptied(const ckfp_nest *nest)
{
	return ckfp_condition_removed(nest->inner) != nest->watch.removed;
}

/* The lookups that Memoize has answered from its cache. */
static uint64
ckfp_watch_cached(const ckfp_nest *nest)
{
	if (nest->memoize != NULL)
		return ((const MemoizeState *)nest->memoize)->stats.cache_hits;
	return 0;
}

/* Is it unknown whether the dimension has rows for a row without a match? It is if Memoize gives an
 * answer that another filter may have emptied. */
static bool
ckfp_watch_is_unknown(const ckfp_nest *nest)
{
	return nest->watch.removed > 0 && ckfp_watch_cached(nest) != nest->watch.cached;
}

void
ckfp_watch_lookup_ended(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	double wait;
	double cost;

	if (watch->measured && !nest->loop->nl_MatchedOuter)
	{
		cost = ckfp_meter_read(&watch->left, &wait);
		ckfp_samples_add(&watch->lookups, cost, wait);
	}
	watch->measured = false;
}

bool
ckfp_watch_count(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;
	bool matched = nest->loop->nl_MatchedOuter;

	if (!watch->out)
		return false;
	ckfp_watch_lookup_ended(nest);
	watch->out = false;
	watch->scanned++;
	watch->all++;
	if (!matched && ckfp_watch_is_unknown(nest))
		return false;
	watch->rows++;
	if (matched || ckfp_watch_is_emptied(nest))
		watch->matched++;
	return watch->rows >= watch->next && ckfp_watch_decide(nest);
}

void
ckfp_watch_row(ckfp_nest *nest)
{
	ckfp_watch *watch = &nest->watch;

	watch->out = true;
	watch->removed = ckfp_condition_removed(nest->inner);
	watch->cached = ckfp_watch_cached(nest);
	watch->measured = watch->rows >= watch->next_sample;
	if (watch->measured)
	{
		watch->next_sample = watch->rows + Max(CKFP_WATCH_SAMPLE, watch->rows / CKFP_WATCH_SHARE);
		ckfp_meter_start(&watch->left);
	}
}
