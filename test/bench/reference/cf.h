/*
 * cf.h - CF, the paper's cuckoo filter (section 3, Algorithms 1 to 3).
 *
 * A power of two of buckets, b slots of f bits in each, bit-packed; an item
 * lies in bucket h1 or in h1 xor hash(fingerprint); at most 500 kicks.  The
 * shape functions take b and f so that figures 2 and 3 can vary them; with
 * constants they fold to a load and a compare a bucket.  cf_add and its like
 * have the paper's shape: b = 4, f = 12.
 */
#ifndef CF_H
#define CF_H

#include "ref.h"

#define CF_SLOTS 4
#define CF_BITS 12

typedef struct cf
{
	uint8_t *bits;
	uint64_t buckets;
	uint64_t bytes;
	uint64_t count;
	uint64_t random;
} cf;

/* Slots that one word can hold at any bit offset: b, or a part of it. */
REF_INLINE unsigned
cf_word_slots(unsigned b, unsigned f)
{
	while (b * f > 56)
		b /= 2;
	return b;
}

/* The slot of the bucket that holds the fingerprint (0: a free slot), or b. */
REF_INLINE unsigned
cf_slot(const cf *t, uint64_t bucket, uint64_t fp, unsigned b, unsigned f)
{
	unsigned n = cf_word_slots(b, f);
	uint64_t lanes = ref_lanes(n, f);

	for (unsigned i = 0; i < b; i += n)
	{
		uint64_t word = ref_load(t->bits, (bucket * b + i) * f) ^ fp * lanes;
		uint64_t zero = ref_zero_lanes(word, lanes, f);

		if (zero != 0)
			return i + (unsigned)__builtin_ctzll(zero) / f;
	}
	return b;
}

/* Not 0 where the bucket has the fingerprint; no branch on the way. */
REF_INLINE uint64_t
cf_match(const cf *t, uint64_t bucket, uint64_t fp, unsigned b, unsigned f)
{
	unsigned n = cf_word_slots(b, f);
	uint64_t lanes = ref_lanes(n, f);
	uint64_t zero = 0;

	for (unsigned i = 0; i < b; i += n)
		zero |= ref_zero_lanes(ref_load(t->bits, (bucket * b + i) * f) ^ fp * lanes, lanes, f);
	return zero;
}

REF_INLINE void
cf_put(cf *t, uint64_t bucket, unsigned slot, uint64_t fp, unsigned b, unsigned f)
{
	ref_store(t->bits, (bucket * b + slot) * f, (UINT64_C(1) << f) - 1, fp);
}

/*
 * Algorithm 1 from its loop on: bucket is full.  The way is kept, so that a
 * failure can be undone: a full filter still holds all that it said it holds.
 */
static inline bool
cf_kick(cf *t, uint64_t bucket, uint64_t fp, unsigned b, unsigned f)
{
	struct
	{
		uint64_t bucket, slot;
	} way[REF_KICKS];

	for (unsigned n = 0; n < REF_KICKS; n++)
	{
		unsigned slot = (unsigned)ref_random(&t->random) % b;
		uint64_t victim = ref_load(t->bits, (bucket * b + slot) * f) & ((UINT64_C(1) << f) - 1);

		cf_put(t, bucket, slot, fp, b, f);
		way[n].bucket = bucket;
		way[n].slot = slot;
		fp = victim;
		bucket = ref_other(bucket, fp, t->buckets);
		slot = cf_slot(t, bucket, 0, b, f);
		if (slot < b)
		{
			cf_put(t, bucket, slot, fp, b, f);
			return true;
		}
	}
	for (unsigned n = REF_KICKS; n-- > 0;)
	{
		unsigned slot = (unsigned)way[n].slot;
		uint64_t before =
			ref_load(t->bits, (way[n].bucket * b + slot) * f) & ((UINT64_C(1) << f) - 1);

		cf_put(t, way[n].bucket, slot, fp, b, f);
		fp = before;
	}
	return false;
}

REF_INLINE bool
cf_shape_add(cf *t, uint64_t key, unsigned b, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint64_t fp = ref_fingerprint(hash, f);
	uint64_t bucket = ref_first(hash, t->buckets);
	unsigned slot = cf_slot(t, bucket, 0, b, f);

	if (slot == b)
	{
		uint64_t first = bucket;

		bucket = ref_other(bucket, fp, t->buckets);
		slot = cf_slot(t, bucket, 0, b, f);
		if (slot == b)
		{
			if (!cf_kick(t, ref_random(&t->random) & 1 ? first : bucket, fp, b, f))
				return false;
			t->count++;
			return true;
		}
	}
	cf_put(t, bucket, slot, fp, b, f);
	t->count++;
	return true;
}

REF_INLINE bool
cf_shape_contains(const cf *t, uint64_t key, unsigned b, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint64_t fp = ref_fingerprint(hash, f);
	uint64_t bucket = ref_first(hash, t->buckets);

	return (cf_match(t, bucket, fp, b, f) |
			cf_match(t, ref_other(bucket, fp, t->buckets), fp, b, f)) != 0;
}

REF_INLINE bool
cf_shape_remove(cf *t, uint64_t key, unsigned b, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint64_t fp = ref_fingerprint(hash, f);
	uint64_t bucket = ref_first(hash, t->buckets);
	unsigned slot = cf_slot(t, bucket, fp, b, f);

	if (slot == b)
	{
		bucket = ref_other(bucket, fp, t->buckets);
		slot = cf_slot(t, bucket, fp, b, f);
		if (slot == b)
			return false;
	}
	cf_put(t, bucket, slot, 0, b, f);
	t->count--;
	return true;
}

static inline bool
cf_shape_init(cf *t, uint64_t bytes, unsigned b, unsigned f)
{
	t->buckets = ref_power_of_two(bytes * 8 / (b * f));
	t->bytes = (t->buckets * b * f + 7) / 8;
	t->count = 0;
	t->random = 1;
	t->bits = ref_memory(t->bytes);
	return t->bits != NULL;
}

static inline bool
cf_init(cf *t, uint64_t bytes)
{
	return cf_shape_init(t, bytes, CF_SLOTS, CF_BITS);
}

static inline void
cf_free(cf *t)
{
	free(t->bits);
}

static inline bool
cf_add(cf *t, uint64_t key)
{
	return cf_shape_add(t, key, CF_SLOTS, CF_BITS);
}

static inline bool
cf_contains(const cf *t, uint64_t key)
{
	return cf_shape_contains(t, key, CF_SLOTS, CF_BITS);
}

static inline bool
cf_remove(cf *t, uint64_t key)
{
	return cf_shape_remove(t, key, CF_SLOTS, CF_BITS);
}

static inline uint64_t
cf_bytes(const cf *t)
{
	return t->bytes;
}

#endif
