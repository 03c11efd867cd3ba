/*
 * merge.h - what a merger of filters promises.
 */
#ifndef CKF_MERGE_H
#define CKF_MERGE_H

#include "cuckoofilter.h"

/* Take over into `to` what a union or sum with `in` asks of it: target rate,
 * seed, layout, and w and b in merged_w and merged_b.  CKF_SEED_DIFFERS. */
ckf_status ckf_merge_target(ckf_filter *to, const ckf_filter *in);

#endif
