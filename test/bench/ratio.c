/*
 * ratio.c - our filters beside the paper's CF and ss-CF, round by round, so
 * that ratios can be taken within a round: everything in cache; and at ten
 * million items the same, bulk build, growth and union (QUICK=1: one million).
 */
#include <stdlib.h>

#include "bench.h"
#include "engine.h"
#include "keys.h"
#include "subject.h"

#define SMALL_BYTES (UINT64_C(3) << 19) /* 2^18 buckets of 48 bits */

/* Streams of keys. */
enum
{
	PRESENT = 1,
	ABSENT = 2
};

static FILE *csv;
static unsigned rounds;

/* The speed of what began at `start`; `where` is a prefix of the measure's name. */
static void
note_where(const char *where, const char *measure, const char *who, unsigned round, double n,
		   double start)
{
	double seconds = bench_now() - start;

	fprintf(csv, "%s%s,%s,%u,%.3f\n", where, measure, who, round, n / seconds * 1e-6);
}

static void
note(const char *measure, const char *who, unsigned round, double n, double start)
{
	note_where("", measure, who, round, n, start);
}

/* --------------------------------------- one by one, in cache and past it */

/* One subject's turn: filled, asked, emptied. */
static void
turn_single(const subject *s, void *filter, const char *where, unsigned round, const uint64_t *keys,
			const uint64_t *absent, size_t n)
{
	size_t done;
	double start = bench_now();

	done = s->add(filter, keys, n);
	note_where(where, "insert", s->name, round, (double)n, start);
	start = bench_now();
	done += s->contains(filter, keys, n);
	note_where(where, "found", s->name, round, (double)n, start);
	start = bench_now();
	if (s->contains(filter, absent, n) > n / 100)
		bench_fail("%s: too many false positives", s->name);
	note_where(where, "missed", s->name, round, (double)n, start);
	if (s->contains_many != NULL)
	{
		start = bench_now();
		if (s->contains_many(filter, keys, n) != n)
			bench_fail("%s: an item is missing", s->name);
		note_where(where, "found batched", s->name, round, (double)n, start);
		start = bench_now();
		if (s->contains_many(filter, absent, n) > n / 100)
			bench_fail("%s: too many false positives", s->name);
		note_where(where, "missed batched", s->name, round, (double)n, start);
	}
	start = bench_now();
	done += s->remove(filter, keys, n);
	note_where(where, "remove", s->name, round, (double)n, start);
	if (done != 3 * n)
		bench_fail("%s: lost items", s->name);
}

static void
measure_small(void)
{
	const subject *who[] = {&references[0], &references[1], &engines[0], &engines[1]};
	size_t n = (size_t)(FULL_CUCKOO * (double)subject_slots(SMALL_BYTES));
	uint64_t *keys = bench_memory(8 * n), *absent = bench_memory(8 * n);
	void *filters[4];

	keys_fill(keys, n, PRESENT, 0);
	keys_fill(absent, n, ABSENT, 0);
	for (unsigned i = 0; i < 4; i++)
		filters[i] = who[i]->create(SMALL_BYTES);
	for (unsigned round = 0; round < 5 * rounds; round++)
		for (unsigned i = 0; i < 4; i++)
			turn_single(who[i], filters[i], "", round, keys, absent, n);
	for (unsigned i = 0; i < 4; i++)
		who[i]->destroy(filters[i]);
	free(keys);
	free(absent);
	bench_say("%zu items: lookups, inserts, deletes", n);
}

/* The paper's CF or ss-CF, in the smallest power of two of buckets that holds n items. */
static void *
reference_of(const subject *s, size_t n)
{
	uint64_t bytes = 6;

	while ((double)subject_slots(bytes) * FULL_CUCKOO < (double)n)
		bytes *= 2;
	return s->create(bytes);
}

