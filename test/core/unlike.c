/*
 * unlike.c - merges of filters that differ in size, capacity, rate, bucket size, layout, kind, and
 * sometimes in the seed.  Each merge is made in several ways: two filters at a time, as an
 * aggregate in any order, and through any tree of partial states, some of which leave their process
 * as filters in between.
 *
 * The exact model says what the result must have; and all ways of one merge give the same bytes.
 */
#include "forge.h"
#include "inputs.h"

#include <math.h>
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
	ROADS = 3,
	MOST_W_SEEN = 40 /* where a table is much smaller than hashes */
};

/* What is merged. */
typedef struct merge
{
	world world;
	input inputs[MOST_INPUTS];
	const input *order[MOST_INPUTS];
	size_t n;
	bool sum;
	bool crowded;
	promise promise;
} merge;

static void
merge_draw(merge *m, const plan *p, size_t least)
{
	m->world = world_new(p->most);
	m->world.narrow = p->narrow;
	m->n = least + check_below(p->inputs - least + 1);
	m->sum = check_chance(50);
	m->crowded = false;
	for (size_t i = 0; i < m->n; i++)
	{
		input_draw(&m->inputs[i], &m->world, 2);
		m->order[i] = &m->inputs[i];
		m->crowded = m->crowded || m->inputs[i].crowded;
	}
	m->promise = promise_of(m->order, m->n, m->sum);
}

static void
merge_free(merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		input_free(&m->inputs[i]);
}

/* ----------------------------------------------------------------- verdicts */

/* The model of the expected result, at the precision of `result`. */
static void
model_of_merge(model *m, const merge *merge, const ckf_filter *result)
{
	model models[MOST_INPUTS];

	for (size_t i = 0; i < merge->n; i++)
		models[i] = merge->inputs[i].model;
	model_merge(m, models, merge->n, merge->sum, result);
}

/* Check that a refusal is justified, by the items that the result would have. */
static void
check_refused(const merge *m, ckf_status status)
{
	const promise *p = &m->promise;
	ckf_filter like;
	model all;

	CHECK(status == CKF_PRECISION, "merge: status %d", status);
	memset(&like, 0, sizeof like);
	like.w = (uint8_t)p->w;
	like.c = (uint8_t)p->c;
	like.b = (uint8_t)p->b;
	like.flags = p->set;
	model_of_merge(&all, m, &like);
	CHECK(m->crowded || may_refuse(p, &all), "refused: %llu copies at w %u, fpr %g",
		  (unsigned long long)all.count, p->w, p->fpr);
	model_free(&all);
}

/*
 * Where no precision was spent before, the result has what it promises: for its
 * capacity and its items, and for 16 times the items as far as the longest prefix
 * does (ckf_choose_first).  Hashes stay whole where w would not do, and become a
 * table where they are many.
 */
static void
check_first_table(const merge *m, const model *all, const ckf_filter *result)
{
	const promise *p = &m->promise;
	double least = fmax((double)p->capacity, (double)result->count);
	unsigned w = prefix_bits(fmax(least, 16 * (double)result->count), p->fpr, p->c);

	if (result->encoding != CKF_HASHES)
	{
		CHECK(prefix_bits(least, p->fpr, p->c) <= CKF_MAX_PREFIX,
			  "a table that cannot keep its rate: w %d", result->w);
		CHECK(result->w >= w || result->w == CKF_MAX_PREFIX, "w %d, must be %u", result->w, w);
	}
	else
		CHECK(m->crowded || model_most_copies(all) > p->b || result->count <= CKF_MAX_HASHES ||
				  w > MOST_W_SEEN || p->c == 4,
			  "%llu hashes are no table", (unsigned long long)result->count);
}

static void
check_result(const merge *m, const owned *result)
{
	model all;

	promise_check(&m->promise, result);
	model_of_merge(&all, m, &result->filter);
	model_check(&all, result);
	if (m->promise.w == 64 && all.count > 0)
		check_first_table(m, &all, &result->filter);
	model_free(&all);
}

