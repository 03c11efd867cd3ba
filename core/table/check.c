/*
 * check.c - validate a table from an untrusted source: every slot is checked, and the copies are
 * counted again.
 */
#include "bucket/slots.h"
#include "filter/geometry.h"
#include "filter/methods.h"
#include "thresholds.h"

/*
 * Whether these tags are possible in a bucket whose values of x are first .. next - 1.  A tag has
 * the low f bits of x.  The bucket may have fewer than 2^f values, so there may be no x with these
 * bits.  The low c bits of a tag are never 0, and a semi-sorted bucket is in order.  The call adds
 * the number of used slots to *count.
 */
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
			ckf_load_bits(t->body, at, CKF_CODE_BITS) >= CKF_CODES)
			return false;
		ckf_slots_read(t, at, tags);
		if (!ckf_tags_possible(t, tags, half, first, next, count))
			return false;
		first = next;
	}
	return true;
}

static bool
ckf_zero_from(const ckf_filter *t, uint64_t bit)
{
	const uint8_t *p = t->body + bit / 8;
	const uint8_t *end = t->body + (t->size - CKF_HEADER_SIZE);

	if (bit % 8 != 0 && *p++ >> (bit % 8) != 0)
		return false;
	while (p < end)
		if (*p++ != 0)
			return false;
	return true;
}

/* Each step checks one large half of a segment, or several small ones.  The last step checks the
 * padding and the count. */
ckf_status
ckf_table_check(const ckf_filter *t, ckf_check *check)
{
	uint64_t halves = UINT64_C(2) << t->g;
	uint64_t buckets = 0;
	ckf_inverse inv;

	ckf_inverse_of(&inv, t);
	for (; check->next < halves && buckets < CKF_MAX_BUCKETS_BUILT; buckets += t->m)
	{
		uint64_t half = check->next++;

		if (!ckf_half_possible(t, &inv, half * t->half_bits, half & 1, &check->count))
			return CKF_BAD_BYTES;
	}
	if (check->next < halves || buckets > 0)
		return CKF_MORE;
	return check->count == t->count && ckf_zero_from(t, halves * t->half_bits) ? CKF_OK
																			   : CKF_BAD_BYTES;
}
