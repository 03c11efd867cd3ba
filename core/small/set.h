/*
 * set.h - a small running state: a set of hashes.
 */
#ifndef CKF_SET_H
#define CKF_SET_H

#include "cuckoofilter.h"

/* Items that a set of so many words holds without crowding. */
uint64_t ckf_set_holds(uint64_t words);

/* Can so many items be added, in whatever order, each at once? */
bool ckf_set_takes(const ckf_filter *t, uint64_t more);

#endif
