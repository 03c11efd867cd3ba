/*
 * intersection.c - a scan of the items that two other scans have in common.  It serves the
 * intersection of two filters and their comparison.
 *
 * All items are cut to the lower precision of the two inputs.  Cut items keep their order,
 * so one pass over both scans finds every common item.
 */
#include "scan/scan.h"

#include "thresholds.h"

/* Intersect until a child's block is read or this block is full.  A processor cannot predict
 * which of two items is smaller, so there is no branch on it. */
static void
ckf_intersect_blocks(ckf_scan *s, ckf_scan *left, ckf_scan *right)
{
	ckf_intersection m = *s->intersection;
	const uint64_t *a = left->keys + left->at, *a_end = left->keys + left->have;
	const uint64_t *b = right->keys + right->at, *b_end = right->keys + right->have;
	size_t n = 0;

	*s->work += left->have - left->at + right->have - right->at;
	while (n < CKF_BLOCK && a < a_end && b < b_end)
	{
		uint64_t x = ckf_cut_item(*a, m.w, m.low_mask), y = ckf_cut_item(*b, m.w, m.low_mask);
		bool take_x = x <= y, take_y = y <= x;

		s->memory[n] = x;
		n += take_x && take_y;
		m.distinct[0] += take_x && x != m.last[0];
		m.distinct[1] += take_y && y != m.last[1];
		m.last[0] = take_x ? x : m.last[0];
		m.last[1] = take_y ? y : m.last[1];
		a += take_x;
		b += take_y;
	}
	left->at = (size_t)(a - left->keys);
	right->at = (size_t)(b - right->keys);
	*s->work -= left->have - left->at + right->have - right->at;
	*s->intersection = m;
	s->have = n;
}

/* Count the items of this child's block, after the other scan has ended. */
static void
ckf_count_rest(ckf_scan *s, unsigned side)
{
	ckf_intersection *m = s->intersection;
	ckf_scan *child = s->child[side];

	*s->work += child->have - child->at;
	for (; child->at < child->have; child->at++)
	{
		uint64_t item = ckf_cut_item(child->keys[child->at], m->w, m->low_mask);

		m->distinct[side] += item != m->last[side];
		m->last[side] = item;
	}
}

static bool
ckf_load_intersection(ckf_scan *s)
{
	bool ready[2];

	s->keys = s->memory;
	s->have = s->at = 0;
	if (!ckf_scan_pair(s, ready))
		return true;
	if (ready[0] && ready[1])
		ckf_intersect_blocks(s, s->child[0], s->child[1]);
	else if (ready[0] || ready[1])
		ckf_count_rest(s, ready[0] ? 0 : 1);
	return ready[0] || ready[1];
}

void
ckf_scan_intersection(ckf_scan *s, ckf_scan *a, ckf_scan *b, ckf_intersection *intersection)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_intersection;
	s->child[0] = a;
	s->child[1] = b;
	s->intersection = intersection;
	s->words = CKF_BLOCK;
}
