/*
 * candidates.c - ranges of keys to the blocks that can have them, by an index.
 *
 * What the index finds may have changed since: new rows of blocks that it did not find are of
 * later transactions, which the snapshot does not see. Of blocks of which the index may lack rows
 * (complete.c), those that are all-visible are skipped: they have no row that is dead to anybody.
 */
#include "join/blocks/blocks.h"

#include "access/brin.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include <math.h>

/* Costs in ns. As in cost.c, only their ratios matter. */
#define CKFP_SUMMARY_NS 100.0  /* of a summary of BRIN, for each range of keys */
#define CKFP_TID_NS 60.0       /* of an entry of a B-tree */
#define CKFP_DESCENT_NS 1500.0 /* of finding a key in a B-tree */
#define CKFP_SEARCH_NS 10000.0 /* of a search that finds nothing */

/* If the child of a scan reads fewer rows of the same index for each place, it is cheaper than the
 * search. These are read, as estimates can be wrong. */
#define CKFP_PLACE_ROWS 32

/* The share of the cost of the sequential scan that a search of BRIN may cost: for all ranges, and
 * for one. */
#define CKFP_BRIN_SHARE 0.02
#define CKFP_BRIN_SHARE_ONE 0.05

/* A search of BRIN for all ranges may cost more, if the rows that this saves cost this many times
 * as much as the search. */
#define CKFP_BRIN_GAIN 2

/* The sequential scan must cost this many times as much as the search of a B-tree. */
#define CKFP_BTREE_MARGIN 1.5

/* The smallest correlation at which ranges of keys are nearly ranges of blocks. */
#define CKFP_ORDER_CORRELATION 0.9

/* A search of an index. */
typedef struct ckfp_search
{
	ScanState *scan;
	Relation table;
	Relation index;
	AttrNumber column; /* of the index */
	ckfp_ranges ranges;
	Snapshot snapshot;
	BlockNumber blocks;
	double rows;         /* of the table */
	bool always;         /* also if it is not expected to pay */
	double share;        /* of the cost of the sequential scan, that the scan costs anyway */
	double most;         /* the share of the cost of the sequential scan that it may cost */
	bool cut;            /* the condition of the scan has left a part of the ranges */
	bool covers;         /* and has no other part */
	bool again;          /* these keys were searched for less, in vain */
	BlockNumber changed; /* see ckfp_join_target */
	ckfp_key_ranges *keys;
} ckfp_search;

/* Note a reason why no block is skipped. */
static void
ckfp_search_explain(const ckfp_search *search, ckfp_unskipped why)
{
	search->keys->unskipped = Max(search->keys->unskipped, why);
}

/* ----------------------------------------------------------------- bitmaps of blocks */

#if PG_VERSION_NUM < 180000
#define index_beginscan_bitmap(index, snapshot, instrument, keys)                                  \
	index_beginscan_bitmap(index, snapshot, keys)
#endif

/* The next page of a bitmap; InvalidBlockNumber: there is none. */
static BlockNumber
ckfp_next_page(TBMPrivateIterator *iterator)
{
#if PG_VERSION_NUM >= 180000
	TBMIterateResult result;

	return tbm_private_iterate(iterator, &result) ? result.blockno : InvalidBlockNumber;
#else
	const TBMIterateResult *next = tbm_iterate(iterator);

	return next != NULL ? next->blockno : InvalidBlockNumber;
#endif
}

BlockNumber
ckfp_count_pages(TIDBitmap *bitmap, BlockNumber most)
{
	TBMPrivateIterator *iterator = tbm_begin_private_iterate(bitmap);
	BlockNumber n = 0;

	while (n < most && BlockNumberIsValid(ckfp_next_page(iterator)))
		n++;
	tbm_end_private_iterate(iterator);
	return n;
}

/* Set the bits of the pages in a bitmap. */
static uint8 *
ckfp_bits_of(TIDBitmap *bitmap, BlockNumber blocks)
{
	uint8 *bits = palloc0(ckfp_bits_size(blocks));
	TBMPrivateIterator *iterator = tbm_begin_private_iterate(bitmap);

	for (BlockNumber b; BlockNumberIsValid(b = ckfp_next_page(iterator));)
	{
		CHECK_FOR_INTERRUPTS();
		if (b < blocks)
			CKFP_SET_BIT(bits, b);
	}
	tbm_end_private_iterate(iterator);
	return bits;
}

