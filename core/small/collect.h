/*
 * collect.h - an aggregate's running state.
 */
#ifndef CKF_COLLECT_H
#define CKF_COLLECT_H

#include "cuckoofilter.h"

/* Are the fields of a state possible? */
bool ckf_collect_fits(const ckf_filter *t);
/* Is it a log, rather than a set? */
bool ckf_collect_is_log(const ckf_filter *t);
/* Hashes of a log behind the sorted ones, which `count` counts. */
uint64_t ckf_collect_logged(const ckf_filter *t);
/* The words that hold hashes; in a set, 0 is none. */
void ckf_collect_range(const ckf_filter *t, uint64_t *first, uint64_t *end);
/* May so many more be added in order without crowding? */
bool ckf_collect_has_room(const ckf_filter *t, uint64_t more);
/* Bytes of the next larger state. */
size_t ckf_collect_grown(size_t size);
/* Append a hash that is not below any before to an empty state; *next is 0 at
 * the first.  false: it does not fit. */
bool ckf_collect_append(ckf_filter *t, uint64_t hash, uint64_t *next);

#endif
