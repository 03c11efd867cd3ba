/*
 * lookup.h - where an item is, and the inline part of ckf_contains, so that a
 * loop of lookups keeps the geometry in registers.  Included by cuckoofilter.h;
 * nothing here but ckf_contains is for hosts to call.
 */
#ifndef CKF_LOOKUP_H
#define CKF_LOOKUP_H

#include <string.h>

#define CKF_INLINE static inline __attribute__((always_inline))

CKF_INLINE uint64_t
ckf_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* floor(x * m / 2^64) */
CKF_INLINE uint64_t
ckf_mulhi(uint64_t x, uint32_t m)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)(((unsigned __int128)x * m) >> 64);
#else
	return ((x >> 32) * m + (((x & UINT32_MAX) * m) >> 32)) >> 32;
#endif
}

CKF_INLINE uint8_t *
ckf_body(const ckf_filter *t)
{
	return t->bytes + CKF_HEADER_SIZE;
}

/* Where a prefix lives: its tag, and its two buckets. */
typedef struct ckf_place
{
	uint64_t tag;
	uint64_t at[2]; /* in half 0, in half 1: first bit, or first byte (operations.h) */
} ckf_place;

CKF_INLINE ckf_place
ckf_locate(const ckf_filter *t, uint64_t hash)
{
	uint64_t prefix = hash >> t->prefix_shift;
	uint64_t first = (prefix >> t->rho_bits) * t->segment_step;
	uint64_t rho;
	ckf_place place;

	prefix += (prefix & t->low_mask) == 0;
	rho = prefix << t->rho_shift; /* aligned to the left */
	place.tag = prefix & t->tag_mask;
	place.at[0] = first + ckf_mulhi(rho, t->m) * t->bucket_step;
	place.at[1] = first + ckf_mulhi(rho * t->golden, t->m) * t->bucket_step + t->half_step;
	return place;
}

/* Has any lane this tag?  Not 0 if so, and the lowest bit tells the first.  (A
 * borrow may also mark lanes above a true one.) */
CKF_INLINE uint64_t
ckf_any_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);

	return (x - t->lanes) & ~x & t->tops;
}

/* All but plain tables whose buckets are bytes (filter.c). */
__attribute__((pure)) bool ckf_contains_otherwise(const ckf_filter *filter, uint64_t hash);

static inline bool
ckf_contains(const ckf_filter *filter, uint64_t hash)
{
	const uint8_t *body = ckf_body(filter);
	ckf_place place;

	if (!filter->plain_bytes)
		return ckf_contains_otherwise(filter, hash);
	place = ckf_locate(filter, hash);
	return (ckf_any_lane(filter, ckf_load64(body + place.at[0]), place.tag) |
			ckf_any_lane(filter, ckf_load64(body + place.at[1]), place.tag)) != 0;
}

#endif
