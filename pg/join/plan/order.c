/*
 * order.c - may a hash join read its build side first?
 *
 * A serial hash join fetches a row of its probe side before it reads its build side, if that row is
 * expected to be cheap. If there is no row, it need not read the build side. This order determines
 * side effects, errors, and which nodes never run, so join filters keep it. Until
 * a filter is ready it lets all rows pass: one row, or some that other joins below drop.
 *
 * A foreign scan is the exception. It sends its query with the current parameters when its first
 * row is fetched, and cannot use a filter that is built later. Asynchronous ones all send their
 * queries with the first row. For them the build side is read first, if both hold:
 *
 * - Nothing in the build side has side effects, can fail or starts an InitPlan. So reading it where
 *   PostgreSQL would not have read it has no visible effect.
 * - There is no other join between this join and the scan. If the build side of such a join is
 *   empty, PostgreSQL ends without reading this one.
 *
 * A sequential scan that skips blocks and has a condition is another exception, by the same rules:
 * it reads all blocks up to its first row.
 */
#include "join/plan/plan.h"
#include "join/remote/remote.h"

#include "access/transam.h"

/* ------------------------------------------------------------------ does it pay? */

typedef struct ckfp_probe_side
{
	const ckfp_join_record *record;
	bool early; /* there is a scan that must know the filter before its first row */
	bool other; /* there is a node of any other kind */
} ckfp_probe_side;

/* Must the filter be ready before the first row of a scan? A server asks it, or a scan may be
 * skipped and is asynchronous: all those start with the first row. Or a sequential scan skips
 * blocks once the keys are known, and has a condition, so that its first row may be far. */
static bool
ckfp_is_early(const ckfp_join_record *record, const Plan *scan)
{
	bool far = IsA(scan, SeqScan) && scan->qual != NIL && record->blocks;

	foreach_ptr (const ckfp_join_target, target, record->targets)
	{
		if (target->node != scan->plan_node_id)
			continue;
		if (ckfp_remote_asks(target) || (far && target->indexes > 0))
			return true;
#if PG_VERSION_NUM >= 140000
		if (target->partition && IsA(scan, ForeignScan) && scan->async_capable)
			return true;
#endif
	}
	return false;
}

static void
ckfp_inspect_probe_side(Plan *plan, void *context)
{
	ckfp_probe_side *side = context;
	bool early = ckfp_is_early(side->record, plan);

	side->early |= early;
	if (early || IsA(plan, ForeignScan))
		return;
	if (ckfp_node_of(plan)->is & CKFP_NODE_SIDE)
		ckfp_plan_children(plan, ckfp_inspect_probe_side, context);
	else
		side->other = true;
}

/* ------------------------------------------------------------- does it have visible effects? */

/* Can hashing the keys of a join fail? The hash functions of built-in operators cannot. */
static bool
ckfp_hashing_may_fail(const HashJoin *join)
{
	ListCell *cell;

	foreach (cell, join->hashoperators)
		if (lfirst_oid(cell) >= FirstNormalObjectId)
			return true;
	return false;
}

typedef struct ckfp_failing
{
	const ckfp_statement *statement;
	bool may_fail;
} ckfp_failing;

static void
ckfp_find_failing(Plan *plan, void *context)
{
	ckfp_failing *failing = context;
	List *all =
		list_make4(plan->targetlist, plan->qual, ckfp_own_expressions(plan), plan->initPlan);

	if (!((ckfp_node_of(plan)->is & CKFP_NODE_SAFE) || ckfp_join_is_ours(plan)) ||
		(IsA(plan, HashJoin) && ckfp_hashing_may_fail((HashJoin *)plan)) ||
		ckfp_expression_may_fail((Node *)all, failing->statement))
		failing->may_fail = true;
	else
		ckfp_plan_children(plan, ckfp_find_failing, context);
}

bool
ckfp_order_may_change(const ckfp_statement *statement, HashJoin *join,
					  const ckfp_join_record *record)
{
	ckfp_probe_side side = {.record = record};
	ckfp_failing failing = {.statement = statement};

	ckfp_inspect_probe_side(outerPlan(join), &side);
	if (!side.early || side.other || ckfp_hashing_may_fail(join) ||
		ckfp_expression_may_fail((Node *)join->hashclauses, statement))
		return false;
	ckfp_find_failing(innerPlan(join), &failing);
	return !failing.may_fail;
}
