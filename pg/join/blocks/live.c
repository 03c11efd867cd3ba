/*
 * live.c - ranges of keys to the blocks that can have them, by an index.
 *
 * What the index finds may have changed since: new rows of blocks that it did not find are of
 * later transactions, which the snapshot does not see.
 *
 * On a standby an index can lack rows that the snapshot sees. The primary, which does not know
 * the snapshot, builds an index or summarizes a range of BRIN without the rows that are dead to
 * all of its own transactions, and no recovery conflict comes of it. Such a row's deletion has
 * ended before the index was written. So an index has all rows if no transaction has ended between
 * the snapshot and the end of the search.
 */
#include "join/blocks/blocks.h"

#include "access/brin.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include <math.h>

/* Costs in ns. As in cost.c, only their ratios matter. */
#define CKFP_PAGE_NS 500.0     /* of a page out of order, */
#define CKFP_SUMMARY_NS 100.0  /* of a summary of BRIN, for each range, */
#define CKFP_TID_NS 60.0       /* of an entry of a B-tree, */
#define CKFP_DESCENT_NS 1500.0 /* and of finding a key in it */

/* Asking BRIN may cost this share of the sequential scan; for one range, that one. */
#define CKFP_BRIN_SHARE 0.02
#define CKFP_BRIN_SHARE_ONE 0.05

/* It may cost more if the rows that it saves cost so many times as much. */
#define CKFP_BRIN_GAIN 2

/* So much more the sequential scan must cost than a B-tree. */
#define CKFP_BTREE_MARGIN 1.5

/* The smallest correlation at which ranges of keys are ranges of blocks, nearly. */
#define CKFP_ORDER_CORRELATION 0.9

/* The question to an index. */
typedef struct ckfp_search
{
	Relation table;
	Relation index;
	AttrNumber column;    /* of the index, */
	AttrNumber attribute; /* and of the table */
	const ckfp_ranges *ranges;
	Snapshot snapshot;
	BlockNumber blocks;
	double rows; /* of the table */
	bool always; /* also if it is not expected to pay */
} ckfp_search;

/* ----------------------------------------------------------------- bitmaps of blocks */

static IndexScanDesc
ckfp_search_begin(const ckfp_search *search)
{
#if PG_VERSION_NUM >= 180000
	return index_beginscan_bitmap(search->index, search->snapshot, NULL, 2);
#else
	return index_beginscan_bitmap(search->index, search->snapshot, 2);
#endif
}

/* Set the bits of the pages in a bitmap, and free it. */
static uint8 *
ckfp_bits_of(TIDBitmap *bitmap, BlockNumber blocks)
{
	uint8 *bits = palloc0(blocks / 8 + 1);
#if PG_VERSION_NUM >= 180000
	TBMPrivateIterator *iterator = tbm_begin_private_iterate(bitmap);
	TBMIterateResult result;

	while (tbm_private_iterate(iterator, &result))
		if (result.blockno < blocks)
			bits[result.blockno / 8] |= (uint8)(1 << result.blockno % 8);
	tbm_end_private_iterate(iterator);
#else
	TBMIterator *iterator = tbm_begin_iterate(bitmap);
	const TBMIterateResult *result;

	while ((result = tbm_iterate(iterator)) != NULL)
		if (result->blockno < blocks)
			bits[result->blockno / 8] |= (uint8)(1 << result->blockno % 8);
	tbm_end_iterate(iterator);
#endif
	tbm_free(bitmap);
	return bits;
}

/* Prepare a condition on the column of the index. */
static void
ckfp_search_key(const ckfp_search *search, ScanKey key, StrategyNumber strategy)
{
	int i = search->column - 1;
	Oid compare = get_opfamily_member(search->index->rd_opfamily[i], search->index->rd_opcintype[i],
									  search->ranges->type, (int16)strategy);

	ScanKeyEntryInitialize(key, 0, search->column, strategy, search->ranges->type,
						   search->index->rd_indcollation[i], get_opcode(compare), (Datum)0);
}

