/*
 * geometry.h - the mathematics of prefixes and buckets (FORMAT.md, sections 1
 * to 3 and 5).
 */
#ifndef CKF_GEOMETRY_H
#define CKF_GEOMETRY_H

#include "filter/words.h"

/* The fraction of the golden ratio in 64 bits.  C is its top W bits, made odd, so
 * that multiplying by C can be undone modulo 2^W. */
#define CKF_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* The most buckets of a segment's half.  A segment of this size stays in a processor's
 * L2 cache while it is built. */
#define CKF_MAX_BUCKETS 32768

#define CKF_MAX_SLOTS 8         /* of a bucket */
#define CKF_MIN_TAG 4           /* bits of f and c */
#define CKF_MIN_PREFIX 8        /* bits of w */
#define CKF_MAX_TAG 56          /* bits of f: with a shift of 7 one load of 64 has them */
#define CKF_MAX_SEGMENT_BITS 32 /* bits of g */
#define CKF_TABLE_PAD 8 /* zero bytes after a table, since loads of 8 bytes read beyond its end */
#define CKF_LAST_RATE 0.03 /* growth stops at 8 x the target rate, or here if more */

/* 2^n as a double, exactly; n at most 1023. */
CKF_INLINE double
ckf_power_of_two(unsigned n)
{
	uint64_t bits = (uint64_t)(1023 + n) << 52;
	double power;

	memcpy(&power, &bits, sizeof power);
	return power;
}

/* ----------------------------------------------------- prefixes, buckets */

/*
 * Cut a hash, or a longer aligned prefix, to w bits.  low_mask is 2^c - 1.
 *
 * A prefix P is passed aligned to the left of 64 bits, as P << (64 - w).  So prefixes
 * of any w compare and sort like their hashes.  Tag 0 marks a free slot, so no prefix
 * may have tag 0: if the low c bits of P are all 0, P becomes P|1.
 */
CKF_INLINE uint64_t
ckf_cut(uint64_t hash, unsigned w, uint64_t low_mask)
{
	uint64_t prefix = hash >> (64 - w);

	prefix |= (prefix & low_mask) == 0;
	return prefix << (64 - w);
}

/* The same of an item that may stay a whole hash: w is 64 then. */
CKF_INLINE uint64_t
ckf_cut_item(uint64_t hash, unsigned w, uint64_t low_mask)
{
	return w < 64 ? ckf_cut(hash, w, low_mask) : hash;
}

/* Compute the constants that ckf_rho needs. */
void ckf_inverse_of(ckf_inverse *inverse, const ckf_filter *t);

/*
 * The smallest x that lies in bucket q, where floor(x * m / 2^W) = q: it is
 * ceil(q * 2^W / m).  With 2^W = quotient * m + remainder that is q * quotient
 * + ceil(q * remainder / m).  The division by m is a multiplication by its
 * reciprocal, which is exact as both factors are at most 2^15.
 */
CKF_INLINE uint64_t
ckf_first_of(const ckf_inverse *inv, uint32_t m, uint64_t q)
{
	return q * inv->quotient + (((q * inv->remainder + m - 1) * inv->reciprocal) >> 47);
}

/*
 * rho of a tag in bucket q, counted in its half.  x is rho in half 0 and rho * C
 * in half 1.  Its low f bits follow from the tag, which is rho's low f bits, and
 * a bucket has at most 2^f values of x: only one of them has these bits.
 */
CKF_INLINE uint64_t
ckf_rho(const ckf_filter *t, const ckf_inverse *inv, unsigned half, uint64_t q, uint64_t tag)
{
	uint64_t first = ckf_first_of(inv, t->m, q);
	uint64_t like = half ? tag * t->golden : tag;
	uint64_t x = first + ((like - first) & t->tag_mask);

	return half ? (x * inv->golden_inverse) & inv->rho_mask : x & inv->rho_mask;
}

/* The bucket of a rho, counted in its half. */
CKF_INLINE uint64_t
ckf_bucket_of(const ckf_filter *t, unsigned half, uint64_t rho)
{
	uint64_t x = half ? rho * t->golden : rho;

	return ckf_mulhi(x << (64 - t->rho_bits), t->m);
}

/* The location of a prefix: its tag, and the offsets of its two buckets. */
typedef struct ckf_location
{
	uint64_t tag;
	uint64_t at[2]; /* of half 0 and of half 1: a bit of the body, or with an access by bytes
					 * (filter/methods.h) a byte */
} ckf_location;

CKF_INLINE ckf_location
ckf_locate(const ckf_filter *t, uint64_t hash)
{
	uint64_t prefix = hash >> t->prefix_shift;
	uint64_t first = (prefix >> t->rho_bits) * t->segment_step;
	uint64_t rho;
	ckf_location location;

	prefix += (prefix & t->low_mask) == 0;
	rho = prefix << t->rho_shift; /* aligned to the left; the segment's bits fall off */
	location.tag = prefix & t->tag_mask;
	location.at[0] = first + ckf_mulhi(rho, t->m) * t->bucket_step;
	location.at[1] = first + ckf_mulhi(rho * t->golden, t->m) * t->bucket_step + t->half_step;
	return location;
}

/* ------------------------------------------------------ widths and sizes */

/* The c of a filter of this target rate.  Tags have at least c bits. */
uint8_t ckf_low_bits(double fpr);
/* Bytes of a table of this g, m and bucket_bits, with its header: at most 2^54, as g
 * is at most CKF_MAX_SEGMENT_BITS, and so too large for a 32-bit machine's memory. */
uint64_t ckf_table_size(const ckf_filter *t);
/* Bits of a bucket. */
unsigned ckf_bucket_bits(unsigned b, unsigned f, bool semi_sorted);
/* Smallest f with ceil(2^W / m) <= 2^f. */
unsigned ckf_tag_bits(unsigned rho_bits, uint32_t m);
/* The smallest w that keeps the rate for `items`; it may exceed CKF_MAX_PREFIX. */
unsigned ckf_prefix_bits(double items, double fpr, unsigned c);
/* The load factor, in 1/1024, for which a table of this geometry is sized. */
unsigned ckf_load(unsigned b, unsigned f);
/* The number of copies for which a table of this geometry is sized. */
uint64_t ckf_full_count(const ckf_filter *t);
/* The expected rate with this number of copies of prefixes (FORMAT.md, section 5), or, if w
 * is 64, of whole hashes. */
double ckf_expected_rate(uint64_t copies, unsigned w, unsigned c);
/* The number of items up to which the filter's w keeps its target rate. */
int64_t ckf_kept_items(const ckf_filter *t);
/* The rate at which growth stops. */
double ckf_last_rate(double fpr);
/* The most copies of a filter of this w: more would exceed the rate at which growth
 * stops. */
uint64_t ckf_count_limit(unsigned w, double fpr);

#endif
