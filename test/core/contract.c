/*
 * contract.c - the promise to a user who removes only what was added: an item of which a copy is
 * left is never denied.  Random histories use few items, so that copies add up, prefixes are shared
 * and groups saturate, in filters of different shapes that are summed and united.
 *
 * Unlike lockstep.c, this suite knows nothing about prefixes and groups, but only what was added
 * and removed.
 */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

enum
{
	FILTERS = 4,
	POOL = 48,     /* items */
	PREFIXES = 12, /* that most of them share */
	OPERATIONS = 150,
	HISTORIES = 15
};

/* A filter, and how many copies of each item of the pool are left in it. */
typedef struct account
{
	owned filter;
	uint32_t left[POOL];
	bool set;
} account;

typedef struct world
{
	uint64_t items[POOL];
	account accounts[FILTERS];
} world;

/* Items that share prefixes of up to 40 bits, some that are neighbours, and
 * some that have nothing to do with each other. */
static void
make_items(world *w)
{
	uint64_t base = check_random();

	for (int i = 0; i < POOL; i++)
	{
		uint64_t random = check_random();

		if (i < POOL / 2)
			w->items[i] = (base * (uint64_t)(1 + i % PREFIXES)) >> 24 << 24 | random >> 40;
		else if (i < POOL * 3 / 4)
			w->items[i] = base + ((uint64_t)i << 42);
		else
			w->items[i] = random;
	}
}

/* An empty filter of any shape; a table from the start, or hashes. */
static void
open_account(const world *w, account *a)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	static const int64_t capacities[] = {100, 20000, 5000000};
	static const double rates[] = {0.3, 0.01, 0.0001};
	ckf_params params = params_of(capacities[check_below(3)], rates[check_below(3)],
								  check_chance(10), check_chance(50), sizes[check_below(4)]);
	bool table = check_chance(70);

	build_aggregate(&a->filter, &params, w->items, table ? POOL : 0);
	for (int i = 0; i < POOL; i++)
		a->left[i] = table;
	a->set = params.set;
}

static void
check_account(const world *w, const account *a)
{
	const ckf_filter *filter = &a->filter.filter;

	CHECK(filter_is_set(filter) == a->set, "the kind");
	for (int i = 0; i < POOL; i++)
	{
		unsigned copies = ckf_copies(filter, w->items[i]);
		unsigned least = a->left[i] < 2U * filter->b ? a->left[i] : 2U * filter->b;

		CHECK(a->left[i] == 0 || ckf_contains(filter, w->items[i]), "FALSE NEGATIVE: item %d", i);
		CHECK(copies >= least, "item %d: %u copies, %u are left", i, copies, a->left[i]);
	}
}

static void
add(const world *w, account *a, int item)
{
	for (uint64_t n = 1 + check_below(20); n > 0; n--)
		if (owned_add(&a->filter, w->items[item]) == CKF_OK)
			a->left[item] = a->set ? 1 : a->left[item] + 1;
}

/* A set refuses, and stays as it is. */
static void
remove_from_set(const world *w, account *a, int item)
{
	owned before;
	bool found = true;

	owned_copy(&before, &a->filter);
	CHECK(owned_remove(&a->filter, w->items[item], &found) == CKF_IS_SET, "removal from a set");
	CHECK(!found, "a refused removal found something");
	CHECK(owned_same_bytes(&before, &a->filter), "a refused removal changed the filter");
	owned_free(&before);
}

/* Some copies, or all that are left. */
static void
take_out(const world *w, account *a, int item)
{
	uint64_t n = check_chance(50) ? a->left[item] : check_below(a->left[item] + 1);
	bool found;

	if (a->set)
	{
		remove_from_set(w, a, item);
		return;
	}
	for (; n > 0; n--, a->left[item]--)
		CHECK(owned_remove(&a->filter, w->items[item], &found) == CKF_OK, "remove");
}

/* What is left in a merger of n accounts, all of one seed. */
static void
merge_accounts(account *to, const account *in, size_t n, bool sum)
{
	account merged = {.set = !sum, .filter = to->filter};

	for (size_t k = 0; k < n; k++)
		merged.set = merged.set || in[k].set;
	for (int i = 0; i < POOL; i++)
	{
		for (size_t k = 0; k < n; k++)
			merged.left[i] += in[k].left[i];
		if (merged.set && merged.left[i] > 1)
			merged.left[i] = 1;
	}
	*to = merged;
}

