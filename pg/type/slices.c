/*
 * slices.c - lookups in a large value in a TOAST table.
 *
 * A lookup in a table needs its header and two buckets. These are three slices of one or two TOAST
 * chunks each (2 kB), whatever the size of the filter. For many lookups, fetching the whole value
 * is cheaper. The number of lookups is not known in advance, so the ski-rental rule decides: read
 * slices until they have cost as much as the whole value, then fetch it. The total is at most twice
 * the cheaper of the two ways. The count is kept per call site and value: another value at the same
 * call site starts at zero.
 */
#include "type/slices.h"

#include "error.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

/*
 * The cost of a slice, as the number of bytes of a whole value that take the same time to fetch.
 *
 * Measured as processor time (log_statement_stats), with all blocks in shared buffers:
 * - 132 MB: a slice takes 2.9 us (over 16,000 of them), the whole value 1.03 ns per byte, so 2,800.
 * - 2.4 MB, with a smaller index: a slice takes 1.6 us, the whole value 0.5 to 1 ns per byte.
 * - 16 to 150 kB, within the processor's cache: a slice takes 4 to 5 us, the whole value 0.3 to
 *   0.45 ns per byte, so 8,000 or more.
 *
 * ckfp_read_slice adds the cost of blocks that were not in shared buffers.
 */
#define CKFP_SLICE_COST 3072
#define CKFP_SLICE_COST_CACHED 8192
#define CKFP_CACHED_SIZE ((uint64)1 << 20)

/* The largest cost of a block that is read at random, in blocks read in sequence, whatever the
 * settings say. */
#define CKFP_MAX_BLOCK_COST 1000

/* Slices that a lookup needs, and slices that the first lookup in a value needs in addition. */
#define CKFP_SLICES_OF_QUESTION 2
#define CKFP_SLICES_OF_HEADER 1

/* The last slice, of whole chunks. It is kept because the next lookup may need neighbouring
 * bytes. */
typedef struct ckfp_window
{
	struct varlena *slice; /* NULL: none */
	uint64 from;           /* the offset of its first byte in the value */
} ckfp_window;

/* --------------------------------------------------- slices or the whole value? */

static inline uint64
ckfp_slice_cost(uint64 size)
{
	return size <= CKFP_CACHED_SIZE ? CKFP_SLICE_COST_CACHED : CKFP_SLICE_COST;
}

/* Are `more` slices of a value of `size` bytes still cheaper than the whole value, after `paid`? */
static inline bool
ckfp_cheaper(uint64 size, uint64 paid, uint64 more)
{
	return paid <= size && more <= (size - paid) / ckfp_slice_cost(size);
}

bool
ckfp_slices_pay(const ckfp_slices *slices, size_t n)
{
	return ckfp_cheaper(slices->filter.size, slices->paid, (uint64)n * CKFP_SLICES_OF_QUESTION);
}

/* The number of blocks that this process has read so far. */
static inline int64
ckfp_blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/*
 * Read a slice and add its cost to `paid`. The cost of blocks that were not in shared buffers
 * follows the planner's settings: random_page_cost / seq_page_cost times a block of the whole
 * value, which is read in sequence.
 */
static struct varlena *
ckfp_read_slice(ckfp_slices *slices, uint64 from, uint64 size)
{
	int64 before = ckfp_blocks_read();
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(slices->value, (int32)from, (int32)size);
	double ratio = seq_page_cost > 0 ? random_page_cost / seq_page_cost : 1;
	double block = BLCKSZ * Min(Max(ratio, 1), CKFP_MAX_BLOCK_COST);

	slices->paid += ckfp_slice_cost(slices->filter.size) +
					(uint64)(block * (double)(ckfp_blocks_read() - before));
	return slice;
}

/* Open a value by a slice with its header. */
static void
ckfp_open_slices(ckfp_slices *slices, const struct varatt_external *toast)
{
	ckf_status status = CKF_BAD_BYTES;
	struct varlena *header;
	size_t size;

	slices->filter.size = 0; /* none while this can fail */
	slices->paid = 0;
	header = ckfp_read_slice(slices, 0, CKF_HEADER_SIZE);
	size = VARSIZE_ANY_EXHDR(header);
	if (size >= CKF_HEADER_SIZE)
	{
		memcpy(slices->header, VARDATA_ANY(header), CKF_HEADER_SIZE);
		status = ckf_open(&slices->filter, slices->header, (size_t)toast->va_rawsize - VARHDRSZ,
						  CKF_STORED);
	}
	pfree(header);
	if (status != CKF_OK)
	{
		slices->filter.size = 0;
		ckfp_error(status, (ckf_about){0});
	}
	slices->toast = *toast;
}

/* Prepare for a lookup in a value. False if fetching the whole value is cheaper. */
static bool
ckfp_ready_slices(ckfp_argument_cache *argument, Datum value, const struct varatt_external *toast,
				  MemoryContext context)
{
	uint64 size = (uint64)toast->va_rawsize - VARHDRSZ;
	ckfp_slices *slices = argument->slices;

	if (!ckfp_cheaper(size, 0, CKFP_SLICES_OF_HEADER + CKFP_SLICES_OF_QUESTION))
		return false;
	if (slices == NULL)
		slices = argument->slices = MemoryContextAllocZero(context, sizeof *slices);
	slices->value = value;
	if (slices->filter.size == 0 || memcmp(&slices->toast, toast, sizeof *toast) != 0)
		ckfp_open_slices(slices, toast);
	return ckfp_slices_pay(slices, 1);
}

