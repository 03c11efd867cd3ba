/*
 * skip_blocks.c - scans that skip blocks, in the executor.
 *
 * A function of ours takes the place of the scan's own, as in skip_scans.c. As soon as there is
 * nothing to skip it puts that back, so that the scan then costs nothing more for a row. Until this
 * process has gathered the keys there is nothing to skip, either.
 */
#include "join/exec/exec.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include <math.h>

/* The build side is read first if that costs at most this share of the scans. */
#define CKFP_FIRST_SHARE 0.2

/* Hashing a row of it, and reading one by an index, in ns. */
#define CKFP_HASH_NS 150.0
#define CKFP_INDEX_NS 500.0

/* Put a function in the place of that of a scan. */
static void
ckfp_skip_blocks_put(ckfp_scan_filters *tests, bool armed, ExecProcNodeMtd exec)
{
	if (tests->armed == armed)
		return;
	tests->armed = armed;
	ckfp_skip_set_function(tests, exec);
	ckfp_condition_update(tests);
}

/* ExecScan() for such a scan, without the calls of functions for each row. */
static TupleTableSlot *
ckfp_skip_blocks_exec(PlanState *scan)
{
	ckfp_scan_filters *tests = scan->qual->evalfunc_private;
	ExprContext *econtext = scan->ps_ExprContext;
	ProjectionInfo *projection = scan->ps_ProjInfo;
	TupleTableSlot *slot = NULL;
	bool passes = false;

	/* The first row is near, and perhaps the only one that is read. Not in a parallel scan: if
	 * another process has taken all blocks that are left, the scan's own function finds none. */
	if (tests->condition == NULL && !scan->plan->parallel_aware && !tests->blocks->skips &&
		ckfp_tests_are_early(tests))
		return tests->block_function(scan);
	ckfp_blocks_check_keys(tests->blocks);
	while (!passes && !ckfp_blocks_is_idle(tests->blocks))
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		slot = ckfp_blocks_next(tests->blocks);
		econtext->ecxt_scantuple = slot;
		passes = slot == NULL || ExecQual(&tests->state, econtext);
		InstrCountFiltered1(scan, passes ? 0 : 1);
	}
	if (ckfp_blocks_is_idle(tests->blocks))
		ckfp_skip_blocks_put(tests, false, tests->block_function);
	if (!passes)
		return scan->ExecProcNodeReal(scan);
	if (projection == NULL)
		return slot;
	return slot == NULL ? ExecClearTuple(projection->pi_state.resultslot) : ExecProject(projection);
}

/* A Bitmap Heap Scan. Its own function reads it, as bitmap.c lets it. */
static TupleTableSlot *
ckfp_exec_bitmap(PlanState *scan)
{
	ckfp_scan_filters *tests = scan->qual->evalfunc_private;
	TupleTableSlot *slot = ckfp_bitmap_next(tests->blocks, tests->block_function);

	if (ckfp_blocks_is_idle(tests->blocks) || ckfp_bitmap_is_whole(tests->blocks))
		ckfp_skip_blocks_put(tests, false, tests->block_function);
	return slot;
}

/* Let a scan look for blocks to skip. */
static void
ckfp_blocks_put_ours(void *scan_tests)
{
	ckfp_scan_filters *tests = scan_tests;

	ckfp_skip_blocks_put(tests, true,
						 tests->blocks->bitmap != NULL ? ckfp_exec_bitmap : ckfp_skip_blocks_exec);
}

