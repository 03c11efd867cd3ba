/*
 * faults.c - past faults, each as it was reported, but those that unlike.c finds.
 */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

/* The hashes of integers from..from + n - 1. */
static uint64_t *
integers(int64_t from, size_t n, uint64_t seed)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes);

	for (size_t i = 0; i < n; i++)
		hashes[i] = ckf_hash_integer(from + (int64_t)i, seed);
	return hashes;
}

static void
expect_all(const owned *o, int64_t from, size_t n)
{
	uint64_t *hashes = integers(from, n, o->filter.seed);
	size_t in = ckf_contains_many(&o->filter, hashes, n, NULL);

	CHECK(in == n, "%zu of %zu items were lost", n - in, n);
	free(hashes);
}

static void
new_state(owned *state)
{
	ckf_params params;

	ckf_params_default(&params);
	owned_state(state, &params);
}

/* ------------------------------------------------ rates that no table keeps */

static void
build_rate(owned *o, double fpr, size_t n, bool at_once)
{
	ckf_params params = params_of(0, fpr, false, false, 4);
	uint64_t *hashes = integers(1, n, 0);

	if (at_once)
		build_bulk(o, &params, hashes, n);
	else
		build_aggregate(o, &params, hashes, n);
	free(hashes);
}

/* cuckoofilter_agg(x, 1e-18) became a table of w = 56, and missed its rate. */
static void
run_rates(const void *arg)
{
	enum
	{
		ITEMS = 10000
	};

	(void)arg;
	for (int e = 30; e < 64; e++)
	{
		double fpr = 1.0 / (double)(UINT64_C(1) << e);
		unsigned w = prefix_bits(ITEMS, fpr, 8);
		owned o, sum;

		build_rate(&o, fpr, ITEMS, e % 2);
		expect_all(&o, 1, ITEMS);
		if (w <= CKF_MAX_PREFIX)
			CHECK(ckf_fpr(&o.filter) <= fpr, "a rate of %g, asked %g", ckf_fpr(&o.filter), fpr);
		else
			CHECK(o.filter.encoding == CKF_HASHES && ckf_fpr(&o.filter) < ITEMS * 0x1p-63,
				  "a rate of %g, asked %g", ckf_fpr(&o.filter), fpr);
		/* nor does a merger of such, which has no more promise than they */
		CHECK(run_rebuild(&sum, CKF_SUM, &o, &o) == CKF_OK, "sum");
		CHECK(w <= CKF_MAX_PREFIX || sum.filter.encoding == CKF_HASHES, "a sum's w %d",
			  sum.filter.w);
		owned_free(&sum);
		owned_free(&o);
	}
}

/* Of filters in whole hashes a merger has w for 16 times its items where there are
 * such, but never more than a table may have; and where its items alone need
 * more, they stay hashes. */
static void
run_rates_merged(const void *arg)
{
	enum
	{
		ITEMS = 3000
	};

	(void)arg;
	for (int e = 36; e < 50; e++)
	{
		double fpr = 1.0 / (double)(UINT64_C(1) << e);
		unsigned w = prefix_bits(2 * ITEMS, fpr, 8), wide = prefix_bits(32 * ITEMS, fpr, 8);
		ckf_params params = params_of(1, fpr, false, false, 4);
		owned in[2], sum;

		for (int k = 0; k < 2; k++)
		{
			uint64_t *hashes = integers(1 + k * ITEMS, ITEMS, 0);

			owned_create(&in[k], &params);
			CHECK(owned_add_all(&in[k], hashes, ITEMS) == CKF_OK, "add");
			CHECK(in[k].filter.encoding == CKF_HASHES, "3,000 items are a table");
			free(hashes);
		}
		CHECK(run_rebuild(&sum, CKF_SUM, &in[0], &in[1]) == CKF_OK, "sum");
		expect_all(&sum, 1, 2 * ITEMS);
		if (w > CKF_MAX_PREFIX)
			CHECK(sum.filter.encoding == CKF_HASHES, "w %d", sum.filter.w);
		else if (wide <= CKF_MAX_PREFIX - 2) /* where there is a geometry */
			CHECK(sum.filter.w == wide, "w %d, must be %u", sum.filter.w, wide);
		else
			CHECK(sum.filter.encoding != CKF_HASHES && sum.filter.w >= w &&
					  sum.filter.w <= CKF_MAX_PREFIX,
				  "w %d, must be %u to %u", sum.filter.w, w, CKF_MAX_PREFIX);
		owned_free(&sum);
		owned_free(&in[0]);
		owned_free(&in[1]);
	}
}

