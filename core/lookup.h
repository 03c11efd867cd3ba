/*
 * lookup.h - the inline part of ckf_contains, so that a loop of lookups keeps
 * the geometry in registers.  Included by cuckoofilter.h; nothing here but
 * ckf_contains is for hosts to call.
 */
#ifndef CKF_LOOKUP_H
#define CKF_LOOKUP_H

#include <string.h>

#define CKF_INLINE static inline __attribute__((always_inline))

/* How a table's bucket is read: ckf_filter.probe. */
typedef enum ckf_probe
{
	CKF_PROBE_HASHES,
	CKF_PROBE_STATE,
	CKF_PROBE_PLAIN,     /* a bucket is one load */
	CKF_PROBE_SEMI,      /* the same, semi-sorted, on any machine */
	CKF_PROBE_SEMI_PDEP, /* the same, where pdep is fast */
	CKF_PROBE_WIDE       /* a bucket takes several loads */
} ckf_probe;

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

/* Where a prefix lives: its tag, and the first bits of its two buckets. */
typedef struct ckf_place
{
	uint64_t tag;
	uint64_t at[2]; /* in half 0, in half 1 */
} ckf_place;

CKF_INLINE ckf_place
ckf_locate(const ckf_filter *t, uint64_t hash)
{
	uint64_t segment = hash >> 1 >> t->segment_shift;
	uint64_t prefix = hash >> t->prefix_shift;
	uint64_t first = segment * 2 * t->half_bits;
	uint64_t rho;
	ckf_place place;

	prefix |= (prefix & t->low_mask) == 0;
	rho = prefix << t->rest_shift; /* aligned to the left */
	place.tag = prefix & t->tag_mask;
	place.at[0] = first + ckf_mulhi(rho, t->m) * t->bucket_bits;
	place.at[1] = first + ckf_mulhi(rho * t->golden, t->m) * t->bucket_bits + t->half_bits;
	return place;
}

CKF_INLINE uint8_t *
ckf_body(const ckf_filter *t)
{
	return t->bytes + CKF_HEADER_SIZE;
}

/* A bucket's bits, in the low bits of the result; others may be set above. */
CKF_INLINE uint64_t
ckf_bucket_word(const ckf_filter *t, uint64_t at)
{
	return ckf_load64(ckf_body(t) + (at >> 3)) >> (at & 7);
}

/* Has any lane this tag?  Not 0 if so.  (A borrow may also mark lanes above a
 * true one, so the result tells nothing about which.) */
CKF_INLINE uint64_t
ckf_any_lane(const ckf_filter *t, uint64_t lanes, uint64_t tag)
{
	uint64_t x = lanes ^ (tag * t->lanes);

	return (x - t->lanes) & ~x & t->tops;
}

/* Plain buckets of one load. */
CKF_INLINE bool
ckf_ask_plain(const ckf_filter *t, const ckf_place *place)
{
	return (ckf_any_lane(t, ckf_bucket_word(t, place->at[0]), place->tag) |
			ckf_any_lane(t, ckf_bucket_word(t, place->at[1]), place->tag)) != 0;
}

/* All other encodings (probe.c). */
bool ckf_contains_otherwise(const ckf_filter *filter, uint64_t hash);

static inline bool
ckf_contains(const ckf_filter *filter, uint64_t hash)
{
	ckf_place place;

	if (filter->probe != CKF_PROBE_PLAIN)
		return ckf_contains_otherwise(filter, hash);
	place = ckf_locate(filter, hash);
	return ckf_ask_plain(filter, &place);
}

#endif