void
ckfp_skip_blocks_install(ckfp_scan_filters *tests, ckfp_filter_node *filter_node, int number)
{
	const ckfp_join_record *record = &filter_node->record;
	const ckfp_join_target *target = list_nth(record->targets, number);
	ScanState *scan = (ScanState *)tests->scan;
	ckfp_key_ranges *ranges = &filter_node->ranges;
	bool wanted = false;

	if (!record->blocks || target->indexes == 0 || !ckfp_blocks_is_possible(scan))
		return;
	if (ranges->columns == 0)
		ckfp_key_ranges_init(ranges, record, filter_node->css.ss.ps.plan->plan_node_id);
	for (int i = 0; i < target->indexes; i++)
		wanted |= ckfp_key_ranges_want(ranges, record, &target->index[i]);
	if (!wanted)
		return;
	ranges->state = CKFP_RANGES_NEW;
	ranges->before = ckfp_wal_before();
	filter_node->allocates |= !ranges->by_value;
	filter_node->verify |= ckfp_join_mode_setting == CKFP_JOIN_VERIFY;
	if (tests->blocks == NULL)
	{
		tests->blocks = ckfp_blocks_make(scan, ckfp_join_mode_setting == CKFP_JOIN_VERIFY);
		tests->block_function = scan->ps.ExecProcNodeReal;
		if (IsA(scan, BitmapHeapScanState))
			ckfp_bitmap_make(tests->blocks, ckfp_blocks_put_ours, tests);
	}
	ckfp_blocks_add(tests->blocks, ranges, record, number);
}

/* What reading the rows of a build side costs at most, in ns. For the scan of a table this is known
 * without estimates. For any other node it is infinite, except for VALUES. */
static double
ckfp_skip_blocks_price(const PlanState *side)
{
	double row = CKFP_ROW_NS;

	while (IsA(side, SubqueryScanState) || ckfp_join_is_build(side->plan))
		side = IsA(side, SubqueryScanState) ? ((const SubqueryScanState *)side)->subplan
											: outerPlanState(side);
	if (IsA(side, ValuesScanState))
		return side->plan->plan_rows * (row + CKFP_HASH_NS);
	if (IsA(side, IndexScanState) || IsA(side, IndexOnlyScanState) ||
		IsA(side, BitmapHeapScanState))
		row = CKFP_INDEX_NS;
	else if (!IsA(side, SeqScanState))
		return INFINITY;
	return ckfp_table_cost(((const ScanState *)side)->ss_currentRelation, row + CKFP_HASH_NS);
}

/* Does reading the build side first cost little, compared with reading all blocks of the scans? If
 * the scans have no row, PostgreSQL reads only the scans, and not the build side. */
static bool
ckfp_skip_blocks_is_cheap(const ckfp_filter_node *filter_node)
{
	double price = ckfp_skip_blocks_price(outerPlanState(filter_node));
	double scans = 0;

	if (isinf(price))
		return false;
	price *= filter_node->record.first_if_cheap / CKFP_FIRST_SHARE;
	foreach_ptr (const ckfp_scan_filters, tests, filter_node->tests)
	{
		if (scans >= price)
			break;
		if (tests->blocks != NULL)
			scans +=
				tests->blocks->share *
				ckfp_table_cost(((const ScanState *)tests->scan)->ss_currentRelation, CKFP_ROW_NS);
	}
	return scans >= price;
}

void
ckfp_skip_blocks_start(ckfp_filter_node *filter_node)
{
	if (filter_node->ranges.columns == 0)
		return;
	ckfp_key_ranges_start(&filter_node->ranges);
	/* before the first row of a scan, which its own condition may let be far */
	if (filter_node->ranges.state == CKFP_RANGES_NEW && filter_node->record.first_if_cheap > 0 &&
		ckfp_skip_blocks_is_cheap(filter_node))
		ckfp_filter_node_read_first(filter_node);
	foreach_ptr (ckfp_scan_filters, tests, filter_node->tests)
	{
		if (tests->blocks == NULL)
			continue;
		ckfp_blocks_arm(tests->blocks);
		ckfp_blocks_put_ours(tests);
	}
}

void
ckfp_skip_blocks_know(const ckfp_filter_node *filter_node)
{
	foreach_ptr (ckfp_scan_filters, tests, filter_node->tests)
	{
		if (tests->blocks == NULL)
			continue;
		ckfp_blocks_recheck(tests->blocks);
		ckfp_blocks_put_ours(tests);
	}
}

void
ckfp_skip_blocks_finish(ckfp_filter_node *filter_node)
{
	foreach_ptr (ckfp_scan_filters, tests, filter_node->tests)
		if (tests->blocks != NULL)
			ckfp_blocks_end(tests->blocks);
}