/* Prepare a condition on the column of the index. */
static void
ckfp_search_key(const ckfp_search *search, ScanKey key, StrategyNumber strategy)
{
	int i = search->column - 1;
	Oid compare = get_opfamily_member(search->index->rd_opfamily[i], search->index->rd_opcintype[i],
									  search->ranges.type, (int16)strategy);

	ScanKeyEntryInitialize(key, 0, search->column, strategy, search->ranges.type,
						   search->index->rd_indcollation[i], get_opcode(compare), (Datum)0);
}

/* The same search for at most `limit` ranges. */
static ckfp_search
ckfp_search_fewer(const ckfp_search *search, int limit)
{
	ckfp_search fewer = *search;
	ckfp_ranges *ranges = &fewer.ranges;

	if (ranges->ranges <= limit)
		return fewer;
	ranges->range = palloc(ranges->ranges * sizeof(ckfp_range));
	memcpy(ranges->range, search->ranges.range, ranges->ranges * sizeof(ckfp_range));
	ranges->ranges = ckfp_ranges_merge(ranges->range, ranges->ranges, limit);
	return fewer;
}

/* The blocks of the ranges. NULL: BRIN finds nearly all blocks for one of them alone. */
static TIDBitmap *
ckfp_search_ranges(const ckfp_search *search)
{
	const ckfp_ranges *ranges = &search->ranges;
	TIDBitmap *bitmap = tbm_create(work_mem * (Size)1024, NULL);
	IndexScanDesc scan = index_beginscan_bitmap(search->index, search->snapshot, NULL, 2);
	bool judged = search->index->rd_rel->relam == BRIN_AM_OID && !search->always;
	int n = ranges->integers ? ranges->ranges : 1;
	ScanKeyData key[2];
	bool all = false;

	ckfp_search_key(search, &key[0], BTGreaterEqualStrategyNumber);
	ckfp_search_key(search, &key[1], BTLessEqualStrategyNumber);
	for (int i = 0; i < n && !all; i++)
	{
		double found;

		key[0].sk_argument = ranges->integers
								 ? ckfp_integer_datum(ranges->range[i].low, ranges->length)
								 : ranges->least;
		key[1].sk_argument = ranges->integers
								 ? ckfp_integer_datum(ranges->range[i].high, ranges->length)
								 : ranges->greatest;
		index_rescan(scan, key, lengthof(key), NULL, 0);
		found = (double)index_getbitmap(scan, bitmap) / 10; /* BRIN counts ten rows a page */
		all = judged && found > CKFP_CANDIDATE_SHARE * search->blocks;
	}
	index_endscan(scan);
	ckfp_search_explain(search, CKFP_UNSKIPPED_CANDIDATES);
	return all ? NULL : bitmap;
}

/* ------------------------------------------------------------- rows that an index lacks */

/* Add the blocks of which the index may lack rows. If a nested loop was better than to read so
 * many, the planner chooses again when a cached plan is used next. */
