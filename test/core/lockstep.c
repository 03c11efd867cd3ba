/*
 * lockstep.c - random histories of every operation on filters of every shape,
 * beside the exact oracle of model.h.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* Where the hashes of a history come from. */
typedef enum source
{
	UNIFORM,
	CLUSTERED, /* few values of the top bits: prefixes that collide */
	SEQUENTIAL /* prefixes side by side */
} source;

typedef struct shape
{
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t bucket_size;
	source from;
	unsigned burst; /* items added at once, at most */
} shape;

typedef struct history
{
	const shape *shape;
	uint64_t seed; /* of the filters; unions need the same */
	owned filter;
	model model;
} history;

enum
{
	HISTORIES = 2,
	OPERATIONS = 50,
	MOST_ITEMS = 5000
};

static uint64_t
new_hash(const shape *s)
{
	uint64_t random = check_random();

	if (s->from == CLUSTERED)
		return (random % 50) * UINT64_C(0x0523456789abcdef) ^ check_random() >> (24 + random % 30);
	if (s->from == SEQUENTIAL)
		return (random % MOST_ITEMS) << 40 ^ check_random() >> 40;
	return random;
}

static bool
pick_member(const model *m, uint64_t *hash)
{
	uint32_t copies;
	size_t at = m->truth.slots > 0 ? check_below(m->truth.slots) : 0;

	if (map_next(&m->truth, &at, hash, &copies))
		return true;
	at = 0;
	return map_next(&m->truth, &at, hash, &copies);
}

static ckf_params
shape_params(const shape *s, uint64_t seed)
{
	ckf_params params = params_of(s->capacity, s->fpr, s->set, s->plain, s->bucket_size);

	params.seed = seed;
	return params;
}

static void
add_one(history *h, uint64_t hash)
{
	ckf_status status = owned_add(&h->filter, hash);

	model_follow(&h->model, &h->filter.filter);
	if (status == CKF_OK)
		model_add(&h->model, hash);
	CHECK(h->filter.filter.count == h->model.count, "count %llu after an add, must be %llu",
		  (unsigned long long)h->filter.filter.count, (unsigned long long)h->model.count);
	model_check_hash(&h->model, &h->filter, hash);
}

static void
add_new(history *h)
{
	uint64_t n = 1 + check_below(h->shape->burst);

	for (; n > 0 && h->model.count < MOST_ITEMS; n--)
		add_one(h, new_hash(h->shape));
}

static void
add_again(history *h)
{
	uint64_t hash;

	for (uint64_t n = check_below(40); n > 0; n--)
		if (pick_member(&h->model, &hash))
			add_one(h, hash);
}

static void
remove_one(history *h, uint64_t hash)
{
	bool found = true, expected = model_removes(&h->model, hash);
	ckf_status status = owned_remove(&h->filter, hash, &found);

	if (h->model.set)
	{
		CHECK(status == CKF_IS_SET, "removal from a set: status %d", status);
		return;
	}
	CHECK(status == CKF_OK, "remove: status %d", status);
	CHECK(found == expected, "remove found %d, must be %d", found, expected);
	model_remove(&h->model, hash);
	CHECK(h->filter.filter.count == h->model.count, "count after a removal");
	model_check_hash(&h->model, &h->filter, hash);
}

static void
remove_some(history *h)
{
	uint64_t n = check_below(check_chance(20) ? h->model.count + 1 : h->shape->burst);
	uint64_t hash;

	for (; n > 0 && pick_member(&h->model, &hash); n--)
		remove_one(h, hash);
}

/* Removing what was never added and is not seen changes nothing. */
static void
remove_stranger(history *h)
{
	uint64_t hash = new_hash(h->shape);
	bool found = true;

	if (h->model.set || map_get(&h->model.groups, model_prefix(&h->model, hash)) > 0)
		return;
	CHECK(owned_remove(&h->filter, hash, &found) == CKF_OK && !found, "a stranger was removed");
}

static void
rehouse(history *h, ckf_goal goal)
{
	size_t before = h->filter.filter.size;
	ckf_status status = owned_job(&h->filter, goal, NULL);

	CHECK(status == CKF_OK || (goal == CKF_GROW && status == CKF_PRECISION), "job %d: status %d",
		  goal, status);
	CHECK(goal != CKF_COMPACT || h->filter.filter.size <= before, "compaction: %zu to %zu bytes",
		  before, h->filter.filter.size);
	model_follow(&h->model, &h->filter.filter);
}

static void
reopen(history *h)
{
	owned copy;

	owned_copy(&copy, &h->filter);
	owned_free(&h->filter);
	h->filter = copy;
}

static void history_free(history *h);
static void history_start(history *h, const shape *s, uint64_t seed);

/* Union or sum with a filter of a short history of its own. */
static void
merge(history *h, bool sum, const shape *s)
{
	history other;

	history_start(&other, s, h->seed);
	for (int i = 0; i < 3; i++)
		add_new(&other);
	if (check_chance(50))
		add_again(&other);
	if (h->model.count + other.model.count <= MOST_ITEMS)
	{
		owned result;
		bool with_itself = check_chance(10);
		const owned *in = with_itself ? &h->filter : &other.filter;
		model inputs[2] = {h->model, with_itself ? h->model : other.model};
		ckf_status status = run_job(&result, sum ? CKF_SUM : CKF_UNION, &h->filter, in);

		CHECK(status == CKF_OK || status == CKF_PRECISION, "merge: status %d", status);
		if (status == CKF_OK)
		{
			model_merge(&h->model, inputs, 2, sum, &result.filter);
			model_free(&inputs[0]);
			owned_free(&h->filter);
			h->filter = result;
		}
	}
	history_free(&other);
}

