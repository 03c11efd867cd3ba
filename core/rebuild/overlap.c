/*
 * overlap.c - estimate the number of items that two filters share (FORMAT.md, section 8).
 *
 * Tables store prefixes of w bits, and different items may have the same prefix by chance.  The
 * number of distinct items is estimated from the number of distinct prefixes.  This gives three
 * estimates: for the first filter, for the second, and for their union.  The overlap is the sum
 * of the first two minus the third.
 *
 * If the items of the larger filter occupy nearly all prefixes of the coarser one, there is no
 * useful estimate, and the comparison fails.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/work.h"

#define CKF_LN_2 0.693147180559945309417

/* The estimate from a number of distinct prefixes. */
typedef struct ckf_behind
{
	double items;
	double odds; /* the odds that a prefix is occupied: e^(items / 2^w) - 1; 0 if items is exact */
	bool full;   /* nearly all prefixes are occupied: there may be many more items */
} ckf_behind;

/*
 * The core has no <math.h>: it runs where there is no libm (WebAssembly, an amalgamation that is
 * linked without -lm), and its results do not depend on the libm of a machine.
 */

/* The square root of t >= 0, by Newton's method. */
static double
ckf_root(double t)
{
	double root = 1, scale = 1;
	int i;

	for (; t > 4; t /= 4)
		scale *= 2;
	for (; t < 0.5 && t > 0; t *= 4)
		scale /= 2;
	for (i = 0; i < 6; i++)
		root = (root + t / root) / 2;
	return t > 0 ? scale * root : 0;
}

/* e^x - 1 - x, x >= 0, by its series. */
static double
ckf_rest_of_exp(double x)
{
	double sum = 0, term = x;
	int n;

	for (n = 2; term > 1e-12 * sum; n++)
	{
		term *= x / n;
		sum += term;
	}
	return sum;
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
 * Estimate the distinct items from the distinct prefixes.  n items leave a fraction
 * u = e^(-n / 2^w) of the 2^w prefixes free.  The rule P|1 joins 2 of each 2^c prefixes into
 * one; a fraction u^2 of these pairs is free.  With v = 1 - u and k = 2^-c, the fraction of
 * occupied prefixes is d = v - k v^2.
 */
static ckf_behind
ckf_items_behind(uint64_t prefixes, unsigned w, uint64_t low_mask)
{
	double all = ckf_power_of_two(w);
	double k = 1 / ((double)low_mask + 1);
	double d = (double)prefixes / all;
	double most = 1 - k - (all < 1e12 ? 0.5 / all : 1e-12);
	ckf_behind behind = {.items = (double)prefixes};
	double v;

	if (w == 64 || prefixes == 0)
		return behind; /* whole hashes, or no items */
	behind.full = d > most;
	if (behind.full)
		d = most; /* the items beyond this number cannot be estimated */
	v = 2 * d / (1 + ckf_root(1 - 4 * k * d));
	behind.items = all * ckf_minus_log(v);
	behind.odds = v / (1 - v);
	return behind;
}

/*
 * The standard error of an estimated overlap: s items in both filters, and others in only one.  Its
 * variance is 2^w (e^s' (e^a' - 1) (e^b' - 1) + e^s' - 1 - s'), where s', a' and b' are the items
 * in both, in a only and in b only, each divided by 2^w.  The factor 1 + 2 k accounts for the rule
 * P|1.
 */
static double
ckf_overlap_error(const ckf_rebuild *r, const ckf_behind *a, const ckf_behind *b, double both)
{
	double all = ckf_power_of_two(r->w), k = 1 / ((double)r->intersection.low_mask + 1);
	double s = both / all, rest = ckf_rest_of_exp(s);
	double shared = 1 + s + rest; /* e^s' */
	double only_a = (a->odds - s - rest) / shared, only_b = (b->odds - s - rest) / shared;
	double half = both > 0 ? 0.5 / all : 0;

	if (r->w == 64)
		return 0;
	/* The items in a only are those of whose prefixes b has none, times 1 + odds.  Of the former
	 * half a one more is counted: if there is none, there may yet be items in a only. */
	only_a = (only_a > 0 ? only_a : 0) + half * (1 + b->odds);
	only_b = (only_b > 0 ? only_b : 0) + half * (1 + a->odds);
	return ckf_root(all * (1 + 2 * k) * (shared * only_a * only_b + rest));
}

/* Limit an estimate by an input: a deletable filter stores a copy of each item, so it has at most
 * as many items as copies. */
static double
ckf_at_most(const ckf_filter *in, double items)
{
	double copies = (double)ckf_items(in);

	return !(in->flags & CKF_FLAG_SET) && items > copies ? copies : items;
}

/*
 * A capacity with which the two filters could be compared.  A filter of capacity C has at most
 * the rate p = 1 - e^(-C / 2^w) at C items.  So b items in the larger filter give
 * b / 2^w <= (b / C) -ln(1 - p).  This must be at most ln(1 + a) for a items in the smaller
 * filter.  C = b suffices for every usual rate; for other rates the result is twice the
 * necessary capacity.
 */
static int64_t
ckf_comparable_capacity(const ckf_rebuild *r, double a)
{
	uint64_t first = ckf_items(r->in[0]), second = ckf_items(r->in[1]);
	double b = (double)(first > second ? first : second);
	double times = ckf_minus_log(r->to.fpr) / ckf_minus_log(a / (1 + a));
	double capacity = times > 1 ? 2 * b * times : b;

	return capacity < (double)CKF_MAX_CAPACITY ? (int64_t)capacity + (times > 1) : CKF_MAX_CAPACITY;
}

/* The input that is too coarse: the one of lower precision, or the smaller one. */
static int
ckf_coarse_input(const ckf_rebuild *r)
{
	const ckf_filter *first = r->in[0], *second = r->in[1];

	if (first->w != second->w)
		return first->w > second->w;
	return ckf_items(first) > ckf_items(second);
}

ckf_status
ckf_rebuild_comparison(const ckf_rebuild *r, ckf_comparison *comparison)
{
	const ckf_intersection *m = &r->intersection;
	uint64_t in_any = m->distinct[0] + m->distinct[1] - r->items;
	ckf_behind a = ckf_items_behind(m->distinct[0], r->w, m->low_mask);
	ckf_behind b = ckf_items_behind(m->distinct[1], r->w, m->low_mask);
	const ckf_behind *larger = a.odds > b.odds ? &a : &b;
	double both = a.items + b.items - ckf_items_behind(in_any, r->w, m->low_mask).items;
	double least = a.items < b.items ? a.items : b.items;
	double most = ckf_at_most(r->in[0], ckf_at_most(r->in[1], least));

	memset(comparison, 0, sizeof *comparison);
	comparison->empty = ckf_items(r->in[0]) == 0 && ckf_items(r->in[1]) == 0;
	if (least > 0 && (larger->full || larger->odds > least))
	{
		comparison->error = ckf_overlap_error(r, &a, &b, 0);
		comparison->coarse = ckf_coarse_input(r);
		comparison->capacity = ckf_comparable_capacity(r, least);
		return CKF_UNLIKE_SIZES;
	}
	both = both > least ? least : both;
	both = both > 0 ? both : 0;
	comparison->error = ckf_overlap_error(r, &a, &b, both);
	comparison->overlap = both < most ? both : most;
	comparison->jaccard = both > 0 ? both / (a.items + b.items - both) : 0;
	return CKF_OK;
}
