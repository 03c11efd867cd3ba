/*
 * overlap.c - how many items two filters share (FORMAT.md, section 8).
 *
 * Tables hold prefixes of w bits, on which items of two filters may meet by chance.  How
 * many distinct items are behind a number of distinct prefixes is known on average.  It
 * is computed for the first filter, for the second, and for both taken together; by as
 * much as the first two exceed the third, they share items.
 */
#include "filter/geometry.h"
#include "rebuild/promise.h"
#include "rebuild/work.h"

#define CKF_LN_2 0.693147180559945309417

/* The core calls no mathematics of the C library. */

/* The square root of t, 0.7 <= t <= 1, by Newton's method. */
static double
ckf_root(double t)
{
	double root = 1;
	int i;

	for (i = 0; i < 6; i++)
		root = (root + t / root) / 2;
	return root;
}

/* -ln(1 - v), 0 <= v < 1. */
static double
ckf_minus_log(double v)
{
	double whole = 0, sum = 0, z;
	int k;

	for (; v > 0.5; whole += CKF_LN_2)
		v = 2 * v - 1; /* 1 - v doubles */
	z = v / (2 - v);   /* -ln(1 - v) = 2 artanh z, and z <= 1/3 */
	for (k = 17; k >= 0; k--)
		sum = sum * (z * z) + 1.0 / (2 * k + 1);
	return whole + 2 * z * sum;
}

/*
 * Distinct items behind so many distinct prefixes.  n items leave of 2^w prefixes a part
 * u = e^(-n / 2^w) free; of those that the rule P|1 joins, 2 in each 2^c, a part u^2.  With
 * v = 1 - u, and k = 2^-c, a part d = v - k v^2 of 2^w is taken.
 */
static double
ckf_items_behind(uint64_t prefixes, unsigned w, uint64_t low_mask)
{
	double all = ckf_power_of_two(w);
	double k = 1 / ((double)low_mask + 1);
	double d = (double)prefixes / all;
	double most = 1 - k - (all < 1e12 ? 0.5 / all : 1e-12);

	if (w == 64)
		return (double)prefixes; /* whole hashes */
	if (d > most)
		d = most; /* all are taken: by how many items no one can tell */
	return all * ckf_minus_log(2 * d / (1 + ckf_root(1 - 4 * k * d)));
}

void
ckf_rebuild_comparison(const ckf_rebuild *r, ckf_comparison *comparison)
{
	const ckf_meeting *m = &r->meeting;
	uint64_t in_any = m->distinct[0] + m->distinct[1] - r->items;
	double a = ckf_items_behind(m->distinct[0], r->w, m->low_mask);
	double b = ckf_items_behind(m->distinct[1], r->w, m->low_mask);
	double both = a + b - ckf_items_behind(in_any, r->w, m->low_mask);
	double least = a < b ? a : b;

	both = both > least ? least : both;
	both = both > 0 ? both : 0;
	comparison->empty = ckf_items(r->in[0]) == 0 && ckf_items(r->in[1]) == 0;
	comparison->overlap = both;
	comparison->jaccard = both > 0 ? both / (a + b - both) : 0;
}
