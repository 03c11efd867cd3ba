/*
 * rules.h - which joins may have a filter.
 */
#ifndef CKFP_JOIN_RULES_H
#define CKFP_JOIN_RULES_H

#include "walk.h"

#pragma GCC visibility push(hidden)

/* What the rules know of a statement. */
typedef struct ckfp_rules
{
	ckfp_statement statement;
	bool guarded;        /* a security barrier is in it */
	Bitmapset *harmless; /* parameters that never change what a build side has */
} ckfp_rules;

/* May joins of this statement have filters? */
bool ckfp_rules_allow_statement(const PlannedStmt *statement);

/* Take note of a plan node; then, when all are, of what they say together. */
void ckfp_rules_note(ckfp_rules *rules, const Plan *plan);
void ckfp_rules_conclude(ckfp_rules *rules);

/* May this join, which so many processes share, have a filter, and is it expected to pay?  Then
 * *record says which, and *expressions has its keys: those of the build side, then those of the
 * probe side. */
bool ckfp_rules_allow(const ckfp_rules *rules, HashJoin *join, double processes,
					  ckfp_join_record *record, List **expressions);

#pragma GCC visibility pop

#endif
