/*
 * shared.c - filters in parallel plans.
 *
 * Under a Parallel Hash each process reads a part of the build side, so one common filter has the
 * keys of all of them. The last process to finish builds it, before it reaches the barrier at which
 * the hash join waits for all processes. So the filter is ready before the first row of the probe
 * side is looked up, and before a scan asks.
 *
 * Under any other hash join each process reads the whole build side and builds a filter of its own.
 * Then only the counters are shared.
 */
#include "join/exec/exec.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/spin.h"
#include "utils/dsa.h"

/* The keys that a process gathered. */
typedef struct ckfp_hash_part
{
	dsa_pointer next;
	size_t n;
	uint64 hashes[FLEXIBLE_ARRAY_MEMBER];
} ckfp_hash_part;

struct ckfp_shared
{
	bool wanted; /* the leader wants a filter */
	bool common; /* one filter for all */

	slock_t mutex; /* protects the members below until the filter is ready */
	int begun;     /* the number of processes that started reading, and that finished */
	int finished;
	bool made; /* a process builds the filter, or has built it */
	dsa_pointer parts;

	bool failed;
	bool ready;
	dsa_pointer bytes;
	size_t size;
	uint64 keys;

	pg_atomic_uint64 rows; /* of the outer side of a nested loop */
	int processes;         /* that read them */

	bool ranges; /* the leader wants to skip blocks */
	int workers;
	ckfp_join_counts counts[FLEXIBLE_ARRAY_MEMBER]; /* of each worker */
	/* behind them: a byte for each target of the filter, 1: it can have rows that join; and the
	 * ranges of the keys */
};

static dsa_area *
ckfp_area(const ckfp_build *build)
{
	return build->css.ss.ps.state->es_query_dsa;
}

bool
ckfp_shared_is_common(const ckfp_build *build)
{
	return build->shared != NULL && build->shared->common;
}

static uint8 *
ckfp_shared_alive(struct ckfp_shared *shared)
{
	return (uint8 *)&shared->counts[shared->workers];
}

/* The offset of the ranges. */
static Size
ckfp_shared_keys_at(const ckfp_build *build, int workers)
{
	return MAXALIGN(offsetof(struct ckfp_shared, counts) + workers * sizeof(ckfp_join_counts) +
					list_length(build->record.targets));
}

static struct ckfp_keys_shared *
ckfp_shared_keys(const ckfp_build *build)
{
	return (struct ckfp_keys_shared *)((char *)build->shared +
									   ckfp_shared_keys_at(build, build->shared->workers));
}

/* -------------------------------------------------------- one filter for all */

void
ckfp_shared_begin(ckfp_build *build)
{
	struct ckfp_shared *shared = build->shared;

	build->filter.integer = 0; /* they would lack the keys of other processes */
	SpinLockAcquire(&shared->mutex);
	shared->begun++;
	SpinLockRelease(&shared->mutex);
}

void
ckfp_shared_fail(ckfp_build *build, ckfp_given_up why)
{
	build->shared->failed = true;
	ckfp_build_give_up(build, why);
}

void
ckfp_shared_miss(ckfp_build *build)
{
	if (!build->shared->failed)
		ckfp_shared_fail(build, CKFP_GIVEN_UP_NOT);
}

/* The hashes that were gathered, in blocks, side by side. */
static void
ckfp_copy_hashes(ckfp_hash_part *part, const ckf_collector *collector)
{
	const uint64 *hashes;
	size_t at = 0;
	size_t n;

	for (; (hashes = ckf_collected(collector, at, &n)) != NULL; at += n)
		memcpy(part->hashes + at, hashes, n * sizeof(uint64));
	part->n = at;
}

/* Add the partitions with keys of this process. The processes share the verdict on each scan:
 * a partition may have different numbers in each one, while another session attaches one. */
static void
ckfp_give_partitions(ckfp_build *build)
{
	uint8 *alive = ckfp_shared_alive(build->shared);

	for (int n = 0; n < list_length(build->record.targets); n++)
		if (build->partitions.scans == 0 || ckfp_partitions_is_live(&build->partitions, n))
			alive[n] = 1;
}

/* Take the partitions with keys of all processes. */
static void
ckfp_take_partitions(ckfp_build *build)
{
	if (build->partitions.scans == 0)
		return;
	memcpy(build->partitions.alive, ckfp_shared_alive(build->shared), build->partitions.targets);
	build->partitions.known = true;
	ckfp_build_know_partitions(build);
}

