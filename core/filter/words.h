/*
 * words.h - bytes at any alignment as little-endian words, and bits of them.
 */
#ifndef CKF_WORDS_H
#define CKF_WORDS_H

#include "cuckoofilter.h"

/* Kept out of its caller, which then saves no registers for it. */
#define CKF_OUTLINE __attribute__((noinline))
#define CKF_LIKELY(x) __builtin_expect(!!(x), 1)
#define CKF_UNLIKELY(x) __builtin_expect(!!(x), 0)

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

CKF_INLINE double
ckf_load_double(const uint8_t *p)
{
	uint64_t bits = ckf_load64(p);
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

CKF_INLINE void
ckf_store_double(uint8_t *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	ckf_store64(p, bits);
}

#endif
