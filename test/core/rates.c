/*
 * rates.c - measured false positive rates: within 10 % of n / 2^w, plus the part of the rule for
 * tag 0, and never above the promised rate up to the capacity.  High rates are lower than n / 2^w,
 * as items share prefixes.
 */
#include "drive.h"

#include <math.h>
#include <stdlib.h>

enum
{
	BATCH = 4096
};

typedef struct measure
{
	size_t items;
	int64_t capacity;
	double fpr;
	bool plain;
	uint8_t bucket_size;
	bool one_by_one;
} measure;

/* Random hashes that answer yes, among the probes. */
static uint64_t
positives(const owned *o, uint64_t probes)
{
	uint64_t hashes[BATCH], in = 0;

	for (uint64_t done = 0; done < probes; done += BATCH)
	{
		for (size_t i = 0; i < BATCH; i++)
			hashes[i] = check_random();
		in += ckf_contains_many(&o->filter, hashes, BATCH, NULL);
	}
	return in;
}

static void
build(owned *o, const measure *r)
{
	ckf_params params = params_of(r->capacity, r->fpr, false, r->plain, r->bucket_size);

	if (r->one_by_one)
		owned_create(o, &params);
	else
		owned_state(o, &params);
	for (size_t i = 0; i < r->items; i++)
		CHECK(owned_add(o, check_random()) == CKF_OK, "add");
	if (!r->one_by_one)
		CHECK(owned_rebuild(o, CKF_FINISH, NULL) == CKF_OK, "finish");
}

static void
run_rate(const void *arg)
{
	const measure *r = arg;
	owned o;
	double expected, tag_rule, measured, noise, taken, actual;
	uint64_t probes;

	build(&o, r);
	CHECK(o.filter.encoding != CKF_HASHES, "still in hashes");
	CHECK(o.filter.count > r->items - r->items / 10, "count");
	tag_rule = ldexp(1, 1 - o.filter.c);
	expected = (double)r->items / ldexp(1, o.filter.w);
	probes = (uint64_t)fmin(6000 / expected, 4e7);
	probes = check_rounds(probes / BATCH + 1) * BATCH;
	noise =
		7 / sqrt((double)probes * expected); /* some thousand positives, or some hundred: 10^-10 */
	measured = (double)positives(&o, probes) / (double)probes;
	check_note("%zu items: rate %.3g measured, %.3g by n / 2^w, %.3g told, %g asked; "
			   "%.2f bits an item, w %d, f %d, c %d",
			   r->items, measured, expected, ckf_fpr(&o.filter), r->fpr,
			   8.0 * (double)o.filter.size / (double)r->items, o.filter.w, o.filter.f, o.filter.c);
	CHECK(measured < expected * (1.1 + tag_rule + noise), "above n / 2^w");
	CHECK(measured > expected * (0.9 - expected / 2 - noise), "below n / 2^w");
	CHECK(fabs(ckf_fpr(&o.filter) / expected - 1) < 0.1 + tag_rule + expected, "the rate told");
	/* the actual rate of FORMAT.md, section 5: the rate told is an upper bound */
	taken = -expm1(-expected);
	actual = taken + tag_rule * taken * (1 - taken);
	CHECK(fabs(measured / actual - 1) < 0.03 + noise, "the actual rate is %g", actual);
	CHECK(ckf_fpr(&o.filter) >= 0.99 * actual, "the rate told is below the actual one, %g", actual);
	if ((int64_t)r->items <= r->capacity || r->capacity == 0)
		CHECK(measured < r->fpr * (1 + tag_rule + noise), "above the promise");
	owned_free(&o);
}

/*
 * A filter of one part of all items, asked for other items of this part: its rate is n / 2^w, as
 * that of a filter of all items.  It is not if the part depends on bits that the filter stores.
 */
typedef struct part_measure
{
	int w;
	uint32_t parts;
} part_measure;

/* A random hash of the part that begins with the first `bits` bits of another one. */
static uint64_t
random_of_part(uint64_t like, int bits, uint32_t parts, uint32_t part)
{
	uint64_t hash;

	do
		hash = like ^ (check_random() >> bits);
	while (ckf_part(hash, parts) != part);
	return hash;
}

