/*
 * stream.c - walk a filter's items in order.  Hashes and sets are in order as
 * they lie; of a log only what came last is sorted, and a table is sorted a
 * segment at a time.
 */
#include "rebuild/stream.h"

#include "bucket/lanes_template.h"
#include "filter/header.h"
#include "rebuild/bulk.h"
#include "rebuild/sort.h"
#include "small/collect.h"

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
	return (words < CKF_BLOCK ? words : CKF_BLOCK) + 2 * ckf_collect_logged(in);
}

/* Sort what was logged. */
static void
ckf_start_log(ckf_stream *s)
{
	const uint8_t *from = ckf_body(s->in) + 8 * (1 + s->in->count);
	size_t i;

	s->log = s->keys + CKF_BLOCK;
	s->logged = (size_t)ckf_collect_logged(s->in);
	for (i = 0; i < s->logged; i++)
		s->log[i] = ckf_load64(from + 8 * i);
	s->logged = ckf_sort_hashes(s->log, s->log + s->logged, s->logged, ckf_stores_once(s->in));
}

void
ckf_stream_start(ckf_stream *s, const ckf_filter *in, unsigned low, uint64_t *scratch)
{
	s->in = in;
	s->low = low > 64U - in->w ? low : 64U - in->w;
	s->next = 0;
	s->have = s->at = 0;
	s->keys = scratch;
	s->logged = s->taken = 0;
	s->last = 0;
	if (ckf_is_table(in))
	{
		s->spare = scratch + ckf_segment_slots(in);
		ckf_inverse_of(&s->inverse, in);
	}
	else if (ckf_collect_is_log(in))
		ckf_start_log(s);
}

static void
ckf_load_words(ckf_stream *s)
{
	uint64_t words = ckf_body_words(s->in);

	while (s->next < words && s->have < CKF_BLOCK)
	{
		uint64_t word = ckf_word(s->in, s->next++);

		s->keys[s->have] = word;
		s->have += word != 0;
	}
}

/* Drop keys that repeat the one before. */
static void
ckf_drop_repeated(ckf_stream *s)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < s->have; i++)
	{
		uint64_t key = s->keys[i];

		s->keys[kept] = key;
		kept += key != s->last;
		s->last = key;
	}
	s->have = kept;
}

/* Merge a log's sorted hashes with those that were logged. */
static void
ckf_load_log(ckf_stream *s)
{
	const uint8_t *sorted = ckf_body(s->in) + 8;

	while (s->have < CKF_BLOCK && s->next < s->in->count && s->taken < s->logged)
	{
		uint64_t x = ckf_load64(sorted + 8 * s->next);
		uint64_t y = s->log[s->taken];
		bool second = y < x;

		s->keys[s->have++] = second ? y : x;
		s->next += !second;
		s->taken += second;
	}
	while (s->have < CKF_BLOCK && s->next < s->in->count && s->taken == s->logged)
		s->keys[s->have++] = ckf_load64(sorted + 8 * s->next++);
	while (s->have < CKF_BLOCK && s->next == s->in->count && s->taken < s->logged)
		s->keys[s->have++] = s->log[s->taken++];
	if (ckf_stores_once(s->in))
		ckf_drop_repeated(s);
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
		uint64_t rho = (half ? x * s->inverse.golden_inverse : x) & s->inverse.rho_mask;

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
	uint64_t base = segment << 1 << (t->rho_bits - 1);
	uint32_t q;

	for (q = 0; q < t->m; q++, at += t->bucket_bits)
	{
		uint64_t first = ckf_first_of(&s->inverse, t->m, q);
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned i;

		if (word)
		{
			uint64_t lanes = ckf_bucket_word(t, CKF_BY_WORD, at);

			if (t->encoding == CKF_SEMI_SORTED)
				lanes = ckf_spread(t, lanes);
			for (i = 0; i < b; i++, lanes >>= t->f)
				tags[i] = t->encoding == CKF_SEMI_SORTED ? ckf_key_tag(lanes & t->tag_mask, t->f)
														 : lanes & t->tag_mask;
		}
		else
			ckf_slots_read(t, at, tags);
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
		if (t->b == 4 && t->operations->access != CKF_BY_SLOT)
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
	else if (ckf_collect_is_log(s->in))
		ckf_load_log(s);
	else
		ckf_load_words(s);
	return s->have > 0;
}
