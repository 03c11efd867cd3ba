/*
 * many.c - many items added or removed in one call give the same answers as one by one, in filters
 * of every shape and size.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>

#include "thresholds.h"

typedef struct plan
{
	const char *name;
	size_t most; /* items of a filter and of a change */
	unsigned rounds;
} plan;

enum
{
	MOST_SINGLE = 20000, /* items that are changed one by one, too */
	MOST_W_SEEN = 40     /* where a table is much smaller than hashes */
};

/* n hashes, of which some are in and some come several times. */
static uint64_t *
draw_changes(const world *w, const model *m, unsigned kind, size_t n)
{
	uint64_t *hashes = world_hashes(w, kind, n);
	uint32_t copies;
	size_t at = 0, i = check_below(n + 1);

	for (; i < n && map_next(&m->truth, &at, &hashes[i], &copies); i++)
		;
	repeat_some(hashes, n);
	return hashes;
}

/* Compare the copies of each hash of both filters, if these have the same precision. */
static void
check_alike(const owned *many, const owned *single, const model *m, const uint64_t *hashes,
			size_t n)
{
	uint64_t key;
	uint32_t copies;

	if (many->filter.w != single->filter.w)
		return;
	CHECK(many->filter.count == single->filter.count, "%llu copies at once, %llu singly",
		  (unsigned long long)many->filter.count, (unsigned long long)single->filter.count);
	for (size_t i = 0; i < n; i++)
		CHECK(ckf_copies(&many->filter, hashes[i]) == ckf_copies(&single->filter, hashes[i]),
			  "hash %#llx: %u copies at once, %u singly", (unsigned long long)hashes[i],
			  ckf_copies(&many->filter, hashes[i]), ckf_copies(&single->filter, hashes[i]));
	for (size_t at = 0; map_next(&m->truth, &at, &key, &copies);)
		CHECK(ckf_copies(&many->filter, key) == ckf_copies(&single->filter, key),
			  "an item that did not change");
}

/* The items of a filter, before a table cut them: some of a set may be equal then. */
static uint64_t
whole_items(const model *m)
{
	uint64_t items = 0;
	uint64_t key;
	uint32_t copies;

	for (size_t at = 0; map_next(&m->truth, &at, &key, &copies);)
		items += copies;
	return items;
}

static void
check_added(const input *in, const owned *many)
{
	const ckf_filter *filter = &many->filter;
	bool whole = in->filter.filter.encoding == CKF_HASHES;
	double least = fmax((double)filter->capacity, (double)filter->count);
	unsigned needed = prefix_bits(least, filter->fpr, filter->c);
	unsigned w = prefix_bits(fmax(least, 16.0 * CKF_MAX_HASHES), filter->fpr, filter->c);

	if (w > CKF_MAX_PREFIX)
		w = CKF_MAX_PREFIX; /* the items that are expected do not forbid a table */
	CHECK(filter->capacity == in->filter.filter.capacity && filter->seed == in->filter.filter.seed,
		  "the promise changed");
	model_check(&in->model, many);
	if (!whole)
		CHECK(filter->w == in->filter.filter.w, "w %d of a table became %d", in->filter.filter.w,
			  filter->w);
	else if (filter->encoding != CKF_HASHES)
		CHECK((in->crowded || whole_items(&in->model) > CKF_MAX_HASHES) &&
				  needed <= CKF_MAX_PREFIX && filter->w >= w,
			  "w %d of %llu copies, must be %u", filter->w, (unsigned long long)filter->count, w);
	else
		CHECK(filter->count <= CKF_MAX_HASHES || w > MOST_W_SEEN || in->crowded ||
				  model_most_copies(&in->model) > filter->b,
			  "%llu hashes are no table", (unsigned long long)filter->count);
}

/* Check that a refusal is justified, by the items that the result would have. */
static void
check_refused(const input *in, ckf_status status, const uint64_t *hashes, size_t n)
{
	promise p = promise_of(&in, 1, !in->model.set);
	model all;

	CHECK(status == CKF_PRECISION, "add many: status %d", status);
	p.w = in->filter.filter.w; /* of a table that is empty, too */
	model_merge(&all, &in->model, 1, !in->model.set, &in->filter.filter);
	for (size_t i = 0; i < n; i++)
		model_add(&all, hashes[i]);
	CHECK(in->crowded || may_refuse(&p, &all), "refused: %zu hashes, to %llu copies at w %u", n,
		  (unsigned long long)all.count, p.w);
	model_free(&all);
}

/* Change in one call and, if the items are few, also one by one. */
static void
add_both_ways(input *in, const uint64_t *hashes, size_t n)
{
	owned many, single;
	ckf_status status = run_rebuild_hashes(&many, CKF_ADD_MANY, &in->filter, hashes, n),
			   one = CKF_OK;

	if (status != CKF_OK)
	{
		check_refused(in, status, hashes, n);
		return;
	}
	model_follow(&in->model, &many.filter);
	for (size_t i = 0; i < n; i++)
		model_add(&in->model, hashes[i]);
	check_added(in, &many);
	owned_copy(&single, &in->filter);
	for (size_t i = 0; i < n && n <= MOST_SINGLE && one == CKF_OK; i++)
		one = owned_add(&single, hashes[i]);
	if (n <= MOST_SINGLE && one == CKF_OK)
		check_alike(&many, &single, &in->model, hashes, n);
	owned_free(&single);
	owned_free(&in->filter);
	in->filter = many;
}

