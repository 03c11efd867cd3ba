/*
 * build.c - bulk insertion.  A table is filled a segment at a time, plain, in
 * the caller's scratch, where all that an insert touches stays in cache, and
 * each segment is packed into its place once.
 */
#include "build.h"

static uint64_t ckf_segment_buckets(const ckf_filter *t)
{
	return (uint64_t)2 * t->m;
}

/* Words for slots in scratch: 32 bits each where tags fit. */
static uint64_t ckf_slot_words(const ckf_filter *t)
{
	uint64_t slots = ckf_segment_buckets(t) * t->b;

	return t->f <= 32 ? (slots + 1) / 2 : slots;
}

uint64_t ckf_build_scratch(const ckf_filter *t)
{
	return ckf_is_table(t) ? ckf_slot_words(t) + (ckf_segment_buckets(t) + 7) / 8 : 0;
}

uint64_t ckf_build_size(const ckf_filter *t, uint64_t items)
{
	if (ckf_is_table(t))
		return ckf_table_size(t->g, t->m, t->bucket_bits);
	return t->encoding == CKF_HASHES ? CKF_HEADER_SIZE + 8 * items : t->size;
}

static void ckf_clear_segment(ckf_build *build)
{
	memset(build->segment.used, 0, (size_t)ckf_segment_buckets(build->t));
}

void ckf_build_start(ckf_build *build, ckf_filter *t, uint64_t *scratch)
{
	build->t = t;
	build->number = 0;
	build->stored = 0;
	build->next = 0;
	if (ckf_is_table(t))
	{
		ckf_inverse_of(&build->inverse, t);
		build->segment.t = t;
		build->segment.inverse = &build->inverse;
		build->segment.slots32 = (uint32_t *)(void *)scratch;
		build->segment.slots64 = scratch;
		build->segment.used = (uint8_t *)(scratch + ckf_slot_words(t));
		ckf_clear_segment(build);
	}
	if (t->encoding != CKF_HASHES)
		memset(ckf_body(t), 0, t->size - CKF_HEADER_SIZE);
}

CKF_INLINE void ckf_pack_segment(ckf_build *build, ckf_where where)
{
	ckf_filter *t = build->t;
	uint64_t first = build->number * ckf_segment_buckets(t);
	uint32_t bucket;

	for (bucket = 0; bucket < ckf_segment_buckets(t); bucket++)
	{
		uint64_t tags[CKF_MAX_SLOTS];
		unsigned i;

		if (build->segment.used[bucket] == 0)
			continue;
		ckf_tags_at(&build->segment, where, bucket, tags);
		for (i = build->segment.used[bucket]; i < t->b; i++)
			tags[i] = 0;
		ckf_bucket_write(t, first + bucket, tags);
	}
}

static void ckf_flush_segment(ckf_build *build)
{
	if (build->t->f <= 32)
		ckf_pack_segment(build, CKF_IN_SLOTS32);
	else
		ckf_pack_segment(build, CKF_IN_SLOTS64);
}

CKF_INLINE bool ckf_place_copies(ckf_build *build, ckf_where where, const ckf_place *place,
								 unsigned copies)
{
	const ckf_segment *s = &build->segment;
	uint32_t bucket0 = (uint32_t)(place->bucket[0] - build->number * ckf_segment_buckets(s->t));
	uint32_t bucket1 = (uint32_t)(place->bucket[1] - build->number * ckf_segment_buckets(s->t));

	for (; copies > 0; copies--)
	{
		unsigned used0 = s->used[bucket0];
		unsigned used1 = s->used[bucket1];

		if (CKF_LIKELY(used0 + used1 < 2U * s->t->b))
			ckf_put_free(s, where, used1 < used0 ? bucket1 : bucket0, place->tag);
		else if (!ckf_kick(s, where, bucket0, bucket1, place->tag))
			return false;
		build->stored++;
	}
	return true;
}

static bool ckf_build_table_add(ckf_build *build, uint64_t hash, unsigned copies)
{
	ckf_place place = ckf_locate(build->t, hash);
	uint64_t number = place.bucket[0] / ckf_segment_buckets(build->t);

	if (number != build->number)
	{
		ckf_flush_segment(build);
		build->number = number;
		ckf_clear_segment(build);
	}
	return build->t->f <= 32 ? ckf_place_copies(build, CKF_IN_SLOTS32, &place, copies)
							 : ckf_place_copies(build, CKF_IN_SLOTS64, &place, copies);
}

bool ckf_build_add(ckf_build *build, uint64_t hash, unsigned copies)
{
	ckf_filter *t = build->t;

	if (ckf_is_table(t))
		return ckf_build_table_add(build, hash, copies);
	build->stored += copies;
	for (; copies > 0; copies--)
	{
		if (t->encoding == CKF_COLLECTING)
		{
			if (!ckf_collect_append(t, hash, &build->next))
				return false;
			continue;
		}
		if (CKF_HEADER_SIZE + 8 * (build->next + 1) > t->room)
			return false;
		ckf_store64(ckf_body(t) + 8 * build->next++, hash);
	}
	return true;
}

void ckf_build_end(ckf_build *build)
{
	ckf_filter *t = build->t;

	if (ckf_is_table(t))
		ckf_flush_segment(build);
	t->count = build->stored;
	t->size = (size_t)ckf_build_size(t, build->stored);
	ckf_write_header(t);
}
