/*
 * promise.h - the parameters of a rebuild's result.  No other code decides them
 * (FORMAT.md, section 8).
 */
#ifndef CKF_PROMISE_H
#define CKF_PROMISE_H

#include "filter/words.h"

/*
 * Set the parameters of a rebuild's result in `to`, from those of the inputs: seed, capacity,
 * rate (and so c), kind, layout, b, and the w and the item classes.  The other fields become
 * those of the first input.
 * CKF_SEED_DIFFERS, CKF_OLD_ITEMS.
 */
ckf_status ckf_promise(ckf_filter *to, ckf_goal goal, const ckf_filter *const *in, unsigned inputs);

/*
 * Whether the items of a filter may be added to a table of chunks.  The table keeps its seed,
 * kind and precision, so the sum of both must have the same ones.
 * CKF_SEED_DIFFERS; CKF_IS_SET: the filter is a set and the table is not; CKF_PRECISION:
 * the filter has less precision than the table.
 */
ckf_status ckf_promise_of_chunks(const ckf_filter *chunks, const ckf_filter *filter);

#endif
