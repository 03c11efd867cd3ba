/*
 * walk.h - walks through plan trees, and finds volatile functions in them.
 */
#ifndef CKFP_JOIN_WALK_H
#define CKFP_JOIN_WALK_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef void (*ckfp_plan_visitor)(Plan *plan, void *context);

/* Call `visit` for each child of a plan node. */
void ckfp_plan_children(Plan *plan, ckfp_plan_visitor visit, void *context);

/* The expressions of a node, except its target list and its condition, as a list. *known is
 * false for a node of an unknown kind. */
List *ckfp_own_expressions(Plan *plan, bool *known);

/* A statement, and what its plans refer to: subplans by number, InitPlans by the parameters that
 * they set. */
typedef struct ckfp_statement
{
	PlannedStmt *plan;
	List *initplans; /* the SubPlan nodes of all plan nodes */
} ckfp_statement;

/* The InitPlan that sets a parameter, or NULL. */
SubPlan *ckfp_initplan_of(const ckfp_statement *statement, const Param *param);

/* Is there a volatile function in a plan, or in an expression? The SubPlans, InitPlans and CTEs
 * that they refer to belong to them. True also for a plan node of an unknown kind. */
bool ckfp_plan_is_volatile(Plan *plan, const ckfp_statement *statement);
bool ckfp_expression_is_volatile(Node *expression, const ckfp_statement *statement);

#pragma GCC visibility pop

#endif
