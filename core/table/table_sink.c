/*
 * table_sink.c - fill a table in bulk, one segment at a time.  A segment is filled in the caller's
 * scratch, which stays in the processor's cache.  A full segment is written to the table once.
 */
#include "bucket/lanes_template.h"
#include "filter/methods.h"
#include "table/insert_template.h"

static uint64_t
ckf_segment_buckets(const ckf_filter *t)
{
	return (uint64_t)2 * t->m;
}

/* The words of scratch for slots.  A slot has 32 bits if rho fits. */
static uint64_t
ckf_slot_words(const ckf_filter *t)
{
	uint64_t slots = ckf_segment_buckets(t) * t->b;

	return t->rho_bits <= 32 ? (slots + 1) / 2 : slots;
}

static uint64_t
ckf_table_scratch(const ckf_filter *t)
{
	return ckf_slot_words(t) + (ckf_segment_buckets(t) + 7) / 8;
}

static uint64_t
ckf_table_bytes(const ckf_filter *t, uint64_t copies)
{
	(void)copies; /* the geometry was chosen for this number */
	return ckf_table_size(t);
}

static void
ckf_clear_segment(ckf_build *build)
{
	memset(build->segment.slots64, 0, (size_t)(8 * ckf_table_scratch(build->t)));
}

static void
ckf_table_start(ckf_build *build, uint64_t *scratch)
{
	build->segment.t = build->t;
	build->segment.slots32 = (uint32_t *)(void *)scratch;
	build->segment.slots64 = scratch;
	build->segment.used = (uint8_t *)(scratch + ckf_slot_words(build->t));
	ckf_clear_segment(build);
}

/* Write a segment; b, and whether its buckets are words or semi-sorted words, are constants. */
CKF_INLINE void
ckf_pack(ckf_build *build, ckf_where where, unsigned b, bool word, bool semi_sorted)
{
	ckf_filter *t = build->t;
	uint64_t at = build->number * ckf_segment_buckets(t) * t->bucket_bits;
	uint64_t mask = t->tag_mask;
	unsigned f = t->f;
	uint32_t bucket;

	for (bucket = 0; bucket < 2 * t->m; bucket++, at += t->bucket_bits)
	{
		uint8_t *p = t->body + (at >> 3);
		uint64_t tags[CKF_MAX_SLOTS];
		uint64_t bits = 0;
		unsigned i;

		ckf_items_at(&build->segment, where, b, bucket, tags);
		for (i = 0; i < b; i++)
			tags[i] &= mask;
		if (!word)
		{
			ckf_slots_write(t, at, tags);
			continue;
		}
		if (semi_sorted)
			bits = ckf_semi_word(tags, f);
		else
			for (i = 0; i < b; i++)
				bits |= tags[i] << (i * f);
		ckf_store64(p, ckf_load64(p) | bits << (at & 7));
	}
}

static void
ckf_flush_segment(ckf_build *build)
{
	const ckf_filter *t = build->t;

	if (t->rho_bits > 32)
		ckf_pack(build, CKF_IN_SLOTS64, t->b, false, false);
	else if (!ckf_bucket_is_word(t))
		ckf_pack(build, CKF_IN_SLOTS32, t->b, false, false);
	else if (t->encoding == CKF_SEMI_SORTED)
		ckf_pack(build, CKF_IN_SLOTS32, 4, true, true);
	else if (t->b == 4)
		ckf_pack(build, CKF_IN_SLOTS32, 4, true, false);
	else
		ckf_pack(build, CKF_IN_SLOTS32, t->b, true, false);
}

/*
 * Insert an item, in half 0 if its bucket there has room.  Items are in ascending order, so the
 * buckets of half 0 fill one after the other.  The items that do not fit spread evenly over
 * half 1.  So kicks are rare until the segment is nearly full.
 */
CKF_INLINE bool
ckf_place_item(ckf_build *build, ckf_where where, uint64_t item)
{
	const ckf_segment *s = &build->segment;
	const ckf_filter *t = s->t;
	uint64_t rho = item << t->g; /* aligned */
	uint32_t bucket0 = (uint32_t)ckf_mulhi(rho, t->m);
	uint32_t bucket1 = (uint32_t)ckf_mulhi(rho * t->golden, t->m) + t->m;

	rho >>= 64 - t->rho_bits;
	if (s->used[bucket0] < t->b)
		ckf_put_free(s, where, bucket0, rho);
	else if (s->used[bucket1] < t->b)
		ckf_put_free(s, where, bucket1, rho);
	else
	{
		unsigned searched = ckf_kick(s, where, bucket0, bucket1, rho);

		build->work += searched;
		return searched > 0;
	}
	return true;
}

CKF_INLINE bool
ckf_place_items(ckf_build *build, ckf_where where, const uint64_t *items, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
	{
		uint64_t number = items[i] >> 1 >> (63 - build->t->g);

		if (CKF_UNLIKELY(number != build->number))
		{
			ckf_flush_segment(build);
			build->number = number;
			build->work += ckf_segment_buckets(build->t);
			ckf_clear_segment(build);
		}
		if (!ckf_place_item(build, where, items[i]))
			return false;
	}
	build->stored += n;
	return true;
}

static bool
ckf_table_put(ckf_build *build, const uint64_t *items, size_t n)
{
	return build->t->rho_bits <= 32 ? ckf_place_items(build, CKF_IN_SLOTS32, items, n)
									: ckf_place_items(build, CKF_IN_SLOTS64, items, n);
}

const ckf_sink ckf_table_sink = {
	.scratch = ckf_table_scratch,
	.size = ckf_table_bytes,
	.cleared = true,
	.start = ckf_table_start,
	.put = ckf_table_put,
	.end = ckf_flush_segment,
};
