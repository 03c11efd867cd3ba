/*
 * target.c - what a rebuild builds: sorted hashes, a table of which geometry,
 * or a state (FORMAT.md, section 5).
 */
#include "rebuild/target.h"

#include "filter/choose.h"
#include "filter/derive.h"
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/fallback.h"
#include "rebuild/promise.h"
#include "small/log.h"
#include "small/state.h"
#include "table/table_sink.h"
#include "thresholds.h"

/* A set past CKF_MOST_WHOLE items is cut to what it would need for so many. */
#define CKF_CUT_FOR (INT64_C(1) << 34)

static bool
ckf_builds_state(const ckf_rebuild *r)
{
	return (r->to.flags & CKF_FLAG_STATE) != 0;
}

static bool
ckf_is_of(ckf_goal goal, ckf_goal first, ckf_goal last)
{
	return goal >= first && goal <= last;
}

/* Is it the filter of an aggregate over items, or one that must equal it? */
static bool
ckf_is_of_items(ckf_goal goal)
{
	return goal == CKF_FINISH || goal == CKF_FINISH_FED;
}

/* ------------------------------------------------------------------ start */

ckf_status
ckf_target_start(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	ckf_status status = ckf_promise(to, r->goal, r->in, r->inputs);

	if (status != CKF_OK)
		return status;
	if (to->capacity == 0 && !ckf_builds_state(r))
		to->capacity = 1;
	r->capacity = to->capacity;
	r->w = to->w;
	r->once = ckf_stores_once(to);
	if (r->goal == CKF_EXPORT && ckf_stores_once(r->in[0]))
		r->once = true;
	r->distinct = r->goal == CKF_FINISH;
	r->in_order = r->goal != CKF_GROW || ckf_builds_state(r) || r->in[0]->encoding == CKF_HASHES;
	return CKF_OK;
}

/* --------------------------------------------------------- large sets, cut */

/* The precision to which a large set is cut. */
static unsigned
ckf_cut_w(const ckf_filter *to)
{
	double capacity = (double)(to->capacity > CKF_CUT_FOR ? to->capacity : CKF_CUT_FOR);
	unsigned w = ckf_prefix_bits(capacity, to->fpr, to->c);

	return w < CKF_MAX_PREFIX ? w : CKF_MAX_PREFIX;
}

/* Could a table keep the rate of more items than stay whole?  Else they do.  (That
 * of the capacity it keeps: else there would be no such filter.) */
static bool
ckf_cut_keeps_rate(const ckf_filter *to)
{
	return ckf_prefix_bits((double)CKF_MOST_WHOLE + 1, to->fpr, to->c) <= CKF_MAX_PREFIX;
}

/* Is it a set of an aggregate, which is cut when it is large? */
static bool
ckf_may_be_cut(const ckf_rebuild *r)
{
	bool aggregate = ckf_builds_state(r) || ckf_is_of(r->goal, CKF_FINISH, CKF_EXPORT);

	return aggregate && (r->to.flags & CKF_FLAG_SET) && r->w > ckf_cut_w(&r->to) &&
		   ckf_cut_keeps_rate(&r->to);
}

/* ------------------------------------------------- filters in whole hashes */

static void
ckf_target_hashes(ckf_filter *to)
{
	to->encoding = CKF_HASHES;
	to->f = to->g = 0;
	to->m = 0;
	to->w = 64;
	ckf_derive(to);
}

/* Copies that a table is chosen for: growth gives hashes room for more. */
static uint64_t
ckf_planned_items(const ckf_rebuild *r)
{
	return r->whole && r->goal == CKF_GROW ? r->items + r->items / 2 + 8 : r->items;
}

