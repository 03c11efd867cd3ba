/*
 * explain.h - the lines of a filter in EXPLAIN.
 */
#ifndef CKFP_JOIN_EXPLAIN_H
#define CKFP_JOIN_EXPLAIN_H

#include "join.h"

#include "commands/explain.h"

#pragma GCC visibility push(hidden)

/* Show the properties of the filter in EXPLAIN. */
void ckfp_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#pragma GCC visibility pop

#endif
