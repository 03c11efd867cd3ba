/*
 * unlike.c - merges of filters that differ in size, capacity, rate, bucket size, layout, kind, and
 * sometimes in the seed, and aggregates over items.  Each is made in several ways: at once, as an
 * aggregate in any order, and through any tree of partial states, some of which leave their process
 * as filters in between.  All ways give the same bytes, which have the items of the exact model;
 * what else the bytes must be is compared with a second writer (format/writer_test.py).
 */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#include "thresholds.h"

typedef struct plan
{
	const char *name;
	size_t most;     /* items of an input */
	unsigned inputs; /* of a merge, at most */
	unsigned rounds;
	bool narrow; /* filters near the limit of their precision (world.narrow) */
} plan;

enum
{
	MOST_INPUTS = 40, /* more than a merger has parts */
	ROADS = 3
};

/* What is merged. */
typedef struct merge
{
	world world;
	input inputs[MOST_INPUTS];
	const input *order[MOST_INPUTS];
	size_t n;
	bool sum;
} merge;

static void
merge_draw(merge *m, const plan *p, size_t least)
{
	m->world = world_new(p->most);
	driven_numbers = check_chance(40);
	m->world.narrow = p->narrow;
	m->n = least + check_below(p->inputs - least + 1);
	m->sum = check_chance(50);
	for (size_t i = 0; i < m->n; i++)
	{
		input_draw(&m->inputs[i], &m->world, 2);
		m->order[i] = &m->inputs[i];
	}
}

static void
merge_free(merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		input_free(&m->inputs[i]);
}

/* The status that comes of a merge, and its result: the items of the model. */
static void
check_merge(const merge *m, ckf_status status, const owned *result)
{
	model all, models[MOST_INPUTS];

	CHECK(status == CKF_OK || status == CKF_PRECISION || status == CKF_SEED_DIFFERS,
		  "merge: status %d", status);
	if (status != CKF_OK)
		return;
	for (size_t i = 0; i < m->n; i++)
		models[i] = m->inputs[i].model;
	model_merge(&all, models, m->n, m->sum, &result->filter);
	model_check(&all, result);
	model_free(&all);
}

/* ------------------------------------------------------------- two at a time */

/* What both inputs have is in their intersection, numbers in whatever form. */
static void
check_common(const merge *m, const owned *result)
{
	const model *a = &m->inputs[0].model, *b = &m->inputs[1].model;
	unsigned first = m->inputs[0].filter.filter.item_classes;
	unsigned second = m->inputs[1].filter.filter.item_classes;
	uint64_t hash;
	uint32_t copies;

	if (!(first & second) && !((first | second) & CKF_ITEM_HASH))
		return; /* items of unlike classes are not equal, whatever their hashes are */
	for (int rounded = 0; rounded < 2; rounded++)
		for (size_t at = 0; map_next(rounded ? &a->rounded : &a->truth, &at, &hash, &copies);)
			if (map_get(&b->truth, hash) > 0 || map_get(&b->rounded, hash) > 0)
				CHECK(ckf_contains_item(&result->filter, item_of_hash(hash)),
					  "FALSE NEGATIVE: %#llx, forms %u, %u and %u", (unsigned long long)hash,
					  result->filter.number_forms, m->inputs[0].filter.filter.number_forms,
					  m->inputs[1].filter.filter.number_forms);
}

/* Neither a merge nor a comparison depends on the order of two filters. */
static void
check_two(const merge *m, ckf_operation operation)
{
	const owned *a = &m->inputs[0].filter, *b = &m->inputs[1].filter;
	owned ab, ba;
	ckf_comparison one, other;
	ckf_status status = run_rebuild(&ab, operation, a, b);

	CHECK(run_rebuild(&ba, operation, b, a) == status, "the other way round is not status %d",
		  status);
	if (operation != CKF_INTERSECT)
		check_merge(m, status, &ab);
	else if (status == CKF_OK)
		check_common(m, &ab);
	if (status == CKF_OK)
	{
		CHECK(owned_same_bytes(&ab, &ba), "the other way round has other bytes");
		owned_free(&ab);
		owned_free(&ba);
	}
	status = run_comparison(&one, a, b);
	CHECK(run_comparison(&other, b, a) == status, "a comparison is not status %d", status);
	CHECK(status != CKF_OK || (one.overlap == other.overlap && one.jaccard == other.jaccard),
		  "the other way round is %g, not %g", other.overlap, one.overlap);
}

