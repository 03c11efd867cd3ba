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
ckfp_area(const ckfp_filter_node *filter_node)
{
	return filter_node->css.ss.ps.state->es_query_dsa;
}

/* The offset of what the processes know of the keys. */
static Size
ckfp_shared_keys_at(int workers)
{
	return MAXALIGN(offsetof(struct ckfp_shared, counts) + workers * sizeof(ckfp_join_counts));
}

static ckfp_keys_shared *
ckfp_shared_keys(const ckfp_filter_node *filter_node)
{
	return (ckfp_keys_shared *)((char *)filter_node->shared +
								ckfp_shared_keys_at(filter_node->shared->workers));
}

/* -------------------------------------------------------- one filter for all */

void
ckfp_shared_begin(ckfp_filter_node *filter_node)
{
	filter_node->filter.sets = false; /* it would lack the keys of other processes */
	ckfp_contributions_begin(filter_node->ranges.shared);
}

void
ckfp_shared_fail(ckfp_filter_node *filter_node, ckfp_given_up why)
{
	if (ckfp_keys_are_common(&filter_node->ranges))
		filter_node->shared->failed = true;
	ckfp_filter_node_give_up(filter_node, why);
}

void
ckfp_shared_miss(ckfp_filter_node *filter_node)
{
	if (!filter_node->shared->failed)
		ckfp_shared_fail(filter_node, CKFP_GIVEN_UP_NOT);
}

/* The hashes that were gathered, in blocks, side by side. */
static void
ckfp_copy_hashes(ckfp_contribution *part, const ckf_collector *collector)
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
ckfp_give_partitions(ckfp_filter_node *filter_node)
{
	for (int n = 0; n < list_length(filter_node->record.targets); n++)
		if (filter_node->partitions.scans == 0 ||
			ckfp_partitions_is_candidate(&filter_node->partitions, n))
			filter_node->ranges.shared->scan[n].alive = true;
}

/* Take the partitions with keys of all processes. */
static void
ckfp_take_partitions(ckfp_filter_node *filter_node)
{
	if (filter_node->partitions.scans == 0)
		return;
	for (int n = 0; n < filter_node->partitions.targets; n++)
		filter_node->partitions.alive[n] = filter_node->ranges.shared->scan[n].alive;
	filter_node->partitions.known = true;
	ckfp_filter_node_know_partitions(filter_node);
}

/* Give the hashes of this process to all. False if there is not enough memory. If it is too late,
 * the filter would lack them, so it is given up. No scan has used it yet. */
static bool
ckfp_give_hashes(ckfp_filter_node *filter_node)
{
	ckfp_join_filter *filter = &filter_node->filter;
	ckfp_contribution *part;

	if (filter->n == 0)
		return true;
	if (!ckfp_filter_sort(filter))
		return false;
	part = ckfp_contribution_make(ckfp_area(filter_node), (size_t)filter->collector->filter.count);
	if (part == NULL)
		return false;
	ckfp_copy_hashes(part, filter->collector);
	if (!ckfp_contribution_give(&filter_node->ranges, &filter_node->ranges.shared->hashes, part))
		filter_node->shared->failed = true;
	return true;
}

/* Gather the hashes of all parts in this process, which is the last one: no other adds parts now.
 */
static bool
ckfp_take_hashes(ckfp_filter_node *filter_node)
{
	dsa_pointer *parts = &filter_node->ranges.shared->hashes;
	bool fits = true;

	while (DsaPointerIsValid(*parts))
	{
		const ckfp_contribution *part = dsa_get_address(ckfp_area(filter_node), *parts);

		for (size_t i = 0; i < part->words && fits; i++)
			fits = ckfp_filter_gather(&filter_node->filter, part->word[i]);
		ckfp_contributions_free(ckfp_area(filter_node), parts, 1);
	}
	return fits;
}

