/*
 * cost.h - what a filter costs, and what it saves.
 */
#ifndef CKFP_JOIN_COST_H
#define CKFP_JOIN_COST_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* Behind a filter a scan evaluates its own condition by a longer way: in questions to a filter. */
#define CKFP_CONDITION_ASKS 0.1

/* What a row costs in a node above the scan, in ns. */
double ckfp_cost_of_join(const Join *join);
double ckfp_cost_of_grouping(const Plan *plan);

/* What a row costs on its way out of a scan, beyond being tested there. */
double ckfp_cost_of_scan(const Plan *plan);

/* Is a filter worth it that has so many keys?  Where these are more than estimated, more rows
 * pass, too. */
bool ckfp_cost_pays(const ckfp_join_record *record, double keys);

#pragma GCC visibility pop

#endif
