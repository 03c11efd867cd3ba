/*
 * result.c - decide the parameters of a rebuild's result.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/operation.h"

/* The parameters that follow from the inputs so far; zeros before the first input. */
typedef struct ckf_merged_params
{
	bool every; /* empty inputs count, too: the operation compares inputs */
	bool any;   /* there was an input */
	bool items; /* an input has items; then empty inputs do not count */
	bool set;   /* an input is a set, empty or not */
	bool plain;
	uint8_t w, b;
	uint8_t item_classes, number_forms; /* of all inputs */
	uint8_t format;                     /* the latest of them */
	uint64_t seed;
	int64_t capacity;
	double fpr;
} ckf_merged_params;

/* Combine the parameters of an input that counts with those of the inputs before it.  `first`: no
 * input before it counts. */
static void
ckf_merge_params(ckf_merged_params *merged, const ckf_filter *in, bool first)
{
	/* an empty filter is as precise as hashes */
	uint8_t w = ckf_items(in) > 0 ? in->w : 64;

	/* the seed of empty inputs does not matter, but the result must not depend on their order */
	if (first || in->seed > merged->seed)
		merged->seed = in->seed;
	if (first || in->capacity > merged->capacity)
		merged->capacity = in->capacity;
	if (first || in->fpr > merged->fpr)
		merged->fpr = in->fpr;
	if (first || in->b < merged->b)
		merged->b = in->b;
	if (first || w < merged->w)
		merged->w = w;
	merged->plain = (!first && merged->plain) || (in->flags & CKF_FLAG_PLAIN);
}

static ckf_status
ckf_take_parameters(ckf_merged_params *merged, const ckf_filter *in)
{
	bool items = ckf_items(in) > 0;

	if (items && merged->items && in->seed != merged->seed)
		return CKF_SEED_DIFFERS;
	merged->set = merged->set || (in->flags & CKF_FLAG_SET);
	if (merged->every)
		ckf_merge_params(merged, in, !merged->any);
	else if (items || !merged->items)
		ckf_merge_params(merged, in, !merged->any || items != merged->items);
	merged->any = true;
	merged->items = merged->items || items;
	merged->item_classes |= in->item_classes; /* 0 for an empty input */
	merged->number_forms |= in->number_forms;
	if (in->format > merged->format)
		merged->format = in->format;
	return CKF_OK;
}

/*
 * The classes of the items that two filters share.  A shared item has a class that both filters
 * have, or a class of one filter if the other one has caller's hashes.  If there is no such class,
 * the filters share no items: an equal prefix is there by chance.
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

/* How the numbers that two filters share are held.  If one filter holds such a number by its exact
 * value, and the other one by the nearest double, no hash of it is in both.  A caller's hashes may
 * be of either. */
static uint8_t
ckf_common_forms(const ckf_filter *a, const ckf_filter *b)
{
	uint8_t all = a->number_forms | b->number_forms;
	bool unlike = (all & (all - 1)) != 0 || ((a->item_classes | b->item_classes) & CKF_ITEM_HASH);

	return (uint8_t)((a->number_forms & b->number_forms) |
					 (a->number_forms != 0 && b->number_forms != 0 && unlike ? CKF_FORM_ANY : 0));
}

/* Whether one filter has items of class 7, and the other one comes from version 1, which hashed
 * such items differently.  Then equal items would not be found. */
static bool
ckf_hash_otherwise(const ckf_filter *a, const ckf_filter *b)
{
	return ((a->item_classes & CKF_ITEM_OLD) && (b->item_classes & CKF_ITEM_OTHER)) ||
		   ((b->item_classes & CKF_ITEM_OLD) && (a->item_classes & CKF_ITEM_OTHER));
}

ckf_status
ckf_result_parameters(ckf_filter *to, ckf_operation operation, const ckf_filter *const *in,
					  unsigned inputs)
{
	const ckf_filter *first = in[0];
	const ckf_operation_row *row = ckf_operation_of(operation);
	ckf_merged_params merged = {.every = row->compares};
	ckf_status status = CKF_OK;
	unsigned i;

	for (i = 0; i < inputs && status == CKF_OK; i++)
		status = ckf_take_parameters(&merged, in[i]);
	if (status != CKF_OK)
		return status;
	if (row->compares && inputs > 1)
	{
		if (ckf_hash_otherwise(first, in[1]))
			return CKF_OLD_ITEMS;
		merged.item_classes = ckf_common_classes(first->item_classes, in[1]->item_classes);
		merged.number_forms = ckf_common_forms(first, in[1]);
		if (first->item_classes != 0 && in[1]->item_classes != 0 &&
			!(merged.item_classes & CKF_ITEMS_WITH_NUMBERS))
			merged.number_forms = 0;
	}
	*to = *first;
	to->seed = merged.seed;
	to->capacity = merged.capacity;
	to->fpr = merged.fpr;
	to->c = ckf_low_bits(merged.fpr);
	to->low_mask = (UINT64_C(1) << to->c) - 1;
	to->b = merged.b;
	if (inputs > 1 || row->merges) /* a filter that only changes keeps its w, even if it is empty */
		to->w = merged.w;
	to->item_classes = merged.item_classes;
	to->number_forms = merged.number_forms;
	to->format = merged.format > CKF_FORMAT_VERSION ? merged.format : CKF_FORMAT_VERSION;
	to->flags = merged.plain ? CKF_FLAG_PLAIN : 0;
	if (merged.set || row->set)
		to->flags |= CKF_FLAG_SET;
	return CKF_OK;
}

/*
 * The rule of tag 0 joins prefixes, and a smaller c joins more of them.  So a filter of the same w
 * as the chunks must not have a smaller c, unless it is empty.  A filter of a larger w may, since
 * cutting its prefixes removes the bit that the rule has changed.
 */
ckf_status
ckf_chunks_accept(const ckf_filter *chunks, const ckf_filter *filter)
{
	const ckf_filter *both[2] = {chunks, filter};
	ckf_filter to;
	ckf_status status = ckf_result_parameters(&to, CKF_SUM, both, 2);

	if (status != CKF_OK)
		return status;
	if ((to.flags & CKF_FLAG_SET) != (chunks->flags & CKF_FLAG_SET))
		return CKF_IS_SET;
	if (to.w < chunks->w)
		return CKF_PRECISION;
	if (ckf_items(filter) > 0 && filter->w == chunks->w && filter->c < chunks->c)
		return CKF_PRECISION;
	return CKF_OK;
}
