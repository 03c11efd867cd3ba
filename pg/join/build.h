/*
 * build.h - the plan node that builds a filter.
 */
#ifndef CKFP_JOIN_BUILD_H
#define CKFP_JOIN_BUILD_H

#include "node.h"

#pragma GCC visibility push(hidden)

/* The list of build nodes of the query that is being started; NULL otherwise. */
extern ckfp_build **ckfp_join_starting;

/* Register the custom scan methods. */
void ckfp_join_init_build(void);

#pragma GCC visibility pop

#endif
