/*
 * bucket_template.h - load a bucket, find and count tags in it, replace a tag.
 *
 * The functions are the same for a bucket of one word and for a wider one.  `access` is a constant
 * at each call, so the compiler makes a version for each access.
 *
 * A mask selects slots; its form depends on the access.  With CKF_BY_SLOT, bit i stands for
 * slot i.  With any other access, the top bit of lane i stands for slot i.
 */
#ifndef CKF_BUCKET_TEMPLATE_H
#define CKF_BUCKET_TEMPLATE_H

#include "bucket/lanes_template.h"
#include "filter/geometry.h"

typedef struct ckf_bucket
{
	uint64_t lanes;               /* unless the access is CKF_BY_SLOT */
	uint64_t tags[CKF_MAX_SLOTS]; /* if the access is CKF_BY_SLOT */
} ckf_bucket;

CKF_INLINE void
ckf_bucket_load(const ckf_filter *t, ckf_access access, uint64_t at, ckf_bucket *bucket)
{
	if (access == CKF_BY_SLOT)
		ckf_slots_read(t, at, bucket->tags);
	else
		bucket->lanes = ckf_read_lanes(t, access, at);
}

CKF_INLINE uint64_t
ckf_bucket_tag(const ckf_filter *t, ckf_access access, const ckf_bucket *bucket, unsigned slot)
{
	uint64_t lane;

	if (access == CKF_BY_SLOT)
		return bucket->tags[slot];
	lane = bucket->lanes >> (slot * t->f) & t->tag_mask;
	return ckf_is_semi(access) ? ckf_key_tag(lane, t->f) : lane;
}

/* The mask of the slots that hold this tag.  Tag 0 gives the mask of the free slots. */
CKF_INLINE uint64_t
ckf_bucket_matches(const ckf_filter *t, ckf_access access, const ckf_bucket *bucket, uint64_t tag)
{
	uint64_t mask = 0;
	unsigned i;

	if (access != CKF_BY_SLOT)
		return ckf_each_lane(t, bucket->lanes, ckf_lane_of(t, access, tag));
	for (i = 0; i < t->b; i++)
		mask |= (uint64_t)(bucket->tags[i] == tag) << i;
	return mask;
}

/*
 * The mask of the free slots.  In a semi-sorted bucket the free slots are the first lanes, and all
 * their bits are 0.  So the lowest bit that is set is in the first lane in use.  lanes - 1 clears
 * this bit and sets all bits below it, so the top bits of the free lanes are among the bits that
 * lanes - 1 has and lanes has not.
 */
CKF_INLINE uint64_t
ckf_bucket_free_slots(const ckf_filter *t, ckf_access access, const ckf_bucket *bucket)
{
	return ckf_is_semi(access) ? (bucket->lanes - 1) & ~bucket->lanes & t->tops
							   : ckf_bucket_matches(t, access, bucket, 0);
}

/*
 * A faster ckf_bucket_matches, to find the first slot with this tag.  The result is 0
 * if there is none.  Otherwise its lowest bit is the bit of the first such slot; higher
 * bits may be wrong.
 */
CKF_INLINE uint64_t
ckf_bucket_first_match(const ckf_filter *t, ckf_access access, const ckf_bucket *bucket,
					   uint64_t tag)
{
	if (access == CKF_BY_SLOT)
		return ckf_bucket_matches(t, access, bucket, tag);
	return ckf_any_lane(t, bucket->lanes, ckf_lane_of(t, access, tag));
}

/* Whether all slots of both buckets have this tag, so that the group is saturated. */
CKF_INLINE bool
ckf_buckets_hold_only(const ckf_filter *t, ckf_access access, const ckf_bucket *a,
					  const ckf_bucket *b, uint64_t tag)
{
	uint64_t tags, all;

	if (access == CKF_BY_SLOT)
		return (ckf_bucket_matches(t, access, a, tag) & ckf_bucket_matches(t, access, b, tag)) ==
			   (UINT64_C(1) << t->b) - 1;
	tags = ckf_lane_of(t, access, tag) * t->lanes;
	all = t->nibble_mask | t->upper_mask;
	return ((a->lanes ^ ~tags) & (b->lanes ^ ~tags) & all) == all;
}