static void
run_pairs(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		merge m;

		merge_draw(&m, &(plan){.most = p->most, .inputs = 2, .narrow = p->narrow}, 2);
		check_two(&m, m.sum ? CKF_SUM : CKF_UNION);
		check_two(&m, CKF_INTERSECT);
		merge_free(&m);
	}
}

/* -------------------------------------------------------------------- trees */

static ckf_operation
goal_of(const merge *m)
{
	return m->sum ? CKF_MERGE_SUM : CKF_MERGE_UNION;
}

static void
new_state(owned *state)
{
	ckf_params params;

	ckf_params_default(&params);
	owned_state(state, &params);
}

/* A partial state leaves its process, as bytes that any door takes, and comes back; only what
 * still is a state does.  It is never refused, even if the result is. */
static void
send(owned *partial)
{
	ckf_status status;

	if (partial->large == NULL)
		return;
	status = owned_send(partial);
	CHECK(status == CKF_OK, "send: status %d", status);
	CHECK(partial->filter.count > 0 || partial->filter.size == CKF_HEADER_SIZE,
		  "an empty state of %zu bytes", partial->filter.size);
}

static ckf_status
collect(const merge *m, owned *state, const owned *in)
{
	return owned_collect(state, in, goal_of(m));
}

/* One state that merges all inputs, and sometimes an empty one. */
static ckf_status
collect_in_turn(const merge *m, owned *partial, const input *const *in, size_t n)
{
	ckf_status status = CKF_OK;

	/* where a filter is already what it would leave a state as */
	if (n > 0 && check_chance(20) && (m->sum || in[0]->model.set))
	{
		owned_open(partial, in[0]->filter.bytes, in[0]->filter.filter.size, CKF_STATE);
		in++;
		n--;
	}
	else
		new_state(partial);
	for (size_t i = 0; i < n && status == CKF_OK; i++)
	{
		if (check_chance(10))
		{
			owned nothing;

			new_state(&nothing);
			status = collect(m, partial, &nothing);
			CHECK(status == CKF_OK, "an empty state: status %d", status);
			owned_free(&nothing);
		}
		status = collect(m, partial, &in[i]->filter);
	}
	return status;
}

/* A random tree of partial states. */
static ckf_status
collect_tree(const merge *m, owned *partial, const input *const *in, size_t n)
{
	size_t left = check_below(n + 1);
	ckf_status status;
	owned other;

	if (n < 2 || check_chance(30))
		return collect_in_turn(m, partial, in, n);
	status = collect_tree(m, partial, in, left);
	if (status != CKF_OK)
		return status;
	status = collect_tree(m, &other, in + left, n - left);
	/* what has taken nothing in has no promise that could be sent */
	if (status == CKF_OK && left > 0 && check_chance(30))
		send(partial);
	if (status == CKF_OK && left < n && check_chance(30))
		send(&other);
	if (status == CKF_OK)
		status = collect(m, partial, &other);
	owned_free(&other);
	return status;
}

/* The end of an aggregate. The state stays valid, as a window function asks for a result at each
 * row, so a second end gives the same bytes; and the host has its turn on the way. */