/* Each subject is made for n items. */
static void
measure_single(const uint64_t *keys, size_t n)
{
	const subject *who[] = {&references[0], &references[1], &engines[0], &engines[1]};
	uint64_t *absent = bench_memory(8 * n);
	ckf_params params;
	engine ours[2];
	void *filters[4];

	keys_fill(absent, n, ABSENT, 0);
	for (unsigned i = 0; i < 2; i++)
	{
		filters[i] = reference_of(who[i], n);
		params = engine_params(i == 0 ? 0.0019 : 0.00095, n, i == 0, 4);
		engine_make_room(&ours[i], &params, n);
		filters[2 + i] = &ours[i];
	}
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 4; i++)
			turn_single(who[i], filters[i], "large ", round, keys, absent, n);
	for (unsigned i = 0; i < 2; i++)
	{
		who[i]->destroy(filters[i]);
		engine_destroy(&ours[i]);
	}
	free(absent);
	bench_say("%zu items: lookups, inserts, deletes", n);
}

/* ----------------------------------------- bulk build, growth, union */

static void
turn_cf(unsigned round, const uint64_t *keys, size_t n)
{
	void *filter;
	double start;

	filter = reference_of(&references[0], n);
	start = bench_now();
	if (references[0].add(filter, keys, n) != n)
		bench_fail("CF is full");
	note("build", "CF", round, (double)n, start);
	references[0].destroy(filter);
}

static void
turn_build(const ckf_params *params, const char *who, unsigned round, const uint64_t *keys,
		   size_t n)
{
	uint64_t *room = bench_memory(8 * n);
	double start = bench_now();
	engine sorted, built;

	engine_bulk(&built, params, keys, n, room);
	note("bulk", who, round, (double)n, start);
	free(room);
	engine_destroy(&built);
	engine_sorted(&sorted, params, keys, n);
	start = bench_now();
	engine_rebuild(&built, CKF_FINISH, &sorted, NULL);
	note("place", who, round, (double)n, start);
	engine_destroy(&sorted);
	engine_destroy(&built);
	start = bench_now();
	engine_aggregate(&built, params, keys, n);
	note("aggregate", who, round, (double)n, start);
	engine_destroy(&built);
}

static void
turn_growth(const ckf_params *params, const char *who, unsigned round, const uint64_t *keys,
			size_t n)
{
	engine filter;
	double start;

	engine_create(&filter, params);
	start = bench_now();
	engine_add(&filter, keys, n);
	note("grow", who, round, (double)n, start);
	engine_destroy(&filter);
	engine_make_room(&filter, params, n);
	start = bench_now();
	engine_add(&filter, keys, n);
	note("large enough", who, round, (double)n, start);
	engine_destroy(&filter);
}

static void
turn_union(const ckf_params *params, const char *who, unsigned round, const uint64_t *keys,
		   size_t n)
{
	engine a, b, both;
	double start;

	engine_aggregate(&a, params, keys, n / 2);
	engine_aggregate(&b, params, keys + n / 2, n / 2);
	start = bench_now();
	engine_rebuild(&both, CKF_UNION, &a, &b);
	note("union", who, round, (double)n, start);
	if (engine_contains_many(&both, keys, n) != n)
		bench_fail("%s: a union lost items", who);
	engine_destroy(&a);
	engine_destroy(&b);
	engine_destroy(&both);
}

static void
measure_large(void)
{
	size_t n = bench_quick() ? 1000000 : 10000000;
	uint64_t *keys = bench_memory(8 * n);

	keys_fill(keys, n, PRESENT, 0);
	measure_single(keys, n);
	for (unsigned round = 0; round < rounds; round++)
	{
		turn_cf(round, keys, n);
		for (unsigned plain = 0; plain < 2; plain++)
		{
			const char *who = plain ? "plain" : "semi-sorted";
			ckf_params params = engine_params(plain ? 0.0019 : 0.00095, n, plain, 4);

			turn_build(&params, who, round, keys, n);
			turn_growth(&params, who, round, keys, n);
			turn_union(&params, who, round, keys, n);
		}
		bench_say("%zu items: build, growth, union, round %u of %u", n, round + 1, rounds);
	}
	free(keys);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		bench_fail("usage: %s DIRECTORY", argv[0]);
	rounds = bench_quick() ? 1 : 3;
	csv = bench_csv(argv[1], "ratio", "measure,filter,round,speed");
	measure_small();
	measure_large();
	fclose(csv);
	return 0;
}