/* The number of slots in a mask. */
CKF_INLINE unsigned
ckf_mask_count(const ckf_filter *t, ckf_access access, uint64_t mask)
{
	if (access == CKF_BY_SLOT)
		return (unsigned)__builtin_popcountll(mask);
	/* shifted, each slot in the mask has a 1 in its lane; the product has their sum in the last
	 * lane */
	return (unsigned)((mask >> (t->f - 1)) * t->lanes >> ((t->b - 1) * t->f) & 15);
}

/* Whether bucket b has more free slots than bucket a, from the masks of their free slots.  In
 * semi-sorted buckets the free slots are the first ones, so more of them make a larger number. */
CKF_INLINE bool
ckf_is_emptier(const ckf_filter *t, ckf_access access, uint64_t free_a, uint64_t free_b)
{
	if (ckf_is_semi(access))
		return free_b > free_a;
	return ckf_mask_count(t, access, free_b) > ckf_mask_count(t, access, free_a);
}

/* The mask of one slot. */
CKF_INLINE uint64_t
ckf_slot_mask(const ckf_filter *t, ckf_access access, unsigned slot)
{
	return access == CKF_BY_SLOT ? UINT64_C(1) << slot : UINT64_C(1) << ((slot + 1) * t->f - 1);
}

/* Whether a bucket has a free slot. */
CKF_INLINE bool
ckf_has_free(const ckf_filter *t, ckf_access access, uint64_t at)
{
	uint64_t tags[CKF_MAX_SLOTS];
	uint64_t word;

	if (access == CKF_BY_SLOT)
	{
		ckf_slots_read(t, at, tags);
		return ckf_count_tags(tags, t->b, 0) > 0;
	}
	word = ckf_bucket_word(t, access, at);
	if (!ckf_is_semi(access))
		return ckf_any_lane(t, word, 0) != 0;
	/* if a slot is free, the first one is: its nibble and its upper bits are 0 */
	return (ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)] & 15) == 0 &&
		   (word >> CKF_CODE_BITS & (t->tag_mask >> 4)) == 0;
}

/* Write a bucket of one word, and keep the bits of the buckets beside it. */
CKF_INLINE void
ckf_write_word(const ckf_filter *t, ckf_access access, uint64_t at, uint64_t word)
{
	uint8_t *p = ckf_byte_at(t, access, at);
	unsigned shift = ckf_shift_at(access, at);
	uint64_t mask = ckf_low_bits_mask(t->bucket_bits) << shift;

	ckf_store64(p, (ckf_load64(p) & ~mask) | word << shift);
}

/*
 * Replace a tag: the first slot of the mask holds `old`, and gets `tag`.  Either may be 0, a free
 * slot.  In a plain bucket only bits of this slot change.  A semi-sorted bucket must stay in order,
 * so `old` is taken out, and `tag` is inserted at its position in the order.
 */
CKF_INLINE void
ckf_bucket_replace(const ckf_filter *t, ckf_access access, uint64_t at, ckf_bucket *bucket,
				   uint64_t mask, uint64_t old, uint64_t tag)
{
	unsigned first = (unsigned)__builtin_ctzll(mask);
	uint64_t lanes = bucket->lanes;

	if (access == CKF_BY_SLOT)
	{
		bucket->tags[first] = tag;
		ckf_slots_write(t, at, bucket->tags);
		return;
	}
	if (!ckf_is_semi(access))
	{
		uint64_t change = (old ^ tag) << (first + 1 - t->f);
		uint8_t *p = ckf_byte_at(t, access, at);

		ckf_store64(p, ckf_load64(p) ^ change << ckf_shift_at(access, at));
		return;
	}
	if (old != 0)
		lanes = ckf_lanes_drop(t, lanes, first + 1 - t->f);
	if (tag != 0)
		lanes = ckf_lanes_insert(t, lanes, ckf_sort_key(tag, t->f));
#if defined(__x86_64__)
	if (access != CKF_BY_SEMI)
	{
		ckf_write_word(t, access, at, ckf_gather_pext(t, lanes));
		return;
	}
#endif
	ckf_write_word(t, access, at, ckf_gather(t, lanes));
}

#endif
