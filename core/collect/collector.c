/*
 * collector.c - take hashes in any order, and return them sorted.
 *
 * Hashes are appended to a block.  A full block is sorted, its duplicates are dropped, and it
 * becomes a run.  Runs form a stack.  Each run is more than twice as long as the run above it;
 * if the last two runs are not, they are merged.  So a hash is merged a logarithmic number of
 * times, and all runs together have at most twice the distinct hashes.
 *
 * Memory is never moved.  A merge writes to new blocks, and it releases each block that it has
 * read to be written next.  So a merge needs only a few blocks more than its two runs have.
 */
#include "collect/block.h"
#include "filter/header.h"
#include "filter/methods.h"
#include "rebuild/operation.h"
#include "thresholds.h"

/* ------------------------------------------------------------------- runs */

/* Whether the last two runs must be merged. */
static bool
ckf_merge_runs_now(const ckf_collector *c)
{
	const ckf_inside *s = ckf_inside_of(c);

	return s->runs > 1 && (s->settling || s->runs == CKF_MOST_RUNS ||
						   s->run[s->runs - 2].count / 2 <= s->run[s->runs - 1].count);
}

/* The capacity of the next block.  While few hashes are kept, it is twice their number, so that
 * most duplicates are found inside a block.  When many are kept, it is half their number, so
 * that the block takes little memory in comparison. */
static uint64_t
ckf_next_capacity(const ckf_collector *c)
{
	uint64_t kept = ckf_hashes_in_runs(ckf_inside_of(c));
	uint64_t most = kept < CKF_MANY_KEPT ? 2 * kept : kept / 2;
	uint64_t capacity = CKF_FIRST_BLOCK;

	if (kept >= CKF_MANY_KEPT && most < 2 * CKF_MANY_KEPT)
		most = 2 * CKF_MANY_KEPT;
	while (capacity < CKF_MOST_BLOCK && capacity < most)
		capacity *= 2;
	return capacity -
		   sizeof(ckf_block) / sizeof(uint64_t); /* with its header, a power of two words */
}

/* ------------------------------------------------------------ sort a block */

/* Copy sorted hashes, and at most `most` copies of each; `to` may be `from`. */
static uint64_t
ckf_copy_distinct(uint64_t *to, const uint64_t *from, size_t n, unsigned most)
{
	uint64_t kept = 0;
	size_t i;

	if (most == 1)
	{
		uint64_t last = 0; /* no hash is 0 */

		for (i = 0; i < n; i++)
		{
			uint64_t hash = from[i];

			to[kept] = hash;
			kept += hash != last;
			last = hash;
		}
		return kept;
	}
	for (i = 0; i < n; i++)
	{
		to[kept] = from[i];
		kept += kept < most || to[kept - most] != from[i];
	}
	return kept;
}

/* Sort the block and make it a run.  CKF_ROOM: sorting needs a second block. */
static ckf_status
ckf_sort_block(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_block *block = s->block;
	size_t n = (size_t)(c->next - block->hash);
	ckf_block *scratch = ckf_find_block(c, n);
	uint64_t *sorted;

	if (!scratch)
		return CKF_ROOM;
	sorted = ckf_sort_hashes(block->hash, scratch->hash, n);
	block->count = ckf_copy_distinct(block->hash, sorted, n, s->most);
	ckf_release_block(c, scratch);
	ckf_push_run(s, (ckf_run){block, block->count});
	s->block = NULL;
	c->next = c->end = NULL;
	return CKF_OK;
}

/* ------------------------------------------------- take a filter in hashes */

/* Copy a piece of the filter's hashes, which are sorted, to a run of their own.  CKF_OK: all are
 * copied. */
