/*
 * shared.c - filters in parallel plans.
 *
 * Under a Parallel Hash each process reads a part of the build side, so one common filter has the
 * keys of all of them. The last process to finish builds it, before it reaches the barrier at which
 * the hash join waits for all processes. So the filter is ready before the first row of the probe
 * side is looked up, and before a scan uses it.
 *
 * Under any other hash join each process reads the whole build side and builds a filter of its own.
 * Then only the counters are shared.
 */
#include "join/exec/exec.h"

#include "executor/executor.h"
#include "optimizer/optimizer.h"

struct ckfp_shared
{
	bool wanted;       /* the leader wants a filter */
	bool ranges;       /* the leader wants to skip blocks */
	bool failed;       /* the common filter is given up */
	bool ready;        /* the common filter is built */
	dsa_pointer bytes; /* the common filter */
	size_t size;       /* the size of the common filter in bytes */
	uint64 keys;       /* the number of keys of the common filter */
	pg_atomic_uint64
		rows;      /* rows of the outer side of a nested loop, or keys of the common filter */
	int processes; /* the number of processes that read these rows */
	int workers;
	ckfp_join_counts counts[FLEXIBLE_ARRAY_MEMBER]; /* of each worker; then ckfp_keys_shared */
};

static dsa_area *
ckfp_area(const ckfp_owner *owner)
{
	return owner->css.ss.ps.state->es_query_dsa;
}

/* The offset of what the processes know of the keys. */
static Size
ckfp_shared_keys_at(int workers)
{
	return MAXALIGN(offsetof(struct ckfp_shared, counts) + workers * sizeof(ckfp_join_counts));
}

static ckfp_keys_shared *
ckfp_shared_keys(const ckfp_owner *owner)
{
	return (ckfp_keys_shared *)((char *)owner->shared +
								ckfp_shared_keys_at(owner->shared->workers));
}

/* -------------------------------------------------------- one filter for all */

void
ckfp_shared_begin(ckfp_owner *owner)
{
	owner->filter.sets = false; /* it would lack the keys of other processes */
	ckfp_parts_begin(owner->ranges.shared);
}

void
ckfp_shared_fail(ckfp_owner *owner, ckfp_given_up why)
{
	if (ckfp_keys_are_common(&owner->ranges))
		owner->shared->failed = true;
	ckfp_owner_give_up(owner, why);
}

void
ckfp_shared_miss(ckfp_owner *owner)
{
	if (!owner->shared->failed)
		ckfp_shared_fail(owner, CKFP_GIVEN_UP_NOT);
}

/* The hashes that were gathered, in blocks, side by side. */
static void
ckfp_copy_hashes(ckfp_part *part, const ckf_collector *collector)
{
	const uint64 *hashes;
	size_t at = 0;
	size_t n;

	for (; (hashes = ckf_collected(collector, at, &n)) != NULL; at += n)
		memcpy(part->word + at, hashes, n * sizeof(uint64));
}

/* Add the partitions with keys of this process. The processes share the verdict on each scan:
 * a partition may have different numbers in each one, while another session attaches one. */
static void
ckfp_give_partitions(ckfp_owner *owner)
{
	for (int n = 0; n < list_length(owner->record.targets); n++)
		if (owner->partitions.scans == 0 || ckfp_partitions_is_live(&owner->partitions, n))
			owner->ranges.shared->scan[n].alive = true;
}

/* Take the partitions with keys of all processes. */
static void
ckfp_take_partitions(ckfp_owner *owner)
{
	if (owner->partitions.scans == 0)
		return;
	for (int n = 0; n < owner->partitions.targets; n++)
		owner->partitions.alive[n] = owner->ranges.shared->scan[n].alive;
	owner->partitions.known = true;
	ckfp_owner_know_partitions(owner);
}

/* Give the hashes of this process to all. False if there is not enough memory. If it is too late,
 * the filter would lack them, so it is given up. No scan has used it yet. */
