/*
 * table.c - look up, add and remove in a table, plain or semi-sorted (paper,
 * Algorithms 1 to 3).
 */
#include "insert.h"

unsigned ckf_table_copies(const ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);
	uint64_t tags[2 * CKF_MAX_SLOTS];

	ckf_bucket_read(t, place.bucket[0], tags);
	ckf_bucket_read(t, place.bucket[1], tags + t->b);
	return ckf_count_tags(tags, 2U * t->b, place.tag);
}

bool ckf_table_contains(const ckf_filter *t, uint64_t hash)
{
	return ckf_table_copies(t, hash) > 0;
}

static bool ckf_table_kick(ckf_filter *t, const ckf_place *place)
{
	ckf_inverse inverse;
	ckf_segment s = {.t = t, .inverse = &inverse};

	/* reciprocal is never 0 once filled */
	if (t->inverse[2] == 0)
	{
		ckf_inverse_of(&inverse, t);
		memcpy(t->inverse, &inverse, sizeof inverse);
	}
	memcpy(&inverse, t->inverse, sizeof inverse);
	s.first = place->bucket[0] - place->bucket[0] % (2 * (uint64_t)t->m);
	return ckf_kick(&s, CKF_IN_TABLE, (uint32_t)(place->bucket[0] - s.first),
					(uint32_t)(place->bucket[1] - s.first), place->tag);
}

ckf_status ckf_table_add(ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);
	uint64_t tags[2 * CKF_MAX_SLOTS];
	unsigned b = t->b;
	unsigned copies, free0, free1;

	ckf_bucket_read(t, place.bucket[0], tags);
	ckf_bucket_read(t, place.bucket[1], tags + b);
	copies = ckf_count_tags(tags, 2 * b, place.tag);
	if (copies > 0 && (copies == 2 * b || ckf_stores_once(t)))
		return CKF_OK;
	if (t->count >= t->max_count)
		return CKF_PRECISION;
	free0 = ckf_count_tags(tags, b, 0);
	free1 = ckf_count_tags(tags + b, b, 0);
	if (free0 + free1 > 0)
	{
		/* the emptier bucket: it halves the kicks to come */
		unsigned half = free1 > free0;
		uint64_t *slot = tags + half * b;

		while (*slot != 0)
			slot++;
		*slot = place.tag;
		ckf_bucket_write(t, place.bucket[half], tags + half * b);
	}
	else if (!ckf_table_kick(t, &place))
		return CKF_ROOM;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

ckf_status ckf_table_remove(ckf_filter *t, uint64_t hash, bool *found)
{
	ckf_place place = ckf_locate(t, hash);
	uint64_t tags[2 * CKF_MAX_SLOTS];
	unsigned copies, half;
	uint64_t *slot = tags;

	ckf_bucket_read(t, place.bucket[0], tags);
	ckf_bucket_read(t, place.bucket[1], tags + t->b);
	copies = ckf_count_tags(tags, 2U * t->b, place.tag);
	*found = copies > 0 && copies < 2U * t->b && t->count > 0;
	if (!*found)
		return CKF_OK;
	while (*slot != place.tag)
		slot++;
	*slot = 0;
	half = slot >= tags + t->b;
	ckf_bucket_write(t, place.bucket[half], tags + half * t->b);
	ckf_set_count(t, t->count - 1);
	return CKF_OK;
}

/* Is a tag one that the writer could have put into this bucket? */
static bool ckf_tag_possible(const ckf_filter *t, const ckf_inverse *inv, uint64_t bucket,
							 uint64_t tag)
{
	uint64_t in_segment = bucket % (2 * (uint64_t)t->m);
	unsigned half = in_segment >= t->m;
	uint64_t q = in_segment - half * t->m;

	return (tag & t->low_mask) != 0 && ckf_bucket_of(t, half, ckf_rho(t, inv, half, q, tag)) == q;
}

static bool ckf_zero_from(const ckf_filter *t, uint64_t bit)
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

bool ckf_table_check(const ckf_filter *t)
{
	uint64_t buckets = ((uint64_t)2 * t->m) << t->g;
	uint64_t count = 0;
	uint64_t bucket;
	ckf_inverse inv;

	ckf_inverse_of(&inv, t);
	for (bucket = 0; bucket < buckets; bucket++)
	{
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned i;

		if (t->encoding == CKF_SEMI_SORTED &&
			ckf_load_bits(ckf_body(t), bucket * t->bucket_bits, CKF_CODE_BITS) >= CKF_CODES)
			return false;
		ckf_bucket_read(t, bucket, tags);
		for (i = 0; i < t->b; i++)
		{
			if (t->encoding == CKF_SEMI_SORTED && i > 0 &&
				ckf_sort_key(tags[i - 1], t->f) > ckf_sort_key(tags[i], t->f))
				return false;
			if (tags[i] == 0)
				continue;
			if (!ckf_tag_possible(t, &inv, bucket, tags[i]))
				return false;
			count++;
		}
	}
	return count == t->count && ckf_zero_from(t, buckets * t->bucket_bits);
}
