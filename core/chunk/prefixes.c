/*
 * prefixes.c - read the items of a filter, to add them to chunks.
 */
#include "chunk/chunk.h"
#include "filter/methods.h"
#include "rebuild/operation.h"
#include "rebuild/saturated.h"
#include "scan/scan.h"

/* Items that are raised at once. */
#define CKF_RAISED_PIECE 4096

struct ckf_prefixes
{
	const ckf_chunks *chunks;
	bool whole;
	size_t work;
	ckf_saturated saturated;
	ckf_scan scan;
};

_Static_assert(sizeof(struct ckf_prefixes) <= CKF_PREFIXES_SIZE, "CKF_PREFIXES_SIZE is too small");

/* Whether the filter may have saturated groups that chunks of larger buckets raise. */
static bool
ckf_may_be_raised(const ckf_filter *filter)
{
	return !(filter->flags & CKF_FLAG_SET) && filter->b < CKF_MAX_SLOTS;
}

size_t
ckf_prefixes_scratch(const ckf_filter *filter)
{
	ckf_scan scan;
	size_t words = ckf_may_be_raised(filter) ? CKF_RAISED_ITEMS(CKF_RAISED_PIECE) : 1;

	filter->methods->source->scan(filter, &scan);
	return 8 * ((size_t)scan.words + words);
}

ckf_status
ckf_prefixes_start(ckf_prefixes *prefixes, const ckf_chunks *chunks, const ckf_filter *filter,
				   void *scratch)
{
	ckf_scan scan;
	ckf_status status = ckf_chunks_accept(&chunks->like, filter);

	if (status != CKF_OK)
		return status;
	filter->methods->source->scan(filter, &scan);
	prefixes->chunks = chunks;
	prefixes->whole = filter->encoding == CKF_HASHES;
	prefixes->work = 0;
	prefixes->saturated = (ckf_saturated){.full = 2U * filter->b};
	if (ckf_may_be_raised(filter))
		prefixes->saturated.raised = ckf_chunk_most_copies(chunks);
	prefixes->scan = scan;
	prefixes->scan.work = &prefixes->work;
	prefixes->scan.memory = scratch;
	ckf_scan_rewind(&prefixes->scan, 0);
	prefixes->scan.ended = filter->count == 0; /* even if its slots are damaged */
	return CKF_OK;
}

bool
ckf_prefixes_whole(const ckf_prefixes *prefixes)
{
	return prefixes->whole;
}

/* The items of the block that were not taken yet, or a piece of them; *n: how many. */
static uint64_t *
ckf_take_block(ckf_prefixes *prefixes, size_t *n)
{
	ckf_scan *s = &prefixes->scan;
	uint64_t *items = s->memory + s->at;
	uint64_t *raised = s->memory + s->words;

	*n = s->have - s->at;
	if (prefixes->saturated.raised <= prefixes->saturated.full)
	{
		s->at = s->have;
		return items;
	}
	if (*n > CKF_RAISED_PIECE)
		*n = CKF_RAISED_PIECE;
	s->at += *n;
	*n = ckf_raise_saturated(&prefixes->saturated, items, *n, raised);
	return raised;
}

ckf_status
ckf_prefixes_next(ckf_prefixes *prefixes, const uint64_t **items, size_t *n)
{
	ckf_scan *s = &prefixes->scan;
	uint64_t *block;
	size_t i;

	*n = 0;
	*items = s->memory;
	if (!ckf_scan_ready(s))
		return s->ended ? CKF_OK : CKF_MORE;
	*items = block = ckf_take_block(prefixes, n);
	for (i = 0; i < *n; i++)
		block[i] = ckf_chunk_cut(prefixes->chunks, prefixes->whole, block[i]);
	return CKF_MORE;
}