/* Whole hashes come in: they stay, or become a first table. */
static bool
ckf_target_exact(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t items = r->items;

	switch (r->goal)
	{
		case CKF_GROW:
			if (items >= CKF_MAX_HASHES)
				return ckf_choose_first(to, ckf_planned_items(r), 16 * items, 64);
			break;
		case CKF_UNION:
		case CKF_SUM:
			if (items > CKF_MAX_HASHES)
				return ckf_choose_first(to, items, 16 * items, 64);
			break;
		case CKF_ADD_MANY: /* as single adds do, which pass CKF_MAX_HASHES on their way */
			if (items > CKF_MAX_HASHES)
				return ckf_choose_first(to, items, 16 * CKF_MAX_HASHES, 64);
			break;
		case CKF_REMOVE_MANY:
		case CKF_EXPORT:
		case CKF_INTERSECT: /* which stays exact, and is no larger than an input */
			break;
		default: /* compaction and the ends of aggregates: the fewest bytes */
			if (ckf_choose_fewest(to, items, ckf_is_of_items(r->goal) ? items : 16 * items))
				return true;
	}
	ckf_target_hashes(to);
	return true;
}

/* ----------------------------------------------------------------- tables */

static uint64_t
ckf_buckets(const ckf_filter *t)
{
	return (uint64_t)t->m << t->g;
}

/* A larger table of the same w. */
static bool
ckf_target_larger(ckf_rebuild *r)
{
	const ckf_filter *from = r->in[0];
	ckf_filter *to = &r->to;
	uint64_t more = r->items / 2 + 8;

	if (r->items >= from->max_count)
		return false;
	while (!ckf_choose(to, r->items + more, to->w))
	{
		if (more == 1)
			return false;
		more /= 2;
	}
	if (ckf_buckets(to) > ckf_buckets(from))
		return true;
	/* items that crowd together: more buckets than their number asks for */
	to->g = from->g;
	to->m = from->m;
	to->rho_bits = from->rho_bits;
	return ckf_enlarge(to, 8, r->items);
}

/* The table of an aggregate, as far as its items' precision goes, which chunks have
 * chosen for a capacity: more items make its rate worse.  What it falls back to keeps the
 * w that they promise. */
static bool
ckf_target_fed(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t least = (uint64_t)to->capacity > r->items ? (uint64_t)to->capacity : r->items;
	unsigned w = ckf_prefix_bits((double)least, r->in[0]->fpr, r->in[0]->c);

	to->w = (uint8_t)(w < r->w ? w : r->w);
	return ckf_choose(to, r->items, r->w);
}

/* A table for items that have been cut. */
static bool
ckf_target_table(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;

	switch (r->goal)
	{
		case CKF_GROW:
			return ckf_target_larger(r);
		case CKF_EXPORT: /* whether they are too many its reader will say */
			return ckf_choose(to, r->items, to->w);
		case CKF_FINISH:
			return ckf_choose_first(to, r->items, r->items, r->w);
		case CKF_FINISH_FED:
			return ckf_target_fed(r);
		case CKF_FINISH_MERGE:
			if ((to->flags & CKF_FLAG_SET) && r->items > CKF_MOST_WHOLE && r->w == ckf_cut_w(to))
				return ckf_choose_first(to, r->items, 16 * r->items, r->w);
			break;
		default:
			break;
	}
	return ckf_choose(to, r->items, to->w) && r->items <= to->max_count;
}

/* ----------------------------------------------------------------- states */

/* Items in whole hashes that the largest state takes.  It leaves some room for its log: each time
 * that it is full, all of them are read. */
static bool
ckf_largest_takes(uint64_t items)
{
	return items + items / 32 <= ckf_state_holds(CKF_LARGEST_STATE);
}

/* Bytes of a set or log for so many items, with room for more. */
static uint64_t
ckf_state_bytes(const ckf_rebuild *r, uint64_t items)
{
	const ckf_filter *from = r->in[0];
	uint64_t size = CKF_STATE_SIZE;

	if (from->encoding == CKF_COLLECTING)
		size = r->goal == CKF_GROW ? ckf_state_grown(from->size) : from->size;
	while (ckf_state_holds(size) < items + items / 8)
		size = ckf_state_grown(size);
	if (size > CKF_LARGEST_STATE && r->counted && ckf_largest_takes(items))
		return CKF_LARGEST_STATE;
	return size;
}

