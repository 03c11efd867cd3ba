/*
 * skip.c - scans of partitions that are not read, because no key can be in them.
 *
 * The executor asks a plan node for a row through a pointer to a function. We put a function of our
 * own in its place. When it is called and the filters are ready, it either returns no row, now and
 * later, or puts the original function back. So a scan that is read costs nothing more for a row.
 *
 * Append asks asynchronous scans in another way, all at its start. So before it starts, we take the
 * scans that are skipped out of the list of those that it asks.
 */
#include "skip.h"
#include "shared.h"

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
ckfp_skip_decide(const ckfp_skip *skip)
{
	ckfp_verdict verdict = CKFP_READ;
	int i;

	for (i = 0; i < skip->filters; i++)
	{
		ckfp_build *build = skip->filter[i].build;

		if (!build->asking && !build->disabled && ckfp_shared_is_common(build))
			ckfp_shared_attach(build);
		if (build->disabled)
			continue;
		if (ckfp_partitions_skip(&build->partitions, skip->filter[i].target))
			return CKFP_SKIP;
		if (!build->partitions.known)
			verdict = CKFP_WAIT;
	}
	return verdict;
}

static TupleTableSlot *
ckfp_skip_exec(PlanState *scan)
{
	ckfp_skip *skip = scan->qual->evalfunc_private;
	ckfp_verdict verdict = ckfp_skip_decide(skip);
	TupleTableSlot *slot;

	if (verdict == CKFP_SKIP)
		return NULL;
	scan->ExecProcNode = skip->exec;
	slot = scan->ExecProcNode(scan);
	if (verdict == CKFP_WAIT)
	{
		skip->exec = scan->ExecProcNode; /* the first call changes it */
		scan->ExecProcNode = ckfp_skip_exec;
	}
	return slot;
}

/* ---------------------------------------------------------------- asynchronous scans */

#if PG_VERSION_NUM >= 140000

/* Does an Append ask a scan asynchronously? If plans are pruned during execution, it makes the list
 * of these scans again. Then they are not skipped. */
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

/* The first call of an Append. */
static TupleTableSlot *
ckfp_skip_exec_append(PlanState *state)
{
	AppendState *append = castNode(AppendState, state);
	MemoryContext caller = MemoryContextSwitchTo(state->state->es_query_cxt);
	int i = -1;

	while ((i = bms_next_member(append->as_asyncplans, i)) >= 0)
	{
		PlanState *scan = append->appendplans[i];

		if (scan->ExecProcNode == ckfp_skip_exec &&
			ckfp_skip_decide(scan->qual->evalfunc_private) == CKFP_SKIP)
			append->as_valid_asyncplans = bms_del_member(append->as_valid_asyncplans, i);
	}
	MemoryContextSwitchTo(caller);
	ExecSetExecProcNode(state, state->ExecProcNodeReal);
	return state->ExecProcNode(state);
}

/* Let an Append ask all of its asynchronous scans again, and decide anew. */
static void
ckfp_skip_arm_append(AppendState *append)
{
	MemoryContext caller;

	if (append->ps.ExecProcNode == ckfp_skip_exec_append)
		return;
	caller = MemoryContextSwitchTo(append->ps.state->es_query_cxt);
	append->as_valid_asyncplans = bms_copy(append->as_asyncplans);
	append->ps.ExecProcNode = ckfp_skip_exec_append;
	MemoryContextSwitchTo(caller);
}

#endif

/* ----------------------------------------------------------------------- arming */

void
ckfp_skip_add(ckfp_skip *skip, PlanState *scan, AppendState *append, int room, ckfp_build *build,
			  int target)
{
	MemoryContext context = scan->state->es_query_cxt;
	MemoryContext caller;

	skip->scan = scan;
#if PG_VERSION_NUM >= 140000
	if (append != NULL && ckfp_skip_is_async(append, scan))
		skip->append = append;
#endif
	if (skip->filter == NULL)
		skip->filter = MemoryContextAlloc(context, room * sizeof(ckfp_skip_filter));
	skip->filter[skip->filters++] = (ckfp_skip_filter){build, target};
	caller = MemoryContextSwitchTo(context);
	build->skips = lappend(build->skips, skip);
	MemoryContextSwitchTo(caller);
}

void
ckfp_skip_arm(ckfp_build *build)
{
	ListCell *cell;

	if (build->verify || build->disabled)
		return;
	foreach (cell, build->skips)
	{
		ckfp_skip *skip = lfirst(cell);

#if PG_VERSION_NUM >= 140000
		if (skip->append != NULL)
			ckfp_skip_arm_append(skip->append);
#endif
		if (skip->scan->ExecProcNode == ckfp_skip_exec)
			continue;
		skip->exec = skip->scan->ExecProcNode;
		skip->scan->ExecProcNode = ckfp_skip_exec;
	}
}
