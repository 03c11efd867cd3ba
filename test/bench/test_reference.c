/*
 * test_reference.c - checks the six reference filters: no false negatives, the false positive rate
 * of the theory, removals that keep the other items, the paper's load factors.  SEED=n replays a
 * run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "keys.h"
#include "subject.h"
#include "reference/cf.h"
#include "reference/dl_cbf.h"
#include "reference/qf.h"
#include "reference/ss_cf.h"

#define BYTES (UINT64_C(3) << 18) /* 2^17 buckets of 48 bits; 2^19 slots */
#define SLOTS (BYTES * 8 / 12)
#define PROBES 2000000

static uint64_t seed;
static unsigned passed, failed;

static void
check(int ok, const char *who, const char *what)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		printf("FAILED: %s: %s (SEED=%llu)\n", who, what, (unsigned long long)seed);
	}
}

/* -------------------------------------------------------------- the rates */

/* What theory expects of a filter that holds n items. */
static double
theory(const subject *s, double n)
{
	static const double positions = 8 * 64;
	double sum = 0, chance;

	switch (s - references)
	{
		case 0: /* CF: 2b slots, an upper and nearly exact bound (paper, section 5.1) */
			return 1 - pow(1 - pow(2, -CF_BITS), 2 * CF_SLOTS * n / SLOTS);
		case 1: /* ss-CF */
			return 1 - pow(1 - pow(2, -SS_CF_BITS), 8 * n / SLOTS);
		case 2: /* BF */
			return pow(1 - exp(-9 * n / (8 * (double)BYTES)), 9);
		case 3: /* blk-BF: blocks hold a Poisson number of items */
			chance = exp(-n * 64 / BYTES);
			for (int items = 0; items < 200; items++)
			{
				sum += chance * pow(1 - pow(1 - 1 / positions, 9 * items), 9);
				chance *= n * 64 / BYTES / (items + 1);
			}
			return sum;
		case 4: /* QF: an item of the same quotient with the same remainder */
			return 1 - exp(-n / SLOTS / (1 << QF_REMAINDER));
		default: /* dl-CBF: an item of the same fingerprint */
			return 1 - exp(-16 * n / SLOTS / (1 << DL_CBF_REMAINDER));
	}
}

static void
test_rates(const subject *s, const uint64_t *keys, const uint64_t *absent)
{
	void *filter = s->create(BYTES);
	size_t added = s->add(filter, keys, SLOTS);
	double rate = (double)s->contains(filter, absent, PROBES) / PROBES;
	double expected = theory(s, (double)added);

	printf("%-7s full at %6zu items, %5.2f bits an item, rate %.4f %%, theory %.4f %%\n", s->name,
		   added, 8 * (double)s->bytes(filter) / (double)added, 100 * rate, 100 * expected);
	check(s->bytes(filter) == BYTES, s->name, "the table has the bytes asked for");
	check(s->count(filter) == added, s->name, "count is the items added");
	check(s->contains(filter, keys, added) == added, s->name, "no false negative when full");
	check(fabs(rate / expected - 1) < 0.15, s->name, "the rate is what theory says");
	s->destroy(filter);
}

/* ------------------------------------------------------------ removal */

/* Fill, then replace items at random, and at last take all of them out. */
static void
test_removal(const subject *s, uint64_t *keys, const uint64_t *absent)
{
	void *filter = s->create(BYTES);
	size_t n = SLOTS * 5 / 8; /* what dl-CBF can keep up, too */
	uint64_t fresh = SLOTS;

	check(s->add(filter, keys, n) == n, s->name, "five eighths fit");
	for (int round = 0; round < 8; round++)
	{
		size_t ok = 0;

		for (size_t i = 0; i < n / 8; i++)
		{
			size_t at = key_at(seed + 2, (uint64_t)round * n + i) % n;

			ok += s->remove(filter, &keys[at], 1);
			keys[at] = key_at(seed, fresh++);
			ok += s->add(filter, &keys[at], 1);
		}
		check(ok == 2 * (n / 8), s->name, "every item is found and replaced");
		check(s->contains(filter, keys, n) == n, s->name, "no false negative after removals");
	}
	check(s->remove(filter, keys, n) == n, s->name, "every item can be taken out");
	check(s->count(filter) == 0, s->name, "count is 0 at the end");
	check(s->contains(filter, absent, PROBES) <= PROBES / 1000, s->name, "nothing is left");
	s->destroy(filter);
}