/* May the sorted part of a log of these items be a table? */
static bool
ckf_log_may_have_table(const ckf_rebuild *r)
{
	return !r->no_table && ckf_state_bytes(r, r->items) > CKF_LARGE_LOG &&
		   (r->w < 64 || (ckf_may_be_cut(r) && r->items > CKF_MOST_WHOLE));
}

/* Give a log whose sorted part is a table room for so many items or, where it
 * would become too large with it, for fewer. */
static void
ckf_give_room(ckf_filter *to, uint64_t room, uint64_t items)
{
	uint64_t table = ckf_log_size(to, 0);

	if (table + 8 * room > CKF_LARGEST_STATE)
	{
		room = table < CKF_LARGEST_STATE ? (CKF_LARGEST_STATE - table) / 8 : 0;
		if (room < items / 16)
			room = items / 16;
	}
	to->size = (size_t)ckf_log_size(to, room);
}

/* A log whose sorted part is a table. */
static bool
ckf_target_large_log(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t room = r->items / 2 > CKF_LARGEST_SET ? r->items / 2 : CKF_LARGEST_SET;

	to->w = r->w;
	if (r->w == 64 || !ckf_choose(to, r->items, to->w))
		return false;
	ckf_give_room(to, room, r->items);
	return true;
}

/* false: this machine's memory cannot hold it. */
static bool
ckf_target_state(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t size;

	if (ckf_log_may_have_table(r) && ckf_target_large_log(r))
		return true;
	size = ckf_state_bytes(r, r->items);
	if (size > SIZE_MAX / 2)
		return false;
	to->encoding = CKF_COLLECTING;
	to->f = to->g = 0;
	to->m = 0;
	to->w = r->w;
	to->size = (size_t)size;
	ckf_derive(to);
	return true;
}

/* ----------------------------------------------------------------- choose */

/*
 * The items of chunks have been counted.  A set's items that share a prefix with another
 * are not there to be counted, but an aggregate would count them: the host knows how many
 * were added.  Where these are more than can be for that reason, some were added again.
 */
static void
ckf_settle_chunks(ckf_rebuild *r)
{
	if (r->once && r->added > r->items && r->added - r->items <= r->items / 8 + 8)
		r->items = r->added;
	if (r->items == 0)
		r->w = 64; /* nothing has been cut */
}

bool
ckf_target_reads(const ckf_rebuild *r)
{
	return !ckf_compares(r->goal) || r->to.item_classes != 0;
}

bool
ckf_target_counts(ckf_rebuild *r)
{
	switch (r->goal)
	{
		case CKF_UNION:
		case CKF_SUM:
		case CKF_INTERSECT:
		case CKF_COMPARE:
		case CKF_ADD_MANY:
		case CKF_FINISH_FED:
		case CKF_FINISH_MERGE:
			return true;
		case CKF_EXPORT:
			return r->w < 64 || (ckf_may_be_cut(r) && r->items > CKF_MOST_WHOLE);
		case CKF_FINISH: /* most often none comes twice: a build will tell, but may be refused
						  * where they have been cut */
			return r->w < 64 || (ckf_may_be_cut(r) && r->items > CKF_MOST_WHOLE);
		default:
			return ckf_builds_state(r) &&
				   (ckf_log_may_have_table(r) || ckf_state_bytes(r, r->items) > CKF_LARGEST_STATE);
	}
}

/* Is the chosen table better than what there is without one? */
static bool
ckf_is_worth_it(const ckf_rebuild *r)
{
	uint64_t size;

	if (!ckf_is_table(&r->to) ||
		!(r->goal == CKF_COMPACT || ckf_is_of(r->goal, CKF_FINISH_FED, CKF_FINISH_MERGE)))
		return true;
	size = r->sink->size(&r->to, r->items);
	if (r->whole)
		return size < CKF_HEADER_SIZE + 8 * r->items;
	return r->goal != CKF_COMPACT || size < r->in[0]->size;
}

