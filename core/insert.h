/*
 * insert.h - put a tag into one of its two buckets, moving others if need be
 * (paper, Algorithm 1), in a segment of a table or of a build's scratch.
 *
 * Where both buckets are full, others move along the shortest chain that ends
 * in a free slot, found breadth first.  So nothing moves before a place is
 * sure, a failed insert has nothing to undo, and the same table takes the same
 * item the same way everywhere.
 */
#ifndef CKF_INSERT_H
#define CKF_INSERT_H

#include "bucket.h"

/* Buckets looked at before an insert gives up (the paper's MaxNumKicks). */
#define CKF_MAX_KICKS 2048

/* Where a segment's slots are.  A constant at each use, so that the compiler
 * makes a version for each. */
typedef enum ckf_where
{
	CKF_IN_TABLE,
	CKF_IN_SLOTS32, /* scratch, plain */
	CKF_IN_SLOTS64
} ckf_where;

typedef struct ckf_segment
{
	ckf_filter *t; /* the geometry, and in a table the bytes */
	const ckf_inverse *inverse;
	uint64_t first; /* in a table: the segment's first bucket */
	uint32_t *slots32;
	uint64_t *slots64;
	uint8_t *used; /* in scratch: slots in use, from the bucket's first */
} ckf_segment;

/* A bucket reached by moving slot `slot` of bucket `parent` out. */
typedef struct ckf_node
{
	uint32_t bucket;
	uint16_t parent;
	uint8_t slot;
} ckf_node;

CKF_INLINE void ckf_tags_at(const ckf_segment *s, ckf_where where, uint32_t bucket, uint64_t *tags)
{
	unsigned b = s->t->b;
	unsigned i;

	if (where == CKF_IN_TABLE)
		ckf_bucket_read(s->t, s->first + bucket, tags);
	else
		for (i = 0; i < b; i++)
			tags[i] = where == CKF_IN_SLOTS32 ? s->slots32[(size_t)bucket * b + i]
											  : s->slots64[(size_t)bucket * b + i];
}

CKF_INLINE bool ckf_has_room(const ckf_segment *s, ckf_where where, uint32_t bucket)
{
	uint64_t tags[CKF_MAX_SLOTS];

	if (where != CKF_IN_TABLE)
		return s->used[bucket] < s->t->b;
	ckf_bucket_read(s->t, s->first + bucket, tags);
	return ckf_count_tags(tags, s->t->b, 0) > 0;
}

/* Put a tag into a slot that is free, or whose tag has moved on. */
CKF_INLINE void ckf_put_at(const ckf_segment *s, ckf_where where, uint32_t bucket, unsigned slot,
						   uint64_t tag)
{
	size_t at = (size_t)bucket * s->t->b + slot;

	if (where == CKF_IN_SLOTS32)
		s->slots32[at] = (uint32_t)tag;
	else if (where == CKF_IN_SLOTS64)
		s->slots64[at] = tag;
	else
	{
		uint64_t tags[CKF_MAX_SLOTS];

		ckf_bucket_read(s->t, s->first + bucket, tags);
		tags[slot] = tag;
		ckf_bucket_write(s->t, s->first + bucket, tags);
	}
}

CKF_INLINE void ckf_put_free(const ckf_segment *s, ckf_where where, uint32_t bucket, uint64_t tag)
{
	unsigned slot = 0;

	if (where != CKF_IN_TABLE)
		slot = s->used[bucket]++;
	else
	{
		uint64_t tags[CKF_MAX_SLOTS];

		ckf_bucket_read(s->t, s->first + bucket, tags);
		while (tags[slot] != 0)
			slot++;
	}
	ckf_put_at(s, where, bucket, slot, tag);
}

/* The chain's end is free: move each tag one step on, then put `tag` where
 * the chain begins.  No bucket comes twice in a shortest chain. */
CKF_INLINE void ckf_move_chain(const ckf_segment *s, ckf_where where, const ckf_node *nodes,
							   unsigned last, unsigned slot, uint32_t end, uint64_t tag)
{
	uint64_t tags[CKF_MAX_SLOTS];

	ckf_tags_at(s, where, nodes[last].bucket, tags);
	ckf_put_free(s, where, end, tags[slot]);
	while (last >= 2)
	{
		unsigned parent = nodes[last].parent;

		ckf_tags_at(s, where, nodes[parent].bucket, tags);
		ckf_put_at(s, where, nodes[last].bucket, slot, tags[nodes[last].slot]);
		slot = nodes[last].slot;
		last = parent;
	}
	ckf_put_at(s, where, nodes[last].bucket, slot, tag);
}

/* Both buckets of a tag are full: make room in one and put it there. */
CKF_INLINE bool ckf_kick(const ckf_segment *s, ckf_where where, uint32_t bucket0, uint32_t bucket1,
						 uint64_t tag)
{
	ckf_node nodes[CKF_MAX_KICKS];
	uint64_t tags[CKF_MAX_SLOTS];
	unsigned n = 2;
	unsigned i, slot;

	nodes[0].bucket = bucket0;
	nodes[1].bucket = bucket1;
	for (i = 0; i < n; i++)
	{
		ckf_tags_at(s, where, nodes[i].bucket, tags);
		for (slot = 0; slot < s->t->b; slot++)
		{
			uint32_t other = ckf_other_bucket(s->t, s->inverse, nodes[i].bucket, tags[slot]);

			if (ckf_has_room(s, where, other))
			{
				ckf_move_chain(s, where, nodes, i, slot, other, tag);
				return true;
			}
			if (n < CKF_MAX_KICKS)
				nodes[n++] = (ckf_node){other, (uint16_t)i, (uint8_t)slot};
		}
	}
	return false;
}

#endif