/* The first account becomes the merger of it and another, or of itself twice. */
static void
merge_two(account *a, account *b, bool sum)
{
	account in[2] = {*a, *b};
	ckf_status status = owned_rebuild(&a->filter, sum ? CKF_SUM : CKF_UNION, &b->filter);

	CHECK(status == CKF_OK || status == CKF_PRECISION, "merge: status %d", status);
	if (status == CKF_OK)
		merge_accounts(a, in, 2, sum);
}

/* The first account becomes sum_agg or union_agg of all. */
static void
merge_all(world *w, bool sum)
{
	ckf_params params;
	owned state, result;
	ckf_status status;

	ckf_params_default(&params);
	owned_state(&state, &params);
	for (int k = 0; k < FILTERS; k++)
		CHECK(owned_collect(&state, &w->accounts[k].filter,
							sum ? CKF_MERGE_SUM : CKF_MERGE_UNION) == CKF_OK,
			  "collect");
	status = run_rebuild(&result, CKF_FINISH_SUM, &state, NULL);
	CHECK(status == CKF_OK || status == CKF_PRECISION, "finish: status %d", status);
	if (status == CKF_OK)
	{
		owned_free(&w->accounts[0].filter);
		w->accounts[0].filter = result;
		merge_accounts(&w->accounts[0], w->accounts, FILTERS, sum);
	}
	owned_free(&state);
}

/* Copies of many items at once, singly where they are few; or the first ones out. */
static void
change_many(const world *w, account *a, bool out)
{
	uint64_t hashes[POOL * 2], n = 0;
	uint32_t left[POOL];
	ckf_status status;

	for (int i = 0; i < POOL; i++)
	{
		uint64_t some = out ? check_below((a->left[i] < 3 ? a->left[i] : 2) + 1) : check_below(3);

		left[i] = out ? a->left[i] - (uint32_t)some : a->left[i] + (uint32_t)some;
		if (a->set && left[i] > 1)
			left[i] = 1;
		for (; some > 0; some--)
			hashes[n++] = w->items[i];
	}
	status = out ? owned_remove_all(&a->filter, hashes, n) : owned_add_all(&a->filter, hashes, n);
	if (out && a->set)
		CHECK(n == 0 || status == CKF_IS_SET, "removal of many from a set: status %d", status);
	else
		CHECK(status == CKF_OK || (!out && status == CKF_PRECISION), "many: status %d", status);
	if (status == CKF_OK)
		memcpy(a->left, left, sizeof left);
}

static void
operate(world *w)
{
	account *a = &w->accounts[check_below(FILTERS)], *b = &w->accounts[check_below(FILTERS)];
	int item = (int)check_below(POOL);
	uint64_t choice = check_below(100);

	if (choice < 35)
		add(w, a, item);
	else if (choice < 70)
		take_out(w, a, item);
	else if (choice < 75)
		(void)owned_rebuild(&a->filter, CKF_GROW, NULL);
	else if (choice < 82)
		CHECK(owned_rebuild(&a->filter, CKF_COMPACT, NULL) == CKF_OK, "compact");
	else if (choice < 90)
		merge_two(a, b, true);
	else if (choice < 92)
		merge_two(a, b, false);
	else if (choice < 95)
		merge_all(w, choice < 94);
	else if (choice < 97)
		change_many(w, a, check_chance(50));
	else if (choice < 99 || a->set)
	{
		owned_free(&a->filter);
		open_account(w, a);
	}
}

static void
run_histories(const void *arg)
{
	world w;

	(void)arg;
	for (uint64_t n = check_rounds(HISTORIES); n > 0; n--)
	{
		make_items(&w);
		for (int k = 0; k < FILTERS; k++)
			open_account(&w, &w.accounts[k]);
		for (int i = 0; i < OPERATIONS; i++)
		{
			operate(&w);
			for (int k = 0; k < FILTERS; k++)
				check_account(&w, &w.accounts[k]);
		}
		for (int k = 0; k < FILTERS; k++)
		{
			owned_check(&w.accounts[k].filter);
			owned_free(&w.accounts[k].filter);
		}
	}
}

int
main(void)
{
	check_begin("core contract");
	for (int i = 1; i <= 8; i++)
		check_case(run_histories, NULL, "histories, %d", i);
	return check_end();
}
