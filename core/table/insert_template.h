/*
 * insert_template.h - put an item into one of its two buckets, moving other items
 * where both are full (paper, Algorithm 1).  A segment lies in a table, or in the
 * scratch memory of a build.  In a table an item is its tag; scratch has the bits
 * for the whole rho, which makes an item's other bucket quicker to find.
 *
 * The paper kicks items at random and has to undo that, or loses one, where no
 * place is found.  Here a breadth-first search finds the shortest chain of items
 * that ends in a free slot, and they move only then.  So nothing moves before a
 * place is sure, a failed insert has nothing to undo, and the same table takes the
 * same item in the same way on every machine.
 */
#ifndef CKF_INSERT_TEMPLATE_H
#define CKF_INSERT_TEMPLATE_H

#include "bucket/bucket_template.h"

/* Buckets looked at before an insert gives up (the paper's MaxNumKicks). */
#define CKF_MAX_KICKS 2048

/* Where a segment's slots are: a constant at each use, so that the compiler makes a
 * version for each. */
typedef enum ckf_where
{
	CKF_IN_TABLE,
	CKF_IN_SLOTS32, /* scratch, where rho has at most 32 bits */
	CKF_IN_SLOTS64  /* scratch */
} ckf_where;

typedef struct ckf_segment
{
	ckf_filter *t;              /* the geometry, and in a table the bytes */
	const ckf_inverse *inverse; /* in a table */
	uint64_t first;             /* in a table: the segment's first bit */
	ckf_access access;          /* in a table: a constant, too */
	uint32_t *slots32;
	uint64_t *slots64;
	uint8_t *used; /* in scratch: slots in use, from the bucket's first */
} ckf_segment;

/* A bucket that the search has reached: the item in slot `slot` of the bucket of
 * node `parent` could move to it.  The first two nodes are where the search began. */
typedef struct ckf_node
{
	uint32_t bucket;
	uint16_t parent;
	uint8_t slot;
} ckf_node;

/* Where a table's bucket begins. */
CKF_INLINE uint64_t
ckf_at(const ckf_segment *s, uint32_t bucket)
{
	return s->first + (uint64_t)bucket * s->t->bucket_step;
}

/* The items of a bucket. */
CKF_INLINE void
ckf_items_at(const ckf_segment *s, ckf_where where, unsigned b, uint32_t bucket, uint64_t *items)
{
	unsigned i;

	if (where == CKF_IN_TABLE)
	{
		ckf_bucket loaded;

		ckf_bucket_load(s->t, s->access, ckf_at(s, bucket), &loaded);
		for (i = 0; i < b; i++)
			items[i] = ckf_bucket_tag(s->t, s->access, &loaded, i);
		return;
	}
	for (i = 0; i < b; i++)
		items[i] = where == CKF_IN_SLOTS32 ? s->slots32[(size_t)bucket * b + i]
										   : s->slots64[(size_t)bucket * b + i];
}

/* The other bucket of an item in `bucket`. */
CKF_INLINE uint32_t
ckf_other_bucket(const ckf_segment *s, ckf_where where, uint32_t bucket, uint64_t item)
{
	const ckf_filter *t = s->t;
	unsigned half = bucket >= t->m;
	uint64_t rho = where != CKF_IN_TABLE
					   ? item
					   : ckf_rho(t, s->inverse, half, half ? bucket - t->m : bucket, item);

	return (uint32_t)ckf_bucket_of(t, !half, rho) + (half ? 0 : t->m);
}

/* Has a bucket a free slot? */
CKF_INLINE bool
ckf_has_room(const ckf_segment *s, ckf_where where, uint32_t bucket)
{
	return where == CKF_IN_TABLE ? ckf_has_free(s->t, s->access, ckf_at(s, bucket))
								 : s->used[bucket] < s->t->b;
}

/* Put an item into a slot whose own item has moved on. */
CKF_INLINE void
ckf_put_at(const ckf_segment *s, ckf_where where, uint32_t bucket, unsigned slot, uint64_t item)
{
	size_t at = (size_t)bucket * s->t->b + slot;
	ckf_bucket loaded;

	if (where == CKF_IN_SLOTS32)
		s->slots32[at] = (uint32_t)item;
	else if (where == CKF_IN_SLOTS64)
		s->slots64[at] = item;
	else
	{
		ckf_bucket_load(s->t, s->access, ckf_at(s, bucket), &loaded);
		ckf_bucket_replace(s->t, s->access, ckf_at(s, bucket), &loaded,
						   ckf_slot_mask(s->t, s->access, slot),
						   ckf_bucket_tag(s->t, s->access, &loaded, slot), item);
	}
}

/* Put an item into a bucket that has room. */
CKF_INLINE void
ckf_put_free(const ckf_segment *s, ckf_where where, uint32_t bucket, uint64_t item)
{
	ckf_bucket loaded;

	if (where != CKF_IN_TABLE)
	{
		ckf_put_at(s, where, bucket, s->used[bucket]++, item);
		return;
	}
	ckf_bucket_load(s->t, s->access, ckf_at(s, bucket), &loaded);
	ckf_bucket_replace(s->t, s->access, ckf_at(s, bucket), &loaded,
					   ckf_bucket_free_slots(s->t, s->access, &loaded), 0, item);
}

/*
 * The search has found a free slot in bucket `end`, for the item in slot `slot` of
 * node `last`.  From the end of the chain to its beginning each item moves one step
 * on, and the new item takes the slot that is left.  (No bucket comes twice in a
 * shortest chain, so no step moves what an earlier one has put.)
 */
CKF_INLINE void
ckf_move_chain(const ckf_segment *s, ckf_where where, const ckf_node *nodes, unsigned last,
			   unsigned slot, uint32_t end, uint64_t item)
{
	uint64_t items[CKF_MAX_SLOTS];

	ckf_items_at(s, where, s->t->b, nodes[last].bucket, items);
	ckf_put_free(s, where, end, items[slot]);
	while (last >= 2)
	{
		unsigned parent = nodes[last].parent;

		ckf_items_at(s, where, s->t->b, nodes[parent].bucket, items);
		ckf_put_at(s, where, nodes[last].bucket, slot, items[nodes[last].slot]);
		slot = nodes[last].slot;
		last = parent;
	}
	ckf_put_at(s, where, nodes[last].bucket, slot, item);
}

/* Both buckets of an item are full: make room in one of them and put it there.
 * Returns how many buckets were searched; 0: there is no chain within CKF_MAX_KICKS
 * buckets, and nothing has changed. */
CKF_INLINE unsigned
ckf_kick(const ckf_segment *s, ckf_where where, uint32_t bucket0, uint32_t bucket1, uint64_t item)
{
	ckf_node nodes[CKF_MAX_KICKS];
	unsigned n = 2;
	unsigned i, slot;

	nodes[0].bucket = bucket0;
	nodes[1].bucket = bucket1;
	for (i = 0; i < n; i++)
	{
		uint64_t items[CKF_MAX_SLOTS];

		ckf_items_at(s, where, s->t->b, nodes[i].bucket, items);
		for (slot = 0; slot < s->t->b; slot++)
		{
			uint32_t other = ckf_other_bucket(s, where, nodes[i].bucket, items[slot]);

			if (ckf_has_room(s, where, other))
			{
				ckf_move_chain(s, where, nodes, i, slot, other, item);
				return i + 1;
			}
			if (n < CKF_MAX_KICKS)
				nodes[n++] = (ckf_node){other, (uint16_t)i, (uint8_t)slot};
		}
	}
	return 0;
}

#endif
