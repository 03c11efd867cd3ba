/*
 * shared.h - a filter in parallel plans: one for all processes, or what each
 * counted of its own.
 */
#ifndef CKFP_JOIN_SHARED_H
#define CKFP_JOIN_SHARED_H

#include "build.h"

#include "access/parallel.h"

#pragma GCC visibility push(hidden)

/* Callbacks of the plan node. */
Size ckfp_shared_estimate(CustomScanState *node, ParallelContext *context);
void ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory);
void ckfp_shared_shutdown(CustomScanState *node);

/* Do processes make one filter together? */
bool ckfp_shared_is_common(const ckfp_build *build);

/* This process begins to read its part of the build side. */
void ckfp_shared_begin(ckfp_build *build);

/* It has read it: give what it gathered to the filter of all, which the last one to come
 * makes. */
void ckfp_shared_contribute(ckfp_build *build);

/* There will be no filter. */
void ckfp_shared_fail(ckfp_build *build, ckfp_given_up why);

/* Ask the filter of all from now on, if it is there. */
void ckfp_shared_attach(ckfp_build *build);

#pragma GCC visibility pop

#endif