/* The history becomes an aggregate of new items, or starts again empty. */
static void
history_start(history *h, const shape *s, uint64_t seed)
{
	ckf_params params = shape_params(s, seed);

	h->shape = s;
	h->seed = seed;
	if (check_chance(50))
		owned_create(&h->filter, &params);
	else
	{
		if (check_chance(50))
			params.capacity = 0;
		build_aggregate(&h->filter, &params, NULL, 0);
	}
	model_init(&h->model, &h->filter.filter);
	CHECK(h->model.set == s->set && h->model.b == s->bucket_size, "kind or bucket size");
}

static void
history_free(history *h)
{
	owned_free(&h->filter);
	model_free(&h->model);
}

static void
operate(history *h)
{
	uint64_t choice = check_below(100);
	shape other = *h->shape;

	if (choice < 30)
		add_new(h);
	else if (choice < 40)
		add_again(h);
	else if (choice < 60)
		remove_some(h);
	else if (choice < 65)
		remove_stranger(h);
	else if (choice < 72)
		rehouse(h, CKF_GROW);
	else if (choice < 82)
		rehouse(h, CKF_COMPACT);
	else if (choice < 88)
		reopen(h);
	else if (choice < 92 && !h->model.set)
	{
		other.set = false;
		merge(h, true, &other);
	}
	else if (choice < 94 && h->model.set)
		merge(h, check_chance(50), &other);
	else
		model_check(&h->model, &h->filter);
}

static void
run_history(const void *arg)
{
	const shape *s = arg;

	for (uint64_t i = check_rounds(HISTORIES); i > 0; i--)
	{
		history h;

		history_start(&h, s, check_chance(50) ? 0 : check_random());
		for (int op = 0; op < OPERATIONS; op++)
			operate(&h);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

/* Two filters of unlike shapes meet. */
static void
run_meetings(const void *arg)
{
	const shape *shapes = arg;

	for (uint64_t i = check_rounds(400); i > 0; i--)
	{
		history h;
		shape a = shapes[check_below(4)], b = shapes[check_below(4)];

		a.set = check_chance(30);
		b.set = check_chance(30);
		history_start(&h, &a, check_random());
		for (uint64_t n = check_below(4); n > 0; n--)
			add_new(&h);
		if (check_chance(50))
			add_again(&h);
		merge(&h, check_chance(50), &b);
		model_check(&h.model, &h.filter);
		if (!h.model.set)
			remove_some(&h);
		rehouse(&h, check_chance(50) ? CKF_GROW : CKF_COMPACT);
		add_new(&h);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

/* One item over and over: 2 b copies, then saturated for good. */
static void
run_saturation(const void *arg)
{
	shape s = *(const shape *)arg;

	for (uint64_t i = check_rounds(20); i > 0; i--)
	{
		history h;
		uint64_t hash = new_hash(&s);

		history_start(&h, &s, 0);
		for (uint64_t n = check_below(3); n > 0; n--)
			add_new(&h);
		for (unsigned n = 0; n < 2U * s.bucket_size + 3; n++)
			add_one(&h, hash);
		for (unsigned n = 0; n < 2U * s.bucket_size + 3; n++)
			remove_one(&h, hash);
		rehouse(&h, CKF_GROW);
		model_check(&h.model, &h.filter);
		history_free(&h);
	}
}

static const struct
{
	int64_t capacity;
	double fpr;
	unsigned burst;
} targets[] = {{1, 0.5, 30},
			   {10, 0.01, 60},
			   {300, 0.3, 300},
			   {1000, 0.01, 800},
			   {20000, 0.001, 1500},
			   {5000, 1e-6, 1500},
			   {1 << 20, 0.05, 1500},
			   {1000000000, 0.001, 1500},
			   {INT64_C(1) << 40, 0x1p-15, 1500}};

static const struct
{
	const char *name;
	bool plain;
	uint8_t bucket_size;
} layouts[] = {{"semi-sorted", false, 4},
			   {"plain b=2", true, 2},
			   {"plain b=4", true, 4},
			   {"plain b=8", true, 8}};

static const char *const source_names[] = {"uniform", "clustered", "sequential"};

int
main(void)
{
	shape mixed[4];

	check_begin("core lockstep");
	for (size_t l = 0; l < 4; l++)
	{
		for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
			for (unsigned variant = 0; variant < 6; variant++)
			{
				shape s = {targets[t].capacity, targets[t].fpr,         variant % 2 == 1,
						   layouts[l].plain,    layouts[l].bucket_size, (source)(variant / 2),
						   targets[t].burst};

				check_case(run_history, &s, "%s %s, capacity %lld, fpr %g, %s", layouts[l].name,
						   s.set ? "set" : "deletable", (long long)s.capacity, s.fpr,
						   source_names[s.from]);
			}
		mixed[l] =
			(shape){5000, 0.01, false, layouts[l].plain, layouts[l].bucket_size, UNIFORM, 700};
		check_case(run_saturation, &mixed[l], "saturation, %s", layouts[l].name);
	}
	check_case(run_meetings, mixed, "unlike shapes meet");
	return check_end();
}
