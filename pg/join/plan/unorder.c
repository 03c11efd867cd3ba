/*
 * unorder.c - Index Scans become Bitmap Heap Scans, which can skip blocks.
 *
 * The rows then come in another order. Below a hash join no node relies on their order, unless a
 * node between the join and the scan does: the result of a hash join has none.
 */
#include "join/plan/plan.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_index.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

bool
ckfp_needs_order(const Plan *plan, bool above)
{
	if (IsA(plan, HashJoin) || IsA(plan, Hash) || IsA(plan, Sort))
		return false;
	if (IsA(plan, Agg))
		return ((const Agg *)plan)->aggstrategy != AGG_HASHED;
	return above || ckfp_node_of(plan)->kind == CKFP_NODE_GROUPS || IsA(plan, MergeJoin) ||
		   IsA(plan, MergeAppend) || IsA(plan, IncrementalSort);
}

/* Can an index be read as a bitmap? The condition of a Bitmap Heap Scan by a partial index has the
 * predicate, which that of an Index Scan lacks. */
static bool
ckfp_index_gives_bitmaps(Oid oid)
{
	Relation index = try_relation_open(oid, AccessShareLock); /* EXECUTE locks none */
	bool gives;

	if (index == NULL)
		return false; /* an extension invented it for EXPLAIN */
	gives = index->rd_indam->amgetbitmap != NULL &&
			heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
	relation_close(index, NoLock);
	return gives;
}

bool
ckfp_scan_skips(const Plan *plan, bool ordered, IndexScan **unordered)
{
	IndexScan *scan = (IndexScan *)plan;

	*unordered = NULL;
	if (!IsA(plan, IndexScan) || ordered || scan->indexqual == NIL || scan->indexorderby != NIL ||
		!ckfp_index_gives_bitmaps(scan->indexid))
		return IsA(plan, SeqScan) || IsA(plan, BitmapHeapScan);
	*unordered = scan;
	return true;
}

/* A scan of the same rows. It takes the place of the Index Scan in the plan, whose node is larger.
 */
static void
ckfp_unorder_scan(IndexScan *scan, int node)
{
	BitmapIndexScan *index = makeNode(BitmapIndexScan);
	Plan *plan = &index->scan.plan;
	List *condition = scan->indexqualorig;

	StaticAssertStmt(sizeof(BitmapHeapScan) <= sizeof(IndexScan), "an Index Scan is smaller");
	plan->plan_node_id = node;
	plan->plan_rows = scan->scan.plan.plan_rows;
	plan->startup_cost = scan->scan.plan.startup_cost;
	plan->total_cost = Min(plan->startup_cost + plan->plan_rows * cpu_index_tuple_cost,
						   scan->scan.plan.total_cost);
	plan->parallel_safe = scan->scan.plan.parallel_safe;
	plan->extParam = bms_copy(scan->scan.plan.extParam);
	plan->allParam = bms_copy(scan->scan.plan.allParam);
	index->scan.scanrelid = scan->scan.scanrelid;
	index->indexid = scan->indexid;
	index->isshared = scan->scan.plan.parallel_aware;
	index->indexqual = scan->indexqual;
	index->indexqualorig = condition;
	NodeSetTag(scan, T_BitmapHeapScan);
	((BitmapHeapScan *)scan)->bitmapqualorig = condition;
	outerPlan(scan) = plan;
	/* so that a hash join reads a cheap build side before it makes the bitmap, as it does with
	 * PostgreSQL's own Bitmap Heap Scans */
	scan->scan.plan.startup_cost = plan->total_cost;
}

void
ckfp_unorder_scans(const ckfp_join_record *record, int *last_node)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
		if (record->blocks && target->indexes > 0 && target->unordered != NULL)
			ckfp_unorder_scan(target->unordered, ++*last_node);
}
