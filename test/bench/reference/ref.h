/*
 * ref.h - what the six reference filters share: hashing, memory, bit fields.
 *
 * They are the filters of the paper's evaluation (Fan, Andersen, Kaminsky,
 * Mitzenmacher: Cuckoo Filter, CoNEXT 2014), written to be compared with, so
 * they are as quick as their design lets them be: all code is inline, shapes
 * are constants where it matters, and one word holds a whole bucket.
 *
 * Every filter xx has the same calls:
 *   bool     xx_init(xx *, uint64_t bytes, ...)  false where memory is short
 *   void     xx_free(xx *)
 *   bool     xx_add(xx *, uint64_t key)          false where it is full; then
 *                                                nothing has changed
 *   bool     xx_contains(const xx *, uint64_t key)
 *   bool     xx_remove(xx *, uint64_t key)       where the filter can; true if
 *                                                it found one
 *   uint64_t xx_bytes(const xx *)                of its table
 *   and a member `count`, the items added and not removed.
 */
#ifndef REF_H
#define REF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#define REF_INLINE static inline __attribute__((always_inline))

/* A word may be read across the end of a table. */
#define REF_SLACK 8

/* The hash of a key: what cuckoofilter's engine computes for an integer. */
REF_INLINE uint64_t
ref_hash(uint64_t key)
{
	return XXH3_64bits_withSeed(&key, sizeof key, 1);
}

/* A second word from a hash, for filters that need more than 64 bits. */
REF_INLINE uint64_t
ref_stir(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* hash * n / 2^64: a position below n, of any n, from the hash's top bits. */
REF_INLINE uint64_t
ref_scale(uint64_t hash, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)hash * n) >> 64);
}

/* The largest power of two that is not above n. */
static inline uint64_t
ref_power_of_two(uint64_t n)
{
	uint64_t power = 1;

	while (power <= n / 2)
		power *= 2;
	return power;
}

/* Zeroed and touched, so that no timed loop meets a page for the first time. */
static inline uint8_t *
ref_memory(uint64_t bytes)
{
	uint8_t *memory = malloc(bytes + REF_SLACK);

	if (memory != NULL)
		memset(memory, 0, bytes + REF_SLACK);
	return memory;
}

/* The 64 bits at a bit offset; the last offset % 8 of them are zero. */
REF_INLINE uint64_t
ref_load(const uint8_t *bits, uint64_t offset)
{
	uint64_t word;

	memcpy(&word, bits + (offset >> 3), sizeof word);
	return word >> (offset & 7);
}

/* Replace the bits under mask at a bit offset. */
REF_INLINE void
ref_store(uint8_t *bits, uint64_t offset, uint64_t mask, uint64_t value)
{
	unsigned shift = offset & 7;
	uint64_t word;

	memcpy(&word, bits + (offset >> 3), sizeof word);
	word = (word & ~(mask << shift)) | value << shift;
	memcpy(bits + (offset >> 3), &word, sizeof word);
}

/* 1 in the lowest bit of each of n lanes of f bits, n * f < 64. */
REF_INLINE uint64_t
ref_lanes(unsigned n, unsigned f)
{
	return ((UINT64_C(1) << n * f) - 1) / ((UINT64_C(1) << f) - 1);
}

/*
 * The top bit of every lane that is zero; above the lowest such lane a lane
 * of 1 may show too, so "any" and "the lowest" are exact.
 */
REF_INLINE uint64_t
ref_zero_lanes(uint64_t word, uint64_t lanes, unsigned f)
{
	return (word - lanes) & ~word & lanes << (f - 1);
}

/* A cheap random number, for the choice of whom to kick out. */
REF_INLINE uint64_t
ref_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/*
 * Partial-key cuckoo hashing (section 3.1): a fingerprint of f bits, the first
 * bucket, and from a bucket and a fingerprint the other bucket.  The number of
 * buckets is a power of two.
 */
#define REF_KICKS 500

REF_INLINE uint64_t
ref_fingerprint(uint64_t hash, unsigned f)
{
	uint64_t fp = hash & ((UINT64_C(1) << f) - 1);

	return fp + (fp == 0); /* 0 is an empty slot */
}

REF_INLINE uint64_t
ref_first(uint64_t hash, uint64_t buckets)
{
	return hash >> 32 & (buckets - 1);
}

REF_INLINE uint64_t
ref_other(uint64_t bucket, uint64_t fp, uint64_t buckets)
{
	return (bucket ^ fp * UINT64_C(0x5bd1e995)) & (buckets - 1);
}

#endif