/* The status that comes of a merge, and its result. */
static void
check_merge(const merge *m, ckf_status status, const owned *result)
{
	if (m->promise.seeds_differ)
		CHECK(status == CKF_SEED_DIFFERS, "unlike seeds: status %d", status);
	else if (status == CKF_OK)
		check_result(m, result);
	else
		check_refused(m, status);
}

/* ------------------------------------------------------------- two at a time */

static void
run_pairs(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		merge m;
		owned ab, ba;
		ckf_status status;
		ckf_goal goal;

		merge_draw(&m, &(plan){.most = p->most, .inputs = 2, .narrow = p->narrow}, 2);
		goal = m.sum ? CKF_SUM : CKF_UNION;
		status = run_rebuild(&ab, goal, &m.inputs[0].filter, &m.inputs[1].filter);
		CHECK(run_rebuild(&ba, goal, &m.inputs[1].filter, &m.inputs[0].filter) == status,
			  "the other way round is not status %d", status);
		check_merge(&m, status, &ab);
		if (status == CKF_OK)
		{
			CHECK(owned_same_bytes(&ab, &ba), "the other way round has other bytes");
			owned_free(&ab);
			owned_free(&ba);
		}
		merge_free(&m);
	}
}

/* -------------------------------------------------------------------- trees */

static ckf_goal
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
finish(owned *state, ckf_goal goal)
{
	uint64_t steps = driven.steps;
	owned result, again;
	ckf_status status = run_rebuild(&result, goal, state, NULL);

	if (status != CKF_OK)
		return status;
	CHECK(driven.steps - steps > result.filter.count / MOST_OF_A_STEP, "%llu steps for %llu items",
		  (unsigned long long)(driven.steps - steps), (unsigned long long)result.filter.count);
	CHECK(run_rebuild(&again, goal, state, NULL) == CKF_OK, "finish a second time");
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
	}
}

/* ----------------------------------------------------------------- promises */

enum
{
	TRAITS = 8, /* in which two inputs may differ; the last two are its size */
	SHAPES = 1 << TRAITS,
	FEW = 200
};

/* An input with these traits. */
static void
input_of_traits(input *in, unsigned traits)
{
	static const size_t items[] = {0, 3, 40, 100};
	ckf_params params = params_of(traits & 1 ? 5000 : 10, traits & 2 ? 0.1 : 0.001, traits & 4,
								  traits & 8, traits & 16 ? 8 : 4);
	size_t n = items[traits >> 6];
	uint64_t *hashes = random_hashes(n);

	params.seed = traits & 32 ? 9 : 4;
	build_aggregate(&in->filter, &params, hashes, n);
	model_of_distinct(&in->model, &in->filter, hashes, n);
	in->crowded = false;
	free(hashes);
}

/* One way of merging two inputs. */
static ckf_status
merge_two(owned *result, const merge *m, bool by_state)
{
	ckf_status status;

	if (!by_state)
		return run_rebuild(result, m->sum ? CKF_SUM : CKF_UNION, &m->order[0]->filter,
						   &m->order[1]->filter);
	new_state(result);
	status = collect(m, result, &m->order[0]->filter);
	if (status == CKF_OK)
		status = collect(m, result, &m->order[1]->filter);
	if (status == CKF_OK)
		status = owned_rebuild(result, CKF_FINISH_SUM, NULL);
	if (status != CKF_OK)
		owned_free(result);
	return status;
}

/* A union by one road, and a sum by the other. */
static void
check_promise(const input *a, const input *b, bool union_by_state)
{
	for (int sum = 0; sum < 2; sum++)
	{
		bool by_state = union_by_state != sum;
		merge m = {.n = 2, .sum = sum, .order = {a, b}, .inputs = {*a, *b}};
		owned result;
		ckf_status status;

		m.promise = promise_of(m.order, 2, m.sum);
		status = merge_two(&result, &m, by_state);
		check_merge(&m, status, &result);
		if (status == CKF_OK)
			owned_free(&result);
	}
}

