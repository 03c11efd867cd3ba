/*
 * parallel.c - keys and scans that several processes share.
 *
 * Under a Parallel Hash each process gathers the ranges of a part of the keys. They are complete
 * when all processes that began to read the build side have finished, which is before the barrier
 * at which the hash join waits for all. Under another hash join each process gathers all keys.
 *
 * A parallel scan gives its blocks out to the processes that ask for some. The first process that
 * knows its keys takes all blocks that are left. From then on the processes draw from these: the
 * numbers from a shared counter on are free, and a process draws up to the first live block and
 * some more. So each block is drawn by one process, and only this one asks whether it is live. Each
 * process may ask the index for itself, although the answers can differ, when ranges of BRIN are
 * summarized in between: a block with a row that joins is live in all of them.
 */
#include "join/blocks/blocks.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "storage/spin.h"

/* So many blocks are drawn at once, from the first live one on. */
#define CKFP_DRAWN_BLOCKS 16

/* The keys of a column that a process gathered. */
typedef struct ckfp_key_part
{
	double n;
	int ranges;
	ckfp_range range[CKFP_FEW_KEYS];
} ckfp_key_part;

/* A parallel scan. */
typedef struct ckfp_shared_scan
{
	pg_atomic_uint32 asked; /* the number of processes that have asked */
	BlockNumber first;      /* The scan begins with this block. If blocks were taken, */
	pg_atomic_uint32 taken; /* this is 1, and the numbers of those that are not drawn begin here: */
	pg_atomic_uint32 next;
} ckfp_shared_scan;

struct ckfp_keys_shared
{
	bool common; /* each process gathers a part of the keys */
	int targets;
	int processes;
	slock_t mutex; /* protects the members below */
	int begun;     /* the number of processes that started reading, and that finished */
	int finished;
	bool complete;
	bool failed;                                  /* there are keys that are in no part */
	ckfp_shared_scan scan[FLEXIBLE_ARRAY_MEMBER]; /* of each target */
	/* behind them: a ckfp_key_part for each process and column */
};

/* The offset of the parts. */
static Size
ckfp_parts_at(int targets)
{
	return MAXALIGN(offsetof(struct ckfp_keys_shared, scan) + targets * sizeof(ckfp_shared_scan));
}

static ckfp_key_part *
ckfp_part_of(const ckfp_keys *keys, int process, int column)
{
	char *parts = (char *)keys->shared + ckfp_parts_at(keys->shared->targets);

	return (ckfp_key_part *)parts + process * keys->columns + column;
}

Size
ckfp_keys_shared_size(const ckfp_join_record *record, int workers)
{
	return ckfp_parts_at(list_length(record->targets)) +
		   (workers + 1) * record->columns * sizeof(ckfp_key_part);
}

/* Of other types than integers the least and the greatest keys of several processes are not put
 * together. */
void
ckfp_keys_share(ckfp_keys *keys, struct ckfp_keys_shared *shared)
{
	keys->shared = shared;
	for (int i = 0; i < keys->columns; i++)
		if (shared->common && keys->column[i] != NULL && !keys->column[i]->integers)
			keys->column[i] = NULL;
}

void
ckfp_keys_shared_init(ckfp_keys *keys, struct ckfp_keys_shared *shared,
					  const ckfp_join_record *record, bool common, int workers)
{
	memset(shared, 0, ckfp_keys_shared_size(record, workers));
	shared->common = common;
	shared->targets = list_length(record->targets);
	shared->processes = workers + 1;
	SpinLockInit(&shared->mutex);
	for (int i = 0; i < shared->targets; i++)
	{
		pg_atomic_init_u32(&shared->scan[i].asked, 0);
		pg_atomic_init_u32(&shared->scan[i].taken, 0);
		pg_atomic_init_u32(&shared->scan[i].next, 0);
	}
	ckfp_keys_share(keys, shared);
}

/* -------------------------------------------------------------------------- keys */

bool
ckfp_keys_are_common(const ckfp_keys *keys)
{
	return keys->shared != NULL && keys->shared->common;
}

