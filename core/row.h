/*
 * row.h - a bucket in hand: read it, count, replace, write it back.  The same
 * calls for buckets that are one word and for wide ones; `how` is a constant at
 * each use, so that the compiler makes a version for each.
 */
#ifndef CKF_ROW_H
#define CKF_ROW_H

#include "lanes.h"

typedef struct ckf_row
{
	uint64_t lanes;               /* by word */
	uint64_t tags[CKF_MAX_SLOTS]; /* by slots */
} ckf_row;

CKF_INLINE void
ckf_row_read(const ckf_filter *t, ckf_probe how, uint64_t at, ckf_row *row)
{
	if (how == CKF_PROBE_WIDE)
		ckf_bucket_read(t, at, row->tags);
	else if (how == CKF_PROBE_PLAIN)
		row->lanes = ckf_bucket_word(t, at);
#if defined(__x86_64__)
	else if (how == CKF_PROBE_SEMI_PDEP)
		row->lanes = ckf_spread_pdep(t, ckf_bucket_word(t, at));
#endif
	else
		row->lanes = ckf_spread(t, ckf_bucket_word(t, at));
}

CKF_INLINE bool
ckf_is_semi(ckf_probe how)
{
	return how == CKF_PROBE_SEMI || how == CKF_PROBE_SEMI_PDEP;
}

CKF_INLINE uint64_t
ckf_row_tag(const ckf_filter *t, ckf_probe how, const ckf_row *row, unsigned slot)
{
	uint64_t lane;

	if (how == CKF_PROBE_WIDE)
		return row->tags[slot];
	lane = row->lanes >> (slot * t->f) & t->tag_mask;
	return ckf_is_semi(how) ? ckf_key_tag(lane, t->f) : lane;
}

/*
 * Which slots hold a tag (0: are free), as a mask: bit i for slot i, or by word
 * the top bit of lane i.
 */
CKF_INLINE uint64_t
ckf_row_mask(const ckf_filter *t, ckf_probe how, const ckf_row *row, uint64_t tag)
{
	uint64_t mask = 0;
	unsigned i;

	if (how != CKF_PROBE_WIDE)
		return ckf_each_lane(t, row->lanes, ckf_is_semi(how) ? ckf_sort_key(tag, t->f) : tag);
	for (i = 0; i < t->b; i++)
		mask |= (uint64_t)(row->tags[i] == tag) << i;
	return mask;
}

/* The mask of all slots. */
CKF_INLINE uint64_t
ckf_row_all(const ckf_filter *t, ckf_probe how)
{
	return how == CKF_PROBE_WIDE ? (UINT64_C(1) << t->b) - 1 : t->tops;
}

/* Slots in a mask. */
CKF_INLINE unsigned
ckf_mask_count(const ckf_filter *t, ckf_probe how, uint64_t mask)
{
	if (how == CKF_PROBE_WIDE)
		return (unsigned)__builtin_popcountll(mask);
	/* the product adds all lanes up in the last one */
	return (unsigned)((mask >> (t->f - 1)) * t->lanes >> ((t->b - 1) * t->f) & 15);
}

/* The mask of one slot. */
CKF_INLINE uint64_t
ckf_slot_mask(const ckf_filter *t, ckf_probe how, unsigned slot)
{
	return how == CKF_PROBE_WIDE ? UINT64_C(1) << slot : UINT64_C(1) << ((slot + 1) * t->f - 1);
}

/* Has a bucket a free slot? */
CKF_INLINE bool
ckf_has_free(const ckf_filter *t, ckf_probe how, uint64_t at)
{
	uint64_t tags[CKF_MAX_SLOTS];
	uint64_t word;

	if (how == CKF_PROBE_WIDE)
	{
		ckf_bucket_read(t, at, tags);
		return ckf_count_tags(tags, t->b, 0) > 0;
	}
	word = ckf_bucket_word(t, at);
	if (how == CKF_PROBE_PLAIN)
		return ckf_any_lane(t, word, 0) != 0;
	/* tag 0 sorts first */
	return (ckf_nibbles[word & ((1 << CKF_CODE_BITS) - 1)] & 15) == 0 &&
		   (word >> CKF_CODE_BITS & (t->tag_mask >> 4)) == 0;
}

CKF_INLINE void
ckf_write_word(const ckf_filter *t, uint64_t at, uint64_t word)
{
	uint8_t *p = ckf_body(t) + (at >> 3);
	uint64_t mask = ckf_low_bits_mask(t->bucket_bits) << (at & 7);

	ckf_store64(p, (ckf_load64(p) & ~mask) | word << (at & 7));
}

/* Where the bucket holds `old`, in the first slot of the mask, put `tag`. */
CKF_INLINE void
ckf_row_replace(const ckf_filter *t, ckf_probe how, uint64_t at, ckf_row *row, uint64_t mask,
				uint64_t old, uint64_t tag)
{
	unsigned first = (unsigned)__builtin_ctzll(mask);

	if (how == CKF_PROBE_WIDE)
	{
		row->tags[first] = tag;
		ckf_bucket_write(t, at, row->tags);
	}
	else if (how == CKF_PROBE_PLAIN)
	{
		uint64_t change = (old ^ tag) << (first + 1 - t->f);
		uint8_t *p = ckf_body(t) + (at >> 3);

		ckf_store64(p, ckf_load64(p) ^ change << (at & 7));
	}
	else
	{
		uint64_t lanes = row->lanes;

		if (old != 0)
			lanes = ckf_lanes_drop(t, lanes, first + 1 - t->f);
		if (tag != 0)
			lanes = ckf_lanes_insert(t, lanes, ckf_sort_key(tag, t->f));
#if defined(__x86_64__)
		if (how == CKF_PROBE_SEMI_PDEP)
			ckf_write_word(t, at, ckf_gather_pext(t, lanes));
		else
#endif
			ckf_write_word(t, at, ckf_gather(t, lanes));
	}
}

#endif
