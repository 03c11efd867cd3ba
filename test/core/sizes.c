/*
 * sizes.c - bytes for n items: few bytes for few items, no jumps between neighbouring n, and near
 * the documented figures; and parameters at the ends of their ranges.
 */
#include "drive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct curve
{
	const char *name;
	double fpr;
	bool plain;
	uint8_t bucket_size;
	double items; /* the average is taken over items / 100 .. items */
	double bits;  /* an item, at most */
} curve;

/* The bytes of the aggregate that the state holds now; it may have more items
 * in its queue than its count tells. */
static size_t
finished_size(const owned *state)
{
	owned result;
	size_t size;

	CHECK(run_rebuild(&result, CKF_FINISH, state, NULL) == CKF_OK, "finish");
	size = result.filter.size;
	owned_free(&result);
	return size;
}

static void
fill_to(owned *state, uint64_t *items, uint64_t n)
{
	for (; *items < n; ++*items)
		CHECK(owned_add(state, check_random()) == CKF_OK, "add");
}

/*
 * How much larger 1.01 n items may be than n in `bytes`: where w steps up, a bit
 * more for each item.  Small tables fail to build now and then, and come out a
 * few steps larger.
 */
static double
allowed_step(uint64_t n, size_t bytes)
{
	double one_bit = (double)n / 8;

	return 1.15 * one_bit + (n < 10000 ? 0.2 : 0.03) * (double)bytes + 48;
}

/* The size does not jump between n and 1.01 n. */
static void
run_smooth(const void *arg)
{
	const curve *c = arg;
	ckf_params params = params_of(0, c->fpr, false, c->plain, c->bucket_size);
	uint64_t items = 0, last_n = 0, most = check_rounds(150000);
	size_t last = CKF_HEADER_SIZE;
	double worst = 0;
	owned state;

	owned_state(&state, &params);
	for (uint64_t n = 1; n <= most; n += n < 300 ? 1 : n / 100)
	{
		size_t size;
		double grown;

		fill_to(&state, &items, n);
		size = finished_size(&state);
		grown = (double)size - (double)last;
		CHECK(grown <= allowed_step(n, last), "%llu items: %zu bytes, %llu items: %zu bytes",
			  (unsigned long long)last_n, last, (unsigned long long)n, size);
		CHECK(grown >= -allowed_step(n, last), "%llu items: %zu bytes, %llu items: %zu bytes",
			  (unsigned long long)last_n, last, (unsigned long long)n, size);
		if (n > 10000)
			worst = fmax(worst, grown / (double)last);
		last = size;
		last_n = n;
	}
	check_note("largest step for 1 %% more items: %.1f %% (from 10,000 items on)", 100 * worst);
	owned_free(&state);
}

static void
run_average(const void *arg)
{
	const curve *c = arg;
	ckf_params params = params_of(0, c->fpr, false, c->plain, c->bucket_size);
	double bits = 0, most = c->items * (double)check_rounds(100) / 100;
	unsigned points = 0;
	uint64_t items = 0;
	owned state;

	owned_state(&state, &params);
	for (double n = most / 100; n < most; n *= 1.31, points++)
	{
		fill_to(&state, &items, (uint64_t)n);
		bits += 8.0 * (double)finished_size(&state) / (double)items;
	}
	bits /= points;
	check_note("%.2f bits an item at %g, averaged over %.0e .. %.0e items", bits, c->fpr,
			   most / 100, most);
	/* fewer rounds, fewer items: small tables are a little roomier */
	CHECK(bits <= c->bits * (check_rounds(100) < 100 ? 1.04 : 1), "too many bits");
	owned_free(&state);
}

/* GROUP BY makes millions of filters of a few items. */
static void
run_few(const void *arg)
{
	static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-9};

	(void)arg;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
	{
		ckf_params params = params_of(0, rates[i], false, false, 4);
		owned state;
		uint64_t items = 0;

		owned_state(&state, &params);
		CHECK(finished_size(&state) == CKF_HEADER_SIZE, "an empty aggregate");
		for (uint64_t n = 1; n <= 40; n++)
		{
			fill_to(&state, &items, n);
			CHECK(finished_size(&state) <= CKF_HEADER_SIZE + 8 * n, "%llu items at %g",
				  (unsigned long long)n, rates[i]);
		}
		owned_free(&state);
	}
}

