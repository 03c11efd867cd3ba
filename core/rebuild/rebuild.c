/*
 * rebuild.c - the one operation that moves or merges items: read one or two
 * filters, or a filter and an array of hashes, in order, and build another.
 *
 * A rebuild goes through phases (work.h).  It sorts what comes unsorted, reads all
 * items once to count them where their number decides what is built, and reads
 * them (again) to build.  A build that fails starts again with a larger target.
 */
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/promise.h"
#include "rebuild/target.h"
#include "small/log.h"
#include "small/state.h"
#include "thresholds.h"

/* Bytes that are cleared or copied in the time of one item. */
#define CKF_BYTES_OF_AN_ITEM 64

/* Items that are handed to the target at once. */
#define CKF_PIECE 512

_Static_assert(sizeof(ckf_rebuild) <= CKF_REBUILD_SIZE, "ckf_rebuild is too small");

/* ------------------------------------------------------------------ scans */

/* The items of the scans from `first` to before `end`, as those of one; NULL: there
 * are none. */
static ckf_scan *
ckf_merge_scans(ckf_rebuild *r, unsigned first, unsigned end)
{
	ckf_scan *merged = first < end ? &r->scan[first] : NULL;

	while (++first < end)
	{
		ckf_scan_merged(&r->scan[r->all_scans], merged, &r->scan[first]);
		merged = &r->scan[r->all_scans++];
	}
	return merged;
}

/* Both inputs' items come as those that they have in common; `second` is the first
 * scan of the second input. */
static void
ckf_let_meet(ckf_rebuild *r, unsigned second)
{
	ckf_scan *a = ckf_merge_scans(r, 0, second);
	ckf_scan *b = ckf_merge_scans(r, second, r->scans);

	r->meeting.w = r->w;
	r->meeting.low_mask = r->to.low_mask;
	r->root = &r->scan[r->all_scans++];
	ckf_scan_common(r->root, a, b, &r->meeting);
}

static void
ckf_make_scans(ckf_rebuild *r, const uint64_t *hashes, size_t n)
{
	unsigned of_first = 0;
	unsigned i;

	for (i = 0; i < r->inputs && ckf_target_reads(r); i++)
	{
		const ckf_source *source = r->in[i]->operations->source;

		of_first = r->scans;
		/* what says that it is empty is neutral, whatever lies in its slots */
		if (r->goal == CKF_REMOVE_MANY || ckf_items(r->in[i]) > 0)
			r->scans += source->scans(r->in[i], &r->scan[r->scans]);
	}
	if (n > 0)
		ckf_scan_unsorted(&r->scan[r->scans++], hashes, n, true);
	r->all_scans = r->scans;
	if (r->goal == CKF_REMOVE_MANY)
	{
		r->root = r->scans > 0 ? &r->scan[0] : NULL;
		r->removals = r->scans > 1 ? &r->scan[1] : NULL;
	}
	else if (ckf_compares(r->goal) && r->inputs == 2 && r->scans > 0)
		ckf_let_meet(r, of_first);
	else
		r->root = ckf_merge_scans(r, 0, r->scans);
	for (i = 0; i < r->all_scans; i++)
		r->scan[i].worked = &r->worked;
}

/* Give all scans their scratch, whose contents are new. */
static void
ckf_place_scans(ckf_rebuild *r, uint64_t *scratch)
{
	unsigned i;

	for (i = 0; i < r->all_scans; i++)
	{
		r->scan[i].memory = scratch;
		scratch += r->scan[i].words;
		ckf_presort_anew(&r->scan[i]);
	}
}

/* Words that a target may need once the items are counted: asked for early
 * where many are sorted, so that they need not be sorted again. */
static uint64_t
ckf_scratch_ahead(const ckf_rebuild *r)
{
	uint64_t buckets = (uint64_t)2 * CKF_MAX_BUCKETS_BUILT;
	unsigned i;

	for (i = 0; i < r->scans; i++)
		if (ckf_scan_sorts(&r->scan[i]) && r->scan[i].end > CKF_STEP)
			return buckets * r->to.b + buckets / 8;
	return 0;
}

