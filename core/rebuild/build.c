/*
 * build.c - bulk insertion.  A table is filled a segment at a time, plain, in
 * the caller's scratch, where all that an insert touches stays in cache, and
 * each segment is packed into its place once.
 */
#include "rebuild/build.h"

#include "bucket/lanes_template.h"
#include "filter/header.h"
#include "small/collect.h"

static uint64_t
ckf_segment_buckets(const ckf_filter *t)
{
	return (uint64_t)2 * t->m;
}

/* Words for slots in scratch: 32 bits each where rho fits. */
static uint64_t
ckf_slot_words(const ckf_filter *t)
{
	uint64_t slots = ckf_segment_buckets(t) * t->b;

	return t->rho_bits <= 32 ? (slots + 1) / 2 : slots;
}

uint64_t
ckf_build_scratch(const ckf_filter *t)
{
	return ckf_is_table(t) ? ckf_slot_words(t) + (ckf_segment_buckets(t) + 7) / 8 : 0;
}

uint64_t
ckf_build_size(const ckf_filter *t, uint64_t items)
{
	if (ckf_is_table(t))
		return ckf_table_size(t->g, t->m, t->bucket_bits);
	return t->encoding == CKF_HASHES ? CKF_HEADER_SIZE + 8 * items : t->size;
}

static void
ckf_clear_segment(ckf_build *build)
{
	memset(build->segment.slots64, 0, (size_t)(8 * ckf_build_scratch(build->t)));
}

void
ckf_build_start(ckf_build *build, ckf_filter *t, uint64_t *scratch)
{
	build->t = t;
	build->number = 0;
	build->stored = 0;
	build->next = 0;
	if (ckf_is_table(t))
	{
		build->segment.t = t;
		build->segment.slots32 = (uint32_t *)(void *)scratch;
		build->segment.slots64 = scratch;
		build->segment.used = (uint8_t *)(scratch + ckf_slot_words(t));
		ckf_clear_segment(build);
	}
	if (ckf_collect_is_log(t))
		ckf_store64(ckf_body(t), 0); /* nothing logged; the room behind is not read */
	else if (t->encoding != CKF_HASHES)
		memset(ckf_body(t), 0, t->size - CKF_HEADER_SIZE);
}

/* Pack a segment whose buckets are words; b and semi-sorting are constants. */
CKF_INLINE void
ckf_pack_words(ckf_build *build, ckf_where where, unsigned b, bool semi_sorted)
{
	ckf_filter *t = build->t;
	uint64_t at = build->number * ckf_segment_buckets(t) * t->bucket_bits;
	uint64_t mask = t->tag_mask;
	unsigned f = t->f;
	uint32_t bucket;

	for (bucket = 0; bucket < 2 * t->m; bucket++)
	{
		uint8_t *p = ckf_body(t) + (at >> 3);
		uint64_t tags[CKF_MAX_SLOTS];
		uint64_t word = 0;
		unsigned i;

		ckf_items_at(&build->segment, where, b, bucket, tags);
		for (i = 0; i < b; i++)
			tags[i] &= mask;
		if (semi_sorted)
			word = ckf_semi_word(tags, f);
		else
			for (i = 0; i < b; i++)
				word |= tags[i] << (i * f);
		ckf_store64(p, ckf_load64(p) | word << (at & 7));
		at += t->bucket_bits;
	}
}

/* Pack a segment of any geometry. */
CKF_INLINE void
ckf_pack_wide(ckf_build *build, ckf_where where)
{
	ckf_filter *t = build->t;
	uint64_t at = build->number * ckf_segment_buckets(t) * t->bucket_bits;
	uint32_t bucket;
	unsigned i;

	for (bucket = 0; bucket < 2 * t->m; bucket++)
	{
		uint64_t tags[CKF_MAX_SLOTS];

		ckf_items_at(&build->segment, where, t->b, bucket, tags);
		for (i = 0; i < t->b; i++)
			tags[i] &= t->tag_mask;
		ckf_slots_write(t, at, tags);
		at += t->bucket_bits;
	}
}

