/*
 * condition.h - the condition of a scan that asks filters.
 */
#ifndef CKFP_JOIN_CONDITION_H
#define CKFP_JOIN_CONDITION_H

#include "ask.h"
#include "skip.h"

#pragma GCC visibility push(hidden)

/* The condition of a scan, with all filters that it asks. */
typedef struct ckfp_probe
{
	ckfp_skip skip; /* first: see skip.h */
	ExprState state;
	PlanState *scan;
	ExprState *condition; /* the original condition, or NULL */
	int asks;
	ckfp_ask ask[FLEXIBLE_ARRAY_MEMBER];
} ckfp_probe;

/* Create the condition of a scan that asks so many filters, which the caller sets. */
ckfp_probe *ckfp_condition_make(PlanState *scan, int asks);

/* Is it the condition of this scan? */
bool ckfp_condition_is_set(const PlanState *scan);

/* Set it if the scan needs it: a filter can be asked. Otherwise restore the original condition. */
void ckfp_condition_update(ckfp_probe *probe);

/* The same for all scans that ask a filter, which was built or freed. */
void ckfp_condition_update_all(const ckfp_build *build);

#pragma GCC visibility pop

#endif