/*
 * Hashes that a growth leaves room for, behind those that stay hashes: half as
 * many more; but where there are fewer than CKF_MAX_HASHES, none past these, since
 * from there on room tells that no table could be built (sorted_hashes.c).
 */
static uint64_t
ckf_spare_hashes(uint64_t items)
{
	uint64_t half = items / 2 + 16;

	if (items < CKF_MAX_HASHES && half > CKF_MAX_HASHES - items)
		return CKF_MAX_HASHES - items;
	return half;
}

/* Ask the host for what the next pass needs. */
static ckf_status
ckf_ask(ckf_rebuild *r)
{
	uint64_t words = 0;
	uint64_t size = 0;
	unsigned i;

	for (i = 0; i < r->all_scans; i++)
		words += r->scan[i].words;
	r->scan_words = words;
	if (r->counts)
		words += ckf_scratch_ahead(r);
	else if (r->copies_input)
		size = r->in[0]->size;
	else
		words += r->sink->scratch(&r->to);
	if (!r->counts && !r->copies_input && !r->appends)
	{
		uint64_t spare = r->goal == CKF_GROW ? ckf_spare_hashes(r->items) : 0;

		size = r->sink->size(&r->to, r->items + spare);
		if (size == 0)
			return CKF_PRECISION;
	}
	if (words > SIZE_MAX / 16)
		return CKF_PRECISION;
	r->dst_size = (size_t)size;
	if (8 * words + 8 > r->scratch_size) /* never nothing, and never less than before */
		r->scratch_size = (size_t)(8 * words + 8);
	r->phase = CKF_PRESORT;
	return CKF_OK;
}

/* ------------------------------------------------------------------ start */

/* A log takes over what comes behind what it has, without being read. */
static bool
ckf_only_appends(const ckf_rebuild *r)
{
	const ckf_filter *state = r->in[0];

	return r->inputs == 2 && (r->to.flags & CKF_FLAG_STATE) && (state->flags & CKF_FLAG_STATE) &&
		   ckf_state_is_log(state) && ckf_log_may_promise(state, &r->to) &&
		   ckf_items(r->in[1]) <= ckf_log_room(state);
}

static ckf_status
ckf_start_append(ckf_rebuild *r)
{
	/* r->to has the state's own fields, but for what it promises from now on */
	r->sink = &ckf_log_append;
	r->appends = true;
	r->in_order = false;
	r->cut_w = 64;
	r->in[0] = r->in[1];
	r->inputs = 1;
	ckf_make_scans(r, NULL, 0);
	return ckf_ask(r);
}

static ckf_status
ckf_settle(ckf_rebuild *r)
{
	ckf_status status = ckf_target_choose(r);

	r->counts = status == CKF_MORE;
	return status == CKF_OK || r->counts ? ckf_ask(r) : status;
}

static ckf_status
ckf_start(ckf_rebuild *r, ckf_goal goal, const ckf_filter *a, const ckf_filter *b,
		  const uint64_t *hashes, size_t n, unsigned item_classes)
{
	ckf_status status;

	memset(r, 0, offsetof(ckf_rebuild, scan)); /* each scan sets its own */
	r->goal = goal;
	r->in[0] = a;
	r->in[1] = b;
	r->inputs = b ? 2 : 1;
	if (goal == CKF_REMOVE_MANY && (a->flags & (CKF_FLAG_SET | CKF_FLAG_STATE)))
		return CKF_IS_SET;
	status = ckf_target_start(r);
	if (status != CKF_OK)
		return status;
	if (goal >= CKF_COLLECT_ITEMS && ckf_only_appends(r))
		return ckf_start_append(r);
	ckf_make_scans(r, hashes, n);
	r->items = ckf_items(a) + (b ? ckf_items(b) : 0);
	if (goal != CKF_REMOVE_MANY)
		r->items += n;
	if (goal != CKF_REMOVE_MANY && n > 0)
		r->to.item_classes |= (uint8_t)item_classes;
	r->counts = ckf_target_counts(r);
	return r->counts ? ckf_ask(r) : ckf_settle(r);
}

ckf_status
ckf_rebuild_start(ckf_rebuild *r, ckf_goal goal, const ckf_filter *a, const ckf_filter *b)
{
	return ckf_start(r, goal, a, b, NULL, 0, 0);
}