/* Remove from the model. An item that was never added takes no copy of another item. */
static size_t
keep_members(const model *m, uint64_t *hashes, size_t n)
{
	map taken = {0};
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = hashes[i];

		if (hash <= 1 || map_get(&taken, hash) >= map_get(&m->truth, hash))
			continue;
		map_set(&taken, hash, map_get(&taken, hash) + 1);
		hashes[kept++] = hash;
	}
	map_free(&taken);
	return kept;
}

static void
remove_both_ways(input *in, uint64_t *hashes, size_t n)
{
	owned many, single;
	ckf_status status;
	bool found;

	n = keep_members(&in->model, hashes, n);
	status = run_rebuild_hashes(&many, CKF_REMOVE_MANY, &in->filter, hashes, n);
	if (in->model.set)
	{
		CHECK(status == CKF_IS_SET, "removal of many from a set: status %d", status);
		return;
	}
	CHECK(status == CKF_OK, "remove many: status %d", status);
	owned_copy(&single, &in->filter);
	for (size_t i = 0; i < n; i++)
	{
		CHECK(owned_remove(&single, hashes[i], &found) == CKF_OK, "remove");
		model_remove(&in->model, hashes[i]);
	}
	CHECK(many.filter.w == single.filter.w, "removals changed w");
	check_alike(&many, &single, &in->model, hashes, n);
	model_check(&in->model, &many);
	owned_free(&single);
	owned_free(&in->filter);
	in->filter = many;
}

static void
run_many(const void *arg)
{
	const plan *p = arg;

	for (uint64_t i = check_rounds(p->rounds); i > 0; i--)
	{
		world w = world_new(p->most);
		input in;

		w.narrow = check_chance(25);
		input_draw(&in, &w, 1);
		for (int change = 0; change < 3; change++)
		{
			size_t n = draw_size(p->most);
			unsigned kind = w.crowds ? (unsigned)check_below(HASH_KINDS) : 0;
			uint64_t *hashes = draw_changes(&w, &in.model, kind, n);

			in.crowded = in.crowded || kind > 0;
			if (check_chance(60))
				add_both_ways(&in, hashes, n);
			else
				remove_both_ways(&in, hashes, n);
			free(hashes);
		}
		input_free(&in);
	}
}

/* FORMAT.md: changes of at most a sixteenth of the copies are few. */
static void
run_few(const void *arg)
{
	(void)arg;
	for (uint64_t n = 0; n < 200; n += 1 + n / 16)
	{
		ckf_params params = params_of(1000, 0.01, false, false, 4);
		owned o;

		owned_create(&o, &params);
		for (uint64_t i = 0; i < n; i++)
			CHECK(owned_add(&o, check_random()) == CKF_OK, "add");
		for (uint64_t few = 0; few < 20; few++)
			CHECK(ckf_few(&o.filter, few) == (few <= n / 16), "%llu of %llu",
				  (unsigned long long)few, (unsigned long long)n);
		CHECK(!ckf_few(&o.filter, UINT64_MAX) && !ckf_few(&o.filter, UINT64_C(1) << 60), "many");
		owned_free(&o);
	}
}

/* Remove absent items from an empty filter, and from a filter of other items. */
static void
run_absent(const void *arg)
{
	(void)arg;
	for (size_t n = 0; n <= 2000; n = 2 * n + 1)
	{
		ckf_params params = params_of(5000, 1e-9, false, false, 4);
		uint64_t hashes[20], items[2048];
		owned o, result;

		for (size_t i = 0; i < n; i++)
			items[i] = check_random();
		for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
			hashes[i] = check_random();
		owned_create(&o, &params);
		CHECK(owned_add_all(&o, items, n) == CKF_OK, "add");
		CHECK(run_rebuild_hashes(&result, CKF_REMOVE_MANY, &o, hashes,
								 sizeof hashes / sizeof *hashes) == CKF_OK,
			  "remove");
		CHECK(owned_same_bytes(&o, &result), "of %zu items other ones were removed", n);
		owned_free(&o);
		owned_free(&result);
	}
}

static const plan plans[] = {
	{"a few items", 20, 150},        {"hundreds", 700, 60},   {"thousands", 9000, 15},
	{"tens of thousands", 70000, 6}, {"segments", 300000, 1},
};

int
main(void)
{
	check_begin("core many");
	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
		if (plans[i].most <= LARGEST_INPUT)
			check_case(run_many, &plans[i], "many items at once, %s", plans[i].name);
	check_case(run_few, NULL, "a sixteenth");
	check_case(run_absent, NULL, "removals of what is not in");
	return check_end();
}
