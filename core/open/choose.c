/*
 * choose.c - choose the geometry of fewest bytes for a number of items, and a larger
 * geometry after a build has failed (FORMAT.md, section 5).
 */
#include "open/choose.h"
#include "filter/geometry.h"
#include "filter/header.h"
#include "filter/methods.h"
#include "thresholds.h"

/*
 * A build that fails is repeated with more buckets.  If it still fails with this
 * many buckets, at least eight slots for each item, the table is not too small.
 * Many items share the same two buckets, since they are copies or an adversary
 * chose them, and more buckets do not separate them.
 */
#define CKF_MOST_BUCKETS(items) (2 * (items) + 64)

static bool
ckf_may_have_buckets(const ckf_filter *t, uint64_t items)
{
	return ((uint64_t)t->m << t->g) <= CKF_MOST_BUCKETS(items);
}

static uint64_t
ckf_square_root(uint64_t n)
{
	uint64_t root = 0;
	uint64_t bit;

	for (bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	return root;
}

/* The buckets that a half needs for `items` in a segment with tags of f bits. */
static uint64_t
ckf_buckets_for(uint64_t items, unsigned b, unsigned f)
{
	uint64_t per_bucket = (uint64_t)2 * b * ckf_load(b, f);

	return items == 0 ? 1 : (items * 1024 + per_bucket - 1) / per_bucket;
}

bool
ckf_choose_buckets(ckf_filter *t, uint64_t items)
{
	bool semi_sorted = t->encoding == CKF_SEMI_SORTED;
	unsigned rho_bits = t->rho_bits;
	unsigned top = ckf_tag_bits(rho_bits, (uint32_t)ckf_buckets_for(items, t->b, 8));
	uint64_t best = UINT64_MAX;
	unsigned f;

	/*
	 * `top` is the f that belongs to as many buckets as the items need.  A tag
	 * of one bit less asks for m of at least 2^(W - f), which may be more buckets
	 * than the items need; but all slots are a bit shorter, so where m has to
	 * rise only a little, the table is smaller.  FORMAT.md tries up to two bits
	 * less.
	 */
	for (f = top; f + 3 > top && f >= t->c && f <= CKF_MAX_TAG; f--)
	{
		uint64_t least = UINT64_C(1) << (rho_bits - f);
		uint64_t m = ckf_buckets_for(items, t->b, f);
		uint64_t cost;

		if (m < least)
			m = least;
		if (m > CKF_MAX_BUCKETS_BUILT || ckf_tag_bits(rho_bits, (uint32_t)m) != f)
			continue;
		cost = m * ckf_bucket_bits(t->b, f, semi_sorted);
		if (cost < best)
		{
			best = cost;
			t->m = (uint32_t)m;
			t->f = (uint8_t)f;
		}
	}
	return best != UINT64_MAX;
}

/* The fewest segments whose halves have at most CKF_MAX_BUCKETS_BUILT buckets. */
static bool
ckf_choose_segments(ckf_filter *t, uint64_t items)
{
	unsigned g;

	for (g = 0; g <= CKF_MAX_SEGMENT_BITS && t->w >= g + t->c; g++)
	{
		/*
		 * Hashes spread items over the segments at random, so the fullest segment
		 * has some more than the mean.  Their standard deviation is about the
		 * mean's square root.  3.5 of it suffice for nearly every table, and where
		 * they do not, the build fails and is tried again with a larger one.
		 */
		uint64_t mean = items >> g;
		uint64_t fullest = g == 0 ? items : mean + ckf_square_root(mean) * 7 / 2 + 1;

		t->g = (uint8_t)g;
		t->rho_bits = (uint8_t)(t->w - g);
		if (fullest <= (uint64_t)2 * CKF_MAX_BUCKETS_BUILT * t->b && ckf_choose_buckets(t, fullest))
			return true;
	}
	return false;
}

/* A host can ask for half of the address space at most.  On machines of 64 bits
 * no table is so large. */
static bool
ckf_is_addressable(const ckf_filter *t)
{
	return ckf_table_size(t) <= SIZE_MAX / 2;
}

bool
ckf_choose(ckf_filter *t, uint64_t items, unsigned max_w)
{
	if (items > UINT64_C(1) << 48)
		return false;
	t->encoding = t->b == 4 && !(t->flags & CKF_FLAG_PLAIN) ? CKF_SEMI_SORTED : CKF_PLAIN;
	while (!ckf_choose_segments(t, items))
	{
		if (t->w >= max_w)
			return false;
		t->w++;
	}
	ckf_derive(t);
	return ckf_is_addressable(t);
}

bool
ckf_choose_first(ckf_filter *t, uint64_t items, uint64_t expected, unsigned max_w)
{
	uint64_t least = (uint64_t)t->capacity > items ? (uint64_t)t->capacity : items;
	unsigned w = ckf_prefix_bits((double)(expected > least ? expected : least), t->fpr, t->c);

	if (max_w > CKF_MAX_PREFIX)
		max_w = CKF_MAX_PREFIX;
	if (w > CKF_MAX_PREFIX && ckf_prefix_bits((double)least, t->fpr, t->c) > CKF_MAX_PREFIX)
		return false;
	t->w = (uint8_t)(w < max_w ? w : max_w);
	return ckf_choose(t, items, max_w);
}

bool
ckf_choose_fewest(ckf_filter *t, uint64_t items, uint64_t expected)
{
	uint64_t bonus = items > CKF_MAX_HASHES ? 0 : CKF_HASHES_BONUS;

	if (8 * items <= CKF_HASHES_BONUS + CKF_TABLE_PAD)
		return false; /* no table is smaller */
	return ckf_choose_first(t, items, expected, 64) &&
		   ckf_table_size(t) + bonus < CKF_HEADER_SIZE + 8 * items;
}

uint32_t
ckf_more_buckets(uint32_t m, unsigned tries)
{
	/* Most builds that fail lack a little, so the first steps are of 1/64.  They
	 * soon become steps of a half: whatever the items are, builds must end. */
	return m + (m >> (tries < 10 ? 6 - tries / 2 : 1)) + 1;
}

bool
ckf_enlarge(ckf_filter *t, unsigned tries, uint64_t items)
{
	t->m = ckf_more_buckets(t->m, tries);
	if (t->m > CKF_MAX_BUCKETS_BUILT)
	{
		t->m = t->m / 2 + t->m / 64;
		t->g++;
		t->rho_bits--;
	}
	t->f = (uint8_t)ckf_tag_bits(t->rho_bits, t->m);
	if (t->f < t->c || t->g > CKF_MAX_SEGMENT_BITS || !ckf_may_have_buckets(t, items))
		return false;
	ckf_derive(t);
	return ckf_is_addressable(t);
}

bool
ckf_lacks_bits(const ckf_filter *t, uint64_t items)
{
	return t->f < t->c && ckf_may_have_buckets(t, items);
}

/* One table of all items must still be possible with this fraction of additional items. */
#define CKF_BUILD_MARGIN 16

uint64_t
ckf_most_copies(const ckf_filter *like)
{
	ckf_filter t = *like;
	uint64_t low = 0;
	uint64_t high = ckf_count_limit(like->w, like->fpr);

	if (high > UINT64_C(1) << 48)
		high = UINT64_C(1) << 48;
	while (low < high)
	{
		uint64_t n = low + (high - low + 1) / 2;

		t.w = like->w;
		/* with a margin: a build that fails is repeated with a larger table */
		if (ckf_choose(&t, n + n / CKF_BUILD_MARGIN, like->w))
			low = n;
		else
			high = n - 1;
	}
	return low;
}