/* Add the keys of this process to the parts, unless the filter is being built: then this process is
 * late. False if there is not enough memory. */
static bool
ckfp_give_part(ckfp_build *build, bool *last, bool *late)
{
	struct ckfp_shared *shared = build->shared;
	ckfp_join_filter *filter = &build->filter;
	dsa_pointer pointer = InvalidDsaPointer;
	ckfp_hash_part *part = NULL;

	if (filter->n > 0)
	{
		size_t n;

		if (!ckfp_filter_sort(filter))
			return false;
		n = (size_t)filter->collector->filter.count;
		pointer = dsa_allocate_extended(ckfp_area(build),
										offsetof(ckfp_hash_part, hashes) + n * sizeof(uint64),
										DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
		if (!DsaPointerIsValid(pointer))
			return false;
		part = dsa_get_address(ckfp_area(build), pointer);
		ckfp_copy_hashes(part, filter->collector);
	}
	SpinLockAcquire(&shared->mutex);
	*late = shared->made;
	if (part != NULL && !*late)
	{
		part->next = shared->parts;
		shared->parts = pointer;
	}
	*last = ++shared->finished == shared->begun && !*late;
	shared->made |= *last;
	SpinLockRelease(&shared->mutex);
	if (part != NULL && *late) /* the process that builds the filter is taking the parts */
		dsa_free(ckfp_area(build), pointer);
	return true;
}

/* Gather the keys of all parts in this process, which is the last one: no other adds parts now. */
static bool
ckfp_take_parts(ckfp_build *build)
{
	dsa_area *area = ckfp_area(build);
	dsa_pointer pointer = build->shared->parts;
	bool fits = true;

	build->shared->parts = InvalidDsaPointer;
	while (DsaPointerIsValid(pointer))
	{
		ckfp_hash_part *part = dsa_get_address(area, pointer);
		dsa_pointer next = part->next;

		for (size_t i = 0; i < part->n && fits; i++)
			fits = ckfp_filter_gather(&build->filter, part->hashes[i]);
		dsa_free(area, pointer);
		pointer = next;
	}
	return fits;
}

/* Free the parts that no filter was built from. */
static void
ckfp_drop_parts(ckfp_build *build)
{
	dsa_area *area = ckfp_area(build);
	dsa_pointer *parts = &build->shared->parts;

	while (DsaPointerIsValid(*parts))
	{
		dsa_pointer next = ((ckfp_hash_part *)dsa_get_address(area, *parts))->next;

		dsa_free(area, *parts);
		*parts = next;
	}
}

/* Copy the filter of this process to shared memory, for all processes. */
static bool
ckfp_publish(ckfp_build *build)
{
	struct ckfp_shared *shared = build->shared;
	const ckfp_join_filter *filter = &build->filter;

	shared->bytes =
		dsa_allocate_extended(ckfp_area(build), filter->size, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->bytes))
		return false;
	memcpy(dsa_get_address(ckfp_area(build), shared->bytes), filter->filter.bytes, filter->size);
	shared->size = filter->size;
	shared->keys = filter->keys;
	pg_write_barrier();
	shared->ready = true;
	return true;
}

void
ckfp_shared_contribute(ckfp_build *build)
{
	bool gathered = build->filter.n > 0;
	bool last;
	bool late;

	ckfp_build_enter(build, CKFP_BUILD_WAITING);
	ckfp_give_partitions(build);
	if (!ckfp_give_part(build, &last, &late))
	{
		ckfp_shared_fail(build, CKFP_GIVEN_UP_MEMORY);
		return;
	}
	ckfp_filter_free(&build->filter);
	/* When all processes that started have finished, nothing is left to read. If a process still
	 * has keys, the filter would lack them, so it is given up. No scan has asked it yet. */
	if (late && gathered)
		build->shared->failed = true;
	if (!last || build->shared->failed)
		return;
	if (!ckfp_take_parts(build) || !ckfp_filter_build(&build->filter) || !ckfp_publish(build))
		ckfp_shared_fail(build, CKFP_GIVEN_UP_MEMORY);
	ckfp_filter_free(&build->filter);
}

void
ckfp_shared_attach(ckfp_build *build)
{
	struct ckfp_shared *shared = build->shared;

	if (!ckfp_shared_is_common(build) || build->state == CKFP_BUILD_OFF ||
		build->state == CKFP_BUILD_READY)
		return;
	if (shared->failed)
		ckfp_build_give_up(build, CKFP_GIVEN_UP_NOT);
	else if (shared->ready)
	{
		pg_read_barrier();
		build->counts.keys = shared->keys;
		build->counts.memory = shared->size;
		ckfp_take_partitions(build);
		if (ckf_open(&build->filter.filter, dsa_get_address(ckfp_area(build), shared->bytes),
					 shared->size, CKF_STORED) == CKF_OK)
			ckfp_build_enter(build, CKFP_BUILD_READY);
	}
}