static bool
ckfp_give_hashes(ckfp_owner *owner)
{
	ckfp_join_filter *filter = &owner->filter;
	ckfp_part *part;

	if (filter->n == 0)
		return true;
	if (!ckfp_filter_sort(filter))
		return false;
	part = ckfp_part_make(ckfp_area(owner), (size_t)filter->collector->filter.count);
	if (part == NULL)
		return false;
	ckfp_copy_hashes(part, filter->collector);
	if (!ckfp_part_give(&owner->ranges, &owner->ranges.shared->hashes, part))
		owner->shared->failed = true;
	return true;
}

/* Gather the hashes of all parts in this process, which is the last one: no other adds parts now.
 */
static bool
ckfp_take_hashes(ckfp_owner *owner)
{
	dsa_pointer *parts = &owner->ranges.shared->hashes;
	bool fits = true;

	while (DsaPointerIsValid(*parts))
	{
		const ckfp_part *part = dsa_get_address(ckfp_area(owner), *parts);

		for (size_t i = 0; i < part->words && fits; i++)
			fits = ckfp_filter_gather(&owner->filter, part->word[i]);
		ckfp_parts_free(ckfp_area(owner), parts, 1);
	}
	return fits;
}

/* Copy the filter of this process to shared memory, for all processes. */
static bool
ckfp_publish(ckfp_owner *owner)
{
	struct ckfp_shared *shared = owner->shared;
	const ckfp_join_filter *filter = &owner->filter;

	shared->bytes =
		dsa_allocate_extended(ckfp_area(owner), filter->size, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->bytes))
		return false;
	memcpy(dsa_get_address(ckfp_area(owner), shared->bytes), filter->filter.bytes, filter->size);
	shared->size = filter->size;
	shared->keys = filter->keys;
	pg_write_barrier();
	shared->ready = true;
	return true;
}

void
ckfp_shared_contribute(ckfp_owner *owner)
{
	ckfp_owner_enter(owner, CKFP_FILTER_WAITING);
	ckfp_give_partitions(owner);
	if (ckfp_give_hashes(owner))
		ckfp_filter_free(&owner->filter);
	else
		ckfp_shared_fail(owner, CKFP_GIVEN_UP_MEMORY);
}

void
ckfp_shared_finish(ckfp_owner *owner)
{
	bool last = ckfp_parts_finish(owner->ranges.shared);

	if (!last || owner->state != CKFP_FILTER_WAITING || owner->shared->failed)
		return;
	if (!ckfp_take_hashes(owner) || !ckfp_filter_finish(&owner->filter) || !ckfp_publish(owner))
		ckfp_shared_fail(owner, CKFP_GIVEN_UP_MEMORY);
	ckfp_filter_free(&owner->filter);
}

void
ckfp_shared_attach(ckfp_owner *owner)
{
	struct ckfp_shared *shared = owner->shared;

	if (!ckfp_keys_are_common(&owner->ranges) || ckfp_owner_is_off(owner) ||
		owner->state == CKFP_FILTER_READY)
		return;
	if (owner->record.mapped)
	{
		ckfp_key_ranges_attach(&owner->ranges);
		ckfp_owner_know_ranges(owner);
		return;
	}
	if (shared->failed)
		ckfp_owner_give_up(owner, CKFP_GIVEN_UP_NOT);
	else if (shared->ready)
	{
		pg_read_barrier();
		owner->counts.keys = shared->keys;
		owner->counts.memory = shared->size;
		ckfp_take_partitions(owner);
		if (ckf_open(&owner->filter.filter, dsa_get_address(ckfp_area(owner), shared->bytes),
					 shared->size, CKF_STORED) == CKF_OK)
			ckfp_owner_enter(owner, CKFP_FILTER_READY);
	}
}

/* --------------------------------------------------------------------- counts */

double
ckfp_shared_rows(ckfp_owner *owner, uint64 rows)
{
	struct ckfp_shared *shared = owner->shared;

	return (double)pg_atomic_add_fetch_u64(&shared->rows, (int64)rows) / shared->processes;
}

double
ckfp_shared_gathered(ckfp_owner *owner)
{
	size_t more = owner->filter.n - owner->filter.published;

	owner->filter.published = owner->filter.n;
	return (double)pg_atomic_add_fetch_u64(&owner->shared->rows, (int64)more);
}