ckf_status
ckf_rebuild_start_hashes(ckf_rebuild *r, ckf_goal goal, const ckf_filter *a, const uint64_t *hashes,
						 size_t n, unsigned item_classes)
{
	return ckf_start(r, goal, a, NULL, hashes, n, item_classes);
}

/* ---------------------------------------------------------------- the pass over all items */

static void
ckf_start_pass(ckf_rebuild *r)
{
	/* growth only needs its segments in order, a log nothing */
	unsigned low = r->in_order ? 0 : r->appends ? 64 : 64U - r->to.g;

	if (r->root)
		ckf_scan_rewind(r->root, low);
	if (r->removals)
		ckf_scan_rewind(r->removals, 0);
	r->last = r->met = r->group = r->copies = r->passed = r->leaving = 0;
	r->meet_w = r->distinct ? r->w : 64;
	if (r->counts)
	{
		/* to what the target will be cut at least; a distinct item counts as one */
		r->cut_w = r->distinct ? 64 : r->w;
		r->items = 0;
		r->phase = CKF_COUNT;
		return;
	}
	if (!r->appends)
		r->to.bytes = r->dst;
	memset(&r->build, 0, sizeof r->build);
	r->build.t = &r->to;
	r->sink->start(&r->build, (uint64_t *)r->scratch + r->scan_words);
	r->phase = CKF_BUILD;
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
			if (CKF_UNLIKELY(r->meet_w < 64))
				item = ckf_cut(item, r->meet_w, low_mask);
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

	if (r->distinct)
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

/* ----------------------------------------------------------------- phases */

/* CKF_OK: the phase is over; CKF_MORE: it is not. */

static ckf_status
ckf_presort_all(ckf_rebuild *r)
{
	ckf_status status = CKF_OK;
	unsigned i;

	for (i = 0; i < r->scans && status == CKF_OK; i++)
		status = ckf_presort(&r->scan[i]);
	if (status != CKF_ROOM)
		return status;
	r->scratch = NULL; /* the scans' places in it have changed */
	status = ckf_ask(r);
	return status == CKF_OK ? CKF_MORE : status;
}

/* The next piece of the target's bytes, which are cleared or copied. */
static size_t
ckf_next_piece(ckf_rebuild *r)
{
	uint64_t piece = (uint64_t)CKF_STEP * CKF_BYTES_OF_AN_ITEM;
	uint64_t left = r->dst_size - r->place;

	if (piece > left)
		piece = left;
	r->worked += (size_t)(piece / CKF_BYTES_OF_AN_ITEM) + 1;
	return (size_t)piece;
}

static ckf_status
ckf_clear(ckf_rebuild *r)
{
	size_t piece = ckf_next_piece(r);

	memset((uint8_t *)r->dst + r->place, 0, piece);
	r->place += piece;
	return r->place == r->dst_size ? CKF_OK : CKF_MORE;
}

static ckf_status
ckf_copy(ckf_rebuild *r)
{
	size_t piece = ckf_next_piece(r);

	memcpy((uint8_t *)r->dst + r->place, r->in[0]->bytes + r->place, piece);
	r->place += piece;
	return r->place == r->dst_size ? CKF_OK : CKF_MORE;
}

/* Take a block of removals away from the copy of a table: in order, so that each
 * comes near the one before. */
static ckf_status
ckf_remove_block(ckf_rebuild *r)
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
static ckf_status
ckf_pass_block(ckf_rebuild *r)
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

/* The target is filled. */
static void
ckf_finish(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;

	to->count = r->build.stored;
	to->size = (size_t)r->sink->size(to, to->count);
	r->sink->end(&r->build);
	if (!r->appends)
		ckf_target_trim(r);
	if (ckf_items(to) == 0)
		to->item_classes = 0;
	ckf_write_header(to);
	/* removals that found nothing have changed nothing, the version neither */
	if (r->goal == CKF_REMOVE_MANY && to->count == r->in[0]->count)
		memcpy(to->bytes, r->in[0]->bytes, CKF_HEADER_SIZE);
}

/* Go on after a phase.  CKF_OK: the rebuild is over. */
static ckf_status
ckf_next(ckf_rebuild *r)
{
	ckf_status status;

	switch (r->phase)
	{
		case CKF_PRESORT:
			r->place = 0;
			if (r->copies_input)
				r->phase = CKF_COPY;
			else if (!r->counts && r->sink->cleared(&r->to))
				r->phase = CKF_CLEAR;
			else
				ckf_start_pass(r);
			return CKF_MORE;
		case CKF_CLEAR:
			ckf_start_pass(r);
			return CKF_MORE;
		case CKF_COUNT:
			if (r->distinct)
				r->items = r->passed;
			r->counted = true;
			if (r->goal == CKF_COMPARE)
			{
				r->to.size = 0; /* nothing is built */
				return CKF_OK;
			}
			status = ckf_settle(r);
			return status == CKF_OK ? CKF_MORE : status;
		case CKF_BUILD:
			/* items were taken to be distinct; now their number is known */
			if (r->goal == CKF_FINISH && r->passed != r->items)
			{
				r->items = r->passed;
				status = ckf_settle(r);
				return status == CKF_OK ? CKF_MORE : status;
			}
			ckf_finish(r);
			return CKF_OK;
		case CKF_COPY:
			r->to = *r->in[0];
			r->to.bytes = r->dst;
			if (r->goal == CKF_COMPACT)
				ckf_write_header(&r->to); /* of our version, as every compaction's */
			if (r->removals)
				ckf_scan_rewind(r->removals, 0);
			r->phase = CKF_REMOVE;
			return CKF_MORE;
		default:
			return CKF_OK;
	}
}

static ckf_status
ckf_phase_step(ckf_rebuild *r)
{
	ckf_status status;

	switch (r->phase)
	{
		case CKF_PRESORT:
			status = ckf_presort_all(r);
			break;
		case CKF_CLEAR:
			status = ckf_clear(r);
			break;
		case CKF_COPY:
			status = ckf_copy(r);
			break;
		case CKF_REMOVE:
			status = ckf_remove_block(r);
			break;
		default:
			status = ckf_pass_block(r);
	}
	if (status == CKF_OK)
		return ckf_next(r);
	if (status != CKF_ROOM)
		return status;
	status = ckf_target_enlarge(r);
	r->counts = status == CKF_MORE;
	if (status != CKF_OK && !r->counts)
		return status;
	status = ckf_ask(r);
	return status == CKF_OK ? CKF_MORE : status;
}

/* ------------------------------------------------------------------- step */

/* Does the host's memory do, and is it what it was? */
static bool
ckf_has_buffers(ckf_rebuild *r, ckf_buffers *buffers)
{
	bool scratch = buffers->scratch_room >= r->scratch_size && buffers->scratch != NULL;
	bool dst = buffers->dst_room >= r->dst_size && (buffers->dst != NULL || r->dst_size == 0);

	buffers->dst_size = r->dst_size;
	buffers->scratch_size = r->scratch_size;
	if (scratch && buffers->scratch != r->scratch)
	{
		r->scratch = buffers->scratch;
		ckf_place_scans(r, r->scratch);
		r->phase = CKF_PRESORT;
	}
	if (dst && buffers->dst != r->dst)
	{
		r->dst = buffers->dst;
		if (r->phase != CKF_COUNT)
			r->phase = CKF_PRESORT;
	}
	if (!scratch)
		r->scratch = NULL;
	if (!dst)
		r->dst = NULL;
	r->to.room = buffers->dst_room;
	return scratch && dst;
}

ckf_status
ckf_rebuild_step(ckf_rebuild *r, ckf_buffers *buffers)
{
	ckf_status status = CKF_MORE;

	r->worked = 0;
	while (status == CKF_MORE && r->worked < CKF_STEP)
	{
		if (!ckf_has_buffers(r, buffers))
			return CKF_ROOM;
		if (r->scans > 0 && r->scan[0].wants)
			return CKF_FEED;
		status = ckf_phase_step(r);
	}
	if (status == CKF_OK)
		buffers->dst_size = r->appends ? 0 : r->to.size;
	return status;
}
