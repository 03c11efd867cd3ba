/*
 * target.h - what a rebuild builds (FORMAT.md, section 5).
 */
#ifndef CKF_TARGET_H
#define CKF_TARGET_H

#include "rebuild/work.h"

/* Before anything is known but the inputs: what the target promises, its kind,
 * and how copies are counted.  CKF_SEED_DIFFERS, CKF_OLD_ITEMS. */
ckf_status ckf_target_start(ckf_rebuild *r, ckf_goal goal);

/* Must the items be counted before ckf_target_choose? */
bool ckf_target_counts(const ckf_rebuild *r);

/* Choose r->to and r->sink for r->items.  CKF_MORE: the target is another one, for which they
 * must be counted once more.  CKF_PRECISION: it is used up. */
ckf_status ckf_target_choose(ckf_rebuild *r);

/* The target did not hold the items: a larger one.  CKF_MORE: another one, for which they
 * must be counted once more.  CKF_PRECISION; CKF_BAD_BYTES: there are more than the input
 * tells. */
ckf_status ckf_target_enlarge(ckf_rebuild *r);

#endif
