/*
 * stream.c - walk a filter's items in order.  Hashes and sets are in order as
 * they lie; a table is sorted a segment at a time.
 */
#include "lanes.h"
#include "stream.h"

static uint64_t
ckf_segment_slots(const ckf_filter *t)
{
	return (uint64_t)2 * t->m * t->b;
}

uint64_t
ckf_stream_scratch(const ckf_filter *in)
{
	uint64_t words;

	if (ckf_is_table(in))
		return 2 * ckf_segment_slots(in);
	words = ckf_body_words(in);
	return words < CKF_BLOCK ? words : CKF_BLOCK + CKF_QUEUE;
}

uint64_t
ckf_stream_items(const ckf_filter *in)
{
	uint64_t queue[CKF_QUEUE];

	return in->encoding == CKF_COLLECTING ? in->count + ckf_collect_queued(in, queue) : in->count;
}

void
ckf_stream_start(ckf_stream *s, const ckf_filter *in, unsigned low, uint64_t *scratch)
{
	s->in = in;
	s->low = low > 64U - in->w ? low : 64U - in->w;
	s->next = 0;
	s->have = s->at = 0;
	s->keys = scratch;
	s->queued = s->dequeued = 0;
	if (in->encoding == CKF_COLLECTING)
		s->queued = ckf_collect_queued(in, s->queue);
	if (ckf_is_table(in))
	{
		s->spare = scratch + ckf_segment_slots(in);
		ckf_inverse_of(&s->inverse, in);
	}
}

/* The queue's hashes up to `last`. */
static void
ckf_dequeue(ckf_stream *s, uint64_t last)
{
	while (s->dequeued < s->queued && s->queue[s->dequeued] <= last)
		s->keys[s->have++] = s->queue[s->dequeued++];
}

static void
ckf_load_words(ckf_stream *s)
{
	uint64_t words =
		s->in->encoding == CKF_COLLECTING ? ckf_collect_words(s->in) : ckf_body_words(s->in);

	while (s->next < words && s->have < CKF_BLOCK)
	{
		uint64_t word = ckf_word(s->in, s->next++);

		if (CKF_UNLIKELY(s->dequeued < s->queued) && word != 0)
			ckf_dequeue(s, word);
		s->keys[s->have] = word;
		s->have += word != 0;
	}
	if (s->next == words)
		ckf_dequeue(s, UINT64_MAX);
}

/* Append the prefixes of one bucket's tags.  `first` is the first x of the
 * bucket, `base` the segment's bits of a prefix. */
CKF_INLINE void
ckf_take_tags(ckf_stream *s, const uint64_t *tags, unsigned b, unsigned half, uint64_t first,
			  uint64_t base)
{
	const ckf_filter *t = s->in;
	unsigned i;

	for (i = 0; i < b; i++)
	{
		uint64_t like = half ? tags[i] * t->golden : tags[i];
		uint64_t x = first + ((like - first) & t->tag_mask);
		uint64_t rho = (half ? x * s->inverse.golden_inverse : x) & s->inverse.rest_mask;

		s->keys[s->have] = (base | rho) << (64 - t->w);
		s->have += tags[i] != 0;
	}
}

/* The buckets of a half.  b, and whether a bucket is a word, are constants. */
CKF_INLINE void
ckf_take_half(ckf_stream *s, uint64_t segment, unsigned half, unsigned b, bool word)
{
	const ckf_filter *t = s->in;
	uint64_t at = (2 * segment + half) * t->half_bits;
	uint64_t base = segment << 1 << (t->rest - 1);
	uint32_t q;

	for (q = 0; q < t->m; q++, at += t->bucket_bits)
	{
		uint64_t first = ckf_first_of(&s->inverse, t->m, q);
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned i;

		if (word)
		{
			uint64_t lanes = ckf_bucket_word(t, at);

			if (t->encoding == CKF_SEMI_SORTED)
				lanes = ckf_spread(t, lanes);
			for (i = 0; i < b; i++, lanes >>= t->f)
				tags[i] = t->encoding == CKF_SEMI_SORTED ? ckf_key_tag(lanes & t->tag_mask, t->f)
														 : lanes & t->tag_mask;
		}
		else
			ckf_bucket_read(t, at, tags);
		ckf_take_tags(s, tags, b, half, first, base);
	}
}

static void
ckf_load_segment(ckf_stream *s)
{
	const ckf_filter *t = s->in;
	uint64_t segment = s->next++;
	unsigned half;

	for (half = 0; half < 2; half++)
		if (t->b == 4 && t->probe != CKF_PROBE_WIDE)
			ckf_take_half(s, segment, half, 4, true);
		else
			ckf_take_half(s, segment, half, t->b, false);
	if (s->low < 64U - t->g)
		ckf_sort(s->keys, s->spare, s->have, s->low, 64U - t->g);
}

bool
ckf_stream_load(ckf_stream *s)
{
	s->have = s->at = 0;
	if (ckf_is_table(s->in))
		while (s->have == 0 && s->next >> s->in->g == 0)
			ckf_load_segment(s);
	else
		ckf_load_words(s);
	return s->have > 0;
}
