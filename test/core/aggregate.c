/*
 * aggregate.c - states of aggregates, their combination, and merges of many filters.  Any order and
 * any partition of the items give the same bytes.
 */
#include "model.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

typedef struct recipe
{
	const char *name;
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t bucket_size;
	size_t items;
	unsigned rounds;
} recipe;

static ckf_params
recipe_params(const recipe *r, uint64_t seed)
{
	ckf_params params = params_of(r->capacity, r->fpr, r->set, r->plain, r->bucket_size);

	params.seed = seed;
	return params;
}

static void
check_distinct(const owned *result, const uint64_t *hashes, size_t n)
{
	model m;

	model_of_distinct(&m, result, hashes, n);
	model_check(&m, result);
	model_free(&m);
}

/* Add all items to a new state, some repeatedly, and reopen the state in between. */
static void
collect(owned *state, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	owned_state(state, params);
	for (size_t i = 0; i < n; i++)
	{
		CHECK(owned_add(state, hashes[i]) == CKF_OK, "adding to a state");
		if (check_chance(10))
			CHECK(owned_add(state, hashes[check_below(i + 1)]) == CKF_OK, "adding again");
		if (n < 5000 && check_chance(5))
		{
			owned copy;

			owned_copy(&copy, state);
			CHECK(copy.state, "a copy of a state is none");
			owned_free(state);
			*state = copy;
		}
	}
}

static void
finish(owned *state, ckf_goal goal)
{
	uint64_t steps = driven.steps;
	owned result, again;

	CHECK(run_rebuild(&result, goal, state, NULL) == CKF_OK, "finish");
	CHECK(driven.steps - steps > result.filter.count / MOST_OF_A_STEP, "%llu steps for %llu items",
		  (unsigned long long)(driven.steps - steps), (unsigned long long)result.filter.count);
	CHECK(run_rebuild(&again, goal, state, NULL) == CKF_OK, "finish a second time");
	CHECK(owned_same_bytes(&result, &again), "two finishes of one state differ");
	owned_free(&again);
	owned_free(state);
	*state = result;
}

/* Add the same items to several states, and combine these in a random tree. */
static void
collect_split(owned *state, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	owned right;
	size_t cut = check_below(n + 1);

	if (n < 2 || check_chance(30))
	{
		collect(state, params, hashes, n);
		return;
	}
	collect_split(state, params, hashes, cut);
	collect_split(&right, params, hashes + cut, n - cut);
	CHECK(owned_collect(state, &right, CKF_FINISH) == CKF_OK, "combine");
	owned_free(&right);
}

static size_t
random_size(const recipe *r)
{
	return check_chance(50) && r->items < 100000 ? check_below(r->items + 1)
												 : r->items - check_below(r->items / 25 + 1);
}

/* The bytes do not depend on order, repetition, partition or the way of building. */
static void
run_canonical(const void *arg)
{
	const recipe *r = arg;

	for (uint64_t i = check_rounds(r->rounds); i > 0; i--)
	{
		size_t n = random_size(r);
		uint64_t *hashes = random_hashes(n);
		ckf_params params = recipe_params(r, check_random());
		owned first, other;

		collect(&first, &params, hashes, n);
		finish(&first, CKF_FINISH);
		check_distinct(&first, hashes, n);
		for (int way = 0; way < 3; way++)
		{
			shuffle_hashes(hashes, n);
			collect_split(&other, &params, hashes, n);
			finish(&other, CKF_FINISH);
			CHECK(owned_same_bytes(&first, &other), "order or split changed the bytes (%zu items)",
				  n);
			owned_free(&other);
		}
		build_bulk(&other, &params, hashes, n);
		CHECK(owned_same_bytes(&first, &other), "a bulk build of %zu items has other bytes", n);
		owned_free(&other);
		owned_free(&first);
		free(hashes);
	}
}

/* An aggregate's result accepts additions, removals and rebuilds like any other filter. */
static void
run_life_after(const void *arg)
{
	const recipe *r = arg;

	for (uint64_t i = check_rounds(r->rounds); i > 0; i--)
	{
		size_t n = random_size(r);
		uint64_t *hashes = random_hashes(n);
		ckf_params params = recipe_params(r, 0);
		owned o;
		model m;

		build_aggregate(&o, &params, hashes, n);
		model_of_distinct(&m, &o, hashes, n);
		for (size_t k = 0; k < n / 4 + 10; k++)
		{
			uint64_t hash = check_random();
			ckf_status status = owned_add(&o, hash);

			model_follow(&m, &o.filter);
			if (status == CKF_OK)
				model_add(&m, hash);
		}
		model_check(&m, &o);
		for (size_t k = 0; !r->set && k < n; k++)
		{
			bool found, expected = model_removes(&m, hashes[k]);

			CHECK(owned_remove(&o, hashes[k], &found) == CKF_OK, "remove");
			CHECK(found == expected, "a copy of an aggregate's item");
			model_remove(&m, hashes[k]);
		}
		model_check(&m, &o);
		CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compact");
		model_follow(&m, &o.filter);
		model_check(&m, &o);
		model_free(&m);
		owned_free(&o);
		free(hashes);
	}
}

