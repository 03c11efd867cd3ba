/*
 * bitmap.c - a Bitmap Heap Scan that skips blocks.
 *
 * The scan's own function reads all rows. While it fetches its bitmap, a node of ours is in the
 * place of its child, and gives it the pages of the child's bitmap that are candidates. So
 * snapshots, the rows of lossy pages, prefetching and parallel scans stay PostgreSQL's. The node is
 * a BitmapIndexScan by an index that is in no catalog, as the executor fetches bitmaps from a few
 * kinds of nodes only.
 *
 * If the ranges of the keys are known first, and the condition of the child has only bounds of the
 * same column, the candidate blocks are within these, and the child need not run.
 *
 * While keys are awaited, the scan reads a part of its bitmap after the other: each time it ends,
 * it starts again with the next one. In a parallel scan, the process that makes the bitmap for all
 * processes uses the keys that are known then.
 */
#include "join/blocks/blocks.h"

#include "access/amapi.h"
#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "executor/nodeBitmapHeapscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

/* The pages of the first part. Each part has as many as all before it, but no more than the largest
 * one. */
#define CKFP_PART_FIRST 32
#define CKFP_PART_LARGEST 1024

/* The number of pages of a bitmap that are counted before the indexes are searched for the keys. */
#define CKFP_COUNTED_PAGES 1024

struct ckfp_bitmap
{
	BitmapIndexScanState ours; /* in the place of the child */
	IndexScanDescData index;   /* its index */
	PlanState *child;
	TIDBitmap *all;               /* that of the child; NULL: not yet, or the scan has all of it */
	TBMPrivateIterator *iterator; /* in `all` */
	double expected;              /* the share of the table's blocks that the planner expects */
	void (*again)(void *argument);
	void *argument;
};

static int64 ckfp_bitmap_fill(IndexScanDesc index, TIDBitmap *to);

static void
ckfp_bitmap_rescan(IndexScanDesc index, ScanKey keys, int nkeys, ScanKey orders, int norders)
{
}

static IndexAmRoutine ckfp_bitmap_access = {
	.type = T_IndexAmRoutine,
	.amrescan = ckfp_bitmap_rescan,
	.amgetbitmap = ckfp_bitmap_fill,
};

static RelationData ckfp_bitmap_index = {.rd_indam = &ckfp_bitmap_access};

static BitmapHeapScanState *
ckfp_bitmap_node(const ckfp_blocks *blocks)
{
	return castNode(BitmapHeapScanState, blocks->scan);
}

static void
ckfp_bitmap_free(ckfp_bitmap *bitmap)
{
	if (bitmap->all == NULL)
		return;
	tbm_end_private_iterate(bitmap->iterator);
	tbm_free(bitmap->all);
	bitmap->all = NULL;
}

/* The scan starts again. */
static void
ckfp_bitmap_restart(ckfp_blocks *blocks)
{
	ckfp_bitmap_free(blocks->bitmap);
	blocks->begun = 0;
	blocks->bitmap->again(blocks->bitmap->argument);
}

void
ckfp_bitmap_make(ckfp_blocks *blocks, void (*again)(void *argument), void *argument)
{
	BitmapHeapScanState *node = ckfp_bitmap_node(blocks);
	ckfp_bitmap *bitmap = palloc0(sizeof(*bitmap));
	BitmapIndexScan *plan = makeNode(BitmapIndexScan);
	double rows;

	bitmap->child = outerPlanState(node);
	bitmap->again = again;
	bitmap->argument = argument;
	bitmap->index.indexRelation = &ckfp_bitmap_index;
	bitmap->index.opaque = blocks;
	plan->isshared = node->ss.ps.plan->parallel_aware;
	NodeSetTag(&bitmap->ours, T_BitmapIndexScanState);
	bitmap->ours.ss.ps.plan = &plan->scan.plan;
	bitmap->ours.ss.ps.state = node->ss.ps.state;
	bitmap->ours.biss_ScanDesc = &bitmap->index;
	rows = ckfp_rows_in(node->ss.ss_currentRelation,
						RelationGetNumberOfBlocks(node->ss.ss_currentRelation));
	bitmap->expected = Min(bitmap->child->plan->plan_rows / Max(rows, 1), 1);
	blocks->share = bitmap->expected;
	blocks->bitmap = bitmap;
	blocks->restart = ckfp_bitmap_restart;
}

/* ----------------------------------------------------------------------- pages */