void
ckfp_keys_begin(ckfp_keys *keys)
{
	keys->state = CKFP_KEYS_GATHERING;
	if (!ckfp_keys_are_common(keys))
		return;
	SpinLockAcquire(&keys->shared->mutex);
	keys->shared->begun++;
	SpinLockRelease(&keys->shared->mutex);
}

void
ckfp_keys_give_up(ckfp_keys *keys)
{
	keys->state = CKFP_KEYS_OFF;
	if (ckfp_keys_are_common(keys))
		keys->shared->failed = true;
}

bool
ckfp_keys_contribute(ckfp_keys *keys)
{
	struct ckfp_keys_shared *shared = keys->shared;
	bool any = false;

	if (!ckfp_keys_are_common(keys))
		return false;
	for (int i = 0; i < keys->columns; i++)
	{
		ckfp_key_part *part = ckfp_part_of(keys, ParallelWorkerNumber + 1, i);
		const ckfp_ranges *ranges = keys->column[i];

		if (ranges == NULL)
			continue;
		part->n = ranges->n;
		part->ranges = ranges->ranges;
		for (int r = 0; r < ranges->ranges; r++)
			part->range[r] = ranges->range[r];
		any |= ranges->ranges > 0;
	}
	SpinLockAcquire(&shared->mutex);
	/* When all processes that began have finished, nothing is left to read. */
	if (shared->complete && any)
		shared->failed = true;
	if (++shared->finished == shared->begun)
		shared->complete = true;
	SpinLockRelease(&shared->mutex);
	return true;
}

/* Merge the parts of all processes. */
static void
ckfp_ranges_take(ckfp_keys *keys, int column)
{
	ckfp_ranges *ranges = keys->column[column];
	int processes = keys->shared->processes;

	ranges->range =
		MemoryContextAlloc(keys->context, processes * CKFP_FEW_KEYS * sizeof(ckfp_range));
	ranges->ranges = 0;
	ranges->n = 0;
	ranges->many = false;
	for (int i = 0; i < processes; i++)
	{
		const ckfp_key_part *part = ckfp_part_of(keys, i, column);

		memcpy(ranges->range + ranges->ranges, part->range, part->ranges * sizeof(ckfp_range));
		ranges->ranges += part->ranges;
		ranges->n += part->n;
	}
	ckfp_ranges_complete(ranges);
}

void
ckfp_keys_attach(ckfp_keys *keys)
{
	const struct ckfp_keys_shared *shared = keys->shared;

	if (!ckfp_keys_are_common(keys) || keys->state == CKFP_KEYS_OFF ||
		keys->state == CKFP_KEYS_KNOWN)
		return;
	if (shared->failed)
		keys->state = CKFP_KEYS_OFF;
	else if (shared->complete)
	{
		pg_read_barrier();
		for (int i = 0; i < keys->columns; i++)
			if (keys->column[i] != NULL)
				ckfp_ranges_take(keys, i);
		keys->state = CKFP_KEYS_KNOWN;
	}
}

/* --------------------------------------------------------------------------- scans */

static ckfp_shared_scan *
ckfp_shared_scan_of(const ckfp_block_filter *filter)
{
	return filter->keys->shared == NULL ? NULL : &filter->keys->shared->scan[filter->number];
}

bool
ckfp_blocks_is_first(const ckfp_block_filter *filter)
{
	ckfp_shared_scan *scan = ckfp_shared_scan_of(filter);

	return scan != NULL && pg_atomic_fetch_add_u32(&scan->asked, 1) == 0;
}

/* The first filter of a scan has its state: they are in the same order in all processes. */
void
ckfp_blocks_take(const ckfp_blocks *blocks)
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
ckfp_blocks_draw(ckfp_blocks *blocks)
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
		blocks->end = ckfp_blocks_next_live(blocks, blocks->next, blocks->blocks);
		blocks->end += Min(CKFP_DRAWN_BLOCKS, blocks->blocks - blocks->end);
	} while (!pg_atomic_compare_exchange_u32(&shared->next, &blocks->next, blocks->end));
	return true;
}
