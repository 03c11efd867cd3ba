/*
 * promise.h - what a rebuild promises: the one place that decides it
 * (FORMAT.md, section 8).
 */
#ifndef CKF_PROMISE_H
#define CKF_PROMISE_H

#include "filter/words.h"

/*
 * Fill in `to` what the result of a rebuild of one or two inputs promises: seed,
 * capacity, rate (and c with it), kind and layout, b, and the w and the classes that
 * its items have.  The other fields are those of the first input.
 * CKF_SEED_DIFFERS, CKF_OLD_ITEMS.
 */
ckf_status ckf_promise(ckf_filter *to, ckf_goal goal, const ckf_filter *const *in, unsigned inputs);

/* Does a rebuild ask what its inputs have in common? */
CKF_INLINE bool
ckf_compares(ckf_goal goal)
{
	return goal == CKF_INTERSECT || goal == CKF_COMPARE;
}

#endif
