/*
 * filter.c - the filter of a join in one process.
 *
 * A collector gathers the hashes, and the engine then builds the filter from all of them, which
 * is several times faster than adding them one by one. Integers that lie near the first one, as the
 * keys of most dimensions do, are also bits, in which rows are looked up then. Only this process
 * has the bits: they would lack the keys that other processes gather for a common filter.
 */
#include "join/filter/filter.h"

#include "cuckoofilter_host.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* The smallest and the largest number of bits. */
#define CKFP_FIRST_BITS 4096
#define CKFP_BITS (1 << 20)

void
ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr)
{
	memset(filter, 0, sizeof(*filter));
	filter->parent = parent;
	filter->limit = limit;
	filter->fpr = fpr;
}

void
ckfp_filter_free(ckfp_join_filter *filter)
{
	if (filter->context != NULL)
		MemoryContextDelete(filter->context);
	ckfp_filter_init(filter, filter->parent, filter->limit, filter->fpr);
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

/* Do without bits. Nothing is lost: the hashes of all keys are gathered, too. */
static void
ckfp_filter_drop_bits(ckfp_join_filter *filter)
{
	ckfp_filter_release(filter, filter->bits);
	filter->bits = NULL;
	filter->width = 0;
	filter->no_bits = true;
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

	(void)origin;
	ckfp_filter_release(filter, memory);
	if (filter->taken + size > filter->limit)
		ckfp_filter_drop_bits(filter);
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
	(void)host;
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* The filter is given up. This is not an error. */
static void
ckfp_filter_report(ckf_host *host, ckf_status status, ckf_about about)
{
	(void)host;
	(void)status;
	(void)about;
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

/* Double the number of bits, around those that there are. False if the memory does not suffice. */
static bool
ckfp_filter_widen(ckfp_join_filter *filter)
{
	uint64 width = Max(2 * filter->width, CKFP_FIRST_BITS);
	uint64 added = (width - filter->width) / 2; /* on each side */
	uint8 *bits;

	if (filter->taken + width / 8 > filter->limit)
		return false;
	bits = MemoryContextAllocZero(filter->context, width / 8);
	filter->taken += GetMemoryChunkSpace(bits);
	if (filter->bits != NULL)
		memcpy(bits + added / 8, filter->bits, filter->width / 8);
	ckfp_filter_release(filter, filter->bits);
	filter->bits = bits;
	filter->width = width;
	filter->base -= added;
	return true;
}

void
ckfp_filter_add_bit(ckfp_join_filter *filter, const ckfp_source *source, const Datum *values)
{
	bool fits = source->columns == 1 && ckfp_key_is_integer(&source->key[0]);
	uint64 integer = fits ? (uint64)ckfp_key_integer(&source->key[0], values[0]) : 0;

	if (filter->bits == NULL)
		filter->base = integer;
	/* as wide as they can become */
	fits = fits && integer - (filter->base + filter->width / 2 - CKFP_BITS / 2) < CKFP_BITS;
	while (fits && integer - filter->base >= filter->width)
		fits = ckfp_filter_widen(filter);
	integer -= filter->base;
	if (fits)
		CKFP_SET_BIT(filter->bits, integer);
	else
		ckfp_filter_drop_bits(filter);
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
ckfp_filter_build(ckfp_join_filter *filter)
{
	ckfp_filter_host host = ckfp_filter_host_of(filter);
	const ckf_filter *keys;

	if (!ckfp_filter_sort(filter))
		return false;
	keys = &filter->collector->filter;
	filter->keys = (size_t)keys->count;
	if (!ckf_host_run(&host.host, &(ckf_task){.goal = CKF_FINISH, .in = &keys, .inputs = 1},
					  &filter->filter))
		return false;
	ckf_host_collect_end(&host.host, filter->collector);
	pfree(filter->collector);
	filter->collector = NULL;
	filter->n = 0;
	filter->size = filter->filter.size;
	return true;
}
