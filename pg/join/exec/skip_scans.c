/*
 * skip_scans.c - scans of partitions that are not read, because no key can be in them.
 *
 * The executor calls a plan node through a pointer to a function. We put a function of our own in
 * its place. When it is called and the filters are ready, it either returns no row, now and later,
 * or puts the original function back. So a scan that is read costs nothing more for a row.
 *
 * Append starts its asynchronous scans in another way, all at its own start. So before that, we
 * take the scans that are skipped out of its list of them.
 */
#include "join/exec/exec.h"

#include "executor/execPartition.h"
#include "executor/executor.h"

/* Whether a scan is skipped. */
typedef enum ckfp_verdict
{
	CKFP_SKIP,
	CKFP_READ,
	CKFP_WAIT /* some of its filters are not ready */
} ckfp_verdict;

static ckfp_verdict
ckfp_skip_decide(const PlanState *scan)
{
	const ckfp_scan_filters *tests = scan->qual->evalfunc_private;
	ckfp_verdict verdict = CKFP_READ;

	for (int i = 0; i < tests->n; i++)
	{
		ckfp_filter_node *filter_node = tests->test[i].filter_node;

		if (!tests->test[i].partition)
			continue;
		ckfp_shared_attach(filter_node);
		if (ckfp_filter_node_is_off(filter_node))
			continue;
		if (ckfp_partitions_skip(&filter_node->partitions, tests->test[i].target) &&
			ckfp_key_ranges_hold(&filter_node->ranges))
			return CKFP_SKIP;
		if (!filter_node->partitions.known)
			verdict = CKFP_WAIT;
	}
	return verdict;
}

static TupleTableSlot *
ckfp_skip_scan_exec(PlanState *scan)
{
	ckfp_scan_filters *tests = scan->qual->evalfunc_private;
	ckfp_verdict verdict = ckfp_skip_decide(scan);
	TupleTableSlot *slot;

	if (verdict == CKFP_SKIP)
		return NULL;
	scan->ExecProcNode = tests->scan_function;
	slot = scan->ExecProcNode(scan);
	if (verdict == CKFP_WAIT)
	{
		tests->scan_function = scan->ExecProcNode; /* the first call changes it */
		scan->ExecProcNode = ckfp_skip_scan_exec;
	}
	return slot;
}

/* ---------------------------------------------------------------- asynchronous scans */

/* Is a scan an asynchronous one of an Append? If plans are pruned during execution, it makes the
 * list of these scans again. Then they are not skipped. */
static bool
ckfp_skip_is_async(const AppendState *append, const PlanState *scan)
{
	int i = -1;

	if (append->as_prune_state != NULL && append->as_prune_state->do_exec_prune)
		return false;
	while ((i = bms_next_member(append->as_asyncplans, i)) >= 0)
		if (append->appendplans[i] == scan)
			return true;
	return false;
}

/* The function of an Append in its first call. */
static TupleTableSlot *
ckfp_skip_append_exec(PlanState *state)
{
	AppendState *append = castNode(AppendState, state);
	MemoryContext caller = MemoryContextSwitchTo(state->state->es_query_cxt);
	int i = -1;

	while ((i = bms_next_member(append->as_asyncplans, i)) >= 0)
	{
		PlanState *scan = append->appendplans[i];

		if (scan->ExecProcNode == ckfp_skip_scan_exec && ckfp_skip_decide(scan) == CKFP_SKIP)
			append->as_valid_asyncplans = bms_del_member(append->as_valid_asyncplans, i);
	}
	MemoryContextSwitchTo(caller);
	ExecSetExecProcNode(state, state->ExecProcNodeReal);
	return state->ExecProcNode(state);
}

/* Let an Append start all of its asynchronous scans again, but for those that are skipped then. */
static void
ckfp_skip_arm_append(AppendState *append)
{
	MemoryContext caller;

	if (append->ps.ExecProcNode == ckfp_skip_append_exec)
		return;
	caller = MemoryContextSwitchTo(append->ps.state->es_query_cxt);
	append->as_valid_asyncplans = bms_copy(append->as_asyncplans);
	append->ps.ExecProcNode = ckfp_skip_append_exec;
	MemoryContextSwitchTo(caller);
}

/* ----------------------------------------------------------------------- arming */

void
ckfp_skip_set_function(ckfp_scan_filters *tests, ExecProcNodeMtd exec)
{
	PlanState *scan = tests->scan;
	bool skips = scan->ExecProcNode == ckfp_skip_scan_exec;

	ExecSetExecProcNode(scan, exec);
	if (!skips)
		return;
	tests->scan_function = scan->ExecProcNode;
	scan->ExecProcNode = ckfp_skip_scan_exec;
}

void
ckfp_skip_add(ckfp_scan_filters *tests, PlanState *parent, ckfp_scan_filter *test)
{
	if (parent != NULL && IsA(parent, AppendState) &&
		ckfp_skip_is_async((AppendState *)parent, tests->scan))
		tests->append = (AppendState *)parent;
	tests->skips = true;
	test->partition = true;
	test->filter_node->skips = lappend(test->filter_node->skips, tests);
}

void
ckfp_skip_arm(ckfp_filter_node *filter_node)
{
	if (filter_node->verify || ckfp_filter_node_is_off(filter_node))
		return;
	foreach_ptr (ckfp_scan_filters, tests, filter_node->skips)
	{
		if (tests->append != NULL)
			ckfp_skip_arm_append(tests->append);
		if (tests->scan->ExecProcNode == ckfp_skip_scan_exec)
			continue;
		tests->scan_function = tests->scan->ExecProcNode;
		tests->scan->ExecProcNode = ckfp_skip_scan_exec;
	}
}
