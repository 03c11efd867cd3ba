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

/* The expressions of a node beside its target list and its condition, as a list that has all of
 * them; *known is false for a node that is not known. */
List *ckfp_own_expressions(Plan *plan, bool *known);

/* A statement, as what its plans refer to: subplans by number, InitPlans by the parameters that
 * they set. */
typedef struct ckfp_statement
{
	PlannedStmt *plan;
	List *initplans; /* SubPlan nodes: of all plan nodes */
} ckfp_statement;

/* The InitPlan that sets a parameter, or NULL. */
SubPlan *ckfp_initplan_of(const ckfp_statement *statement, const Param *param);

/* Is anything volatile in a plan, or in an expression?  What they refer to belongs to them:
 * SubPlans, InitPlans and CTEs.  True where a plan node is not known. */
bool ckfp_plan_is_volatile(Plan *plan, const ckfp_statement *statement);
bool ckfp_expression_is_volatile(Node *expression, const ckfp_statement *statement);

#pragma GCC visibility pop

#endif
