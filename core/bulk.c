/*
 * bulk.c - a filter of many hashes that are all at hand: sort them, once.
 */
#include "internal.h"

/* The first pass parts the hashes by their top bits, so that the others work
 * in cache; those sort by so many bits more that few ties are left. */
#define CKF_PART_BITS 8
#define CKF_PARTS (1 << CKF_PART_BITS)
#define CKF_TIE_BIT 34

/* Hashes that agree in all bits from CKF_TIE_BIT on stand side by side; put
 * them in order by the rest. */
static void
ckf_break_ties(uint64_t *hashes, uint64_t *scratch, size_t n)
{
	size_t first = 0;
	size_t i;

	for (i = 1; i <= n; i++)
	{
		if (i < n && hashes[i] >> CKF_TIE_BIT == hashes[first] >> CKF_TIE_BIT)
			continue;
		if (i - first > 1)
			ckf_sort(hashes + first, scratch, i - first, 0, CKF_TIE_BIT);
		first = i;
	}
}

void
ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n)
{
	size_t ends[CKF_PARTS] = {0};
	size_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		ends[hashes[i] >> (64 - CKF_PART_BITS)]++;
	for (i = 0; i < CKF_PARTS; i++)
	{
		size_t size = ends[i];

		ends[i] = sum;
		sum += size;
	}
	for (i = 0; i < n; i++)
		scratch[ends[hashes[i] >> (64 - CKF_PART_BITS)]++] = hashes[i];
	for (i = 0; i < CKF_PARTS; i++)
	{
		size_t first = i == 0 ? 0 : ends[i - 1];
		size_t size = ends[i] - first;

		/* hashes is free to serve as scratch, and takes the part back */
		ckf_sort(scratch + first, hashes + first, size, CKF_TIE_BIT, 64 - CKF_PART_BITS);
		memcpy(hashes + first, scratch + first, size * sizeof *hashes);
	}
	ckf_break_ties(hashes, scratch, n);
}

ckf_status
ckf_bulk(ckf_filter *filter, const ckf_params *params, void *dst, uint64_t *scratch, size_t n)
{
	ckf_params any = *params;
	uint64_t *hashes = (uint64_t *)(void *)((uint8_t *)dst + CKF_HEADER_SIZE);
	uint8_t *body = (uint8_t *)dst + CKF_HEADER_SIZE;
	size_t kept = 0;
	size_t i;
	ckf_status status;

	if (any.capacity == 0)
		any.capacity = 1;
	status = ckf_create(&any, dst);
	if (status != CKF_OK)
		return status;
	for (i = 0; i < n; i++)
		hashes[i] |= hashes[i] == 0;
	ckf_sort_hashes(hashes, scratch, n);
	for (i = 0; i < n; i++)
	{
		uint64_t hash = hashes[i];

		if (i > 0 && hash == ckf_load64(body + 8 * (kept - 1)))
			continue;
		ckf_store64(body + 8 * kept++, hash);
	}
	ckf_store64((uint8_t *)dst + CKF_AT_COUNT, kept);
	return ckf_open(filter, dst, CKF_HEADER_SIZE + 8 * kept, CKF_STORED);
}
