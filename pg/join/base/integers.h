/*
 * integers.h - a set of integers that are near each other, or of ranges of them.
 *
 * It is a table of up to 2^20 buckets. Each one stands for 2^shift integers side by side and says
 * whether none, all, or some of them are in the set. While the integers are near enough to each
 * other, a bucket is one integer, and the set is exact. An integer that is too far for that makes
 * the buckets wider: `shift` grows, and what was in the set stays. Integers that are added one by
 * one wait at first, as the table is better made when more of them are known.
 *
 * Contract: CKFP_IN_NONE means that the integer was not added. CKFP_IN_ALL means that it was added.
 * CKFP_IN_PARTLY means that an integer of its bucket was added, perhaps another one.
 *
 * Dates and timestamps are integers, too: as PostgreSQL stores them.
 */
#ifndef CKFP_JOIN_INTEGERS_H
#define CKFP_JOIN_INTEGERS_H

#include "join/base/join.h"

typedef enum ckfp_in
{
	CKFP_IN_NONE,
	CKFP_IN_PARTLY,
	CKFP_IN_ALL
} ckfp_in;

/* Integers side by side: `high` is the last one. */
typedef struct ckfp_range
{
	int64 low;
	int64 high;
} ckfp_range;

typedef struct ckfp_integers
{
	MemoryContext context; /* of the table */
	uint64 most;           /* the largest number of buckets */
	uint64 width;          /* their number; 0: the set is empty, and so are the next members */
	uint64 first;          /* the first bucket's number. As all here, a multiple of 8 */
	int shift;
	uint8 *some; /* a bit for each bucket: it has integers of the set */
	uint8 *all;  /* a bit for each bucket: all of its integers are in the set. This is `some` itself
				  * while a bucket is one integer */
	int64 *waiting; /* integers that were added before there is a table; or NULL */
	int waits;      /* their number */
} ckfp_integers;

/* The largest number of integers that wait. */
#define CKFP_WAITING 1024

/* Are the values of a type integers? In the built-in operator families they are ordered, and equal,
 * as the integers are. */
bool ckfp_type_is_integer(Oid type);

/* The integer that a value of such a type is, which has this length. */
static inline int64
ckfp_integer_of(Datum value, int16 length)
{
	return length == sizeof(int64)   ? DatumGetInt64(value)
		   : length == sizeof(int32) ? DatumGetInt32(value)
									 : DatumGetInt16(value);
}

/* The value that an integer stands for. */
static inline Datum
ckfp_integer_datum(int64 integer, int16 length)
{
	return length == sizeof(int64)   ? Int64GetDatum(integer)
		   : length == sizeof(int32) ? Int32GetDatum((int32)integer)
									 : Int16GetDatum((int16)integer);
}

/* The place of the first bit from `at` on that is `set`, or one that is not below the width. Reads
 * whole words of eight bytes. */
uint64 ckfp_bits_next(const uint8 *bits, uint64 width, uint64 at, bool set);

/* Initialize an empty set, whose table is in `context` and takes at most so many bytes. */
void ckfp_integers_init(ckfp_integers *set, MemoryContext context, size_t bytes);

/* Free the table: the set is empty. */
void ckfp_integers_free(ckfp_integers *set);

/* The bytes of the table, or of the integers that wait. */
static inline size_t
ckfp_integers_memory(const ckfp_integers *set)
{
	return set->waiting != NULL ? CKFP_WAITING * sizeof(int64)
								: set->width / (set->shift == 0 ? 8 : 4);
}

/* The number of the bucket of an integer. The first and the last integer of a type are the first
 * and the last one of a bucket, as these are powers of two. */
static inline uint64
ckfp_bucket_of(int64 integer, int shift)
{
	return ((uint64)integer - (uint64)PG_INT64_MIN) >> shift;
}

/* Where is an integer? */
static inline ckfp_in
ckfp_integers_find(const ckfp_integers *set, int64 integer)
{
	uint64 at = ckfp_bucket_of(integer, set->shift) - set->first;

	if (at >= set->width || !CKFP_BIT(set->some, at))
		return CKFP_IN_NONE;
	return CKFP_BIT(set->all, at) ? CKFP_IN_ALL : CKFP_IN_PARTLY;
}

/* Make the table wide enough for a range, with as much room on both sides. If the span of all
 * integers is known, this is done once, and not again and again while they are added. */
void ckfp_integers_reach(ckfp_integers *set, ckfp_range range);

/* Add the integers of a range. */
void ckfp_integers_add_range(ckfp_integers *set, ckfp_range range);

/* Add an integer that is not in the table. */
void ckfp_integers_add_other(ckfp_integers *set, int64 integer);

/* Add an integer. After the last one comes ckfp_integers_finish(). */
static inline void
ckfp_integers_add(ckfp_integers *set, int64 integer)
{
	uint64 at = ckfp_bucket_of(integer, set->shift) - set->first;

	if (likely(at < set->width))
		CKFP_SET_BIT(set->some, at);
	else
		ckfp_integers_add_other(set, integer);
}

/* Put the integers that wait into the table, as there are no more. */
void ckfp_integers_finish(ckfp_integers *set);

/* The next integers from `*from` on, in ascending order, up to the next gap of at least so many
 * buckets. False if there are none. `*from` is the place in the table where the next call goes on:
 * first 0. */
bool ckfp_integers_next(const ckfp_integers *set, uint64 gap, uint64 *from, ckfp_range *range);

#endif