/* Add the counters of the workers of a run. */
static void
ckfp_take_counts(ckfp_owner *owner)
{
	struct ckfp_shared *shared = owner->shared;

	for (int i = 0; i < shared->workers; i++)
		ckfp_counts_add(&owner->workers, &shared->counts[i]);
	memset(shared->counts, 0, shared->workers * sizeof(shared->counts[0]));
}

/* ------------------------------------------------------------------- callbacks */

Size
ckfp_shared_estimate(CustomScanState *node, ParallelContext *context)
{
	return ckfp_shared_keys_at(context->nworkers) +
		   ckfp_keys_shared_size(&((const ckfp_owner *)node)->record);
}

/* Prepare the shared memory for a run. */
static void
ckfp_shared_prepare(ckfp_owner *owner)
{
	struct ckfp_shared *shared = owner->shared;
	/* without a segment of shared memory there are no workers: the leader gathers all keys */
	bool common = ckfp_is_parallel_hash(owner) && ckfp_area(owner) != NULL;

	pg_atomic_init_u64(&shared->rows, 0);
	shared->failed = shared->ready = false;
	shared->bytes = InvalidDsaPointer;
	ckfp_keys_shared_init(ckfp_shared_keys(owner), &owner->record, common);
	ckfp_key_ranges_share(&owner->ranges, ckfp_shared_keys(owner), ckfp_area(owner));
	if (!common)
		return;
	/* the common filter is not ready */
	if (owner->state != CKFP_FILTER_OFF)
		ckfp_owner_enter(owner, CKFP_FILTER_NEW);
	ckfp_partitions_start(&owner->partitions, &owner->record);
	ckfp_key_ranges_start(&owner->ranges);
}

void
ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_owner *owner = (ckfp_owner *)node;
	struct ckfp_shared *shared = memory;

	memset(shared, 0, ckfp_shared_keys_at(context->nworkers));
	shared->wanted = owner->state != CKFP_FILTER_OFF;
	shared->ranges = owner->ranges.state != CKFP_RANGES_OFF;
	shared->workers = context->nworkers;
	shared->processes = Max(context->nworkers + parallel_leader_participation, 1);
	owner->shared = shared;
	ckfp_shared_prepare(owner);
}

/* Prepare for another run, after the workers of the last one have ended. */
void
ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_owner *owner = (ckfp_owner *)node;
	struct ckfp_shared *shared = memory;

	owner->shared = shared;
	ckfp_take_counts(owner);
	if (DsaPointerIsValid(shared->bytes))
		dsa_free(ckfp_area(owner), shared->bytes);
	/* hashes are there if the filter was given up */
	ckfp_parts_free(ckfp_area(owner), &ckfp_shared_keys(owner)->hashes, -1);
	ckfp_parts_free(ckfp_area(owner), &ckfp_shared_keys(owner)->ranges, -1);
	ckfp_shared_prepare(owner);
}

void
ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory)
{
	ckfp_owner *owner = (ckfp_owner *)node;

	owner->shared = memory;
	ckfp_key_ranges_share(&owner->ranges, ckfp_shared_keys(owner), ckfp_area(owner));
	if (!owner->shared->wanted)
		ckfp_owner_give_up(owner, CKFP_GIVEN_UP_NOT);
	if (!owner->shared->ranges)
		owner->ranges.state = CKFP_RANGES_OFF;
}

/* Called while the shared memory still exists. */
void
ckfp_shared_shutdown(CustomScanState *node)
{
	ckfp_owner *owner = (ckfp_owner *)node;
	bool common = ckfp_keys_are_common(&owner->ranges);

	if (owner->shared == NULL)
		return;
	owner->ranges.shared = NULL;
	if (IsParallelWorker())
		owner->shared->counts[ParallelWorkerNumber] = ckfp_owner_counts(owner);
	else
	{
		ckfp_take_counts(owner);
		/* the filter is in the shared memory, which is freed */
		if (common && owner->state == CKFP_FILTER_READY)
			ckfp_owner_enter(owner, CKFP_FILTER_WAITING);
		owner->shared = NULL; /* another run sets it again */
	}
}
