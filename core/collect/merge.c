/*
 * merge.c - merge the last two runs of a collector.
 */
#include "collect/block.h"

#include "filter/words.h"
#include "scan/scan.h"
#include "thresholds.h"

#include <string.h>

bool
ckf_extend_merged(ckf_collector *c, uint64_t left)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_block *block = ckf_find_block(c, left < CKF_MOST_BLOCK ? left : CKF_MOST_BLOCK);

	if (!block)
		return false;
	if (s->last)
		s->last->next = block;
	else
		s->merged.first = block;
	s->last = block;
	return true;
}

/* Sorted hashes that are merged: a piece of either run, and where the result is written. */
typedef struct ckf_pieces
{
	const uint64_t *x, *x_end, *y, *y_end;
	uint64_t *out;
} ckf_pieces;

/* Write the smaller hash, or one of two equal hashes.  A processor cannot predict which hash is
 * smaller, so the mask selects it: compilers make a branch of a conditional expression here. */
CKF_INLINE void
ckf_merge_one(ckf_pieces *p)
{
	uint64_t left = *p->x, right = *p->y;
	size_t x = left <= right, y = right <= left;

	*p->out++ = right ^ ((left ^ right) & (0 - (uint64_t)x));
	p->x += x;
	p->y += y;
}

/* The number of hashes that can be written before a piece may be empty. */
CKF_INLINE size_t
ckf_sure_steps(const ckf_pieces *p)
{
	size_t x = (size_t)(p->x_end - p->x), y = (size_t)(p->y_end - p->y);

	return x < y ? x : y;
}

/* Merge until a piece is empty, and append the other one. */
CKF_INLINE void
ckf_merge_to_end(ckf_pieces *p)
{
	size_t left;

	while (p->x < p->x_end && p->y < p->y_end)
		ckf_merge_one(p);
	left = (size_t)(p->x_end - p->x);
	memcpy(p->out, p->x, left * sizeof(uint64_t));
	memcpy(p->out + left, p->y, (size_t)(p->y_end - p->y) * sizeof(uint64_t));
	p->out += left + (size_t)(p->y_end - p->y);
}

/* Merge two pairs of pieces at the same time.  A merge waits for each comparison before it can load
 * the next hash; meanwhile a processor works on the other merge. */
static void
ckf_merge_both(ckf_pieces *first, ckf_pieces *second)
{
	ckf_pieces p = *first, q = *second;
	size_t steps;

	do
	{
		size_t of_q = ckf_sure_steps(&q);
		size_t i;

		steps = ckf_sure_steps(&p);
		steps = steps < of_q ? steps : of_q;
		for (i = 0; i < steps; i++)
		{
			ckf_merge_one(&p);
			ckf_merge_one(&q);
		}
	} while (steps > 0);
	ckf_merge_to_end(&p);
	ckf_merge_to_end(&q);
	*first = p;
	*second = q;
}

/* Find the first n of all hashes of two pieces: *i hashes of x, and *k of y.  If the last one has
 * an equal in the other piece, this one belongs to them, too. */
static void
ckf_split(const uint64_t *x, const uint64_t *y, size_t n, size_t *i, size_t *k)
{
	size_t low = n > *k ? n - *k : 0;
	size_t high = n < *i ? n : *i;
	size_t most = *i;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (x[middle] < y[n - middle - 1])
			low = middle + 1;
		else
			high = middle;
	}
	*k = n - low;
	*i = low + (low<most && * k> 0 && x[low] == y[*k - 1]);
}

/* Merge two blocks into a third, until one block is read or the third is full.  Equal hashes are
 * written once. */