/* QF and dl-CBF are multisets of fingerprints, so an oracle is exact. */
static void
test_exact(void)
{
	enum
	{
		quotient_bits = 9,
		fingerprints = 1 << (quotient_bits + QF_REMAINDER),
		keys = 4000
	};
	static uint8_t oracle[fingerprints];
	static uint8_t present[keys];
	size_t wrong = 0;
	qf filter;

	check(qf_init(&filter, (1 << quotient_bits) * QF_SLOT / 8), "QF", "memory");
	for (uint64_t step = 0; step < 200000; step++)
	{
		size_t i = key_at(seed + 3, step) % keys;
		uint64_t key = key_at(seed + 4, i);
		uint64_t quotient;
		uint32_t remainder;
		uint8_t *copies;

		qf_split(&filter, key, &quotient, &remainder);
		copies = &oracle[quotient << QF_REMAINDER | remainder];
		wrong += qf_contains(&filter, key) != (*copies > 0);
		if (present[i])
		{
			wrong += !qf_remove(&filter, key);
			present[i] = 0;
			--*copies;
		}
		else if (qf_add(&filter, key))
		{
			present[i] = 1;
			++*copies;
		}
		else
			wrong += filter.count != filter.most;
	}
	check(wrong == 0, "QF", "agrees with an exact multiset at each of 200,000 steps");
	qf_free(&filter);
}

/* ------------------------------------------------------------ load factors */

static double
load_factor(unsigned b, unsigned f, unsigned log_buckets)
{
	uint64_t slots = (uint64_t)b << log_buckets;
	uint64_t n = 0;
	cf filter;

	if (!cf_shape_init(&filter, (slots * f + 7) / 8, b, f))
		return 0;
	while (cf_shape_add(&filter, key_at(seed, n), b, f))
		n++;
	for (uint64_t i = 0; i < n; i++)
		if (!cf_shape_contains(&filter, key_at(seed, i), b, f))
			check(0, "CF", "no false negative after a failed insert");
	cf_free(&filter);
	return (double)n / (double)slots;
}

/*
 * The paper's: at 2^25 buckets of 4; they depend little on size from f = 6 on.  The first item
 * without a place ends a run, so that runs differ: at f = 2 from 0.13 to 0.21 in 60 of them.
 */
static void
test_load_factors(void)
{
	static const struct
	{
		unsigned b, f, log_buckets;
		double low, high;
	} shape[] = {
		{4, 2, 25, 0.08, 0.28},  {4, 6, 17, 0.94, 0.98},  {4, 8, 17, 0.94, 0.98},
		{4, 12, 17, 0.94, 0.98}, {4, 16, 17, 0.94, 0.98}, {8, 12, 16, 0.97, 1},
		{8, 16, 16, 0.97, 1},    {2, 12, 17, 0.83, 0.91},
	};

	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
	{
		double load = load_factor(shape[i].b, shape[i].f, shape[i].log_buckets);
		char what[80];

		snprintf(what, sizeof what, "load factor at b = %u, f = %u, 2^%u buckets: %.3f", shape[i].b,
				 shape[i].f, shape[i].log_buckets, load);
		printf("CF      %s\n", what);
		check(load >= shape[i].low && load <= shape[i].high, "CF", what);
	}
}

int
main(void)
{
	const char *given = getenv("SEED");
	uint64_t *keys = malloc(SLOTS * sizeof *keys);
	uint64_t *absent = malloc(PROBES * sizeof *absent);

	if (keys == NULL || absent == NULL)
		return 2;
	/* every part has streams of its own: seed to seed + 4 */
	seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) % 1000000 * 8;
	printf("SEED=%llu\n", (unsigned long long)seed);
	keys_fill(absent, PROBES, seed + 1, 0);
	for (const subject *s = references; s < references + REFERENCES; s++)
	{
		keys_fill(keys, SLOTS, seed, 0);
		test_rates(s, keys, absent);
		if (s->remove != NULL)
			test_removal(s, keys, absent);
	}
	test_exact();
	test_load_factors();
	free(keys);
	free(absent);
	printf("reference filters: %u passed, %u failed\n", passed, failed);
	return failed > 0;
}
