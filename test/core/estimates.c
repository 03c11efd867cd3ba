/*
 * estimates.c - how far the estimated overlap of two filters is from the true one, in random cases:
 * the numbers of items, the precision and the shared part are drawn independently.
 *
 * The standard error is sqrt((a b + s s / 2) / 2^w) if s items are in both filters, a only in the
 * one and b only in the other, and all of them are few compared with 2^w: one of so many prefixes
 * is shared by chance. inputs.c has the formula for any numbers.  Filters whose sizes differ too
 * much are refused.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>

/*
 * Errors in units of the standard error.
 *
 * What filters share by chance is nearly Poisson distributed, and `unit` is the root of its mean.
 * 8 units and 4 items more are exceeded with a probability below 10^-10, whatever the mean is; 6
 * units, with 10^-6 at a unit of 3.
 */
typedef struct errors
{
	double sum, squares, worst;
	uint64_t n;
} errors;

static double
most_error(double unit)
{
	return 8 * unit + 4;
}

static void
note(errors *e, double error, double unit)
{
	double z = error / unit;

	e->sum += z;
	e->squares += z * z;
	e->worst = fabs(z) > e->worst ? fabs(z) : e->worst;
	e->n++;
}

/* A filter of n hashes, beginning with number `first`. */
static void
build(owned *o, const world *w, const ckf_params *params, uint64_t first, size_t n)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes);

	for (size_t i = 0; i < n; i++)
		hashes[i] = world_hash(w, 0, first + i);
	driven_class = CKF_ITEM_NUMBER;
	build_bulk(o, params, hashes, n);
	driven_class = 0;
	free(hashes);
}

/* A table of any layout for n items, or `spare` times as many, at a rate. */
static ckf_params
draw_table(size_t n, unsigned spare, double fpr)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	ckf_params params = params_of(0, fpr, check_chance(30), check_chance(40), 4);

	params.bucket_size = sizes[check_below(4)];
	params.capacity = (int64_t)n * spare;
	return params;
}

static double
rate(void)
{
	static const double rates[] = {0.1, 0.03, 0.01, 0.001, 1e-4};

	return rates[check_below(5)];
}

/* Two filters, of which the second has a part of the first one's items. */
typedef struct pair
{
	owned a, b;
	double only_a, only_b, both;
	unsigned w, c;
} pair;

static void
pair_draw(pair *p, size_t na, size_t nb, unsigned spare, double share, double fpr_a, double fpr_b)
{
	world w = {.base = check_random()};
	size_t least = na < nb ? na : nb;
	size_t both = (size_t)(share * (double)least);
	ckf_params params = draw_table(na, spare, fpr_a);

	build(&p->a, &w, &params, 0, na);
	params = draw_table(nb, spare, fpr_b);
	build(&p->b, &w, &params, na - both, nb);
	p->both = (double)both;
	p->only_a = (double)(na - both);
	p->only_b = (double)(nb - both);
	p->w = p->a.filter.w < p->b.filter.w ? p->a.filter.w : p->b.filter.w;
	p->c = p->a.filter.c < p->b.filter.c ? p->a.filter.c : p->b.filter.c;
}

static double
standard_error(const pair *p)
{
	return overlap_error(p->only_a, p->only_b, p->both, p->w, p->c);
}

/* false: their sizes are too unlike. */
static bool
pair_compare(pair *p, ckf_comparison *found)
{
	ckf_status status = run_comparison(found, &p->a, &p->b);
	double a = p->only_a + p->both, b = p->only_b + p->both;

	CHECK(status == CKF_OK || (status == CKF_UNLIKE_SIZES && may_be_unlike(a, b, p->w)),
		  "status %d of %g and %g items, w %u", status, a, b, p->w);
	if (status == CKF_OK && standard_error(p) >= 3 && (a + b - p->both) / ldexp(1, (int)p->w) < 0.2)
		CHECK(fabs(found->error / standard_error(p) - 1) < 0.3,
			  "a standard error of %g is told, it is %g", found->error, standard_error(p));
	owned_free(&p->a);
	owned_free(&p->b);
	return status == CKF_OK;
}

/* n, evenly by the logarithm. */
static size_t
draw_between(size_t least, size_t most)
{
	double ratio = (double)most / (double)least;

	return (size_t)((double)least * pow(ratio, (double)check_below(1000001) / 1e6));
}

/* Over all cases that are large enough for a normal distribution: no bias, and the
 * standard error that is promised. */
