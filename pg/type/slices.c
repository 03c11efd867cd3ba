/*
 * slices.c - questions to a large value that lies in a TOAST table.
 *
 * A question to a table needs its header and two buckets: three slices, of a chunk
 * or two each (TOAST keeps a value in chunks of 2 kB), whatever the filter's size.
 * Who asks on and on had better fetch the whole once.  How long it will go on is not
 * known, so it is done as one who does not know for how long he goes skiing rents
 * until the rents add up to the price: slices are read until they have cost what
 * the whole costs.  That is at most twice the better of the two, of one value: a call
 * site that is given another value begins anew.
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
 * Bytes of a whole value that take as long to fetch as a slice does.  Measured by
 * processor time (log_statement_stats), all of it in shared buffers: a slice 2.9 us,
 * over 16,000 of them; the whole of 132 MB 1.03 ns a byte; so 2,800.  In a value of
 * 2.4 MB, whose index is smaller, 1.6 us and 0.5 to 1 ns.  A value that fits the
 * processor's cache is fetched quicker, at 0.3 to 0.45 ns a byte, beside 4 to 5 us for
 * a slice (16 to 150 kB): 8,000 and more.  Blocks that were not there come on top
 * (ckfp_read_slice).
 */
#define CKFP_SLICE_COST 3072
#define CKFP_SLICE_COST_CACHED 8192
#define CKFP_CACHED_SIZE ((uint64)1 << 20)

/* A block that is read for itself, beside one that is read in order: at most, whatever the
 * settings say. */
#define CKFP_MOST_BLOCK_COST 1000

/* Slices of a question, and before the first one to a value. */
#define CKFP_SLICES_OF_QUESTION 2
#define CKFP_SLICES_OF_HEADER 1

/* What slices read, kept while neighbouring bytes may be asked for: whole chunks. */
typedef struct ckfp_window
{
	struct varlena *slice; /* NULL: none yet */
	uint64 from;           /* the place of its first byte in the value */
} ckfp_window;

/* --------------------------------------------------- slices, or the whole? */

static inline uint64
ckfp_slice_cost(uint64 size)
{
	return size <= CKFP_CACHED_SIZE ? CKFP_SLICE_COST_CACHED : CKFP_SLICE_COST;
}

/* Is it still cheaper to read `more` slices of a value of so many bytes? */
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

/* Blocks that this process had to read so far. */
static inline int64
ckfp_blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/*
 * Read a slice, and count what it cost.  The blocks that it had to wait for are
 * counted as the planner does, by what the settings say of the storage: so many times
 * the block of a whole value, which is read in order.
 */
static struct varlena *
ckfp_read_slice(ckfp_slices *slices, uint64 from, uint64 size)
{
	int64 before = ckfp_blocks_read();
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(slices->value, (int32)from, (int32)size);
	double ratio = seq_page_cost > 0 ? random_page_cost / seq_page_cost : 1;
	double block = BLCKSZ * Min(Max(ratio, 1), CKFP_MOST_BLOCK_COST);

	slices->paid += ckfp_slice_cost(slices->filter.size) +
					(uint64)(block * (double)(ckfp_blocks_read() - before));
	return slice;
}

/* Open the value's header, by a slice. */
static void
ckfp_open_slices(ckfp_slices *slices, const struct varatt_external *toast)
{
	ckf_status status = CKF_BAD_BYTES;
	struct varlena *header;
	size_t size;

	slices->filter.size = 0; /* no value's, while this may fail */
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
		ckfp_error(status, (ckfp_subject){0});
	}
	slices->toast = *toast;
}

/* Make ready for a question to the value; false if the whole is cheaper. */
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

/* --------------------------------------------------------------- questions */

/* Read the chunks that have the bytes that a question needs. */
static void
ckfp_read_window(ckfp_slices *slices, ckfp_window *window, const ckf_question *question)
{
	uint64 end = question->from + question->size;

	CHECK_FOR_INTERRUPTS();
	if (window->slice != NULL)
		pfree(window->slice);
	end += TOAST_MAX_CHUNK_SIZE - 1;
	end -= end % TOAST_MAX_CHUNK_SIZE;
	window->from = question->from - question->from % TOAST_MAX_CHUNK_SIZE;
	window->slice =
		ckfp_read_slice(slices, window->from, Min(end, slices->filter.size) - window->from);
}

/* Take a question a step further. */
static ckf_status
ckfp_step(ckfp_slices *slices, ckfp_window *window, ckf_question *question)
{
	ckf_status status;
	uint64 size;

	if (window->slice == NULL || question->from < window->from ||
		question->from + question->size > window->from + VARSIZE_ANY_EXHDR(window->slice))
		ckfp_read_window(slices, window, question);
	size = window->from + VARSIZE_ANY_EXHDR(window->slice);
	size -= Min(size, question->from);
	status = ckf_question_step(question, &slices->filter,
							   VARDATA_ANY(window->slice) + (question->from - window->from), size);
	if (status != CKF_OK && status != CKF_MORE)
		ckfp_error(status, (ckfp_subject){0});
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
	ckf_question question;
	ckf_status status = ckf_question_start(&question, &slices->filter, hash, all);

	while (status == CKF_MORE)
		status = ckfp_step(slices, &window, &question);
	ckfp_close_window(&window);
	return question.copies;
}

static int
ckfp_compare_places(const void *a, const void *b)
{
	const ckf_question *x = a;
	const ckf_question *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Take each of n questions a step further, in the order of the places that they need,
 * so that a chunk is read once for all that need it.  Those that are not answered yet
 * move to the front: *n of them.  true: one was answered as wanted. */
static bool
ckfp_step_all(ckfp_slices *slices, ckf_question *questions, size_t *n, bool wanted)
{
	ckfp_window window = {0};
	bool found = false;
	size_t left = 0;
	size_t i;

	qsort(questions, *n, sizeof *questions, ckfp_compare_places);
	for (i = 0; i < *n && !found; i++)
	{
		if (ckfp_step(slices, &window, &questions[i]) == CKF_MORE)
			questions[left++] = questions[i];
		else
			found = (questions[i].copies > 0) == wanted;
	}
	*n = left;
	ckfp_close_window(&window);
	return found;
}

bool
ckfp_slices_some(ckfp_slices *slices, const uint64 *hashes, size_t n, bool wanted)
{
	ckf_question *questions =
		MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof *questions);
	bool found = false;
	size_t left = 0;
	size_t i;

	for (i = 0; i < n && !found; i++)
	{
		ckf_question *question = &questions[left];

		if (ckf_question_start(question, &slices->filter, hashes[i], false) == CKF_MORE)
			left++;
		else
			found = (question->copies > 0) == wanted;
	}
	while (left > 0 && !found)
		found = ckfp_step_all(slices, questions, &left, wanted);
	pfree(questions);
	return found;
}
