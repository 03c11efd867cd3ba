/*
 * filter.c - the filter of a join in one process.
 *
 * A collector gathers the hashes, and the engine then builds the filter from all of them, which
 * is several times faster than adding them one by one. Keys that are integers near each other, as
 * those of most dimensions are, are also a set, in which rows are looked up then: it is exact. Only
 * this process has it: it would lack the keys that other processes gather for a common filter.
 */
#include "join/filter/filter.h"

#include "cuckoofilter_host.h"

#include "miscadmin.h"
#include "utils/memutils.h"

void
ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr,
				 int16 integer)
{
	memset(filter, 0, sizeof(*filter));
	filter->parent = parent;
	filter->limit = limit;
	filter->fpr = fpr;
	filter->integer = integer;
	filter->sets = integer != 0;
}

void
ckfp_filter_free(ckfp_join_filter *filter)
{
	if (filter->context != NULL)
		MemoryContextDelete(filter->context);
	ckfp_filter_init(filter, filter->parent, filter->limit, filter->fpr, filter->integer);
}

/* An empty filter whose items are hashes. */
static void
ckfp_filter_create(ckf_filter *empty, void *bytes, double fpr)
{
	ckf_params params;
	ckf_status status;

	ckf_params_default(&params);
	params.capacity = 1; /* the result is sized to the number of hashes */
	params.fpr = fpr;
	params.set = true;
	params.plain = true; /* the layout with the fastest lookups */
	status = ckf_create(&params, bytes);
	if (status == CKF_OK)
		status = ckf_open(empty, bytes, CKF_HEADER_SIZE, CKF_STORED);
	if (status != CKF_OK)
		elog(ERROR, "could not create a join filter: %d", (int)status);
}

static void
ckfp_filter_start(ckfp_join_filter *filter)
{
	char header[CKF_HEADER_SIZE];
	ckf_filter empty;

	if (filter->context == NULL)
		filter->context =
			AllocSetContextCreate(filter->parent, "cuckoo join filter", ALLOCSET_DEFAULT_SIZES);
	filter->collector = MemoryContextAlloc(filter->context, sizeof *filter->collector);
	ckfp_filter_create(&empty, header, filter->fpr);
	ckf_collect_start(filter->collector, &empty, 1);
	ckfp_integers_init(&filter->integers, filter->context, filter->limit / 8);
}

/* Free counted memory, if there is any. */
static void
ckfp_filter_release(ckfp_join_filter *filter, void *memory)
{
	if (memory == NULL)
		return;
	filter->taken -= GetMemoryChunkSpace(memory);
	pfree(memory);
}

/* The host of long operations: memory from PostgreSQL, up to the filter's limit. */
typedef struct ckfp_filter_host
{
	ckf_host host;
	ckfp_join_filter *filter;
} ckfp_filter_host;

static void *
ckfp_filter_renew(ckf_host *host, void *memory, size_t size, const ckf_filter *origin)
{
	ckfp_join_filter *filter = ((ckfp_filter_host *)host)->filter;

	ckfp_filter_release(filter, memory);
	if (filter->taken + ckfp_integers_memory(&filter->integers) + size > filter->limit)
	{
		/* nothing is lost: the hashes of all keys are gathered, too */
		ckfp_integers_free(&filter->integers);
		filter->sets = false;
	}
	if (size == 0 || filter->taken + size > filter->limit)
		return NULL;
	memory = MemoryContextAllocExtended(filter->context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (memory != NULL)
		filter->taken += GetMemoryChunkSpace(memory);
	return memory;
}

static bool
ckfp_filter_stops(ckf_host *host)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* The filter is given up. This is not an error. */
static void
ckfp_filter_report(ckf_host *host, ckf_status status, ckf_about about)
{
}

static ckfp_filter_host
ckfp_filter_host_of(ckfp_join_filter *filter)
{
	return (ckfp_filter_host){{ckfp_filter_renew, ckfp_filter_stops, ckfp_filter_report}, filter};
}

bool
ckfp_filter_make_room(ckfp_join_filter *filter)
{
	ckfp_filter_host host = ckfp_filter_host_of(filter);

	if (filter->collector == NULL)
		ckfp_filter_start(filter);
	return ckf_host_make_room(&host.host, filter->collector);
}

bool
ckfp_filter_sort(ckfp_join_filter *filter)
{
	if (filter->collector == NULL)
		ckfp_filter_start(filter); /* a filter of no keys is empty */
	ckf_collect_settle(filter->collector);
	return ckfp_filter_make_room(filter);
}

bool
ckfp_filter_finish(ckfp_join_filter *filter)
{
	ckfp_filter_host host = ckfp_filter_host_of(filter);
	const ckf_filter *keys;

	ckfp_integers_finish(&filter->integers);
	if (!ckfp_filter_sort(filter))
		return false;
	keys = &filter->collector->filter;
	filter->keys = (size_t)keys->count;
	if (!ckf_host_run(&host.host, &(ckf_task){.operation = CKF_FINISH, .in = &keys, .inputs = 1},
					  &filter->filter))
		return false;
	ckf_host_collect_end(&host.host, filter->collector);
	pfree(filter->collector);
	filter->collector = NULL;
	filter->n = 0;
	filter->size = filter->filter.size;
	return true;
}
