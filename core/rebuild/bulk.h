/*
 * bulk.h - sort whole hashes.
 */
#ifndef CKF_BULK_H
#define CKF_BULK_H

#include "cuckoofilter.h"

/* Sort whole hashes, 0 as 1, and if `once` drop repeated ones; scratch is as large.
 * Returns how many are left. */
size_t ckf_sort_hashes(uint64_t *hashes, uint64_t *scratch, size_t n, bool once);

#endif