/* Is a page of the child's bitmap a candidate? Counts it. `read`: it is read even if it is not. */
static bool
ckfp_bitmap_admits(const ckfp_blocks *blocks, BlockNumber block, bool read)
{
	bool tells = block < blocks->blocks; /* else it has only rows that the snapshot does not see */
	bool candidate = !tells || blocks->candidates == NULL || CKFP_BIT(blocks->candidates, block);
	bool counted = !tells || ((candidate || read) && !blocks->verify);

	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
	{
		if (filter->decided != filter->keys->generation || filter->keys->state != CKFP_RANGES_KNOWN)
			continue;
		filter->keys->blocks++;
		if (counted || filter->candidates == NULL || CKFP_BIT(filter->candidates, block))
			continue;
		filter->keys->skipped++;
		counted = !blocks->verify;
	}
	return candidate;
}

/* Copy the next page of the child's bitmap if it is a candidate or `read`. False: there is none. */
static bool
ckfp_bitmap_copy_page(ckfp_blocks *blocks, TIDBitmap *to, bool read, bool *candidate)
{
	ckfp_bitmap *bitmap = blocks->bitmap;
	ItemPointerData rows[MaxHeapTuplesPerPage];
#if PG_VERSION_NUM >= 180000
	TBMIterateResult result;
	TBMIterateResult *page = &result;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int n;

	if (!tbm_private_iterate(bitmap->iterator, page))
		return false;
	n = page->lossy ? -1 : tbm_extract_page_tuple(page, offsets, MaxHeapTuplesPerPage);
#else
	const TBMIterateResult *page = tbm_iterate(bitmap->iterator);
	const OffsetNumber *offsets;
	int n;

	if (page == NULL)
		return false;
	offsets = page->offsets;
	n = page->ntuples;
#endif
	blocks->begun++;
	blocks->next = Min(page->blockno + 1, blocks->blocks);
	*candidate = ckfp_bitmap_admits(blocks, page->blockno, read);
	if (!*candidate && !read)
		return true;
	if (n < 0)
		tbm_add_page(to, page->blockno);
	for (int i = 0; i < n; i++)
		ItemPointerSet(&rows[i], page->blockno, offsets[i]);
	if (n > 0)
		tbm_add_tuples(to, rows, n, page->recheck);
	return true;
}

/* Do the candidate blocks have regard to all of the child's condition? */
static bool
ckfp_bitmap_is_covered(const ckfp_blocks *blocks)
{
	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		if (filter->candidates != NULL && filter->covers &&
			filter->decided == filter->keys->generation)
			return blocks->candidates != NULL && !blocks->verify && !blocks->coming;
	return false;
}

/* Do keys depend on the time zone? Then a part ends where blocks are skipped, as the zone may have
 * changed until the scan comes there. */
static bool
ckfp_bitmap_is_careful(const ckfp_blocks *blocks)
{
	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		if (filter->keys->zone != NULL && blocks->candidates != NULL)
			return ckfp_bitmap_node(blocks)->pstate == NULL;
	return false;
}

/* The bitmap has the candidate blocks only: count the other ones. */
static void
ckfp_bitmap_count_skipped(const ckfp_blocks *blocks)
{
	BlockNumber n = 0;

	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		n += filter->gain;
	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		if (filter->keys->state == CKFP_RANGES_KNOWN)
		{
			filter->keys->blocks += n;
			filter->keys->skipped += filter->gain;
		}
}

/* A bitmap of the candidate blocks; of all blocks of the table if they may yet be read. */
static TIDBitmap *
ckfp_bitmap_of_candidates(ckfp_blocks *blocks)
{
	TIDBitmap *all = tbm_create(work_mem * (Size)1024, NULL);
	bool careful = ckfp_bitmap_is_careful(blocks);

	if (!careful)
		ckfp_bitmap_count_skipped(blocks);
	for (BlockNumber b = 0; b < blocks->blocks; b++)
	{
		if (!careful)
			b = ckfp_blocks_next_candidate(blocks, b, blocks->blocks);
		if (b < blocks->blocks)
			tbm_add_page(all, b);
	}
	return all;
}

/* That of the child: one that is not shared, even if the scan is parallel. */
static TIDBitmap *
ckfp_bitmap_of_child(const ckfp_bitmap *bitmap)
{
	EState *estate = bitmap->child->state;
	struct dsa_area *area = estate->es_query_dsa;
	TIDBitmap *all;

	if (IsA(bitmap->child, BitmapIndexScanState))
		((BitmapIndexScanState *)bitmap->child)->biss_result =
			tbm_create(work_mem * (Size)1024, NULL);
	estate->es_query_dsa = NULL; /* where BitmapAnd and BitmapOr would make one that is shared */
	all = (TIDBitmap *)MultiExecProcNode(bitmap->child);
	estate->es_query_dsa = area;
	return all;
}

/* Use the keys that are known, beside the condition of the child. */
static void
ckfp_bitmap_decide(ckfp_blocks *blocks)
{
	BitmapHeapScanState *node = ckfp_bitmap_node(blocks);

	outerPlanState(node) = blocks->bitmap->child;
	ckfp_blocks_use_known(blocks);
	outerPlanState(node) = &blocks->bitmap->ours.ss.ps;
	blocks->coming &= node->pstate == NULL;
}