static void
ckfp_search_add_changed(const ckfp_search *search, TIDBitmap *bitmap)
{
	Buffer map = InvalidBuffer;
	BlockNumber changed = 0;

	for (BlockNumber b = 0; b < search->blocks; b++)
	{
		CHECK_FOR_INTERRUPTS();
		if (VM_ALL_VISIBLE(search->table, b, &map))
			continue;
		tbm_add_page(bitmap, b);
		changed++;
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	if (changed > 0)
		ckfp_search_explain(search, CKFP_UNSKIPPED_CHANGED);
	if (changed > search->changed)
		ckfp_forget_plans(CKFP_MARK_LOOP);
}

/* ----------------------------------------------------------------------- what it costs */

static ckfp_statistics
ckfp_search_statistics(const ckfp_search *search)
{
	return ckfp_statistics_of(search->table,
							  search->index->rd_index->indkey.values[search->column - 1],
							  &search->ranges, search->rows);
}

bool
ckfp_brin_is_cheap(double pages_per_range, double rows, double blocks)
{
	return blocks / pages_per_range * CKFP_SUMMARY_NS <=
		   CKFP_BRIN_SHARE_ONE * ckfp_scan_cost(rows, blocks);
}

/* Search a B-tree in so many places, where it finds so many rows; NULL: this does not pay. */
static TIDBitmap *
ckfp_search_tree(const ckfp_search *search, int places, double found, double correlation)
{
	double scan = search->rows * CKFP_ROW_NS;
	double pages = correlation > CKFP_ORDER_CORRELATION
					   ? found / search->rows * search->blocks + places
					   : search->blocks * (1 - exp(-found / search->blocks));
	/* all rows of these pages are read */
	double cost = places * CKFP_DESCENT_NS + found * CKFP_TID_NS +
				  pages * (CKFP_PAGE_NS + scan / search->blocks);

	if (!search->always &&
		(cost * CKFP_BTREE_MARGIN >= scan * search->most ||
		 (search->covers && ckfp_bounds_have_few(search->scan, places * CKFP_PLACE_ROWS))))
		return NULL;
	return ckfp_search_ranges(search);
}

/* Search a B-tree for few keys. */
static TIDBitmap *
ckfp_search_few(const ckfp_search *search)
{
	int few = search->ranges.few;
	ckfp_statistics statistics = ckfp_search_statistics(search);

	return few > 0 ? ckfp_search_tree(search, few, Min(few * statistics.each, search->rows),
									  statistics.correlation)
				   : NULL;
}

/* Search BRIN. If that costs too much for all ranges, the nearest ones are merged, unless the rows
 * between them cost more. That is not done again, as it costs the same. */
static TIDBitmap *
ckfp_search_brin(const ckfp_search *search)
{
	double pages = BrinGetPagesPerRange(search->index);
	double one = search->blocks / pages * CKFP_SUMMARY_NS;
	double all = search->ranges.ranges * one;
	double table = ckfp_scan_cost(search->rows, search->blocks);
	double scan = table * search->share;
	ckfp_search fewer;
	ckfp_statistics apart;

	if (search->always || all <= CKFP_BRIN_SHARE * scan)
		return search->again ? NULL : ckfp_search_ranges(search);
	fewer = ckfp_search_fewer(search, (int)Max(CKFP_BRIN_SHARE * scan / one, 1));
	apart = ckfp_search_statistics(search);
	if (apart.correlation > CKFP_ORDER_CORRELATION && all < table * search->most &&
		(ckfp_search_statistics(&fewer).share - apart.share) * (search->cut ? table : scan) >
			CKFP_BRIN_GAIN * all)
		return ckfp_search_ranges(search);
	return !search->again && ckfp_brin_is_cheap(pages * search->share, search->rows, search->blocks)
			   ? ckfp_search_ranges(&fewer)
			   : NULL;
}

/* Search a B-tree for ranges, at most so many. */
static TIDBitmap *
ckfp_search_some(const ckfp_search *search, int limit)
{
	ckfp_search some = ckfp_search_fewer(search, limit);
	ckfp_statistics statistics = ckfp_search_statistics(&some);
	double keys = Min(search->ranges.n * statistics.each, search->rows);

	return ckfp_search_tree(&some, some.ranges.ranges, Max(keys, statistics.share * search->rows),
							statistics.correlation);
}

static TIDBitmap *
ckfp_search_between(const ckfp_search *search)
{
	TIDBitmap *bitmap = ckfp_search_some(search, CKFP_RANGES_MOST);

	return bitmap != NULL ? bitmap : ckfp_search_some(search, CKFP_RANGES);
}

/* ------------------------------------------------------------------------ all of it */

/* No key, no block. */
static TIDBitmap *
ckfp_search_nothing(void)
{
	return tbm_create(work_mem * (Size)1024, NULL);
}

/* The ways to search a key, the best first: few keys in a B-tree, BRIN, ranges in a B-tree. */
static TIDBitmap *(*const ckfp_ways[])(const ckfp_search *search) = {
	ckfp_search_few, ckfp_search_brin, ckfp_search_between};

/* Open an index. NULL: there is none, as the transaction has dropped it under its own cursor, or
 * somebody else locks it: no query waits for an index that its plan does not need. */
static Relation
ckfp_search_open(const ckfp_search *search, Oid oid)
{
	Relation index;

	if (!ConditionalLockRelationOid(oid, AccessShareLock))
		return NULL;
	index = try_relation_open(oid, NoLock);
	if (index != NULL && index->rd_rel->relkind == RELKIND_INDEX &&
		index->rd_index->indrelid == RelationGetRelid(search->table))
		return index;
	if (index != NULL)
		relation_close(index, NoLock);
	UnlockRelationOid(oid, AccessShareLock);
	return NULL;
}

static TIDBitmap *
ckfp_search_by(ckfp_search *search, const ckfp_join_index *chosen, size_t way)
{
	TIDBitmap *bitmap = NULL;
	ckfp_ranges ranges = search->ranges;

	search->index = ckfp_search_open(search, chosen->oid);
	if (search->index == NULL)
		return NULL;
	search->column = chosen->column;
	if (ckfp_index_is_usable(search->index) &&
		(search->index->rd_rel->relam == BRIN_AM_OID) == (ckfp_ways[way] == ckfp_search_brin))
	{
		ckfp_search_explain(search, CKFP_UNSKIPPED_PRICE);
		search->cut = ckfp_bounds_cut(search->scan, search->index, search->column, &search->ranges,
									  &search->covers);
		bitmap = search->ranges.n == 0 ? ckfp_search_nothing() : ckfp_ways[way](search);
		search->ranges = ranges;
	}
	if (bitmap != NULL &&
		!ckfp_index_is_complete(search->index, search->snapshot, search->keys->before))
	{
		ckfp_search_add_changed(search, bitmap);
		search->covers = false; /* of these, only the child finds those within the bounds */
	}
	relation_close(search->index, NoLock);
	return bitmap;
}

/* Search a key. */
static TIDBitmap *
ckfp_search_any(ckfp_search *search, const ckfp_join_target *target, int key)
{
	TIDBitmap *bitmap = NULL;

	if (search->ranges.n == 0)
		return ckfp_search_nothing();
	/* one of many small partitions */
	if (!search->always && CKFP_SEARCH_NS > CKFP_BRIN_SHARE_ONE * search->share *
												ckfp_scan_cost(search->rows, search->blocks))
	{
		ckfp_search_explain(search, CKFP_UNSKIPPED_PRICE);
		return NULL;
	}
	for (size_t way = 0; way < lengthof(ckfp_ways); way++)
		for (int i = 0; i < target->indexes && bitmap == NULL; i++)
			if (target->index[i].key == key &&
				ckfp_ranges_serve(&search->ranges, &target->index[i]))
				bitmap = ckfp_search_by(search, &target->index[i], way);
	return bitmap;
}

/* Search all keys: the blocks of rows that can have each of them. NULL if no index was searched. */
static TIDBitmap *
ckfp_search_all(ckfp_search *search, ckfp_block_filter *filter)
{
	TIDBitmap *found = NULL;

	for (int key = 0; key < filter->keys->columns; key++)
	{
		const ckfp_ranges *ranges = ckfp_key_ranges_of(filter->keys, key);
		TIDBitmap *bitmap;

		if (ranges == NULL)
			continue;
		search->ranges = *ranges;
		bitmap = ckfp_search_any(search, filter->target, key);
		filter->covers |= bitmap != NULL && search->covers;
		if (found == NULL)
			found = bitmap;
		else if (bitmap != NULL)
			tbm_intersect(found, bitmap);
	}
	return found;
}

uint8 *
ckfp_candidate_blocks(const ckfp_blocks *blocks, ckfp_block_filter *filter, double share,
					  bool again)
{
	Relation table = blocks->scan->ss_currentRelation;
	ckfp_search search = {.scan = blocks->scan,
						  .table = table,
						  .snapshot = blocks->scan->ps.state->es_snapshot,
						  .blocks = blocks->blocks,
						  .rows = Max(ckfp_rows_in(table, blocks->blocks), 1),
						  .always = filter->keys->always,
						  .share = blocks->share,
						  .most = share * blocks->share,
						  .again = again,
						  .changed = filter->target->changed,
						  .keys = filter->keys};
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "search of an index", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	TIDBitmap *found;
	uint8 *bits;

	filter->covers = false;
	found = ckfp_search_all(&search, filter);
	MemoryContextSwitchTo(caller);
	if (found != NULL)
		ckfp_search_explain(&search, CKFP_UNSKIPPED_CANDIDATES);
	bits = found == NULL ? NULL : ckfp_bits_of(found, blocks->blocks);
	MemoryContextDelete(context);
	return bits;
}

BlockNumber
ckfp_blocks_next_candidate(const ckfp_blocks *blocks, BlockNumber from, BlockNumber end)
{
	while (blocks->candidates != NULL && from < end)
	{
		BlockNumber block = ckfp_block_of(blocks, from);
		uint64 width = Min((uint64)block + (end - from), blocks->blocks);
		uint64 next = ckfp_bits_next(blocks->candidates, width, block, true);

		from += (BlockNumber)(Min(next, width) - block);
		if (next < width)
			break;
	}
	return Min(from, end);
}