/* A filter for the merges: an aggregate, sometimes with copies or removals. */
static void
random_filter(owned *o, model *m, const recipe *r, uint64_t seed)
{
	size_t n = check_chance(20) ? 0 : check_below(r->items / 4 + 2);
	uint64_t *hashes = random_hashes(n);
	ckf_params params = recipe_params(r, seed);

	build_aggregate(o, &params, hashes, n);
	model_of_distinct(m, o, hashes, n);
	for (size_t i = 0; i < n && check_chance(90); i++)
		if (owned_add(o, hashes[i]) == CKF_OK)
		{
			model_follow(m, &o->filter);
			model_add(m, hashes[i]);
		}
	free(hashes);
}

enum
{
	MOST_INPUTS = 6
};

/* A merger keeps the layout that its inputs asked for. */
static void
check_layout(const owned *merged, const recipe *r)
{
	ckf_info info;

	ckf_get_info(&merged->filter, &info);
	CHECK(strcmp(info.layout, r->plain ? "plain" : "semi_sorted") == 0, "layout %s", info.layout);
}

/* Union and sum of two filters give the same bytes in either order. */
static void
run_pairs(const void *arg)
{
	const recipe *r = arg;

	for (uint64_t i = check_rounds(r->rounds); i > 0; i--)
	{
		owned a, b, ab, ba;
		model in[2], m;
		bool sum = check_chance(50);
		ckf_goal goal = sum ? CKF_SUM : CKF_UNION;
		uint64_t seed = check_random();

		random_filter(&a, &in[0], r, seed);
		random_filter(&b, &in[1], r, seed);
		CHECK(run_rebuild(&ab, goal, &a, &b) == CKF_OK, "merge");
		CHECK(run_rebuild(&ba, goal, &b, &a) == CKF_OK, "merge the other way");
		CHECK(owned_same_bytes(&ab, &ba), "merging is not commutative (%llu and %llu items)",
			  (unsigned long long)a.filter.count, (unsigned long long)b.filter.count);
		check_layout(&ab, r);
		model_merge(&m, in, 2, sum, &ab.filter);
		model_check(&m, &ab);
		model_free(&m);
		model_free(&in[0]);
		model_free(&in[1]);
		owned_free(&a);
		owned_free(&b);
		owned_free(&ab);
		owned_free(&ba);
	}
}

/* The merge of n inputs: two states collect them, and are then combined. */
static void
merge_split(owned *o, const owned *inputs, size_t n, ckf_goal how)
{
	ckf_params params;
	owned right;
	size_t cut = check_below(n + 1);

	ckf_params_default(&params);
	owned_state(o, &params);
	owned_state(&right, &params);
	for (size_t i = 0; i < n; i++)
		CHECK(owned_collect(i < cut ? o : &right, &inputs[i], how) == CKF_OK, "collect");
	CHECK(owned_collect(o, &right, how) == CKF_OK, "merge states");
	owned_free(&right);
	finish(o, CKF_FINISH_SUM);
}

/* union_agg and sum_agg: any order, any split into states. */
static void
run_merge_aggregate(const void *arg)
{
	const recipe *r = arg;

	for (uint64_t i = check_rounds(r->rounds); i > 0; i--)
	{
		owned inputs[MOST_INPUTS], one, other, swap;
		model models[MOST_INPUTS], m;
		size_t n = 1 + check_below(MOST_INPUTS), j = check_below(n);
		uint64_t seed = check_random();
		ckf_goal how = check_chance(50) ? CKF_MERGE_UNION : CKF_MERGE_SUM;

		for (size_t k = 0; k < n; k++)
			random_filter(&inputs[k], &models[k], r, seed);
		merge_split(&one, inputs, n, how);
		check_layout(&one, r);
		model_merge(&m, models, n, how == CKF_MERGE_SUM, &one.filter);
		model_check(&m, &one);
		swap = inputs[0];
		inputs[0] = inputs[j];
		inputs[j] = swap;
		merge_split(&other, inputs, n, how);
		CHECK(owned_same_bytes(&one, &other), "order or split of %zu filters changed the bytes", n);
		model_free(&m);
		owned_free(&one);
		owned_free(&other);
		for (size_t k = 0; k < n; k++)
		{
			owned_free(&inputs[k]);
			model_free(&models[k]);
		}
	}
}

