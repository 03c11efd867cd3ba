/*
 * scan.c - a sequential scan that skips blocks.
 *
 * The scan's own descriptor reads the candidate blocks, run by run: heap_setscanlimits() sets the
 * limits of each one. So visibility and the end of a page stay PostgreSQL's.
 *
 * Keys can become known while the scan runs, as a hash join may fetch a row before it builds. The
 * scan then returns the rows of the current page that are left, and skips blocks among those that
 * it has not begun. The scan may begin in the middle of the table, so each block has a number: its
 * place in the order in which the scan reads the blocks. So each row comes once.
 */
#include "join/blocks/blocks.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"

/* The longest run while keys are awaited. They can skip blocks from the next run on. */
#define CKFP_RUN_WAITING 32

/* A scan that may be stopped, as by a LIMIT, reads this share of the blocks before it searches an
 * index. The search may then cost what the scan has cost (the ski-rental rule). */
#define CKFP_STOPS_SHARE 0.02

bool
ckfp_blocks_is_possible(const ScanState *scan)
{
	return ckfp_join_blocks && (IsA(scan, SeqScanState) || IsA(scan, BitmapHeapScanState)) &&
		   !IsolationIsSerializable() &&
		   scan->ss_currentRelation->rd_tableam == GetHeapamTableAmRoutine();
}

ckfp_blocks *
ckfp_blocks_make(ScanState *scan, bool verify)
{
	ckfp_blocks *blocks = palloc0(sizeof(*blocks));

	blocks->scan = scan;
	blocks->verify = verify;
	blocks->drain = InvalidBlockNumber;
	blocks->share = 1;
	return blocks;
}

void
ckfp_blocks_add(ckfp_blocks *blocks, ckfp_key_ranges *keys, const ckfp_join_record *record,
				int number)
{
	ckfp_block_filter *filter = palloc0(sizeof(*filter));
	ckfp_block_filter **link = &blocks->filters;

	filter->keys = keys;
	filter->target = list_nth(record->targets, number);
	filter->number = number;
	while (*link != NULL && (*link)->keys->node < keys->node)
		link = &(*link)->next;
	filter->next = *link;
	*link = filter;
	blocks->waiting = true;
}

void
ckfp_blocks_recheck(ckfp_blocks *blocks)
{
	blocks->waiting = true;
	blocks->looked = InvalidBlockNumber;
}

void
ckfp_blocks_arm(ckfp_blocks *blocks)
{
	ckfp_blocks_recheck(blocks);
	for (ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		filter->from = CKFP_STOPS_SHARE;
}

/* From PostgreSQL 19 on, the start of a scan has flags, which SeqNext sets. */
TableScanDesc
ckfp_begin_scan(ScanState *scan)
{
	const EState *estate = scan->ps.state;
#if PG_VERSION_NUM >= 190000
	uint32 flags = SO_NONE;

	if (ScanRelIsReadOnly(scan))
		flags |= SO_HINT_REL_READ_ONLY;
	if (estate->es_instrument & INSTRUMENT_IO)
		flags |= SO_SCAN_INSTRUMENT;
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL, flags);
#else
	return table_beginscan(scan->ss_currentRelation, estate->es_snapshot, 0, NULL);
#endif
}

static bool
ckfp_blocks_is_parallel(const ckfp_blocks *blocks)
{
	return blocks->bitmap == NULL && blocks->scan->ss_currentScanDesc->rs_parallel != NULL;
}

/* --------------------------------------------------------------------- candidate blocks */

/* The number of blocks from `from` up to `to`, without `to`, whose bits are set in both maps. */
static BlockNumber
ckfp_bits_count(const uint8 *one, const uint8 *other, BlockNumber from, BlockNumber to)
{
	BlockNumber n = 0;

	while (from < to)
		if (from % 64 == 0 && to - from >= 64)
		{
			uint64 both = ((const uint64 *)one)[from / 64] & ((const uint64 *)other)[from / 64];

			n += both != 0 ? pg_popcount64(both) : 0; /* most are 0 where few blocks are left */
			from += 64;
		}
		else
		{
			n += CKFP_BIT(one, from) && CKFP_BIT(other, from);
			from++;
		}
	return n;
}