static ckf_status
finish(owned *state, ckf_operation operation)
{
	uint64_t steps = driven.steps;
	owned result, again;
	ckf_status status = run_rebuild(&result, operation, state, NULL);

	if (status != CKF_OK)
		return status;
	CHECK(driven.steps - steps > result.filter.count / MOST_OF_A_STEP, "%llu steps for %llu items",
		  (unsigned long long)(driven.steps - steps), (unsigned long long)result.filter.count);
	CHECK(run_rebuild(&again, operation, state, NULL) == CKF_OK, "finish a second time");
	CHECK(owned_same_bytes(&result, &again), "two ends of one state differ");
	owned_free(&again);
	owned_free(state);
	*state = result;
	return CKF_OK;
}

static ckf_status
run_tree(const merge *m, owned *result)
{
	ckf_status status = collect_tree(m, result, m->order, m->n);

	if (status == CKF_OK && check_chance(30))
		send(result);
	if (status == CKF_OK)
		status = finish(result, CKF_FINISH_SUM);
	if (status != CKF_OK)
		owned_free(result);
	return status;
}

/* One merge of all inputs, if they are not too many. All other ways must give its result. */
static ckf_status
run_at_once(const merge *m, owned *result)
{
	const ckf_filter *in[CKF_MOST_INPUTS];
	ckf_buffers buffers = {0};
	ckf_status status;

	for (size_t i = 0; i < m->n; i++)
		in[i] = &m->order[i]->filter.filter;
	status = rebuild_many(&buffers, m->sum ? CKF_FINISH_SUM : CKF_FINISH_UNION, in, (unsigned)m->n);
	if (status == CKF_OK)
		owned_open(result, buffers.dst, buffers.dst_size, CKF_FOREIGN);
	guard_free(buffers.dst);
	return status;
}

static void
run_trees(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		size_t held = guard_held();
		merge m;
		owned first, other;
		ckf_status status;

		merge_draw(&m, p, 1);
		status = run_tree(&m, &first);
		check_merge(&m, status, &first);
		for (int road = m.n <= CKF_MOST_INPUTS ? 0 : 1; road < ROADS; road++)
		{
			ckf_status again;

			inputs_shuffle(m.order, m.n);
			again = road == 0 ? run_at_once(&m, &other) : run_tree(&m, &other);
			CHECK(again == status, "another road: status %d, not %d", again, status);
			if (status != CKF_OK)
				continue;
			CHECK(owned_same_bytes(&first, &other), "another road to %llu copies has other bytes",
				  (unsigned long long)first.filter.count);
			owned_free(&other);
		}
		if (status == CKF_OK)
			owned_free(&first);
		merge_free(&m);
		CHECK(guard_held() == held, "%zu buffers are not freed", guard_held() - held);
	}
}

/* ------------------------------------------------- aggregates over the items */

/* A copy of the state takes its place. */
static void
move_state(owned *state)
{
	owned copy;

	owned_copy(&copy, state);
	CHECK(copy.state, "a copy of a state is none");
	owned_free(state);
	*state = copy;
}

/* The items of one aggregate, divided among many processes. */
static void
collect_items(owned *partial, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	size_t left = check_below(n + 1);
	owned other;

	if (n < 2 || check_chance(30))
	{
		owned_state(partial, params);
		for (size_t i = 0; i < n; i++)
		{
			CHECK(owned_add(partial, hashes[i]) == CKF_OK, "add");
			if (n < 5000 && check_chance(5))
				move_state(partial);
		}
	}
	else
	{
		collect_items(partial, params, hashes, left);
		collect_items(&other, params, hashes + left, n - left);
		CHECK(owned_collect(partial, &other, CKF_FINISH) == CKF_OK, "collect");
		owned_free(&other);
	}
	if (check_chance(20))
		CHECK(owned_send(partial) == CKF_OK, "send");
}