/* Copy the filter of this process to shared memory, for all processes. */
static bool
ckfp_publish(ckfp_filter_node *filter_node)
{
	struct ckfp_shared *shared = filter_node->shared;
	const ckfp_join_filter *filter = &filter_node->filter;

	shared->bytes = dsa_allocate_extended(ckfp_area(filter_node), filter->size,
										  DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->bytes))
		return false;
	memcpy(dsa_get_address(ckfp_area(filter_node), shared->bytes), filter->filter.bytes,
		   filter->size);
	shared->size = filter->size;
	shared->keys = filter->keys;
	pg_write_barrier();
	shared->ready = true;
	return true;
}

void
ckfp_shared_contribute(ckfp_filter_node *filter_node)
{
	ckfp_filter_node_enter(filter_node, CKFP_FILTER_WAITING);
	ckfp_give_partitions(filter_node);
	if (ckfp_give_hashes(filter_node))
		ckfp_filter_free(&filter_node->filter);
	else
		ckfp_shared_fail(filter_node, CKFP_GIVEN_UP_MEMORY);
}

void
ckfp_shared_finish(ckfp_filter_node *filter_node)
{
	bool last = ckfp_contributions_finish(filter_node->ranges.shared);

	if (!last || filter_node->state != CKFP_FILTER_WAITING || filter_node->shared->failed)
		return;
	if (!ckfp_take_hashes(filter_node) || !ckfp_filter_finish(&filter_node->filter) ||
		!ckfp_publish(filter_node))
		ckfp_shared_fail(filter_node, CKFP_GIVEN_UP_MEMORY);
	ckfp_filter_free(&filter_node->filter);
}

void
ckfp_shared_attach(ckfp_filter_node *filter_node)
{
	struct ckfp_shared *shared = filter_node->shared;

	if (!ckfp_keys_are_common(&filter_node->ranges) || ckfp_filter_node_is_off(filter_node) ||
		filter_node->state == CKFP_FILTER_READY)
		return;
	if (filter_node->record.mapped)
	{
		ckfp_key_ranges_attach(&filter_node->ranges);
		ckfp_filter_node_know_ranges(filter_node);
		return;
	}
	if (shared->failed)
		ckfp_filter_node_give_up(filter_node, CKFP_GIVEN_UP_NOT);
	else if (shared->ready)
	{
		pg_read_barrier();
		filter_node->counts.keys = shared->keys;
		filter_node->counts.memory = shared->size;
		ckfp_take_partitions(filter_node);
		if (ckf_open(&filter_node->filter.filter,
					 dsa_get_address(ckfp_area(filter_node), shared->bytes), shared->size,
					 CKF_STORED) == CKF_OK)
			ckfp_filter_node_enter(filter_node, CKFP_FILTER_READY);
	}
}

/* --------------------------------------------------------------------- counts */

double
ckfp_shared_rows(ckfp_filter_node *filter_node, uint64 rows)
{
	struct ckfp_shared *shared = filter_node->shared;

	return (double)pg_atomic_add_fetch_u64(&shared->rows, (int64)rows) / shared->processes;
}

double
ckfp_shared_gathered(ckfp_filter_node *filter_node)
{
	size_t more = filter_node->filter.n - filter_node->filter.published;

	filter_node->filter.published = filter_node->filter.n;
	return (double)pg_atomic_add_fetch_u64(&filter_node->shared->rows, (int64)more);
}

/* Add the counters of the workers of a run. */
static void
ckfp_take_counts(ckfp_filter_node *filter_node)
{
	struct ckfp_shared *shared = filter_node->shared;

	for (int i = 0; i < shared->workers; i++)
		ckfp_counts_add(&filter_node->workers, &shared->counts[i]);
	memset(shared->counts, 0, shared->workers * sizeof(shared->counts[0]));
}

/* ------------------------------------------------------------------- callbacks */

Size
ckfp_shared_estimate(CustomScanState *node, ParallelContext *context)
{
	return ckfp_shared_keys_at(context->nworkers) +
		   ckfp_keys_shared_size(&((const ckfp_filter_node *)node)->record);
}

