/*
 * slices.c - lookups in a large value in a TOAST table.
 *
 * A lookup in a table needs its header and two buckets. These are three slices of one or two TOAST
 * chunks each (2 kB), whatever the size of the filter. For many lookups, fetching the whole value
 * is cheaper. The number of lookups is not known in advance, so the ski-rental rule decides: read
 * slices until they have cost as much as the whole value, then fetch it. The total is at most twice
 * the cheaper of the two ways. The count is kept per call site and value: another value at the same
 * call site starts at zero. A value that another call site has fetched is there already.
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
 * ckfp_pay_slice adds the cost of blocks that were not in shared buffers.
 */
#define CKFP_SLICE_COST 3072
#define CKFP_SLICE_COST_CACHED 8192
#define CKFP_CACHED_SIZE ((uint64)1 << 20)

/* The largest cost of a block that is read at random, in blocks read in sequence, whatever the
 * settings say. */
#define CKFP_MAX_BLOCK_COST 1000

/* Slices that a lookup needs, and slices that the first lookup in a value needs in addition. */
#define CKFP_SLICES_OF_LOOKUP 2
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
	return ckfp_cheaper(slices->filter.size, slices->paid, (uint64)n * CKFP_SLICES_OF_LOOKUP);
}

/*
 * Add the cost of a slice to `paid`. `before`: the blocks that were read before it. The cost of
 * blocks that were not in shared buffers follows the planner's settings: random_page_cost /
 * seq_page_cost times a block of the whole value, which is read in sequence.
 */
static void
ckfp_pay_slice(ckfp_slices *slices, int64 before)
{
	double ratio = seq_page_cost > 0 ? random_page_cost / seq_page_cost : 1;
	double block = BLCKSZ * Min(Max(ratio, 1), CKFP_MAX_BLOCK_COST);

	slices->paid += ckfp_slice_cost(slices->filter.size) +
					(uint64)(block * (double)(CKFP_BLOCKS_READ - before));
}

/* Open a value by a slice with its header. */
static void
ckfp_open_slices(ckfp_slices *slices, const struct varatt_external *toast)
{
	int64 before = CKFP_BLOCKS_READ;
	ckf_filter filter;

	slices->filter.size = 0; /* none while this can fail */
	ckfp_open_header(slices->value, &filter);
	memcpy(slices->header, filter.bytes, CKF_HEADER_SIZE);
	slices->filter = filter;
	ckf_move(&slices->filter, slices->header);
	slices->paid = 0;
	ckfp_pay_slice(slices, before);
	slices->toast = *toast;
}

/* Prepare for a lookup in a value. False if fetching the whole value is cheaper. */
static bool
ckfp_ready_slices(ckfp_argument_cache *argument, Datum value, const struct varatt_external *toast,
				  MemoryContext context)
{
	uint64 size = (uint64)toast->va_rawsize - VARHDRSZ;
	ckfp_slices *slices = argument->slices;

	if (!ckfp_cheaper(size, 0, CKFP_SLICES_OF_HEADER + CKFP_SLICES_OF_LOOKUP))
		return false;
	if (slices == NULL)
		slices = argument->slices = MemoryContextAllocZero(context, sizeof *slices);
	slices->value = value;
	if (slices->filter.size == 0 || memcmp(&slices->toast, toast, sizeof *toast) != 0)
		ckfp_open_slices(slices, toast);
	return ckfp_slices_pay(slices, 1);
}

bool
ckfp_use_slices(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context,
				const struct varlena **whole)
{
	struct varatt_external toast;

	if (VARATT_IS_EXTERNAL_ONDISK(value))
	{
		VARATT_EXTERNAL_GET_POINTER(toast, value);
		*whole = argument->copy;
		if (*whole != NULL && memcmp(&argument->toast, &toast, sizeof toast) == 0)
			return false;
		if (!VARATT_EXTERNAL_IS_COMPRESSED(toast) && !ckfp_is_fetched(&toast) &&
			ckfp_ready_slices(argument, PointerGetDatum(value), &toast, context))
			return true;
	}
	*whole = ckfp_fetch(argument, value, context);
	return false;
}

/* ----------------------------------------------------------------- lookups */

