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

	if (t->bucket_bits + 8 - step > 64 || t->b * t->f > 64)
		return CKF_PROBE_WIDE;
	if (t->encoding == CKF_PLAIN)
		return CKF_PROBE_PLAIN;
	return ckf_use_pdep() ? CKF_PROBE_SEMI_PDEP : CKF_PROBE_SEMI;
}

CKF_OUTLINE static bool
ckf_contains_word(const ckf_filter *t, uint64_t hash)
{
	return ckf_copies(t, hash) > 0;
}

/* ------------------------------------------- one place, asked in its way */

CKF_INLINE bool
ckf_ask_semi(const ckf_filter *t, const ckf_place *place)
{
	uint64_t key = ckf_sort_key(place->tag, t->f);

	return (ckf_any_lane(t, ckf_spread(t, ckf_bucket_word(t, place->at[0])), key) |
			ckf_any_lane(t, ckf_spread(t, ckf_bucket_word(t, place->at[1])), key)) != 0;
}

#if defined(__x86_64__)
CKF_PDEP static inline bool
ckf_ask_semi_pdep(const ckf_filter *t, const ckf_place *place)
{
	uint64_t key = ckf_sort_key(place->tag, t->f);

	return (ckf_any_lane(t, ckf_spread_pdep(t, ckf_bucket_word(t, place->at[0])), key) |
			ckf_any_lane(t, ckf_spread_pdep(t, ckf_bucket_word(t, place->at[1])), key)) != 0;
}

CKF_PDEP CKF_OUTLINE static bool
ckf_contains_semi_pdep(const ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);

	return ckf_ask_semi_pdep(t, &place);
}
#endif

/* Has a wide plain bucket the tag?  As many slots at once as a load holds. */
CKF_INLINE bool
ckf_ask_chunks(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	uint64_t end = at + t->bucket_bits;
	uint64_t step = (uint64_t)t->chunk * t->f;
	uint64_t any = 0;

	for (; at < end; at += step)
		any |= ckf_any_lane(t, ckf_load64(ckf_body(t) + (at >> 3)) >> (at & 7), tag);
	return any != 0;
}

/* Has a wide semi-sorted bucket the tag?  Few slots share its low nibble. */
CKF_INLINE bool
ckf_ask_nibbles(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	const uint8_t *body = ckf_body(t);
	unsigned high = t->f - 4U;
	unsigned nibbles = ckf_nibbles[ckf_load_bits(body, at, CKF_CODE_BITS)];
	unsigned i;

	at += CKF_CODE_BITS;
	for (i = 0; i < 4; i++)
		if ((nibbles >> (4 * i) & 15) == (tag & 15) &&
			ckf_load_bits(body, at + i * high, high) == tag >> 4)
			return true;
	return false;
}

static bool
ckf_ask_wide(const ckf_filter *t, const ckf_place *place)
{
	if (t->encoding == CKF_PLAIN)
		return ckf_ask_chunks(t, place->at[0], place->tag) ||
			   ckf_ask_chunks(t, place->at[1], place->tag);
	return ckf_ask_nibbles(t, place->at[0], place->tag) ||
		   ckf_ask_nibbles(t, place->at[1], place->tag);
}

CKF_OUTLINE static bool
ckf_contains_semi(const ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);

	return ckf_ask_semi(t, &place);
}

CKF_OUTLINE static bool
ckf_contains_wide(const ckf_filter *t, uint64_t hash)
{
	ckf_place place = ckf_locate(t, hash);

	return ckf_ask_wide(t, &place);
}

/* Each a tail call, so that a lookup saves no registers. */
bool
ckf_contains_otherwise(const ckf_filter *t, uint64_t hash)
{
#if defined(__x86_64__)
	if (t->probe == CKF_PROBE_SEMI_PDEP)
		return ckf_contains_semi_pdep(t, hash);
#endif
	if (t->probe == CKF_PROBE_SEMI)
		return ckf_contains_semi(t, hash);
	if (t->probe == CKF_PROBE_WIDE)
		return ckf_contains_wide(t, hash);
	return ckf_contains_word(t, hash);
}

/* ---------------------------------------------------------------- batches */

CKF_INLINE void
ckf_fetch(const ckf_filter *t, uint64_t at)
{
	__builtin_prefetch(ckf_body(t) + (at >> 3));
}

CKF_INLINE void
ckf_locate_batch(const ckf_filter *t, const uint64_t *hashes, size_t n, ckf_place *places)
{
	size_t i;

	for (i = 0; i < n; i++)
	{
		places[i] = ckf_locate(t, hashes[i]);
		ckf_fetch(t, places[i].at[0]);
		ckf_fetch(t, places[i].at[1]);
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