static void
ckf_merge_distinct(const ckf_block *a, size_t *a_from, const ckf_block *b, size_t *b_from,
				   ckf_block *to)
{
	const uint64_t *x = a->hash + *a_from, *y = b->hash + *b_from;
	uint64_t *out = to->hash + to->count, *middle;
	size_t n = (size_t)(a->count - *a_from), m = (size_t)(b->count - *b_from);
	size_t room = (size_t)(to->capacity - to->count);
	size_t i, k, written;
	ckf_pieces first, second;

	/* only hashes up to the last one of either block: later blocks may have smaller ones */
	if (x[n - 1] < y[m - 1])
		m = ckf_count_through(y, m, x[n - 1]);
	else
		n = ckf_count_through(x, n, y[m - 1]);
	if (n + m > room)
		ckf_split(x, y, room, &n, &m);
	i = n;
	k = m;
	ckf_split(x, y, (n + m) / 2, &i, &k);
	middle = out + i + k;
	first = (ckf_pieces){x, x + i, y, y + k, out};
	second = (ckf_pieces){x + i, x + n, y + k, y + m, middle};
	ckf_merge_both(&first, &second);
	written = (size_t)(second.out - middle);
	if (first.out != middle)
		memmove(first.out, middle, written * sizeof(uint64_t));
	*a_from += n;
	*b_from += m;
	to->count += (uint64_t)(first.out - out) + written;
}

/* Merge two blocks in the same way, but keep up to `most` copies of equal hashes: of those in `to`,
 * so more where a block of the output ends among them.  The reader of the run drops these. */
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
	ckf_inside *s = ckf_inside_of(c);
	ckf_run *run = &s->run[s->runs - 2 + which];
	ckf_block *block = run->first;

	run->first = block->next;
	s->from[which] = 0;
	ckf_release_block(c, block);
}

/* Complete a merge after one run has been read: copy the rest of the other run's first block,
 * and append its other blocks without copying them. */
static ckf_status
ckf_append_rest(ckf_collector *c, unsigned which)
{
	ckf_inside *s = ckf_inside_of(c);
	const ckf_run *run = &s->run[s->runs - 2 + which];
	const ckf_block *block;

	while (s->from[which] > 0)
	{
		uint64_t left = run->first->count - s->from[which];
		uint64_t n;

		if (s->last->count == s->last->capacity && !ckf_extend_merged(c, left))
			return CKF_ROOM;
		n = s->last->capacity - s->last->count;
		n = n < left ? n : left;
		memcpy(s->last->hash + s->last->count, run->first->hash + s->from[which],
			   (size_t)n * sizeof(uint64_t));
		s->last->count += n;
		s->merged.count += n;
		s->from[which] += (size_t)n;
		if (n == left)
			ckf_pass_block_of(c, which);
	}
	s->last->next = run->first;
	for (block = run->first; block; block = block->next)
		s->merged.count += block->count;
	s->runs -= 2;
	ckf_push_run(s, s->merged);
	s->merged = (ckf_run){NULL, 0};
	s->last = NULL;
	return CKF_OK;
}

ckf_status
ckf_merge_runs(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_run *a = &s->run[s->runs - 2], *b = &s->run[s->runs - 1];
	uint64_t stop = s->merged.count + CKF_STEP;

	while (s->merged.count < stop && a->first && b->first)
	{
		uint64_t before;

		if ((!s->last || s->last->count == s->last->capacity) &&
			!ckf_extend_merged(c, a->count + b->count - s->merged.count))
			return CKF_ROOM;
		before = s->last->count;
		if (s->most == 1)
			ckf_merge_distinct(a->first, &s->from[0], b->first, &s->from[1], s->last);
		else
			ckf_merge_copies(a->first, &s->from[0], b->first, &s->from[1], s->last, s->most);
		s->merged.count += s->last->count - before;
		if (s->from[0] == a->first->count)
			ckf_pass_block_of(c, 0);
		if (s->from[1] == b->first->count)
			ckf_pass_block_of(c, 1);
	}
	if (a->first && b->first)
		return CKF_MORE;
	return ckf_append_rest(c, a->first ? 0 : 1);
}
