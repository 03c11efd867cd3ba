/*
 * verify.h - join_filter = verify: rows that a filter denies are kept, and must have no match in
 * the join.
 */
#ifndef CKFP_JOIN_VERIFY_H
#define CKFP_JOIN_VERIFY_H

#include "node.h"

#pragma GCC visibility push(hidden)

/* Make the join of a filter check each match: replace its condition, which may be NULL. `keys` are
 * the expressions of the keys of the outer rows. */
void ckfp_verify_install(ckfp_build *build, PlanState *join, ExprState **condition, List *keys);

/* Record the hash of a key that the filter denied. */
void ckfp_verify_denied(ckfp_build *build, uint64 hash);

/* Record a key, by its hash and its values, in a partition that would be skipped. */
void ckfp_verify_skipped(ckfp_build *build, uint64 hash, const Datum *values);

#pragma GCC visibility pop

#endif