/* Every capacity and rate creates or is refused; none wraps or crashes. */
static void
run_edges(const void *arg)
{
	static const int64_t capacities[] = {INT64_MIN,
										 -1,
										 0,
										 1,
										 2,
										 3,
										 1 << 20,
										 INT64_C(1000000000),
										 CKF_MAX_CAPACITY - 1,
										 CKF_MAX_CAPACITY,
										 CKF_MAX_CAPACITY + 1,
										 INT64_MAX};
	static const double rates[] = {-1,      0,    -0.0,     5e-324,   1e-300,   0x1p-56,
								   0x1p-55, 1e-9, 0.01,     0.5,      0.999999, 1,
								   1.5,     NAN,  INFINITY, -INFINITY};

	(void)arg;
	for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++)
		for (size_t j = 0; j < sizeof rates / sizeof *rates; j++)
		{
			int64_t capacity = capacities[i];
			double rate = rates[j];
			ckf_params params = params_of(capacity, rate, false, false, 4);
			uint8_t *bytes = guard_new(CKF_HEADER_SIZE, 1);
			uint8_t *state = guard_new(CKF_HEADER_SIZE, 1);
			ckf_status expected = CKF_OK, as_state;
			ckf_filter filter;

			if (capacity < 1 || capacity > CKF_MAX_CAPACITY)
				expected = CKF_BAD_CAPACITY;
			else if (!(rate > 0 && rate < 1))
				expected = CKF_BAD_FPR;
			else if ((double)capacity / rate > ldexp(1, CKF_MAX_PREFIX))
				expected = CKF_BAD_TARGET;
			else if ((double)capacity / rate * (1 + 2.0 / 256) > ldexp(1, CKF_MAX_PREFIX))
				expected = ckf_create(&params, bytes); /* on the edge, either way */
			CHECK(ckf_create(&params, bytes) == expected,
				  "capacity %lld, fpr %g: status %d, not %d", (long long)capacity, rate,
				  ckf_create(&params, bytes), expected);
			if (expected == CKF_OK)
				CHECK(ckf_open(&filter, bytes, CKF_HEADER_SIZE, CKF_FOREIGN) == CKF_OK &&
						  filter.capacity == capacity && filter.fpr == rate,
					  "the parameters read back");
			as_state = ckf_create_state(&params, state);
			if (capacity == 0) /* as many as come: no target to judge yet */
				expected = rate > 0 && rate < 1 ? CKF_OK : CKF_BAD_FPR;
			CHECK(as_state == expected, "a state of capacity %lld, fpr %g: status %d, not %d",
				  (long long)capacity, rate, as_state, expected);
			guard_free(bytes);
			guard_free(state);
		}
}

static void
run_layouts(const void *arg)
{
	(void)arg;
	for (unsigned b = 0; b < 256; b++)
		for (int plain = 0; plain < 2; plain++)
		{
			ckf_params params = params_of(100, 0.01, false, plain, b);
			uint8_t *bytes = guard_new(CKF_HEADER_SIZE, 1);
			bool fits = b == 2 || b == 4 || b == 8;

			CHECK(ckf_create(&params, bytes) == (fits ? CKF_OK : CKF_BAD_OPTION), "b %u, plain %d",
				  b, plain);
			guard_free(bytes);
		}
}

/* A filter that was created for many items and has few is small. */
static void
run_sparse(const void *arg)
{
	(void)arg;
	for (int64_t capacity = 1; capacity <= CKF_MAX_CAPACITY; capacity *= 32)
	{
		ckf_params params =
			params_of(capacity, fmax(0.001, (double)capacity / 0x1p56), false, false, 4);
		owned o;

		owned_create(&o, &params);
		for (int i = 0; i < 10; i++)
			CHECK(owned_add(&o, check_random()) == CKF_OK, "add");
		CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compact");
		CHECK(o.filter.size <= CKF_HEADER_SIZE + 80, "10 items of %lld: %zu bytes",
			  (long long)capacity, o.filter.size);
		owned_free(&o);
	}
}

/* Make the first hashes begin with twelve consecutive numbers of w bits, b hashes each: shorter
 * prefixes of them have more copies than their buckets hold, however many buckets there are. */
static void
crowd(uint64_t *hashes, unsigned w, unsigned b)
{
	uint64_t first = check_random() >> (64 - w);

	for (unsigned i = 0; i < 12 * b; i++)
		hashes[i] = (first + i / b) << (64 - w) | check_random() >> w;
}

