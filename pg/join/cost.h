/*
 * cost.h - what a filter costs, and what it saves.
 */
#ifndef CKFP_JOIN_COST_H
#define CKFP_JOIN_COST_H

#include "join.h"

#pragma GCC visibility push(hidden)

/* With a filter, the evaluation of the scan's own condition takes a longer path. This is its
 * cost per row, as a fraction of a lookup in a filter. */
#define CKFP_CONDITION_ASKS 0.1

/* The cost of a row in a node above the scan, in ns. */
double ckfp_cost_of_join(const Join *join);
double ckfp_cost_of_grouping(const Plan *plan);

/* The cost of returning a row from a scan, in ns, without the cost of testing it there. */
double ckfp_cost_of_scan(const Plan *plan);

/* The cost of reading a row in a scan, in ns, which a scan that is skipped saves. */
double ckfp_cost_of_reading(const Plan *plan);

/* Does a filter with this number of keys pay? If there are more keys than estimated, more rows
 * pass, too. */
bool ckfp_cost_pays(const ckfp_join_record *record, double keys);

#pragma GCC visibility pop

#endif
