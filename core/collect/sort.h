/*
 * sort.h - radix sort of 64-bit keys.
 */
#ifndef CKF_SORT_H
#define CKF_SORT_H

#include "cuckoofilter.h"

/* Sort keys by their bits low .. high - 1, of which there is at least one.  Keys that are equal in
 * these bits keep their order.  scratch has the size of keys.  The result is in keys. */
void ckf_sort(uint64_t *keys, uint64_t *scratch, size_t n, unsigned low, unsigned high);

#endif
