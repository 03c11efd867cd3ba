/*
 * blk_bf.h - blk-BF, a blocked Bloom filter (Putze, Sanders, Singler, WEA
 * 2007): an item's nine bits lie in one block of 64 bytes, a cache line.
 */
#ifndef BLK_BF_H
#define BLK_BF_H

#include "ref.h"

#define BLK_BF_PROBES 9
#define BLK_BF_BITS_PER_ITEM 13
#define BLK_BF_BLOCK 64

typedef struct blk_bf
{
	uint8_t *bits;
	uint8_t *memory; /* of bits, which start at a cache line */
	uint64_t blocks;
	uint64_t count;
} blk_bf;

static inline bool
blk_bf_init(blk_bf *t, uint64_t bytes)
{
	t->blocks = bytes / BLK_BF_BLOCK;
	t->count = 0;
	t->memory = ref_memory(t->blocks * BLK_BF_BLOCK + BLK_BF_BLOCK);
	t->bits = t->memory;
	if (t->memory != NULL)
		t->bits += -(uintptr_t)t->memory % BLK_BF_BLOCK;
	return t->memory != NULL;
}

static inline void
blk_bf_free(blk_bf *t)
{
	free(t->memory);
}

/* The i-th of an item's bits in its block: nine bits each of two words. */
REF_INLINE unsigned
blk_bf_bit(uint64_t low, uint64_t high, unsigned i)
{
	return (i < 7 ? low >> 9 * i : high >> 9 * (i - 7)) % (8 * BLK_BF_BLOCK);
}

static inline bool
blk_bf_add(blk_bf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key);
	uint64_t low = ref_stir(hash), high = ref_stir(low);
	uint8_t *block = t->bits + ref_scale(hash, t->blocks) * BLK_BF_BLOCK;

	if (t->count >= t->blocks * 8 * BLK_BF_BLOCK / BLK_BF_BITS_PER_ITEM)
		return false;
	for (unsigned i = 0; i < BLK_BF_PROBES; i++)
	{
		unsigned bit = blk_bf_bit(low, high, i);

		block[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
	t->count++;
	return true;
}

static inline bool
blk_bf_contains(const blk_bf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key);
	uint64_t low = ref_stir(hash), high = ref_stir(low);
	const uint8_t *block = t->bits + ref_scale(hash, t->blocks) * BLK_BF_BLOCK;

	for (unsigned i = 0; i < BLK_BF_PROBES; i++)
	{
		unsigned bit = blk_bf_bit(low, high, i);

		if ((block[bit / 8] >> bit % 8 & 1) == 0)
			return false;
	}
	return true;
}

static inline uint64_t
blk_bf_bytes(const blk_bf *t)
{
	return t->blocks * BLK_BF_BLOCK;
}

#endif
