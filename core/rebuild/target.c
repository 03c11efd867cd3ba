/*
 * target.c - choose what a rebuild builds: sorted hashes, sorted prefixes, or a table and its
 * geometry (FORMAT.md, section 5).
 */
#include "open/choose.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/methods.h"
#include "rebuild/operation.h"
#include "rebuild/work.h"
#include "thresholds.h"

/* ------------------------------------------------------------------ start */

/* The number of inputs whose parameters count; a batch of hashes has none. */
static unsigned
ckf_parameter_inputs(const ckf_rebuild *r)
{
	return r->row->adds || r->row->removes ? 1 : r->inputs;
}

ckf_status
ckf_target_start(ckf_rebuild *r, ckf_operation operation)
{
	ckf_filter *to = &r->to;
	ckf_status status = ckf_result_parameters(to, operation, r->in, ckf_parameter_inputs(r));

	if (status != CKF_OK)
		return status;
	if (r->row->adds)
	{
		to->item_classes |= r->in[1]->item_classes;
		to->number_forms |= r->in[1]->number_forms;
	}
	r->capacity = to->capacity;
	r->w = to->w;
	r->deduplicated = (to->flags & CKF_FLAG_SET) != 0;
	r->in_order = !r->row->grows || ckf_is_whole(r);
	return CKF_OK;
}

bool
ckf_target_counts(const ckf_rebuild *r)
{
	switch (r->row->counts)
	{
		case CKF_COUNT_NEVER:
			return false;
		case CKF_COUNT_CUT: /* hashes are usually distinct; else the build notices */
			return !ckf_is_whole(r);
		case CKF_COUNT_SAMPLE:
			return r->inputs > 1 || !ckf_is_whole(r);
		default:
			return true;
	}
}

/* ------------------------------------------------- filters in whole hashes */

static void
ckf_target_words(ckf_filter *to, ckf_encoding encoding, uint8_t w)
{
	to->encoding = (uint8_t)encoding;
	to->f = to->g = 0;
	to->m = 0;
	to->w = w;
	ckf_derive(to);
}

/* The copies for which a table is chosen.  A first table that growth builds gets spare room. */
static uint64_t
ckf_planned_items(const ckf_rebuild *r)
{
	return ckf_is_whole(r) && r->row->grows ? r->items + r->items / 2 + 8 : r->items;
}

/* The items for which the precision of a first table is chosen. */
static uint64_t
ckf_expected_items(const ckf_rebuild *r)
{
	switch (r->row->expects)
	{
		case CKF_EXPECT_THESE:
			return r->items;
		case CKF_EXPECT_MORE:
			return 16 * r->items;
		default:
			return 16 * CKF_MAX_HASHES;
	}
}

/* Choose the target for whole hashes: sorted hashes, or the first table that they become. */
static bool
ckf_target_exact(ckf_rebuild *r)
{
	if (r->row->whole == CKF_WHOLE_SMALLER &&
		ckf_choose_fewest(&r->to, r->items, ckf_expected_items(r)))
		return true;
	/* growth is for one item more */
	if (r->row->whole == CKF_WHOLE_FEW && r->items + r->row->grows > CKF_MAX_HASHES)
		return ckf_choose_first(&r->to, ckf_planned_items(r), ckf_expected_items(r), 64);
	ckf_target_words(&r->to, CKF_HASHES, 64);
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
	/* chosen for the number of items, but the input, which has as many buckets, is full */
	to->g = from->g;
	to->m = from->m;
	to->rho_bits = from->rho_bits;
	return ckf_enlarge(to, 8, r->items); /* by a quarter, as after 8 failures */
}

/* A table of the precision that the number of items needs, at most that of the items.  If an
 * export falls back to other parameters, w stays that of the chunks. */
static bool
ckf_target_first(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	uint64_t least = (uint64_t)to->capacity > r->items ? (uint64_t)to->capacity : r->items;
	unsigned w = ckf_prefix_bits((double)least, r->in[0]->fpr, r->in[0]->c);

	to->w = (uint8_t)(w < r->w ? w : r->w);
	return ckf_choose(to, r->items, r->w);
}

/* Choose a table for prefixes.  false: none is possible. */
static bool
ckf_target_table(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;

	if (r->row->removes) /* from sorted prefixes, which stay such */
	{
		ckf_target_words(to, CKF_PREFIXES, r->w);
		return true;
	}
	switch (r->row->cut)
	{
		case CKF_CUT_LARGER:
			return ckf_target_larger(r);
		case CKF_CUT_FIRST:
			return ckf_target_first(r);
		case CKF_CUT_ANY:
			return ckf_choose(to, r->items, to->w);
		default:
			return ckf_choose(to, r->items, to->w) && r->items <= to->max_count;
	}
}