/* Every pair of inputs that differ in one trait or two, and so have the others in
 * common: each by itself decides what it has to. */
static void
run_promises(const void *arg)
{
	input *inputs = check_alloc(SHAPES * sizeof *inputs);

	(void)arg;
	for (unsigned i = 0; i < SHAPES; i++)
		input_of_traits(&inputs[i], i);
	for (unsigned i = 0; i < SHAPES; i++)
		for (unsigned one = 0; one < TRAITS; one++)
			for (unsigned other = 0; other <= one; other++)
			{
				unsigned j = i ^ (1U << one | 1U << other);

				check_promise(&inputs[i], &inputs[j], i < j);
			}
	for (unsigned i = 0; i < SHAPES; i++)
		input_free(&inputs[i]);
	free(inputs);
}

/* A header that says that nothing is in is believed, whatever lies in the slots:
 * its items must not come out of a merge with a precision that they do not have. */
static void
run_said_empty(const void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
	{
		ckf_params params = params_of(1000, 0.01, false, false, 4);
		uint64_t hashes[FEW];
		owned liar, other, result;

		for (size_t k = 0; k < FEW; k++)
			hashes[k] = check_random();
		build_aggregate(&liar, &params, hashes, FEW);
		CHECK(liar.filter.encoding != CKF_HASHES, "%d items are no table", FEW);
		memset(liar.bytes + 16, 0, 8);          /* count */
		liar.bytes[14] = liar.item_classes = 0; /* with it go the classes */
		CHECK(ckf_open(&liar.filter, liar.bytes, liar.filter.size, CKF_STORED) == CKF_OK, "open");
		build_aggregate(&other, &params, hashes, i % 2);
		CHECK(run_rebuild(&result, i < 2 ? CKF_UNION : CKF_SUM, &liar, &other) == CKF_OK, "merge");
		CHECK(result.filter.count == other.filter.count, "%llu copies of %llu",
			  (unsigned long long)result.filter.count, (unsigned long long)other.filter.count);
		owned_free(&liar);
		owned_free(&other);
		owned_free(&result);
	}
}

/* A filter of any encoding that lost all its items. */
static void
input_emptied(input *in, const forged *x)
{
	forgery *made = check_alloc(sizeof *made);

	forge(made, x);
	owned_open(&in->filter, made->bytes, made->size, CKF_FOREIGN);
	model_init(&in->model, &in->filter.filter);
	in->crowded = false;
	free(made);
}

/* Such filters alone and together, in every way: the results and the states between are headers. */
static void
run_emptied(const void *arg)
{
	static const forged shapes[] = {
		{.encoding = CKF_SEMI_SORTED, .b = 4, .f = 10, .w = 14, .c = 7, .m = 16},
		{.encoding = CKF_PLAIN, .flags = 2, .b = 4, .f = 10, .w = 15, .g = 1, .c = 7, .m = 16},
		{.encoding = CKF_PLAIN, .b = 2, .f = 10, .w = 14, .c = 7, .m = 16},
		{.encoding = CKF_PREFIXES, .b = 8, .w = 20, .c = 7},
		{.encoding = CKF_HASHES, .b = 8, .w = 64, .c = 7},
	};
	const unsigned n = sizeof shapes / sizeof *shapes;

	(void)arg;
	for (unsigned i = 0; i < n * n * 4; i++)
	{
		merge m = {.n = 1 + i / n / n % 2, .sum = i / n / n / 2};
		owned result;

		for (unsigned k = 0; k < m.n; k++)
		{
			forged x = shapes[k == 0 ? i % n : i / n % n];

			x.version = 1 + (uint8_t)check_below(2);
			x.capacity = 1 + (int64_t)check_below(1000);
			x.fpr = 0.01;
			input_emptied(&m.inputs[k], &x);
			m.order[k] = &m.inputs[k];
		}
		m.promise = promise_of(m.order, m.n, m.sum);
		for (int road = 0; road < 10; road++)
		{
			check_merge(&m, road == 0 ? run_at_once(&m, &result) : run_tree(&m, &result), &result);
			owned_free(&result);
		}
		merge_free(&m);
	}
}

