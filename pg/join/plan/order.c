/*
 * order.c - may a hash join read its build side first?
 *
 * A serial hash join fetches a row of its probe side before it reads its build side, if that row is
 * expected to be cheap. If there is no row, it need not read the build side. This order determines
 * side effects, errors, and which nodes never run, so join filters keep it. Until a filter is ready
 * it lets all rows pass: one row, or some that other joins below drop.
 *
 * Two kinds of scan are exceptions. The first is a foreign scan. It sends its query with the
 * current parameters when its first row is fetched, and cannot use a filter that is built later.
 * Asynchronous ones all send their queries with the first row. For them the build side is read
 * first, if both hold:
 *
 * - Nothing in the build side has side effects, can fail or starts an InitPlan. So reading it where
 *   PostgreSQL would not have read it has no visible effect.
 * - There is no other join between this join and the scan. If the build side of such a join is
 *   empty, PostgreSQL ends without reading this one.
 *
 * The second is a scan that skips blocks and has a condition, by the same rules. It reads all
 * blocks up to its first row, or makes its whole bitmap. If it has no row, it reads all blocks, and
 * PostgreSQL does not read the build side. So the build side is read first only if that is cheap,
 * compared with the scan. This is decided when the query runs (exec/skip_blocks.c), by the size of
 * the tables, as estimates can be wrong; only the share of a table that a bitmap has is estimated.
 */
#include "join/plan/plan.h"
#include "join/remote/remote.h"

#include "access/transam.h"

/* ------------------------------------------------------------------ does it pay? */

typedef struct ckfp_probe_side
{
	bool early;  /* there is a scan that must know the filter before its first row */
	bool far;    /* there is a scan that may read many blocks before its first row */
	bool pruned; /* perhaps not all scans are read, even if none has a row */
	bool other;  /* there is a node of any other kind */
} ckfp_probe_side;

/* Note which scans gain if the keys are known before their first row. A scan must know them if its
 * server uses the filter, or if it is asynchronous and may be skipped, as all those start with the
 * first row. A scan that skips blocks and has a condition may read many before its first row. */
static void
ckfp_inspect_targets(const ckfp_join_record *record, ckfp_probe_side *side)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
	{
		side->early |= ckfp_remote_uses(target);
		side->early |= target->partition && target->foreign != NULL &&
					   target->foreign->scan.plan.async_capable;
		side->far |= record->blocks && target->indexes > 0 && target->condition;
	}
}

/* May a node leave out children that can have no row, when it knows parameters? */
static bool
ckfp_prunes(const Plan *plan)
{
#if PG_VERSION_NUM >= 180000
#define CKFP_PRUNES(node) ((node)->part_prune_index >= 0)
#else
#define CKFP_PRUNES(node) ((node)->part_prune_info != NULL)
#endif
	return (IsA(plan, Append) && CKFP_PRUNES((const Append *)plan)) ||
		   (IsA(plan, MergeAppend) && CKFP_PRUNES((const MergeAppend *)plan));
}

static void
ckfp_inspect_probe_side(Plan *plan, void *context)
{
	ckfp_probe_side *side = context;

	side->pruned |= ckfp_prunes(plan);
	if (IsA(plan, ForeignScan))
		return;
	/* a condition without columns decides whether the child is read at all */
	if ((ckfp_node_of(plan)->is & CKFP_NODE_SIDE) &&
		!(IsA(plan, Result) && ((const Result *)plan)->resconstantqual != NULL))
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

void
ckfp_order_plan(const ckfp_rules *rules, HashJoin *join, ckfp_join_record *record)
{
	ckfp_probe_side side = {0};
	ckfp_failing failing = {.statement = &rules->statement};

	ckfp_inspect_targets(record, &side);
	if (!side.early && !side.far)
		return;
	ckfp_inspect_probe_side(outerPlan(join), &side);
	side.far &= !side.pruned;
	if (side.other || ckfp_hashing_may_fail(join) ||
		ckfp_expression_may_fail((Node *)join->hashclauses, &rules->statement))
		return;
	ckfp_find_failing(innerPlan(join), &failing);
	record->first = side.early && !failing.may_fail;
	record->first_if_cheap = side.far && !failing.may_fail ? rules->processes : 0;
}
