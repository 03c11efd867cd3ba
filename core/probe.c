/*
 * probe.c - is it in?  (Paper, Algorithm 2.)  The fast ways to ask what
 * ckf_copies defines.
 */
#include "lanes.h"

/* Keys of one batch: their buckets are all asked for before one is read. */
#define CKF_BATCH 32

static unsigned
ckf_lowest_bit(unsigned n)
{
	return n & (0U - n);
}

ckf_probe
ckf_choose_probe(const ckf_filter *t)
{
	/* a bucket begins at a multiple of `step` bits in its first byte */
	unsigned step = ckf_lowest_bit(t->bucket_bits | 8);

	if (!ckf_is_table(t))
		return t->encoding == CKF_HASHES ? CKF_PROBE_HASHES : CKF_PROBE_STATE;
	if (t->bucket_bits + 8 - step > 64 || t->b * t->f > 64)
		return CKF_PROBE_WIDE;
	if (t->encoding == CKF_PLAIN)
		return CKF_PROBE_PLAIN;
	return ckf_use_pdep() ? CKF_PROBE_SEMI_PDEP : CKF_PROBE_SEMI;
}

/* ------------------------------------------- one place, asked in its way */

CKF_INLINE bool
ckf_ask_plain(const ckf_filter *t, const ckf_place *place)
{
	return (ckf_any_lane(t, ckf_bucket_word(t, place->bucket[0]), place->tag) |
			ckf_any_lane(t, ckf_bucket_word(t, place->bucket[1]), place->tag)) != 0;
}

CKF_INLINE bool
ckf_ask_semi(const ckf_filter *t, const ckf_place *place)
{
	return (ckf_any_lane(t, ckf_spread(t, ckf_bucket_word(t, place->bucket[0])), place->tag) |
			ckf_any_lane(t, ckf_spread(t, ckf_bucket_word(t, place->bucket[1])), place->tag)) != 0;
}

#if defined(__x86_64__)
CKF_PDEP static inline bool
ckf_ask_semi_pdep(const ckf_filter *t, const ckf_place *place)
{
	return (ckf_any_lane(t, ckf_spread_pdep(t, ckf_bucket_word(t, place->bucket[0])), place->tag) |
			ckf_any_lane(t, ckf_spread_pdep(t, ckf_bucket_word(t, place->bucket[1])),
						 place->tag)) != 0;
}

CKF_PDEP static bool
ckf_contains_semi_pdep(const ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);

	return ckf_ask_semi_pdep(t, &place);
}
#endif

CKF_INLINE bool
ckf_ask_wide(const ckf_filter *t, const ckf_place *place)
{
	uint64_t tags[CKF_MAX_SLOTS];

	ckf_bucket_read(t, place->bucket[0], tags);
	if (ckf_count_tags(tags, t->b, place->tag) > 0)
		return true;
	ckf_bucket_read(t, place->bucket[1], tags);
	return ckf_count_tags(tags, t->b, place->tag) > 0;
}

bool
ckf_contains(const ckf_filter *t, uint64_t hash)
{
	ckf_place place;

	switch ((ckf_probe)t->probe)
	{
		case CKF_PROBE_HASHES:
			return ckf_hashes_copies(t, hash) > 0;
		case CKF_PROBE_STATE:
			return ckf_collect_copies(t, hash) > 0;
		case CKF_PROBE_PLAIN:
			place = ckf_locate(t, hash);
			return ckf_ask_plain(t, &place);
#if defined(__x86_64__)
		case CKF_PROBE_SEMI_PDEP:
			return ckf_contains_semi_pdep(t, hash);
#else
		case CKF_PROBE_SEMI_PDEP:
#endif
		case CKF_PROBE_SEMI:
			place = ckf_locate(t, hash);
			return ckf_ask_semi(t, &place);
		case CKF_PROBE_WIDE:
			break;
	}
	place = ckf_locate(t, hash);
	return ckf_ask_wide(t, &place);
}

/* ---------------------------------------------------------------- batches */

CKF_INLINE void
ckf_fetch(const ckf_filter *t, uint64_t bucket)
{
	__builtin_prefetch(ckf_body(t) + (bucket * t->bucket_bits >> 3));
}

CKF_INLINE void
ckf_locate_batch(const ckf_filter *t, const uint64_t *hashes, size_t n, ckf_place *places)
{
	size_t i;

	for (i = 0; i < n; i++)
	{
		places[i] = ckf_locate(t, hashes[i]);
		ckf_fetch(t, places[i].bucket[0]);
		ckf_fetch(t, places[i].bucket[1]);
	}
}

/* One batch, asked with `ask`. */
#define CKF_ASK_BATCH(ask)                                                                         \
	do                                                                                             \
	{                                                                                              \
		ckf_place places[CKF_BATCH];                                                               \
		size_t i;                                                                                  \
                                                                                                   \
		ckf_locate_batch(t, hashes, n, places);                                                    \
		for (i = 0; i < n; i++)                                                                    \
			out[i] = ask(t, &places[i]);                                                           \
	} while (0)

static void
ckf_batch_plain(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	CKF_ASK_BATCH(ckf_ask_plain);
}

static void
ckf_batch_semi(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	CKF_ASK_BATCH(ckf_ask_semi);
}

#if defined(__x86_64__)
CKF_PDEP static void
ckf_batch_semi_pdep(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	CKF_ASK_BATCH(ckf_ask_semi_pdep);
}
#else
#define ckf_batch_semi_pdep ckf_batch_semi
#endif

static void
ckf_batch_wide(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	CKF_ASK_BATCH(ckf_ask_wide);
}

static void
ckf_batch_words(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = ckf_contains(t, hashes[i]);
}

size_t
ckf_contains_many(const ckf_filter *t, const uint64_t *hashes, size_t n, uint8_t *out)
{
	static void (*const batches[])(const ckf_filter *, const uint64_t *, size_t, uint8_t *) = {
		[CKF_PROBE_HASHES] = ckf_batch_words,        [CKF_PROBE_STATE] = ckf_batch_words,
		[CKF_PROBE_PLAIN] = ckf_batch_plain,         [CKF_PROBE_SEMI] = ckf_batch_semi,
		[CKF_PROBE_SEMI_PDEP] = ckf_batch_semi_pdep, [CKF_PROBE_WIDE] = ckf_batch_wide};
	size_t found = 0;
	size_t i, j;

	for (i = 0; i < n; i += CKF_BATCH)
	{
		size_t batch = n - i < CKF_BATCH ? n - i : CKF_BATCH;
		uint8_t answers[CKF_BATCH];

		batches[t->probe](t, hashes + i, batch, answers);
		for (j = 0; j < batch; j++)
			found += answers[j];
		if (out)
			memcpy(out + i, answers, batch);
	}
	return found;
}
