/*
 * space.c - bits for each item against the false positive rate: measured for figures 3 and 4
 * (space.csv), and what each filter needs for a requested rate, for many numbers of items
 * (equal.csv).
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "engine.h"
#include "keys.h"
#include "reference/cf.h"
#include "reference/ss_cf.h"

/* Streams of keys. */
enum
{
	PRESENT = 1,
	ABSENT = 2
};

static size_t probes;

static void
write_point(FILE *csv, const char *filter, unsigned b, double rate, double bits)
{
	if (rate > 0)
		fprintf(csv, "%s,%u,%.9f,%.4f\n", filter, b, rate, bits);
}

/* ------------------------------------------ measured: full reference tables */

static void
measure_cf(FILE *csv, unsigned b, unsigned f, uint64_t slots)
{
	uint64_t n = 0;
	size_t positive = 0;
	cf t;

	if (!cf_shape_init(&t, slots * f / 8, b, f))
		bench_fail("no memory");
	while (cf_shape_add(&t, key_at(PRESENT, n), b, f))
		n++;
	for (size_t i = 0; i < probes; i++)
		positive += cf_shape_contains(&t, key_at(ABSENT, i), b, f);
	write_point(csv, "CF", b, (double)positive / (double)probes, 8 * (double)t.bytes / (double)n);
	cf_free(&t);
}

static void
measure_ss_cf(FILE *csv, unsigned f, uint64_t slots)
{
	uint64_t n = 0;
	size_t positive = 0;
	ss_cf t;

	if (!ss_cf_shape_init(&t, slots * (f - 1) / 8, f))
		bench_fail("no memory");
	while (ss_cf_shape_add(&t, key_at(PRESENT, n), f))
		n++;
	for (size_t i = 0; i < probes; i++)
		positive += ss_cf_shape_contains(&t, key_at(ABSENT, i), f);
	write_point(csv, "ss-CF", 4, (double)positive / (double)probes,
				8 * (double)t.bytes / (double)n);
	ss_cf_free(&t);
}

/* -------------------------------------------------------- measured: ours */

/* Four sizes to an octave, since the rate goes by n / 2^w. */
static void
measure_ours(FILE *csv, const char *name, bool plain, unsigned b, size_t items,
			 const uint64_t *keys)
{
	uint64_t *absent = bench_memory(8 * probes);

	keys_fill(absent, probes, ABSENT, 0);
	for (unsigned octave = 2; octave <= 17; octave++)
		for (unsigned quarter = 0; quarter < 4; quarter++)
		{
			size_t n = (size_t)((double)items * exp2(-(double)quarter / 4));
			ckf_params params = engine_params(exp2(-(double)octave), n, plain, b);
			engine e;

			engine_aggregate(&e, &params, keys, n);
			if (engine_contains_many(&e, keys, n) != n)
				bench_fail("%s: an item is missing", name);
			write_point(csv, name, b,
						(double)engine_contains_many(&e, absent, probes) / (double)probes,
						engine_bits_per_item(&e));
			engine_destroy(&e);
		}
	free(absent);
	bench_say("space measured: %s, b = %u", name, b);
}

static void
measure(const char *directory)
{
	FILE *csv = bench_csv(directory, "space", "filter,b,fpr,bits_per_item");
	size_t items = bench_quick() ? 50000 : 400000;
	uint64_t slots = bench_quick() ? 1 << 16 : 1 << 19;
	uint64_t *keys = bench_memory(8 * items);

	probes = bench_quick() ? 500000 : 4000000;
	keys_fill(keys, items, PRESENT, 0);
	for (unsigned b = 2; b <= 8; b *= 2)
		for (unsigned f = 4; f <= 18; f++)
			measure_cf(csv, b, f, slots);
	for (unsigned f = 6; f <= 17; f++)
		measure_ss_cf(csv, f, slots);
	bench_say("space measured: CF, ss-CF");
	for (unsigned b = 2; b <= 8; b *= 2)
		measure_ours(csv, "plain", true, b, items, keys);
	measure_ours(csv, "semi-sorted", false, 4, items, keys);
	free(keys);
	fclose(csv);
}

/* --------------------------------------------------- what a rate asks for */

/* A Bloom filter with the best whole number of hash functions. */
static double
bf_bits(double rate)
{
	double best = INFINITY;

	for (int k = 1; k <= 40; k++)
		best = fmin(best, -k / log(1 - pow(rate, 1.0 / k)));
	return best;
}

static double
blk_bf_rate(double bits, int k)
{
	const double block = 512;
	double items = block / bits;
	double chance = exp(-items), rate = 0;

	for (int i = 0; i <= items + 12 * sqrt(items); i++)
	{
		rate += chance * pow(1 - pow(1 - 1 / block, k * i), k);
		chance *= items / (i + 1);
	}
	return rate;
}

static double
blk_bf_bits(double rate)
{
	double best = INFINITY;

	for (int k = 1; k <= 24; k++)
	{
		double low = 1, high = 64;

		while (high - low > 0.001)
		{
			double middle = (low + high) / 2;

			if (blk_bf_rate(middle, k) <= rate)
				high = middle;
			else
				low = middle;
		}
		best = fmin(best, high);
	}
	return best;
}

/* A filter of n items, and what the Bloom filters need for the rate it has. */
static void
write_equal(FILE *csv, double target, double n, const char *filter, double bits, double rate)
{
	fprintf(csv, "%g,%.0f,%s,%.4f,%.9f,%.4f,%.4f\n", target, n, filter, bits, rate, bf_bits(rate),
			blk_bf_bits(rate));
}

/* The paper's filters: a power of two of buckets, at most 95.5 % full, and the
 * fewest bits whose rate is low enough; a semi-sorted slot saves one. */
static void
write_cuckoo(FILE *csv, double target, double n)
{
	double slots = 4, rate = 1;
	unsigned f = 4;

	while (slots * 0.955 < n)
		slots *= 2;
	for (; rate > target; f++)
		rate = 1 - pow(1 - ldexp(1, -(int)f), 8 * n / slots);
	f--;
	write_equal(csv, target, n, "CF", f * slots / n, rate);
	write_equal(csv, target, n, "ss-CF", (f - 1) * slots / n, rate);
}

static void
write_ours(FILE *csv, double target, size_t n, bool plain)
{
	ckf_params params = engine_params(target, n, plain, 4);
	engine e;

	engine_spread(&e, &params, n);
	write_equal(csv, target, (double)n, plain ? "plain" : "semi-sorted", engine_bits_per_item(&e),
				ckf_fpr(&e.filter));
	engine_destroy(&e);
}

static void
compare_equal(const char *directory)
{
	static const double targets[] = {0.01, 0.001, 0.0001};
	FILE *csv =
		bench_csv(directory, "equal", "target,items,filter,bits_per_item,fpr,bf_bits,blk_bf_bits");
	unsigned last = bench_quick() ? 10 : 20;

	for (unsigned i = 0; i <= last; i++)
	{
		size_t n = (size_t)round(pow(10, 5 + i / 10.0));

		for (unsigned j = 0; j < 3; j++)
		{
			write_cuckoo(csv, targets[j], (double)n);
			write_ours(csv, targets[j], n, true);
			write_ours(csv, targets[j], n, false);
		}
	}
	fclose(csv);
	bench_say("bits an item at equal rates");
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		bench_fail("usage: %s DIRECTORY", argv[0]);
	measure(argv[1]);
	compare_equal(argv[1]);
	return 0;
}