/* Many items: rebuilds come back on the way (drive.c counts). */
static void
run_many(const void *arg)
{
	const recipe *r = arg;
	ckf_params params = recipe_params(r, 0);
	uint64_t *hashes = random_hashes(r->items);
	owned filter, states[2];

	build_bulk(&filter, &params, hashes, r->items);
	for (int i = 0; i < 2; i++)
		owned_state(&states[i], &params);
	CHECK(owned_collect(&states[0], &filter, CKF_MERGE_UNION) == CKF_OK, "collect");
	CHECK(owned_collect(&states[1], &states[0], CKF_MERGE_UNION) == CKF_OK, "combine");
	finish(&states[1], CKF_FINISH_SUM);
	CHECK(states[1].filter.count > filter.filter.count * 99 / 100, "items are missing");
	owned_free(&filter);
	owned_free(&states[0]);
	owned_free(&states[1]);
	free(hashes);
}

/* Seeds that differ are refused, but an empty side is neutral. */
static void
run_seeds(const void *arg)
{
	const recipe *r = arg;
	ckf_params one = recipe_params(r, 1), two = recipe_params(r, 2), none;
	uint64_t hash = check_random();
	owned a, b, empty, state, result;

	ckf_params_default(&none);
	build_aggregate(&a, &one, &hash, 1);
	build_aggregate(&b, &two, &hash, 1);
	build_aggregate(&empty, &two, NULL, 0);
	CHECK(run_rebuild(&result, CKF_UNION, &a, &b) == CKF_SEED_DIFFERS, "union of two seeds");
	CHECK(run_rebuild(&result, CKF_SUM, &a, &b) == CKF_SEED_DIFFERS, "sum of two seeds");
	for (int way = 0; way < 4; way++)
	{
		ckf_goal goal = way % 2 == 0 ? CKF_UNION : CKF_SUM;

		CHECK(run_rebuild(&result, goal, way < 2 ? &a : &empty, way < 2 ? &empty : &a) == CKF_OK,
			  "a merge with an empty filter of another seed");
		CHECK(result.filter.seed == 1 && result.filter.count == 1, "the empty side's seed won");
		CHECK(ckf_contains(&result.filter, hash), "the item was lost");
		owned_free(&result);
	}
	owned_state(&state, &none);
	CHECK(owned_collect(&state, &empty, CKF_MERGE_UNION) == CKF_OK, "collect an empty filter");
	CHECK(owned_collect(&state, &a, CKF_MERGE_UNION) == CKF_OK, "collect another seed after it");
	for (int i = 0; i < 4; i++) /* by either way */
		CHECK(owned_collect(&state, &b, CKF_MERGE_UNION) == CKF_SEED_DIFFERS,
			  "a state takes a second seed");
	CHECK(owned_collect(&state, &empty, CKF_MERGE_UNION) == CKF_OK,
		  "collect an empty filter at the end");
	finish(&state, CKF_FINISH_SUM);
	CHECK(state.filter.seed == 1 && state.filter.count == 1, "the state's seed");
	owned_free(&a);
	owned_free(&b);
	owned_free(&empty);
	owned_free(&state);
}

static const recipe recipes[] = {
	{"semi-sorted", 0, 0.01, false, false, 4, 3000, 12},
	{"semi-sorted set", 0, 0.001, true, false, 4, 3000, 12},
	{"plain b=2", 0, 0.01, false, true, 2, 3000, 12},
	{"plain b=4", 10000, 1e-4, false, true, 4, 3000, 12},
	{"plain b=8 set", 0, 0.1, true, true, 8, 3000, 12},
	{"few items", 0, 0.01, false, false, 4, 40, 200},
	{"hundreds", 0, 0.001, false, false, 4, 400, 60},
	{"a large capacity", INT64_C(1) << 30, 0.001, false, false, 4, 5000, 12},
	{"a high rate", 0, 0.5, false, false, 4, 3000, 12},
	{"a low rate", 0, 1e-9, false, false, 4, 3000, 12},
	{"several segments", 0, 0.01, false, false, 4, 280000, 1},
};

int
main(void)
{
	check_begin("core aggregates");
	for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
	{
		const recipe *r = &recipes[i];
		recipe common = *r; /* filters to be merged have a common capacity */

		if (common.capacity < (int64_t)(4 * r->items))
			common.capacity = (int64_t)(4 * r->items);
		check_case(run_canonical, r, "canonical bytes, %s", r->name);
		check_case(run_life_after, r, "life after the aggregate, %s", r->name);
		check_case(run_pairs, &common, "union and sum of two, %s", r->name);
		check_case(run_merge_aggregate, &common, "union_agg and sum_agg, %s", r->name);
	}
	check_case(run_seeds, &recipes[0], "seeds");
	check_case(run_many, &recipes[sizeof recipes / sizeof *recipes - 1], "many items");
	return check_end();
}