/* --------------------------------------------------------------------- counts */

double
ckfp_shared_rows(ckfp_build *build, uint64 rows)
{
	struct ckfp_shared *shared = build->shared;

	return (double)pg_atomic_add_fetch_u64(&shared->rows, (int64)rows) / shared->processes;
}

/* Add the counters of the workers of a run. */
static void
ckfp_take_counts(ckfp_build *build)
{
	struct ckfp_shared *shared = build->shared;

	for (int i = 0; i < shared->workers; i++)
		ckfp_counts_add(&build->workers, &shared->counts[i]);
	memset(shared->counts, 0, shared->workers * sizeof(shared->counts[0]));
}

/* ------------------------------------------------------------------- callbacks */

Size
ckfp_shared_estimate(CustomScanState *node, ParallelContext *context)
{
	const ckfp_build *build = (const ckfp_build *)node;
	int workers = context->nworkers;

	return ckfp_shared_keys_at(build, workers) +
		   (build->record.blocks ? ckfp_keys_shared_size(&build->record, workers) : 0);
}

/* Prepare the shared memory for a run. */
static void
ckfp_shared_prepare(ckfp_build *build)
{
	struct ckfp_shared *shared = build->shared;

	memset(ckfp_shared_alive(shared), 0, list_length(build->record.targets));
	pg_atomic_init_u64(&shared->rows, 0);
	shared->begun = shared->finished = 0;
	shared->made = shared->failed = shared->ready = false;
	shared->bytes = shared->parts = InvalidDsaPointer;
	if (shared->ranges)
		ckfp_keys_shared_init(&build->keys, ckfp_shared_keys(build), &build->record, shared->common,
							  shared->workers);
	if (!shared->common)
		return;
	/* the common filter is not ready */
	if (build->state != CKFP_BUILD_OFF)
		ckfp_build_enter(build, CKFP_BUILD_NEW);
	ckfp_partitions_start(&build->partitions, &build->record);
	ckfp_keys_start(&build->keys);
}

void
ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_build *build = (ckfp_build *)node;
	struct ckfp_shared *shared = memory;

	build->shared = shared;
	SpinLockInit(&shared->mutex);
	shared->wanted = build->state != CKFP_BUILD_OFF;
	shared->common = ckfp_build_is_common(build);
	shared->ranges = build->keys.state != CKFP_KEYS_OFF;
	shared->workers = context->nworkers;
	shared->processes = Max(context->nworkers + parallel_leader_participation, 1);
	memset(shared->counts, 0, shared->workers * sizeof(shared->counts[0]));
	ckfp_shared_prepare(build);
}

/* Prepare for another run, after the workers of the last one have ended. */
void
ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_build *build = (ckfp_build *)node;
	struct ckfp_shared *shared = memory;

	build->shared = shared;
	ckfp_take_counts(build);
	if (DsaPointerIsValid(shared->bytes))
		dsa_free(ckfp_area(build), shared->bytes);
	ckfp_drop_parts(build); /* those of a filter that was given up */
	ckfp_shared_prepare(build);
}

void
ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory)
{
	ckfp_build *build = (ckfp_build *)node;

	build->shared = memory;
	if (!build->shared->wanted)
		ckfp_build_give_up(build, CKFP_GIVEN_UP_NOT);
	if (build->shared->ranges)
		ckfp_keys_share(&build->keys, ckfp_shared_keys(build));
	else
		build->keys.state = CKFP_KEYS_OFF;
}

/* Called while the shared memory still exists. */
void
ckfp_shared_shutdown(CustomScanState *node)
{
	ckfp_build *build = (ckfp_build *)node;

	if (build->shared == NULL)
		return;
	build->keys.shared = NULL;
	if (IsParallelWorker())
		build->shared->counts[ParallelWorkerNumber] = ckfp_build_counts(build);
	else
	{
		ckfp_take_counts(build);
		/* the filter is in the shared memory, which is freed */
		if (build->shared->common && build->state == CKFP_BUILD_READY)
			ckfp_build_enter(build, CKFP_BUILD_WAITING);
		build->shared = NULL; /* another run sets it again */
	}
}
