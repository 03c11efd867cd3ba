/*
 * pass.c - the pass of a rebuild over all items: to count them, or to store them.
 */
#include "rebuild/pass.h"

#include "filter/header.h"
#include "filter/operations.h"

/* Items that are handed to the target at once. */
#define CKF_PIECE 512

void
ckf_pass_start(ckf_rebuild *r)
{
	/* growth only needs its segments in order */
	unsigned low = r->in_order ? 0 : 64U - r->to.g;

	if (r->root)
		ckf_scan_rewind(r->root, low);
	if (r->removals)
		ckf_scan_rewind(r->removals, 0);
	r->last = r->met = r->group = r->copies = r->passed = r->leaving = 0;
	if (r->counts)
	{
		/* to what the target will be cut at least; a distinct item counts as one */
		r->cut_w = r->row->distinct ? 64 : r->w;
		r->items = 0;
	}
}

/* Copies that a prefix may have. */
static uint8_t
ckf_most_copies(const ckf_rebuild *r)
{
	return r->once ? 1 : (uint8_t)(2 * r->to.b);
}

/* How many removals of a hash there are; those below it have found nothing. */
static uint64_t
ckf_removals_of(ckf_rebuild *r, uint64_t hash)
{
	ckf_scan *s = r->removals;
	uint64_t found = 0;

	while (ckf_scan_ready(s) && s->keys[s->at] <= hash)
	{
		size_t n = 1;

		/* between two of a few items there may be very many removals */
		if (s->keys[s->at] == s->keys[s->have - 1] || s->keys[s->have - 1] < hash)
			n = s->have - s->at;
		found += s->keys[s->at] == hash ? n : 0;
		s->at += n;
		r->worked++;
	}
	return found;
}

/*
 * What removals leave of items that are whole hashes.  (From a table they are taken
 * in place.)  As many copies as are to go are passed over when they come; should
 * there be so many that the hash is saturated, all of them stay.
 */
static size_t
ckf_less_removals(ckf_rebuild *r, const uint64_t *items, size_t n, uint64_t *left)
{
	uint8_t most = ckf_most_copies(r);
	size_t kept = 0;
	size_t i;

	for (i = 0; i < n; i++)
	{
		uint64_t item = items[i];

		if (item != r->leaving)
		{
			uint64_t taken = ckf_removals_of(r, item);

			r->leaving = item;
			r->came = 0;
			r->taken = taken < most ? (unsigned)taken : most - 1U;
		}
		if (++r->came == most)
			for (; r->taken > 0; r->taken--)
				left[kept++] = item;
		if (r->came > r->taken)
			left[kept++] = item;
	}
	return kept;
}

/* Store items, less removals. */
static bool
ckf_put(ckf_rebuild *r, const uint64_t *items, size_t n)
{
	uint64_t left[CKF_PIECE + 2 * CKF_MAX_SLOTS];

	if (!r->removals)
		return r->sink->put(&r->build, items, n);
	n = ckf_less_removals(r, items, n, left);
	return r->sink->put(&r->build, left, n);
}

/* Make items of keys: without repeated ones if only `distinct` ones count, cut, and
 * no more copies of each than it may have.  (The two flags are constants.)  false:
 * the keys are out of order. */
CKF_INLINE bool
ckf_make_items(ckf_rebuild *r, const uint64_t *keys, size_t n, bool distinct, bool cut,
			   uint64_t *items, size_t *made)
{
	uint64_t last = r->last, met = r->met, group = r->group, copies = r->copies;
	uint64_t low_mask = r->to.low_mask;
	uint8_t most = ckf_most_copies(r);
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
			if (CKF_UNLIKELY(r->w < 64))
				item = ckf_cut(item, r->w, low_mask);
			if (item == met)
				continue;
			met = item;
			r->passed++;
		}
		if (cut && r->cut_w < 64)
			item = ckf_cut(item, r->cut_w, low_mask);
		copies = item == group ? copies + 1 : 1;
		group = item;
		items[*made] = item;
		*made += copies <= most;
	}
	r->last = last;
	r->met = met;
	r->group = group;
	r->copies = copies;
	return !fell || !r->in_order;
}

/* Take over a piece of a block, and count or store its items: in pieces, so that
 * neither this nor the target keeps its place in memory between two of them.
 * CKF_ROOM: the target is full. */
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
	return CKF_OK;
}

/* Take a block of removals away from the copy of a table: in order, so that each
 * comes near the one before. */
ckf_status
ckf_pass_removals(ckf_rebuild *r)
{
	ckf_scan *s = r->removals;
	bool found;

	if (!s || !ckf_scan_ready(s))
		return CKF_OK;
	r->worked += s->have;
	for (; s->at < s->have; s->at++)
		(void)ckf_remove(&r->to, s->keys[s->at], &found);
	return CKF_MORE;
}

/* A piece of a block. */
ckf_status
ckf_pass_piece(ckf_rebuild *r)
{
	ckf_scan *s = r->root;
	ckf_status status;
	size_t n;

	if (!s || (!ckf_scan_ready(s) && s->ended))
		return CKF_OK;
	n = s->have - s->at < CKF_PIECE ? s->have - s->at : CKF_PIECE;
	status = ckf_take(r, s->keys + s->at, n);
	s->at += n;
	r->worked += n + 1 + r->build.worked;
	r->build.worked = 0;
	return status == CKF_OK ? CKF_MORE : status;
}