/* ------------------------------------------------------------- first tables */

/* Has the filter the geometry of an aggregate of n items with this capacity? */
static bool
is_like(const ckf_filter *filter, size_t n, size_t capacity)
{
	ckf_params params = params_of((int64_t)capacity, filter->fpr, false, false, filter->b);
	uint64_t *hashes = random_hashes(n);
	owned like;
	bool same;

	build_aggregate(&like, &params, hashes, n);
	same = filter->w == like.filter.w && filter->g == like.filter.g && filter->m == like.filter.m;
	owned_free(&like);
	free(hashes);
	return same;
}

/* Hashes that become a table, as FORMAT.md says in step 7 of section 7: whether they
 * have the geometry that they should.  Where a build has failed they have not. */
static bool
becomes_table(ckf_goal goal, size_t n, uint8_t bucket_size)
{
	ckf_params params = params_of(1, 0.01, false, false, bucket_size);
	uint64_t *hashes = random_hashes(n);
	size_t first = goal == CKF_GROW ? n : goal == CKF_ADD_MANY ? n / 3 : n / 2;
	owned a, b, result;
	bool right;

	owned_create(&a, &params);
	owned_create(&b, &params);
	CHECK(owned_rebuild_hashes(&a, CKF_ADD_MANY, hashes, first) == CKF_OK, "add");
	CHECK(owned_rebuild_hashes(&b, CKF_ADD_MANY, hashes + first, n - first) == CKF_OK, "add");
	if (goal == CKF_ADD_MANY)
		CHECK(run_rebuild_hashes(&result, goal, &a, hashes + first, n - first) == CKF_OK, "add");
	else
		CHECK(run_rebuild(&result, goal, &a, goal == CKF_GROW ? NULL : &b) == CKF_OK, "rebuild");
	CHECK(result.filter.count <= n && result.filter.count + 20 > n, "items are missing");
	if (n < CKF_MAX_HASHES || (goal != CKF_GROW && n == CKF_MAX_HASHES))
		right = result.filter.encoding == CKF_HASHES;
	else if (goal == CKF_GROW)
		right = is_like(&result.filter, n + n / 2 + 8, 16 * n);
	else
		right = is_like(&result.filter, n, 16 * (goal == CKF_ADD_MANY ? CKF_MAX_HASHES : n));
	owned_free(&a);
	owned_free(&b);
	owned_free(&result);
	free(hashes);
	return right;
}

static void
run_first_tables(const void *arg)
{
	static const ckf_goal goals[] = {CKF_GROW, CKF_UNION, CKF_SUM, CKF_ADD_MANY};
	static const uint8_t bucket_sizes[] = {2, 4, 8};

	(void)arg;
	for (size_t n = CKF_MAX_HASHES - 2; n <= CKF_MAX_HASHES + CKF_MAX_HASHES / 2;
		 n += n <= CKF_MAX_HASHES ? 1 : CKF_MAX_HASHES / 8)
		for (size_t i = 0; i < 4; i++)
			for (size_t k = 0; k < 3; k++)
			{
				int tries = 0;

				if (goals[i] == CKF_GROW && n > CKF_MAX_HASHES)
					continue; /* there are no hashes to grow */
				while (tries < 20 && !becomes_table(goals[i], n, bucket_sizes[k]))
					tries++;
				CHECK(tries < 20, "goal %d, %zu hashes, b %d: another geometry", goals[i], n,
					  bucket_sizes[k]);
			}
}

/* ---------------------------------------------------------------- few items */

/* Few items in different representations: a table or hashes from which nearly all were removed,
 * or to which few were added. They are merged into a set, one by one if that is possible. */
