/*
 * internal.h - what the engine's files share: bytes, the header's fields, and
 * the mathematics of prefixes and buckets (FORMAT.md, sections 1 to 3).
 */
#ifndef CKF_INTERNAL_H
#define CKF_INTERNAL_H

#include "way.h"

/* Kept out of its caller, which then saves no registers for it. */
#define CKF_OUTLINE __attribute__((noinline))
#define CKF_LIKELY(x) __builtin_expect(!!(x), 1)
#define CKF_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ------------------------------------------------------------ the numbers */

/* The golden ratio's fraction in 64 bits; its top W bits, made odd, are C. */
#define CKF_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* A segment's half has at most this many buckets where we choose: small
 * enough that a segment stays in a processor's L2 cache while it is built. */
#define CKF_MAX_BUCKETS 32768

#define CKF_MAX_SLOTS 8         /* of a bucket */
#define CKF_MIN_TAG 4           /* bits of f and c */
#define CKF_MAX_TAG 56          /* bits of f: a slot and a shift fit one load */
#define CKF_MAX_SEGMENT_BITS 32 /* bits of g */
#define CKF_TABLE_PAD 8         /* zero bytes behind a table: loads may run over */
#define CKF_MAX_HASHES 4096     /* items that ckf_add keeps in hashes */
#define CKF_HASHES_BONUS 32     /* bytes that hashes may cost above a table */
#define CKF_LAST_RATE 0.03      /* growth stops past 8 x target, but not before */

/* ------------------------------------------------------------- the header */

enum
{
	CKF_AT_MAGIC = 0,
	CKF_AT_FORMAT = 3,
	CKF_AT_HASH = 4,
	CKF_AT_ENCODING = 5,
	CKF_AT_FLAGS = 6,
	CKF_AT_B = 7,
	CKF_AT_F = 8,
	CKF_AT_W = 9,
	CKF_AT_G = 10,
	CKF_AT_C = 11,
	CKF_AT_M = 12,        /* 2 bytes */
	CKF_AT_MERGED_W = 14, /* of a running state; else reserved, zero */
	CKF_AT_MERGED_B = 15, /* likewise */
	CKF_AT_COUNT = 16,
	CKF_AT_SEED = 24,
	CKF_AT_CAPACITY = 32,
	CKF_AT_FPR = 40
};

enum
{
	CKF_FLAG_SET = 1,
	CKF_FLAG_PLAIN = 2,
	/* of a running state only: */
	CKF_FLAG_STATE = 4, /* an aggregate's state, whatever its encoding */
	CKF_FLAG_COPIES = 8 /* equal prefixes add up (sum_agg) */
};
#define CKF_FLAGS_AT_REST (CKF_FLAG_SET | CKF_FLAG_PLAIN)
#define CKF_FLAGS_ALL (CKF_FLAGS_AT_REST | CKF_FLAG_STATE | CKF_FLAG_COPIES)

/* ------------------------------------------------ bytes, at any alignment */

CKF_INLINE void
ckf_store64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, 8);
}

/* `bits` (at most CKF_MAX_TAG) bits at a bit position. */
CKF_INLINE uint64_t
ckf_load_bits(const uint8_t *body, uint64_t at, unsigned bits)
{
	return (ckf_load64(body + (at >> 3)) >> (at & 7)) & ((UINT64_C(1) << bits) - 1);
}

CKF_INLINE void
ckf_store_bits(uint8_t *body, uint64_t at, unsigned bits, uint64_t value)
{
	uint8_t *p = body + (at >> 3);
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << (at & 7);

	ckf_store64(p, (ckf_load64(p) & ~mask) | (value << (at & 7)));
}

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
 * A prefix P travels left-aligned in 64 bits ("aligned": P << (64 - w)), so
 * that prefixes of any w compare and sort as the hashes they come from.
 *
 * Cut a hash, or an aligned longer prefix, to w bits.  Tag 0 means an empty
 * slot: where the low c bits of P are all 0, P becomes P|1.
 */
CKF_INLINE uint64_t
ckf_cut(uint64_t hash, unsigned w, uint64_t low_mask)
{
	uint64_t prefix = hash >> (64 - w);

	prefix |= (prefix & low_mask) == 0;
	return prefix << (64 - w);
}

/* What it takes to get rho back from a bucket and a tag. */
typedef struct ckf_inverse
{
	uint64_t quotient, remainder; /* of 2^W / m */
	uint64_t reciprocal;          /* ceil(2^47 / m) */
	uint64_t golden_inverse;      /* C * this = 1 mod 2^64 */
	uint64_t rest_mask;           /* 2^W - 1 */
} ckf_inverse;

/* geometry.c */
void ckf_inverse_of(ckf_inverse *inverse, const ckf_filter *t);

/* The first x with floor(x * m / 2^W) = q, which is ceil(q * 2^W / m). */
CKF_INLINE uint64_t
ckf_first_of(const ckf_inverse *inv, uint32_t m, uint64_t q)
{
	return q * inv->quotient + (((q * inv->remainder + m - 1) * inv->reciprocal) >> 47);
}

/* rho of a tag in bucket q (counted in its half) of a half. */
CKF_INLINE uint64_t
ckf_rho(const ckf_filter *t, const ckf_inverse *inv, unsigned half, uint64_t q, uint64_t tag)
{
	uint64_t first = ckf_first_of(inv, t->m, q);
	uint64_t like = half ? tag * t->golden : tag;
	uint64_t x = first + ((like - first) & t->tag_mask);

	return half ? (x * inv->golden_inverse) & inv->rest_mask : x & inv->rest_mask;
}

