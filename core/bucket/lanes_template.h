/*
 * lanes_template.h - a bucket as one 64-bit word, and operations on all its slots at
 * once.  It serves geometries where one load reads the whole bucket.  slots.h is the
 * definition of the layouts.
 *
 * The word is made of lanes: lane i is the f bits from i * f on.  Lanes of a plain
 * bucket hold tags.  Those of a semi-sorted bucket hold sort keys, which are the
 * tag's low nibble in front of its upper bits, in ascending order: lane 0 has the
 * smallest, and free slots, whose key is 0, are the first lanes.
 *
 * A filter has these masks: `lanes` has each lane's lowest bit, so that a product
 * with it puts a number into all lanes; `tops` has each lane's top bit;
 * `nibble_mask` has its top 4 bits and `upper_mask` its other ones.
 */
#ifndef CKF_LANES_TEMPLATE_H
#define CKF_LANES_TEMPLATE_H

#include "bucket/slots.h"
#include "filter/operations.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define CKF_PDEP __attribute__((target("bmi,bmi2")))
#endif

/* The byte in which a bucket begins.  `at` is its first bit, or with an access by
 * bytes its first byte. */
CKF_INLINE uint8_t *
ckf_byte_at(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return t->body + (ckf_is_bytes(access) ? at : at >> 3);
}

/* How many bits of that byte come before the bucket. */
CKF_INLINE unsigned
ckf_shift_at(ckf_access access, uint64_t at)
{
	return ckf_is_bytes(access) ? 0 : at & 7;
}

/* The bits of a bucket, in the low bits of the result.  Above them are bits of the
 * next one. */
CKF_INLINE uint64_t
ckf_bucket_word(const ckf_filter *t, ckf_access access, uint64_t at)
{
	return ckf_load64(ckf_byte_at(t, access, at)) >> ckf_shift_at(access, at);
}

/* The lanes of the bits of a semi-sorted bucket: they are a code for the four
 * nibbles, and behind it each slot's upper bits. */
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

/* The reverse: the bits of a semi-sorted bucket of lanes that are in order. */
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
/* The same two where the processor has instructions for them. */
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

/* The lanes of the bucket at an offset. */
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
 * Does any lane hold this tag (of a semi-sorted bucket: this key)?  If so the
 * result is not 0, and its lowest bit is the top bit of the first such lane.
 *
 * x is 0 in the lanes that hold it.  Subtracting 1 from each lane sets the top
 * bit of these, and of lanes whose top bit was set anyway, which ~x excludes.  A
 * lane of 0 borrows from the one above it, so that higher lanes may be marked
 * that do not hold the tag: what needs them all asks ckf_each_lane.
 */
CKF_INLINE uint64_t
ckf_any_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);

	return (x - t->lanes) & ~x & t->tops;
}

/* The value of a lane whose slot has this tag. */
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
 * In lanes that are in order, take out the lane that begins at bit `at`.  The lanes
 * below it move up by one, and lane 0 becomes a free slot, so that the lanes are
 * still in order.
 */
CKF_INLINE uint64_t
ckf_lanes_drop(const ckf_filter *t, uint64_t lanes, unsigned at)
{
	uint64_t through = ckf_low_bits_mask(at + t->f); /* up to that lane, and with it */

	return (lanes & ~through) | (lanes << t->f & through & ~t->tag_mask);
}

/*
 * The top bit of each lane that holds a smaller key than this one.
 *
 * Lanes are compared by a subtraction of their lower bits.  A top bit that is set
 * before serves as a guard, which keeps borrows inside a lane, and which is left
 * only where the lane's lower bits are not below the key's.  So a lane is smaller
 * where its top bit is 0 and the key's is 1, and where the top bits are equal and
 * the guard is gone.
 */
CKF_INLINE uint64_t
ckf_lanes_below(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t keys = key * t->lanes;
	uint64_t guards = (lanes | t->tops) - (keys & ~t->tops);

	return ((~lanes & keys) | (~(lanes ^ keys) & ~guards)) & t->tops;
}

/*
 * Put a key into lanes that are in order and begin with a free slot.  The lanes with
 * smaller keys, which are the first ones, move down by one: lane 0, the free slot,
 * falls out, and the last of them becomes free for the key.
 */
CKF_INLINE uint64_t
ckf_lanes_insert(const ckf_filter *t, uint64_t lanes, uint64_t key)
{
	uint64_t smaller = ckf_lanes_below(t, lanes, key);
	/* all bits of these lanes: from each one's lowest bit to its top bit */
	uint64_t through = 2 * smaller - (smaller >> (t->f - 1));
	/* the lowest bit of the last of them */
	uint64_t gap = through & ~(through >> t->f) & t->lanes;

	return (lanes & ~through) | ((lanes & through) >> t->f) | key * gap;
}

/* The bits of a semi-sorted bucket of tags in any order.  The bucket fits one load,
 * so f is at most 16. */
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
 * The top bit of each lane that holds this tag (or key), and of no other.
 *
 * x is 0 in these lanes.  Adding `below`, which is all bits of a lane but the top
 * one, to a lane's lower bits sets its top bit unless they are all 0, and carries
 * nothing on into the next lane.
 */
CKF_INLINE uint64_t
ckf_each_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);
	uint64_t below = t->tops - t->lanes;

	return ~(((x & below) + below) | x) & t->tops;
}

#endif