/* The blocks of the ranges. NULL: a range alone has nearly all blocks. */
static uint8 *
ckfp_search_ranges(const ckfp_search *search)
{
	const ckfp_ranges *ranges = search->ranges;
	TIDBitmap *bitmap = tbm_create(work_mem * (Size)1024, NULL);
	IndexScanDesc scan = ckfp_search_begin(search);
	bool brin = search->index->rd_rel->relam == BRIN_AM_OID;
	int n = ranges->integers ? ranges->ranges : 1;
	ScanKeyData key[2];
	bool all = false;

	ckfp_search_key(search, &key[0], BTGreaterEqualStrategyNumber);
	ckfp_search_key(search, &key[1], BTLessEqualStrategyNumber);
	for (int i = 0; i < n && !all; i++)
	{
		key[0].sk_argument =
			ranges->integers ? ckfp_ranges_datum(ranges, ranges->range[i].low) : ranges->least;
		key[1].sk_argument =
			ranges->integers ? ckfp_ranges_datum(ranges, ranges->range[i].high) : ranges->greatest;
		index_rescan(scan, key, lengthof(key), NULL, 0);
		/* BRIN counts ten rows a page */
		all = (double)index_getbitmap(scan, bitmap) / 10 > CKFP_LIVE_SHARE * search->blocks &&
			  brin && !search->always;
	}
	index_endscan(scan);
	if (!all)
		return ckfp_bits_of(bitmap, search->blocks);
	tbm_free(bitmap);
	return NULL;
}

/* ----------------------------------------------------------------------- what it costs */

/* The share of the rows of a histogram that are in ranges. */
static double
ckfp_histogram_share(const ckfp_ranges *ranges, const ckfp_search *search, const AttStatsSlot *slot)
{
	ckfp_ranges column = {.length = get_typlen(slot->valuetype)};
	double share = 0;

	for (int i = 1; i < slot->nvalues; i++)
	{
		double from = (double)ckfp_ranges_integer(&column, slot->values[i - 1]);
		double to = (double)ckfp_ranges_integer(&column, slot->values[i]);

		for (int r = 0; r < ranges->ranges; r++)
		{
			double low = Max((double)ranges->range[r].low, from);
			double high = Min((double)ranges->range[r].high, to);

			if (low <= high)
				share += (high - low + 1) / (to - from + 1);
		}
	}
	return Min(share / (slot->nvalues - 1), 1);
}

/* What the statistics say about the keys. */
typedef struct ckfp_statistics
{
	double each;        /* rows of a key */
	double correlation; /* with the order of the blocks */
	double share;       /* of the rows that are in the ranges; 1: it is unknown */
} ckfp_statistics;

static ckfp_statistics
ckfp_statistics_of(const ckfp_search *search)
{
	ckfp_statistics statistics = {.each = search->rows / 200, .share = 1};
	HeapTuple tuple =
		SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(search->table)),
						Int16GetDatum(search->attribute), BoolGetDatum(false));
	double distinct;
	AttStatsSlot slot;

	if (!HeapTupleIsValid(tuple))
		return statistics;
	distinct = ((Form_pg_statistic)GETSTRUCT(tuple))->stadistinct;
	statistics.each = distinct < 0 ? -1 / distinct : search->rows / Max(distinct, 1);
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		statistics.correlation = fabs(slot.numbers[0]);
		free_attstatsslot(&slot);
	}
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && slot.valuetype == search->ranges->type)
			statistics.share = ckfp_histogram_share(search->ranges, search, &slot);
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return statistics;
}

/* A copy of ranges, of which at most `limit` are left. */
static ckfp_ranges
ckfp_ranges_fewer(const ckfp_ranges *ranges, int limit)
{
	ckfp_ranges fewer = *ranges;

	fewer.range = palloc(Max(ranges->ranges, 1) * sizeof(ckfp_range));
	memcpy(fewer.range, ranges->range, ranges->ranges * sizeof(ckfp_range));
	fewer.ranges = ckfp_ranges_merge(fewer.range, ranges->ranges, limit);
	return fewer;
}

