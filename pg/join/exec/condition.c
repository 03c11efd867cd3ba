/*
 * condition.c - the condition of a scan that uses filters.
 *
 * A scan evaluates its condition, an ExprState, for each row. We replace it by one that evaluates
 * the original condition and then uses the filters. Other executor states of the same plan, such as
 * those of EvalPlanQual, keep their conditions.
 */
#include "join/exec/exec.h"

#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"

/* A merge join ends at the first row that comes after all of its inner side. So that a filter above
 * it does not keep such rows from it, perhaps up to the end of the scan, one of so many rows passes
 * untested. */
#define CKFP_MERGED_ROWS 64

/* ------------------------------------------------------------------- testing */

/* Does the server use the filter? If the first row of a foreign scan was fetched before the
 * filter was ready, the server did not receive it. Then this process tests for the rest of the
 * query. */
static inline bool
ckfp_server_tests(ckfp_scan_filter *test)
{
	if (test->remote && !test->filter_node->sent)
		test->remote = false;
	return test->remote;
}

/* Are all tests suspended? Counts the row. */
static inline bool
ckfp_tests_are_suspended(ckfp_scan_filters *tests)
{
	for (int i = 0; i < tests->n; i++)
		if (tests->test[i].suspension.suspended == 0)
			return false;
	for (int i = 0; i < tests->n; i++)
		tests->test[i].suspension.suspended--;
	return true;
}

/*
 * Is there a join between the scan and that of the filter that has not read its inner side yet? It
 * reads one outer row first, and ends if its inner side is then found to be empty. The filter must
 * not let the scan read on for a row that passes, as far as to its end.
 */
static pg_noinline bool
ckfp_test_is_early(ckfp_scan_filter *test)
{
	bool again = false;

	for (const ckfp_join_above *above = test->above; above != NULL && above->join != test->owner;
		 above = above->next)
	{
		if ((IsA(above->join, HashJoinState) &&
			 ((const HashJoinState *)above->join)->hj_HashTable == NULL) ||
			(IsA(above->join, MergeJoinState) &&
			 ((const MergeJoinState *)above->join)->mj_OuterTupleSlot == NULL))
			return true;
		again |= above->again;
	}
	if (!again) /* all have rows, now and later */
		test->above = NULL;
	return false;
}

bool
ckfp_tests_are_early(ckfp_scan_filters *tests)
{
	bool early = false;

	for (int i = 0; i < tests->n; i++)
	{
		ckfp_scan_filter *test = &tests->test[i];

		if (test->above != NULL && ckfp_test_is_early(test))
			early = true;
		else if (ckfp_test_is_ready(test) || test->filter_node->ranges.state == CKFP_RANGES_KNOWN)
			return false;
	}
	return early;
}

bool
ckfp_test_hash(ckfp_scan_filter *test, TupleTableSlot *slot, bool tells, bool passes)
{
	ckfp_filter_node *filter_node = test->filter_node;
	Datum values[CKFP_JOIN_KEYS];
	uint64 hash = 0;
	bool known = filter_node->record.mapped
					 ? ckfp_verify_key(test, slot, values, &hash)
					 : ckfp_source_hash(&test->source, slot, NULL, values, &hash);

	if (!tells)
		passes = known && ckf_contains(&filter_node->filter.filter, hash);
	if (unlikely(filter_node->verify) && known)
		ckfp_test_verify(test, slot, values, hash, passes);
	return passes;
}

