/*
 * target.c - what a job builds: hashes, a table of which geometry, or a larger
 * state (FORMAT.md, section 5).
 */
#include "rebuild/work.h"

#include "filter/choose.h"
#include "filter/derive.h"
#include "filter/header.h"
#include "small/collect.h"
#include "small/sorted_hashes.h"

/* A state larger than this turns into a wide-tag table. */
#define CKF_LARGE_STATE ((size_t)512 << 20)

void
ckf_target_from(ckf_filter *to, const ckf_filter *in)
{
	*to = *in;
	if (to->capacity == 0)
		to->capacity = 1;
	if (to->flags & CKF_FLAG_STATE)
	{
		to->w = to->merged_w;
		to->b = to->merged_b;
	}
	to->flags &= CKF_FLAGS_AT_REST;
}

void
ckf_target_hashes(ckf_filter *to)
{
	to->encoding = CKF_HASHES;
	to->f = to->g = 0;
	to->m = 0;
	to->w = 64;
	ckf_derive(to);
}

/* A table for items whose hashes are whole: w follows from the target rate. */
static bool
ckf_target_first_table(ckf_filter *to, uint64_t items, uint64_t promised)
{
	double capacity =
		(double)((uint64_t)to->capacity > promised ? (uint64_t)to->capacity : promised);
	unsigned w = ckf_prefix_bits(capacity, to->fpr, to->c);

	to->w = (uint8_t)(w < CKF_MAX_PREFIX ? w : CKF_MAX_PREFIX);
	return ckf_choose(to, items, CKF_MAX_PREFIX);
}

/* Hashes, or a first table. */
static bool
ckf_target_exact(ckf_work *work)
{
	ckf_filter *to = &work->to;
	uint64_t items = work->items;
	bool table;

	if (work->goal == CKF_GROW || work->goal == CKF_UNION || work->goal == CKF_SUM)
	{
		uint64_t more = work->goal == CKF_GROW ? items / 2 + 8 : 0;

		if (items >= CKF_MAX_HASHES + (work->goal != CKF_GROW))
			return ckf_target_first_table(to, items + more, 16 * items);
		ckf_target_hashes(to);
		return true;
	}
	table = ckf_target_first_table(to, items, work->goal == CKF_FINISH ? items : 16 * items);
	if (items > CKF_MAX_HASHES ||
		(table && ckf_build_size(to, 0) + CKF_HASHES_BONUS < CKF_HEADER_SIZE + 8 * items))
		return table;
	ckf_target_hashes(to);
	return true;
}

static uint64_t
ckf_buckets(const ckf_filter *t)
{
	return (uint64_t)t->m << t->g;
}

/* A larger table of the same w. */
static bool
ckf_target_larger(ckf_work *work)
{
	const ckf_filter *from = work->in[0];
	ckf_filter *to = &work->to;
	uint64_t more = work->items / 2 + 8;

	if (work->items >= from->max_count)
		return false;
	while (!ckf_choose(to, work->items + more, to->w))
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
	return ckf_enlarge(to, 8, work->items);
}

/* A larger aggregate state. */
static bool
ckf_target_state(ckf_work *work)
{
	ckf_filter *to = &work->to;

	if (ckf_is_table(to))
		return ckf_target_larger(work);
	to->size = ckf_collect_grown(work->in[0]->size);
	return to->size <= CKF_LARGE_STATE || ckf_choose(to, work->items + work->items / 2, 64);
}

bool
ckf_choose_target(ckf_work *work)
{
	ckf_filter *to = &work->to;

	if (to->flags & CKF_FLAG_STATE)
		return ckf_target_state(work);
	if (to->w == 64)
		return ckf_target_exact(work);
	if (work->goal == CKF_GROW)
		return ckf_target_larger(work);
	return ckf_choose(to, work->items, to->w) && work->items <= to->max_count;
}

bool
ckf_is_worth_it(const ckf_work *work)
{
	uint64_t size = ckf_build_size(&work->to, work->items);
	bool grows = work->goal == CKF_GROW || work->goal == CKF_UNION || work->goal == CKF_SUM;

	if (!ckf_is_table(&work->to) || grows)
		return true;
	if (work->whole)
		return size < CKF_HEADER_SIZE + 8 * work->items;
	return work->goal != CKF_COMPACT || size < work->in[0]->size;
}
