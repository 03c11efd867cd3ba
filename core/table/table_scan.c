/*
 * table_scan.c - read the prefixes of a table, one segment at a time.
 *
 * A slot gives back its prefix from the bucket's number and the tag (ckf_rho).  The prefixes of a
 * segment are in the order of the slots, so they are sorted before they are passed on.  Segments
 * are in ascending order.
 */
#include "bucket/lanes_template.h"
#include "filter/operations.h"
#include "scan/scan.h"

static uint64_t
ckf_segment_slots(const ckf_filter *t)
{
	return (uint64_t)2 * t->m * t->b;
}

/* Append the prefixes of one bucket's tags.  `first` is the smallest x of the bucket, and `base`
 * has the segment's bits of a prefix. */
CKF_INLINE void
ckf_take_tags(ckf_scan *s, const uint64_t *tags, unsigned b, unsigned half, uint64_t first,
			  uint64_t base)
{
	const ckf_filter *t = s->in;
	unsigned i;

	for (i = 0; i < b; i++)
	{
		uint64_t like = half ? tags[i] * t->golden : tags[i];
		uint64_t x = first + ((like - first) & t->tag_mask);
		uint64_t rho = (half ? x * s->inverse.golden_inverse : x) & s->inverse.rho_mask;

		s->memory[s->have] = (base | rho) << (64 - t->w);
		s->have += tags[i] != 0;
	}
}

/* Append the prefixes of all buckets of a half.  b, and whether a bucket is a word, are constants.
 */
CKF_INLINE void
ckf_take_half(ckf_scan *s, uint64_t segment, unsigned half, unsigned b, bool word)
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

static bool
ckf_load_segment(ckf_scan *s)
{
	const ckf_filter *t = s->in;
	uint64_t segment = s->next++;
	unsigned half;

	s->have = s->at = 0;
	if (segment >= s->end)
		return false;
	for (half = 0; half < 2; half++)
		if (t->b == 4 && ckf_bucket_is_word(t))
			ckf_take_half(s, segment, half, 4, true);
		else
			ckf_take_half(s, segment, half, t->b, false);
	if (s->low < 64U - t->g)
		ckf_sort(s->memory, s->memory + ckf_segment_slots(t), s->have,
				 s->low > 64U - t->w ? s->low : 64U - t->w, 64U - t->g);
	*s->work += ckf_segment_slots(t);
	return true;
}

static void
ckf_scan_table(const ckf_filter *t, ckf_scan *s)
{
	memset(s, 0, sizeof *s);
	s->load = ckf_load_segment;
	s->in = t;
	s->end = UINT64_C(1) << t->g;
	s->words = 2 * ckf_segment_slots(t);
	ckf_inverse_of(&s->inverse, t);
}

const ckf_source ckf_table_source = {.scan = ckf_scan_table};
