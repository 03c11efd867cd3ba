/*
 * load.c - figure 2: the load factor at the first failed insert, by fingerprint bits, for buckets
 * of 4 and 8 slots and several table sizes.
 *
 * Nothing is timed, so the shapes run on all processors in parallel.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "engine.h"
#include "keys.h"
#include "reference/cf.h"

#define AHEAD 16 /* keys whose buckets are on their way */

typedef struct shape
{
	bool ours;
	unsigned b, f, log_buckets;
} shape;

/* The paper's filter, key by key. */
static double
fill_reference(const shape *s)
{
	uint64_t slots = (uint64_t)s->b << s->log_buckets;
	uint64_t n = 0;
	cf t;

	if (!cf_shape_init(&t, (slots * s->f + 7) / 8, s->b, s->f))
		bench_fail("no memory for 2^%u buckets", s->log_buckets);
	do
	{
		uint64_t hash = ref_hash(key_at(s->f, n + AHEAD));
		uint64_t first = ref_first(hash, t.buckets);
		uint64_t other = ref_other(first, ref_fingerprint(hash, s->f), t.buckets);

		__builtin_prefetch(t.bits + first * s->b * s->f / 8);
		__builtin_prefetch(t.bits + other * s->b * s->f / 8);
	} while (cf_shape_add(&t, key_at(s->f, n), s->b, s->f) && ++n);
	cf_free(&t);
	return (double)n / (double)slots;
}

/*
 * Ours, in a table of about so many buckets: emptied, and filled by adds up to
 * the first that asks for more room.  The engine chooses f for itself; the
 * table is the first, by the items that it is made for, where that is s->f.
 */
static double
fill_ours(const shape *s)
{
	double slots = ldexp(s->b, (int)s->log_buckets);
	double prefixes = ldexp(1, (int)(s->f + s->log_buckets - 1));
	double load = 0;

	for (double part = s->f < 8 ? 0.8 : 0.95; part < 1.05 && load == 0; part += 0.01)
	{
		size_t n = (size_t)(slots * part);
		ckf_params params = engine_params((double)n * 1.13 / prefixes, n, true, s->b);
		ckf_info info;
		engine e;

		engine_make_room(&e, &params, n);
		ckf_get_info(&e.filter, &info);
		if (info.fingerprint_bits == (int)s->f)
		{
			for (uint64_t i = 0; load == 0; i++)
				if (ckf_add(&e.filter, ckf_hash_integer((int64_t)key_at(s->f, i), 0),
							CKF_ITEM_NUMBER) != CKF_OK)
				{
					ckf_get_info(&e.filter, &info);
					load = info.load_factor;
				}
		}
		engine_destroy(&e);
	}
	return load;
}

static size_t
list_shapes(shape *list)
{
	static const unsigned bits[] = {2, 4, 6, 8, 10, 12, 14, 16, 18, 20};
	static const unsigned sizes[] = {15, 20, 25};
	unsigned most = bench_quick() ? 15 : 20;
	size_t n = 0;

	for (unsigned b = 4; b <= 8; b += 4)
		for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
			for (unsigned j = 0; j < sizeof bits / sizeof *bits; j++)
			{
				/* of the largest, those that differ; table 3 has f = 12 */
				bool large = !bench_quick() && b == 4 && bits[j] <= 8;

				if (sizes[i] <= most || large)
					list[n++] = (shape){false, b, bits[j], sizes[i]};
				if (sizes[i] <= most && bits[j] >= 4)
					list[n++] = (shape){true, b, bits[j], sizes[i]};
			}
	return n;
}

/* Every workers-th shape from the worker's number on, the largest first. */
static void
work(FILE *csv, const shape *list, size_t n, unsigned worker, unsigned workers)
{
	for (size_t i = n; i-- > 0;)
	{
		const shape *s = &list[i];

		if (i % workers != worker)
			continue;
		fprintf(csv, "%s,%u,%u,%u,%.4f\n", s->ours ? "ours" : "CF", s->b, s->log_buckets, s->f,
				s->ours ? fill_ours(s) : fill_reference(s));
		fflush(csv);
	}
}

int
main(int argc, char **argv)
{
	static shape list[128];
	size_t n = list_shapes(list);
	unsigned workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	int failed = 0, status;
	FILE *csv;

	if (argc != 2)
		bench_fail("usage: %s DIRECTORY", argv[0]);
	csv = bench_csv(argv[1], "load", "filter,b,log_buckets,f,load");
	fflush(csv);
	bench_say("load factors of %zu shapes", n);
	for (unsigned worker = 0; worker < workers; worker++)
		if (fork() == 0)
		{
			work(csv, list, n, worker, workers);
			_exit(0);
		}
	while (wait(&status) > 0)
		failed |= status;
	bench_say("load factors done");
	return failed != 0;
}
