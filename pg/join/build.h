/*
 * build.h - the plan node that builds a filter.
 */
#ifndef CKFP_JOIN_BUILD_H
#define CKFP_JOIN_BUILD_H

#include "node.h"

#pragma GCC visibility push(hidden)

/* The list of build nodes of the query that is being started; NULL otherwise. */
extern ckfp_build **ckfp_join_starting;

/* Start the child of a plan node of ours, whose rows the node returns. */
void ckfp_join_begin_child(CustomScanState *node, EState *estate, int eflags);

/* Add a node to the list of the query that is being started. */
void ckfp_join_enlist(ckfp_build *build);

/* Register the custom scan methods. */
void ckfp_join_init_build(void);

#pragma GCC visibility pop

#endif
