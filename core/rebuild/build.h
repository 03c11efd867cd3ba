/*
 * build.h - fill a new filter with prefixes in ascending order.
 */
#ifndef CKF_BUILD_H
#define CKF_BUILD_H

#include "table/insert_template.h"

typedef struct ckf_build
{
	ckf_filter *t;       /* the target: geometry, and bytes to write */
	ckf_segment segment; /* of a table: the one being filled, in scratch */
	uint64_t number;     /* its number */
	uint64_t stored;     /* copies stored so far */
	uint64_t next;       /* of hashes and sets: the next word */
} ckf_build;

/* 64-bit words of scratch that a build of this target needs. */
uint64_t ckf_build_scratch(const ckf_filter *t);

/* Bytes of a target that is to hold `items`. */
uint64_t ckf_build_size(const ckf_filter *t, uint64_t items);

void ckf_build_start(ckf_build *build, ckf_filter *t, uint64_t *scratch);

/* Store copies of an item: a hash, or a prefix cut and aligned for the target;
 * no lower than any before.  false: no room. */
bool ckf_build_add(ckf_build *build, uint64_t item, unsigned copies);

/* Store hashes in a log, one copy of each.  false: no room. */
bool ckf_build_append(ckf_build *build, const uint64_t *hashes, size_t n);

/* Write what is still in scratch, and the header. */
void ckf_build_end(ckf_build *build);

#endif
