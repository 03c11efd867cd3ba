/*
 * merge.c - pour filters into an aggregate's state, and what a merger of
 * filters promises (FORMAT.md, section 8).
 */
#include "rebuild/merge.h"

#include "bucket/slots.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "small/collect.h"

/* Places between two looks of the host for interrupts. */
#define CKF_MERGE_STEP 65536

static bool
ckf_is_state(const ckf_filter *t)
{
	return (t->flags & CKF_FLAG_STATE) != 0;
}

/* Precision of a filter's items: hashes have lost none, nor has an empty table. */
static uint8_t
ckf_items_w(const ckf_filter *t)
{
	return t->count == 0 ? 64 : ckf_is_state(t) ? t->merged_w : t->w;
}

static uint8_t
ckf_items_b(const ckf_filter *t)
{
	return ckf_is_state(t) ? t->merged_b : t->b;
}

ckf_status
ckf_merge_target(ckf_filter *to, const ckf_filter *in)
{
	bool alike = (to->count == 0) == (in->count == 0);

	if (alike && to->count > 0 && to->seed != in->seed)
		return CKF_SEED_DIFFERS;
	if (in->capacity == 0 || (in->count == 0 && to->count > 0))
		return CKF_OK; /* nothing was asked, or the input is neutral */
	if (to->capacity == 0 || !alike)
	{
		to->flags &= (uint8_t)~CKF_FLAG_PLAIN;
		to->seed = in->seed;
		to->capacity = in->capacity;
		to->fpr = in->fpr;
		to->merged_b = ckf_items_b(in);
		to->merged_w = ckf_items_w(in);
	}
	else
	{
		/* What both promised.  Of two empty inputs either seed will do, but
		 * the same in any order. */
		if (in->seed > to->seed)
			to->seed = in->seed;
		if (in->capacity > to->capacity)
			to->capacity = in->capacity;
		if (in->fpr > to->fpr)
			to->fpr = in->fpr;
		if (ckf_items_b(in) < to->merged_b)
			to->merged_b = ckf_items_b(in);
		if (ckf_items_w(in) < to->merged_w)
			to->merged_w = ckf_items_w(in);
	}
	to->flags |= (uint8_t)(in->flags & CKF_FLAG_PLAIN);
	to->c = ckf_low_bits(to->fpr);
	if (!ckf_is_table(to))
		to->b = to->merged_b;
	return CKF_OK;
}

static ckf_status
ckf_pour_words(ckf_filter *state, const ckf_filter *in, uint64_t *cursor, uint64_t stop)
{
	for (; *cursor < stop; (*cursor)++)
	{
		uint64_t word = ckf_word(in, *cursor);
		ckf_status status = word == 0 ? CKF_OK : ckf_add(state, word);

		if (status != CKF_OK)
			return status;
	}
	return CKF_OK;
}

static ckf_status
ckf_pour_slots(ckf_filter *state, const ckf_filter *in, uint64_t *cursor, uint64_t stop)
{
	ckf_inverse inv;

	ckf_inverse_of(&inv, in);
	while (*cursor < stop)
	{
		uint64_t bucket = *cursor / in->b;
		uint64_t segment = bucket / (2 * (uint64_t)in->m);
		uint64_t q = bucket - segment * 2 * in->m;
		unsigned half = q >= in->m;
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned slot;

		ckf_slots_read(in, bucket * in->bucket_bits, tags);
		for (slot = (unsigned)(*cursor % in->b); slot < in->b; slot++, (*cursor)++)
		{
			uint64_t rho;
			ckf_status status;

			if (tags[slot] == 0)
				continue;
			rho = ckf_rho(in, &inv, half, q - half * in->m, tags[slot]);
			status = ckf_add(state, ckf_aligned_prefix(in, segment, rho));
			if (status != CKF_OK)
				return status;
		}
	}
	return CKF_OK;
}

/*
 * Items come in order.  In a set that has no room for all of them yet they
 * would crowd at its low end, so it has to have that from the start.
 */
ckf_status
ckf_collect_combine(ckf_filter *state, const ckf_filter *in, uint64_t *cursor)
{
	uint64_t items = in->count + ckf_collect_logged(in);
	uint64_t first = 0;
	uint64_t end = ckf_body_words(in);
	uint64_t stop;
	ckf_status status;

	if (*cursor == 0 && state->encoding == CKF_COLLECTING && !ckf_collect_has_room(state, items))
		return CKF_ROOM;
	if (ckf_is_table(in))
		end = ((uint64_t)2 * in->m * in->b) << in->g;
	else if (in->encoding == CKF_COLLECTING)
		ckf_collect_range(in, &first, &end);
	if (*cursor < first)
		*cursor = first;
	stop = end - *cursor > CKF_MERGE_STEP ? *cursor + CKF_MERGE_STEP : end;
	status = ckf_is_table(in) ? ckf_pour_slots(state, in, cursor, stop)
							  : ckf_pour_words(state, in, cursor, stop);
	return status == CKF_OK && *cursor < end ? CKF_MORE : status;
}

ckf_status
ckf_collect_merge(ckf_filter *state, const ckf_filter *in, bool copies, uint64_t *cursor)
{
	if (*cursor == 0)
	{
		ckf_status status = ckf_merge_target(state, in);

		if (status != CKF_OK)
			return status;
		if (copies)
			state->flags |= CKF_FLAG_COPIES;
		if (!copies || (in->flags & CKF_FLAG_SET))
			state->flags |= CKF_FLAG_SET;
		ckf_write_header(state);
	}
	return ckf_collect_combine(state, in, cursor);
}
