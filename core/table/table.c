/*
 * table.c - look up, add and remove in a table, plain or semi-sorted (paper,
 * Algorithms 1 to 3).
 */
#include "filter/header.h"
#include "filter/methods.h"
#include "scan/scan.h"
#include "scan/sink.h"
#include "table/insert_template.h"
#include "thresholds.h"

/* ----------------------------------------------------------------- look up */

/* ckf_contains stops at the first copy.  It has code of its own, since counting all copies, as
 * ckf_copies does, takes longer. */

/* Look up a tag in a plain bucket that needs several loads.  Each load has `load_slots`
 * whole slots, which are compared at the same time. */
CKF_INLINE bool
ckf_any_load(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	uint64_t end = at + t->bucket_bits;
	uint64_t step = (uint64_t)t->load_slots * t->f;
	uint64_t any = 0;

	for (; at < end; at += step)
		any |= ckf_any_lane(t, ckf_load64(t->body + (at >> 3)) >> (at & 7), tag);
	return any != 0;
}

/* Look up a tag in a semi-sorted bucket that needs several loads.  The upper bits are compared only
 * in slots whose low nibble is equal, which are few. */
CKF_INLINE bool
ckf_any_nibble(const ckf_filter *t, uint64_t at, uint64_t tag)
{
	const uint8_t *body = t->body;
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

/* Look up a tag in its two buckets.  Both buckets are loaded before either is compared, so that the
 * loads overlap. */
CKF_INLINE bool
ckf_has_tag(const ckf_filter *t, ckf_access access, const ckf_location *location)
{
	uint64_t lane;

	if (access != CKF_BY_SLOT)
	{
		lane = ckf_lane_of(t, access, location->tag);
		return (ckf_any_lane(t, ckf_read_lanes(t, access, location->at[0]), lane) |
				ckf_any_lane(t, ckf_read_lanes(t, access, location->at[1]), lane)) != 0;
	}
	if (t->encoding == CKF_PLAIN)
		return ckf_any_load(t, location->at[0], location->tag) ||
			   ckf_any_load(t, location->at[1], location->tag);
	return ckf_any_nibble(t, location->at[0], location->tag) ||
		   ckf_any_nibble(t, location->at[1], location->tag);
}

/* (Paper, Algorithm 2.) */
CKF_INLINE bool
ckf_contains_by(const ckf_filter *t, ckf_access access, uint64_t hash)
{
	ckf_location location = ckf_locate(t, hash);

	return ckf_has_tag(t, access, &location);
}

CKF_INLINE void
ckf_fetch(const ckf_filter *t, ckf_access access, uint64_t at)
{
	__builtin_prefetch(ckf_byte_at(t, access, at));
}

/* Look up many hashes.  A hash is compared CKF_AHEAD hashes after its buckets were prefetched; its
 * location is kept in `locations` until then. */
CKF_INLINE size_t
ckf_contains_many_by(const ckf_filter *t, ckf_access access, const uint64_t *hashes, size_t n,
					 uint8_t *out)
{
	ckf_location locations[CKF_AHEAD];
	size_t found = 0;
	size_t i;

	for (i = 0; i < n + CKF_AHEAD; i++)
	{
		ckf_location *location = &locations[i % CKF_AHEAD];

		if (i >= CKF_AHEAD)
		{
			bool in = ckf_has_tag(t, access, location);

			found += in;
			if (out)
				out[i - CKF_AHEAD] = in;
		}
		if (i < n)
		{
			*location = ckf_locate(t, hashes[i]);
			ckf_fetch(t, access, location->at[0]);
			ckf_fetch(t, access, location->at[1]);
		}
	}
	return found;
}

/* ------------------------------------------------------------ add and remove */

/* The candidate buckets of an item (the paper's term), loaded. */
typedef struct ckf_candidates
{
	ckf_location location;
	ckf_bucket bucket0, bucket1;
} ckf_candidates;

CKF_INLINE void
ckf_candidates_read(const ckf_filter *t, ckf_access access, uint64_t hash,
					ckf_candidates *candidates)
{
	candidates->location = ckf_locate(t, hash);
	ckf_bucket_load(t, access, candidates->location.at[0], &candidates->bucket0);
	ckf_bucket_load(t, access, candidates->location.at[1], &candidates->bucket1);
}

/* Whether all slots of both buckets hold the tag. */
CKF_INLINE bool
ckf_candidates_are_saturated(const ckf_filter *t, ckf_access access,
							 const ckf_candidates *candidates)
{
	return ckf_buckets_hold_only(t, access, &candidates->bucket0, &candidates->bucket1,
								 candidates->location.tag);
}

/* b if `second`, else a, without a branch.  The bucket of an item is random, so a processor would
 * predict such a branch wrongly half of the time. */
CKF_INLINE uint64_t
ckf_select(bool second, uint64_t a, uint64_t b)
{
	return a ^ ((a ^ b) & (0 - (uint64_t)second));
}

/* Replace `old` by `tag` in the bucket of one half, in the first slot of that half's mask. */
CKF_INLINE void
ckf_candidates_replace(const ckf_filter *t, ckf_access access, const ckf_candidates *candidates,
					   bool half, uint64_t mask0, uint64_t mask1, uint64_t old, uint64_t tag)
{
	uint64_t mask = ckf_select(half, mask0, mask1);
	uint64_t at = ckf_select(half, candidates->location.at[0], candidates->location.at[1]);
	ckf_bucket bucket;

	if (access == CKF_BY_SLOT)
		bucket = half ? candidates->bucket1 : candidates->bucket0;
	else
		bucket.lanes = ckf_select(half, candidates->bucket0.lanes, candidates->bucket1.lanes);
	ckf_bucket_replace(t, access, at, &bucket, mask, old, tag);
}

CKF_INLINE unsigned
ckf_copies_by(const ckf_filter *t, ckf_access access, uint64_t hash)
{
	ckf_candidates candidates;

	ckf_candidates_read(t, access, hash, &candidates);
	return ckf_mask_count(
			   t, access,
			   ckf_bucket_matches(t, access, &candidates.bucket0, candidates.location.tag)) +
		   ckf_mask_count(
			   t, access,
			   ckf_bucket_matches(t, access, &candidates.bucket1, candidates.location.tag));
}

/* Insert a hash whose two buckets are full, by moving other items of its segment. */
CKF_INLINE bool
ckf_kick_by(ckf_filter *t, ckf_access access, uint64_t hash)
{
	uint64_t rho = ckf_cut(hash, t->w, t->low_mask) << t->g;
	ckf_location location = ckf_locate(t, hash);
	ckf_inverse inverse; /* a copy: the compiler knows that stores to the table do not change it */
	ckf_segment s = {.t = t, .inverse = &inverse, .access = access};

	if (t->inverse.reciprocal == 0)
		ckf_inverse_of(&t->inverse, t);
	inverse = t->inverse;
	s.first = (hash >> t->prefix_shift >> t->rho_bits) * t->segment_step;
	return ckf_kick(&s, CKF_IN_TABLE, (uint32_t)ckf_mulhi(rho, t->m),
					(uint32_t)ckf_mulhi(rho * t->golden, t->m) + t->m, location.tag) != 0;
}

CKF_INLINE ckf_status
ckf_add_by(ckf_filter *t, ckf_access access, bool (*kick)(ckf_filter *, uint64_t), uint64_t hash)
{
	uint64_t free0, free1;
	ckf_candidates candidates;

	ckf_candidates_read(t, access, hash, &candidates);
	if (CKF_UNLIKELY(t->deduplicated ? (ckf_bucket_first_match(t, access, &candidates.bucket0,
															   candidates.location.tag) |
										ckf_bucket_first_match(t, access, &candidates.bucket1,
															   candidates.location.tag)) != 0
									 : ckf_candidates_are_saturated(t, access, &candidates)))
		return CKF_OK;
	if (t->count >= t->max_count)
		return CKF_PRECISION;
	free0 = ckf_bucket_free_slots(t, access, &candidates.bucket0);
	free1 = ckf_bucket_free_slots(t, access, &candidates.bucket1);
	if (CKF_LIKELY((free0 | free1) != 0))
	{
		/* into the emptier bucket: this halves the later adds that find both buckets full */
		bool half = ckf_is_emptier(t, access, free0, free1);

		ckf_candidates_replace(t, access, &candidates, half, free0, free1, 0,
							   candidates.location.tag);
	}
	else if (t->count >= t->full_count || !kick(t, hash))
		return CKF_ROOM;
	ckf_set_count(t, t->count + 1);
	return CKF_OK;
}

/* Remove one copy from a table that the processor's cache does not hold.  While one removal waits
 * for its bucket, the processor begins the next ones, unless they need the result.  So this is a
 * branch on the half: the processor predicts it, and knows where it will write.  And the bucket of
 * half 1 is fetched, but read only if half 0 has no copy. */
CKF_INLINE bool
ckf_remove_uncached_by(ckf_filter *t, ckf_access access, const ckf_location *location)
{
	ckf_candidates candidates;
	uint64_t first;

	ckf_fetch(t, access, location->at[1]);
	ckf_bucket_load(t, access, location->at[0], &candidates.bucket0);
	first = ckf_bucket_first_match(t, access, &candidates.bucket0, location->tag);
	if (first != 0)
	{
		if (CKF_UNLIKELY(ckf_buckets_hold_only(t, access, &candidates.bucket0, &candidates.bucket0,
											   location->tag)))
		{
			ckf_bucket_load(t, access, location->at[1], &candidates.bucket1);
			if (ckf_buckets_hold_only(t, access, &candidates.bucket0, &candidates.bucket1,
									  location->tag))
				return false;
		}
		ckf_bucket_replace(t, access, location->at[0], &candidates.bucket0, first, location->tag,
						   0);
		return true;
	}
	ckf_bucket_load(t, access, location->at[1], &candidates.bucket1);
	first = ckf_bucket_first_match(t, access, &candidates.bucket1, location->tag);
	if (first == 0)
		return false;
	ckf_bucket_replace(t, access, location->at[1], &candidates.bucket1, first, location->tag, 0);
	return true;
}

/* Remove one copy from any other table, without a branch on the half. */
CKF_INLINE bool
ckf_remove_cached_by(ckf_filter *t, ckf_access access, uint64_t hash)
{
	uint64_t first0, first1;
	ckf_candidates candidates;

	ckf_candidates_read(t, access, hash, &candidates);
	first0 = ckf_bucket_first_match(t, access, &candidates.bucket0, candidates.location.tag);
	first1 = ckf_bucket_first_match(t, access, &candidates.bucket1, candidates.location.tag);
	if ((first0 | first1) == 0 || ckf_candidates_are_saturated(t, access, &candidates))
		return false;
	ckf_candidates_replace(t, access, &candidates, first0 == 0, first0, first1,
						   candidates.location.tag, 0);
	return true;
}

/* Remove one copy; returns whether one was removed.  A saturated group stays, since it stands for
 * an unknown number of copies. */
CKF_INLINE bool
ckf_remove_by(ckf_filter *t, ckf_access access, uint64_t hash)
{
	ckf_location location;

	if (t->count == 0)
		return false;
	if (t->size > CKF_MOST_CACHED)
	{
		location = ckf_locate(t, hash);
		if (!ckf_remove_uncached_by(t, access, &location))
			return false;
	}
	else if (!ckf_remove_cached_by(t, access, hash))
		return false;
	ckf_set_count(t, t->count - 1);
	return true;
}

/* ------------------------------------- a version of each function for each access */

#define CKF_TABLE_OPERATIONS(name, by, target)                                                     \
	target static bool name##_contains(const ckf_filter *t, uint64_t hash)                         \
	{                                                                                              \
		return ckf_contains_by(t, by, hash);                                                       \
	}                                                                                              \
	target static size_t name##_contains_many(const ckf_filter *t, const uint64_t *hashes,         \
											  size_t n, uint8_t *out)                              \
	{                                                                                              \
		return ckf_contains_many_by(t, by, hashes, n, out);                                        \
	}                                                                                              \
	target static unsigned name##_copies(const ckf_filter *t, uint64_t hash)                       \
	{                                                                                              \
		return ckf_copies_by(t, by, hash);                                                         \
	}                                                                                              \
	target CKF_OUTLINE static bool name##_kick(ckf_filter *t, uint64_t hash)                       \
	{                                                                                              \
		return ckf_kick_by(t, by, hash);                                                           \
	}                                                                                              \
	target static ckf_status name##_add(ckf_filter *t, uint64_t hash)                              \
	{                                                                                              \
		return ckf_add_by(t, by, name##_kick, hash);                                               \
	}                                                                                              \
	target static ckf_status name##_remove(ckf_filter *t, uint64_t hash, bool *found)              \
	{                                                                                              \
		*found = ckf_remove_by(t, by, hash);                                                       \
		return CKF_OK;                                                                             \
	}                                                                                              \
	static const ckf_methods name = {                                                              \
		.access = by,                                                                              \
		.contains = name##_contains,                                                               \
		.contains_many = name##_contains_many,                                                     \
		.copies = name##_copies,                                                                   \
		.lookup_start = ckf_table_lookup_start,                                                    \
		.lookup_step = ckf_table_lookup_step,                                                      \
		.add = name##_add,                                                                         \
		.remove = name##_remove,                                                                   \
		.check = ckf_table_check,                                                                  \
		.source = &ckf_table_source,                                                               \
		.sink = &ckf_table_sink,                                                                   \
	};

CKF_TABLE_OPERATIONS(ckf_by_slot, CKF_BY_SLOT, )
CKF_TABLE_OPERATIONS(ckf_by_word, CKF_BY_WORD, )
CKF_TABLE_OPERATIONS(ckf_by_bytes, CKF_BY_BYTES, )
CKF_TABLE_OPERATIONS(ckf_by_semi, CKF_BY_SEMI, )
#if defined(__x86_64__)
CKF_TABLE_OPERATIONS(ckf_by_pdep, CKF_BY_PDEP, CKF_PDEP)
CKF_TABLE_OPERATIONS(ckf_by_pdep_bytes, CKF_BY_PDEP_BYTES, CKF_PDEP)
CKF_TABLE_OPERATIONS(ckf_by_word_bmi, CKF_BY_WORD, CKF_PDEP)
CKF_TABLE_OPERATIONS(ckf_by_bytes_bmi, CKF_BY_BYTES, CKF_PDEP)
#endif

const ckf_methods *
ckf_table_methods(const ckf_filter *t)
{
	bool bytes = ckf_bucket_alignment(t) == 8;

	if (!ckf_bucket_is_word(t))
		return &ckf_by_slot;
#if defined(__x86_64__)
	if (ckf_use_pdep())
	{
		if (t->encoding == CKF_SEMI_SORTED)
			return bytes ? &ckf_by_pdep_bytes : &ckf_by_pdep;
		return bytes ? &ckf_by_bytes_bmi : &ckf_by_word_bmi;
	}
#endif
	if (t->encoding == CKF_SEMI_SORTED)
		return &ckf_by_semi;
	return bytes ? &ckf_by_bytes : &ckf_by_word;
}