/* Merge in any way: some items are in states, the others are added at the end. */
static void
aggregate_somehow(owned *result, const ckf_params *params, uint64_t *hashes, size_t n)
{
	size_t at_hand = check_chance(40) ? check_below(n + 1) : 0;
	ckf_status status;

	shuffle_hashes(hashes, n);
	collect_items(result, params, hashes, n - at_hand);
	if (at_hand > 0 || check_chance(20))
		status = owned_rebuild_hashes(result, CKF_FINISH, hashes + n - at_hand, at_hand);
	else
		status = finish(result, CKF_FINISH);
	CHECK(status == CKF_OK, "finish: status %d", status);
}

static void
run_items(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		world w = world_new(p->most);
		ckf_params params = draw_params(&w);
		unsigned kind = check_chance(30) ? (unsigned)check_below(HASH_KINDS) : 0;
		size_t n = draw_size(most_items(p->most, kind));
		uint64_t *hashes = world_hashes(&w, kind, n);
		owned first, other;
		model m;

		driven_numbers = check_chance(40);
		repeat_some(hashes, n);
		build_aggregate(&first, &params, hashes, n);
		model_of_distinct(&m, &first, hashes, n);
		model_check(&m, &first);
		model_free(&m);
		build_bulk(&other, &params, hashes, n);
		CHECK(owned_same_bytes(&first, &other), "all at once, %zu items have other bytes", n);
		for (int road = 1; road < ROADS; road++)
		{
			owned_free(&other);
			aggregate_somehow(&other, &params, hashes, n);
			CHECK(owned_same_bytes(&first, &other), "another road of %zu items has other bytes", n);
		}
		owned_free(&first);
		owned_free(&other);
		free(hashes);
	}
}

/* ---------------------------------------------------------------------- seeds */

/* A state that refuses another seed stays as it is; an empty side is neutral. */
static void
run_seeds(const void *arg)
{
	ckf_params one = params_of(0, 0.01, false, false, 4), two = one;
	uint64_t hash = check_random();
	owned a, b, empty, state;

	(void)arg;
	one.seed = 1;
	two.seed = 2;
	build_aggregate(&a, &one, &hash, 1);
	build_aggregate(&b, &two, &hash, 1);
	build_aggregate(&empty, &two, NULL, 0);
	new_state(&state);
	CHECK(owned_collect(&state, &empty, CKF_MERGE_UNION) == CKF_OK, "collect an empty filter");
	CHECK(owned_collect(&state, &a, CKF_MERGE_UNION) == CKF_OK, "collect another seed after it");
	for (int i = 0; i < 4; i++) /* by either way */
		CHECK(owned_collect(&state, &b, CKF_MERGE_UNION) == CKF_SEED_DIFFERS,
			  "a state takes a second seed");
	CHECK(owned_collect(&state, &empty, CKF_MERGE_UNION) == CKF_OK,
		  "collect an empty filter at the end");
	CHECK(finish(&state, CKF_FINISH_SUM) == CKF_OK, "finish");
	CHECK(state.filter.seed == 1 && state.filter.count == 1, "the state's seed");
	CHECK(ckf_contains(&state.filter, hash), "the item was lost");
	owned_free(&a);
	owned_free(&b);
	owned_free(&empty);
	owned_free(&state);
}

static const plan plans[] = {
	{"a few items", 20, 8, 150, false},
	{"hundreds", 700, 6, 60, false},
	{"thousands", 9000, 5, 15, false},
	{"sets and logs", 70000, 4, 6, false},
	{"segments", 300000, 3, 2, false},
	{"near the limit", 60, MOST_INPUTS, 150, true},
	{"hundreds near the limit", 700, MOST_INPUTS, 30, true},
};

int
main(void)
{
	check_begin("core unlike");
	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
	{
		const plan *p = &plans[i];

		if (p->most > LARGEST_INPUT)
			continue; /* lowered thresholds need no more */
		check_case(run_pairs, p, "two, %s", p->name);
		check_case(run_trees, p, "union_agg and sum_agg, %s", p->name);
		check_case(run_items, p, "aggregates over items, %s", p->name);
	}
	check_case(run_seeds, NULL, "seeds");
	return check_end();
}
