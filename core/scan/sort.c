/*
 * sort.c - radix sort of 64-bit keys.  Its time is linear in their number, whatever the keys are.
 */
#include "scan/scan.h"
#include "thresholds.h"

#include <string.h>

#define CKF_DIGIT_BITS 11
#define CKF_DIGITS (1 << CKF_DIGIT_BITS)
#define CKF_FEW 48 /* insertion sort is faster up to so many keys */

/* From so many keys on, long digits are faster.  Each pass reads all its counters, so fewer keys
 * are sorted by short digits. */
#define CKF_MANY 4096
#define CKF_SHORT_DIGIT_BITS 8

static void
ckf_insertion_sort(uint64_t *keys, size_t n, uint64_t mask)
{
	size_t i, j;

	for (i = 1; i < n; i++)
	{
		uint64_t key = keys[i];

		for (j = i; j > 0 && (keys[j - 1] & mask) > (key & mask); j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
}

/* Sort stably by the `bits` bits from bit `shift` up: one pass.  ends[i] becomes the number of keys
 * whose bits are at most i. */
CKF_INLINE void
ckf_sort_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, unsigned bits,
			   size_t *ends)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	size_t sum = 0;
	size_t i;

	memset(ends, 0, sizeof *ends << bits);
	for (i = 0; i < n; i++)
		ends[from[i] >> shift & mask]++;
	for (i = 0; i <= mask; i++)
	{
		size_t size = ends[i];

		ends[i] = sum;
		sum += size;
	}
	for (i = 0; i < n; i++)
		to[ends[from[i] >> shift & mask]++] = from[i];
}

void
ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high)
{
	uint64_t *from = keys;
	uint64_t *to = scratch;
	unsigned longest = n < CKF_MANY ? CKF_SHORT_DIGIT_BITS : CKF_DIGIT_BITS;
	unsigned passes = (high - low + longest - 1) / longest;
	size_t ends[CKF_DIGITS];

	if (n <= CKF_FEW)
	{
		ckf_insertion_sort(keys, n, (UINT64_C(2) << (high - 1)) - (UINT64_C(1) << low));
		return;
	}
	for (; passes > 0; passes--)
	{
		unsigned bits = (high - low + passes - 1) / passes;
		uint64_t *swap = from;

		ckf_sort_digit(from, to, n, low, bits, ends);
		low += bits;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof *keys);
}

/* ------------------------------------------------------------ whole keys */

#define CKF_PART_BITS 8
#define CKF_PARTS (1U << CKF_PART_BITS)
#define CKF_PART_SHIFT (64 - CKF_PART_BITS)

/* n keys are first sorted by log2(n) bits and so many more. */
#define CKF_EXTRA_BITS 5

/* Sort keys that are equal in their bits from `low` up by their other bits.  All keys are sorted by
 * the bits from `low` up already. */
static void
ckf_sort_ties(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low)
{
	size_t i, end;

	for (i = 0; i < n; i = end)
	{
		for (end = i + 1; end < n && keys[end] >> low == keys[i] >> low; end++)
			;
		if (end - i > 1)
			ckf_sort(keys + i, scratch, end - i, 0, low);
	}
}

/* Sort keys whose bits from `high` up are equal.  Many keys are sorted by the bits from `low` up
 * first, then by the others.  The order is the same for any `low`; this one leaves few keys that
 * are equal in their bits from there up. */
static void
ckf_sort_part(uint64_t *keys, uint64_t *scratch, size_t n, unsigned high)
{
	unsigned low = high - CKF_EXTRA_BITS;
	size_t rest;

	if (n <= CKF_FEW)
	{
		ckf_sort(keys, scratch, n, 0, high);
		return;
	}
	for (rest = n; rest > 1; rest /= 2)
		low--;
	ckf_sort(keys, scratch, n, low, high);
	ckf_sort_ties(keys, scratch, n, low);
}

/* Many keys are first partitioned by their top bits, so that each partition is sorted in the
 * processor's cache. */
uint64_t *
ckf_sort_hashes(uint64_t *keys, uint64_t *scratch, size_t n)
{
	size_t ends[CKF_PARTS];
	size_t start = 0;
	size_t i;

	if (n <= CKF_LARGEST_PART)
	{
		ckf_sort_part(keys, scratch, n, 64);
		return keys;
	}
	ckf_sort_digit(keys, scratch, n, CKF_PART_SHIFT, CKF_PART_BITS, ends);
	for (i = 0; i < CKF_PARTS; start = ends[i++])
		ckf_sort_part(scratch + start, keys + start, ends[i] - start, CKF_PART_SHIFT);
	return scratch;
}