/* Hashes that cannot become a table stay hashes if items are added one by one. A table was
 * tried after every eleven items, which takes quadratic time. It must be tried a few times
 * only. */
static void
run_rate_grown(const void *arg)
{
	ckf_params params = params_of(1, 1e-16, false, false, 4);
	uint64_t jobs = driven.jobs;
	owned o;

	(void)arg;
	owned_create(&o, &params);
	for (int64_t i = 1; i <= 20000; i++)
	{
		CHECK(owned_add(&o, ckf_hash_integer(i, 0)) == CKF_OK, "add");
		CHECK(o.filter.room <= CKF_HEADER_SIZE + 8 * ((o.filter.count - 1) * 3 / 2 + 16) + 100,
			  "room %zu of %llu", o.filter.room, (unsigned long long)o.filter.count);
	}
	jobs = driven.jobs - jobs;
	CHECK(jobs <= 25, "%llu rebuilds", (unsigned long long)jobs);
	CHECK(o.filter.encoding == CKF_HASHES, "a table of w %d", o.filter.w);
	CHECK(owned_rebuild(&o, CKF_COMPACT, NULL) == CKF_OK, "compact");
	CHECK(o.filter.encoding == CKF_HASHES, "compacted to a table of w %d", o.filter.w);
	expect_all(&o, 1, 20000);
	owned_free(&o);
}

/*
 * FORMAT.md, section 7: a filter of 4,096 hashes becomes a table when one more is added,
 * however it was filled. A filter that had grown a few items before accepted ten more.
 */
static void
run_last_hashes(const void *arg)
{
	enum
	{
		MOST = 4096
	};
	uint64_t *hashes = integers(1, MOST + 1, 0);
	ckf_params params = params_of(1, 0.01, false, false, 4);

	(void)arg;
	for (size_t n = 0; n <= MOST; n += n < MOST - 60 ? 37 : 1)
	{
		owned o;

		owned_create(&o, &params);
		CHECK(owned_add_all(&o, hashes, n) == CKF_OK, "add %zu", n);
		for (size_t i = n; i < MOST; i++)
			CHECK(owned_add(&o, hashes[i]) == CKF_OK, "add");
		CHECK(o.filter.encoding == CKF_HASHES, "from %zu on: %llu hashes are a table", n,
			  (unsigned long long)o.filter.count);
		CHECK(owned_add(&o, hashes[MOST]) == CKF_OK, "add");
		CHECK(o.filter.encoding != CKF_HASHES, "from %zu on: %llu hashes are no table", n,
			  (unsigned long long)o.filter.count);
		owned_free(&o);
	}
	free(hashes);
}

/* Items in crowded buckets at the end of a set were added in part, and then again by the
 * rebuild that followed. */
static void
run_crowded(const void *arg)
{
	const ckf_operation *operation = arg;

	for (size_t few = 30; few < 70; few++)
		for (int order = 0; order < 2; order++)
		{
			ckf_params params = params_of(100000, 0.01, false, false, 4);
			owned inputs[2], state;

			for (int i = 0; i < 2; i++)
			{
				owned_create(&inputs[i], &params);
				for (uint64_t k = 1; k <= (i == 0 ? 200 : few); k++)
					CHECK(owned_add(&inputs[i], i == 0
													? k * UINT64_C(20000000000000007)
													: 0 - k * UINT64_C(20000000000000)) == CKF_OK,
						  "add");
			}
			new_state(&state);
			for (int i = 0; i < 2; i++)
				CHECK(owned_collect(&state, &inputs[i ^ order], *operation) == CKF_OK, "collect");
			CHECK(owned_rebuild(&state, CKF_FINISH_SUM, NULL) == CKF_OK, "finish");
			CHECK(state.filter.count == 200 + few, "%llu copies of %zu items",
				  (unsigned long long)state.filter.count, 200 + few);
			for (int i = 0; i < 2; i++)
				owned_free(&inputs[i]);
			owned_free(&state);
		}
}

int
main(void)
{
	static const struct
	{
		const char *name;
		ckf_operation operation;
	} merges[] = {{"union_agg", CKF_MERGE_UNION}, {"sum_agg", CKF_MERGE_SUM}};

	check_begin("core faults");
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++)
		check_case(run_crowded, &merges[i].operation, "%s of items that crowd", merges[i].name);
	check_case(run_rates, NULL, "rates that no table keeps");
	check_case(run_rates_merged, NULL, "the same of mergers");
	check_case(run_rate_grown, NULL, "the same, item by item");
	check_case(run_last_hashes, NULL, "the last hashes before a table");
	return check_end();
}