static void
check_few(const owned *in, const model *m)
{
	for (int i = 0; i < 2; i++)
	{
		owned state;
		model both;
		ckf_status status;

		new_state(&state);
		CHECK(owned_collect(&state, in, CKF_MERGE_SUM) == CKF_OK, "collect");
		status = owned_rebuild(&state, CKF_FINISH_SUM, NULL);
		if (status == CKF_PRECISION &&
			in->filter.b == 2) /* seldom: a table of 33 items that crowd */
		{
			owned_free(&state);
			continue;
		}
		CHECK(status == CKF_OK, "finish");
		model_merge(&both, m, 1, true, &state.filter);
		model_check(&both, &state);
		model_free(&both);
		owned_free(&state);
	}
}

/* A table of n items, of which but a few at one end, or some anywhere, go. */
static void
few_of_a_table(size_t n, uint8_t bucket_size, int stay)
{
	ckf_params params = params_of((int64_t)n, 0.001, false, false, bucket_size);
	uint64_t *hashes = random_hashes(n);
	uint64_t tops = n < 200 ? 8 : 1; /* values of a hash's top byte */
	owned o;
	model m;

	build_aggregate(&o, &params, hashes, n);
	model_of_distinct(&m, &o, hashes, n);
	for (size_t i = 0; i < n; i++)
	{
		uint64_t top = hashes[i] >> 56;
		bool found;

		if (stay == 0 ? top < tops : stay == 1 ? top >= 256 - tops : i % (n / 10) == 0)
			continue;
		CHECK(owned_remove(&o, hashes[i], &found) == CKF_OK, "remove");
		if (found)
			model_remove(&m, hashes[i]);
	}
	check_few(&o, &m);
	model_free(&m);
	owned_free(&o);
	free(hashes);
}

/* Segments of one bucket a half, as another writer may make them, all but one
 * empty. */
static void
few_of_small_segments(unsigned segment)
{
	forged x = {.encoding = CKF_PLAIN,
				.b = 4,
				.f = 8,
				.w = 11,
				.g = 3,
				.c = 7,
				.m = 1,
				.count = 1,
				.capacity = 1000,
				.fpr = 0.01};
	forgery *made = check_alloc(sizeof *made);
	owned o;
	model m;

	forge(made, &x);
	put_bits(made->bytes + CKF_HEADER_SIZE, (uint64_t)segment * 2 * 4 * 8, 5, 8);
	owned_open(&o, made->bytes, made->size, CKF_FOREIGN);
	model_init(&m, &o.filter);
	model_add(&m, (uint64_t)(segment << 8 | 5) << 53);
	check_few(&o, &m);
	model_free(&m);
	owned_free(&o);
	free(made);
}

static void
run_few(const void *arg)
{
	static const uint8_t bucket_sizes[] = {2, 4, 8};

	(void)arg;
	for (size_t n = 100; n <= 6400; n *= 2)
		for (int stay = 0; stay < 3; stay++)
			for (size_t i = 0; i < 3; i++)
				few_of_a_table(n, bucket_sizes[i], stay);
	for (unsigned segment = 0; segment < 8; segment++)
		few_of_small_segments(segment);
}

/* ------------------------------------------------------------ crowded states */

/* Hashes whose buckets are crowded at the end, so that a set cannot store them as a table. */
static void
run_crowded(const void *arg)
{
	(void)arg;
	for (size_t n = 9; n <= 240; n += 33)
		for (int road = 0; road < 3; road++)
		{
			ckf_params params = params_of(1000, 0.001, false, false, 4);
			owned state, other;
			model m;
			uint64_t hashes[240];

			owned_state(&state, &params);
			owned_state(&other, &params);
			for (size_t i = 0; i < n; i++)
			{
				hashes[i] = UINT64_MAX - i;
				CHECK(owned_add(road == 1 || (road == 2 && i % 2) ? &other : &state, hashes[i]) ==
						  CKF_OK,
					  "add");
			}
			CHECK(owned_collect(&state, &other, CKF_FINISH) == CKF_OK, "collect");
			CHECK(owned_rebuild(&state, CKF_FINISH, NULL) == CKF_OK, "finish");
			model_of_distinct(&m, &state, hashes, n);
			model_check(&m, &state);
			model_free(&m);
			owned_free(&state);
			owned_free(&other);
		}
}

