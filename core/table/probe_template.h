/*
 * probe_template.h - look up a tag in its two buckets.  This is faster than counting its copies,
 * as ckf_copies does.
 */
#ifndef CKF_PROBE_TEMPLATE_H
#define CKF_PROBE_TEMPLATE_H

#include "bucket/lanes_template.h"
#include "filter/geometry.h"

/* Look up a tag in a plain bucket that needs several loads.  Each load has `load_slots`
 * whole slots, which are compared at the same time. */
CKF_INLINE bool
ckf_any_load(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	uint64_t end = at + t->bucket_bits;
	uint64_t step = (uint64_t)t->load_slots * t->f;
	uint64_t any = 0;

	for (; at < end; at += step)
		any |= ckf_any_lane(t, ckf_load64(t->body + (at >> 3)) >> (at & 7), tag);
	return any != 0;
}

/* Look up a tag in a semi-sorted bucket that needs several loads.  The upper bits are compared only
 * in slots whose low nibble is equal, which are few. */
CKF_INLINE bool
ckf_any_nibble(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	const uint8_t *body = t->body;
	unsigned high = t->f - 4U;
	unsigned nibbles = ckf_nibbles[ckf_load_bits(body, at, CKF_CODE_BITS)];
	unsigned i;

	at += CKF_CODE_BITS;
	for (i = 0; i < 4; i++)
		if ((nibbles >> (4 * i) & 15) == (tag & 15) &&
			ckf_load_bits(body, at + i * high, high) == tag >> 4)
			return true;
	return false;
}

/* Look up a tag in its two buckets.  Both buckets are loaded before either is compared, so that the
 * loads overlap. */
CKF_INLINE bool
ckf_has_tag(const ckf_filter *t, ckf_access access, const ckf_location *location)
{
	uint64_t lane;

	if (access != CKF_BY_SLOT)
	{
		lane = ckf_lane_of(t, access, location->tag);
		return (ckf_any_lane(t, ckf_read_lanes(t, access, location->at[0]), lane) |
				ckf_any_lane(t, ckf_read_lanes(t, access, location->at[1]), lane)) != 0;
	}
	if (t->encoding == CKF_PLAIN)
		return ckf_any_load(t, location->at[0], location->tag) ||
			   ckf_any_load(t, location->at[1], location->tag);
	return ckf_any_nibble(t, location->at[0], location->tag) ||
		   ckf_any_nibble(t, location->at[1], location->tag);
}

/* (Paper, Algorithm 2.) */
CKF_INLINE bool
ckf_contains_by(const ckf_filter *t, ckf_access access, uint64_t hash)
{
	ckf_location location = ckf_locate(t, hash);

	return ckf_has_tag(t, access, &location);
}

CKF_INLINE void
ckf_fetch(const ckf_filter *t, ckf_access access, uint64_t at)
{
	__builtin_prefetch(ckf_byte_at(t, access, at));
}

/* Look up many hashes.  A hash is compared CKF_AHEAD hashes after its buckets were prefetched; its
 * location is kept in `locations` until then. */
CKF_INLINE size_t
ckf_contains_many_by(const ckf_filter *t, ckf_access access, const uint64_t *hashes, size_t n,
					 uint8_t *out)
{
	ckf_location locations[CKF_AHEAD];
	size_t found = 0;
	size_t i;

	for (i = 0; i < n + CKF_AHEAD; i++)
	{
		ckf_location *location = &locations[i % CKF_AHEAD];

		if (i >= CKF_AHEAD)
		{
			bool in = ckf_has_tag(t, access, location);

			found += in;
			if (out)
				out[i - CKF_AHEAD] = in;
		}
		if (i < n)
		{
			*location = ckf_locate(t, hashes[i]);
			ckf_fetch(t, access, location->at[0]);
			ckf_fetch(t, access, location->at[1]);
		}
	}
	return found;
}

#endif
