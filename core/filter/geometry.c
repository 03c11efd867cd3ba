/*
 * geometry.c - the bits of prefixes and fingerprints, the load of a table, and the
 * limit of its growth (FORMAT.md, section 5).  Every machine must compute the same
 * results.  So the code uses integers, and doubles only where they are exact.
 */
#include "filter/geometry.h"

/*
 * The load factors for which tables are sized, in 1/1024, by slots of a bucket (2, 4,
 * 8) and fingerprint bits (4, 5, 6, 7, more).  A large segment reaches slightly more.
 * Short fingerprints reach less, since the items of a bucket can then move to few
 * other buckets only.
 */
static const uint16_t ckf_loads[3][5] = {
	{788, 829, 850, 860, 875},
	{850, 942, 964, 972, 980},
	{913, 985, 1006, 1011, 1014},
};

unsigned
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
ckf_table_size(const ckf_filter *t)
{
	uint64_t bits = (uint64_t)t->m * 2 * t->bucket_bits << t->g; /* at most 2^16 * 448 * 2^32 */

	return (bits + 7) / 8 + CKF_HEADER_SIZE + CKF_TABLE_PAD;
}

unsigned
ckf_tag_bits(unsigned rho_bits, uint32_t m)
{
	/* ceil(2^W / m) <= 2^f holds where 2^(W - f) <= m does */
	unsigned log = 31 - (unsigned)__builtin_clz(m);

	return rho_bits > log ? rho_bits - log : 0;
}

uint8_t
ckf_low_bits(double fpr)
{
	double power = 1 << CKF_MIN_TAG;
	uint8_t c = CKF_MIN_TAG;

	while (c < 8 && power * fpr < 1)
	{
		power *= 2;
		c++;
	}
	return c;
}

unsigned
ckf_prefix_bits(double items, double fpr, unsigned c)
{
	/* A random prefix equals a stored one with probability chances / 2^w: each
	 * item counts 1, and 2 / 2^c more for the prefixes that the rule of tag 0
	 * joins. */
	double chances = items + items / (double)(1U << (c - 1));
	unsigned w = CKF_MIN_PREFIX;

	fpr *= 1 << CKF_MIN_PREFIX;
	while (w <= CKF_MAX_PREFIX && chances > fpr)
	{
		fpr *= 2;
		w++;
	}
	return w;
}

double
ckf_expected_rate(uint64_t copies, unsigned w, unsigned c)
{
	double rate = (double)copies;

	/* The rule of tag 0 changes one prefix in 2^c to P|1, so lookups of two
	 * prefixes find it.  Whole hashes are not changed. */
	if (w < 64)
		rate += rate * 2 / ckf_power_of_two(c);
	rate /= ckf_power_of_two(w);
	return rate < 1 ? rate : 1;
}

int64_t
ckf_kept_items(const ckf_filter *t)
{
	double items = t->fpr * ckf_power_of_two(t->w) / (1 + 2 / ckf_power_of_two(t->c));

	return items < 1 ? 1 : items < 9e18 ? (int64_t)items : INT64_MAX;
}

double
ckf_last_rate(double fpr)
{
	double rate = 8 * fpr > CKF_LAST_RATE ? 8 * fpr : CKF_LAST_RATE;

	return rate < 1 ? rate : 1;
}

uint64_t
ckf_count_limit(unsigned w, double fpr)
{
	double limit = ckf_last_rate(fpr) * ckf_power_of_two(w);

	return limit < 9e18 ? (uint64_t)limit : UINT64_MAX;
}

uint64_t
ckf_full_count(const ckf_filter *t)
{
	return (((uint64_t)2 * t->m * t->b) << t->g) * ckf_load(t->b, t->f) / 1024;
}

void
ckf_inverse_of(ckf_inverse *inv, const ckf_filter *t)
{
	uint64_t top = UINT64_MAX >> (64 - t->rho_bits);
	/* Newton's method: C itself is its inverse modulo 2^3, as it is odd, and each
	 * round doubles the number of bits that are right. */
	uint64_t x = t->golden;
	int i;

	inv->rho_mask = top;
	inv->quotient = top / t->m;
	inv->remainder = top % t->m + 1; /* 2^W itself is one more than top */
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
