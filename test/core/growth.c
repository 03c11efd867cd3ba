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

static void
start(owned *o, model *m, const goal *g)
{
	ckf_params params = params_of(g->capacity, g->fpr, g->set, g->plain, g->bucket_size);

	owned_create(o, &params);
	model_init(m, &o->filter);
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

/* Unless fingerprints are the shortest, at least so many items as ckf_get_info tells can be added
 * until the filter refuses, if it held `count` then; exactly so many if fingerprints are not short,
 * buckets have more than 2 slots, and no group is saturated. */
static void
check_items_left(const owned *o, uint64_t count, uint64_t left)
{
	ckf_info info;

	ckf_get_info(&o->filter, &info);
	CHECK(o->filter.f <= SHORTEST_TAG || count + left <= o->filter.count,
		  "%llu and %llu items, but no more than %llu fit", (unsigned long long)count,
		  (unsigned long long)left, (unsigned long long)o->filter.count);
	CHECK(o->filter.f <= 7 || o->filter.b == 2 || count + left == o->filter.count,
		  "%llu and %llu items, but %llu fit", (unsigned long long)count, (unsigned long long)left,
		  (unsigned long long)o->filter.count);
	CHECK(o->filter.f <= 7 || o->filter.b == 2 || info.items_left == 0, "%llu are left",
		  (unsigned long long)info.items_left);
}

/* Random items until the filter refuses; the refused hash is the answer. */
static uint64_t
fill(owned *o, model *m)
{
	ckf_info info;
	uint64_t count = o->filter.count;

	ckf_get_info(&o->filter, &info);
	for (;;)
	{
		uint64_t hash = check_random();
		ckf_status status = owned_add(o, hash);

		model_follow(m, &o->filter);
		if (status == CKF_PRECISION)
		{
			check_items_left(o, count, info.items_left);
			return hash;
		}
		if (check_chance(1))
		{
			count = o->filter.count;
			ckf_get_info(&o->filter, &info);
		}
		model_add(m, hash);
		CHECK(o->filter.count == m->count, "count");
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
		model_remove(&m, key);
	}
	if (!g->set)
		CHECK(owned_add(&o, refused) == CKF_OK, "no room after removals");
	model_free(&m);
	owned_free(&o);
}

/* A filter takes little memory after most items were removed and it was compacted. */
static void
run_shrink(const void *arg)
{
	const goal *g = arg;
	enum
	{
		ITEMS = 20000,
		STAY = 2000
	};
	uint64_t *hashes = check_alloc(ITEMS * sizeof *hashes);
	owned o;
	model m;
	size_t full;

	start(&o, &m, g);
	for (size_t i = 0; i < ITEMS; i++)
	{
		CHECK(owned_add(&o, hashes[i] = check_random()) == CKF_OK, "add");
		model_follow(&m, &o.filter);
		model_add(&m, hashes[i]);
	}
	CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compact");
	full = o.filter.size;
	for (size_t i = STAY; i < ITEMS; i++)
	{
		bool found;

		CHECK(owned_remove(&o, hashes[i], &found) == CKF_OK && found, "remove");
		model_remove(&m, hashes[i]);
	}
	model_check(&m, &o);
	CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compact");
	model_follow(&m, &o.filter);
	model_check(&m, &o);
	check_note("%d items in %zu bytes, %d in %zu", ITEMS, full, STAY, o.filter.size);
	CHECK(o.filter.size < full / 4, "compaction gave back too little");
	model_free(&m);
	owned_free(&o);
	free(hashes);
}

/* Growth steps are a constant factor: items one by one cost few copies. */
static void
run_steps(const void *arg)
{
	const goal *g = arg;
	owned o;
	model m;
	unsigned jobs = 0;
	uint64_t table_from = 0;

	start(&o, &m, g);
	for (uint64_t n = 0; n < 100000; n++)
	{
		uint64_t hash = check_random();
		ckf_status status;

		while ((status = owned_try_add(&o, hash)) == CKF_ROOM)
		{
			CHECK(owned_rebuild(&o, CKF_GROW, NULL) == CKF_OK, "grow");
			jobs++;
		}
		CHECK(status == CKF_OK, "add");
		if (table_from == 0 && o.filter.encoding != CKF_HASHES)
			table_from = n;
	}
	check_note("a table from item %llu on, %u jobs for 100,000 items",
			   (unsigned long long)table_from, jobs);
	CHECK(jobs < 80, "%u jobs", jobs);
	model_free(&m);
	owned_free(&o);
}

/* A filter of the integers 0 .. n - 1, which are no more than its capacity. */
static void
build_integers(owned *o, const goal *g, int64_t n)
{
	ckf_params params = params_of(g->capacity, g->fpr, g->set, g->plain, g->bucket_size);
	uint64_t *hashes = check_alloc((size_t)n * sizeof *hashes);

	for (int64_t i = 0; i < n; i++)
		hashes[i] = ckf_hash_integer(i, 0);
	build_bulk(o, &params, hashes, (size_t)n);
	free(hashes);
}

/* FORMAT.md, section 5: growth makes room for 1.5 n + 8 items, with the table that an aggregate
 * of so many items has. */
static void
run_asks(const void *arg)
{
	const goal *g = arg;
	ckf_params params = params_of(g->capacity, g->fpr, g->set, g->plain, g->bucket_size);
	owned grown, like;
	int64_t n = 0;

	owned_create(&grown, &params);
	for (int growths = 0; growths < 3; growths++)
	{
		while (owned_try_add(&grown, ckf_hash_integer(n, 0)) == CKF_OK)
			n++;
		CHECK(owned_rebuild(&grown, CKF_GROW, NULL) == CKF_OK, "grow");
		if (grown.filter.encoding == CKF_HASHES)
		{
			growths = -1;
			continue;
		}
		build_integers(&like, g, (int64_t)grown.filter.count * 3 / 2 + 8);
		CHECK(grown.filter.w == like.filter.w && grown.filter.m == like.filter.m &&
				  grown.filter.f == like.filter.f,
			  "growth %d of %llu copies: w %d, m %u, but w %d, m %u", growths,
			  (unsigned long long)grown.filter.count, grown.filter.w, grown.filter.m, like.filter.w,
			  like.filter.m);
		owned_free(&like);
	}
	owned_free(&grown);
}

static const goal limits[] = {
	{1000, 0.01, false, false, 4}, {1000, 0.01, true, true, 4},   {1000, 0.001, false, true, 2},
	{300, 0.001, false, true, 8},  {5000, 0.05, false, false, 4}, {100, 1e-4, false, false, 4},
	{3000, 0.0625, true, true, 2}, {1, 1e-3, false, true, 8},     {1, 0.5, false, false, 4},
	{200, 0.2, true, false, 4},
};

static const goal wide[] = {
	{1000000, 0.001, false, false, 4},
	{1000000, 0.01, false, true, 2},
	{1000000, 1e-6, false, true, 8},
	{INT64_C(1) << 40, 0x1p-15, false, false, 4},
};

int
main(void)
{
	check_begin("core growth");
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		check_case(run_limit, &limits[i], "to the limit, capacity %lld, fpr %g, b %d, %s",
				   (long long)limits[i].capacity, limits[i].fpr, limits[i].bucket_size,
				   limits[i].set ? "set" : "deletable");
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
	{
		check_case(run_shrink, &wide[i], "memory given back, fpr %g, b %d", wide[i].fpr,
				   wide[i].bucket_size);
		check_case(run_asks, &wide[i], "what growth asks for, fpr %g, b %d", wide[i].fpr,
				   wide[i].bucket_size);
		check_case(run_steps, &wide[i], "growth steps, fpr %g, b %d", wide[i].fpr,
				   wide[i].bucket_size);
	}
	return check_end();
}
