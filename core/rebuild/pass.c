/*
 * pass.c - the pass of a rebuild over all items, which counts or stores them.
 */
#include "filter/methods.h"
#include "rebuild/work.h"
#include "thresholds.h"

/* Items that are given to the target at once. */
#define CKF_PIECE 512

void
ckf_pass_start(ckf_rebuild *r)
{
	/* growth needs sorted segments, but not sorted items in them */
	unsigned low = r->in_order ? 0 : 64U - r->to.g;

	if (r->root)
		ckf_scan_rewind(r->root, low);
	if (r->removals)
		ckf_scan_rewind(r->removals, 0);
	r->last = r->distinct_last = r->group = r->copies = r->passed = r->read = r->removal = 0;
	r->cut_w = r->to.w;
	if (r->counts)
	{
		/* the target has at most this precision; distinct items are counted before the cut */
		r->cut_w = r->row->distinct ? 64 : r->w;
		r->items = 0;
	}
}

/* The most copies that a prefix may have. */
static uint8_t
ckf_copies_kept(const ckf_rebuild *r)
{
	return r->deduplicated ? 1 : (uint8_t)(2 * r->to.b);
}

/* Count the removals of an item, and skip the removals of smaller items, which the input does not
 * have. */
static uint64_t
ckf_removals_of(ckf_rebuild *r, uint64_t item)
{
	ckf_scan *s = r->removals;
	uint64_t found = 0;

	while (ckf_scan_ready(s))
	{
		uint64_t first = ckf_cut_item(s->keys[s->at], r->w, r->to.low_mask);
		uint64_t last = ckf_cut_item(s->keys[s->have - 1], r->w, r->to.low_mask);
		size_t n = 1;

		if (first > item)
			break;
		/* skip a whole block at once, since a few items may have very many removals between them */
		if (first == last || last < item)
			n = s->have - s->at;
		found += first == item ? n : 0;
		s->at += n;
		r->work++;
	}
	return found;
}

/*
 * Apply removals to sorted hashes or prefixes; returns the number of items in `left`.  (From a
 * table, items are removed in place.)  The first `removal_due` copies of a hash are skipped.  If
 * the hash turns out to be saturated, they are written after all.
 */
static size_t
ckf_less_removals(ckf_rebuild *r, const uint64_t *items, size_t n, uint64_t *left)
{
	uint8_t most = ckf_copies_kept(r);
	size_t kept = 0;
	size_t i;

	for (i = 0; i < n; i++)
	{
		uint64_t item = items[i];

		if (item != r->removal)
		{
			uint64_t taken = ckf_removals_of(r, item);

			r->removal = item;
			r->removal_seen = 0;
			r->removal_due = taken < most ? (unsigned)taken : most - 1U;
		}
		if (++r->removal_seen == most)
			for (; r->removal_due > 0; r->removal_due--)
				left[kept++] = item;
		if (r->removal_seen > r->removal_due)
			left[kept++] = item;
	}
	return kept;
}

/* Apply removals to items, and store the rest. */
static bool
ckf_put(ckf_rebuild *r, const uint64_t *items, size_t n)
{
	const ckf_sink *sink = r->to.methods->sink;
	uint64_t left[CKF_PIECE + 2 * CKF_MAX_SLOTS];

	if (!r->removals)
		return sink->put(&r->build, items, n);
	n = ckf_less_removals(r, items, n, left);
	return sink->put(&r->build, left, n);
}

/* Turn keys into items: drop duplicates if `distinct`, cut if `cut`, and drop the copies that
 * exceed the limit of a prefix.  (The two flags are constants.)  false: the keys are out of
 * order. */
CKF_INLINE bool
ckf_make_items(ckf_rebuild *r, const uint64_t *keys, size_t n, bool distinct, bool cut,
			   uint64_t *items, size_t *made)
{
	uint64_t last = r->last, distinct_last = r->distinct_last, group = r->group, copies = r->copies;
	uint64_t low_mask = r->to.low_mask;
	uint8_t most = ckf_copies_kept(r);
	bool fell = false;
	size_t i;

	*made = 0;
	for (i = 0; i < n; i++)
	{
		uint64_t item = keys[i];

		fell |= item < last;
		last = item;
		if (distinct)
		{
			item = ckf_cut_item(item, r->w, low_mask);
			if (item == distinct_last)
				continue;
			distinct_last = item;
			r->passed++;
		}
		if (cut)
			item = ckf_cut_item(item, r->cut_w, low_mask);
		copies = item == group ? copies + 1 : 1;
		group = item;
		items[*made] = item;
		*made += copies <= most;
	}
	r->last = last;
	r->distinct_last = distinct_last;
	r->group = group;
	r->copies = copies;
	return !fell || !r->in_order;
}

/* Count or store the items of a piece of a block.  CKF_ROOM: the target is full. */
static ckf_status
ckf_take(ckf_rebuild *r, const uint64_t *keys, size_t n)
{
	uint64_t items[CKF_PIECE];
	size_t made;
	bool fits;

	if (r->row->distinct)
		fits = ckf_make_items(r, keys, n, true, true, items, &made);
	else if (r->cut_w < 64)
		fits = ckf_make_items(r, keys, n, false, true, items, &made);
	else
		fits = ckf_make_items(r, keys, n, false, false, items, &made);
	if (!fits)
		return CKF_BAD_BYTES; /* hashes out of order */
	if (!r->counts)
		return ckf_put(r, items, made) ? CKF_OK : CKF_ROOM;
	r->items += made;
	r->read += n;
	return CKF_OK;
}

/* Whether this pass counts a sample, and has counted it. */
static bool
ckf_has_sample(const ckf_rebuild *r)
{
	return r->counts && r->samples && r->read >= CKF_LEAST_SAMPLE &&
		   r->read >= r->root->items / CKF_SAMPLE_SHARE;
}

/* The hashes are sorted, so the segment that they change stays in cache. */
ckf_status
ckf_pass_removals(ckf_rebuild *r)
{
	ckf_scan *s = r->removals;
	bool found;

	if (!s || !ckf_scan_ready(s))
		return CKF_OK;
	r->work += s->have;
	for (; s->at < s->have; s->at++)
		(void)ckf_remove(&r->to, s->keys[s->at], &found);
	return CKF_MORE;
}

ckf_status
ckf_pass_piece(ckf_rebuild *r)
{
	ckf_scan *s = r->root;
	ckf_status status;
	size_t n;

	if (!s || ckf_has_sample(r) || (!ckf_scan_ready(s) && s->ended))
		return CKF_OK;
	n = s->have - s->at < CKF_PIECE ? s->have - s->at : CKF_PIECE;
	status = ckf_take(r, s->keys + s->at, n);
	s->at += n;
	r->work += n + 1 + r->build.work;
	r->build.work = 0;
	return status == CKF_OK ? CKF_MORE : status;
}