/* Prepare the shared memory for a run. */
static void
ckfp_shared_prepare(ckfp_filter_node *filter_node)
{
	struct ckfp_shared *shared = filter_node->shared;
	/* without a segment of shared memory there are no workers: the leader gathers all keys */
	bool common = ckfp_is_parallel_hash(filter_node) && ckfp_area(filter_node) != NULL;

	pg_atomic_init_u64(&shared->rows, 0);
	shared->failed = shared->ready = false;
	shared->bytes = InvalidDsaPointer;
	ckfp_keys_shared_init(ckfp_shared_keys(filter_node), &filter_node->record, common);
	ckfp_key_ranges_share(&filter_node->ranges, ckfp_shared_keys(filter_node),
						  ckfp_area(filter_node));
	if (!common)
		return;
	/* the common filter is not ready */
	if (filter_node->state != CKFP_FILTER_OFF)
		ckfp_filter_node_enter(filter_node, CKFP_FILTER_NEW);
	ckfp_partitions_start(&filter_node->partitions, &filter_node->record);
	ckfp_key_ranges_start(&filter_node->ranges);
}

void
ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_filter_node *filter_node = (ckfp_filter_node *)node;
	struct ckfp_shared *shared = memory;

	memset(shared, 0, ckfp_shared_keys_at(context->nworkers));
	shared->wanted = filter_node->state != CKFP_FILTER_OFF;
	shared->ranges = filter_node->ranges.state != CKFP_RANGES_OFF;
	shared->workers = context->nworkers;
	shared->processes = Max(context->nworkers + parallel_leader_participation, 1);
	filter_node->shared = shared;
	ckfp_shared_prepare(filter_node);
}

/* Prepare for another run, after the workers of the last one have ended. */
void
ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory)
{
	ckfp_filter_node *filter_node = (ckfp_filter_node *)node;
	struct ckfp_shared *shared = memory;

	filter_node->shared = shared;
	ckfp_take_counts(filter_node);
	if (DsaPointerIsValid(shared->bytes))
		dsa_free(ckfp_area(filter_node), shared->bytes);
	/* hashes are there if the filter was given up */
	ckfp_contributions_free(ckfp_area(filter_node), &ckfp_shared_keys(filter_node)->hashes, -1);
	ckfp_contributions_free(ckfp_area(filter_node), &ckfp_shared_keys(filter_node)->ranges, -1);
	ckfp_shared_prepare(filter_node);
}

void
ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory)
{
	ckfp_filter_node *filter_node = (ckfp_filter_node *)node;

	filter_node->shared = memory;
	ckfp_key_ranges_share(&filter_node->ranges, ckfp_shared_keys(filter_node),
						  ckfp_area(filter_node));
	if (!filter_node->shared->wanted)
		ckfp_filter_node_give_up(filter_node, CKFP_GIVEN_UP_NOT);
	if (!filter_node->shared->ranges)
		filter_node->ranges.state = CKFP_RANGES_OFF;
}

/* Called while the shared memory still exists. */
void
ckfp_shared_shutdown(CustomScanState *node)
{
	ckfp_filter_node *filter_node = (ckfp_filter_node *)node;
	bool common = ckfp_keys_are_common(&filter_node->ranges);

	if (filter_node->shared == NULL)
		return;
	filter_node->ranges.shared = NULL;
	if (IsParallelWorker())
		filter_node->shared->counts[ParallelWorkerNumber] = ckfp_filter_node_counts(filter_node);
	else
	{
		ckfp_take_counts(filter_node);
		/* the filter is in the shared memory, which is freed */
		if (common && filter_node->state == CKFP_FILTER_READY)
			ckfp_filter_node_enter(filter_node, CKFP_FILTER_WAITING);
		filter_node->shared = NULL; /* another run sets it again */
	}
}