static void
ckf_flush_segment(ckf_build *build)
{
	const ckf_filter *t = build->t;

	if (t->rho_bits > 32)
		ckf_pack_wide(build, CKF_IN_SLOTS64);
	else if (t->operations->access == CKF_BY_SLOT)
		ckf_pack_wide(build, CKF_IN_SLOTS32);
	else if (t->encoding == CKF_SEMI_SORTED)
		ckf_pack_words(build, CKF_IN_SLOTS32, 4, true);
	else if (t->b == 4)
		ckf_pack_words(build, CKF_IN_SLOTS32, 4, false);
	else
		ckf_pack_words(build, CKF_IN_SLOTS32, t->b, false);
}

/*
 * Half 0 first: prefixes come in order, so its buckets fill one after the
 * other, and what they cannot hold spreads evenly over half 1.  Both get full
 * only towards the end.
 */
CKF_INLINE bool
ckf_place_copies(ckf_build *build, ckf_where where, uint64_t item, unsigned copies)
{
	const ckf_segment *s = &build->segment;
	const ckf_filter *t = s->t;
	uint64_t rho = item << t->g; /* aligned */
	uint32_t bucket0 = (uint32_t)ckf_mulhi(rho, t->m);
	uint32_t bucket1 = (uint32_t)ckf_mulhi(rho * t->golden, t->m) + t->m;

	rho >>= 64 - t->rho_bits;
	build->stored += copies;
	for (; copies > 0; copies--)
	{
		if (s->used[bucket0] < t->b)
			ckf_put_free(s, where, bucket0, rho);
		else if (s->used[bucket1] < t->b)
			ckf_put_free(s, where, bucket1, rho);
		else if (!ckf_kick(s, where, bucket0, bucket1, rho))
			return false;
	}
	return true;
}

CKF_INLINE bool
ckf_build_table_add(ckf_build *build, uint64_t item, unsigned copies)
{
	uint64_t number = item >> 1 >> (63 - build->t->g);

	if (number != build->number)
	{
		ckf_flush_segment(build);
		build->number = number;
		ckf_clear_segment(build);
	}
	return build->t->rho_bits <= 32 ? ckf_place_copies(build, CKF_IN_SLOTS32, item, copies)
									: ckf_place_copies(build, CKF_IN_SLOTS64, item, copies);
}

bool
ckf_build_add(ckf_build *build, uint64_t item, unsigned copies)
{
	ckf_filter *t = build->t;

	if (ckf_is_table(t))
		return ckf_build_table_add(build, item, copies);
	build->stored += copies;
	for (; copies > 0; copies--)
	{
		if (t->encoding == CKF_COLLECTING)
		{
			if (!ckf_collect_append(t, item, &build->next))
				return false;
			continue;
		}
		if (CKF_HEADER_SIZE + 8 * (build->next + 1) > t->room)
			return false;
		ckf_store64(ckf_body(t) + 8 * build->next++, item);
	}
	return true;
}

bool
ckf_build_append(ckf_build *build, const uint64_t *hashes, size_t n)
{
	ckf_filter *t = build->t;
	uint8_t *p = ckf_body(t) + 8 * (1 + build->stored);
	size_t i;

	if (n > ckf_body_words(t) - 1 - build->stored)
		return false;
	for (i = 0; i < n; i++)
		ckf_store64(p + 8 * i, hashes[i]);
	build->stored += n;
	return true;
}

void
ckf_build_end(ckf_build *build)
{
	ckf_filter *t = build->t;

	if (ckf_is_table(t))
		ckf_flush_segment(build);
	t->count = build->stored;
	t->size = (size_t)ckf_build_size(t, build->stored);
	ckf_write_header(t);
}
