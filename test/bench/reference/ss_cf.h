/*
 * ss_cf.h - ss-CF, the paper's cuckoo filter with semi-sorted buckets
 * (section 5.2): b = 4, f = 13 in 12 bits a slot.
 *
 * A bucket's fingerprints are kept in order.  Their four top nibbles, which
 * are then in order too, have only 3,876 values, and are written as one code
 * of 12 bits; the remainders of f - 4 bits follow it.  As in cf.h the shape
 * functions take f, 5 to 17, so that figure 4 can vary it.
 */
#ifndef SS_CF_H
#define SS_CF_H

#include "ref.h"

#define SS_CF_BITS 13
#define SS_CF_CODE_BITS 12

typedef struct ss_cf
{
	uint8_t *bits;
	uint64_t buckets;
	uint64_t bytes;
	uint64_t count;
	uint64_t random;
	uint16_t nibbles[1 << SS_CF_CODE_BITS]; /* by code; the least nibble lowest */
	uint16_t rank[4][16];                   /* a code is the sum of rank[i][nibble i] */
} ss_cf;

typedef struct ss_cf_bucket
{
	uint32_t fp[4]; /* in order; 0 is an empty slot */
} ss_cf_bucket;

REF_INLINE unsigned
ss_cf_bucket_bits(unsigned f)
{
	return SS_CF_CODE_BITS + 4 * (f - 4);
}

/* Sequences n0 <= n1 <= n2 <= n3 are numbered as the combinations
 * n0 < n1 + 1 < n2 + 2 < n3 + 3: the sum of the binomials (n_i + i over i + 1). */
static inline void
ss_cf_number(ss_cf *t)
{
	for (unsigned n = 0; n < 16; n++)
	{
		t->rank[0][n] = (uint16_t)n;
		t->rank[1][n] = (uint16_t)((n + 1) * n / 2);
		t->rank[2][n] = (uint16_t)((n + 2) * (n + 1) * n / 6);
		t->rank[3][n] = (uint16_t)((n + 3) * (n + 2) * (n + 1) * n / 24);
	}
	memset(t->nibbles, 0, sizeof t->nibbles);
	for (unsigned d = 0; d < 16; d++)
		for (unsigned c = 0; c <= d; c++)
			for (unsigned b = 0; b <= c; b++)
				for (unsigned a = 0; a <= b; a++)
				{
					unsigned code = t->rank[0][a] + t->rank[1][b] + t->rank[2][c] + t->rank[3][d];

					t->nibbles[code] = (uint16_t)(a | b << 4 | c << 8 | d << 12);
				}
}

REF_INLINE uint64_t
ss_cf_load(const ss_cf *t, uint64_t bucket, unsigned f)
{
	return ref_load(t->bits, bucket * ss_cf_bucket_bits(f));
}

REF_INLINE ss_cf_bucket
ss_cf_decode(const ss_cf *t, uint64_t word, unsigned f)
{
	uint32_t nibbles = t->nibbles[word % (1 << SS_CF_CODE_BITS)];
	uint32_t mask = (1u << (f - 4)) - 1;
	ss_cf_bucket bucket;

	word >>= SS_CF_CODE_BITS;
	for (unsigned i = 0; i < 4; i++)
		bucket.fp[i] =
			(nibbles >> 4 * i & 15) << (f - 4) | ((uint32_t)(word >> i * (f - 4)) & mask);
	return bucket;
}

REF_INLINE void
ss_cf_order(uint32_t *low, uint32_t *high)
{
	uint32_t a = *low, b = *high;

	*low = a < b ? a : b;
	*high = a < b ? b : a;
}

/* Sort, encode and store. */
REF_INLINE void
ss_cf_put(ss_cf *t, uint64_t bucket, ss_cf_bucket in, unsigned f)
{
	uint32_t *fp = in.fp;
	uint64_t word = 0;
	unsigned code = 0;

	ss_cf_order(&fp[0], &fp[1]);
	ss_cf_order(&fp[2], &fp[3]);
	ss_cf_order(&fp[0], &fp[2]);
	ss_cf_order(&fp[1], &fp[3]);
	ss_cf_order(&fp[1], &fp[2]);
	for (unsigned i = 0; i < 4; i++)
	{
		code += t->rank[i][fp[i] >> (f - 4)];
		word |= (uint64_t)(fp[i] & ((1u << (f - 4)) - 1)) << i * (f - 4);
	}
	ref_store(t->bits, bucket * ss_cf_bucket_bits(f), ~UINT64_C(0) >> (64 - ss_cf_bucket_bits(f)),
			  word << SS_CF_CODE_BITS | code);
}

/* Not 0 where the bucket has the fingerprint; no branch on the way. */
REF_INLINE int
ss_cf_match(const ss_cf *t, uint64_t bucket, uint32_t fp, unsigned f)
{
	ss_cf_bucket in = ss_cf_decode(t, ss_cf_load(t, bucket, f), f);

	return (in.fp[0] == fp) | (in.fp[1] == fp) | (in.fp[2] == fp) | (in.fp[3] == fp);
}

