/*
 * prefixes.c - the items of a filter, to be added to chunks.
 */
#include "chunk/chunk.h"
#include "filter/operations.h"
#include "rebuild/scan.h"

struct ckf_prefixes
{
	const ckf_chunks *chunks;
	bool whole;
	size_t worked;
	ckf_scan scan;
};

_Static_assert(sizeof(struct ckf_prefixes) <= CKF_PREFIXES_SIZE, "CKF_PREFIXES_SIZE is too small");

/* What is at rest is read by one scan. */
static void
ckf_scan_filter(const ckf_filter *filter, ckf_scan *scan)
{
	(void)filter->operations->source->scans(filter, scan);
}

size_t
ckf_prefixes_scratch(const ckf_filter *filter)
{
	ckf_scan scan[CKF_SCANS_OF_ONE];

	ckf_scan_filter(filter, scan);
	return (size_t)(8 * scan->words + 8); /* never nothing */
}

/*
 * Does a filter know of its items what these chunks ask?  Where it is cut to the same w,
 * the rule of tag 0 must not have joined more prefixes than it does here: a smaller c
 * joins more of them.  From a longer prefix the rule's change is cut off.
 */
static bool
ckf_is_precise(const ckf_chunks *chunks, const ckf_filter *filter)
{
	return filter->w > chunks->like.w ||
		   (filter->w == chunks->like.w && filter->c >= chunks->like.c);
}

ckf_status
ckf_prefixes_start(ckf_prefixes *prefixes, const ckf_chunks *chunks, const ckf_filter *filter,
				   void *scratch)
{
	ckf_scan scan[CKF_SCANS_OF_ONE];

	if (filter->flags & CKF_FLAG_STATE)
		return CKF_BAD_BYTES;
	if (filter->count > 0 && filter->seed != chunks->like.seed)
		return CKF_SEED_DIFFERS;
	if (filter->count > 0 && !ckf_is_precise(chunks, filter))
		return CKF_PRECISION;
	ckf_scan_filter(filter, scan);
	prefixes->chunks = chunks;
	prefixes->whole = filter->encoding == CKF_HASHES;
	prefixes->worked = 0;
	prefixes->scan = *scan;
	prefixes->scan.worked = &prefixes->worked;
	prefixes->scan.memory = scratch;
	ckf_scan_rewind(&prefixes->scan, 0);
	prefixes->scan.ended = filter->count == 0; /* whatever lies in its slots */
	return CKF_OK;
}

bool
ckf_prefixes_whole(const ckf_prefixes *prefixes)
{
	return prefixes->whole;
}

ckf_status
ckf_prefixes_next(ckf_prefixes *prefixes, const uint64_t **items, size_t *n)
{
	ckf_scan *s = &prefixes->scan;
	size_t i;

	*n = 0;
	*items = s->memory;
	if (!ckf_scan_ready(s))
		return s->ended ? CKF_OK : CKF_MORE;
	for (i = 0; i < s->have; i++)
		s->memory[i] = ckf_chunk_cut(prefixes->chunks, prefixes->whole, s->memory[i]);
	*n = s->have;
	s->at = s->have;
	return CKF_MORE;
}