static void
ckf_use(ckf_rebuild *r)
{
	r->sink = r->to.operations->sink;
	r->cut_w = r->to.w;
}

/* Without a table: whole hashes stay hashes, a state a log, and a compaction what it was.
 * CKF_MORE: an export becomes something else, and items must be counted once more.
 * `short_tags`: the table's would be shorter than c. */
static ckf_status
ckf_target_otherwise(ckf_rebuild *r, bool short_tags)
{
	if (ckf_builds_state(r))
	{
		r->no_table = true;
		if (!ckf_target_state(r))
			return CKF_PRECISION;
	}
	else if (r->whole)
		ckf_target_hashes(&r->to);
	else if (r->goal == CKF_COMPACT)
	{
		r->copies_input = true;
		return CKF_OK;
	}
	else
		return r->goal == CKF_FINISH_FED && ckf_fall_back(r, short_tags) ? CKF_MORE : CKF_PRECISION;
	ckf_use(r);
	return CKF_OK;
}

static uint64_t
ckf_bytes_of(const ckf_filter *table)
{
	return ckf_table_size(table->g, table->m, table->bucket_bits);
}

/* Is the table of an export larger than the host can keep it? */
static bool
ckf_is_too_large(const ckf_rebuild *r)
{
	return r->goal == CKF_FINISH_FED && ckf_is_table(&r->to) && ckf_bytes_of(&r->to) > r->most;
}

ckf_status
ckf_target_choose(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	bool found = true;

	if (r->counted && ckf_may_be_cut(r) && r->items > CKF_MOST_WHOLE)
	{
		r->w = (uint8_t)ckf_cut_w(to);
		return CKF_MORE;
	}
	r->tries = 0;
	if (r->goal == CKF_REMOVE_MANY && ckf_is_table(r->in[0]))
	{
		r->copies_input = true; /* and takes them away in place, which never fails */
		return CKF_OK;
	}
	if (r->goal == CKF_INTERSECT && r->items == 0)
		r->w = 64; /* what is empty has spent no precision */
	if (r->goal == CKF_FINISH_FED)
		ckf_settle_chunks(r);
	to->w = r->w;
	if (ckf_is_of_items(r->goal))
		to->capacity = (uint64_t)r->capacity > r->items ? r->capacity : (int64_t)r->items;
	r->whole = to->w == 64 && !ckf_builds_state(r);
	if (ckf_builds_state(r))
		found = ckf_target_state(r);
	else
		found = r->whole ? ckf_target_exact(r) : ckf_target_table(r);
	/* without its copies it may not be; a set that is, the host refuses */
	if (found && !r->once && ckf_is_too_large(r) && ckf_fall_back(r, false))
		return CKF_MORE;
	if (found)
		ckf_use(r);
	return found && ckf_is_worth_it(r) ? CKF_OK : ckf_target_otherwise(r, !found);
}

/*
 * A larger table for items that one did not hold.  Near a rate of 1 tags are so short
 * that items can move to a few other buckets only, and more buckets make them
 * shorter: items that have more bits then take a longer prefix, at the latest where
 * there is no larger table, and from the second failure on where it costs no more bytes.
 */
static bool
ckf_target_larger_table(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	ckf_filter longer = *to;
	unsigned max_w = r->w < CKF_MAX_PREFIX ? r->w : CKF_MAX_PREFIX;
	bool larger = ckf_enlarge(to, r->tries++, r->unbounded ? CKF_ANY_ITEMS : r->items) &&
				  !ckf_is_too_large(r);

	if (larger && (longer.f > CKF_SHORT_TAG || r->tries == 1))
		return true;
	if (to->w >= max_w || !(larger || ckf_lacks_bits(to, r->items)))
		return larger;
	longer.w++;
	if (!ckf_choose(&longer, ckf_planned_items(r), max_w) ||
		(larger && ckf_bytes_of(&longer) > ckf_bytes_of(to)))
		return larger;
	*to = longer;
	r->tries = 0;
	return !ckf_is_too_large(r);
}