/* ------------------------------------------------------------ classes of items */

/* A filter of n items of one class. */
static void
filter_of_class(owned *o, size_t n, unsigned class)
{
	ckf_params params = params_of(1000, 0.001, true, false, 4);

	owned_create(o, &params);
	driven_class = class;
	for (size_t i = 0; i < n; i++)
		CHECK(owned_add(o, check_random()) == CKF_OK, "add");
	driven_class = 0;
}

static void
finish_with_classes(owned *state, unsigned expected)
{
	if (check_chance(50))
	{
		CHECK(owned_send(state) == CKF_OK, "send");
		CHECK(state->filter.item_classes == expected, "classes %#x leave, must be %#x",
			  state->filter.item_classes, expected);
	}
	CHECK(finish(state, CKF_FINISH_SUM) == CKF_OK, "finish");
	CHECK(state->filter.item_classes == expected, "classes %#x, must be %#x",
		  state->filter.item_classes, expected);
	owned_free(state);
}

/* Two filters of any version, with items or without. */
static void
run_classes(const void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 3 * 3 * 4 * 4; i++)
	{
		size_t n = i % 3 * 5, m = i / 3 % 3 * 7;
		unsigned first = 1U << check_below(7), second = 1U << check_below(7);
		unsigned old = i / 9 % 4, expected;
		owned state, one, other;

		new_state(&state);
		filter_of_class(&one, n, first);
		filter_of_class(&other, m, second);
		if (old & 1)
			owned_make_old(&one);
		if (old & 2)
			owned_make_old(&other);
		expected = n == 0 ? 0 : old & 1 ? CKF_ITEM_HASH | CKF_ITEM_OLD : first;
		expected |= m == 0 ? 0 : old & 2 ? CKF_ITEM_HASH | CKF_ITEM_OLD : second;
		CHECK(owned_collect(&state, &one, CKF_MERGE_UNION) == CKF_OK, "collect");
		CHECK(owned_collect(&state, &other, CKF_MERGE_UNION) == CKF_OK, "collect");
		finish_with_classes(&state, expected);
		owned_free(&one);
		owned_free(&other);
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

/* The number of items in `truth`; 0 and 1 are one hash. */
static uint64_t
count_items(const model *m)
{
	uint64_t n = 0, hash;
	uint32_t copies;

	for (size_t at = 0; map_next(&m->truth, &at, &hash, &copies);)
		n += hash > 0 || map_get(&m->truth, 1) == 0;
	return n;
}

static void
check_aggregate(const owned *result, const ckf_params *params, const uint64_t *hashes, size_t n,
				bool crowded)
{
	const ckf_filter *filter = &result->filter;
	double items;
	unsigned w;
	model m;

	model_of_distinct(&m, result, hashes, n);
	model_check(&m, result);
	items = fmax((double)params->capacity, (double)count_items(&m));
	w = prefix_bits(items, params->fpr, filter->c);
	if (filter->encoding != CKF_HASHES)
		CHECK(w <= CKF_MAX_PREFIX && filter->w >= w, "w %d, must be %u", filter->w, w);
	else
		/* tags of 4 bits are few enough that builds fail now and then */
		CHECK(crowded || n <= CKF_MAX_HASHES || w > MOST_W_SEEN || filter->c == 4,
			  "%zu hashes are no table", n);
	CHECK(w > CKF_MAX_PREFIX || crowded || ckf_fpr(filter) <= params->fpr, "a rate of %g, asked %g",
		  ckf_fpr(filter), params->fpr);
	model_free(&m);
}

/* An aggregate's result accepts additions, removals and rebuilds like any other filter. */
static void
live_on(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n, bool crowded)
{
	ckf_status status;
	model m;

	model_of_distinct(&m, o, hashes, n);
	for (size_t k = 0; k < n / 4 + 10; k++)
	{
		uint64_t hash = check_random();

		status = owned_add(o, hash);
		model_follow(&m, &o->filter);
		if (status == CKF_OK)
			model_add(&m, hash);
	}
	model_check(&m, o);
	for (size_t k = 0; !params->set && k < n; k++)
	{
		bool found, expected = model_removes(&m, hashes[k]);

		if (hashes[k] <= 1 || map_get(&m.truth, hashes[k]) == 0)
			continue; /* who removes what is not there, or no more, removes another's copy */
		CHECK(owned_remove(o, hashes[k], &found) == CKF_OK, "remove");
		CHECK(found == expected, "a copy of an aggregate's item");
		model_remove(&m, hashes[k]);
	}
	model_check(&m, o);
	status = owned_rebuild(o, CKF_COMPACT, NULL);
	CHECK(status == CKF_OK || crowded, "compact: status %d", status);
	model_follow(&m, &o->filter);
	model_check(&m, o);
	model_free(&m);
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
		size_t n = draw_size(most_items(p->most, kind, params.set));
		uint64_t *hashes = world_hashes(&w, kind, n);
		owned first, other;

		repeat_some(hashes, n);
		build_aggregate(&first, &params, hashes, n);
		check_aggregate(&first, &params, hashes, n, kind > 0);
		build_bulk(&other, &params, hashes, n);
		CHECK(owned_same_bytes(&first, &other), "all at once, %zu items have other bytes", n);
		for (int road = 1; road < ROADS; road++)
		{
			owned_free(&other);
			aggregate_somehow(&other, &params, hashes, n);
			CHECK(owned_same_bytes(&first, &other), "another road of %zu items has other bytes", n);
		}
		live_on(&first, &params, hashes, n, kind > 0);
		owned_free(&first);
		owned_free(&other);
		free(hashes);
	}
}

