/*
 * words.h - read and write little-endian words, and parts of them, at any alignment.
 */
#ifndef CKF_WORDS_H
#define CKF_WORDS_H

#include "cuckoofilter.h"

#include <string.h>

/* A build for small code may define it as `static inline`. */
#ifndef CKF_INLINE
#define CKF_INLINE static inline __attribute__((always_inline))
#endif

/* For the rare path of a fast function.  It is not inlined, so the fast path does not save
 * registers that only the rare path uses. */
#define CKF_OUTLINE __attribute__((noinline))
/* What must hold.  Only test builds check it. */
#ifdef CKF_TEST_BUILD
#define CKF_ASSERT(x) ((x) ? (void)0 : __builtin_trap())
#else
#define CKF_ASSERT(x) ((void)0)
#endif

#define CKF_LIKELY(x) __builtin_expect(!!(x), 1)
#define CKF_UNLIKELY(x) __builtin_expect(!!(x), 0)

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
	__extension__ typedef unsigned __int128 product;

	return (uint64_t)(((product)x * m) >> 64);
#else
	return ((x >> 32) * m + (((x & UINT32_MAX) * m) >> 32)) >> 32;
#endif
}

CKF_INLINE void
ckf_store64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, 8);
}

/* Read `bits` bits that begin at bit `at`.  bits is at most 57, so one load has all of them at any
 * position.  The 8 bytes from the first one on must be readable. */
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

/* The number of words, out of n ascending ones, that are below `word`: a binary search that does
 * not branch on what it finds. */
CKF_INLINE size_t
ckf_words_below(const uint8_t *words, size_t n, uint64_t word)
{
	size_t low = 0;

	while (n > 0)
	{
		size_t half = n / 2;
		bool above = ckf_load64(words + 8 * (low + half)) < word;

		low = above ? low + half + 1 : low;
		n = above ? n - half - 1 : half;
	}
	return low;
}

#endif
