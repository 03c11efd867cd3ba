/*
 * row.h - a bucket in hand: read it, count, replace, write it back.  The same
 * calls for buckets that are one word and for wide ones; `how` is a constant at
 * each use, so that the compiler makes a version for each.
 */
#ifndef CKF_ROW_H
#define CKF_ROW_H

#include "lanes.h"

typedef enum ckf_how
{
	CKF_BY_SLOTS,    /* any geometry */
	CKF_BY_WORD,     /* a bucket is one word */
	CKF_BY_WORD_PDEP /* the same, where pdep is fast */
} ckf_how;

typedef struct ckf_row
{
	uint64_t lanes;               /* by word */
	uint64_t tags[CKF_MAX_SLOTS]; /* by slots */
} ckf_row;

CKF_INLINE ckf_how
ckf_how_of(const ckf_filter *t)
{
	return t->probe == CKF_PROBE_WIDE        ? CKF_BY_SLOTS
		   : t->probe == CKF_PROBE_SEMI_PDEP ? CKF_BY_WORD_PDEP
											 : CKF_BY_WORD;
}

CKF_INLINE void
ckf_row_read(const ckf_filter *t, ckf_how how, uint64_t bucket, ckf_row *row)
{
	if (how == CKF_BY_SLOTS)
		ckf_bucket_read(t, bucket, row->tags);
#if defined(__x86_64__)
	else if (how == CKF_BY_WORD_PDEP)
		row->lanes = ckf_spread_pdep(t, ckf_bucket_word(t, bucket));
#endif
	else
		row->lanes = ckf_bucket_lanes(t, bucket);
}

CKF_INLINE uint64_t
ckf_row_tag(const ckf_filter *t, ckf_how how, const ckf_row *row, unsigned slot)
{
	return how == CKF_BY_SLOTS ? row->tags[slot] : row->lanes >> (slot * t->f) & t->tag_mask;
}

/* Slots that hold a tag; 0 counts free ones. */
CKF_INLINE unsigned
ckf_row_count(const ckf_filter *t, ckf_how how, const ckf_row *row, uint64_t tag)
{
	if (how == CKF_BY_SLOTS)
		return ckf_count_tags(row->tags, t->b, tag);
	return (unsigned)__builtin_popcountll(ckf_each_lane(t, row->lanes, tag));
}

CKF_INLINE void
ckf_row_set(const ckf_filter *t, ckf_how how, ckf_row *row, unsigned slot, uint64_t tag)
{
	unsigned at = slot * t->f;

	if (how == CKF_BY_SLOTS)
		row->tags[slot] = tag;
	else
		row->lanes = (row->lanes & ~(t->tag_mask << at)) | tag << at;
}

/* Put a tag where another is (0: where a slot is free); the first such. */
CKF_INLINE void
ckf_row_replace(const ckf_filter *t, ckf_how how, ckf_row *row, uint64_t old, uint64_t tag)
{
	unsigned slot = 0;

	if (how == CKF_BY_SLOTS)
	{
		while (row->tags[slot] != old)
			slot++;
		row->tags[slot] = tag;
	}
	else
	{
		uint64_t top = ckf_each_lane(t, row->lanes, old);
		unsigned at = (unsigned)__builtin_ctzll(top) + 1 - t->f;

		row->lanes ^= (old ^ tag) << at;
	}
}

CKF_INLINE void
ckf_row_write(const ckf_filter *t, ckf_how how, uint64_t bucket, const ckf_row *row)
{
	uint64_t at = bucket * t->bucket_bits;
	uint8_t *p = ckf_body(t) + (at >> 3);
	uint64_t mask = UINT64_MAX >> ((64 - t->bucket_bits) & 63);
	uint64_t word = row->lanes;

	if (how == CKF_BY_SLOTS)
	{
		ckf_bucket_write(t, bucket, row->tags);
		return;
	}
	if (t->encoding == CKF_SEMI_SORTED)
	{
		uint64_t tags[4];
		unsigned i;

		for (i = 0; i < 4; i++)
			tags[i] = ckf_row_tag(t, how, row, i);
		word = ckf_semi_word(tags, t->f);
	}
	ckf_store64(p, (ckf_load64(p) & ~(mask << (at & 7))) | (word & mask) << (at & 7));
}

#endif