/* A higher target takes no more bytes than one of a tenth (a build that fails may cost some), as an
 * aggregate or grown item by item, also where short prefixes crowd. */
static void
run_high_rates(const void *arg)
{
	static const double rates[] = {0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99};
	static const size_t counts[] = {1, 7, 60, 700, 4096, 4097, 5000, 20000, 200000};
	uint64_t *hashes = random_hashes(200000);

	(void)arg;
	for (unsigned kind = 0; kind < 16; kind++)
		for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
		{
			unsigned b = kind / 2 % 4 < 2 ? 4 : kind / 2 % 4 == 2 ? 2 : 8;
			size_t n = counts[j], tenth = 0, grown_tenth = 0;

			for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
			{
				ckf_params params = params_of(0, rates[i], kind & 1, kind / 2 % 4 == 1, b);
				owned o;

				if (i == 0 && kind >= 8 && n >= 700)
					crowd(hashes, (unsigned)ceil(log2((double)n * 1.125 / 0.1)), b);
				build_bulk(&o, &params, hashes, n);
				tenth = i == 0 ? o.filter.size : tenth;
				CHECK(o.filter.size <= tenth + tenth / 10 + 8,
					  "%zu items at %g: %zu bytes, %zu at 0.1", n, rates[i], o.filter.size, tenth);
				CHECK(ckf_contains_many(&o.filter, hashes, n, NULL) == n, "an item is lost");
				CHECK(ckf_fpr(&o.filter) <= rates[i] || n < 60, "the rate %g is missed", rates[i]);
				owned_free(&o);
				if (n > 5000)
					continue;
				params.capacity = 1;
				owned_create(&o, &params);
				CHECK(owned_add_all(&o, hashes, n) == CKF_OK, "add all");
				CHECK(owned_add(&o, hashes[n]) == CKF_OK, "add");
				grown_tenth = i == 0 ? o.filter.size : grown_tenth;
				CHECK(o.filter.size <= grown_tenth + grown_tenth / 8 + 8,
					  "%zu items at %g added: %zu bytes, %zu at 0.1", n, rates[i], o.filter.size,
					  grown_tenth);
				owned_free(&o);
			}
		}
	free(hashes);
}

/*
 * The bytes that are planned are those that an aggregate has.  Two aggregates over as many
 * items may differ, since a build fails now and then and a larger table takes its place; so
 * the plan need not be exact, but with rates up to 0.05 it mostly is.
 */
static void
run_planned(const void *arg)
{
	static const double rates[] = {0.9,   0.5,  0.3,  0.1,  0.07, 0.05,  0.03,  0.01, 0.01,
								   0.003, 1e-3, 1e-4, 1e-5, 1e-7, 1e-10, 1e-13, 1e-18};
	static const size_t edges[] = {1,    5,     6,     10,     60,     700,   4096,
								   4097, 10000, 32768, 100000, 262144, 400000};
	static const uint8_t bucket_sizes[] = {2, 4, 4, 8};
	uint64_t *hashes = check_alloc(600000 * sizeof *hashes);
	uint64_t rounds = check_rounds(1500), usual = 0, exact = 0;
	double worst = 0;

	(void)arg;
	for (uint64_t i = 0; i < rounds; i++)
	{
		size_t edge = edges[check_below(check_chance(90) ? 9 : 13)];
		size_t n = check_chance(30) ? edge : 1 + edge / 2 + check_below(edge);
		ckf_params params;
		uint64_t planned;
		double off;
		owned o;

		ckf_params_default(&params);
		params.fpr = rates[check_below(17)];
		params.bucket_size = bucket_sizes[check_below(4)];
		params.plain = params.bucket_size != 4 || check_chance(50);
		params.set = check_chance(50);
		params.seed = check_random();
		params.capacity = (int64_t)n;
		CHECK(ckf_planned_bytes(&params, &planned) == CKF_OK, "plan");
		if (check_chance(50) || params.fpr < 1e-12)
			params.capacity = 0; /* the aggregate takes the number of its items */
		for (size_t j = 0; j < n; j++)
			hashes[j] = check_random();
		if (n < 10000 && check_chance(30))
			build_aggregate(&o, &params, hashes, n);
		else
			build_bulk(&o, &params, hashes, n);
		off = fabs((double)o.filter.size - (double)planned);
		if (params.fpr > 0.05)
			CHECK(off <= 0.8 * (double)planned, "%zu items at %g, b %d: %zu bytes, planned %llu", n,
				  params.fpr, params.bucket_size, o.filter.size, (unsigned long long)planned);
		else
		{
			double most = n < 10000 ? 0.1 * (double)planned + 48 : 0.02 * (double)planned;

			CHECK(off <= most, "%zu items at %g, b %d: %zu bytes, planned %llu", n, params.fpr,
				  params.bucket_size, o.filter.size, (unsigned long long)planned);
			worst = n < 10000 ? worst : fmax(worst, off / (double)planned);
			usual++;
			exact += off == 0;
		}
		owned_free(&o);
	}
	check_note("up to a rate of 0.05: %llu of %llu exact, at most %.2f %% off from 10,000 items on",
			   (unsigned long long)exact, (unsigned long long)usual, 100 * worst);
	CHECK(exact * 100 >= usual * 90, "too few are exact");
	free(hashes);
}

