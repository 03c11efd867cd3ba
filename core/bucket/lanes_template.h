/*
 * lanes_template.h - a bucket as one 64-bit word, and operations on all its slots at the same
 * time (SIMD within a register).  It serves geometries in which one load reads the whole bucket.
 * slots.h defines the layouts, slot by slot.
 *
 * The word consists of lanes, one for each slot: lane i is the f bits from bit i * f on.  A lane
 * of a plain bucket holds a tag.  A lane of a semi-sorted bucket holds a sort key: the low nibble
 * of the tag, followed by its upper bits.  Its lanes are in ascending order.  Lane 0 has the
 * smallest key, so free slots, whose key is 0, are the first lanes.
 *
 * ckf_filter has four masks for this.  `lanes` has the lowest bit of each lane; a product with it
 * copies a number into all lanes.  `tops` has the top bit of each lane.  `nibble_mask` has the top
 * 4 bits of each lane, and `upper_mask` the other bits.
 */
#ifndef CKF_LANES_TEMPLATE_H
#define CKF_LANES_TEMPLATE_H

#include "bucket/slots.h"
#include "filter/methods.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CKF_PDEP __attribute__((target("bmi,bmi2")))
#endif

/* The byte in which a bucket begins.  `at` is the bucket's first bit, or, if the access is by
 * bytes, its first byte. */
CKF_INLINE uint8_t *
ckf_byte_at(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return t->body + (ckf_is_bytes(access) ? at : at >> 3);
}

/* The number of bits in this byte that precede the bucket. */
CKF_INLINE unsigned
ckf_shift_at(ckf_access access, uint64_t at)
{
	return ckf_is_bytes(access) ? 0 : at & 7;
}

/* The bits of a bucket, in the low bits of the result.  The bits above them belong to the next
 * bucket. */
CKF_INLINE uint64_t
ckf_bucket_word(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return ckf_load64(ckf_byte_at(t, access, at)) >> ckf_shift_at(access, at);
}

/* Convert the bits of a semi-sorted bucket to lanes.  The bits are the code of the four nibbles,
 * followed by the upper bits of each slot. */
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

/* The reverse: convert lanes that are in order to the bits of a semi-sorted bucket. */
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
/* The same two conversions with the processor's bit-deposit and bit-extract instructions. */
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

/* Read the lanes of the bucket at an offset. */
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

/*
 * Whether any lane holds this tag (in a semi-sorted bucket: this key).  The result is 0 if none
 * does.  Otherwise its lowest bit is the top bit of the first lane that holds the tag.  Higher bits
 * may be wrong; ckf_each_lane finds all lanes.
 *
 * x = lanes ^ tag is 0 exactly in the lanes that hold the tag.  Subtract 1 from each lane of x.  In
 * a lane that is 0 this sets the top bit.  In the first lanes that are not 0, no borrow comes in,
 * so the top bit is set after the subtraction only if it was set in x; `& ~x` excludes these lanes.
 * A lane that is 0 borrows from the lane above it.  So above the first match, a lane that is 1 can
 * seem to match.
 */
CKF_INLINE uint64_t
ckf_any_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);

	return (x - t->lanes) & ~x & t->tops;
}

/* The value of a lane whose slot holds this tag. */
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

/*
 * Take the lane that begins at bit `at` out of lanes that are in order.  The lanes below it move up
 * by one, and lane 0 becomes a free slot.  So the lanes are still in order.
 */
CKF_INLINE uint64_t
ckf_lanes_drop(const ckf_filter *t, uint64_t lanes, unsigned at)
{
	uint64_t through = ckf_low_bits_mask(at + t->f); /* this lane and all below it */

	return (lanes & ~through) | (lanes << t->f & through & ~t->tag_mask);
}

/*
 * The top bit of each lane whose key is smaller than `key`.
 *
 * The top bit of a lane and its lower bits are compared separately.  For the lower bits: set the
 * top bit of each lane, as a guard, and subtract the lower bits of the key.  The guard absorbs a
 * borrow, so no borrow reaches the next lane, and it is 0 afterwards exactly if the lower bits of
 * the lane are smaller.  So a lane is smaller if its top bit is 0 and that of the key is 1, or if
 * the top bits are equal and the guard is 0.
 */
CKF_INLINE uint64_t
ckf_lanes_below(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t keys = key * t->lanes;
	uint64_t guards = (lanes | t->tops) - (keys & ~t->tops);

	return ((~lanes & keys) | (~(lanes ^ keys) & ~guards)) & t->tops;
}

/*
 * Insert a key into lanes that are in order and whose first slot is free.  The lanes with smaller
 * keys are the first ones.  They move down by one: lane 0, the free slot, is shifted out, and the
 * last of these lanes takes the key.
 */
CKF_INLINE uint64_t
ckf_lanes_insert(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t smaller = ckf_lanes_below(t, lanes, key);
	/* all bits of these lanes */
	uint64_t through = 2 * smaller - (smaller >> (t->f - 1));
	/* the lowest bit of the last of them */
	uint64_t gap = through & ~(through >> t->f) & t->lanes;

	return (lanes & ~through) | ((lanes & through) >> t->f) | key * gap;
}

/* Convert tags in any order to the bits of a semi-sorted bucket.  One load reads the bucket, so f
 * is at most 16. */
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

/*
 * The top bit of each lane that holds this tag (or key), and of no other lane.
 *
 * x = lanes ^ tag is 0 in these lanes.  `below` has all bits of each lane except the top one.
 * Adding it to the lower bits of a lane sets the top bit unless all lower bits are 0, and carries
 * nothing into the next lane.  Together with the top bit of x itself, the top bit stays 0 exactly
 * if the lane of x is 0.
 */
CKF_INLINE uint64_t
ckf_each_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);
	uint64_t below = t->tops - t->lanes;

	return ~(((x & below) + below) | x) & t->tops;
}

#endif
