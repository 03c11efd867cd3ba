/*
 * scan.c - the merge of two scans, and code that all scans share.
 */
#include "scan/scan.h"

#include "thresholds.h"

/* ----------------------------------------------------------------- merged */

/* Pass on the rest of a child's block without copying it. */
static void
ckf_pass_on(ckf_scan *s, ckf_scan *child)
{
	s->keys = child->keys + child->at;
	s->have = child->have - child->at;
	child->at = child->have;
}

/* Merge until a child's block is read or this block is full.  A processor cannot predict
 * which of two items is smaller, so there is no branch on it. */
static void
ckf_merge_block(ckf_scan *s, ckf_scan *left, ckf_scan *right)
{
	const uint64_t *a = left->keys + left->at, *a_end = left->keys + left->have;
	const uint64_t *b = right->keys + right->at, *b_end = right->keys + right->have;
	size_t n = 0;

	while (n < CKF_BLOCK && a < a_end && b < b_end)
	{
		uint64_t x = *a, y = *b;
		bool second = y < x;

		s->memory[n++] = second ? y : x;
		a += !second;
		b += second;
	}
	left->at = (size_t)(a - left->keys);
	right->at = (size_t)(b - right->keys);
	s->keys = s->memory;
	s->have = n;
	*s->work += n;
}

bool
ckf_scan_pair(ckf_scan *s, bool ready[2])
{
	ckf_scan *a = s->child[0], *b = s->child[1];

	ready[0] = ckf_scan_ready(a);
	if (*s->work >= CKF_STEP && b->at == b->have && !b->ended)
		return false; /* the first child has used up this step */
	ready[1] = ckf_scan_ready(b);
	return (ready[0] || a->ended) && (ready[1] || b->ended);
}

static bool
ckf_load_merged(ckf_scan *s)
{
	bool ready[2];

	s->have = s->at = 0;
	if (!ckf_scan_pair(s, ready))
		return true;
	if (ready[0] && ready[1])
		ckf_merge_block(s, s->child[0], s->child[1]);
	else if (ready[0] || ready[1])
		ckf_pass_on(s, s->child[ready[0] ? 0 : 1]);
	return ready[0] || ready[1];
}

void
ckf_scan_merged(ckf_scan *s, ckf_scan *a, ckf_scan *b)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_merged;
	s->child[0] = a;
	s->child[1] = b;
	s->items = a->items + b->items;
	s->words = CKF_BLOCK;
}

size_t
ckf_count_through(const uint64_t *items, size_t n, uint64_t last)
{
	size_t low = 0;

	while (n > 0)
	{
		size_t half = n / 2;
		bool below = items[low + half] <= last;

		low = below ? low + half + 1 : low;
		n = below ? n - half - 1 : half;
	}
	return low;
}

/* ------------------------------------------------------------------- all */

void
ckf_scan_rewind(ckf_scan *s, unsigned low)
{
	if (s->child[0])
	{
		ckf_scan_rewind(s->child[0], low);
		ckf_scan_rewind(s->child[1], low);
	}
	if (s->intersection)
	{
		memset(s->intersection->distinct, 0, sizeof s->intersection->distinct);
		memset(s->intersection->last, 0, sizeof s->intersection->last);
	}
	s->low = low;
	s->keys = s->memory;
	s->have = s->at = 0;
	s->next = 0;
	s->ended = false;
}
