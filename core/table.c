/*
 * table.c - look up, add and remove in a table, plain or semi-sorted (paper,
 * Algorithms 1 to 3).
 */
#include "insert.h"

CKF_INLINE unsigned
ckf_copies_by(const ckf_filter *t, ckf_how how, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);
	ckf_row rows[2];

	ckf_row_read(t, how, place.bucket[0], &rows[0]);
	ckf_row_read(t, how, place.bucket[1], &rows[1]);
	return ckf_row_count(t, how, &rows[0], place.tag) + ckf_row_count(t, how, &rows[1], place.tag);
}

unsigned
ckf_table_copies(const ckf_filter *t, uint64_t hash)
{
	return ckf_how_of(t) == CKF_BY_SLOTS ? ckf_copies_by(t, CKF_BY_SLOTS, hash)
										 : ckf_copies_by(t, CKF_BY_WORD, hash);
}

/* Both buckets are full: move others. */
CKF_INLINE bool
ckf_kick_by(ckf_filter *t, ckf_how how, const ckf_place *place)
{
	ckf_inverse inverse;
	ckf_segment s = {.t = t, .inverse = &inverse, .how = how};

	if (t->inverse[2] == 0) /* the reciprocal, never 0 once filled */
	{
		ckf_inverse_of(&inverse, t);
		memcpy(t->inverse, &inverse, sizeof inverse);
	}
	memcpy(&inverse, t->inverse, sizeof inverse);
	s.first = place->bucket[0] - place->bucket[0] % (2 * (uint64_t)t->m);
	return ckf_kick(&s, CKF_IN_TABLE, (uint32_t)(place->bucket[0] - s.first),
					(uint32_t)(place->bucket[1] - s.first), place->tag);
}

static bool
ckf_kick_slots(ckf_filter *t, const ckf_place *place)
{
	return ckf_kick_by(t, CKF_BY_SLOTS, place);
}

static bool
ckf_kick_words(ckf_filter *t, const ckf_place *place)
{
	return ckf_kick_by(t, CKF_BY_WORD, place);
}

CKF_INLINE ckf_status
ckf_add_by(ckf_filter *t, ckf_how how, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);
	unsigned copies, free0, free1;
	ckf_row rows[2];

	ckf_row_read(t, how, place.bucket[0], &rows[0]);
	ckf_row_read(t, how, place.bucket[1], &rows[1]);
	copies =
		ckf_row_count(t, how, &rows[0], place.tag) + ckf_row_count(t, how, &rows[1], place.tag);
	if (copies > 0 && (copies == 2U * t->b || ckf_stores_once(t)))
		return CKF_OK;
	if (t->count >= t->max_count)
		return CKF_PRECISION;
	free0 = ckf_row_count(t, how, &rows[0], 0);
	free1 = ckf_row_count(t, how, &rows[1], 0);
	if (free0 + free1 > 0)
	{
		/* the emptier bucket: it halves the kicks to come */
		unsigned half = free1 > free0;

		ckf_row_replace(t, how, &rows[half], 0, place.tag);
		ckf_row_write(t, how, place.bucket[half], &rows[half]);
	}
	else if (t->count >= t->full_count ||
			 !(how == CKF_BY_SLOTS ? ckf_kick_slots(t, &place) : ckf_kick_words(t, &place)))
		return CKF_ROOM;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

CKF_INLINE void
ckf_remove_by(ckf_filter *t, ckf_how how, uint64_t hash, bool *found)
{
	ckf_place place = ckf_locate(t, hash);
	unsigned copies0, copies, half;
	ckf_row rows[2];

	ckf_row_read(t, how, place.bucket[0], &rows[0]);
	ckf_row_read(t, how, place.bucket[1], &rows[1]);
	copies0 = ckf_row_count(t, how, &rows[0], place.tag);
	copies = copies0 + ckf_row_count(t, how, &rows[1], place.tag);
	*found = copies > 0 && copies < 2U * t->b && t->count > 0;
	if (!*found)
		return;
	half = copies0 == 0;
	ckf_row_replace(t, how, &rows[half], place.tag, 0);
	ckf_row_write(t, how, place.bucket[half], &rows[half]);
	ckf_set_count(t, t->count - 1);
}

#if defined(__x86_64__)
CKF_PDEP static ckf_status
ckf_add_pdep(ckf_filter *t, uint64_t hash)
{
	return ckf_add_by(t, CKF_BY_WORD_PDEP, hash);
}

CKF_PDEP static void
ckf_remove_pdep(ckf_filter *t, uint64_t hash, bool *found)
{
	ckf_remove_by(t, CKF_BY_WORD_PDEP, hash, found);
}
#endif

ckf_status
ckf_table_add(ckf_filter *t, uint64_t hash)
{
	switch (ckf_how_of(t))
	{
		case CKF_BY_SLOTS:
			return ckf_add_by(t, CKF_BY_SLOTS, hash);
#if defined(__x86_64__)
		case CKF_BY_WORD_PDEP:
			return ckf_add_pdep(t, hash);
#endif
		default:
			return ckf_add_by(t, CKF_BY_WORD, hash);
	}
}

ckf_status
ckf_table_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	switch (ckf_how_of(t))
	{
		case CKF_BY_SLOTS:
			ckf_remove_by(t, CKF_BY_SLOTS, hash, found);
			break;
#if defined(__x86_64__)
		case CKF_BY_WORD_PDEP:
			ckf_remove_pdep(t, hash, found);
			break;
#endif
		default:
			ckf_remove_by(t, CKF_BY_WORD, hash, found);
	}
	return CKF_OK;
}

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
ckf_half_possible(const ckf_filter *t, const ckf_inverse *inv, uint64_t bucket, unsigned half,
				  uint64_t *count)
{
	uint64_t first = 0;
	uint32_t q;

	for (q = 0; q < t->m; q++)
	{
		uint64_t next = ckf_first_of(inv, t->m, q + 1);
		uint64_t tags[CKF_MAX_SLOTS];

		if (t->encoding == CKF_SEMI_SORTED &&
			ckf_load_bits(ckf_body(t), (bucket + q) * t->bucket_bits, CKF_CODE_BITS) >= CKF_CODES)
			return false;
		ckf_bucket_read(t, bucket + q, tags);
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
		if (!ckf_half_possible(t, &inv, i * t->m, i & 1, &count))
			return false;
	return count == t->count && ckf_zero_from(t, halves * t->m * t->bucket_bits);
}
