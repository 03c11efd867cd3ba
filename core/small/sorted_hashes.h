/*
 * sorted_hashes.h - a filter as a sorted array of hashes.
 */
#ifndef CKF_SORTED_HASHES_H
#define CKF_SORTED_HASHES_H

#include "cuckoofilter.h"

#define CKF_HASHES_BONUS 32 /* bytes that hashes may cost above a table */

/* How a rebuild reads and fills a sorted array of words, which may be prefixes, too. */
extern const struct ckf_source ckf_sorted_hashes_source;
extern const struct ckf_sink ckf_sorted_hashes_sink;

#endif
