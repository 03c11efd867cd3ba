/*
 * rules.h - which joins may have a filter.
 */
#ifndef CKFP_JOIN_RULES_H
#define CKFP_JOIN_RULES_H

#include "walk.h"

#pragma GCC visibility push(hidden)

/* What the rules know about a statement. */
typedef struct ckfp_rules
{
	ckfp_statement statement;
	bool has_barrier;    /* it has a security barrier */
	Bitmapset *harmless; /* parameters that never change the rows of a build side */
} ckfp_rules;

/* May joins of this statement have filters? */
bool ckfp_rules_allow_statement(const PlannedStmt *statement);

/* Note what the rules need from a plan node. After all nodes, ckfp_rules_conclude evaluates the
 * notes. */
void ckfp_rules_note(ckfp_rules *rules, const Plan *plan);
void ckfp_rules_conclude(ckfp_rules *rules);

/* May this join, which `processes` processes share, have a filter, and is the filter expected to
 * pay? If so, *record describes the filter, and *expressions has its keys: those of the build
 * side, then those of the probe side. If not, *reason says why. */
bool ckfp_rules_allow(const ckfp_rules *rules, HashJoin *join, double processes,
					  ckfp_join_record *record, List **expressions, const char **reason);

#pragma GCC visibility pop

#endif
