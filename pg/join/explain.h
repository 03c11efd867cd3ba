/*
 * explain.h - the lines of a filter in EXPLAIN.
 */
#ifndef CKFP_JOIN_EXPLAIN_H
#define CKFP_JOIN_EXPLAIN_H

#include "node.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_state.h"
#endif

#pragma GCC visibility push(hidden)

/* Show the properties of the filter in EXPLAIN. */
void ckfp_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* Was the filter of a nested loop built, or why not? */
const char *ckfp_nest_text(const ckfp_build *build, const ckfp_join_counts *counts);

#pragma GCC visibility pop

#endif
