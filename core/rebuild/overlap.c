/*
 * overlap.c - how many items two filters share (FORMAT.md, section 8).
 *
 * Tables hold prefixes of w bits, on which items of two filters may meet by chance.  How
 * many distinct items are behind a number of distinct prefixes is known on average.  It
 * is computed for the first filter, for the second, and for both taken together; by as
 * much as the first two exceed the third, they share items.
 *
 * Where nearly all prefixes of the coarser filter would be taken by the larger one's items,
 * nothing is known of what they share, and no number is told.
 */
#include "filter/geometry.h"
#include "filter/header.h"
#include "rebuild/promise.h"
#include "rebuild/work.h"

#define CKF_LN_2 0.693147180559945309417

/* What is told of the items behind some distinct prefixes. */
typedef struct ckf_behind
{
	double items;
	double odds; /* of a prefix that it is taken: e^(items / 2^w) - 1 */
	bool full;   /* all prefixes are taken: there may be any number of items more */
} ckf_behind;

/* The core calls no mathematics of the C library. */

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
		return behind; /* whole hashes, or nothing was counted */
	behind.full = d > most;
	if (behind.full)
		d = most; /* by how many items no one can tell */
	v = 2 * d / (1 + ckf_root(1 - 4 * k * d));
	behind.items = all * ckf_minus_log(v);
	behind.odds = v / (1 - v);
	return behind;
}

/* The standard error of the overlap of two filters that share nothing, which is the largest there
 * is: of as many prefixes as 2^w, or with the rule P|1 a few less. */
static double
ckf_overlap_error(const ckf_rebuild *r, double odds_a, double odds_b)
{
	double k = 1 / ((double)r->meeting.low_mask + 1);

	return ckf_root(ckf_power_of_two(r->w) * (1 + 2 * k) * odds_a * odds_b);
}

/* What an input shares of an estimate: of a deletable filter, which has a copy of each of its
 * items, no more than its copies. */
static double
ckf_at_most(const ckf_filter *in, double items)
{
	double copies = (double)ckf_items(in);

	return !(in->flags & CKF_FLAG_SET) && items > copies ? copies : items;
}

/*
 * The capacity of two filters that can be compared.  At its capacity C a filter has the rate p
 * = 1 - e^(-C / 2^w) or less: so of b items in the larger one, b / 2^w <= (b / C) -ln(1 - p).
 * That must not pass ln(1 + a), where a are the items of the smaller one; C = b will do for
 * every rate that anybody wants, and for the others twice what is needed is named.
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

/* Which input is too coarse: that of the least precision, else the smaller one. */
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
	const ckf_meeting *m = &r->meeting;
	uint64_t in_any = m->distinct[0] + m->distinct[1] - r->items;
	ckf_behind a = ckf_items_behind(m->distinct[0], r->w, m->low_mask);
	ckf_behind b = ckf_items_behind(m->distinct[1], r->w, m->low_mask);
	const ckf_behind *larger = a.odds > b.odds ? &a : &b;
	double both = a.items + b.items - ckf_items_behind(in_any, r->w, m->low_mask).items;
	double least = a.items < b.items ? a.items : b.items;
	double most = ckf_at_most(r->in[0], ckf_at_most(r->in[1], least));

	memset(comparison, 0, sizeof *comparison);
	comparison->empty = ckf_items(r->in[0]) == 0 && ckf_items(r->in[1]) == 0;
	comparison->error = ckf_overlap_error(r, a.odds, b.odds);
	if (least > 0 && (larger->full || larger->odds > least))
	{
		comparison->coarse = ckf_coarse_input(r);
		comparison->capacity = ckf_comparable_capacity(r, least);
		return CKF_UNLIKE_SIZES;
	}
	both = both > least ? least : both;
	both = both > 0 ? both : 0;
	comparison->overlap = both < most ? both : most;
	comparison->jaccard = both > 0 ? both / (a.items + b.items - both) : 0;
	return CKF_OK;
}
