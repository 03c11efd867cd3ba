/*
 * state.h - the running state of an aggregate, in one of two forms.
 *
 * A small state is a set of hashes (set.c).  A larger one is a log, because each
 * insert into a large set would wait for memory (log.c).  Which one it is
 * follows from its size.
 *
 * A state's items are whole hashes, or what is known of them where filters
 * are merged: prefixes aligned to the left, of different precision, as they
 * came.  Its w and b are the least that came; a rebuild cuts the items to them.
 */
#ifndef CKF_STATE_H
#define CKF_STATE_H

#include "cuckoofilter.h"

/* Are the fields of a state possible? */
bool ckf_state_fits(const ckf_filter *t);

/* Is it a log, rather than a set? */
bool ckf_state_is_log(const ckf_filter *t);

/* Bytes of the next larger set or log. */
uint64_t ckf_state_grown(uint64_t size);

/* Items that a set or log of so many bytes holds without crowding. */
uint64_t ckf_state_holds(uint64_t size);

/* Can so many items be added, in whatever order, each at once? */
bool ckf_state_takes(const ckf_filter *t, uint64_t more);

#endif