static void
run_part(const void *arg)
{
	enum
	{
		ITEMS = 1 << 16,
		LIKE = 30 /* bits that a probe shares with an item, so that there are enough positives */
	};
	const part_measure *r = arg;
	ckf_params params = params_of(ITEMS, 1.25 * ldexp(ITEMS, -r->w), false, false, 4);
	uint32_t part = (uint32_t)(check_random() % r->parts);
	uint64_t *items = check_alloc(ITEMS * sizeof *items), probes = check_rounds(1 << 20), in = 0;
	double expected = ldexp(1, LIKE - r->w), noise, measured;
	owned o;

	owned_state(&o, &params);
	for (size_t i = 0; i < ITEMS; i++)
	{
		items[i] = random_of_part(0, 0, r->parts, part);
		CHECK(owned_add(&o, items[i]) == CKF_OK, "add");
	}
	CHECK(owned_rebuild(&o, CKF_FINISH, NULL) == CKF_OK, "finish");
	CHECK(o.filter.w == r->w, "w is %d", o.filter.w);
	for (uint64_t i = 0; i < probes; i++)
		in += ckf_contains(&o.filter, random_of_part(items[i % ITEMS], LIKE, r->parts, part));
	measured = (double)in / (double)probes;
	noise = 7 / sqrt((double)probes * expected);
	check_note("%.3g measured, %.3g by the bits that remain, w %d, f %d, c %d", measured, expected,
			   o.filter.w, o.filter.f, o.filter.c);
	CHECK(measured < expected * (1.1 + ldexp(1, 1 - o.filter.c) + noise), "above n / 2^w");
	CHECK(measured > expected * (0.9 - noise), "below n / 2^w");
	CHECK(measured * ldexp(ITEMS, -LIKE) < params.fpr * (1 + noise), "above the promise");
	owned_free(&o);
	free(items);
}

/* Hashes of 64 bits: no false positive to be seen. */
static void
run_exact(const void *arg)
{
	ckf_params params = params_of(10, 0.01, false, false, 4);
	owned o;

	(void)arg;
	owned_create(&o, &params);
	for (int i = 0; i < 5; i++)
		CHECK(owned_add(&o, check_random()) == CKF_OK, "add");
	CHECK(o.filter.encoding == CKF_HASHES, "five items are not in hashes");
	CHECK(positives(&o, 1 << 20) == 0, "a false positive among exact hashes");
	CHECK(ckf_fpr(&o.filter) < 1e-15, "the rate told of exact hashes");
	owned_free(&o);
}

static const measure measures[] = {
	{100000, 0, 0.01, false, 4, false},
	{100000, 0, 0.001, false, 4, false},
	{100000, 0, 0.0001, false, 4, false},
	{100000, 0, 0.01, true, 2, false},
	{100000, 0, 0.001, true, 4, false},
	{100000, 0, 0.01, true, 8, false},
	{77777, 0, 0.05, false, 4, false},
	{50000, 0, 0.3, false, 4, false},
	{50000, 0, 0.3, true, 8, false},
	{50000, 0, 0.5, true, 2, false},
	{50000, 0, 0.5, true, 8, false},
	{50000, 0, 0.9, false, 4, false},
	{50000, 0, 0.9, true, 8, false},
	{1000000, 0, 0.01, false, 4, false},
	{100000, 100000, 0.01, false, 4, true},
	{100000, 100000, 0.001, true, 2, true},
	{131072, 131072, 0.0078125, false, 4, true}, /* n / 2^w is exactly the target */
	{131072, 131072, 0.0078125, true, 8, true},
	{30000, 100000, 0.01, false, 4, true},  /* below the capacity */
	{200000, 100000, 0.01, false, 4, true}, /* past it */
	{100000, 20000, 0.01, true, 4, true},
	{3000, 3000, 0.01, false, 4, false},
};

static const part_measure part_measures[] = {
	{34, 3}, {34, 64}, {34, 100}, {40, 3}, {40, 64}, {40, 100},
};

int
main(void)
{
	check_begin("core rates");
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
	{
		const measure *r = &measures[i];

		check_case(run_rate, r, "rate, %zu items, capacity %lld, fpr %g, %s b %d, %s", r->items,
				   (long long)r->capacity, r->fpr, r->plain ? "plain" : "semi-sorted",
				   r->bucket_size, r->one_by_one ? "one by one" : "aggregate");
	}
	for (size_t i = 0; i < sizeof part_measures / sizeof *part_measures; i++)
		check_case(run_part, &part_measures[i], "rate of one of %lu parts, w %d",
				   (unsigned long)part_measures[i].parts, part_measures[i].w);
	check_case(run_exact, NULL, "exact hashes");
	return check_end();
}
