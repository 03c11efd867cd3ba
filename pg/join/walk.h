/*
 * walk.h - plans as trees, and what is volatile in them.
 */
#ifndef CKFP_JOIN_WALK_H
#define CKFP_JOIN_WALK_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef void (*ckfp_plan_visitor)(Plan *plan, void *context);

/* Call `visit` for each child of a plan node. */
void ckfp_plan_children(Plan *plan, ckfp_plan_visitor visit, void *context);

/* Is anything volatile in a plan, or in the subplans of its expressions?  Also where a
 * node is one that is not known. */
bool ckfp_plan_is_volatile(Plan *plan, const PlannedStmt *statement);

#pragma GCC visibility pop

#endif
