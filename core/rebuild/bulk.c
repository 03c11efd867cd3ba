/*
 * bulk.c - a filter of many hashes that are all at hand: sort them, once.
 */
#include "rebuild/bulk.h"

#include "filter/header.h"
#include "rebuild/sort.h"

/* The first pass parts the hashes by their top bits, so that the others work
 * in cache; those sort by so many bits more that few ties are left. */
#define CKF_PART_BITS 8
#define CKF_PARTS (1 << CKF_PART_BITS)
#define CKF_TIE_BIT 34

/*
 * A part, sorted from CKF_TIE_BIT on, goes where `kept` hashes are before it; with
 * `once` each once.  Those that agree in the bits sorted by stand side by side,
 * and are put in order by the rest; `spare` is as large as the part.
 */
static size_t
ckf_keep_part(uint64_t *hashes, size_t kept, uint64_t *part, size_t size, uint64_t *spare,
			  bool once)
{
	size_t i = 0;

	while (i < size)
	{
		size_t end = i + 1;

		while (end < size && part[end] >> CKF_TIE_BIT == part[i] >> CKF_TIE_BIT)
			end++;
		if (end - i > 1)
			ckf_sort(part + i, spare + i, end - i, 0, CKF_TIE_BIT);
		for (; i < end; i++)
			if (!once || kept == 0 || hashes[kept - 1] != part[i])
				hashes[kept++] = part[i];
	}
	return kept;
}

size_t
ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n, bool once)
{
	size_t ends[CKF_PARTS] = {0};
	size_t kept = 0;
	size_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
	{
		hashes[i] |= hashes[i] == 0;
		ends[hashes[i] >> (64 - CKF_PART_BITS)]++;
	}
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

		/* what hashes had here is free to serve as scratch */
		ckf_sort(scratch + first, hashes + first, size, CKF_TIE_BIT, 64 - CKF_PART_BITS);
		kept = ckf_keep_part(hashes, kept, scratch + first, size, hashes + first, once);
	}
	return kept;
}

ckf_status
ckf_bulk(ckf_filter *filter, const ckf_params *params, void *dst, uint64_t *scratch, size_t n)
{
	ckf_params any = *params;
	uint64_t *hashes = (uint64_t *)(void *)((uint8_t *)dst + CKF_HEADER_SIZE);
	ckf_status status;

	if (any.capacity == 0)
		any.capacity = 1;
	status = ckf_create(&any, dst);
	if (status != CKF_OK)
		return status;
	n = ckf_sort_hashes(hashes, scratch, n, true);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t i = 0; i < n; i++)
		ckf_store64((uint8_t *)(hashes + i), hashes[i]);
#endif
	ckf_store64((uint8_t *)dst + CKF_AT_COUNT, n);
	return ckf_open(filter, dst, CKF_HEADER_SIZE + 8 * n, CKF_STORED);
}