/* May the index of the child also find the keys, so that the child need not run? */
static bool
ckfp_bitmap_may_be_covered(const ckfp_blocks *blocks)
{
	const BitmapIndexScanState *child = (BitmapIndexScanState *)blocks->bitmap->child;

	if (!IsA(child, BitmapIndexScanState) || child->biss_RelationDesc->rd_rel->relam == BRIN_AM_OID)
		return false;
	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		for (int i = 0; i < filter->target->indexes; i++)
			if (filter->target->index[i].oid == RelationGetRelid(child->biss_RelationDesc))
				return true;
	return false;
}

/* Fetch the bitmap of the child, or make one of the candidate blocks. The child comes first where
 * it has to run: what its bitmap costs is known then, and so what a search may cost. */
static void
ckfp_bitmap_fetch(ckfp_blocks *blocks)
{
	ckfp_bitmap *bitmap = blocks->bitmap;
	MemoryContext caller = MemoryContextSwitchTo(blocks->scan->ps.state->es_query_cxt);
	BlockNumber pages;

	blocks->blocks = RelationGetNumberOfBlocks(blocks->scan->ss_currentRelation);
	blocks->first = blocks->next = 0;
	blocks->share = bitmap->expected;
	if (ckfp_bitmap_may_be_covered(blocks))
		ckfp_bitmap_decide(blocks);
	if (ckfp_bitmap_is_covered(blocks))
		bitmap->all = ckfp_bitmap_of_candidates(blocks);
	else
	{
		bitmap->all = ckfp_bitmap_of_child(bitmap);
		pages = ckfp_count_pages(bitmap->all, CKFP_COUNTED_PAGES);
		if (pages < CKFP_COUNTED_PAGES)
			blocks->share = Min(bitmap->expected, pages / Max((double)blocks->blocks, 1));
		ckfp_bitmap_decide(blocks);
	}
	bitmap->iterator = tbm_begin_private_iterate(bitmap->all);
	MemoryContextSwitchTo(caller);
}

/* Give the scan a bitmap: the next part of the child's, or all that is left. */
static int64
ckfp_bitmap_fill(IndexScanDesc index, TIDBitmap *to)
{
	ckfp_blocks *blocks = index->opaque;
	ckfp_bitmap *bitmap = blocks->bitmap;
	bool careful;
	BlockNumber part = Min(Max(blocks->begun, CKFP_PART_FIRST), CKFP_PART_LARGEST);
	BlockNumber end;
	bool begun = false;
	bool candidate = false;

	if (bitmap->all == NULL)
		ckfp_bitmap_fetch(blocks);
	else if (blocks->coming)
		ckfp_bitmap_decide(blocks);
	if (blocks->begun == 0 && !blocks->coming && blocks->candidates == NULL && !blocks->verify)
	{
		tbm_union(to, bitmap->all);
		ckfp_bitmap_free(bitmap);
		return 0;
	}
	careful = ckfp_bitmap_is_careful(blocks);
	end = blocks->coming ? blocks->begun + part : InvalidBlockNumber;
	ckfp_blocks_check_zone(blocks);
	while (blocks->begun < end && !(careful && begun && !candidate))
	{
		CHECK_FOR_INTERRUPTS();
		/* the page at which a part ends is read, as the zone may be another one before that */
		if (!ckfp_bitmap_copy_page(blocks, to, careful && begun, &candidate))
		{
			ckfp_bitmap_free(bitmap);
			break;
		}
		begun |= candidate;
	}
	return 0;
}

/* ----------------------------------------------------------------------- the scan */

bool
ckfp_bitmap_is_whole(const ckfp_blocks *blocks)
{
	return blocks->bitmap->all == NULL || ckfp_bitmap_node(blocks)->pstate != NULL;
}

/* Is there another part? Then the scan starts again. */
static bool
ckfp_bitmap_go_on(ckfp_blocks *blocks)
{
	if (ckfp_bitmap_is_whole(blocks))
		return false;
	ExecReScanBitmapHeapScan(ckfp_bitmap_node(blocks));
	return true;
}

TupleTableSlot *
ckfp_bitmap_next(ckfp_blocks *blocks, ExecProcNodeMtd own)
{
	BitmapHeapScanState *node = ckfp_bitmap_node(blocks);
	TupleTableSlot *slot;

	if (blocks->skips == NULL)
		ckfp_blocks_start_skipping(blocks);
	outerPlanState(node) = &blocks->bitmap->ours.ss.ps;
	do
	{
		slot = own(&node->ss.ps);
		blocks->waiting = false;
	} while (TupIsNull(slot) && ckfp_bitmap_go_on(blocks));
	outerPlanState(node) = blocks->bitmap->child;
	return slot;
}
