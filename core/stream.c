/*
 * stream.c - walk a filter's items in order.  Hashes and sets are in order as
 * they lie; a table is sorted a segment at a time.
 */
#include "stream.h"

static uint64_t ckf_segment_slots(const ckf_filter *t)
{
	return (uint64_t)2 * t->m * t->b;
}

uint64_t ckf_stream_scratch(const ckf_filter *in)
{
	uint64_t words;

	if (ckf_is_table(in))
		return 2 * ckf_segment_slots(in);
	words = ckf_body_words(in);
	return words < CKF_BLOCK ? words : CKF_BLOCK;
}

void ckf_stream_start(ckf_stream *s, const ckf_filter *in, uint64_t *scratch)
{
	s->in = in;
	s->next = 0;
	s->have = s->at = 0;
	s->keys = scratch;
	if (ckf_is_table(in))
	{
		s->spare = scratch + ckf_segment_slots(in);
		ckf_inverse_of(&s->inverse, in);
	}
}

static void ckf_load_words(ckf_stream *s)
{
	uint64_t words = ckf_body_words(s->in);

	while (s->next < words && s->have < CKF_BLOCK)
	{
		uint64_t word = ckf_word(s->in, s->next++);

		s->keys[s->have] = word;
		s->have += word != 0;
	}
}

static void ckf_load_segment(ckf_stream *s)
{
	const ckf_filter *t = s->in;
	uint64_t segment = s->next++;
	uint32_t bucket;

	for (bucket = 0; bucket < 2 * t->m; bucket++)
	{
		unsigned half = bucket >= t->m;
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned i;

		ckf_bucket_read(t, segment * 2 * t->m + bucket, tags);
		for (i = 0; i < t->b; i++)
		{
			uint64_t rho = ckf_rho(t, &s->inverse, half, bucket - half * t->m, tags[i]);

			s->keys[s->have] = ckf_aligned_prefix(t, segment, rho);
			s->have += tags[i] != 0;
		}
	}
	ckf_sort(s->keys, s->spare, s->have, 64U - t->w, 64U - t->g);
}

bool ckf_stream_load(ckf_stream *s)
{
	s->have = s->at = 0;
	if (ckf_is_table(s->in))
		while (s->have == 0 && s->next >> s->in->g == 0)
			ckf_load_segment(s);
	else
		ckf_load_words(s);
	return s->have > 0;
}