/* ----------------------------------------------------------------- choose */

/*
 * Correct the count of a set's items in chunks.  An aggregate counts distinct items, but chunks
 * store items of equal prefix once.  So the host's number of added items is used, unless it is
 * so large that items must have been added repeatedly.
 */
static void
ckf_correct_count(ckf_rebuild *r)
{
	if (r->deduplicated && r->added > r->items && r->added - r->items <= r->items / 8 + 8)
		r->items = r->added;
}

/* Whether the chosen table has fewer bytes than sorted hashes, or than the input. */
static bool
ckf_is_worth_it(const ckf_rebuild *r)
{
	uint64_t size;

	if (!ckf_is_table(&r->to) || r->row->whole != CKF_WHOLE_SMALLER)
		return true;
	size = r->to.methods->sink->size(&r->to, r->items);
	if (ckf_is_whole(r))
		return size < CKF_HEADER_SIZE + 8 * r->items;
	return !r->row->shrinks || size < r->in[0]->size;
}

/* Let all items be counted, if their number is an estimate. */
static bool
ckf_count_all(ckf_rebuild *r)
{
	bool estimate = r->samples;

	r->samples = false;
	return estimate;
}

/* Choose a target if there is no table: whole hashes stay hashes, the state of a merge becomes
 * sorted prefixes, and a compaction copies its input.  CKF_MORE: an export falls back to other
 * parameters, count the items again. `short_tags`: the table is impossible because f would be below
 * c. */
static ckf_status
ckf_target_otherwise(ckf_rebuild *r, bool short_tags)
{
	if (ckf_is_whole(r))
	{
		ckf_target_words(&r->to, CKF_HASHES, 64);
		return CKF_OK;
	}
	if (ckf_count_all(r))
		return CKF_MORE;
	if (r->row->cut == CKF_CUT_ANY)
	{
		ckf_target_words(&r->to, CKF_PREFIXES, r->w);
		return CKF_OK;
	}
	if (r->row->falls_back && ckf_fall_back(r, short_tags))
		return CKF_MORE;
	r->copies_input = r->row->shrinks;
	return r->copies_input ? CKF_OK : CKF_PRECISION;
}

/* Whether the table of an export exceeds the host's limit. */
static bool
ckf_is_too_large(const ckf_rebuild *r)
{
	return r->row->falls_back && ckf_is_table(&r->to) && ckf_table_size(&r->to) > r->most;
}

ckf_status
ckf_target_choose(ckf_rebuild *r)
{
	ckf_filter *to = &r->to;
	bool found;

	r->tries = 0;
	if (r->row->copies || (r->row->removes && ckf_is_table(r->in[0])))
	{
		r->copies_input = true; /* removals are made in the copy, which never fails */
		return CKF_OK;
	}
	if (r->added > 0)
		ckf_correct_count(r);
	if ((r->row->compares || r->row->of_items) && r->items == 0)
		r->w = 64; /* an empty filter has not cut any item */
	to->w = r->w;
	if (r->row->of_items)
		to->capacity = (uint64_t)r->capacity > r->items ? r->capacity : (int64_t)r->items;
	found = ckf_is_whole(r) ? ckf_target_exact(r) : ckf_target_table(r);
	/* a set, which stores no copies, may fit; the host refuses a set that does not */
	if (found && !r->deduplicated && ckf_is_too_large(r) && ckf_fall_back(r, false))
		return CKF_MORE;
	return found && ckf_is_worth_it(r) ? CKF_OK : ckf_target_otherwise(r, !found);
}

/*
 * Choose a larger table after a table could not place all items.  Near a rate of 1, tags are
 * so short that an item can move to few other buckets only, and more buckets make tags even
 * shorter.  In this case the items take a longer prefix, if they have more bits: from the
 * second failure on if this costs no more bytes, and always if there is no larger table.
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
		(larger && ckf_table_size(&longer) > ckf_table_size(to)))
		return larger;
	*to = longer;
	r->tries = 0;
	return !ckf_is_too_large(r);
}

ckf_status
ckf_target_enlarge(ckf_rebuild *r)
{
	if (!ckf_is_table(&r->to))
		return CKF_BAD_BYTES; /* more hashes than the header counts */
	if (ckf_count_all(r))
		return CKF_MORE;
	if (!ckf_target_larger_table(r) || !ckf_is_worth_it(r))
		return ckf_target_otherwise(r, ckf_lacks_bits(&r->to, r->items));
	return CKF_OK;
}
