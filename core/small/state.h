/*
 * state.h - the running state of an aggregate, in one of two forms.
 *
 * A small state is a set of hashes (set.c).  A larger one is a log, because each
 * insert into a large set would wait for memory (log.c).  Which one it is
 * follows from its size.
 *
 * A state's items are whole hashes, or what is known of them where filters
 * are merged: prefixes aligned to the left, of different precision, as they
 * came.  merged_w and merged_b are the least w and b that came; a rebuild cuts
 * the items to them.
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

/* A state is not asked what is in it: perhaps, it says. */
bool ckf_state_contains(const ckf_filter *t, uint64_t hash);
unsigned ckf_state_copies(const ckf_filter *t, uint64_t hash);

/* ------------------------------------------------------------------- sets */

uint64_t ckf_set_holds(uint64_t words);
bool ckf_set_takes(const ckf_filter *t, uint64_t more);

/* ------------------------------------------------------------------- logs */

bool ckf_log_fits(const ckf_filter *t);

/* Items behind the sorted ones, which `count` counts. */
uint64_t ckf_log_logged(const ckf_filter *t);

/* Items that can still be appended. */
uint64_t ckf_log_room(const ckf_filter *t);

/* Of a log whose sorted part is a table of this geometry: bytes of a whole log
 * with room for so many items behind it. */
uint64_t ckf_log_size(const ckf_filter *t, uint64_t room);

/* Appends what a rebuild puts to a log that has room for it; its end makes
 * it count. */
extern const struct ckf_sink ckf_log_append;

#endif