/* Does a row pass all filters? */
static pg_noinline bool
ckfp_tests_pass(ckfp_scan_filters *tests, ExprContext *econtext)
{
	for (int i = 0; i < tests->n; i++)
	{
		ckfp_scan_filter *test = &tests->test[i];

		if (ckfp_suspension_passes(&test->suspension) ||
			(unlikely(test->above != NULL) && ckfp_test_is_early(test)) ||
			(unlikely(test->merged) && ++test->rows % CKFP_MERGED_ROWS == 0))
			continue;
		if (unlikely(test->filter_node->state != CKFP_FILTER_READY &&
					 !(test->filter_node->record.mapped && ckfp_test_is_ready(test))))
			ckfp_shared_attach(test->filter_node);
		if (unlikely(!ckfp_test_is_ready(test) && ckfp_verify_has_ranges(test->filter_node)))
			ckfp_verify_untested(test, econtext->ecxt_scantuple);
		else if (unlikely(!ckfp_test_is_ready(test) && ckfp_filter_node_is_off(test->filter_node)))
			ckfp_condition_update(tests);
		else if (!ckfp_server_tests(test) && ckfp_test_is_ready(test) &&
				 !ckfp_test_row(test, econtext->ecxt_scantuple))
		{
			/* EXPLAIN shows these rows at the node that owns the filter */
			InstrCountFiltered1(tests->scan, -1);
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------- a scan without its tests */

/* A sequential scan with one test, while that is suspended. It evaluates the original condition,
 * and not ours, so that a row costs next to nothing more than without a filter. Counts the rows. */
static TupleTableSlot *
ckfp_untested_exec(PlanState *scan)
{
	ckfp_scan_filters *tests = scan->qual->evalfunc_private;
	ckfp_suspension *suspension = &tests->test[0].suspension;
	TupleTableSlot *slot;

	if (unlikely(suspension->suspended == 0))
	{
		ckfp_skip_set_function(tests, tests->tested_function);
		return tests->tested_function(scan);
	}
	scan->qual = tests->condition;
	slot = tests->plain_function(scan);
	scan->qual = &tests->state;
	if (likely(!TupIsNull(slot)))
		suspension->suspended--;
	return slot;
}

/* The test of such a scan is suspended. */
static void
ckfp_tests_leave(ckfp_scan_filters *tests)
{
	tests->tested_function = tests->scan->ExecProcNodeReal;
	ckfp_skip_set_function(tests, ckfp_untested_exec);
}

/* The condition comes first, since it may drop most rows. It is called directly: the current
 * memory context is the per-tuple one already. */
static Datum
ckfp_tests_row(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_scan_filters *tests = state->evalfunc_private;
	ExprState *condition = tests->condition;

	*isnull = false;
	if (condition != NULL && !DatumGetBool(condition->evalfunc(condition, econtext, isnull)))
		return BoolGetDatum(false);
	if (!tests->testing)
		return BoolGetDatum(true);
	if (!ckfp_tests_are_suspended(tests))
		return BoolGetDatum(ckfp_tests_pass(tests, econtext));
	if (tests->plain_function != NULL && !tests->armed)
		ckfp_tests_leave(tests);
	return BoolGetDatum(true);
}

/* ------------------------------------------------------------- setting it */

#if PG_VERSION_NUM >= 180000

/* The next row of a sequential scan. */
static TupleTableSlot *
ckfp_next_row(ScanState *scan)
{
	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = ckfp_begin_scan(scan);
	return table_scan_getnextslot(scan->ss_currentScanDesc, scan->ps.state->es_direction,
								  scan->ss_ScanTupleSlot)
			   ? scan->ss_ScanTupleSlot
			   : NULL;
}

/* Does it meet the scan's own checks? */
static bool
ckfp_recheck_row(ScanState *scan, TupleTableSlot *slot)
{
	return true;
}

/* A sequential scan that evaluates its condition. */
static TupleTableSlot *
ckfp_condition_exec(PlanState *scan)
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
		ExecSetExecProcNode(scan, ckfp_condition_exec);
#endif
}

ckfp_scan_filters *
ckfp_condition_make(PlanState *scan, int n)
{
	ckfp_scan_filters *tests =
		palloc0(offsetof(ckfp_scan_filters, test) + n * sizeof(ckfp_scan_filter));

	ckfp_condition_init(&tests->state, ckfp_tests_row, tests);
	tests->scan = scan;
	tests->condition = scan->qual;
	tests->n = n;
	tests->testing = true;
	if (IsA(scan, SeqScanState) && n == 1)
		tests->plain_function = scan->ExecProcNodeReal;
	ckfp_make_scan_evaluate(scan);
	scan->qual = &tests->state;
	return tests;
}

bool
ckfp_condition_is_set(const PlanState *scan)
{
	return scan->qual != NULL && scan->qual->evalfunc == ckfp_tests_row;
}

const ckfp_blocks *
ckfp_condition_blocks(const PlanState *scan)
{
	const ckfp_scan_filters *tests =
		ckfp_condition_is_set(scan) ? scan->qual->evalfunc_private : NULL;

	return tests != NULL && tests->blocks != NULL && tests->blocks->skips ? tests->blocks : NULL;
}

uint64
ckfp_condition_removed(const PlanState *scan)
{
	const ckfp_scan_filters *tests;
	uint64 removed = 0;

	if (!ckfp_condition_is_set(scan))
		return 0;
	tests = scan->qual->evalfunc_private;
	for (int i = 0; i < tests->n; i++)
		removed += tests->test[i].filter_node->counts.removed;
	return removed;
}

/*
 * Must the condition of a scan be ours, as one of its filters can test rows now or during a call of
 * the scan? If this scan skips blocks (`armed`), the call itself may learn the keys. In a Parallel
 * Hash Join another process may finish the filter during the call. Otherwise a filter becomes ready
 * between two calls. A filter that has tested rows keeps our condition, by which
 * ckfp_condition_removed() finds it.
 */
static bool
ckfp_condition_may_test(const ckfp_scan_filters *tests)
{
	if (tests->armed)
		return true;
	for (int i = 0; i < tests->n; i++)
	{
		const ckfp_filter_node *filter_node = tests->test[i].filter_node;

		if (ckfp_test_is_ready(&tests->test[i]) || ckfp_verify_has_ranges(filter_node) ||
			(!ckfp_filter_node_is_off(filter_node) &&
			 (filter_node->counts.tested > 0 || ckfp_is_parallel_hash(filter_node))))
			return true;
	}
	return false;
}

void
ckfp_condition_update(ckfp_scan_filters *tests)
{
	if (tests->scan->ExecProcNodeReal == ckfp_untested_exec)
		ckfp_skip_set_function(tests, tests->tested_function);
	tests->testing = ckfp_condition_may_test(tests);
	/* scans that may be skipped, or blocks of them, are found by the condition */
	tests->scan->qual =
		tests->testing || tests->skips || tests->armed ? &tests->state : tests->condition;
}

void
ckfp_condition_update_all(const ckfp_filter_node *filter_node)
{
	foreach_ptr (ckfp_scan_filters, tests, filter_node->tests)
		ckfp_condition_update(tests);
}
