/*
 * order.h - may a hash join read its build side first?
 */
#ifndef CKFP_JOIN_ORDER_H
#define CKFP_JOIN_ORDER_H

#include "walk.h"

#pragma GCC visibility push(hidden)

/* Does reading the build side of a join before the first row of its probe side pay, and have no
 * effect except on time? */
bool ckfp_order_may_change(const ckfp_statement *statement, HashJoin *join,
						   const ckfp_join_record *record);

/* Can evaluating an expression fail? If a statement is given: or run an InitPlan? */
bool ckfp_expression_may_fail(Node *expression, const ckfp_statement *statement);

#pragma GCC visibility pop

#endif
