/*
 * speed.c - the paper's evaluation at one size: table 3 and figures 5 to 8.
 *
 * Eight filters of the same bytes (192 MB; QUICK=1: 3 MB) take turns at every step, so that other
 * load on the machine disturbs all of them equally.  They are filled from empty to full in 20
 * steps; at each step they are queried, and some items are removed and added again.  Then they are
 * queried with keys of which a share is present, and filled to the first failure.  Finally our
 * filters are built in bulk.
 */
#include <stdlib.h>

#include "bench.h"
#include "engine.h"
#include "keys.h"
#include "subject.h"

#define SUBJECTS (REFERENCES + ENGINES)
#define STEPS 20
#define SHARES 5
#define BLOCK 1000000 /* keys of one timed loop */
#define MAX_BLOCKS 64 /* of a step */
#define ROUNDS 5

/* Streams of keys. */
enum
{
	PRESENT = 1,
	ABSENT = 2,
	CHOICE = 3
};

typedef struct run
{
	const subject *s;
	void *filter;
	uint64_t full;
	/* seconds a key, at each step of occupancy: medians */
	double insert[STEPS + 1], remove[STEPS + 1], found[STEPS + 1], missed[STEPS + 1];
	/* and when full, by share of keys present */
	double share[SHARES], share_many[SHARES];
	double construction; /* seconds, all inserts up to full */
	uint64_t held;       /* items at the first failure */
	double rate;         /* false positives there */
} run;

static run runs[SUBJECTS];
static uint64_t *block; /* BLOCK keys */
static size_t sample;   /* keys of a timed lookup */
static uint64_t absent; /* keys of stream ABSENT that were used up */

static uint64_t
step_items(const run *r, unsigned step)
{
	return r->full * step / STEPS;
}

/* Time one loop over items of a stream; all of them must be done. */
static double
time_items(const run *r, uint64_t first, size_t n, size_t (*act)(void *, const uint64_t *, size_t))
{
	double start;

	keys_fill(block, n, PRESENT, first);
	start = bench_now();
	if (act(r->filter, block, n) != n)
		bench_fail("%s: not all of %zu items", r->s->name, n);
	return bench_now() - start;
}

/* Add the items of a step, block by block. */
static void
insert_step(run *r, unsigned step)
{
	uint64_t first = step_items(r, step - 1), last = step_items(r, step);
	double times[MAX_BLOCKS];
	size_t blocks = 0;

	while (first < last)
	{
		size_t n = last - first < BLOCK ? (size_t)(last - first) : BLOCK;
		double time = time_items(r, first, n, r->s->add);

		r->construction += time;
		if (blocks < MAX_BLOCKS)
			times[blocks++] = time / (double)n;
		first += n;
	}
	r->insert[step] = bench_median(times, blocks);
}

/* Keys of which a share, in per cent, is among the first `items`. */
static void
fill_share(uint64_t items, unsigned share)
{
	for (size_t i = 0; i < sample; i++)
	{
		uint64_t choice = key_at(CHOICE, absent++);

		block[i] =
			choice % 100 < share ? key_at(PRESENT, (choice >> 8) % items) : key_at(ABSENT, absent);
	}
}

static double
time_lookups(const run *r, size_t (*ask)(const void *, const uint64_t *, size_t))
{
	double start = bench_now();

	if (ask(r->filter, block, sample) > sample)
		bench_fail("%s: more than all", r->s->name);
	return (bench_now() - start) / (double)sample;
}

/* Lookups at one step and share, one by one and at once: the filters in turn,
 * for some rounds. */
static void
lookup_step(unsigned step, unsigned share, double *one, double *many)
{
	static double times[SUBJECTS][2][ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < SUBJECTS; i++)
		{
			const run *r = &runs[i];

			fill_share(step_items(r, step), share);
			times[i][0][round] = time_lookups(r, r->s->contains);
			if (r->s->contains_many != NULL)
				times[i][1][round] = time_lookups(r, r->s->contains_many);
		}
	for (unsigned i = 0; i < SUBJECTS; i++)
	{
		one[i] = bench_median(times[i][0], ROUNDS);
		many[i] = bench_median(times[i][1], ROUNDS);
	}
}

