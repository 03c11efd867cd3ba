/*
 * fallback.c - what an export builds where no table like that of the chunks can be filled.
 *
 * Chunks answer whatever is added to them: where a table of theirs cannot be filled, they
 * split, or become lists.  One filter cannot.  Its tags may get shorter than c allows, near
 * the limit of the rate; and where items have many copies, two groups may share a bucket
 * that has room for one.  So an export gives up what costs least: first c, then the bucket
 * size, then that items can be removed.
 *
 * A set can always be filled by a table that is large enough.  In buckets of 8 slots with c = f = 4
 * no more than 15 prefixes share a bucket, since the values of a bucket are at most 16 in a row,
 * and one of them has tag 0.  So the edges of the graph of buckets, one for each prefix, can be
 * directed so that no more than 8 lead to a bucket.  But where the items of many hashes begin with
 * the same bits, all are in one segment, and such a table may have 2^w bits.  So the host says how
 * many bytes a filter may have; a table like that of the chunks that would pass them gives way,
 * too.
 */
#include "rebuild/fallback.h"

#include "filter/header.h"

/* The least rate to which c = CKF_MIN_TAG belongs. */
#define CKF_RATE_OF_MIN_TAG (1.0 / (1 << CKF_MIN_TAG))

static void
ckf_lower_c(ckf_filter *to)
{
	to->c = CKF_MIN_TAG;
	to->fpr = CKF_RATE_OF_MIN_TAG;
}

/* A set has no copies, so it may be possible with what the chunks have. */
static void
ckf_become_set(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	const ckf_filter *chunks = r->in[0];

	r->once = true;
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
	else if (!r->once)
		ckf_become_set(r);
	else if (!r->unbounded)
		r->unbounded = true; /* hashes crowd: as many buckets as r->most allows */
	else
		return false;
	to->low_mask = (UINT64_C(1) << to->c) - 1;
	r->scan[0].raised = r->once ? 0 : (uint8_t)(2 * to->b);
	return true;
}
