/*
 * work.c - the work of the core, counted in branches taken and not in time: the core is compiled so
 * that each edge of its control flow calls the counter here (clang -fsanitize-coverage=trace-pc).
 * work_test.py builds and runs it.
 *
 * The count is the same in every run with a seed, however busy the machine is.
 */
#include "attack.h"
#include "state.h"
#include "drive.h"

#include <stdlib.h>

void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
	driven.edges++;
}

enum
{
	MOST_OF_INSERT = 500000, /* edges: 2,048 buckets of 8 slots, each looked at */
	MOST_OF_COLLECTING = 60, /* for an item, on average */
	MOST_OF_STEP = 30000000,
	MOST_OF_MERGING = 400, /* edges an item, on average */
	PART = 1000            /* items of each filter that is merged */
};

/* -------------------------------------------------------- single inserts */

typedef struct layout
{
	const char *name;
	bool plain;
	uint8_t bucket_size;
} layout;

/* The most edges of an insert into a table of n items that fills up; growth
 * is another matter. */
static uint64_t
most_of_inserts(const layout *l, size_t n, attack how)
{
	ckf_params params = params_of(1 << 24, 0.01, false, l->plain, l->bucket_size);
	uint64_t *hashes = random_hashes(n), most = 0;
	attacker a;
	owned o;

	attacker_start(&a, how);
	build_aggregate(&o, &params, hashes, n);
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = check_chance(50) ? attacker_next(&a, &o.filter) : check_random();

		driven.edges = 0;
		if (owned_try_add(&o, hash) == CKF_ROOM && i > n / 2)
			break;
		most = driven.edges > most ? driven.edges : most;
	}
	CHECK(most > 0, "nothing was counted");
	owned_free(&o);
	free(hashes);
	return most;
}

static void
run_inserts(const void *arg)
{
	const layout *l = arg;

	for (unsigned how = 0; how < ATTACKS; how++)
	{
		uint64_t few = most_of_inserts(l, 2000, (attack)how);
		uint64_t many = most_of_inserts(l, 200000, (attack)how);

		check_note("%s: at most %llu edges among 2,000 items, %llu among 200,000",
				   attack_names[how], (unsigned long long)few, (unsigned long long)many);
		CHECK(few <= MOST_OF_INSERT && many <= MOST_OF_INSERT, "the work is not bounded");
	}
}

/* ------------------------------------------------------------ aggregates */

/* Edges an item takes to be collected, among n; *most: between two returns. */
static double
edges_of_collecting(attack how, size_t n, uint64_t *most)
{
	ckf_params params;
	attacker a;
	owned o;

	ckf_params_default(&params);
	params.capacity = 1;
	owned_create(&o, &params);
	attacker_start(&a, how);
	driven.edges = driven.longest = 0;
	o.large = check_alloc(sizeof *o.large);
	memset(o.large, 0, sizeof *o.large);
	o.large->collector = collector_new(&o.filter, 1);
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = attacker_next(&a, &o.filter);

		collector_take(o.large->collector, &hash, 1);
	}
	collector_settle(o.large->collector);
	*most = driven.longest;
	owned_free(&o);
	return (double)driven.edges / (double)n;
}

static void
run_collecting(const void *arg)
{
	uint64_t most;
	double mean = edges_of_collecting(*(const attack *)arg, 100000, &most);

	check_note("%.0f edges an item, at most %llu", mean, (unsigned long long)most);
	CHECK(mean > 0 && mean <= MOST_OF_COLLECTING, "too many edges");
	CHECK(most <= MOST_OF_STEP, "%llu edges between two returns", (unsigned long long)most);
}

/* 16 times the items cost no more each, where they are as good as random. */
static void
run_collecting_many(const void *arg)
{
	uint64_t most;
	double few = edges_of_collecting(EQUAL_LOW_BITS, 40000, &most);
	double many = edges_of_collecting(EQUAL_LOW_BITS, 640000, &most);

	(void)arg;
	check_note("%.0f edges an item of 40,000, %.0f of 640,000", few, many);
	CHECK(few > 0 && many <= 4 * few, "not linear");
}

/* ---------------------------------------------------------------- merges */

static void
build_part(owned *o)
{
	ckf_params params = params_of(1 << 24, 0.01, false, false, 4);
	uint64_t hashes[PART];

	for (size_t i = 0; i < PART; i++)
		hashes[i] = check_random();
	build_aggregate(o, &params, hashes, PART);
}

/* Edges an item takes when this many filters are collected into one state, which
 * then becomes a filter. */
static double
edges_of_merging(ckf_operation how, size_t filters)
{
	ckf_params params;
	owned state;
	uint64_t all = 0;

	ckf_params_default(&params);
	owned_state(&state, &params);
	for (size_t i = 0; i < filters; i++)
	{
		owned part;

		build_part(&part);
		driven.edges = 0;
		CHECK(owned_collect(&state, &part, how) == CKF_OK, "collect");
		all += driven.edges;
		owned_free(&part);
	}
	driven.edges = 0;
	CHECK(owned_rebuild(&state, CKF_FINISH_SUM, NULL) == CKF_OK, "finish");
	all += driven.edges;
	CHECK(state.filter.count > filters * PART * 9 / 10, "items are missing");
	owned_free(&state);
	return (double)all / (double)(filters * PART);
}

static void
check_linear(double few, double many)
{
	CHECK(few > 0 && many <= 4 * few, "merging is not linear");
	CHECK(few <= MOST_OF_MERGING && many <= MOST_OF_MERGING, "items crowd in the state");
}

static void
run_merging(const void *arg)
{
	const ckf_operation *how = arg;
	double few = edges_of_merging(*how, 16), many = edges_of_merging(*how, 400);

	check_note("%.0f edges an item of 16 filters, %.0f of 400", few, many);
	check_linear(few, many);
}

int
main(void)
{
	static const layout layouts[] = {{"semi-sorted", false, 4},
									 {"plain b=2", true, 2},
									 {"plain b=4", true, 4},
									 {"plain b=8", true, 8}};
	static const ckf_operation merges[] = {CKF_MERGE_UNION, CKF_MERGE_SUM};

	check_begin("core work");
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		check_case(run_inserts, &layouts[i], "inserts, %s", layouts[i].name);
	for (unsigned how = 0; how < ATTACKS; how++)
		check_case(run_collecting, &how, "collecting %s", attack_names[how]);
	check_case(run_collecting_many, NULL, "collecting many");
	for (size_t i = 0; i < 2; i++)
		check_case(run_merging, &merges[i], "%s of many filters",
				   merges[i] == CKF_MERGE_SUM ? "sum" : "union");
	return check_end();
}
