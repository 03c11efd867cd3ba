/*
 * remote.h - foreign scans whose server uses the filter.
 */
#ifndef CKFP_JOIN_REMOTE_H
#define CKFP_JOIN_REMOTE_H

#include "join/base/join.h"

/*
 * Let the servers of targets that are foreign scans use the filter of a join, if they can. The plan
 * of each one gets another parameter, which the target names.
 */
void ckfp_remote_plan(PlannedStmt *statement, const ckfp_join_record *record);

/* Does the server of a target use the filter? */
bool ckfp_remote_uses(const ckfp_join_target *target);

/* Set the parameters of the targets to a filter, which must stay in memory, or to NULL, which lets
 * all rows pass. */
void ckfp_remote_set(EState *estate, const ckfp_join_record *record, struct varlena *filter);

#endif
