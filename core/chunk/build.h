/*
 * build.h - make a chunk of items.
 */
#ifndef CKF_CHUNK_BUILD_H
#define CKF_CHUNK_BUILD_H

#include "chunk/chunk.h"
#include "thresholds.h"

/* A chunk that grows gets room for this part more of its items: steps of some twenty
 * bytes. */
#define CKF_CHUNK_SPARE 24

/* Any other has room for so many items more, that the first adds leave its size as it is:
 * where pages are full, a row that grows splits one. */
#define CKF_CHUNK_LEAST_SPARE 2

/* The most items of a chunk that was built: a slot has 3 bits at least. */
#define CKF_CHUNK_BUILT ((CKF_CHUNK_LIMIT * 8) / 3)

/* Words of scratch for a build: slots, and how many of each bucket are in use. */
#define CKF_BUILD_WORDS (CKF_CHUNK_BUILT + CKF_CHUNK_BUILT / 8 + 16)

/* What is to be built. */
typedef struct ckf_chunk_plan
{
	const ckf_chunks *chunks;
	uint64_t start;
	unsigned depth;
	bool whole; /* items are whole hashes, and stay such */
	bool grows; /* with room for more */
} ckf_chunk_plan;

/*
 * Write a chunk of n items, which are ascending, cut, in range, and no more copies than
 * may be, to `out`, which has CKF_CHUNK_MAX bytes.  Returns its size; 0: it would pass
 * the limit.
 */
size_t ckf_chunk_build(const ckf_chunk_plan *plan, const uint64_t *items, size_t n, uint8_t *out,
					   uint64_t *scratch);

#endif
