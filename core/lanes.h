/*
 * lanes.h - a bucket as one 64-bit word, slot i in the f bits at i * f, and
 * questions asked of all its slots at once.  For geometries whose bucket is
 * one load (ckf_filter.probe); bucket.h is the definition.
 */
#ifndef CKF_LANES_H
#define CKF_LANES_H

#include "bucket.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CKF_PDEP __attribute__((target("bmi2")))
#endif

/* The lanes of a semi-sorted word. */
CKF_INLINE uint64_t
ckf_spread(const ckf_filter *t, uint64_t word)
{
	uint64_t nibbles = ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)];
	uint64_t rest = word >> CKF_CODE_BITS;
	unsigned high = t->f - 4U;
	uint64_t mask = (UINT64_C(1) << high) - 1;
	uint64_t lanes = 0;
	unsigned i;

	for (i = 0; i < 4; i++)
	{
		lanes |= ((rest & mask) << 4 | (nibbles & 15)) << (i * t->f);
		rest >>= high;
		nibbles >>= 4;
	}
	return lanes;
}

#if defined(__x86_64__)
CKF_PDEP static inline uint64_t
ckf_spread_pdep(const ckf_filter *t, uint64_t word)
{
	return _pdep_u64(ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)], t->low_lanes) |
		   _pdep_u64(word >> CKF_CODE_BITS, t->high_lanes);
}
#endif

/* Lanes of a bucket, whichever table it is in. */
CKF_INLINE uint64_t
ckf_bucket_lanes(const ckf_filter *t, uint64_t at)
{
	uint64_t word = ckf_bucket_word(t, at);

	return t->encoding == CKF_PLAIN ? word : ckf_spread(t, word);
}

/* The word of a semi-sorted bucket: its slots in order (f is at most 16). */
CKF_INLINE uint64_t
ckf_semi_word(const uint64_t *tags, unsigned f)
{
	unsigned high = f - 4;
	unsigned mask = (1U << high) - 1;
	uint64_t keys[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		keys[i] = ckf_sort_key(tags[i], f);
	ckf_order_keys(keys);
	return ckf_code_of((unsigned)(keys[0] >> high), (unsigned)(keys[1] >> high),
					   (unsigned)(keys[2] >> high), (unsigned)(keys[3] >> high)) |
		   ((keys[0] & mask) | (keys[1] & mask) << high | (keys[2] & mask) << (2 * high) |
			(keys[3] & mask) << (3 * high))
			   << CKF_CODE_BITS;
}

/* The top bit of each lane that holds this tag. */
CKF_INLINE uint64_t
ckf_each_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);
	uint64_t below = t->tops - t->lanes;

	return ~(((x & below) + below) | x) & t->tops;
}

#endif
