/*
 * promise.h - what a rebuild promises: the one place that decides it
 * (FORMAT.md, section 8).
 */
#ifndef CKF_PROMISE_H
#define CKF_PROMISE_H

#include "filter/words.h"

/*
 * Fill in `to` what the result of a rebuild of its inputs promises: seed,
 * capacity, rate (and c with it), kind and layout, b, and the w and the classes that
 * its items have.  The other fields are those of the first input.
 * CKF_SEED_DIFFERS, CKF_OLD_ITEMS.
 */
ckf_status ckf_promise(ckf_filter *to, ckf_goal goal, const ckf_filter *const *in, unsigned inputs);

/*
 * May the items of a filter be added to those of a table of chunks, whose seed, kind and
 * precision stay as they are?  Only if the sum of both would promise the same.
 * CKF_SEED_DIFFERS; CKF_IS_SET: the filter is a set and the table is not; CKF_PRECISION:
 * the filter knows less of its items than the table asks.
 */
ckf_status ckf_promise_of_chunks(const ckf_filter *chunks, const ckf_filter *filter);

#endif
