/*
 * price.c - when the filter of a nested loop pays.
 *
 * Estimates of the planner are often wrong by a large factor, so this is decided by what the rows
 * show while they pass: the share that has no match, and the cost of a lookup that finds nothing.
 * Some lookups are measured, with all that belongs to them, such as a Memoize node.
 *
 * The wait for a processor is not counted: on a busy machine everything waits for one. What counts
 * is the processor time and the wait for blocks. If a piece of work has read blocks, its wait for
 * blocks is the elapsed time that is not processor time. This has a limit for each block, since the
 * process may have waited for a processor, too.
 *
 * The rows to come follow from the progress of the sequential scan that drives the plan. If that is
 * unknown, or if the node may be stopped early, the ski-rental rule decides: the filter is made
 * when the lookups have cost as much as it does. If processes share that scan, each of them makes a
 * filter: the cost of all of these is compared with that of the lookups of all processes.
 */
#include "join/nestloop/nestloop.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include <time.h>

#define CKFP_SAMPLING_FIRST 512    /* rows before the first decision */
#define CKFP_SAMPLING_LAST 4096    /* rows before sampling is suspended, if most match */
#define CKFP_SAMPLING_PROGRESS 0.5 /* the share of the rows to come that is counted on */

/* A lookup is measured each time that so many rows have come: at first CKFP_SAMPLING_SAMPLE, since
 * measuring takes system calls; later the number of rows so far, divided by CKFP_SAMPLING_SHARE. */
#define CKFP_SAMPLING_SAMPLE 64
#define CKFP_SAMPLING_SHARE 64

/* The share of the price of the filter that the lookups must have cost before it is made. The first
 * lookups cost more: the process has not used the pages of the table yet. So do the first rows of
 * the scan: it is not ended before it has cost this share of what the filter saves. */
#define CKFP_SAMPLING_PAID 0.1

/* The cost of a row and of a key of the scan of the dimension, without the wait for blocks, in ns.
 * To read a row of few columns takes 70 to 90, and up to 450 where the condition is on a late
 * column of a wide one. Where it is more, the scan ends when it has cost too much. */
#define CKFP_NEST_TUPLE_NS 110.0
#define CKFP_NEST_KEY_NS 65.0

/* The number of rows between two checks of what the scan has cost; at first it is checked each time
 * that their number has doubled, as a condition may cost as much as all other rows. */
#define CKFP_NEST_CHECK 1024
#define CKFP_NEST_CHECK_FIRST 16

/* A scan of the dimension for ranges of keys alone may cost this share of the scans that can skip
 * blocks by them. */
#define CKFP_NEST_RANGES_SHARE 0.02

/* To wait for a block costs at most so much, in ns. */
#define CKFP_BLOCK_NS 100e3

/* The samples after which the older ones count half. */
#define CKFP_SAMPLES 64

/* The pieces of no work by which the cost of measuring is found. */
#define CKFP_EMPTY_SAMPLES 9

/* ------------------------------------------------------ what a piece of work costs this process */

/* Add a cost. Older ones count less. */
static void
ckfp_costs_add(ckfp_costs *samples, double cost, double wait)
{
	if (samples->n >= CKFP_SAMPLES)
	{
		samples->n /= 2;
		samples->sum /= 2;
		samples->wait /= 2;
		samples->most /= 2;
	}
	samples->n++;
	samples->sum += cost;
	samples->wait += wait;
	samples->most = Max(samples->most, cost);
}

/* The mean without the highest cost, in which an interrupt may be; 0 if it is unknown. */
static double
ckfp_costs_mean(const ckfp_costs *samples)
{
	return samples->n > 1 ? (samples->sum - samples->most) / (samples->n - 1) : 0;
}

