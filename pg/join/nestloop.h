/*
 * nestloop.h - the plan node that filters the outer rows of a nested loop.
 */
#ifndef CKFP_JOIN_NESTLOOP_H
#define CKFP_JOIN_NESTLOOP_H

#include "nestloop_state.h"

#pragma GCC visibility push(hidden)

/* Register the custom scan methods. */
void ckfp_join_init_nest(void);

/* Let a node start, when its loop has been found or not. */
void ckfp_nest_install(ckfp_nest *nest);

#pragma GCC visibility pop

#endif
