/*
 * remote.h - foreign scans whose server asks the filter.
 */
#ifndef CKFP_JOIN_REMOTE_H
#define CKFP_JOIN_REMOTE_H

#include "join.h"

#pragma GCC visibility push(hidden)

/*
 * Let the servers of those targets that are foreign scans ask the filter of a join, where they
 * can: their plans get a parameter more, which the target names.
 */
void ckfp_remote_plan(PlannedStmt *statement, const ckfp_join_record *record);

/* Does the server of a target ask? */
bool ckfp_remote_asks(const ckfp_join_target *target);

/* The value of these parameters: a filter, or NULL, which lets all pass.  It must stay. */
void ckfp_remote_set(EState *estate, const ckfp_join_record *record, struct varlena *filter);

#pragma GCC visibility pop

#endif
