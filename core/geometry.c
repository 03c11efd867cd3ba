/*
 * geometry.c - from items and a rate to prefix bits, segments, buckets and
 * fingerprint bits (FORMAT.md, section 5).  Integers throughout, and doubles
 * only where they are exact: every machine must choose the same.
 */
#include "internal.h"

/*
 * Load factors that a build reaches in a large segment, in 1/1024, less a
 * little: by slots a bucket (2, 4, 8) and fingerprint bits (4, 5, 6, 7, more).
 * Short fingerprints leave a bucket few partners, so they fill less.
 */
static const uint16_t ckf_loads[3][5] = {
	{788, 829, 850, 860, 875},
	{850, 942, 964, 972, 980},
	{913, 985, 1006, 1011, 1014},
};

/* Buckets of a half, beyond which a table for these items is a waste: they
 * crowd so (by intent, or copies of the same) that growth does not help. */
#define CKF_MOST_BUCKETS(items) (2 * (items) + 64)

static unsigned
ckf_load(unsigned b, unsigned f)
{
	unsigned row = b == 2 ? 0 : b == 4 ? 1 : 2;

	return ckf_loads[row][f >= 8 ? 4 : f - CKF_MIN_TAG];
}

unsigned
ckf_bucket_bits(unsigned b, unsigned f, bool semi_sorted)
{
	return semi_sorted ? 4 * (f - 1) : b * f;
}

uint64_t
ckf_table_size(unsigned g, uint32_t m, unsigned bucket_bits)
{
	uint64_t bits = (uint64_t)m * 2 * bucket_bits; /* at most 2^16 * 448 */

	if (g > CKF_MAX_SEGMENT_BITS)
		return 0;
	bits = ((bits << g) + 7) / 8 + CKF_HEADER_SIZE + CKF_TABLE_PAD;
	return bits > SIZE_MAX / 2 ? 0 : bits;
}

unsigned
ckf_tag_bits(unsigned rest, uint32_t m)
{
	/* ceil(2^W / m) <= 2^f is 2^(W - f) <= m */
	unsigned log = 31 - (unsigned)__builtin_clz(m);

	return rest > log ? rest - log : 0;
}

uint8_t
ckf_low_bits(double fpr)
{
	double power = 1;
	uint8_t c = 0;

	while (c < 8 && power * fpr < 1)
	{
		power *= 2;
		c++;
	}
	return c < CKF_MIN_TAG ? CKF_MIN_TAG : c;
}

unsigned
ckf_prefix_bits(double items, double fpr, unsigned c)
{
	/* A random prefix meets a stored one with this many chances in 2^w: one
	 * for each item, and 2 / 2^c more for prefixes that the rule of tag 0
	 * joined. */
	double chances = items + items / (double)(1U << (c - 1));
	unsigned w = 0;

	while (w <= CKF_MAX_PREFIX && chances > fpr)
	{
		fpr *= 2;
		w++;
	}
	return w < 8 ? 8 : w;
}

uint64_t
ckf_count_limit(unsigned w, double fpr)
{
	double rate = 8 * fpr > CKF_LAST_RATE ? 8 * fpr : CKF_LAST_RATE;
	double limit = (rate > 1 ? 1 : rate) * ckf_power_of_two(w);

	return limit < 9e18 ? (uint64_t)limit : UINT64_MAX;
}

uint64_t
ckf_full_count(const ckf_filter *t)
{
	return (((uint64_t)2 * t->m * t->b) << t->g) * ckf_load(t->b, t->f) / 1024;
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

/* Buckets a half needs for `items` in a segment at f. */
static uint64_t
ckf_buckets_for(uint64_t items, unsigned b, unsigned f)
{
	uint64_t per_bucket = (uint64_t)2 * b * ckf_load(b, f);

	return items == 0 ? 1 : (items * 1024 + per_bucket - 1) / per_bucket;
}

/* The best m for a g: sets t->m and t->f; false where none does. */
static bool
ckf_choose_buckets(ckf_filter *t, uint64_t items)
{
	bool semi_sorted = t->encoding == CKF_SEMI_SORTED;
	unsigned rest = t->rest;
	unsigned top = ckf_tag_bits(rest, (uint32_t)ckf_buckets_for(items, t->b, 8));
	uint64_t best = UINT64_MAX;
	unsigned f;

	/* A bit or two less may pay for the buckets that it takes. */
	for (f = top; f + 3 > top && f >= t->c && f <= CKF_MAX_TAG; f--)
	{
		uint64_t least = UINT64_C(1) << (rest - f);
		uint64_t m = ckf_buckets_for(items, t->b, f);
		uint64_t cost;

		if (m < least)
			m = least;
		if (m > CKF_MAX_BUCKETS || ckf_tag_bits(rest, (uint32_t)m) != f)
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

/* Segments: the fewest that leave a half at most CKF_MAX_BUCKETS. */
static bool
ckf_choose_segments(ckf_filter *t, uint64_t items)
{
	unsigned g;

	for (g = 0; g <= CKF_MAX_SEGMENT_BITS && t->w >= g + t->c; g++)
	{
		uint64_t mean = items >> g;
		/* the fullest of 2^g segments lies some standard deviations above */
		uint64_t fullest = g == 0 ? items : mean + ckf_square_root(mean) * 7 / 2 + 1;

		t->g = (uint8_t)g;
		t->rest = (uint8_t)(t->w - g);
		if (fullest <= (uint64_t)2 * CKF_MAX_BUCKETS * t->b && ckf_choose_buckets(t, fullest))
			return true;
	}
	return false;
}

bool
ckf_choose(ckf_filter *t, uint64_t items, unsigned max_w)
{
	if (items > UINT64_C(1) << 48)
		return false;
	t->encoding =
		t->b == 4 && !(t->flags & (CKF_FLAG_PLAIN | CKF_FLAG_STATE)) ? CKF_SEMI_SORTED : CKF_PLAIN;
	while (!ckf_choose_segments(t, items))
	{
		if (t->w >= max_w)
			return false;
		t->w++;
	}
	ckf_derive(t);
	return true;
}

bool
ckf_enlarge(ckf_filter *t, unsigned tries, uint64_t items)
{
	/* by 1/64 at first, and soon by half: a build must end */
	t->m += (t->m >> (tries < 10 ? 6 - tries / 2 : 1)) + 1;
	if (t->m > CKF_MAX_BUCKETS)
	{
		t->m = t->m / 2 + t->m / 64;
		t->g++;
		t->rest--;
	}
	t->f = (uint8_t)ckf_tag_bits(t->rest, t->m);
	if (t->f < t->c || ((uint64_t)t->m << t->g) > CKF_MOST_BUCKETS(items))
		return false;
	ckf_derive(t);
	return true;
}

void
ckf_inverse_of(ckf_inverse *inv, const ckf_filter *t)
{
	uint64_t top = UINT64_MAX >> (64 - t->rest);
	uint64_t x = t->golden; /* right in 3 bits; each round doubles them */
	int i;

	inv->rest_mask = top;
	inv->quotient = top / t->m;
	inv->remainder = top % t->m + 1; /* of 2^W, one above top */
	if (inv->remainder == t->m)
	{
		inv->quotient++;
		inv->remainder = 0;
	}
	inv->reciprocal = ((UINT64_C(1) << 47) + t->m - 1) / t->m;
	for (i = 0; i < 5; i++)
		x *= 2 - t->golden * x;
	inv->golden_inverse = x;
}
