/*
 * slots.h - read and write the slots of a bucket one by one (FORMAT.md, section 4).
 *
 * These functions define both layouts.  They serve buckets of any width; lanes_template.h does the
 * same for buckets that one load reads.  `at` is the bucket's first bit.
 */
#ifndef CKF_SLOTS_H
#define CKF_SLOTS_H

#include "bucket/semisort.h"
#include "filter/header.h"

/* The sort key of a tag: its low nibble, followed by its upper bits.  A semi-sorted bucket is in
 * ascending order of these keys. */
CKF_INLINE uint64_t
ckf_sort_key(uint64_t tag, unsigned f)
{
	return (tag & 15) << (f - 4) | tag >> 4;
}

/* The tag that has this sort key. */
CKF_INLINE uint64_t
ckf_key_tag(uint64_t key, unsigned f)
{
	return (key << 4 | key >> (f - 4)) & ((UINT64_C(1) << f) - 1);
}

/* Put the smaller of two keys first. */
CKF_INLINE void
ckf_order(uint64_t *keys, int i, int j)
{
	uint64_t low = keys[i] < keys[j] ? keys[i] : keys[j];
	uint64_t high = keys[i] < keys[j] ? keys[j] : keys[i];

	keys[i] = low;
	keys[j] = high;
}

/* Sort four keys by a sorting network, which does not branch. */
CKF_INLINE void
ckf_order_keys(uint64_t *keys)
{
	ckf_order(keys, 0, 1);
	ckf_order(keys, 2, 3);
	ckf_order(keys, 0, 2);
	ckf_order(keys, 1, 3);
	ckf_order(keys, 1, 2);
}

/* The nibbles of four sort keys, that of the first key in the low bits.  `high` is the number of
 * bits below a key's nibble. */
CKF_INLINE unsigned
ckf_top_nibbles(const uint64_t *keys, unsigned high)
{
	return (unsigned)(keys[0] >> high | keys[1] >> high << 4 | keys[2] >> high << 8 |
					  keys[3] >> high << 12);
}

/* Read the tags of a bucket's b slots; 0 is a free slot.  `body` may be that of the filter, or a
 * copy of the bucket that is followed by CKF_TABLE_PAD bytes. */
CKF_INLINE void
ckf_slots_read_from(const ckf_filter *t, const uint8_t *body, uint64_t at, uint64_t *tags)
{
	unsigned i;

	if (t->encoding == CKF_PLAIN)
	{
		for (i = 0; i < t->b; i++)
			tags[i] = ckf_load_bits(body, at + i * t->f, t->f);
	}
	else
	{
		unsigned high = t->f - 4U;
		uint64_t nibbles = ckf_nibbles[ckf_load_bits(body, at, CKF_CODE_BITS)];

		for (i = 0; i < 4; i++)
			tags[i] = ckf_load_bits(body, at + CKF_CODE_BITS + i * high, high) << 4 |
					  (nibbles >> (4 * i) & 15);
	}
}

CKF_INLINE void
ckf_slots_read(const ckf_filter *t, uint64_t at, uint64_t *tags)
{
	ckf_slots_read_from(t, t->body, at, tags);
}

/* Write the tags of a bucket's b slots.  In a semi-sorted bucket they are sorted. */
CKF_INLINE void
ckf_slots_write(const ckf_filter *t, uint64_t at, const uint64_t *tags)
{
	uint8_t *body = t->body;
	unsigned i;

	if (t->encoding == CKF_PLAIN)
	{
		for (i = 0; i < t->b; i++)
			ckf_store_bits(body, at + i * t->f, t->f, tags[i]);
	}
	else
	{
		unsigned high = t->f - 4U;
		uint64_t mask = (UINT64_C(1) << high) - 1;
		uint64_t keys[4];

		for (i = 0; i < 4; i++)
			keys[i] = ckf_sort_key(tags[i], t->f);
		ckf_order_keys(keys);
		ckf_store_bits(body, at, CKF_CODE_BITS, ckf_code_of(ckf_top_nibbles(keys, high)));
		for (i = 0; i < 4; i++)
			ckf_store_bits(body, at + CKF_CODE_BITS + i * high, high, keys[i] & mask);
	}
}

/* The number of slots, out of b, that have this tag. */
CKF_INLINE unsigned
ckf_count_tags(const uint64_t *tags, unsigned b, uint64_t tag)
{
	unsigned n = 0;
	unsigned i;

	for (i = 0; i < b; i++)
		n += tags[i] == tag;
	return n;
}

#endif