static void
run_random(const void *arg)
{
	errors all = {0}, jaccard = {0};

	(void)arg;
	for (uint64_t i = check_rounds(600); i > 0 || all.n <= 20; i -= i > 0)
	{
		size_t na = draw_between(300, 30000);
		size_t nb = check_chance(50) ? na : draw_between(300, 30000);
		double share = check_chance(20) ? 0 : (double)check_below(1001) / 1000;
		double fpr = rate();
		pair p;
		ckf_comparison found;
		double unit, any;

		pair_draw(&p, na, nb, 1 + 3 * (unsigned)check_below(2), share, fpr,
				  check_chance(50) ? fpr : rate());
		any = p.only_a + p.only_b + p.both;
		unit = standard_error(&p);
		if (!pair_compare(&p, &found))
			continue;
		/* small ones end at 0 or at all items */
		if (unit < 3 || p.both < 5 * unit || fmin(p.only_a, p.only_b) < 5 * unit)
			continue;
		CHECK(fabs(found.overlap - p.both) <= most_error(unit), "%g items in both, must be %g",
			  found.overlap, p.both);
		note(&all, found.overlap - p.both, unit);
		note(&jaccard, found.jaccard - p.both / any, unit * (1 + p.both / any) / any);
	}
	check_note("overlap: %llu cases, mean %+.3f, deviation %.3f, worst %.2f standard errors",
			   (unsigned long long)all.n, all.sum / (double)all.n,
			   sqrt(all.squares / (double)all.n), all.worst);
	check_note("jaccard: mean %+.3f, deviation %.3f", jaccard.sum / (double)jaccard.n,
			   sqrt(jaccard.squares / (double)jaccard.n));
	CHECK(fabs(all.sum) < 6 * sqrt((double)all.n) + 0.05 * (double)all.n, "a bias of %g",
		  all.sum / (double)all.n);
	CHECK(fabs(all.squares / (double)all.n - 1) < 0.15 + 8 * sqrt(2 / (double)all.n),
		  "%g standard errors", sqrt(all.squares / (double)all.n));
	CHECK(fabs(jaccard.squares / (double)jaccard.n - 1) < 0.2 + 8 * sqrt(2 / (double)jaccard.n),
		  "jaccard: %g standard errors", sqrt(jaccard.squares / (double)jaccard.n));
}

/* ------------------------------------------------------------- unlike sizes */

enum
{
	SMALLER = 20 /* filters that are compared with a larger one */
};

/* The results of the comparisons. */
typedef struct outcomes
{
	errors all;
	uint64_t told, refused, again;
} outcomes;

/* With the capacity that the error names, they are compared. */
static void
check_named_capacity(const world *w, const ckf_comparison *found, size_t na, double fpr_a,
					 size_t nb, double fpr_b, size_t both)
{
	ckf_params params = draw_table(na, 1, fpr_a);
	ckf_comparison again;
	owned a, b;

	params.capacity = found->capacity;
	build(&a, w, &params, 0, na);
	params = draw_table(nb, 1, fpr_b);
	params.capacity = found->capacity;
	build(&b, w, &params, na - both, nb);
	CHECK(run_comparison(&again, &a, &b) == CKF_OK,
		  "%zu and %zu items, rates %g and %g: not with a capacity of %lld, either", na, nb, fpr_a,
		  fpr_b, (long long)found->capacity);
	owned_free(&a);
	owned_free(&b);
}

/* A filter of na items beside b, of nb that begin with number 10^7. */
static void
check_smaller(outcomes *o, const world *w, const owned *b, size_t nb, double fpr_b)
{
	size_t na = draw_between(10, 3000), both;
	double fpr = check_chance(10) ? 0.9 : rate();
	double unit;
	unsigned w_of_both, c;
	ckf_params params = draw_table(na, 1 + 3 * (unsigned)check_below(2), fpr);
	ckf_comparison found, back;
	ckf_status status;
	owned a;

	na = na < nb ? na : nb;
	both = check_chance(30) ? 0 : (size_t)check_below(na + 1);
	build(&a, w, &params, 10000000 - (na - both), na);
	w_of_both = a.filter.w < b->filter.w ? a.filter.w : b->filter.w;
	c = a.filter.c < b->filter.c ? a.filter.c : b->filter.c;
	unit = overlap_error((double)(na - both), (double)(nb - both), (double)both, w_of_both, c);
	status = run_comparison(&found, &a, b);
	CHECK(run_comparison(&back, b, &a) == status, "the other way round");
	if (status == CKF_UNLIKE_SIZES)
	{
		CHECK(may_be_unlike((double)na, (double)nb, w_of_both),
			  "%zu and %zu items are refused, w %u", na, nb, w_of_both);
		CHECK(found.capacity == back.capacity && (uint64_t)found.capacity >= b->filter.count &&
				  (na == nb || found.coarse != back.coarse),
			  "a capacity of %lld", (long long)found.capacity);
		o->refused++;
		if (nb < 100000 || check_chance(2))
			check_named_capacity(w, &found, na, fpr, nb, fpr_b, both);
	}
	else
	{
		CHECK(status == CKF_OK, "status %d", status);
		CHECK(may_be_alike((double)na, (double)nb, w_of_both),
			  "%zu and %zu items are compared, w %u", na, nb, w_of_both);
		CHECK(found.overlap == back.overlap && found.jaccard == back.jaccard, "the other way");
		CHECK(filter_is_set(&a.filter) || found.overlap <= (double)na, "%.17g of %zu items in both",
			  found.overlap, na);
		CHECK(fabs(found.overlap - (double)both) <= most_error(unit),
			  "%g items in both, must be %zu", found.overlap, both);
		o->told++;
		if (unit >= 3 && (double)both >= 5 * unit && (double)(na - both) >= 5 * unit)
			note(&o->all, found.overlap - (double)both, unit);
	}
	owned_free(&a);
}

