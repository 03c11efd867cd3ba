/*
 * lanes.h - a bucket as one 64-bit word, slot i in the f bits at i * f, and
 * questions asked of all its slots at once.  For geometries whose bucket is
 * one load (ckf_filter.probe); bucket.h is the definition.
 *
 * Lanes of a plain bucket hold tags.  Those of a semi-sorted one hold sort keys,
 * the tag's low nibble in front of its other bits, in ascending order.
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
		lanes |= ((nibbles & 15) << high | (rest & mask)) << (i * t->f);
		rest >>= high;
		nibbles >>= 4;
	}
	return lanes;
}

/* The word of semi-sorted lanes, which are in order. */
CKF_INLINE uint64_t
ckf_gather(const ckf_filter *t, uint64_t lanes)
{
	unsigned high = t->f - 4U;
	uint64_t mask = (UINT64_C(1) << high) - 1;
	unsigned nibble[4];
	uint64_t rest = 0;
	unsigned i;

	for (i = 0; i < 4; i++)
	{
		nibble[i] = (unsigned)(lanes >> (i * t->f + high)) & 15;
		rest |= (lanes >> (i * t->f) & mask) << (i * high);
	}
	return ckf_code_of(nibble[0], nibble[1], nibble[2], nibble[3]) | rest << CKF_CODE_BITS;
}

#if defined(__x86_64__)
CKF_PDEP static inline uint64_t
ckf_spread_pdep(const ckf_filter *t, uint64_t word)
{
	return _pdep_u64(ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)], t->nibbles) |
		   _pdep_u64(word >> CKF_CODE_BITS, t->rests);
}

CKF_PDEP static inline uint64_t
ckf_gather_pext(const ckf_filter *t, uint64_t lanes)
{
	unsigned nibbles = (unsigned)_pext_u64(lanes, t->nibbles);

	return ckf_code_of(nibbles & 15, nibbles >> 4 & 15, nibbles >> 8 & 15, nibbles >> 12) |
		   _pext_u64(lanes, t->rests) << CKF_CODE_BITS;
}
#endif

/* The lowest n bits; n from 1 to 64. */
CKF_INLINE uint64_t
ckf_low_bits_mask(unsigned n)
{
	return UINT64_MAX >> (64 - n);
}

/* In lanes that are in order, take out the key that begins at bit `at`: a free
 * slot, key 0, comes in front. */
CKF_INLINE uint64_t
ckf_lanes_drop(const ckf_filter *t, uint64_t lanes, unsigned at)
{
	uint64_t through = ckf_low_bits_mask(at + t->f);

	return (lanes & ~through) | (lanes << t->f & through & ~t->tag_mask);
}

/* In lanes that are in order and begin with a free slot, put a key in. */
CKF_INLINE uint64_t
ckf_lanes_insert(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	unsigned f = t->f;
	uint64_t mask = t->tag_mask;
	unsigned at =
		f * ((unsigned)((lanes >> f & mask) < key) + (unsigned)((lanes >> (2 * f) & mask) < key) +
			 (unsigned)((lanes >> (3 * f) & mask) < key));
	uint64_t through = ckf_low_bits_mask(at + f);

	return (lanes & ~through) | ((lanes & through) >> f) | key << at;
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
