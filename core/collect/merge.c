/*
 * merge.c - merge the last two runs of a collector.
 */
#include "collect/block.h"

#include "thresholds.h"

#include <string.h>

bool
ckf_extend_merged(ckf_collector *c, uint64_t left)
{
	ckf_block *block = ckf_find_block(c, left < CKF_MOST_BLOCK ? left : CKF_MOST_BLOCK);

	if (!block)
		return false;
	if (c->last)
		c->last->next = block;
	else
		c->merged.first = block;
	c->last = block;
	return true;
}

/* Merge two blocks into a third, until one block is read or the third is full.  Equal hashes are
 * written once.  A processor cannot predict which hash is smaller, so there is no branch on it. */
static void
ckf_merge_distinct(const ckf_block *a, size_t *a_from, const ckf_block *b, size_t *b_from,
				   ckf_block *to)
{
	const uint64_t *x = a->hash + *a_from, *x_end = a->hash + a->count;
	const uint64_t *y = b->hash + *b_from, *y_end = b->hash + b->count;
	uint64_t *out = to->hash + to->count, *end = to->hash + to->capacity;

	while (x < x_end && y < y_end && out < end)
	{
		uint64_t left = *x, right = *y;

		*out++ = left < right ? left : right;
		x += left <= right;
		y += right <= left;
	}
	*a_from = (size_t)(x - a->hash);
	*b_from = (size_t)(y - b->hash);
	to->count = (uint64_t)(out - to->hash);
}

/* Merge two blocks in the same way, but keep up to `most` copies of equal hashes. */
static void
ckf_merge_copies(const ckf_block *a, size_t *a_from, const ckf_block *b, size_t *b_from,
				 ckf_block *to, unsigned most)
{
	size_t i = *a_from, k = *b_from;
	uint64_t n = to->count;

	while (i < a->count && k < b->count && n < to->capacity)
	{
		uint64_t left = a->hash[i], right = b->hash[k];
		bool second = right < left;
		uint64_t hash = second ? right : left;

		to->hash[n] = hash;
		n += n < most || to->hash[n - most] != hash;
		i += !second;
		k += second;
	}
	*a_from = i;
	*b_from = k;
	to->count = n;
}

/* Release the first block of a run, which has been read. */
static void
ckf_pass_block_of(ckf_collector *c, unsigned which)
{
	ckf_run *run = &c->run[c->runs - 2 + which];
	ckf_block *block = run->first;

	run->first = block->next;
	c->from[which] = 0;
	ckf_release_block(c, block);
}

/* Complete a merge after one run has been read: copy the rest of the other run's first block,
 * and append its other blocks without copying them. */
static ckf_status
ckf_append_rest(ckf_collector *c, unsigned which)
{
	ckf_block *rest = c->run[c->runs - 2 + which].first;

	while (rest && c->from[which] > 0)
	{
		uint64_t left = rest->count - c->from[which];
		uint64_t n;

		if (left > 0 && (!c->last || c->last->count == c->last->capacity) &&
			!ckf_extend_merged(c, left))
			return CKF_ROOM;
		n = left == 0 || left < c->last->capacity - c->last->count
				? left
				: c->last->capacity - c->last->count;
		if (n > 0)
		{
			memcpy(c->last->hash + c->last->count, rest->hash + c->from[which],
				   (size_t)n * sizeof(uint64_t));
			c->last->count += n;
			c->merged.count += n;
			c->from[which] += (size_t)n;
		}
		if (n == left)
		{
			ckf_pass_block_of(c, which);
			rest = c->run[c->runs - 2 + which].first;
		}
	}
	if (c->last)
		c->last->next = rest;
	else
		c->merged.first = rest;
	for (; rest; rest = rest->next)
		c->merged.count += rest->count;
	c->runs -= 2;
	ckf_push_run(c, c->merged);
	c->merged = (ckf_run){NULL, 0};
	c->last = NULL;
	return CKF_OK;
}

ckf_status
ckf_merge_runs(ckf_collector *c)
{
	ckf_run *a = &c->run[c->runs - 2], *b = &c->run[c->runs - 1];
	uint64_t work = 0;

	while (work < CKF_STEP && a->first && b->first)
	{
		uint64_t before;

		if ((!c->last || c->last->count == c->last->capacity) &&
			!ckf_extend_merged(c, a->count + b->count - c->merged.count))
			return CKF_ROOM;
		before = c->last->count;
		if (c->most == 1)
			ckf_merge_distinct(a->first, &c->from[0], b->first, &c->from[1], c->last);
		else
			ckf_merge_copies(a->first, &c->from[0], b->first, &c->from[1], c->last, c->most);
		c->merged.count += c->last->count - before;
		work += c->last->count - before + 1;
		if (c->from[0] == a->first->count)
			ckf_pass_block_of(c, 0);
		if (c->from[1] == b->first->count)
			ckf_pass_block_of(c, 1);
	}
	if (a->first && b->first)
		return CKF_MORE;
	return ckf_append_rest(c, a->first ? 0 : 1);
}
