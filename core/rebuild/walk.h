/*
 * walk.h - the items of one or two filters in ascending order, in blocks.
 */
#ifndef CKF_WALK_H
#define CKF_WALK_H

#include "rebuild/stream.h"

typedef struct ckf_walk
{
	unsigned inputs; /* 1 or 2 */
	ckf_stream stream[2];
	uint64_t *merged; /* of two: CKF_BLOCK keys */
} ckf_walk;

/* 64-bit words of scratch that a walk of these inputs needs. */
uint64_t ckf_walk_scratch(const ckf_filter *const *in, unsigned inputs);

/* Start at the first items.  `low` as in ckf_stream_start; 0 for two inputs.
 * Returns the scratch behind what the walk uses. */
uint64_t *ckf_walk_start(ckf_walk *walk, const ckf_filter *const *in, unsigned inputs, unsigned low,
						 uint64_t *scratch);

/* The next block: hashes, or prefixes aligned to the left.  0 at the end. */
size_t ckf_walk_next(ckf_walk *walk, const uint64_t **keys);

#endif