ckf_status
ckf_target_enlarge(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;

	if (ckf_is_table(to))
	{
		uint64_t room = ckf_builds_state(r) ? (to->size - ckf_log_size(to, 0)) / 8 : 0;

		if (!ckf_target_larger_table(r) || !ckf_is_worth_it(r))
			return ckf_target_otherwise(r, ckf_lacks_bits(to, r->items));
		ckf_use(r);
		if (ckf_builds_state(r))
			ckf_give_room(to, room, r->items);
		return CKF_OK;
	}
	if (to->encoding != CKF_COLLECTING)
		return CKF_BAD_BYTES; /* more hashes than the header counts */
	if (ckf_state_grown(to->size) > SIZE_MAX / 2)
		return CKF_PRECISION;
	to->size = (size_t)ckf_state_grown(to->size);
	ckf_derive(to); /* a set that has become a log is filled as one */
	ckf_use(r);
	return CKF_OK;
}

/* A log whose items were mostly repeated ones need not be larger than before. */
void
ckf_target_trim(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t size = r->in[0]->encoding == CKF_COLLECTING ? r->in[0]->size : CKF_STATE_SIZE;

	if (to->encoding != CKF_COLLECTING || !ckf_state_is_log(to))
		return;
	while (size < to->size && ((size - CKF_HEADER_SIZE) / 8 < CKF_LARGEST_SET ||
							   to->count > (size - CKF_HEADER_SIZE) / 16))
		size = ckf_state_grown(size);
	if (size < to->size)
		to->size = (size_t)size;
}

/* -------------------------------------------------- why there is no target */

/* Of the inputs of a merge the one that decides its precision; where both do, that
 * of the smaller capacity. */
static int
ckf_coarser(const ckf_rebuild *r)
{
	const ckf_filter *a = r->in[0], *b = r->in[1];

	if (r->inputs == 1 || ckf_builds_state(r))
		return -1;
	if (a->count == 0 || b->count == 0)
		return a->count == 0; /* an empty one is neutral */
	return b->w < a->w || (b->w == a->w && b->capacity < a->capacity) ? 1 : 0;
}

/* Items up to which prefixes of w bits keep the rate. */
static int64_t
ckf_kept_capacity(const ckf_filter *t, unsigned w)
{
	double items = t->fpr * ckf_power_of_two(w) / (1 + 2 / ckf_power_of_two(t->c));

	return items < 1 ? 1 : items < 9e18 ? (int64_t)items : INT64_MAX;
}

void
ckf_rebuild_refusal(const ckf_rebuild *r, ckf_refusal *refusal)
{
	ckf_filter to = r->to;
	uint64_t grows = r->goal == CKF_GROW; /* for one item more, at least */
	/* a state that leaves has come from merges where less than whole hashes is known */
	bool merges = r->inputs == 2 || r->goal == CKF_FINISH_MERGE ||
				  (r->goal == CKF_EXPORT && r->in[0]->w < 64);
	bool full, fits;

	to.w = r->w < CKF_MAX_PREFIX ? r->w : CKF_MAX_PREFIX;
	full = r->items + grows > ckf_count_limit(to.w, to.fpr);
	/* or there may be no table of tags so short, near a rate of 1 */
	fits = !full && ckf_choose(&to, r->items + grows, to.w) &&
		   !(ckf_is_table(&r->to) && ckf_lacks_bits(&r->to, r->items));
	refusal->items = r->items;
	refusal->fpr = ckf_expected_rate(r->items, to.w, to.c);
	refusal->limit = ckf_last_rate(to.fpr);
	refusal->input = ckf_coarser(r);
	refusal->capacity = ckf_kept_capacity(&to, to.w);
	if (fits || r->unbounded)
		refusal->cause = r->once ? CKF_CROWDED_HASHES : CKF_CROWDED;
	else
		refusal->cause = merges && full ? CKF_COARSE : CKF_FULL;
	if (refusal->cause == CKF_COARSE && refusal->input >= 0)
		refusal->items = r->in[0]->count + r->in[1]->count;
}
