/*
 * estimates.c - how far the estimated overlap of two filters is from the truth, over
 * random cases: numbers of items, precision and share are each drawn by themselves.
 *
 * Its standard error is sqrt((a b + s s / 2) / 2^w), of s items in both, a that only the one
 * filter has, and b that only the other has, as long as all of them are few beside 2^w:
 * one prefix in so many is that of two items by chance.  The table in test/OVERLAP.md is
 * this suite's, with ROUNDS=2000.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>

/* Errors in units of the standard error, and what they come to. */
typedef struct errors
{
	double sum, squares, worst;
	double items, share; /* added up: the error beside the smaller filter's items */
	uint64_t n;
} errors;

static void
note(errors *e, double error, double unit, double items)
{
	double z = error / unit;

	e->sum += z;
	e->squares += z * z;
	e->worst = fabs(z) > e->worst ? fabs(z) : e->worst;
	e->items += items;
	e->share += error * error / (items * items);
	e->n++;
}

/* A filter of n hashes, from number `first` on. */
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

static ckf_comparison
pair_compare(pair *p)
{
	ckf_comparison found;

	CHECK(run_comparison(&found, &p->a, &p->b) == CKF_OK, "compare");
	owned_free(&p->a);
	owned_free(&p->b);
	return found;
}

/* e^x - 1 - x, which is x x / 2 where x is small. */
static double
rest_of_exp(double x)
{
	return expm1(x) - x;
}

/*
 * Of prefixes that are as good as 2^w, or with the rule P|1 a few less.  By its
 * definition the estimate is a sum of three, of the items of A, of B and of both together,
 * each from the prefixes that are free: e^(I / 2^w) - 1 - I / 2^w is what two such
 * share, that have I items in common.
 */
static double
standard_error(const pair *p)
{
	double cells = ldexp(1, (int)p->w) / (1 + ldexp(2, -(int)p->c));
	double a = p->only_a / cells, b = p->only_b / cells, s = p->both / cells;

	return sqrt(cells * (rest_of_exp(a + b + s) - rest_of_exp(a + s) - rest_of_exp(b + s) +
						 2 * rest_of_exp(s)));
}

/* From 300 to 30,000, evenly by the logarithm. */
static size_t
draw_n(void)
{
	return (size_t)(300 * pow(100, (double)check_below(1000001) / 1e6));
}

/* Over all cases that are large enough for a normal distribution: no bias, and the
 * standard error that is promised. */
static void
run_random(const void *arg)
{
	errors all = {0}, jaccard = {0};

	(void)arg;
	for (uint64_t i = check_rounds(600); i > 0; i--)
	{
		size_t na = draw_n(), nb = check_chance(50) ? na : draw_n();
		double share = check_chance(20) ? 0 : (double)check_below(1001) / 1000;
		double fpr = rate();
		pair p;
		ckf_comparison found;
		double unit, any;

		pair_draw(&p, na, nb, 1 + 3 * (unsigned)check_below(2), share, fpr,
				  check_chance(50) ? fpr : rate());
		any = p.only_a + p.only_b + p.both;
		unit = standard_error(&p);
		found = pair_compare(&p);
		/* small ones end at 0 or at all items */
		if (unit < 3 || p.both < 5 * unit || fmin(p.only_a, p.only_b) < 5 * unit)
			continue;
		note(&all, found.overlap - p.both, unit, fmin(p.only_a, p.only_b) + p.both);
		note(&jaccard, found.jaccard - p.both / any, unit * (1 + p.both / any) / any, 1);
	}
	check_note("overlap: %llu cases, mean %+.3f, deviation %.3f, worst %.2f standard errors",
			   (unsigned long long)all.n, all.sum / (double)all.n,
			   sqrt(all.squares / (double)all.n), all.worst);
	check_note("jaccard: mean %+.3f, deviation %.3f", jaccard.sum / (double)jaccard.n,
			   sqrt(jaccard.squares / (double)jaccard.n));
	CHECK(all.n > 20, "%llu cases", (unsigned long long)all.n);
	CHECK(fabs(all.sum) < 5 * sqrt((double)all.n), "a bias of %g", all.sum / (double)all.n);
	CHECK(fabs(all.squares / (double)all.n - 1) < 0.15 + 8 * sqrt(2 / (double)all.n),
		  "%g standard errors", sqrt(all.squares / (double)all.n));
	CHECK(all.worst < 6, "%g standard errors", all.worst);
	CHECK(fabs(jaccard.squares / (double)jaccard.n - 1) < 0.2 + 8 * sqrt(2 / (double)jaccard.n),
		  "jaccard: %g standard errors", sqrt(jaccard.squares / (double)jaccard.n));
}

/* The table: two filters of n items each. */
static void
run_table(const void *arg)
{
	static const size_t sizes[] = {1000, 30000};
	static const double rates[] = {0.1, 0.01, 0.001};
	static const double shares[] = {0, 0.1, 0.5, 0.9, 1};

	(void)arg;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++)
			for (size_t k = 0; k < 5; k++)
			{
				errors e = {0};
				double told = 0;
				unsigned w = 0;

				for (uint64_t round = check_rounds(10); round > 0; round--)
				{
					pair p;

					pair_draw(&p, sizes[i], sizes[i], 1, shares[k], rates[j], rates[j]);
					w = p.w;
					told += standard_error(&p);
					note(&e, pair_compare(&p).overlap - p.both, 1, (double)sizes[i]);
				}
				check_note("n %zu, fpr %g, w %u, share %.0f %%: error %+.1f, deviation %.2f, told "
						   "%.2f: %.2f %% of n",
						   sizes[i], rates[j], w, 100 * shares[k], e.sum / (double)e.n,
						   sqrt(e.squares / (double)e.n), told / (double)e.n,
						   100 * sqrt(e.share / (double)e.n));
				/* of n errors, so that none of the rows fails by chance */
				CHECK(sqrt(e.squares / (double)e.n) <=
						  (1 + 4 / sqrt((double)e.n)) * told / (double)e.n + 1,
					  "an error");
			}
}

int
main(void)
{
	check_begin("core estimates");
	check_case(run_random, NULL, "random cases");
	check_case(run_table, NULL, "table");
	return check_end();
}
