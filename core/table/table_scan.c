/*
 * table_scan.c - read the prefixes of a table, one segment at a time.
 *
 * A slot gives back its prefix from the bucket's number and the tag (ckf_rho).  The prefixes of a
 * segment are in the order of the slots, so they are sorted before they are passed on.  Segments
 * are in ascending order.
 */
#include "bucket/bucket_template.h"
#include "filter/methods.h"
#include "scan/scan.h"

static uint64_t
ckf_segment_slots(const ckf_filter *t)
{
	return (uint64_t)2 * t->m * t->b;
}

/* Append the prefixes of all buckets of a half.  b and the access are constants. */
CKF_INLINE void
ckf_take_half(ckf_scan *s, uint64_t segment, unsigned half, unsigned b, ckf_access access)
{
	const ckf_filter *t = s->in;
	ckf_inverse inverse = s->inverse; /* a copy: stores to memory do not change it */
	uint64_t at = (2 * segment + half) * t->half_bits;
	uint64_t base = segment << 1 << (t->rho_bits - 1); /* the segment's bits of a prefix */
	uint32_t q;

	for (q = 0; q < t->m; q++, at += t->bucket_bits)
	{
		ckf_bucket bucket;
		unsigned i;

		ckf_bucket_load(t, access, at, &bucket);
		for (i = 0; i < b; i++)
		{
			uint64_t tag = ckf_bucket_tag(t, access, &bucket, i);

			s->memory[s->have] = (base | ckf_rho(t, &inverse, half, q, tag)) << (64 - t->w);
			s->have += tag != 0;
		}
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
		if (t->b != 4 || !ckf_bucket_is_word(t))
			ckf_take_half(s, segment, half, t->b, CKF_BY_SLOT);
		else if (t->encoding == CKF_SEMI_SORTED)
			ckf_take_half(s, segment, half, 4, CKF_BY_SEMI);
		else
			ckf_take_half(s, segment, half, 4, CKF_BY_WORD);
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