/* Parameters that an aggregate refuses, and the largest that it accepts. */
static void
run_planned_edges(const void *arg)
{
	ckf_params params;
	uint64_t planned = 7, last = 0;

	(void)arg;
	ckf_params_default(&params);
	CHECK(ckf_planned_bytes(&params, &planned) == CKF_BAD_CAPACITY, "capacity 0");
	params.capacity = -1;
	CHECK(ckf_planned_bytes(&params, &planned) == CKF_BAD_CAPACITY, "capacity -1");
	params.capacity = CKF_MAX_CAPACITY + 1;
	CHECK(ckf_planned_bytes(&params, &planned) == CKF_BAD_CAPACITY, "too large a capacity");
	params.capacity = 1000;
	params.bucket_size = 3;
	CHECK(ckf_planned_bytes(&params, &planned) == CKF_BAD_OPTION, "bucket size 3");
	params.bucket_size = 4;
	for (int i = 0; i < 4; i++)
	{
		params.fpr = (const double[]){0, 1, -0.5, NAN}[i];
		CHECK(ckf_planned_bytes(&params, &planned) == CKF_BAD_FPR, "rate %g", params.fpr);
	}
	CHECK(planned == 7, "a refusal wrote something");
	params.fpr = 1e-18; /* no table is as precise: whole hashes */
	CHECK(ckf_planned_bytes(&params, &planned) == CKF_OK && planned == CKF_HEADER_SIZE + 8000,
		  "1000 items at 1e-18: %llu bytes", (unsigned long long)planned);
	params.fpr = 0.01;
	for (params.capacity = 1; params.capacity <= CKF_MAX_CAPACITY; params.capacity *= 2)
	{
		CHECK(ckf_planned_bytes(&params, &planned) == CKF_OK, "plan");
		CHECK((planned > last || params.capacity < 100) &&
				  planned <= CKF_HEADER_SIZE + 8 * (uint64_t)params.capacity,
			  "%lld items: %llu bytes", (long long)params.capacity, (unsigned long long)planned);
		last = planned;
	}
}

static const curve curves[] = {
	{"semi-sorted", 0.01, false, 4, 1e6, 10.2},   {"semi-sorted", 0.001, false, 4, 1e7, 13.6},
	{"semi-sorted", 0.0001, false, 4, 1e6, 17.2}, {"plain", 0.001, true, 4, 1e6, 14.7},
	{"plain", 0.01, true, 2, 1e6, 11.5},          {"plain", 0.001, true, 8, 1e6, 15.3},
	{"semi-sorted", 0.3, false, 4, 1e6, 5.4},
};

int
main(void)
{
	check_begin("core sizes");
	for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
	{
		const curve *c = &curves[i];

		check_case(run_smooth, c, "smooth, %s b %d at %g", c->name, c->bucket_size, c->fpr);
		check_case(run_average, c, "bits an item, %s b %d at %g", c->name, c->bucket_size, c->fpr);
	}
	check_case(run_few, NULL, "a few items");
	check_case(run_edges, NULL, "ends of capacity and rate");
	check_case(run_layouts, NULL, "bucket sizes and layouts");
	check_case(run_sparse, NULL, "few items of a large capacity");
	check_case(run_planned, NULL, "planned bytes beside those of aggregates");
	check_case(run_planned_edges, NULL, "planned bytes at the ends of the parameters");
	check_case(run_high_rates, NULL, "target rates near 1");
	return check_end();
}