/* Small filters beside one of up to a million items. */
static void
run_unlike(const void *arg)
{
	outcomes o = {{0}, 0, 0, 0};
	uint64_t rounds = check_rounds(30);

	(void)arg;
	/* Few rounds may lack one outcome.  A round has both more often than not, so 1000 have each. */
	for (uint64_t i = 0; i < rounds || ((o.told == 0 || o.refused == 0) && i < 1000); i++)
	{
		world w = {.base = check_random()};
		size_t nb = draw_between(300, 1000000);
		double fpr = rate();
		ckf_params params = draw_table(nb, 1, fpr);
		owned b;

		build(&b, &w, &params, 10000000, nb);
		for (int k = 0; k < SMALLER; k++)
			check_smaller(&o, &w, &b, nb, fpr);
		owned_free(&b);
	}
	check_note("%llu told, %llu refused; %llu cases, mean %+.3f, deviation %.3f, worst %.2f",
			   (unsigned long long)o.told, (unsigned long long)o.refused,
			   (unsigned long long)o.all.n, o.all.sum / (double)o.all.n,
			   sqrt(o.all.squares / (double)o.all.n), o.all.worst);
	CHECK(o.told > 0 && o.refused > 0, "%llu and %llu cases", (unsigned long long)o.told,
		  (unsigned long long)o.refused);
	CHECK(o.all.n == 0 ||
			  fabs(o.all.squares / (double)o.all.n - 1) < 0.15 + 8 * sqrt(2 / (double)o.all.n),
		  "%g standard errors", sqrt(o.all.squares / (double)o.all.n));
}

/* ------------------------------------------------------ the told standard error */

/* Of so many pairs, how many estimates were within one and within two of the told errors. */
typedef struct told_errors
{
	uint64_t n, within, within_two, refused;
	errors all;
} told_errors;

/* A pair whose members differ in everything. */
static void
check_told(told_errors *t)
{
	size_t na = draw_between(30, 60000), nb = draw_between(30, 60000);
	double share = check_chance(10) ? 0 : (double)check_below(1001) / 1000;
	ckf_comparison found;
	double error;
	pair p;

	pair_draw(&p, na, nb, 1 + 3 * (unsigned)check_below(2), share, rate(), rate());
	if (!pair_compare(&p, &found))
	{
		t->refused++;
		return;
	}
	if (p.w == 64)
		CHECK(found.error == 0 && found.overlap == p.both, "hashes are exact");
	if (standard_error(&p) < 3) /* fewer matches by chance are not normally distributed */
		return;
	error = fabs(found.overlap - p.both);
	t->n++;
	t->within += error <= found.error;
	t->within_two += error <= 2 * found.error;
	if (p.both > 0)
		note(&t->all, found.overlap - p.both, found.error);
}

/* A share is as it must be: from `least` to `most`, of infinitely many pairs. */
static void
check_share(const char *what, uint64_t n, uint64_t of, double least, double most)
{
	double share = (double)n / (double)of, chance = of >= 3000 ? 0 : 4 * sqrt(0.25 / (double)of);

	CHECK(share >= least - chance && share <= most + chance, "%.4f of %llu are within %s", share,
		  (unsigned long long)of, what);
}

static void
run_told(const void *arg)
{
	told_errors t = {0};

	(void)arg;
	while (t.n < check_rounds(3000))
		check_told(&t);
	check_note("%llu pairs: %.1f %% within one standard error, %.1f %% within two, deviation %.3f; "
			   "%llu refused",
			   (unsigned long long)t.n, 100.0 * (double)t.within / (double)t.n,
			   100.0 * (double)t.within_two / (double)t.n, sqrt(t.all.squares / (double)t.all.n),
			   (unsigned long long)t.refused);
	check_share("one standard error", t.within, t.n, 0.63, 0.73);
	check_share("two", t.within_two, t.n, 0.94, 0.97);
}

int
main(void)
{
	check_begin("core estimates");
	check_case(run_random, NULL, "random cases");
	check_case(run_told, NULL, "the told standard error");
	check_case(run_unlike, NULL, "unlike sizes");
	return check_end();
}