/* The number of candidate blocks, from the number `from` on; of those that are candidates in
 * `more`, too, if that is not NULL. */
static BlockNumber
ckfp_blocks_count(const ckfp_blocks *blocks, BlockNumber from, const uint8 *more)
{
	const uint8 *one = blocks->candidates != NULL ? blocks->candidates : more;
	const uint8 *other = more != NULL ? more : one;
	BlockNumber block;

	if (one == NULL || from >= blocks->blocks)
		return blocks->blocks - Min(from, blocks->blocks);
	if (from == 0) /* all of them, also where `first` is not known */
		return ckfp_bits_count(one, other, 0, blocks->blocks);
	block = ckfp_block_of(blocks, from);
	return block < blocks->first ? ckfp_bits_count(one, other, block, blocks->first)
								 : ckfp_bits_count(one, other, block, blocks->blocks) +
									   ckfp_bits_count(one, other, 0, blocks->first);
}

/* Called when the scan starts again: it reads all blocks. */
static void
ckfp_blocks_restart(Datum argument)
{
	ckfp_blocks *blocks = (ckfp_blocks *)DatumGetPointer(argument);
	HeapScanDesc heap = (HeapScanDesc)blocks->scan->ss_currentScanDesc;

	if (blocks->bitmap != NULL)
		blocks->restart(blocks);
	else if (!ckfp_blocks_is_parallel(blocks))
	{
		heap->rs_base.rs_flags |= SO_ALLOW_SYNC | SO_TYPE_SEQSCAN;
		heap->rs_startblock = blocks->first;
	}
	blocks->skips = NULL;
	blocks->desc = NULL;
	blocks->drain = InvalidBlockNumber;
	if (blocks->candidates != NULL)
		pfree(blocks->candidates);
	blocks->candidates = NULL;
	for (ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
	{
		filter->decided = 0;
		filter->gain = 0;
		if (blocks->bitmap != NULL)
			filter->generation = 0; /* its condition may have other bounds */
	}
	ckfp_blocks_arm(blocks);
}

void
ckfp_blocks_start_skipping(ckfp_blocks *blocks)
{
	blocks->skips = blocks->scan->ps.ps_ExprContext;
	RegisterExprContextCallback(blocks->skips, ckfp_blocks_restart, PointerGetDatum(blocks));
}

/* Begin to read all blocks, or take what the scan has begun. */
static void
ckfp_blocks_begin(ckfp_blocks *blocks)
{
	ScanState *scan = blocks->scan;

	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = ckfp_begin_scan(scan);
	blocks->desc = scan->ss_currentScanDesc;
	blocks->blocks = ((HeapScanDesc)blocks->desc)->rs_nblocks;
	blocks->first = ((HeapScanDesc)blocks->desc)->rs_startblock;
	blocks->end = blocks->blocks;
	blocks->reading = true;
}

/* The number of the first block that a scan which is not parallel has still to begin. */
static BlockNumber
ckfp_blocks_begun(const ckfp_blocks *blocks)
{
	BlockNumber block = ((HeapScanDesc)blocks->desc)->rs_cblock;

	return BlockNumberIsValid(block) ? ckfp_number_of(block, blocks->first, blocks->blocks) + 1
									 : blocks->next;
}

/* From now on, scans test the keys of their rows by the ranges, unless they know better. */
static void
ckfp_blocks_test(const ckfp_block_filter *filter)
{
	ckfp_key_ranges *keys = filter->keys;

	for (int i = 0; i < filter->target->indexes && keys->test.integers == NULL; i++)
	{
		int column = filter->target->index[i].key;
		const ckfp_ranges *ranges = ckfp_key_ranges_of(keys, column);

		if (ranges != NULL && ranges->integers)
			keys->test = (ckfp_key_test){
				.integers = &ranges->set, .column = column, .length = ranges->probe_length};
	}
}

/* The number of blocks that the scan can skip by a filter; 0: that does not pay. */
static BlockNumber
ckfp_blocks_gain(const ckfp_blocks *blocks, const ckfp_block_filter *filter)
{
	BlockNumber from = ckfp_blocks_is_parallel(blocks) ? 0 : blocks->next;
	BlockNumber before = ckfp_blocks_count(blocks, from, NULL);
	BlockNumber after = ckfp_blocks_count(blocks, from, filter->candidates);

	return filter->keys->always || after <= CKFP_CANDIDATE_SHARE * before ? before - after : 0;
}

/* Skip the blocks that a filter does not need, if that pays. */
static void
ckfp_blocks_add_skips(ckfp_blocks *blocks, ckfp_block_filter *filter)
{
	BlockNumber gain = ckfp_blocks_gain(blocks, filter);
	size_t size = ckfp_bits_size(blocks->blocks);

	filter->gain = gain;
	if (gain == 0)
		return;
	if (blocks->candidates == NULL)
		blocks->candidates = memcpy(palloc(size), filter->candidates, size);
	else
		for (size_t i = 0; i < size / sizeof(uint64); i++)
			((uint64 *)blocks->candidates)[i] &= ((const uint64 *)filter->candidates)[i];
	/* else each process counts those that it draws, and bitmap.c those of the bitmap */
	if (blocks->bitmap == NULL && !ckfp_blocks_is_parallel(blocks))
		filter->keys->skipped += gain;
	ckfp_blocks_test(filter);
}

/* The share of the blocks that has been read. */
static double
ckfp_blocks_share_read(const ckfp_blocks *blocks)
{
	return blocks->bitmap != NULL || (blocks->skips && !ckfp_blocks_is_parallel(blocks))
			   ? (double)blocks->next / blocks->blocks
			   : ckfp_scan_share(blocks->scan->ss_currentScanDesc);
}

/* Search the indexes for the keys of a filter. False: not yet. */
static bool
ckfp_blocks_search_index(ckfp_blocks *blocks, ckfp_block_filter *filter)
{
	bool stops = filter->target->stops && !filter->keys->always;
	double read = stops ? ckfp_blocks_share_read(blocks) : 1;

	if (read < filter->from)
		return false;
	if (filter->candidates != NULL)
		pfree(filter->candidates);
	filter->candidates = ckfp_candidate_blocks(blocks, filter, read,
											   stops && filter->vain == filter->keys->generation);
	if (2 * read < 1 && (filter->candidates == NULL || ckfp_blocks_gain(blocks, filter) == 0))
	{
		if (filter->candidates != NULL)
			pfree(filter->candidates);
		filter->candidates = NULL;
		filter->vain = filter->keys->generation;
		filter->from = 2 * read;
		return false;
	}
	filter->generation = filter->keys->generation;
	filter->of = blocks->blocks;
	return true;
}

/* The keys of a filter are known. False if they are to be used later. */
static bool
ckfp_blocks_use_filter(ckfp_blocks *blocks, ckfp_block_filter *filter)
{
	if ((filter->generation != filter->keys->generation || filter->of != blocks->blocks) &&
		!ckfp_blocks_search_index(blocks, filter))
		return false;
	if (blocks->bitmap != NULL)
		filter->keys->blocks += blocks->begun;
	else if (!ckfp_blocks_is_parallel(blocks) || ckfp_shared_scan_is_first(filter))
		filter->keys->blocks += blocks->blocks;
	if (filter->candidates != NULL && !blocks->verify)
		ckfp_blocks_add_skips(blocks, filter);
	else if (filter->candidates != NULL)
	{
		if (blocks->bitmap == NULL)
			filter->keys->skipped +=
				blocks->blocks - ckfp_blocks_count(blocks, 0, filter->candidates);
		ckfp_blocks_test(filter);
	}
	return true;
}

void
ckfp_blocks_use_known(ckfp_blocks *blocks)
{
	MemoryContext caller = MemoryContextSwitchTo(blocks->scan->ps.state->es_query_cxt);

	blocks->waiting = false;
	blocks->coming = false;
	for (ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
	{
		const ckfp_key_ranges *keys = filter->keys;
		bool known;

		if (filter->decided == keys->generation)
			continue;
		ckfp_key_ranges_attach(filter->keys);
		known = keys->state == CKFP_RANGES_KNOWN;
		if (keys->state == CKFP_RANGES_OFF ||
			(known && (blocks->blocks == 0 || ckfp_blocks_use_filter(blocks, filter))))
		{
			filter->decided = keys->generation;
			continue;
		}
		blocks->coming = true;
		blocks->waiting |= known || ckfp_keys_are_common(keys);
	}
	MemoryContextSwitchTo(caller);
}

/* Use the filters whose keys are known. */
static pg_noinline void
ckfp_blocks_use_known_keys(ckfp_blocks *blocks)
{
	bool parallel;

	if (!blocks->skips)
		ckfp_blocks_begin(blocks); /* perhaps again: the table may have grown */
	parallel = ckfp_blocks_is_parallel(blocks);
	if (!blocks->skips && !parallel)
	{
		blocks->next = 0;
		blocks->next = ckfp_blocks_begun(blocks);
	}
	ckfp_blocks_use_known(blocks);
	blocks->looked = ((HeapScanDesc)blocks->desc)->rs_cblock;
	if (blocks->skips || blocks->candidates == NULL)
		return;
	ckfp_blocks_start_skipping(blocks);
	if (parallel)
		ckfp_shared_scan_take_all(blocks);
	else
	{
		blocks->drain = ((HeapScanDesc)blocks->desc)->rs_cblock; /* if it has returned a row */
		blocks->reading = BlockNumberIsValid(blocks->drain);
	}
}

/* ------------------------------------------------------------------------- rows */

/* Let the descriptor read so many blocks. */
static void
ckfp_blocks_read_run(ckfp_blocks *blocks, BlockNumber block, BlockNumber n)
{
	if (ckfp_blocks_is_parallel(blocks) && blocks->own == NULL)
		blocks->own =
			table_beginscan_strat(blocks->scan->ss_currentRelation,
								  blocks->scan->ps.state->es_snapshot, 0, NULL, true, false);
	if (blocks->own != NULL)
		blocks->desc = blocks->own;
	/* not synchronized with other scans, and not counted as another sequential scan */
	blocks->desc->rs_flags &= ~(uint32)(SO_ALLOW_SYNC | SO_TYPE_SEQSCAN);
	table_rescan(blocks->desc, NULL);
	heap_setscanlimits(blocks->desc, block, n);
	blocks->reading = true;
}

/* The numbers from `from` to `to` are not read in a parallel scan. */
static void
ckfp_blocks_count_drawn(ckfp_blocks *blocks, BlockNumber from, BlockNumber to)
{
	ckfp_block_filter *filter = blocks->filters;

	while (filter->candidates == NULL && filter->next != NULL)
		filter = filter->next;
	if (ckfp_blocks_is_parallel(blocks))
		filter->keys->skipped += to - from;
}

void
ckfp_blocks_check_zone(ckfp_blocks *blocks)
{
	bool hold = blocks->candidates != NULL;

	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		hold &= ckfp_key_ranges_hold(filter->keys);
	if (blocks->candidates == NULL || hold)
		return;
	pfree(blocks->candidates);
	blocks->candidates = NULL;
}

/* Go to the next run of candidate blocks. False if there is none. */
static bool
ckfp_blocks_next_run(ckfp_blocks *blocks)
{
	BlockNumber candidate;
	BlockNumber block;
	BlockNumber most = blocks->coming ? CKFP_RUN_WAITING : InvalidBlockNumber;
	BlockNumber n;

	CHECK_FOR_INTERRUPTS();
	blocks->drain = InvalidBlockNumber;
	ckfp_blocks_check_zone(blocks);
	for (;;)
	{
		candidate = ckfp_blocks_next_candidate(blocks, blocks->next, blocks->end);
		ckfp_blocks_count_drawn(blocks, blocks->next, candidate);
		blocks->next = candidate;
		if (candidate < blocks->end)
			break;
		if (!ckfp_blocks_is_parallel(blocks) || !ckfp_shared_scan_draw(blocks))
			return false;
	}
	block = ckfp_block_of(blocks, candidate);
	most = Min(most, Min(blocks->end - candidate, blocks->blocks - block));
	n = blocks->candidates == NULL
			? most
			: (BlockNumber)ckfp_bits_next(blocks->candidates, (uint64)block + most, block, false) -
				  block;
	n = Min(n, most);
	blocks->next = candidate + n;
	ckfp_blocks_read_run(blocks, block, n);
	return true;
}

/* The descriptor has no more rows. */
static bool
ckfp_blocks_go_on(ckfp_blocks *blocks)
{
	/* the process has read its part; others may have taken the rest */
	bool first = ckfp_blocks_is_parallel(blocks) && blocks->desc != blocks->own;

	if (first)
		blocks->next = blocks->end = 0;
	if (!blocks->skips)
	{
		if (!first || !ckfp_shared_scan_draw(blocks))
			return false;
		ckfp_blocks_start_skipping(blocks);
	}
	blocks->reading = ckfp_blocks_next_run(blocks);
	return blocks->reading;
}

/* It looks for indexes once a page, at most. */
void
ckfp_blocks_check_keys(ckfp_blocks *blocks)
{
	if (unlikely(blocks->waiting) && (!BlockNumberIsValid(blocks->looked) ||
									  ((HeapScanDesc)blocks->desc)->rs_cblock != blocks->looked))
		ckfp_blocks_use_known_keys(blocks);
}

TupleTableSlot *
ckfp_blocks_next(ckfp_blocks *blocks)
{
	TupleTableSlot *slot = blocks->scan->ss_ScanTupleSlot;

	ckfp_blocks_check_keys(blocks);
	for (;;)
	{
		if (blocks->reading && table_scan_getnextslot(blocks->desc, ForwardScanDirection, slot) &&
			(likely(!BlockNumberIsValid(blocks->drain)) ||
			 ItemPointerGetBlockNumber(&slot->tts_tid) == blocks->drain))
			return slot;
		if (!ckfp_blocks_go_on(blocks))
		{
			ExecClearTuple(slot);
			return NULL;
		}
	}
}

double
ckfp_blocks_progress(const ckfp_blocks *blocks)
{
	BlockNumber all;

	if (ckfp_blocks_is_parallel(blocks))
		return 0;
	all = ckfp_blocks_count(blocks, 0, NULL);
	return all > 0 ? 1 - (double)ckfp_blocks_count(blocks, ckfp_blocks_begun(blocks), NULL) / all
				   : 1;
}

bool
ckfp_blocks_deny(ckfp_blocks *blocks, const ckfp_key_ranges *keys, TupleTableSlot *slot)
{
	BlockNumber block = ItemPointerGetBlockNumber(&slot->tts_tid);

	for (const ckfp_block_filter *filter = blocks->filters; filter != NULL; filter = filter->next)
		if (filter->keys == keys)
			return filter->decided == keys->generation && filter->candidates != NULL &&
				   block < blocks->blocks && !CKFP_BIT(filter->candidates, block);
	return false;
}

void
ckfp_blocks_end(ckfp_blocks *blocks)
{
	if (blocks->skips != NULL)
		UnregisterExprContextCallback(blocks->skips, ckfp_blocks_restart, PointerGetDatum(blocks));
	blocks->skips = NULL;
	if (blocks->own != NULL)
		table_endscan(blocks->own);
	blocks->own = NULL;
}
