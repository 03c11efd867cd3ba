/*
 * target.h - the filter that a rebuild builds: its target (FORMAT.md, section 5).
 */
#ifndef CKF_TARGET_H
#define CKF_TARGET_H

#include "rebuild/work.h"

/* Set the target's parameters, its kind, and how copies are counted.  The items have not been
 * read yet.  CKF_SEED_DIFFERS, CKF_OLD_ITEMS. */
ckf_status ckf_target_start(ckf_rebuild *r, ckf_goal goal);

/* Whether the items must be counted before ckf_target_choose. */
bool ckf_target_counts(const ckf_rebuild *r);

/* Choose r->to and r->sink for r->items.  CKF_MORE: the parameters have changed, count the
 * items again.  CKF_PRECISION: no target is possible. */
ckf_status ckf_target_choose(ckf_rebuild *r);

/* Choose a larger target, after one could not place all items.  CKF_MORE: the parameters have
 * changed, count the items again.  CKF_PRECISION: no target is possible.  CKF_BAD_BYTES: the
 * input has more items than its header says. */
ckf_status ckf_target_enlarge(ckf_rebuild *r);

#endif
