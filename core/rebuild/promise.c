/*
 * promise.c - what a rebuild promises.
 */
#include "rebuild/promise.h"

#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/goal.h"

/* What the inputs taken so far ask of the result; zeros before the first. */
typedef struct ckf_asked
{
	bool every; /* do empty ones ask, too?  They do where the result is what is in all. */
	bool any;   /* has any asked for something? */
	bool items; /* has any of those items?  Then empty ones ask for nothing. */
	bool set;   /* is any a set?  In this, empty ones have a say. */
	bool plain;
	uint8_t w, b;
	uint8_t item_classes; /* of all */
	uint64_t seed;
	int64_t capacity;
	double fpr;
} ckf_asked;

/* Take in what an input asks for that has a say; the first one alone, or beside
 * others. */
static void
ckf_ask_for(ckf_asked *asked, const ckf_filter *in, bool first)
{
	/* hashes are exact, and so is what has no items */
	uint8_t w = ckf_items(in) > 0 ? in->w : 64;

	/* of two empty inputs either seed will do, but the same in any order */
	if (first || in->seed > asked->seed)
		asked->seed = in->seed;
	if (first || in->capacity > asked->capacity)
		asked->capacity = in->capacity;
	if (first || in->fpr > asked->fpr)
		asked->fpr = in->fpr;
	if (first || in->b < asked->b)
		asked->b = in->b;
	if (first || w < asked->w)
		asked->w = w;
	asked->plain = (!first && asked->plain) || (in->flags & CKF_FLAG_PLAIN);
}

static ckf_status
ckf_take_promise(ckf_asked *asked, const ckf_filter *in)
{
	bool items = ckf_items(in) > 0;

	if (items && asked->items && in->seed != asked->seed)
		return CKF_SEED_DIFFERS;
	asked->set = asked->set || (in->flags & CKF_FLAG_SET);
	if (asked->every)
		ckf_ask_for(asked, in, !asked->any);
	else if (items || !asked->items)
		ckf_ask_for(asked, in, !asked->any || items != asked->items);
	asked->any = true;
	asked->items = asked->items || items;
	asked->item_classes |= in->item_classes; /* where there are no items, none */
	return CKF_OK;
}

/*
 * The classes of what two filters have in common.  An item of both is of a class that
 * either had, or came to it as a hash.  Where they have no class in common, and no
 * hashes, they share no item: a prefix that both have is there by chance.
 */
static uint8_t
ckf_common_classes(uint8_t a, uint8_t b)
{
	uint8_t classes = a & b & (uint8_t)~CKF_ITEM_OLD;

	if (a & CKF_ITEM_HASH)
		classes |= b & (CKF_ITEM_HASH - 1);
	if (b & CKF_ITEM_HASH)
		classes |= a & (CKF_ITEM_HASH - 1);
	if (classes & CKF_ITEM_HASH)
		classes |= (a | b) & CKF_ITEM_OLD;
	return classes;
}

/* Has one items of class 7, which the other, from version 1, has under other hashes if it
 * has them?  They would be denied. */
static bool
ckf_hash_otherwise(const ckf_filter *a, const ckf_filter *b)
{
	return ((a->item_classes & CKF_ITEM_OLD) && (b->item_classes & CKF_ITEM_OTHER)) ||
		   ((b->item_classes & CKF_ITEM_OLD) && (a->item_classes & CKF_ITEM_OTHER));
}

ckf_status
ckf_promise(ckf_filter *to, ckf_goal goal, const ckf_filter *const *in, unsigned inputs)
{
	const ckf_filter *first = in[0];
	const ckf_goal_row *row = ckf_goal_of(goal);
	ckf_asked asked = {.every = row->compares};
	ckf_status status = CKF_OK;
	unsigned i;

	for (i = 0; i < inputs && status == CKF_OK; i++)
		status = ckf_take_promise(&asked, in[i]);
	if (status != CKF_OK)
		return status;
	if (row->compares && inputs > 1)
	{
		if (ckf_hash_otherwise(first, in[1]))
			return CKF_OLD_ITEMS;
		asked.item_classes = ckf_common_classes(first->item_classes, in[1]->item_classes);
	}
	*to = *first;
	if (inputs > 1) /* one input keeps what it has, even if it is empty */
	{
		to->seed = asked.seed;
		to->capacity = asked.capacity;
		to->fpr = asked.fpr;
		to->c = ckf_low_bits(asked.fpr);
		to->low_mask = (UINT64_C(1) << to->c) - 1;
		to->w = asked.w;
		to->b = asked.b;
	}
	else
	{
		asked.set = first->flags & CKF_FLAG_SET;
		asked.plain = first->flags & CKF_FLAG_PLAIN;
	}
	to->item_classes = asked.item_classes;
	to->format = CKF_FORMAT_VERSION;
	to->flags = asked.plain ? CKF_FLAG_PLAIN : 0;
	if (asked.set || row->kind == CKF_KIND_SET)
		to->flags |= CKF_FLAG_SET;
	return CKF_OK;
}

/*
 * Where a filter is cut to the w that it has, the rule of tag 0 must not have joined more
 * prefixes than it does in the chunks: a smaller c joins more of them.  From a longer
 * prefix the rule's change is cut off.
 */
ckf_status
ckf_promise_of_chunks(const ckf_filter *chunks, const ckf_filter *filter)
{
	const ckf_filter *both[2] = {chunks, filter};
	ckf_filter to;
	ckf_status status = ckf_promise(&to, CKF_SUM, both, 2);

	if (status != CKF_OK)
		return status;
	if ((to.flags & CKF_FLAG_SET) != (chunks->flags & CKF_FLAG_SET))
		return CKF_IS_SET;
	if (to.w < chunks->w)
		return CKF_PRECISION;
	return filter->w == chunks->w && filter->c < chunks->c ? CKF_PRECISION : CKF_OK;
}
