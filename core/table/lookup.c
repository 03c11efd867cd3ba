/*
 * lookup.c - a lookup in a table of which the host has read only the header.  It asks for the
 * hash's bucket in half 0, then for its bucket in half 1.
 *
 * Buckets are read slot by slot for every access: fetching the bytes costs far more.
 */
#include "bucket/slots.h"
#include "filter/geometry.h"
#include "filter/methods.h"

/* The bytes of the widest bucket, which may begin at any bit of a byte. */
#define CKF_BUCKET_BYTES ((CKF_MAX_SLOTS * CKF_MAX_TAG + 7 + 7) / 8)

/* The first bit of the bucket in a half. */
static uint64_t
ckf_first_bit(const ckf_filter *t, const ckf_location *location, unsigned half)
{
	return location->at[half] * (ckf_is_bytes(t->methods->access) ? 8 : 1);
}

/* Ask for the bucket of a step: that of half 0 at first, then that of half 1. */
ckf_status
ckf_table_lookup_start(const ckf_filter *t, ckf_lookup_cursor *lookup)
{
	ckf_location location = ckf_locate(t, lookup->hash);
	uint64_t bit = ckf_first_bit(t, &location, lookup->steps);

	lookup->from = CKF_HEADER_SIZE + bit / 8;
	lookup->size = (uint32_t)(bit % 8 + t->bucket_bits + 7) / 8;
	return CKF_MORE;
}

ckf_status
ckf_table_lookup_step(const ckf_filter *t, ckf_lookup_cursor *lookup, const uint8_t *bytes)
{
	ckf_location location = ckf_locate(t, lookup->hash);
	uint8_t bucket[CKF_BUCKET_BYTES + CKF_TABLE_PAD] = {0};
	uint64_t tags[CKF_MAX_SLOTS];

	memcpy(bucket, bytes, lookup->size);
	ckf_slots_read_from(t, bucket, ckf_first_bit(t, &location, lookup->steps) % 8, tags);
	lookup->copies += ckf_count_tags(tags, t->b, location.tag);
	lookup->steps++;
	if (lookup->steps == 2 || (lookup->copies > 0 && !lookup->all_copies))
		return CKF_OK;
	return ckf_table_lookup_start(t, lookup);
}
