/*
 * fallback.c - what an export builds if no table with the parameters of the chunks can be
 * filled.
 *
 * Chunks can store any items: a chunk whose table cannot be filled splits, or becomes a list.
 * A filter of one table cannot.  Near the limit of the rate, its tags may become shorter than
 * c; and if items have many copies, two groups may share a bucket that has room for one.  So
 * an export relaxes its parameters, the cheapest one first: c, then the bucket size, then the
 * kind, so that items can no longer be removed.
 *
 * A set of any items fits into a table that is large enough.  In buckets of 8 slots with
 * c = f = 4, at most 15 prefixes share a bucket: a bucket has at most 16 consecutive values, and
 * one of them has tag 0.  Consider the graph whose vertices are the buckets and whose edges are
 * the prefixes.  Its edges can be directed so that at most 8 of them lead to each bucket.
 *
 * If many hashes begin with the same bits, their items are in one segment, and such a table may
 * have 2^w bits.  So the host limits the bytes of a filter.  A table with the parameters of the
 * chunks that exceeds the limit is not built either.
 */
#include "filter/header.h"
#include "rebuild/work.h"

/* The lowest rate that gives c = CKF_MIN_TAG. */
#define CKF_RATE_OF_MIN_TAG (1.0 / (1 << CKF_MIN_TAG))

static void
ckf_lower_c(ckf_filter *to)
{
	to->c = CKF_MIN_TAG;
	to->fpr = CKF_RATE_OF_MIN_TAG;
}

/* A set stores no copies, so a table with the parameters of the chunks may be possible. */
static void
ckf_become_set(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	const ckf_filter *chunks = r->in[0];

	r->deduplicated = true;
	to->flags |= CKF_FLAG_SET;
	to->b = chunks->b;
	to->c = chunks->c;
	to->fpr = chunks->fpr;
}

bool
ckf_fall_back(ckf_rebuild *r, bool short_tags)
{
	ckf_filter *to = &r->to;

	if (to->c > CKF_MIN_TAG && (short_tags || r->unbounded))
		ckf_lower_c(to);
	else if (to->b < CKF_MAX_SLOTS)
		to->b = CKF_MAX_SLOTS;
	else if (!r->deduplicated)
		ckf_become_set(r);
	else if (!r->unbounded)
		r->unbounded = true; /* no limit of buckets but r->most bytes */
	else
		return false;
	to->low_mask = (UINT64_C(1) << to->c) - 1;
	r->scan[0].raised = r->deduplicated ? 0 : (uint8_t)(2 * to->b);
	return true;
}