const struct varlena *
ckfp_fetch_or_slice(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context)
{
	struct varatt_external toast;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return ckfp_fetch(argument, value, context);
	VARATT_EXTERNAL_GET_POINTER(toast, value);
	if (argument->copy != NULL && memcmp(&argument->toast, &toast, sizeof toast) == 0)
		return argument->copy;
	if (VARATT_EXTERNAL_IS_COMPRESSED(toast) ||
		!ckfp_ready_slices(argument, PointerGetDatum(value), &toast, context))
		return ckfp_fetch(argument, value, context);
	return NULL;
}

/* ----------------------------------------------------------------- lookups */

/* Read the chunks that a lookup needs. */
static void
ckfp_read_window(ckfp_slices *slices, ckfp_window *window, const ckf_lookup *lookup)
{
	uint64 end = lookup->from + lookup->size;

	CHECK_FOR_INTERRUPTS();
	if (window->slice != NULL)
		pfree(window->slice);
	end += TOAST_MAX_CHUNK_SIZE - 1;
	end -= end % TOAST_MAX_CHUNK_SIZE;
	window->from = lookup->from - lookup->from % TOAST_MAX_CHUNK_SIZE;
	window->slice =
		ckfp_read_slice(slices, window->from, Min(end, slices->filter.size) - window->from);
}

/* Continue a lookup by a step. */
static ckf_status
ckfp_step(ckfp_slices *slices, ckfp_window *window, ckf_lookup *lookup)
{
	ckf_status status;
	uint64 size;

	if (window->slice == NULL || lookup->from < window->from ||
		lookup->from + lookup->size > window->from + VARSIZE_ANY_EXHDR(window->slice))
		ckfp_read_window(slices, window, lookup);
	size = window->from + VARSIZE_ANY_EXHDR(window->slice);
	size -= Min(size, lookup->from);
	status = ckf_lookup_step(lookup, &slices->filter,
							 VARDATA_ANY(window->slice) + (lookup->from - window->from), size);
	if (status != CKF_OK && status != CKF_MORE)
		ckfp_error(status, (ckf_about){0});
	return status;
}

static void
ckfp_close_window(ckfp_window *window)
{
	if (window->slice != NULL)
		pfree(window->slice);
}

unsigned
ckfp_slices_copies(ckfp_slices *slices, uint64 hash, bool all)
{
	ckfp_window window = {0};
	ckf_lookup lookup;
	ckf_status status = ckf_lookup_start(&lookup, &slices->filter, hash, all);

	while (status == CKF_MORE)
		status = ckfp_step(slices, &window, &lookup);
	ckfp_close_window(&window);
	return lookup.copies;
}

/* One of many lookups. */
typedef struct ckfp_inquiry
{
	ckf_lookup lookup;
	size_t number; /* of the hash */
} ckfp_inquiry;

/* All lookups. */
typedef struct ckfp_inquiries
{
	ckfp_inquiry *inquiry;
	size_t left;        /* unanswered lookups, which are at the front */
	const bool *wanted; /* the answer that ends all lookups; NULL: there is none */
	uint8 *in;          /* receives the answers, by number; or NULL */
} ckfp_inquiries;

static int
ckfp_compare_offsets(const void *a, const void *b)
{
	const ckf_lookup *x = &((const ckfp_inquiry *)a)->lookup;
	const ckf_lookup *y = &((const ckfp_inquiry *)b)->lookup;

	return (x->from > y->from) - (x->from < y->from);
}

/* Write down what has become of a lookup. True if it has the answer that ends all of them. */
static bool
ckfp_take_answer(ckfp_inquiries *all, const ckfp_inquiry *inquiry, ckf_status status)
{
	bool in = inquiry->lookup.copies > 0;

	if (status == CKF_MORE)
	{
		all->inquiry[all->left++] = *inquiry;
		return false;
	}
	if (all->in != NULL)
		all->in[inquiry->number] = in;
	return all->wanted != NULL && in == *all->wanted;
}

/* Continue each lookup by a step, in the order of their offsets, so that each chunk is read once.
 * Unfinished lookups move to the front. True if a lookup has the answer that ends all of them. */
static bool
ckfp_step_all(ckfp_slices *slices, ckfp_inquiries *all)
{
	ckfp_window window = {0};
	size_t n = all->left;
	bool found = false;

	qsort(all->inquiry, n, sizeof *all->inquiry, ckfp_compare_offsets);
	all->left = 0;
	for (size_t i = 0; i < n && !found; i++)
	{
		ckfp_inquiry inquiry = all->inquiry[i];
		ckf_status status = ckfp_step(slices, &window, &inquiry.lookup);

		found = ckfp_take_answer(all, &inquiry, status);
	}
	ckfp_close_window(&window);
	return found;
}

bool
ckfp_slices_look_up(ckfp_slices *slices, const uint64 *hashes, size_t n, const bool *wanted,
					uint8 *in)
{
	ckfp_inquiries all = {.wanted = wanted, .in = in};
	bool found = false;

	all.inquiry = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof *all.inquiry);
	for (size_t i = 0; i < n && !found; i++)
	{
		ckfp_inquiry inquiry = {.number = i};
		ckf_status status = ckf_lookup_start(&inquiry.lookup, &slices->filter, hashes[i], false);

		found = ckfp_take_answer(&all, &inquiry, status);
	}
	while (all.left > 0 && !found)
		found = ckfp_step_all(slices, &all);
	pfree(all.inquiry);
	return found;
}