/* What a sequential scan costs. */
static double
ckfp_scan_cost(double rows, double blocks)
{
	return rows * CKFP_ROW_NS + blocks * CKFP_PAGE_NS;
}

bool
ckfp_brin_is_cheap(double pages_per_range, double rows, double blocks)
{
	return blocks / pages_per_range * CKFP_SUMMARY_NS <=
		   CKFP_BRIN_SHARE_ONE * ckfp_scan_cost(rows, blocks);
}

/* Search BRIN. If that costs too much for all ranges, the nearest ones are merged, unless the rows
 * between them cost more. */
static uint8 *
ckfp_search_brin(const ckfp_search *search)
{
	double pages = BrinGetPagesPerRange(search->index);
	double one = search->blocks / pages * CKFP_SUMMARY_NS;
	double all = search->ranges->ranges * one;
	double scan = ckfp_scan_cost(search->rows, search->blocks);
	ckfp_search merged = *search;
	ckfp_statistics apart;
	ckfp_ranges fewer;

	if (search->always || all <= CKFP_BRIN_SHARE * scan)
		return ckfp_search_ranges(search);
	fewer = ckfp_ranges_fewer(search->ranges, (int)Max(CKFP_BRIN_SHARE * scan / one, 1));
	merged.ranges = &fewer;
	apart = ckfp_statistics_of(search);
	if (apart.correlation > CKFP_ORDER_CORRELATION &&
		(ckfp_statistics_of(&merged).share - apart.share) * scan > CKFP_BRIN_GAIN * all)
		return ckfp_search_ranges(search);
	return ckfp_brin_is_cheap(pages, search->rows, search->blocks) ? ckfp_search_ranges(&merged)
																   : NULL;
}

/* Search a B-tree for few keys; NULL: this does not pay. */
static uint8 *
ckfp_search_few(const ckfp_search *search)
{
	const ckfp_ranges *ranges = search->ranges;
	ckfp_statistics statistics = ckfp_statistics_of(search);
	double scan = search->rows * CKFP_ROW_NS;
	double found = Min(ranges->few * statistics.each, search->rows);
	double pages = statistics.correlation > CKFP_ORDER_CORRELATION
					   ? found / search->rows * search->blocks + ranges->few
					   : search->blocks * (1 - exp(-found / search->blocks));
	/* all rows of these pages are read */
	double cost = ranges->few * CKFP_DESCENT_NS + found * CKFP_TID_NS +
				  pages * (CKFP_PAGE_NS + scan / search->blocks);

	return ranges->few > 0 && (search->always || cost * CKFP_BTREE_MARGIN < scan)
			   ? ckfp_search_ranges(search)
			   : NULL;
}

/* Search a B-tree, whose order is that of the table, for ranges; NULL: this does not pay. */
static uint8 *
ckfp_search_order(const ckfp_search *search)
{
	const ckfp_ranges *ranges = search->ranges;
	ckfp_statistics statistics = ckfp_statistics_of(search);
	double found = Max(Min(ranges->distinct * statistics.each / search->rows, 1), statistics.share);

	return search->always || (statistics.correlation > CKFP_ORDER_CORRELATION &&
							  found * (CKFP_TID_NS + CKFP_ROW_NS) * CKFP_BTREE_MARGIN < CKFP_ROW_NS)
			   ? ckfp_search_ranges(search)
			   : NULL;
}

/* ------------------------------------------------------------------------ all of it */

/* The ways to search a key, the best first. */
typedef enum ckfp_way
{
	CKFP_WAY_FEW, /* few keys in a B-tree, */
	CKFP_WAY_BRIN,
	CKFP_WAY_ORDER, /* ranges in a B-tree */
	CKFP_WAYS
} ckfp_way;

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

