/*
 * skip.h - scans of partitions that are not read, because no key can be in them.
 */
#ifndef CKFP_JOIN_SKIP_H
#define CKFP_JOIN_SKIP_H

#include "node.h"

#pragma GCC visibility push(hidden)

/* A filter that can make a scan unnecessary. */
typedef struct ckfp_skip_filter
{
	ckfp_build *build;
	int target; /* the number of the scan among its targets */
} ckfp_skip_filter;

/* A scan that may be skipped. The private data of its condition begins with this. */
typedef struct ckfp_skip
{
	PlanState *scan;
	ExecProcNodeMtd exec; /* the scan's own function, while ours is in its place */
	AppendState *append;  /* the node that asks the scan asynchronously, or NULL */
	int filters;
	ckfp_skip_filter *filter;
} ckfp_skip;

/* Let a filter skip a scan. `append` is the node above it, if that is an Append; `room` is the
 * largest number of filters of the scan. */
void ckfp_skip_add(ckfp_skip *skip, PlanState *scan, AppendState *append, int room,
				   ckfp_build *build, int target);

/* Prepare the scans of a filter for its next keys. */
void ckfp_skip_arm(ckfp_build *build);

#pragma GCC visibility pop

#endif
