/*
 * lineage.h - the tables that the scanned tables are partitions or children of, in a plan.
 */
#ifndef CKFP_JOIN_LINEAGE_H
#define CKFP_JOIN_LINEAGE_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* Complete the targets of a filter: the table at the root, and whether the filter can tell that
 * no key is in the partition that the scan reads. Sum up in the record what that saves. */
void ckfp_lineage_note(const PlannedStmt *statement, ckfp_join_record *record);

#pragma GCC visibility pop

#endif