static uint8 *
ckfp_search_by(ckfp_search *search, const ckfp_join_index *chosen, ckfp_way way)
{
	uint8 *bits = NULL;

	search->index = ckfp_search_open(search, chosen->oid);
	if (search->index == NULL)
		return NULL;
	search->column = chosen->column;
	search->attribute = search->index->rd_index->indkey.values[chosen->column - 1];
	if (ckfp_index_is_usable(search->index) &&
		(search->index->rd_rel->relam == BRIN_AM_OID) == (way == CKFP_WAY_BRIN))
		bits = way == CKFP_WAY_BRIN    ? ckfp_search_brin(search)
			   : way == CKFP_WAY_ORDER ? ckfp_search_order(search)
									   : ckfp_search_few(search);
	relation_close(search->index, NoLock);
	return bits;
}

/* Search a key. */
static uint8 *
ckfp_search_any(ckfp_search *search, const ckfp_join_target *target, int key)
{
	const ckfp_ranges *ranges = search->ranges;
	ckfp_ranges merged;
	uint8 *bits = NULL;

	if (ranges->distinct == 0) /* no key, no block */
		return palloc0(search->blocks / 8 + 1);
	merged = ckfp_ranges_fewer(ranges, CKFP_RANGES);
	for (int way = 0; way < CKFP_WAYS; way++)
	{
		search->ranges = way == CKFP_WAY_FEW ? ranges : &merged;
		for (int i = 0; i < target->indexes && bits == NULL; i++)
			if (target->index[i].key == key && ckfp_ranges_serve(ranges, &target->index[i]))
				bits = ckfp_search_by(search, &target->index[i], way);
	}
	return bits;
}

/* Have indexes all rows that a snapshot sees? */
static bool
ckfp_indexes_are_complete(const SnapshotData *snapshot)
{
	const SnapshotData *now;

	if (!snapshot->takenDuringRecovery)
		return true;
	InvalidateCatalogSnapshot();
	now = GetCatalogSnapshot(InvalidOid);
	/* A transaction that ends is taken from subxip, or was to come, and xmax passes it. */
	return now->takenDuringRecovery && now->xmax == snapshot->xmax &&
		   now->subxcnt == snapshot->subxcnt;
}

/* Clear the bits of the blocks that no key can be in. False if no index was asked. */
static bool
ckfp_clear_by_keys(const ckfp_keys *keys, const ckfp_join_target *target, Relation table,
				   Snapshot snapshot, BlockNumber blocks, uint8 *live)
{
	const FormData_pg_class *class = table->rd_rel;
	double each =
		class->relpages > 0 && class->reltuples > 0 ? class->reltuples / class->relpages : 100;
	bool found = false;

	for (int key = 0; key < keys->columns; key++)
	{
		ckfp_search search = {.table = table,
							  .ranges = keys->column[key],
							  .snapshot = snapshot,
							  .blocks = blocks,
							  .rows = Max(blocks * each, 1),
							  .always = keys->always};
		uint8 *bits = NULL;

		if (search.ranges != NULL)
			bits = ckfp_search_any(&search, target, key);
		for (BlockNumber b = 0; bits != NULL && b <= blocks / 8; b++)
			live[b] &= bits[b];
		found |= bits != NULL;
	}
	return found;
}

bool
ckfp_live_blocks(const ckfp_keys *keys, const ckfp_join_target *target, Relation table,
				 Snapshot snapshot, BlockNumber blocks, uint8 *live)
{
	return ckfp_indexes_are_complete(snapshot) &&
		   ckfp_clear_by_keys(keys, target, table, snapshot, blocks, live) &&
		   ckfp_indexes_are_complete(snapshot);
}

BlockNumber
ckfp_blocks_next_live(const ckfp_blocks *blocks, BlockNumber from, BlockNumber end)
{
	const uint8 *live = blocks->live;

	while (live != NULL && from < end)
	{
		BlockNumber block = (BlockNumber)(((uint64)blocks->first + from) % blocks->blocks);

		if (CKFP_BIT(live, block))
			break;
		/* eight blocks at once */
		from +=
			live[block / 8] == 0 ? Min(Min(8 - block % 8, blocks->blocks - block), end - from) : 1;
	}
	return Min(from, end);
}
