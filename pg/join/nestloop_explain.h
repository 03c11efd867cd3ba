/*
 * nestloop_explain.h - whether the filter of a nested loop was built, for EXPLAIN.
 */
#ifndef CKFP_JOIN_NESTLOOP_EXPLAIN_H
#define CKFP_JOIN_NESTLOOP_EXPLAIN_H

#include "node.h"

#pragma GCC visibility push(hidden)

/* Was the filter of a nested loop built, or why not? */
const char *ckfp_nest_text(const ckfp_build *build, const ckfp_join_counts *counts);

#pragma GCC visibility pop

#endif
