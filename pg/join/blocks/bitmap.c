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

#if PG_VERSION_NUM < 180000
#define TBMPrivateIterator TBMIterator
#define tbm_begin_private_iterate tbm_begin_iterate
#define tbm_end_private_iterate tbm_end_iterate
#endif

struct ckfp_bitmap
{
	BitmapIndexScanState ours; /* in the place of the child */
	IndexScanDescData index;   /* its index */
	PlanState *child;
	TIDBitmap *all;               /* that of the child; NULL: it is not needed any more */
	TBMPrivateIterator *iterator; /* in `all` */
	bool last;                    /* the scan has the last part */
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

/* The scan starts again. */
static void
ckfp_bitmap_restart(ckfp_blocks *blocks)
{
	ckfp_bitmap *bitmap = blocks->bitmap;

	if (bitmap->all != NULL)
	{
		tbm_end_private_iterate(bitmap->iterator);
		tbm_free(bitmap->all);
	}
	bitmap->all = NULL;
	bitmap->last = false;
	blocks->begun = 0;
	bitmap->again(bitmap->argument);
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
	blocks->share = Min(bitmap->child->plan->plan_rows / Max(rows, 1), 1);
	blocks->bitmap = bitmap;
	blocks->restart = ckfp_bitmap_restart;
}

/* ----------------------------------------------------------------------- pages */

/* Is a page of the child's bitmap a candidate? Counts it. */
static bool
ckfp_bitmap_admits(const ckfp_blocks *blocks, BlockNumber block)
{
	bool tells = block < blocks->blocks; /* else it has only rows that the snapshot does not see */
	bool candidate = !tells || blocks->candidates == NULL || CKFP_BIT(blocks->candidates, block);
	bool counted = !tells || (candidate && !blocks->verify);

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

/* Copy the next page of the child's bitmap, if it is a candidate. False if there is none. */
static bool
ckfp_bitmap_copy_page(ckfp_blocks *blocks, TIDBitmap *to, bool *candidate)
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
	*candidate = ckfp_bitmap_admits(blocks, page->blockno);
	if (!*candidate)
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

/* Count the blocks of the table that are no candidates, eight at once. */
static void
ckfp_bitmap_count_skipped(const ckfp_blocks *blocks)
{
	if (blocks->filters->next == NULL)
	{
		BlockNumber n = blocks->blocks - (BlockNumber)pg_popcount((const char *)blocks->candidates,
																  (int)(blocks->blocks / 8 + 1));

		blocks->filters->keys->blocks += n;
		blocks->filters->keys->skipped += n;
		return;
	}
	for (BlockNumber b = 0; b < blocks->blocks; b += 8)
	{
		uint8 of = blocks->blocks - b < 8 ? (1 << (blocks->blocks - b)) - 1 : 0xff;
		uint8 left = of & ~blocks->candidates[b / 8];
		int n = pg_number_of_ones[left];

		for (const ckfp_block_filter *filter = blocks->filters; filter != NULL;
			 filter = filter->next)
		{
			uint8 denied = filter->candidates != NULL ? left & ~filter->candidates[b / 8] : 0;

			if (filter->decided != filter->keys->generation ||
				filter->keys->state != CKFP_RANGES_KNOWN)
				continue;
			filter->keys->blocks += n;
			filter->keys->skipped += pg_number_of_ones[denied];
			left &= ~denied;
		}
	}
}

/* Fetch the child's bitmap; or if it is not needed, make one of the candidate blocks; of all blocks
 * of the table if they may yet be read. */
static void
ckfp_bitmap_fetch(ckfp_blocks *blocks)
{
	ckfp_bitmap *bitmap = blocks->bitmap;
	MemoryContext caller = MemoryContextSwitchTo(blocks->scan->ps.state->es_query_cxt);
	bool covered = ckfp_bitmap_is_covered(blocks);
	bool careful = ckfp_bitmap_is_careful(blocks);

	if (covered || IsA(bitmap->child, BitmapIndexScanState))
		bitmap->all = tbm_create(work_mem * (Size)1024, NULL);
	if (covered && !careful)
		ckfp_bitmap_count_skipped(blocks);
	for (BlockNumber b = 0; covered && b < blocks->blocks; b++)
	{
		if (!careful)
			b = ckfp_blocks_next_candidate(blocks, b, blocks->blocks);
		if (b < blocks->blocks)
			tbm_add_page(bitmap->all, b);
	}
	if (!covered)
	{
		/* one that is not shared, even if the scan is parallel */
		if (bitmap->all != NULL)
			((BitmapIndexScanState *)bitmap->child)->biss_result = bitmap->all;
		bitmap->all = (TIDBitmap *)MultiExecProcNode(bitmap->child);
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
	bool careful = ckfp_bitmap_is_careful(blocks);
	BlockNumber part = Min(Max(blocks->begun, CKFP_PART_FIRST), CKFP_PART_LARGEST);
	BlockNumber end = blocks->coming ? blocks->begun + part : InvalidBlockNumber;
	bool begun = false;
	bool candidate = false;

	if (bitmap->all == NULL)
		ckfp_bitmap_fetch(blocks);
	if (careful && !ckfp_blocks_hold(blocks))
		memset(blocks->candidates, 0xff, blocks->blocks / 8 + 1);
	while (blocks->begun < end && !(careful && begun && !candidate))
	{
		CHECK_FOR_INTERRUPTS();
		bitmap->last = !ckfp_bitmap_copy_page(blocks, to, &candidate);
		if (bitmap->last)
			break;
		begun |= candidate;
	}
	return 0;
}

/* ----------------------------------------------------------------------- the scan */

/* Use the keys that are known. */
static void
ckfp_bitmap_decide(ckfp_blocks *blocks)
{
	bool parallel = ckfp_bitmap_node(blocks)->pstate != NULL;

	if (blocks->skips == NULL)
	{
		blocks->blocks = RelationGetNumberOfBlocks(blocks->scan->ss_currentRelation);
		blocks->first = blocks->next = 0;
	}
	ckfp_blocks_use_known(blocks);
	blocks->coming &= !parallel;
	blocks->waiting = false;
	if (blocks->skips == NULL && (blocks->coming || blocks->candidates != NULL || blocks->verify))
		ckfp_blocks_start_skipping(blocks);
}

bool
ckfp_bitmap_is_whole(const ckfp_blocks *blocks)
{
	return blocks->bitmap->last || blocks->skips == NULL ||
		   ckfp_bitmap_node(blocks)->pstate != NULL;
}

/* Is there another part? Then the scan starts again. */
static bool
ckfp_bitmap_go_on(ckfp_blocks *blocks)
{
	if (ckfp_bitmap_is_whole(blocks))
		return false;
	if (blocks->coming)
		ckfp_bitmap_decide(blocks);
	ExecReScanBitmapHeapScan(ckfp_bitmap_node(blocks));
	return true;
}

TupleTableSlot *
ckfp_bitmap_next(ckfp_blocks *blocks, ExecProcNodeMtd own)
{
	BitmapHeapScanState *node = ckfp_bitmap_node(blocks);
	TupleTableSlot *slot;

	/* unless another process makes the bitmap */
	if (!node->initialized && blocks->skips == NULL &&
		(node->pstate == NULL || node->pstate->state == BM_INITIAL))
		ckfp_bitmap_decide(blocks);
	if (blocks->skips != NULL)
		outerPlanState(node) = &blocks->bitmap->ours.ss.ps;
	do
	{
		slot = own(&node->ss.ps);
		blocks->waiting = false;
	} while (TupIsNull(slot) && ckfp_bitmap_go_on(blocks));
	outerPlanState(node) = blocks->bitmap->child;
	return slot;
}
