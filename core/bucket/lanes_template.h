/*
 * lanes_template.h - a bucket as one 64-bit word, slot i in the f bits at i * f, and
 * questions asked of all its slots at once.  For geometries whose bucket is
 * one load; slots.h is the definition.
 *
 * Lanes of a plain bucket hold tags.  Those of a semi-sorted one hold sort keys,
 * the tag's low nibble in front of its other bits, in ascending order.
 */
#ifndef CKF_LANES_TEMPLATE_H
#define CKF_LANES_TEMPLATE_H

#include "bucket/slots.h"
#include "filter/operations.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CKF_PDEP __attribute__((target("bmi,bmi2")))
#endif

/* A place (ckf_place) is a bucket's first bit, or its first byte: the byte it
 * begins in, and the bits of that before it. */
CKF_INLINE uint8_t *
ckf_byte_at(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return ckf_body(t) + (ckf_is_bytes(access) ? at : at >> 3);
}

CKF_INLINE unsigned
ckf_shift_at(ckf_access access, uint64_t at)
{
	return ckf_is_bytes(access) ? 0 : at & 7;
}

/* A bucket's bits, in the low bits of the result; others may be set above. */
CKF_INLINE uint64_t
ckf_bucket_word(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return ckf_load64(ckf_byte_at(t, access, at)) >> ckf_shift_at(access, at);
}

/* The lanes of a semi-sorted word. */
CKF_INLINE uint64_t
ckf_spread(const ckf_filter *t, uint64_t word)
{
	uint64_t nibbles = ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)];
	uint64_t uppers = word >> CKF_CODE_BITS;
	unsigned high = t->f - 4U;
	uint64_t mask = (UINT64_C(1) << high) - 1;
	uint64_t lanes = 0;
	unsigned i;

	for (i = 0; i < 4; i++)
	{
		lanes |= ((nibbles & 15) << high | (uppers & mask)) << (i * t->f);
		uppers >>= high;
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
	unsigned nibbles = 0;
	uint64_t uppers = 0;
	unsigned i;

	for (i = 0; i < 4; i++)
	{
		nibbles |= (unsigned)(lanes >> (i * t->f + high) & 15) << (4 * i);
		uppers |= (lanes >> (i * t->f) & mask) << (i * high);
	}
	return ckf_code_of(nibbles) | uppers << CKF_CODE_BITS;
}

#if defined(__x86_64__)
CKF_PDEP static inline uint64_t
ckf_spread_pdep(const ckf_filter *t, uint64_t word)
{
	return _pdep_u64(ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)], t->nibble_mask) |
		   _pdep_u64(word >> CKF_CODE_BITS, t->upper_mask);
}

CKF_PDEP static inline uint64_t
ckf_gather_pext(const ckf_filter *t, uint64_t lanes)
{
	return ckf_code_of((unsigned)_pext_u64(lanes, t->nibble_mask)) | _pext_u64(lanes, t->upper_mask)
																		 << CKF_CODE_BITS;
}
#endif

/* The lanes of a bucket of one load. */
CKF_INLINE uint64_t
ckf_read_lanes(const ckf_filter *t, ckf_access access, uint64_t at)
{
	uint64_t word = ckf_bucket_word(t, access, at);

	if (!ckf_is_semi(access))
		return word;
#if defined(__x86_64__)
	if (access != CKF_BY_SEMI)
		return ckf_spread_pdep(t, word);
#endif
	return ckf_spread(t, word);
}

/* What a lane holds of a tag. */
CKF_INLINE uint64_t
ckf_lane_of(const ckf_filter *t, ckf_access access, uint64_t tag)
{
	return ckf_is_semi(access) ? ckf_sort_key(tag, t->f) : tag;
}

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

/* The top bit of each lane below this key. */
CKF_INLINE uint64_t
ckf_lanes_below(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t keys = key * t->lanes;
	uint64_t above = (lanes | t->tops) - (keys & ~t->tops); /* top bits aside: not below */

	return ((~lanes & keys) | (~(lanes ^ keys) & ~above)) & t->tops;
}

/* In lanes that are in order and begin with a free slot, put a key in: those
 * below it move down by one. */
CKF_INLINE uint64_t
ckf_lanes_insert(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t below = ckf_lanes_below(t, lanes, key); /* the first lanes, if any */
	uint64_t through = 2 * below - (below >> (t->f - 1));
	uint64_t gap = through & ~(through >> t->f) & t->lanes; /* the last one's lowest bit */

	return (lanes & ~through) | ((lanes & through) >> t->f) | key * gap;
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
	return ckf_code_of(ckf_top_nibbles(keys, high)) |
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
