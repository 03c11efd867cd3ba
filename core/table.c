/*
 * table.c - look up, add and remove in a table, plain or semi-sorted (paper,
 * Algorithms 1 to 3).
 */
#include "insert.h"

/* The two buckets of a hash, and which of their slots hold its tag. */
typedef struct ckf_pair
{
	ckf_place place;
	ckf_row row0, row1;
	uint64_t holds0, holds1;
} ckf_pair;

CKF_INLINE void
ckf_pair_read(const ckf_filter *t, ckf_probe how, uint64_t hash, ckf_pair *pair)
{
	pair->place = ckf_locate(t, hash);
	ckf_row_read(t, how, pair->place.at[0], &pair->row0);
	ckf_row_read(t, how, pair->place.at[1], &pair->row1);
	pair->holds0 = ckf_row_mask(t, how, &pair->row0, pair->place.tag);
	pair->holds1 = ckf_row_mask(t, how, &pair->row1, pair->place.tag);
}

CKF_INLINE bool
ckf_pair_is_saturated(const ckf_filter *t, ckf_probe how, const ckf_pair *pair)
{
	return (pair->holds0 & pair->holds1) == ckf_row_all(t, how);
}

/* In half 0 or 1: `tag` for `old` in the first slot of the mask. */
CKF_INLINE void
ckf_pair_replace(const ckf_filter *t, ckf_probe how, ckf_pair *pair, bool half, uint64_t mask,
				 uint64_t old, uint64_t tag)
{
	ckf_row row = half ? pair->row1 : pair->row0;

	ckf_row_replace(t, how, half ? pair->place.at[1] : pair->place.at[0], &row, mask, old, tag);
}

CKF_INLINE unsigned
ckf_copies_by(const ckf_filter *t, ckf_probe how, uint64_t hash)
{
	ckf_pair pair;

	ckf_pair_read(t, how, hash, &pair);
	return ckf_mask_count(t, how, pair.holds0) + ckf_mask_count(t, how, pair.holds1);
}

unsigned
ckf_table_copies(const ckf_filter *t, uint64_t hash)
{
	return t->probe == CKF_PROBE_WIDE    ? ckf_copies_by(t, CKF_PROBE_WIDE, hash)
		   : t->probe == CKF_PROBE_PLAIN ? ckf_copies_by(t, CKF_PROBE_PLAIN, hash)
										 : ckf_copies_by(t, CKF_PROBE_SEMI, hash);
}

/* Both buckets are full: move others. */
CKF_INLINE bool
ckf_kick_by(ckf_filter *t, ckf_probe how, uint64_t hash)
{
	uint64_t rho = ckf_cut(hash, t->w, t->low_mask) << t->g;
	ckf_place place = ckf_locate(t, hash);
	ckf_inverse inverse;
	ckf_segment s = {.t = t, .inverse = &inverse, .how = how};

	if (t->inverse[2] == 0) /* the reciprocal, never 0 once filled */
	{
		ckf_inverse_of(&inverse, t);
		memcpy(t->inverse, &inverse, sizeof inverse);
	}
	memcpy(&inverse, t->inverse, sizeof inverse);
	s.first = (hash >> 1 >> t->segment_shift) * 2 * t->half_bits;
	return ckf_kick(&s, CKF_IN_TABLE, (uint32_t)ckf_mulhi(rho, t->m),
					(uint32_t)ckf_mulhi(rho * t->golden, t->m) + t->m, place.tag);
}

#if defined(__x86_64__)
CKF_PDEP CKF_OUTLINE static bool
ckf_kick_pdep(ckf_filter *t, uint64_t hash)
{
	return ckf_kick_by(t, CKF_PROBE_SEMI_PDEP, hash);
}
#else
#define ckf_kick_pdep(t, hash) ckf_kick_by(t, CKF_PROBE_SEMI, hash)
#endif

CKF_OUTLINE static bool
ckf_table_kick(ckf_filter *t, uint64_t hash)
{
	switch ((ckf_probe)t->probe)
	{
		case CKF_PROBE_PLAIN:
			return ckf_kick_by(t, CKF_PROBE_PLAIN, hash);
		case CKF_PROBE_SEMI_PDEP:
			return ckf_kick_pdep(t, hash);
		case CKF_PROBE_SEMI:
			return ckf_kick_by(t, CKF_PROBE_SEMI, hash);
		default:
			return ckf_kick_by(t, CKF_PROBE_WIDE, hash);
	}
}

