/*
 * bf.h - BF, a Bloom filter: 13 bits an item, k = 9, all nine positions from
 * two hashes (Kirsch and Mitzenmacher, ESA 2006).
 */
#ifndef BF_H
#define BF_H

#include "ref.h"

#define BF_PROBES 9
#define BF_BITS_PER_ITEM 13

typedef struct bf
{
	uint8_t *bits;
	uint64_t size; /* in bits */
	uint64_t count;
} bf;

static inline bool
bf_init(bf *t, uint64_t bytes)
{
	t->size = bytes * 8;
	t->count = 0;
	t->bits = ref_memory(bytes);
	return t->bits != NULL;
}

static inline void
bf_free(bf *t)
{
	free(t->bits);
}

/* It is full when it holds the items that its bits were meant for. */
static inline bool
bf_add(bf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key);
	uint64_t step = ref_stir(hash);

	if (t->count >= t->size / BF_BITS_PER_ITEM)
		return false;
	for (unsigned i = 0; i < BF_PROBES; i++, hash += step)
	{
		uint64_t bit = ref_scale(hash, t->size);

		t->bits[bit >> 3] |= (uint8_t)(1u << (bit & 7));
	}
	t->count++;
	return true;
}

static inline bool
bf_contains(const bf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key);
	uint64_t step = ref_stir(hash);

	for (unsigned i = 0; i < BF_PROBES; i++, hash += step)
	{
		uint64_t bit = ref_scale(hash, t->size);

		if ((t->bits[bit >> 3] >> (bit & 7) & 1) == 0)
			return false;
	}
	return true;
}

static inline uint64_t
bf_bytes(const bf *t)
{
	return t->size / 8;
}

#endif
