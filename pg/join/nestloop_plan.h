/*
 * nestloop_plan.h - which nested loops may have a filter, and its plan nodes.
 */
#ifndef CKFP_JOIN_NESTLOOP_PLAN_H
#define CKFP_JOIN_NESTLOOP_PLAN_H

#include "rules.h"

#pragma GCC visibility push(hidden)

/* The nested loops of a plan that a node above may stop early, by plan_node_id, added to `loops`.
 * `stops`: the reader of the plan may stop early. */
Bitmapset *ckfp_nest_stops(Plan *plan, bool stops, Bitmapset *loops);

/* If the rules allow a filter for a nested loop, which `processes` processes share, put its plan
 * node between the loop and its outer side. *last_node is the highest plan_node_id. */
CustomScan *ckfp_nest_add(const ckfp_rules *rules, NestLoop *join, double processes, bool stops,
						  int *last_node);

#pragma GCC visibility pop

#endif
