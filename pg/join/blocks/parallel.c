/*
 * parallel.c - keys and scans that several processes share.
 *
 * Under a Parallel Hash each process gathers a part of the keys, and gives it to all: hashes for
 * the common filter (exec/shared.c), and ranges of a column. The keys are complete when all
 * processes that began to read the build side have finished, which is before the barrier at which
 * the hash join waits for all. Under another hash join each process gathers all keys.
 *
 * A parallel scan gives its blocks out, some at a time, to its processes. The first process that
 * knows its keys takes all blocks that are left. From then on the processes draw blocks from these.
 * A shared counter has the number of the first block that is not drawn yet. A process draws the
 * blocks from there up to the first candidate block, and some more. So each block is drawn by one
 * process, and only this one looks whether it is a candidate.
 *
 * Each process may search the index for itself. The results can differ if ranges of BRIN are
 * summarized in between. That does no harm: a block with a row that joins is a candidate in all of
 * them.
 */
#include "join/blocks/blocks.h"

#include "access/heapam.h"
#include "access/parallel.h"

/* The number of blocks that are drawn at once, from the first candidate one on. */
#define CKFP_DRAWN_BLOCKS 16

Size
ckfp_keys_shared_size(const ckfp_join_record *record)
{
	return offsetof(ckfp_keys_shared, scan) +
		   list_length(record->targets) * sizeof(ckfp_shared_scan);
}

/* Of other types than integers the least and the greatest keys of several processes are not put
 * together. */
void
ckfp_key_ranges_share(ckfp_key_ranges *keys, ckfp_keys_shared *shared, dsa_area *area)
{
	keys->shared = shared;
	keys->area = area;
	if (IsParallelWorker())
		keys->before = shared->before;
	else
		shared->before = keys->before;
	for (int i = 0; i < keys->columns; i++)
		if (shared->common && keys->column[i] != NULL && !keys->column[i]->integers)
			keys->column[i] = NULL;
}

void
ckfp_keys_shared_init(ckfp_keys_shared *shared, const ckfp_join_record *record, bool common)
{
	memset(shared, 0, ckfp_keys_shared_size(record));
	shared->common = common;
	SpinLockInit(&shared->mutex);
	for (int i = 0; i < list_length(record->targets); i++)
	{
		pg_atomic_init_u32(&shared->scan[i].users, 0);
		pg_atomic_init_u32(&shared->scan[i].taken, 0);
		pg_atomic_init_u32(&shared->scan[i].next, 0);
	}
}

/* -------------------------------------------------------------------------- parts */

void
ckfp_contributions_begin(ckfp_keys_shared *shared)
{
	SpinLockAcquire(&shared->mutex);
	shared->reading++;
	SpinLockRelease(&shared->mutex);
}

bool
ckfp_contributions_finish(ckfp_keys_shared *shared)
{
	bool last;

	SpinLockAcquire(&shared->mutex);
	last = --shared->reading == 0 && !shared->complete;
	shared->complete |= last;
	SpinLockRelease(&shared->mutex);
	return last;
}