/* Bucket in its half, for a rho aligned to the right. */
CKF_INLINE uint64_t
ckf_bucket_of(const ckf_filter *t, unsigned half, uint64_t rho)
{
	uint64_t x = half ? rho * t->golden : rho;

	return ckf_mulhi(x << (64 - t->rest), t->m);
}

/* The prefix of a segment and a rho, aligned to the left. */
CKF_INLINE uint64_t
ckf_aligned_prefix(const ckf_filter *t, uint64_t segment, uint64_t rho)
{
	return (segment << 1 << (t->rest - 1) | rho) << (64 - t->w);
}

/* Does one copy of a prefix do?  In a set, and while an aggregate collects. */
CKF_INLINE bool
ckf_stores_once(const ckf_filter *t)
{
	return (t->flags & CKF_FLAG_SET) ||
		   (t->flags & (CKF_FLAG_STATE | CKF_FLAG_COPIES)) == CKF_FLAG_STATE;
}

CKF_INLINE bool
ckf_is_table(const ckf_filter *t)
{
	return t->encoding == CKF_SEMI_SORTED || t->encoding == CKF_PLAIN;
}

CKF_INLINE void
ckf_set_count(ckf_filter *t, uint64_t count)
{
	t->count = count;
	ckf_store64(t->bytes + CKF_AT_COUNT, count);
}

/* 64-bit words of the body (hashes, collecting). */
CKF_INLINE uint64_t
ckf_word(const ckf_filter *t, uint64_t i)
{
	return ckf_load64(ckf_body(t) + 8 * i);
}

CKF_INLINE uint64_t
ckf_body_words(const ckf_filter *t)
{
	return (t->size - CKF_HEADER_SIZE) / 8;
}

/* ------------------------------------------------- between the .c files */

/* format.c */
uint8_t ckf_low_bits(double fpr);
void ckf_write_header(const ckf_filter *t);
void ckf_derive(ckf_filter *t); /* the engine's own members, from the fields */

/* geometry.c */

/* Bytes of a table of this geometry; 0 where they pass SIZE_MAX / 2. */
uint64_t ckf_table_size(unsigned g, uint32_t m, unsigned bucket_bits);
/* Bits of a bucket. */
unsigned ckf_bucket_bits(unsigned b, unsigned f, bool semi_sorted);
/* Smallest f with ceil(2^W / m) <= 2^f. */
unsigned ckf_tag_bits(unsigned rest, uint32_t m);
/* Smallest w that keeps fpr up to `items`; may pass CKF_MAX_PREFIX. */
unsigned ckf_prefix_bits(double items, double fpr, unsigned c);
/* Copies that a table of this geometry is meant to hold. */
uint64_t ckf_full_count(const ckf_filter *t);
/* Copies that a filter of this w may hold. */
uint64_t ckf_count_limit(unsigned w, double fpr);
/*
 * The geometry of fewest bytes that holds `items` prefixes of t->w bits: sets
 * t's encoding, g, m, f, and a larger w, up to max_w, where f would fall below
 * c.  t's b, c and flags are given.  false: f falls below c all the same.
 */
bool ckf_choose(ckf_filter *t, uint64_t items, unsigned max_w);
/* A larger geometry for the same w, after `tries` builds that failed to hold
 * `items`.  false: f would fall below c, or the table be nearly empty. */
bool ckf_enlarge(ckf_filter *t, unsigned tries, uint64_t items);

/* hashes.c: a sorted array of hashes */
size_t ckf_hashes_find(const ckf_filter *t, uint64_t hash);

/* collect.c: an aggregate's running state */
/* Are the fields of a state possible? */
bool ckf_collect_fits(const ckf_filter *t);
/* Is it a log, rather than a set? */
bool ckf_collect_is_log(const ckf_filter *t);
/* Hashes of a log behind the sorted ones, which `count` counts. */
uint64_t ckf_collect_logged(const ckf_filter *t);
/* The words that hold hashes; in a set, 0 is none. */
void ckf_collect_range(const ckf_filter *t, uint64_t *first, uint64_t *end);
/* May so many more be added in order without crowding? */
bool ckf_collect_has_room(const ckf_filter *t, uint64_t more);
/* Bytes of the next larger state. */
size_t ckf_collect_grown(size_t size);
/* Append a hash that is not below any before to an empty state; *next is 0 at
 * the first.  false: it does not fit. */
bool ckf_collect_append(ckf_filter *t, uint64_t hash, uint64_t *next);
/* Take over into `to` what a union or sum with `in` asks of it: target rate,
 * seed, layout, and w and b in merged_w and merged_b.  CKF_SEED_DIFFERS. */
ckf_status ckf_merge_target(ckf_filter *to, const ckf_filter *in);

/* check.c: recount, and is every slot possible? */
bool ckf_table_check(const ckf_filter *t);

/* cpu.c: is pdep fast here?  CUCKOOFILTER_PORTABLE=1 in the environment says
 * no. */
bool ckf_use_pdep(void);

/* bulk.c: sort whole hashes, 0 as 1, and if `once` drop repeated ones; scratch is
 * as large.  Returns how many are left. */
size_t ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n, bool once);

/* sort.c: sort by the bits low .. high - 1; the others are the same in all
 * keys, or do not matter.  scratch is as large as keys; the result is in keys. */
void ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high);

#endif
