/*
 * sort.c - radix sort of 64-bit keys.  Its time does not depend on the keys.
 */
#include "rebuild/sort.h"

#include <string.h>

#define CKF_DIGIT_BITS 11
#define CKF_DIGITS (1 << CKF_DIGIT_BITS)
#define CKF_FEW 48 /* keys, below which insertion is quicker */

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

/* One pass: by the `bits` bits from `shift` on, keeping the order of equals. */
static void
ckf_sort_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, unsigned bits)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	size_t at[CKF_DIGITS];
	size_t sum = 0;
	size_t i;

	memset(at, 0, sizeof *at << bits);
	for (i = 0; i < n; i++)
		at[from[i] >> shift & mask]++;
	for (i = 0; i <= mask; i++)
	{
		size_t size = at[i];

		at[i] = sum;
		sum += size;
	}
	for (i = 0; i < n; i++)
		to[at[from[i] >> shift & mask]++] = from[i];
}

void
ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high)
{
	uint64_t *from = keys;
	uint64_t *to = scratch;
	/* short digits for few keys: a pass also walks its counters */
	unsigned longest = n < 4096 ? 8 : CKF_DIGIT_BITS;
	unsigned passes = (high - low + longest - 1) / longest;

	if (n <= CKF_FEW)
	{
		ckf_insertion_sort(keys, n, (high < 64 ? UINT64_C(1) << high : 0) - (UINT64_C(1) << low));
		return;
	}
	for (; passes > 0; passes--)
	{
		unsigned bits = (high - low + passes - 1) / passes;
		uint64_t *swap = from;

		ckf_sort_digit(from, to, n, low, bits);
		low += bits;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof *keys);
}
