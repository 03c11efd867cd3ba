/*
 * stream.h - a filter's items in ascending order of their prefixes.
 */
#ifndef CKF_STREAM_H
#define CKF_STREAM_H

#include "filter/geometry.h"

/* Items of hashes and sets in one block; a table's block is a segment. */
#define CKF_BLOCK 4096

typedef struct ckf_stream
{
	const ckf_filter *in;
	unsigned low;         /* a table's items are sorted by the bits from here up */
	uint64_t next;        /* first word or segment of the next block */
	uint64_t *keys;       /* the block: hashes, or prefixes aligned to the left */
	uint64_t *spare;      /* as large as keys */
	size_t have, at;      /* keys in the block, and how many were taken */
	uint64_t *log;        /* of a log: what was logged, sorted */
	size_t logged, taken; /* words of it, and how many are in blocks already */
	uint64_t last;        /* the last key of the block before; 0 at first */
	ckf_inverse inverse;  /* of a table */
} ckf_stream;

/* 64-bit words of scratch that a stream of this filter needs. */
uint64_t ckf_stream_scratch(const ckf_filter *in);

/* Start at the first item.  A table's items come sorted by their bits from
 * `low` up; 0: sorted. */
void ckf_stream_start(ckf_stream *s, const ckf_filter *in, unsigned low, uint64_t *scratch);

/* Load the next block; false at the end. */
bool ckf_stream_load(ckf_stream *s);

/* Is there an item at s->keys[s->at]? */
CKF_INLINE bool
ckf_stream_ready(ckf_stream *s)
{
	return CKF_LIKELY(s->at < s->have) || ckf_stream_load(s);
}

#endif