ckfp_contribution *
ckfp_contribution_make(dsa_area *area, size_t words)
{
	dsa_pointer pointer =
		dsa_allocate_extended(area, offsetof(ckfp_contribution, word) + words * sizeof(uint64),
							  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	ckfp_contribution *part;

	if (!DsaPointerIsValid(pointer))
		return NULL;
	part = dsa_get_address(area, pointer);
	part->self = pointer;
	part->words = words;
	return part;
}

bool
ckfp_contribution_give(const ckfp_key_ranges *keys, dsa_pointer *parts, ckfp_contribution *part)
{
	bool late;

	SpinLockAcquire(&keys->shared->mutex);
	late = keys->shared->complete;
	if (!late)
	{
		part->next = *parts;
		*parts = part->self;
	}
	SpinLockRelease(&keys->shared->mutex);
	if (late)
		dsa_free(keys->area, part->self);
	return !late;
}

void
ckfp_contributions_free(dsa_area *area, dsa_pointer *parts, int n)
{
	while (n-- != 0 && DsaPointerIsValid(*parts))
	{
		dsa_pointer next = ((ckfp_contribution *)dsa_get_address(area, *parts))->next;

		dsa_free(area, *parts);
		*parts = next;
	}
}

/* ------------------------------------------------------------------------- ranges */

bool
ckfp_keys_are_common(const ckfp_key_ranges *keys)
{
	return keys->shared != NULL && keys->shared->common;
}

void
ckfp_key_ranges_give_up(ckfp_key_ranges *keys)
{
	keys->state = CKFP_RANGES_OFF;
	if (ckfp_keys_are_common(keys) && !keys->shared->failed)
		keys->shared->failed = true;
}

bool
ckfp_key_ranges_contribute(ckfp_key_ranges *keys)
{
	if (!ckfp_keys_are_common(keys))
		return false;
	for (int i = 0; i < keys->columns; i++)
	{
		const ckfp_ranges *ranges = keys->column[i];
		ckfp_contribution *part;

		if (ranges == NULL || ranges->ranges == 0)
			continue;
		part = ckfp_contribution_make(keys->area, 2 * ranges->ranges);
		if (part != NULL)
		{
			part->column = i;
			part->n = ranges->n;
			memcpy(part->word, ranges->range, ranges->ranges * sizeof(ckfp_range));
		}
		if (part == NULL || !ckfp_contribution_give(keys, &keys->shared->ranges, part))
			keys->shared->failed = true;
	}
	return true;
}

/* Take the ranges of a column that all processes have given. */
static void
ckfp_ranges_take(ckfp_key_ranges *keys, int column)
{
	ckfp_ranges *ranges = keys->column[column];
	const ckfp_contribution *part;

	ranges->range = MemoryContextAlloc(keys->context, sizeof(ckfp_range));
	ranges->ranges = 0;
	ranges->n = 0;
	ranges->many = false;
	for (dsa_pointer at = keys->shared->ranges; DsaPointerIsValid(at); at = part->next)
	{
		part = dsa_get_address(keys->area, at);
		if (part->column != column)
			continue;
		ranges->range = repalloc(ranges->range, ranges->ranges * sizeof(ckfp_range) +
													part->words * sizeof(uint64));
		memcpy(ranges->range + ranges->ranges, part->word, part->words * sizeof(uint64));
		ranges->ranges += (int)part->words / 2;
		ranges->n += part->n;
	}
}

void
ckfp_key_ranges_attach(ckfp_key_ranges *keys)
{
	if (!ckfp_keys_are_common(keys) || keys->state == CKFP_RANGES_OFF ||
		keys->state == CKFP_RANGES_KNOWN)
		return;
	if (keys->shared->failed)
		keys->state = CKFP_RANGES_OFF;
	else if (keys->shared->complete)
	{
		pg_read_barrier();
		for (int i = 0; i < keys->columns; i++)
			if (keys->column[i] != NULL)
				ckfp_ranges_take(keys, i);
		ckfp_key_ranges_complete(keys);
	}
}

/* --------------------------------------------------------------------------- scans */

static ckfp_shared_scan *
ckfp_shared_scan_of(const ckfp_block_filter *filter)
{
	return filter->keys->shared == NULL ? NULL : &filter->keys->shared->scan[filter->number];
}

bool
ckfp_shared_scan_is_first(const ckfp_block_filter *filter)
{
	ckfp_shared_scan *scan = ckfp_shared_scan_of(filter);

	return scan != NULL && pg_atomic_fetch_add_u32(&scan->users, 1) == 0;
}

/* The first filter of a scan has its state: they are in the same order in all processes. */
void
ckfp_shared_scan_take_all(const ckfp_blocks *blocks)
{
	ckfp_shared_scan *shared = ckfp_shared_scan_of(blocks->filters);
	ParallelBlockTableScanDesc scan =
		(ParallelBlockTableScanDesc)blocks->scan->ss_currentScanDesc->rs_parallel;
	uint64 given;

	if (shared == NULL || pg_atomic_read_u32(&shared->taken) != 0)
		return;
	given = pg_atomic_fetch_add_u64(&scan->phs_nallocated, blocks->blocks);
	if (given >= blocks->blocks)
		return; /* another process has taken them, or none are left */
	/* the first process that was given blocks has decided where the scan begins */
	shared->first = given == 0 ? 0 : scan->phs_startblock;
	pg_atomic_write_u32(&shared->next, (uint32)given);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->taken, 1);
}

bool
ckfp_shared_scan_draw(ckfp_blocks *blocks)
{
	ckfp_shared_scan *shared = ckfp_shared_scan_of(blocks->filters);

	if (shared == NULL || pg_atomic_read_u32(&shared->taken) == 0)
		return false;
	pg_read_barrier();
	blocks->first = shared->first;
	blocks->next = pg_atomic_read_u32(&shared->next);
	do
	{
		if (blocks->next >= blocks->blocks)
			return false;
		blocks->end = ckfp_blocks_next_candidate(blocks, blocks->next, blocks->blocks);
		blocks->end += Min(CKFP_DRAWN_BLOCKS, blocks->blocks - blocks->end);
	} while (!pg_atomic_compare_exchange_u32(&shared->next, &blocks->next, blocks->end));
	return true;
}
