/*
 * sorted_hashes.h - a small filter as a sorted array of hashes.
 */
#ifndef CKF_SORTED_HASHES_H
#define CKF_SORTED_HASHES_H

#include "cuckoofilter.h"

#define CKF_HASHES_BONUS 32 /* bytes that hashes may cost above a table */

/* Index of the first hash that is not below `hash`. */
size_t ckf_sorted_hashes_find(const ckf_filter *t, uint64_t hash);

#endif
