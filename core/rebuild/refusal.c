/*
 * refusal.c - describe why a rebuild returned CKF_PRECISION.
 */
#include "open/choose.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/work.h"

/* The input that limits the precision of a merge.  If both have the same precision: the input
 * of the smaller capacity. */
static int
ckf_coarser(const ckf_rebuild *r)
{
	const ckf_filter *a = r->in[0], *b = r->in[1];

	if (r->inputs != 2 || r->row->merges)
		return -1;
	if (a->count == 0 || b->count == 0)
		return a->count == 0; /* an empty input does not limit it */
	return b->w < a->w || (b->w == a->w && b->capacity < a->capacity) ? 1 : 0;
}

/* There is no precision for `more` items beside those of a filter. */
static void
ckf_refuse_more(ckf_refusal *refusal, const ckf_filter *filter, uint64_t more)
{
	refusal->items = filter->count;
	refusal->fpr = ckf_fpr(filter);
	refusal->more = more > 1 ? more : 0;
}

void
ckf_rebuild_refusal(const ckf_rebuild *r, ckf_refusal *refusal)
{
	ckf_filter to = r->to;
	uint64_t grows = r->row->grows; /* growth is for at least one item more */
	bool merges = (r->inputs == 2 && !r->row->adds) || r->row->merges;
	bool full, fits;

	to.w = r->w < CKF_MAX_PREFIX ? r->w : CKF_MAX_PREFIX;
	full = r->items + grows > ckf_count_limit(to.w, to.fpr);
	/* near a rate of 1, there may be no table of such short tags */
	fits = !full && ckf_choose(&to, r->items + grows, to.w) &&
		   !(ckf_is_table(&r->to) && ckf_lacks_bits(&r->to, r->items));
	refusal->items = r->items;
	refusal->fpr = ckf_expected_rate(r->items, to.w, to.c);
	refusal->limit = ckf_last_rate(to.fpr);
	refusal->input = ckf_coarser(r);
	refusal->capacity = ckf_kept_items(&to);
	if (fits || r->unbounded)
		refusal->cause = r->deduplicated ? CKF_CROWDED_HASHES : CKF_CROWDED;
	else
		refusal->cause = merges && full ? CKF_COARSE : CKF_FULL;
	if (refusal->cause == CKF_COARSE && refusal->input >= 0)
		refusal->items = r->in[0]->count + r->in[1]->count;
	refusal->more = 0;
	/* the order in which an aggregate merges its inputs is not the user's */
	if (refusal->cause == CKF_FULL && r->inputs == 2 && !r->row->merges)
		ckf_refuse_more(refusal, r->in[0], r->in[1]->count);
	if (refusal->cause == CKF_FULL && r->before)
		ckf_refuse_more(refusal, r->before, r->more);
}

void
ckf_rebuild_of_batch(ckf_rebuild *r, const ckf_filter *before, uint64_t more)
{
	r->before = before;
	r->more = more;
}