static ckf_status
ckf_take_piece(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	uint64_t stop = s->in->count - s->taken > CKF_STEP ? s->taken + CKF_STEP : s->in->count;
	uint64_t last = s->taken > 0 ? ckf_word(s->in, s->taken - 1) : 0;

	for (; s->taken < stop; s->taken++)
	{
		uint64_t hash = ckf_word(s->in, s->taken);

		if (hash < last || hash == 0)
			return CKF_BAD_BYTES;
		if (hash == last && s->most == 1)
			continue;
		last = hash;
		if ((!s->last || s->last->count == s->last->capacity) &&
			!ckf_extend_merged(c, s->in->count - s->taken))
			return CKF_ROOM;
		s->last->hash[s->last->count++] = hash;
		s->merged.count++;
	}
	if (s->taken < s->in->count)
		return CKF_MORE;
	if (s->merged.count > 0)
		ckf_push_run(s, s->merged);
	s->merged = (ckf_run){NULL, 0};
	s->last = NULL;
	s->in = NULL;
	return CKF_OK;
}

/* Append the hashes of a small filter to the block that is being filled.  false: they do not fit,
 * so they become a run. */
static bool
ckf_take_few(ckf_collector *c, const ckf_filter *in)
{
	uint64_t i;

	if (in->count > (uint64_t)(c->end - c->next))
		return false;
	for (i = 0; i < in->count; i++)
		(void)ckf_collect(c, ckf_word(in, i), 0);
	return true;
}

ckf_status
ckf_collect_filter(ckf_collector *c, const ckf_filter *in)
{
	ckf_inside *s = ckf_inside_of(c);
	const ckf_filter *both[2] = {&c->filter, in};
	ckf_filter to;
	ckf_status status = ckf_result_parameters(&to, CKF_SUM, both, 2);

	if (status != CKF_OK)
		return status;
	c->filter = to;
	ckf_bind_collector(c);
	if (in->count > 0 && !ckf_take_few(c, in))
	{
		s->in = in;
		s->taken = 0;
	}
	return CKF_OK;
}

/* ------------------------------------------------------------------- steps */

void
ckf_collect_start(ckf_collector *c, const ckf_filter *filter, unsigned most)
{
	memset(c, 0, sizeof *c);
	c->filter = *filter;
	c->filter.item_classes = 0;
	ckf_inside_of(c)->most = most;
	ckf_bind_collector(c);
}

void
ckf_collect_settle(ckf_collector *c)
{
	ckf_inside_of(c)->settling = true;
}

/* Begin the next block. */
static ckf_status
ckf_open_block(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);

	s->block = ckf_find_block(c, ckf_next_capacity(c));
	if (!s->block)
		return CKF_ROOM;
	c->next = s->block->hash;
	c->end = c->next + (s->block->capacity < CKF_MOST_BLOCK ? s->block->capacity : CKF_MOST_BLOCK);
	return CKF_OK;
}

ckf_status
ckf_collect_step(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_status status = CKF_OK;

	if (s->in)
		status = ckf_take_piece(c);
	else if (s->merged.first || ckf_merge_runs_now(c))
		status = ckf_merge_runs(c);
	else if (s->block && c->next > s->block->hash && (s->settling || c->next == c->end))
		status = ckf_sort_block(c);
	else if (!s->settling)
		return s->block ? CKF_OK : ckf_open_block(c);
	else
	{
		if (s->block)
			ckf_release_block(c, s->block);
		s->block = NULL;
		c->next = c->end = NULL;
		s->settling = false;
		ckf_bind_collector(c);
		return CKF_OK;
	}
	return status == CKF_OK ? CKF_MORE : status;
}

/* -------------------------------------------------------------------- end */

static void
ckf_spend_blocks(ckf_inside *s, ckf_block *block)
{
	while (block)
	{
		ckf_block *next = block->next;

		block->next = s->spent;
		s->spent = block;
		block = next;
	}
}

void
ckf_collect_end(ckf_collector *c)
{
	ckf_inside *s = ckf_inside_of(c);
	ckf_block *spent;
	unsigned i;

	for (i = 0; i < s->runs; i++)
		ckf_spend_blocks(s, s->run[i].first);
	ckf_spend_blocks(s, s->merged.first);
	for (i = 0; i < 2; i++)
		ckf_spend_blocks(s, s->spare[i]);
	ckf_spend_blocks(s, s->block);
	spent = s->spent;
	*s = (ckf_inside){.spent = spent};
	c->next = c->end = NULL;
}