/* Put the fingerprint where the bucket has room: the least slot is empty. */
REF_INLINE bool
ss_cf_bucket_add(ss_cf *t, uint64_t bucket, uint32_t fp, unsigned f)
{
	ss_cf_bucket in = ss_cf_decode(t, ss_cf_load(t, bucket, f), f);

	if (in.fp[0] != 0)
		return false;
	in.fp[0] = fp;
	ss_cf_put(t, bucket, in, f);
	return true;
}

/* Replace one copy of a fingerprint by another, or by 0, which is none. */
REF_INLINE bool
ss_cf_bucket_swap(ss_cf *t, uint64_t bucket, uint32_t old, uint32_t fp, unsigned f)
{
	ss_cf_bucket in = ss_cf_decode(t, ss_cf_load(t, bucket, f), f);

	for (unsigned i = 0; i < 4; i++)
		if (in.fp[i] == old)
		{
			in.fp[i] = fp;
			ss_cf_put(t, bucket, in, f);
			return true;
		}
	return false;
}

/* As cf_kick: bucket is full; a failure is undone. */
static inline bool
ss_cf_kick(ss_cf *t, uint64_t bucket, uint32_t fp, unsigned f)
{
	struct
	{
		uint64_t bucket;
		uint32_t fp;
	} way[REF_KICKS];

	for (unsigned n = 0; n < REF_KICKS; n++)
	{
		ss_cf_bucket in = ss_cf_decode(t, ss_cf_load(t, bucket, f), f);
		unsigned slot = ref_random(&t->random) % 4;
		uint32_t victim = in.fp[slot];

		in.fp[slot] = fp;
		ss_cf_put(t, bucket, in, f);
		way[n].bucket = bucket;
		way[n].fp = fp;
		fp = victim;
		bucket = ref_other(bucket, fp, t->buckets);
		if (ss_cf_bucket_add(t, bucket, fp, f))
			return true;
	}
	for (unsigned n = REF_KICKS; n-- > 0; fp = way[n].fp)
		ss_cf_bucket_swap(t, way[n].bucket, way[n].fp, fp, f);
	return false;
}

REF_INLINE bool
ss_cf_shape_add(ss_cf *t, uint64_t key, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint32_t fp = (uint32_t)ref_fingerprint(hash, f);
	uint64_t first = ref_first(hash, t->buckets);
	uint64_t other = ref_other(first, fp, t->buckets);

	if (!ss_cf_bucket_add(t, first, fp, f) && !ss_cf_bucket_add(t, other, fp, f) &&
		!ss_cf_kick(t, ref_random(&t->random) & 1 ? first : other, fp, f))
		return false;
	t->count++;
	return true;
}

REF_INLINE bool
ss_cf_shape_contains(const ss_cf *t, uint64_t key, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint32_t fp = (uint32_t)ref_fingerprint(hash, f);
	uint64_t first = ref_first(hash, t->buckets);

	return (ss_cf_match(t, first, fp, f) |
			ss_cf_match(t, ref_other(first, fp, t->buckets), fp, f)) != 0;
}

REF_INLINE bool
ss_cf_shape_remove(ss_cf *t, uint64_t key, unsigned f)
{
	uint64_t hash = ref_hash(key);
	uint32_t fp = (uint32_t)ref_fingerprint(hash, f);
	uint64_t first = ref_first(hash, t->buckets);

	if (!ss_cf_bucket_swap(t, first, fp, 0, f) &&
		!ss_cf_bucket_swap(t, ref_other(first, fp, t->buckets), fp, 0, f))
		return false;
	t->count--;
	return true;
}

static inline bool
ss_cf_shape_init(ss_cf *t, uint64_t bytes, unsigned f)
{
	t->buckets = ref_power_of_two(bytes * 8 / ss_cf_bucket_bits(f));
	t->bytes = (t->buckets * ss_cf_bucket_bits(f) + 7) / 8;
	t->count = 0;
	t->random = 1;
	ss_cf_number(t);
	t->bits = ref_memory(t->bytes);
	return t->bits != NULL;
}

static inline bool
ss_cf_init(ss_cf *t, uint64_t bytes)
{
	return ss_cf_shape_init(t, bytes, SS_CF_BITS);
}

static inline void
ss_cf_free(ss_cf *t)
{
	free(t->bits);
}

static inline bool
ss_cf_add(ss_cf *t, uint64_t key)
{
	return ss_cf_shape_add(t, key, SS_CF_BITS);
}

static inline bool
ss_cf_contains(const ss_cf *t, uint64_t key)
{
	return ss_cf_shape_contains(t, key, SS_CF_BITS);
}

static inline bool
ss_cf_remove(ss_cf *t, uint64_t key)
{
	return ss_cf_shape_remove(t, key, SS_CF_BITS);
}

static inline uint64_t
ss_cf_bytes(const ss_cf *t)
{
	return t->bytes;
}

#endif