/* Take the oldest items out, and put them back. */
static void
remove_step(run *r, unsigned step)
{
	double times[ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
	{
		times[round] = time_items(r, round * sample, sample, r->s->remove) / (double)sample;
		time_items(r, round * sample, sample, r->s->add);
	}
	r->remove[step] = bench_median(times, ROUNDS);
}

static void
fill_steps(void)
{
	double found[SUBJECTS], missed[SUBJECTS], unused[SUBJECTS];

	for (unsigned step = 1; step <= STEPS; step++)
	{
		for (run *r = runs; r < runs + SUBJECTS; r++)
			insert_step(r, step);
		lookup_step(step, 100, found, unused);
		lookup_step(step, 0, missed, unused);
		for (unsigned i = 0; i < SUBJECTS; i++)
		{
			runs[i].found[step] = found[i];
			runs[i].missed[step] = missed[i];
			if (runs[i].s->remove != NULL)
				remove_step(&runs[i], step);
		}
		bench_say("filled %u %%", step * 100 / STEPS);
	}
}

static void
ask_shares(void)
{
	double one[SUBJECTS], many[SUBJECTS];

	for (unsigned share = 0; share < SHARES; share++)
	{
		lookup_step(STEPS, 100 / (SHARES - 1) * share, one, many);
		for (unsigned i = 0; i < SUBJECTS; i++)
		{
			runs[i].share[share] = one[i];
			runs[i].share_many[share] = many[i];
		}
	}
	bench_say("asked for shares of present keys");
}

/* On to the first failure, and the rate there. */
static void
fill_up(run *r, size_t probes)
{
	size_t positive = 0;
	uint64_t key;

	r->held = r->full;
	do
		key = key_at(PRESENT, r->held);
	while (r->s->add(r->filter, &key, 1) == 1 && ++r->held < 2 * r->full);
	for (size_t asked = 0; asked < probes; asked += BLOCK)
	{
		keys_fill(block, BLOCK, ABSENT, absent);
		absent += BLOCK;
		positive += r->s->contains(r->filter, block, BLOCK);
	}
	r->rate = (double)positive / (double)probes;
	bench_say("%s: full at %llu items", r->s->name, (unsigned long long)r->held);
}

static double
million(double seconds_a_key)
{
	return seconds_a_key > 0 ? 1e-6 / seconds_a_key : 0;
}

static void
write_results(const char *directory, uint64_t bytes)
{
	FILE *table =
		bench_csv(directory, "table3", "filter,bytes,items,bits_per_item,fpr,construct,remove");
	FILE *steps = bench_csv(directory, "occupancy", "filter,occupancy,insert,found,missed,remove");
	FILE *shares = bench_csv(directory, "shares", "filter,share,lookup,batched");

	for (const run *r = runs; r < runs + SUBJECTS; r++)
	{
		fprintf(table, "%s,%llu,%llu,%.3f,%.7f,%.3f,%.3f\n", r->s->name,
				(unsigned long long)r->s->bytes(r->filter), (unsigned long long)r->held,
				8 * (double)r->s->bytes(r->filter) / (double)r->held, r->rate,
				million(r->construction / (double)r->full), million(r->remove[STEPS]));
		for (unsigned i = 1; i <= STEPS; i++)
			fprintf(steps, "%s,%.4f,%.3f,%.3f,%.3f,%.3f\n", r->s->name,
					(double)step_items(r, i) / (double)subject_slots(bytes), million(r->insert[i]),
					million(r->found[i]), million(r->missed[i]), million(r->remove[i]));
		for (unsigned i = 0; i < SHARES; i++)
			fprintf(shares, "%s,%u,%.3f,%.3f\n", r->s->name, 100 / (SHARES - 1) * i,
					million(r->share[i]), million(r->share_many[i]));
	}
	fclose(table);
	fclose(steps);
	fclose(shares);
}

/* ------------------------------------------------------------ bulk builds */

/* All keys at once: hashed, sorted, placed; and placed alone. */
static void
bulk_build(FILE *csv, bool plain, uint64_t n, const uint64_t *keys)
{
	ckf_params params = engine_params(plain ? 0.0019 : 0.00095, n, plain, 4);
	const char *name = plain ? "plain" : "semi-sorted";
	uint64_t *room = bench_memory(8 * n);
	double start = bench_now(), all, placing;
	engine sorted, built;

	engine_bulk(&built, &params, keys, n, room);
	all = (double)n / (bench_now() - start) * 1e-6;
	free(room);
	engine_destroy(&built);
	engine_sorted(&sorted, &params, keys, n);
	start = bench_now();
	engine_rebuild(&built, CKF_FINISH, &sorted, NULL);
	placing = (double)n / (bench_now() - start) * 1e-6;
	fprintf(csv, "%s,%llu,%.3f,%.3f\n", name, (unsigned long long)n, all, placing);
	bench_say("bulk build, %s: %.1f M/s, placing alone %.1f M/s", name, all, placing);
	engine_destroy(&sorted);
	engine_destroy(&built);
}

static void
bulk_builds(const char *directory, uint64_t n)
{
	FILE *csv = bench_csv(directory, "bulk", "filter,items,all,placing");
	uint64_t *keys = bench_memory(8 * n);

	keys_fill(keys, n, PRESENT, 0);
	bulk_build(csv, true, n, keys);
	bulk_build(csv, false, n, keys);
	free(keys);
	fclose(csv);
}

int
main(int argc, char **argv)
{
	uint64_t bytes = bench_quick() ? UINT64_C(3) << 20 : UINT64_C(192) << 20;

	if (argc != 2)
		bench_fail("usage: %s DIRECTORY", argv[0]);
	sample = bench_quick() ? 16000 : 200000;
	block = bench_memory(8 * BLOCK);
	for (unsigned i = 0; i < SUBJECTS; i++)
	{
		runs[i].s = i < REFERENCES ? &references[i] : &engines[i - REFERENCES];
		runs[i].full = (uint64_t)(runs[i].s->full * (double)subject_slots(bytes));
		runs[i].filter = runs[i].s->create(bytes);
		if (runs[i].filter == NULL)
			bench_fail("no memory for %s", runs[i].s->name);
	}
	bench_say("eight empty filters of %llu MB", (unsigned long long)bytes >> 20);
	fill_steps();
	ask_shares();
	for (run *r = runs; r < runs + SUBJECTS; r++)
		fill_up(r, bench_quick() ? 2 * BLOCK : 10 * BLOCK);
	write_results(argv[1], bytes);
	for (run *r = runs; r < runs + SUBJECTS; r++)
		r->s->destroy(r->filter);
	bulk_builds(argv[1], runs[0].full);
	free(block);
	return 0;
}