/* Many items: rebuilds come back on the way (drive.c counts). */
static void
run_many(const void *arg)
{
	enum
	{
		ITEMS = 280000
	};
	ckf_params params = params_of(0, 0.01, false, false, 4);
	uint64_t *hashes = random_hashes(ITEMS);
	owned filter, states[2];

	(void)arg;
	build_bulk(&filter, &params, hashes, ITEMS);
	for (int i = 0; i < 2; i++)
		owned_state(&states[i], &params);
	CHECK(owned_collect(&states[0], &filter, CKF_MERGE_UNION) == CKF_OK, "collect");
	CHECK(owned_collect(&states[1], &states[0], CKF_MERGE_UNION) == CKF_OK, "combine");
	CHECK(finish(&states[1], CKF_FINISH_SUM) == CKF_OK, "finish");
	CHECK(states[1].filter.count > filter.filter.count * 99 / 100, "items are missing");
	owned_free(&filter);
	owned_free(&states[0]);
	owned_free(&states[1]);
	free(hashes);
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
		check_case(run_pairs, p, "union and sum of two, %s", p->name);
		check_case(run_trees, p, "union_agg and sum_agg, %s", p->name);
		check_case(run_items, p, "aggregates over items, %s", p->name);
	}
	check_case(run_many, NULL, "many items");
	check_case(run_seeds, NULL, "seeds");
	check_case(run_first_tables, NULL, "first tables");
	check_case(run_few, NULL, "few items");
	check_case(run_crowded, NULL, "items that crowd at the end of a set");
	check_case(run_promises, NULL, "promises of two");
	check_case(run_classes, NULL, "classes of items in states");
	check_case(run_emptied, NULL, "filters that lost all items");
	check_case(run_said_empty, NULL, "what says that it is empty");
	return check_end();
}
