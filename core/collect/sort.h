/*
 * sort.h - radix sort of 64-bit keys.
 */
#ifndef CKF_SORT_H
#define CKF_SORT_H

#include "cuckoofilter.h"

/* Sort by the bits low .. high - 1; the others are the same in all keys, or do
 * not matter.  scratch is as large as keys; the result is in keys. */
void ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high);

#endif
