/*
 * explain.h - the lines of a filter in EXPLAIN.
 */
#ifndef CKFP_JOIN_EXPLAIN_H
#define CKFP_JOIN_EXPLAIN_H

#include "join.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_state.h"
#endif

#pragma GCC visibility push(hidden)

/* Show the properties of the filter in EXPLAIN. */
void ckfp_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#pragma GCC visibility pop

#endif
