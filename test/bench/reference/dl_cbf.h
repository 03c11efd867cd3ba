/*
 * dl_cbf.h - dl-CBF, the d-left counting Bloom filter (Bonomi et al., ESA
 * 2006): d = 4 tables, buckets of 4 cells, a cell of 12 bits.
 *
 * A cell is a remainder of 10 bits and a count of 2.  An item goes to the
 * emptiest of its four buckets, the leftmost of equals; an equal remainder
 * that is there already is counted instead.  Each table permutes the whole
 * fingerprint (bucket and remainder) on its own, so that two items share
 * either all their places or none, and a removal takes the right one.  A
 * count of 3 is stuck.
 */
#ifndef DL_CBF_H
#define DL_CBF_H

#include "ref.h"

#define DL_CBF_TABLES 4
#define DL_CBF_CELLS 4
#define DL_CBF_REMAINDER 10
#define DL_CBF_COUNT 2
#define DL_CBF_CELL (DL_CBF_REMAINDER + DL_CBF_COUNT)
#define DL_CBF_BUCKET (DL_CBF_CELLS * DL_CBF_CELL)
#define DL_CBF_STUCK ((1u << DL_CBF_COUNT) - 1)

typedef struct dl_cbf
{
	uint8_t *bits;
	uint64_t buckets; /* of one table */
	uint64_t count;
	unsigned fingerprint_bits;
} dl_cbf;

typedef struct dl_cbf_place
{
	uint64_t offset; /* of the bucket, in bits */
	uint64_t remainder;
} dl_cbf_place;

static inline bool
dl_cbf_init(dl_cbf *t, uint64_t bytes)
{
	t->buckets = ref_power_of_two(bytes * 8 / (DL_CBF_TABLES * DL_CBF_BUCKET));
	t->fingerprint_bits = (unsigned)__builtin_ctzll(t->buckets) + DL_CBF_REMAINDER;
	t->count = 0;
	t->bits = ref_memory(t->buckets * DL_CBF_TABLES * DL_CBF_BUCKET / 8);
	return t->bits != NULL;
}

static inline void
dl_cbf_free(dl_cbf *t)
{
	free(t->bits);
}

/* An item's place in a table: times an odd number is a permutation. */
REF_INLINE dl_cbf_place
dl_cbf_place_of(const dl_cbf *t, uint64_t hash, unsigned table)
{
	static const uint64_t odd[DL_CBF_TABLES] = {1, UINT64_C(0x9e3779b97f4a7c15),
												UINT64_C(0xd1b54a32d192ed03),
												UINT64_C(0x8cb92ba72f3d8dd7)};
	uint64_t fp = hash * odd[table] & ((UINT64_C(1) << t->fingerprint_bits) - 1);
	dl_cbf_place place;

	place.offset = (table * t->buckets + (fp >> DL_CBF_REMAINDER)) * DL_CBF_BUCKET;
	place.remainder = fp & ((1u << DL_CBF_REMAINDER) - 1);
	return place;
}

/* The top bit of each cell that is in use. */
REF_INLINE uint64_t
dl_cbf_used(uint64_t bucket)
{
	uint64_t lanes = ref_lanes(DL_CBF_CELLS, DL_CBF_CELL);

	return ((bucket & lanes * DL_CBF_STUCK) + lanes * ((1u << (DL_CBF_CELL - 1)) - 1)) &
		   lanes << (DL_CBF_CELL - 1);
}

/* The top bit of each cell in use that has the remainder. */
REF_INLINE uint64_t
dl_cbf_match(uint64_t bucket, uint64_t remainder)
{
	uint64_t lanes = ref_lanes(DL_CBF_CELLS, DL_CBF_CELL);
	uint64_t differ = ((bucket ^ lanes * (remainder << DL_CBF_COUNT)) >> DL_CBF_COUNT) &
					  lanes * ((1u << DL_CBF_REMAINDER) - 1);
	uint64_t differs = differ + lanes * ((1u << (DL_CBF_CELL - 1)) - 1);

	return ~differs & dl_cbf_used(bucket);
}

/* How many top bits are set. */
REF_INLINE unsigned
dl_cbf_sum(uint64_t tops)
{
	uint64_t lanes = ref_lanes(DL_CBF_CELLS, DL_CBF_CELL);

	return (unsigned)((tops >> (DL_CBF_CELL - 1)) * lanes >> (DL_CBF_BUCKET - DL_CBF_CELL)) & 7;
}

/* Add `by` to the count of the cell whose top bit is the lowest of `tops`. */
REF_INLINE void
dl_cbf_count(dl_cbf *t, uint64_t offset, uint64_t tops, int by)
{
	uint64_t cell = offset + (unsigned)__builtin_ctzll(tops) - (DL_CBF_CELL - 1);
	unsigned count = ref_load(t->bits, cell) & DL_CBF_STUCK;

	if (count != DL_CBF_STUCK)
		ref_store(t->bits, cell, DL_CBF_STUCK, count + (unsigned)by);
}

static inline bool
dl_cbf_add(dl_cbf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key) >> 8;
	dl_cbf_place best = {0, 0};
	uint64_t best_free = 0;

	for (unsigned i = 0; i < DL_CBF_TABLES; i++)
	{
		dl_cbf_place place = dl_cbf_place_of(t, hash, i);
		uint64_t bucket = ref_load(t->bits, place.offset);
		uint64_t match = dl_cbf_match(bucket, place.remainder);
		uint64_t open = ~dl_cbf_used(bucket) & ref_lanes(DL_CBF_CELLS, DL_CBF_CELL)
												   << (DL_CBF_CELL - 1);

		if (match != 0)
		{
			dl_cbf_count(t, place.offset, match, 1);
			t->count++;
			return true;
		}
		if (dl_cbf_sum(open) > dl_cbf_sum(best_free))
		{
			best = place;
			best_free = open;
		}
	}
	if (best_free == 0)
		return false;
	ref_store(t->bits, best.offset + (unsigned)__builtin_ctzll(best_free) - (DL_CBF_CELL - 1),
			  (1u << DL_CBF_CELL) - 1, best.remainder << DL_CBF_COUNT | 1);
	t->count++;
	return true;
}

static inline bool
dl_cbf_contains(const dl_cbf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key) >> 8;
	uint64_t match = 0;

	for (unsigned i = 0; i < DL_CBF_TABLES; i++)
	{
		dl_cbf_place place = dl_cbf_place_of(t, hash, i);

		match |= dl_cbf_match(ref_load(t->bits, place.offset), place.remainder);
	}
	return match != 0;
}

static inline bool
dl_cbf_remove(dl_cbf *t, uint64_t key)
{
	uint64_t hash = ref_hash(key) >> 8;

	for (unsigned i = 0; i < DL_CBF_TABLES; i++)
	{
		dl_cbf_place place = dl_cbf_place_of(t, hash, i);
		uint64_t match = dl_cbf_match(ref_load(t->bits, place.offset), place.remainder);

		if (match != 0)
		{
			dl_cbf_count(t, place.offset, match, -1);
			t->count--;
			return true;
		}
	}
	return false;
}

static inline uint64_t
dl_cbf_bytes(const dl_cbf *t)
{
	return t->buckets * DL_CBF_TABLES * DL_CBF_BUCKET / 8;
}

#endif
