/*
 * insert_template.h - put an item into one of its two buckets; if both are full, move other
 * items (paper, Algorithm 1).  A segment is in a table, or in the scratch memory of a build.
 * A table stores an item as its tag.  Scratch stores the whole rho, so that the other bucket of
 * an item is computed faster.
 *
 * The paper kicks random items.  If it finds no free slot, it must undo the kicks or lose an
 * item.  Here a breadth-first search first finds the shortest chain of kicks that ends in a free
 * slot; items move only if there is one.  So a failed insert changes nothing, and the result is
 * the same on every machine.
 */
#ifndef CKF_INSERT_TEMPLATE_H
#define CKF_INSERT_TEMPLATE_H

#include "bucket/bucket_template.h"
#include "scan/sink.h"

/* The most buckets that an insert searches (the paper's MaxNumKicks). */
#define CKF_MAX_KICKS 2048

/* Where the slots of a segment are.  It is a constant in each call, so the compiler makes a
 * version for each value. */
typedef enum ckf_where
{
	CKF_IN_TABLE,
	CKF_IN_SLOTS32, /* scratch, if rho has at most 32 bits */
	CKF_IN_SLOTS64  /* scratch */
} ckf_where;

/* A bucket that the search has reached: the item in slot `slot` of the bucket of node
 * `parent` can move to it.  The first two nodes are the buckets of the new item. */
typedef struct ckf_node
{
	uint32_t bucket;
	uint16_t parent;
	uint8_t slot;
} ckf_node;

/* The offset of a bucket in a table. */
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

/* Whether a bucket has a free slot. */
CKF_INLINE bool
ckf_has_room(const ckf_segment *s, ckf_where where, uint32_t bucket)
{
	return where == CKF_IN_TABLE ? ckf_has_free(s->t, s->access, ckf_at(s, bucket))
								 : s->used[bucket] < s->t->b;
}

/* Put an item into a slot whose own item has been moved. */
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
 * Move the items of a chain, and put the new item into the slot that becomes free.  The chain ends
 * with the item in slot `slot` of node `last`, which moves to a free slot of bucket `end`.  Items
 * move from the end of the chain to its beginning.  (A shortest chain contains no bucket twice, so
 * no step moves an item again.)
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

/* Insert an item whose two buckets are full, by moving other items.  Returns the number of buckets
 * that were searched; 0: there is no chain within CKF_MAX_KICKS buckets, and nothing has
 * changed. */
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