static double
ckfp_clock(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		return 0;
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The processor's clock is read last, and first in the end, since that is a call of the kernel. It
 * is also read at first: a call after much other work takes several times as long as the next one,
 * and would count as a part of the work. */
void
ckfp_meter_start(ckfp_meter *meter)
{
	ckfp_clock(CLOCK_THREAD_CPUTIME_ID);
	meter->blocks = CKFP_BLOCKS_READ;
	meter->clock = ckfp_clock(CLOCK_MONOTONIC);
	meter->processor = ckfp_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* The processor time since then, with that of measuring. */
static double
ckfp_meter_processor(const ckfp_meter *meter)
{
	return ckfp_clock(CLOCK_THREAD_CPUTIME_ID) - meter->processor;
}

/* What measuring adds to a cost. It is found once in a process. */
static double
ckfp_meter_own(void)
{
	static double own = -1;
	ckfp_costs samples = {0};
	ckfp_meter meter;

	if (own >= 0)
		return own;
	while (samples.n < CKFP_EMPTY_SAMPLES)
	{
		ckfp_meter_start(&meter);
		ckfp_costs_add(&samples, ckfp_meter_processor(&meter), 0);
	}
	own = ckfp_costs_mean(&samples);
	return own;
}

double
ckfp_meter_read(const ckfp_meter *meter, double *wait)
{
	double processor = ckfp_meter_processor(meter);
	double rest = ckfp_clock(CLOCK_MONOTONIC) - meter->clock - processor;
	double blocks = (double)(CKFP_BLOCKS_READ - meter->blocks);

	*wait = Max(Min(rest, blocks * CKFP_BLOCK_NS), 0);
	return Max(processor - ckfp_meter_own(), 0) + *wait;
}

/* ------------------------------------------------------------------- the start */

static void
ckfp_sampling_begin(ckfp_sampling *sampling)
{
	sampling->rows = 0;
	sampling->matched = 0;
	sampling->lookups = (ckfp_costs){0};
	sampling->next = CKFP_SAMPLING_FIRST;
	sampling->next_sample = CKFP_SAMPLING_SAMPLE; /* short loops measure none */
}

void
ckfp_sampling_start(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;

	sampling->out = false;
	sampling->measured = false;
	sampling->scanned = 0;
	sampling->published = 0;
	if (sampling->next == 0)
		ckfp_sampling_begin(sampling);
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
	ckfp_sampling *sampling = &nest->sampling;
	double rows = (double)sampling->scanned;
	bool shared = false;
	double done = nest->driver != NULL ? ckfp_scan_progress(nest->driver, &shared) : 0;

	if (nest->filter_node.record.stops || sampling->all > sampling->scanned || done == 0)
		return (double)sampling->all;
	if (shared && nest->filter_node.shared != NULL)
		rows = ckfp_shared_rows(&nest->filter_node, sampling->scanned - sampling->published);
	sampling->published = sampling->scanned;
	return rows * (1 - done) / done * CKFP_SAMPLING_PROGRESS;
}

/* ------------------------------------------------------------------- the price */

/* The wait for the blocks of a table that is read in order, if a lookup in it waits so long. */
static double
ckfp_wait_for_pages(Relation table, BlockNumber pages, double lookup)
{
	double random;
	double sequential;

	get_tablespace_page_costs(table->rd_rel->reltablespace, &random, &sequential);
	return pages * lookup * (sequential < random ? sequential / random : 1);
}

/* What the filter is expected to cost, in ns, if this share of the rows of the dimension has keys,
 * and a lookup waits so long for blocks. The number of keys in *keys. */
static double
ckfp_nest_price(const ckfp_nest *nest, double share, double wait, double *keys)
{
	const CustomScan *holder = (const CustomScan *)nest->filter_node.css.ss.ps.plan;
	Relation table = ckfp_open_relation(nest->filter_node.css.ss.ps.state,
										((const Scan *)linitial(holder->custom_plans))->scanrelid);
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

/* Does a filter pay? If scans for it were ended, it has to save more than the last one would have
 * cost, so all of them have cost less than that. */
static bool
ckfp_sampling_pays(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;
	const ckfp_costs *lookups = &sampling->lookups;
	double pass = (double)sampling->matched / (double)sampling->rows;
	double saved = ckfp_costs_mean(lookups) - CKFP_LOOKUP_NS;
	double price;
	double keys;

	if (pass > ckfp_join_max_pass || saved <= 0)
		return false;
	saved *= 1 - pass;
	price = Max(ckfp_nest_price(nest, pass, lookups->wait / lookups->n, &keys), sampling->price);
	sampling->gain = ckfp_rows_to_come(nest) * saved;
	return ckfp_cost_fits(keys) && sampling->gain > price &&
		   (double)sampling->all * saved > price * CKFP_SAMPLING_PAID;
}

/* What the scan of the dimension will have cost, if its rest costs as much as what was read so far,
 * or since the last check: the first rows cost more. */
static double
ckfp_reading_price(ckfp_reading *reading, double spent, double done)
{
	double price = spent / done;

	if (done > reading->done)
		price = Min(price, spent + (spent - reading->spent) / (done - reading->done) * (1 - done));
	reading->spent = spent;
	reading->done = done;
	return price;
}

bool
ckfp_sampling_is_exceeded(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;
	uint64 rows = ++nest->reading.rows;
	double price;
	double spent;
	double done;
	double wait;
	bool shared;

	if ((rows % CKFP_NEST_CHECK != 0 &&
		 (rows < CKFP_NEST_CHECK_FIRST || (rows & (rows - 1)) != 0)) ||
		ckfp_join_mode_setting != CKFP_JOIN_AUTO)
		return false;
	spent = ckfp_meter_read(&nest->reading.begun, &wait);
	done = ckfp_scan_progress((const ScanState *)nest->scan, &shared);
	price = done == 0 ? 2 * spent
					  : ckfp_reading_price(&nest->reading, spent, done) +
							(double)nest->filter_node.filter.n / done * CKFP_NEST_KEY_NS;
	if (spent <= sampling->gain * CKFP_SAMPLING_PAID || price - spent <= sampling->gain)
		return false;
	sampling->price = price;
	return true;
}

/* ------------------------------------------------------------------- sampling */

/* Have the InitPlans run whose results the scan's conditions contain? They run when a row first
 * needs them, and not for a filter. */
static bool
ckfp_params_are_known(const ckfp_nest *nest)
{
	const CustomScan *holder = (const CustomScan *)nest->filter_node.css.ss.ps.plan;
	const ParamExecData *values = nest->filter_node.css.ss.ps.state->es_param_exec_vals;
	const Bitmapset *params = ((Plan *)linitial(holder->custom_plans))->extParam;
	int param = -1;

	while ((param = bms_next_member(params, param)) >= 0)
		if (values[param].execPlan != NULL)
			return false;
	return true;
}

bool
ckfp_sampling_wants_ranges(ckfp_nest *nest)
{
	double keys;

	if (ckfp_join_mode_setting == CKFP_JOIN_OFF || !ckfp_params_are_known(nest))
		return false;
	nest->sampling.gain =
		CKFP_NEST_RANGES_SHARE * nest->filter_node.record.block_rows * CKFP_ROW_NS;
	return ckfp_join_mode_setting != CKFP_JOIN_AUTO ||
		   (!nest->filter_node.record.stops &&
			ckfp_nest_price(nest, 0, 0, &keys) < nest->sampling.gain);
}

/* Suspend the sampling for as many rows as were read so far. */
static void
ckfp_sampling_suspend(ckfp_sampling *sampling)
{
	sampling->rows_before += sampling->rows;
	sampling->matched_before += sampling->matched;
	sampling->suspended = sampling->all;
	sampling->all += sampling->suspended; /* they are not counted one by one */
	sampling->scanned += sampling->suspended;
	ckfp_sampling_begin(sampling);
}

/* Is the filter to be made now? Otherwise, set when to decide again. */
static bool
ckfp_sampling_decide(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;
	ckfp_join_counts *counts = &nest->filter_node.counts;
	bool pays = ckfp_join_mode_setting != CKFP_JOIN_AUTO || ckfp_sampling_pays(nest);

	/* the setting may be off since the query began: a cursor */
	if (nest->filter_node.state == CKFP_FILTER_OFF || ckfp_join_mode_setting == CKFP_JOIN_OFF)
	{
		sampling->on = false;
		return false;
	}
	if (counts->given_up == CKFP_GIVEN_UP_NOT) /* else EXPLAIN says after how many that was */
	{
		counts->sampled = sampling->rows_before + sampling->rows;
		counts->matched = sampling->matched_before + sampling->matched;
	}
	counts->not_run = pays && !ckfp_params_are_known(nest);
	if (pays && !counts->not_run)
		return true;
	sampling->next += sampling->next / 4;
	if ((sampling->rows >= CKFP_SAMPLING_LAST || sampling->rows_before > 0) &&
		(double)sampling->matched > ckfp_join_max_pass * (double)sampling->rows)
		ckfp_sampling_suspend(sampling);
	return false;
}

/* Has another filter removed rows from the inner side since the outer row was returned? Then the
 * dimension has rows for it, and a filter of the dimension's keys would pass it. Our scan of the
 * dimension does not use the other filter: ours would have to be made anew whenever that is. */
static bool
ckfp_sampling_is_emptied(const ckfp_nest *nest)
{
	return ckfp_condition_removed(nest->inner) != nest->sampling.removed;
}

/* The lookups that Memoize has answered from its cache. */
static uint64
ckfp_sampling_cached(const ckfp_nest *nest)
{
	if (nest->memoize != NULL)
		return ((const MemoizeState *)nest->memoize)->stats.cache_hits;
	return 0;
}

/* Is it unknown whether the dimension has rows for a row without a match? It is if Memoize gives an
 * answer that another filter may have emptied. */
static bool
ckfp_sampling_is_unknown(const ckfp_nest *nest)
{
	return nest->sampling.removed > 0 && ckfp_sampling_cached(nest) != nest->sampling.cached;
}

void
ckfp_sampling_lookup_ended(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;
	double wait;
	double cost;

	if (sampling->measured && !nest->loop->nl_MatchedOuter)
	{
		cost = ckfp_meter_read(&sampling->left, &wait);
		ckfp_costs_add(&sampling->lookups, cost, wait);
	}
	sampling->measured = false;
}

bool
ckfp_sampling_count(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;
	bool matched = nest->loop->nl_MatchedOuter;

	if (!sampling->out)
		return false;
	ckfp_sampling_lookup_ended(nest);
	sampling->out = false;
	sampling->scanned++;
	sampling->all++;
	if (!matched && ckfp_sampling_is_unknown(nest))
		return false;
	sampling->rows++;
	if (matched || ckfp_sampling_is_emptied(nest))
		sampling->matched++;
	return sampling->rows >= sampling->next && ckfp_sampling_decide(nest);
}

void
ckfp_sampling_row(ckfp_nest *nest)
{
	ckfp_sampling *sampling = &nest->sampling;

	sampling->out = true;
	sampling->removed = ckfp_condition_removed(nest->inner);
	sampling->cached = ckfp_sampling_cached(nest);
	sampling->measured = sampling->rows >= sampling->next_sample;
	if (sampling->measured)
	{
		sampling->next_sample =
			sampling->rows + Max(CKFP_SAMPLING_SAMPLE, sampling->rows / CKFP_SAMPLING_SHARE);
		ckfp_meter_start(&sampling->left);
	}
}
