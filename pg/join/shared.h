/*
 * shared.h - filters in parallel plans: one filter for all processes, or one in each process whose
 * counters are shared.
 */
#ifndef CKFP_JOIN_SHARED_H
#define CKFP_JOIN_SHARED_H

#include "node.h"

#include "access/parallel.h"

#pragma GCC visibility push(hidden)

/* Callbacks of the plan node. */
Size ckfp_shared_estimate(CustomScanState *node, ParallelContext *context);
void ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory);
void ckfp_shared_shutdown(CustomScanState *node);

/* Do the processes build one filter together? */
bool ckfp_shared_is_common(const ckfp_build *build);

/* This process starts to read its part of the build side. */
void ckfp_shared_begin(ckfp_build *build);

/* This process has read its part: add its keys to the common filter. The last process builds it. */
void ckfp_shared_contribute(ckfp_build *build);

/* Give up the common filter. */
void ckfp_shared_fail(ckfp_build *build, ckfp_given_up why);

/* Start to ask the common filter, if it is ready. */
void ckfp_shared_attach(ckfp_build *build);

#pragma GCC visibility pop

#endif