CKF_INLINE ckf_status
ckf_add_by(ckf_filter *t, ckf_probe how, uint64_t hash)
{
	uint64_t free0, free1;
	ckf_pair pair;

	ckf_pair_read(t, how, hash, &pair);
	if (CKF_UNLIKELY((pair.holds0 | pair.holds1) != 0) &&
		(ckf_stores_once(t) || ckf_pair_is_saturated(t, how, &pair)))
		return CKF_OK;
	if (t->count >= t->max_count)
		return CKF_PRECISION;
	free0 = ckf_row_mask(t, how, &pair.row0, 0);
	free1 = ckf_row_mask(t, how, &pair.row1, 0);
	if (CKF_LIKELY((free0 | free1) != 0))
	{
		/* the emptier bucket: it halves the kicks to come */
		bool half = ckf_mask_count(t, how, free1) > ckf_mask_count(t, how, free0);

		ckf_pair_replace(t, how, &pair, half, half ? free1 : free0, 0, pair.place.tag);
	}
	else if (t->count >= t->full_count || !ckf_table_kick(t, hash))
		return CKF_ROOM;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

/* True where there was a copy to take. */
CKF_INLINE bool
ckf_remove_by(ckf_filter *t, ckf_probe how, uint64_t hash)
{
	bool half;
	ckf_pair pair;

	ckf_pair_read(t, how, hash, &pair);
	if ((pair.holds0 | pair.holds1) == 0 || ckf_pair_is_saturated(t, how, &pair) || t->count == 0)
		return false;
	half = pair.holds0 == 0;
	ckf_pair_replace(t, how, &pair, half, half ? pair.holds1 : pair.holds0, pair.place.tag, 0);
	ckf_set_count(t, t->count - 1);
	return true;
}

/* A version of each for every way to read a bucket; filter.c chooses. */

ckf_status
ckf_add_wide(ckf_filter *t, uint64_t hash)
{
	return ckf_add_by(t, CKF_PROBE_WIDE, hash);
}

bool
ckf_remove_wide(ckf_filter *t, uint64_t hash)
{
	return ckf_remove_by(t, CKF_PROBE_WIDE, hash);
}

ckf_status
ckf_add_plain(ckf_filter *t, uint64_t hash)
{
	return ckf_add_by(t, CKF_PROBE_PLAIN, hash);
}

bool
ckf_remove_plain(ckf_filter *t, uint64_t hash)
{
	return ckf_remove_by(t, CKF_PROBE_PLAIN, hash);
}

ckf_status
ckf_add_semi(ckf_filter *t, uint64_t hash)
{
	return ckf_add_by(t, CKF_PROBE_SEMI, hash);
}

bool
ckf_remove_semi(ckf_filter *t, uint64_t hash)
{
	return ckf_remove_by(t, CKF_PROBE_SEMI, hash);
}

#if defined(__x86_64__)
CKF_PDEP ckf_status
ckf_add_semi_pdep(ckf_filter *t, uint64_t hash)
{
	return ckf_add_by(t, CKF_PROBE_SEMI_PDEP, hash);
}

CKF_PDEP bool
ckf_remove_semi_pdep(ckf_filter *t, uint64_t hash)
{
	return ckf_remove_by(t, CKF_PROBE_SEMI_PDEP, hash);
}
#endif

/* Can these tags be in a bucket of `half` whose x are `first` .. `next` - 1?
 * Counts those that are not free. */
CKF_INLINE bool
ckf_tags_possible(const ckf_filter *t, const uint64_t *tags, unsigned half, uint64_t first,
				  uint64_t next, uint64_t *count)
{
	uint64_t wrong = 0;
	unsigned i;

	for (i = 0; i < t->b; i++)
	{
		uint64_t like = half ? tags[i] * t->golden : tags[i];
		bool used = tags[i] != 0;

		wrong |=
			used & ((tags[i] & t->low_mask) == 0 || ((like - first) & t->tag_mask) >= next - first);
		*count += used;
		if (t->encoding == CKF_SEMI_SORTED && i > 0)
			wrong |= ckf_sort_key(tags[i - 1], t->f) > ckf_sort_key(tags[i], t->f);
	}
	return wrong == 0;
}

static bool
ckf_half_possible(const ckf_filter *t, const ckf_inverse *inv, uint64_t at, unsigned half,
				  uint64_t *count)
{
	uint64_t first = 0;
	uint32_t q;

	for (q = 0; q < t->m; q++, at += t->bucket_bits)
	{
		uint64_t next = ckf_first_of(inv, t->m, q + 1);
		uint64_t tags[CKF_MAX_SLOTS];

		if (t->encoding == CKF_SEMI_SORTED &&
			ckf_load_bits(ckf_body(t), at, CKF_CODE_BITS) >= CKF_CODES)
			return false;
		ckf_bucket_read(t, at, tags);
		if (!ckf_tags_possible(t, tags, half, first, next, count))
			return false;
		first = next;
	}
	return true;
}

static bool
ckf_zero_from(const ckf_filter *t, uint64_t bit)
{
	const uint8_t *p = ckf_body(t) + bit / 8;
	const uint8_t *end = t->bytes + t->size;

	if (bit % 8 != 0 && *p++ >> (bit % 8) != 0)
		return false;
	while (p < end)
		if (*p++ != 0)
			return false;
	return true;
}

bool
ckf_table_check(const ckf_filter *t)
{
	uint64_t halves = UINT64_C(2) << t->g;
	uint64_t count = 0;
	uint64_t i;
	ckf_inverse inv;

	ckf_inverse_of(&inv, t);
	for (i = 0; i < halves; i++)
		if (!ckf_half_possible(t, &inv, i * t->half_bits, i & 1, &count))
			return false;
	return count == t->count && ckf_zero_from(t, halves * t->half_bits);
}
