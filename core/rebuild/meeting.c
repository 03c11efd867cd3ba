/*
 * meeting.c - a scan of what two other scans have in common: the intersection of two
 * filters, and how they are compared.
 *
 * Items of unlike precision are cut to that of both.  To cut keeps their order, so that
 * one walk through both meets each item that they share.
 */
#include "rebuild/scan.h"

#include "thresholds.h"

CKF_INLINE uint64_t
ckf_cut_to_meet(const ckf_meeting *m, uint64_t key)
{
	return m->w < 64 ? ckf_cut(key, m->w, m->low_mask) : key;
}

/* Walk until one scan has no more at hand, or the block is full.  Which of two items is
 * smaller no processor foresees, so there is no branch on it. */
static void
ckf_meet_block(ckf_scan *s, ckf_scan *left, ckf_scan *right)
{
	ckf_meeting m = *s->meeting;
	const uint64_t *a = left->keys + left->at, *a_end = left->keys + left->have;
	const uint64_t *b = right->keys + right->at, *b_end = right->keys + right->have;
	size_t n = 0;

	*s->worked += left->have - left->at + right->have - right->at;
	while (n < CKF_BLOCK && a < a_end && b < b_end)
	{
		uint64_t x = ckf_cut_to_meet(&m, *a), y = ckf_cut_to_meet(&m, *b);
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
	*s->worked -= left->have - left->at + right->have - right->at;
	*s->meeting = m;
	s->have = n;
}

/* The other scan has ended: count what this one has at hand. */
static void
ckf_meet_none(ckf_scan *s, unsigned side)
{
	ckf_meeting *m = s->meeting;
	ckf_scan *child = s->child[side];

	*s->worked += child->have - child->at;
	for (; child->at < child->have; child->at++)
	{
		uint64_t item = ckf_cut_to_meet(m, child->keys[child->at]);

		m->distinct[side] += item != m->last[side];
		m->last[side] = item;
	}
}

static bool
ckf_load_common(ckf_scan *s)
{
	bool ready[2];

	s->keys = s->memory;
	s->have = s->at = 0;
	if (!ckf_scan_pair(s, ready))
		return true;
	if (ready[0] && ready[1])
		ckf_meet_block(s, s->child[0], s->child[1]);
	else if (ready[0] || ready[1])
		ckf_meet_none(s, ready[0] ? 0 : 1);
	return ready[0] || ready[1];
}

void
ckf_scan_common(ckf_scan *s, ckf_scan *a, ckf_scan *b, ckf_meeting *meeting)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_common;
	s->child[0] = a;
	s->child[1] = b;
	s->meeting = meeting;
	s->words = CKF_BLOCK;
}
