/*
 * build.h - build a chunk from items.
 */
#ifndef CKF_CHUNK_BUILD_H
#define CKF_CHUNK_BUILD_H

#include "chunk/chunk.h"
#include "thresholds.h"

/* A chunk that grows gets room for its items and this fraction of them: it grows by some twenty
 * bytes at a time. */
#define CKF_CHUNK_SPARE 24

/* Any other chunk gets room for so many more items, so that the first adds do not change its size:
 * in a full page, a row that grows splits the page. */
#define CKF_CHUNK_LEAST_SPARE 2

/* The most items of a chunk: a slot has at least 3 bits. */
#define CKF_CHUNK_BUILT ((CKF_CHUNK_LIMIT * 8) / 3)

/* Words of scratch for a build: slots, and how many of each bucket are in use. */
#define CKF_BUILD_WORDS (CKF_CHUNK_BUILT + CKF_CHUNK_BUILT / 8 + 16)

/* The input of a build. */
typedef struct ckf_chunk_plan
{
	const ckf_chunks *chunks;
	uint64_t start;
	unsigned depth;
	bool whole; /* items are whole hashes, and stay whole */
	bool grows; /* with room for more */
} ckf_chunk_plan;

/*
 * Write a chunk of n items to `out`, which has CKF_CHUNK_MAX bytes.  The items are ascending, cut,
 * in the range, and have no more copies than allowed.  Returns the size; 0: the chunk would exceed
 * the limit.
 */
size_t ckf_chunk_build(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, uint8_t *out,
					   uint64_t *scratch);

#endif
