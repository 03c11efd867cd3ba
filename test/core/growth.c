/*
 * growth.c - adds one by one up to the limit of the precision: there the filter refuses clearly,
 * and nothing is lost.  Then removals and compaction.
 */
#include "model.h"

#include <math.h>
#include <stdlib.h>

enum
{
	FIRST_ITEMS = 100,
	SHORTEST_TAG = 4
};

typedef struct goal
{
	int64_t capacity;
	double fpr;
	bool set, plain;
	uint8_t bucket_size;
} goal;

/* DESIGN.md section 1: the rate at which growth stops. */
static double
limit_of(const goal *g)
{
	return fmin(1, fmax(8 * g->fpr, 0.03));
}

/* A table from the start, so that w is spent for the capacity alone. */
static void
start_table(owned *o, model *m, const goal *g)
{
	ckf_params params = params_of(g->capacity, g->fpr, g->set, g->plain, g->bucket_size);
	uint64_t hashes[FIRST_ITEMS];

	for (size_t i = 0; i < FIRST_ITEMS; i++)
		hashes[i] = check_random();
	build_aggregate(o, &params, hashes, FIRST_ITEMS);
	CHECK(o->filter.encoding != CKF_HASHES, "%d items are not a table", FIRST_ITEMS);
	model_init(m, &o->filter);
	for (size_t i = 0; i < FIRST_ITEMS; i++)
		model_add(m, hashes[i]);
}

static unsigned early; /* filters that refused before as many items as they told */

/* At least so many items as ckf_get_info tells can be added until the filter refuses, if it had
 * taken `taken` then; exactly so many if fingerprints are not short, buckets have more than 2
 * slots, and no group is saturated. */
static void
check_items_to_limit(const owned *o, uint64_t taken, uint64_t total, uint64_t left)
{
	bool exact = o->filter.f > 7 && o->filter.b > 2 && !filter_is_set(&o->filter);
	ckf_info info;

	ckf_get_info(&o->filter, &info);
	early += total < taken + left;
	CHECK(!exact || taken + left == total, "%llu and %llu items, but %llu fit",
		  (unsigned long long)taken, (unsigned long long)left, (unsigned long long)total);
	CHECK(info.items_left ==
			  (info.capacity > (int64_t)info.count ? (uint64_t)info.capacity - info.count : 0),
		  "%llu of %lld are left", (unsigned long long)info.items_left, (long long)info.capacity);
	CHECK(!exact || info.items_to_limit == 0, "%llu are left",
		  (unsigned long long)info.items_to_limit);
}

/* Random items until the filter refuses; the refused hash is the answer. */
static uint64_t
fill(owned *o, model *m)
{
	ckf_info info;
	uint64_t total = o->filter.count, taken = total;

	ckf_get_info(&o->filter, &info);
	for (;; total++)
	{
		uint64_t hash = check_random();
		ckf_status status = owned_add(o, hash);

		model_follow(m, &o->filter);
		if (status == CKF_PRECISION)
		{
			check_items_to_limit(o, taken, total, info.items_to_limit);
			return hash;
		}
		model_add(m, hash);
		CHECK(o->filter.count == m->count, "count");
		if (check_chance(1))
		{
			taken = total + 1;
			ckf_get_info(&o->filter, &info);
		}
	}
}

static void
run_limit(const void *arg)
{
	const goal *g = arg;
	owned o, result;
	model m;
	uint64_t refused, key;
	uint32_t copies;
	double rate;

	start_table(&o, &m, g);
	refused = fill(&o, &m);
	rate = ckf_fpr(&o.filter);
	check_note("stops at %llu items, rate %.4f (limit %.4f), f %d, %.1f bits an item",
			   (unsigned long long)m.count, rate, limit_of(g), o.filter.f,
			   8.0 * (double)o.filter.size / (double)m.count);
	CHECK(rate < limit_of(g) * (1 + ldexp(1, 1 - o.filter.c)) + 1e-9, "grew past its limit");
	/* With the shortest tags an item has few other buckets, so growth may end before the last
	 * table is full: in 1 of 100 runs at 0.7 of the limit. */
	CHECK(rate > (o.filter.f > SHORTEST_TAG ? 0.7 : 0.4) * limit_of(g), "stopped before its limit");
	CHECK(owned_add(&o, refused) == CKF_PRECISION, "the refusal does not last");
	model_check(&m, &o);
	CHECK(run_rebuild(&result, CKF_SUM, &o, &o) == CKF_PRECISION || g->set, "a sum past the limit");

	CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compaction at the limit");
	model_check(&m, &o);
	for (size_t at = 0; !g->set && map_next(&m.truth, &at, &key, &copies);)
	{
		bool found;

		CHECK(owned_remove(&o, key, &found) == CKF_OK, "removal at the limit");
		CHECK(found == model_removes(&m, key), "found");
		model_remove(&m, key, false);
	}
	if (!g->set)
		CHECK(owned_add(&o, refused) == CKF_OK, "no room after removals");
	model_free(&m);
	owned_free(&o);
}

/* One filter in 1,000 may refuse before as many items as it told. */
static void
run_early(const void *arg)
{
	const goal *crowded = arg;

	for (int i = 0; i < 3; i++)
	{
		owned o;
		model m;

		start_table(&o, &m, &crowded[i]);
		fill(&o, &m);
		model_free(&m);
		owned_free(&o);
	}
	CHECK(early <= 1, "%u filters", early);
}

static const goal limits[] = {
	{1000, 0.01, false, false, 4}, {1000, 0.01, true, true, 4},   {1000, 0.001, false, true, 2},
	{300, 0.001, false, true, 8},  {5000, 0.05, false, false, 4}, {100, 1e-4, false, false, 4},
	{3000, 0.0625, true, true, 2}, {1, 1e-3, false, true, 8},     {1, 0.5, false, false, 4},
	{200, 0.2, true, false, 4},
};

/* Growth of these ends before the limit of the rate: a prefix has more copies than slots. */
static const goal crowded[] = {
	{1000, 0.2, false, true, 2},
	{1000, 0.05, false, true, 2},
	{300, 0.5, false, true, 2},
};

int
main(void)
{
	check_begin("core growth");
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		check_case(run_limit, &limits[i], "to the limit, capacity %lld, fpr %g, b %d, %s",
				   (long long)limits[i].capacity, limits[i].fpr, limits[i].bucket_size,
				   limits[i].set ? "set" : "deletable");
	check_case(run_early, crowded, "at least as many items fit as are told");
	return check_end();
}