/* Read the chunks that a lookup needs. */
static void
ckfp_read_window(ckfp_slices *slices, ckfp_window *window, const ckf_lookup_cursor *lookup)
{
	uint64 end = lookup->from + lookup->size;
	int64 before = CKFP_BLOCKS_READ;

	CHECK_FOR_INTERRUPTS();
	if (window->slice != NULL)
		pfree(window->slice);
	end += TOAST_MAX_CHUNK_SIZE - 1;
	end -= end % TOAST_MAX_CHUNK_SIZE;
	window->from = lookup->from - lookup->from % TOAST_MAX_CHUNK_SIZE;
	window->slice = PG_DETOAST_DATUM_SLICE(slices->value, (int32)window->from,
										   (int32)(Min(end, slices->filter.size) - window->from));
	ckfp_pay_slice(slices, before);
}

/* Continue a lookup by a step. */
static ckf_status
ckfp_step(ckfp_slices *slices, ckfp_window *window, ckf_lookup_cursor *lookup)
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

/* One of many lookups. */
typedef struct ckfp_one_lookup
{
	ckf_lookup_cursor lookup;
	size_t number; /* of the hash */
} ckfp_one_lookup;

/* All lookups. */
typedef struct ckfp_lookup_batch
{
	ckfp_one_lookup *pending;
	size_t left;        /* unanswered lookups, which are at the front */
	const bool *wanted; /* the answer that ends all lookups; NULL: there is none */
	uint8 *copies;      /* receives the answers, by number; or NULL */
	ckfp_window window;
} ckfp_lookup_batch;

static int
ckfp_compare_offsets(const void *a, const void *b)
{
	const ckf_lookup_cursor *x = &((const ckfp_one_lookup *)a)->lookup;
	const ckf_lookup_cursor *y = &((const ckfp_one_lookup *)b)->lookup;

	return (x->from > y->from) - (x->from < y->from);
}

/* Write down what has become of a lookup. True if it has the answer that ends all of them. */
static bool
ckfp_take_answer(ckfp_lookup_batch *all, const ckfp_one_lookup *pending, ckf_status status)
{
	if (status == CKF_MORE)
	{
		all->pending[all->left++] = *pending;
		return false;
	}
	if (all->copies != NULL)
		all->copies[pending->number] = (uint8)pending->lookup.copies;
	return all->wanted != NULL && (pending->lookup.copies > 0) == *all->wanted;
}

/* Continue each lookup by a step, in the order of their offsets, so that each chunk is read once.
 * Unfinished lookups move to the front. True if a lookup has the answer that ends all of them. */
static bool
ckfp_step_all(ckfp_slices *slices, ckfp_lookup_batch *all)
{
	size_t n = all->left;
	bool found = false;

	if (n > 1)
		qsort(all->pending, n, sizeof *all->pending, ckfp_compare_offsets);
	all->left = 0;
	for (size_t i = 0; i < n && !found; i++)
	{
		ckfp_one_lookup pending = all->pending[i];
		ckf_status status = ckfp_step(slices, &all->window, &pending.lookup);

		found = ckfp_take_answer(all, &pending, status);
	}
	return found;
}

bool
ckfp_slices_look_up(ckfp_slices *slices, const uint64 *hashes, size_t n, bool all_copies,
					const bool *wanted, uint8 *copies)
{
	ckfp_one_lookup one;
	ckfp_lookup_batch all = {.pending = &one, .wanted = wanted, .copies = copies};
	bool found = false;

	if (n > 1)
		all.pending = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof one);
	for (size_t i = 0; i < n && !found; i++)
	{
		ckfp_one_lookup pending = {.number = i};
		ckf_status status =
			ckf_lookup_start(&pending.lookup, &slices->filter, hashes[i], all_copies);

		found = ckfp_take_answer(&all, &pending, status);
	}
	while (all.left > 0 && !found)
		found = ckfp_step_all(slices, &all);
	if (all.window.slice != NULL)
		pfree(all.window.slice);
	if (n > 1)
		pfree(all.pending);
	return found;
}

unsigned
ckfp_slices_copies(ckfp_slices *slices, uint64 hash, bool all_copies)
{
	uint8 copies;

	(void)ckfp_slices_look_up(slices, &hash, 1, all_copies, NULL, &copies);
	return copies;
}
