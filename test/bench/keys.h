/*
 * keys.h - random 64-bit keys without a repeat.
 *
 * Key i of a seed is a bijection of i + seed * 2^40 (splitmix64's mixer), so
 * that streams of one seed or of neighbouring seeds share no key as long as
 * they stay under 2^40, and any part of a stream can be made again.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
key_at(uint64_t seed, uint64_t i)
{
	uint64_t x = ((seed << 40) + i) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Keys from .. from + n - 1 of a seed. */
static inline void
keys_fill(uint64_t *keys, size_t n, uint64_t seed, uint64_t from)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = key_at(seed, from + i);
}

#endif
