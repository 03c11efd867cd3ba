/*
 * walk.c - merge two streams.
 */
#include "rebuild/walk.h"

uint64_t
ckf_walk_scratch(const ckf_filter *const *in, unsigned inputs)
{
	uint64_t words = inputs == 2 ? CKF_BLOCK : 0;
	unsigned i;

	for (i = 0; i < inputs; i++)
		words += ckf_stream_scratch(in[i]);
	return words;
}

uint64_t *
ckf_walk_start(ckf_walk *walk, const ckf_filter *const *in, unsigned inputs, unsigned low,
			   uint64_t *scratch)
{
	unsigned i;

	walk->inputs = inputs;
	for (i = 0; i < inputs; i++)
	{
		ckf_stream_start(&walk->stream[i], in[i], low, scratch);
		scratch += ckf_stream_scratch(in[i]);
	}
	walk->merged = scratch;
	return inputs == 2 ? scratch + CKF_BLOCK : scratch;
}

/* All that one stream has at hand. */
static size_t
ckf_take_rest(ckf_stream *s, const uint64_t **keys)
{
	size_t n = s->have - s->at;

	*keys = s->keys + s->at;
	s->at = s->have;
	return n;
}

/* Merge until one stream has no more at hand, or the block is full.  Which of
 * two is smaller is anyone's guess, so there is no branch on it. */
static size_t
ckf_merge_block(ckf_stream *s, ckf_stream *other, uint64_t *merged)
{
	const uint64_t *a = s->keys + s->at, *a_end = s->keys + s->have;
	const uint64_t *b = other->keys + other->at, *b_end = other->keys + other->have;
	size_t n = 0;

	while (n < CKF_BLOCK && a < a_end && b < b_end)
	{
		uint64_t x = *a, y = *b;
		bool second = y < x;

		merged[n++] = second ? y : x;
		a += !second;
		b += second;
	}
	s->at = (size_t)(a - s->keys);
	other->at = (size_t)(b - other->keys);
	return n;
}

size_t
ckf_walk_next(ckf_walk *walk, const uint64_t **keys)
{
	ckf_stream *s = &walk->stream[0];
	ckf_stream *other = &walk->stream[1];
	bool ready = ckf_stream_ready(s);

	if (walk->inputs == 2 && ckf_stream_ready(other))
	{
		if (!ready)
			return ckf_take_rest(other, keys);
		*keys = walk->merged;
		return ckf_merge_block(s, other, walk->merged);
	}
	return ready ? ckf_take_rest(s, keys) : 0;
}
