/*
 * collect.c - a collector, compared with a sorted array: hashes in any order and number, added one
 * by one or as filters, and settled now and then; its memory; a host that is out of memory; and
 * filters that are damaged.
 */
#include "collectors.h"

#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

/* The hashes that are added. */
typedef struct truth
{
	uint64_t *hash;
	size_t n;
} truth;

static size_t
draw_number(size_t most)
{
	static const uint64_t edges[] = {1,
									 5,
									 48,
									 CKF_FIRST_BLOCK,
									 2 * CKF_FIRST_BLOCK,
									 CKF_LARGEST_PART,
									 CKF_STEP,
									 CKF_MOST_BLOCK,
									 2 * CKF_MOST_BLOCK,
									 9 * CKF_MOST_BLOCK};
	uint64_t n = edges[check_below(sizeof edges / sizeof *edges)];

	n = check_chance(40) ? n - 5 + check_below(11) : check_below(2 * n + 1);
	return n > UINT32_MAX ? 0 : n < most ? (size_t)n : most;
}

static void
draw_hashes(truth *t, size_t most)
{
	static const uint64_t corners[] = {0, 1, 2, UINT64_MAX - 1, UINT64_MAX};
	unsigned order = (unsigned)check_below(7);
	uint64_t base = check_random(), few = 1 + check_below(3000);

	t->n = draw_number(most);
	t->hash = check_alloc(8 * t->n + 8);
	for (size_t i = 0; i < t->n; i++)
		switch (order)
		{
			case 0:
				t->hash[i] = check_random();
				break;
			case 1: /* neighbours, ascending */
				t->hash[i] = base + i;
				break;
			case 2: /* descending */
				t->hash[i] = UINT64_MAX / (t->n + 1) * (t->n - i);
				break;
			case 3: /* a few values */
				t->hash[i] = (base + check_below(few)) * UINT64_C(0x9e3779b97f4a7c15);
				break;
			case 4: /* one */
				t->hash[i] = base;
				break;
			case 5: /* the same top bits */
				t->hash[i] = base >> 40 << 40 | check_random() >> 24;
				break;
			default: /* the corners, 0 is 1 */
				t->hash[i] = check_chance(80) ? corners[check_below(5)] : check_random();
		}
}

/* A filter whose parameters a collector gets, in some rounds a table. */
static void
draw_promise(owned *promise)
{
	static const double rates[] = {1e-6, 0.01, 0.2};
	ckf_params params = params_of(1 + (int64_t)check_below(100), rates[check_below(3)],
								  check_chance(50), check_chance(50), 4);
	uint64_t n = check_chance(50) ? 3 * CKF_MAX_HASHES : check_below(30);
	uint64_t *hashes = new_hashes(n, 0);

	owned_create(promise, &params);
	CHECK(owned_add_all(promise, hashes, n) == CKF_OK, "add");
	free(hashes);
}

/* -------------------------------------------------------------------- cases */

/* Take a filter of the next hashes; returns how many. */
static size_t
take_filter(gathering *g, const truth *t, size_t i)
{
	size_t n = check_below(t->n - i + 1), kept = 0;
	uint64_t *hashes = check_alloc(8 * n + 8);

	for (size_t k = 0; k < n; k++)
		hashes[k] = t->hash[i + k] | (t->hash[i + k] == 0);
	qsort(hashes, n, 8, compare_hashes);
	for (size_t k = 0; k < n; k++)
	{
		hashes[kept] = hashes[k];
		kept += kept == 0 || hashes[kept - 1] != hashes[kept];
	}
	CHECK(gathering_filter(g, hashes, kept) == CKF_OK, "take a filter");
	free(hashes);
	return n;
}

static void
run_any(const void *arg)
{
	unsigned rounds = *(const unsigned *)arg;

	for (uint64_t round = check_rounds(rounds); round > 0; round--)
	{
		unsigned most = check_chance(60) ? 1 : 2 + (unsigned)check_below(15);
		unsigned settles = check_chance(50) ? 0 : (unsigned)check_below(4);
		bool filters = most == 1 && check_chance(30), settled = settles > 0;
		truth t;
		owned promise = {0};
		gathering g;
		size_t i = 0;

		draw_hashes(&t, rounds > 20 ? 30000 : 10000000);
		if (filters)
			filter_of(&promise, NULL, 0);
		else
			draw_promise(&promise);
		gathering_start(&g, &promise, most);
		g.exact = check_chance(50);
		while (i < t.n)
		{
			size_t n = settles + filters == 0 ? t.n : check_below(t.n) + 1;

			n = n < t.n - i ? n : t.n - i;
			CHECK(gathering_take(&g, t.hash + i, n), "take");
			i += n;
			if (settles > 0 && check_chance(50))
			{
				settles--;
				gathering_settle(&g, t.hash, i, most == 1);
			}
			if (filters && i < t.n && check_chance(50))
				i += take_filter(&g, &t, i);
		}
		gathering_settle(&g, t.hash, t.n, most == 1 || (!settled && t.n <= CKF_FIRST_BLOCK - 3));
		gathering_end(&g);
		owned_free(&promise);
		free(t.hash);
	}
}

/* The memory for repeated hashes: in runs at most two for each distinct one, and some blocks. */
static void
run_memory(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(20); round > 0; round--)
	{
		size_t most = 40 * (size_t)CKF_MOST_BLOCK, n = most < 3000000 ? most : 3000000;
		uint64_t values = 1 + check_below(6 * CKF_MOST_BLOCK), distinct, blocks;
		uint64_t *hashes = check_alloc(8 * n);
		owned promise;
		gathering g;

		for (size_t i = 0; i < n; i++)
			hashes[i] = (1 + check_below(values)) * UINT64_C(0x9e3779b97f4a7c15);
		filter_of(&promise, NULL, 0);
		gathering_start(&g, &promise, 1);
		CHECK(gathering_take(&g, hashes, n), "take");
		gathering_settle(&g, hashes, n, true);
		distinct = g.c->filter.count;
		blocks = 4 * distinct + 2 * CKF_FIRST_BLOCK;
		blocks = blocks < CKF_MOST_BLOCK ? blocks : CKF_MOST_BLOCK;
		CHECK(g.most_bytes <= 8 * (2 * distinct + 7 * blocks) + 40 * (BLOCK_HEAD + 320),
			  "%zu bytes for %llu distinct hashes", g.most_bytes, (unsigned long long)distinct);
		gathering_end(&g);
		owned_free(&promise);
		free(hashes);
	}
}

/* The host stops at any step, as without memory.  All blocks come back. */
static void
run_failures(const void *arg)
{
	uint64_t n = 5 * CKF_MOST_BLOCK < 30000 ? 5 * CKF_MOST_BLOCK : 30000;
	uint64_t *hashes = new_hashes(n, 0), *more = new_hashes(n, 0);
	owned promise;

	(void)arg;
	filter_of(&promise, NULL, 0);
	for (uint64_t stop = 1; stop <= 60; stop++)
	{
		gathering g;

		gathering_start(&g, &promise, 1);
		g.stop = stop;
		if (stop % 2 == 0 && gathering_filter(&g, hashes, n) != CKF_OK)
			continue; /* and it has ended */
		if (gathering_take(&g, more, n))
		{
			ckf_collect_settle(g.c);
			(void)gathering_room(&g);
		}
		gathering_end(&g);
	}
	owned_free(&promise);
	free(hashes);
	free(more);
}

/* Filters with different promises: the result has the larger one; seeds must be equal. */
static void
run_promises(const void *arg)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	owned first, other, empty;
	ckf_collector *c;

	(void)arg;
	params.seed = 7;
	owned_create(&first, &params);
	CHECK(owned_add(&first, 5) == CKF_OK, "add");
	params.seed = 8;
	params.capacity = 50;
	owned_create(&empty, &params);
	owned_create(&other, &params);
	CHECK(owned_add(&other, 6) == CKF_OK, "add");
	c = collector_new(&empty.filter, 1);
	for (int i = 0; i < 2; i++)
	{
		CHECK(collector_make_room(c) == CKF_OK, "make room");
		CHECK(ckf_collect_filter(c, i == 0 ? &first.filter : &empty.filter) == CKF_OK, "collect");
		CHECK(c->filter.seed == 7 && c->filter.capacity == 1, "an empty one has a say");
	}
	CHECK(collector_make_room(c) == CKF_OK, "make room");
	CHECK(ckf_collect_filter(c, &other.filter) == CKF_SEED_DIFFERS, "a second seed");
	collector_settle(c);
	CHECK(c->filter.count == 1, "%llu hashes", (unsigned long long)c->filter.count);
	collector_free(c);
	owned_free(&first);
	owned_free(&other);
	owned_free(&empty);
}

/*
 * Filters that just fit into the open block, or just do not, and larger ones, which are copied in
 * pieces.  One in three has equal hashes, is out of order, or has a hash of 0; also at the border
 * of two pieces.  A damaged one is refused, unless it fits into the block.
 */
static void
run_damaged(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(300); round > 0; round--)
	{
		enum
		{
			SOUND,
			EQUAL,
			DESCENDING,
			ZERO
		} fault = check_below(4);
		static const uint64_t edges[] = {CKF_FIRST_BLOCK, 4 * CKF_FIRST_BLOCK, CKF_STEP + 5};
		uint64_t n = edges[check_below(3)] - 5 + check_below(6), first = 9;
		uint64_t at = n > CKF_STEP + 1 && check_chance(50) ? CKF_STEP : 1 + check_below(n - 1);
		uint64_t *hashes = check_alloc(8 * n + 8);
		owned promise;
		gathering g;
		ckf_status status;
		bool fits = n < CKF_FIRST_BLOCK - 3;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = i == n - 1 ? UINT64_MAX : 1 + 3 * i; /* from the smallest to the largest */
		if (fault == ZERO)
			hashes[0] = 0;
		else if (fault != SOUND)
			hashes[at - 1] = hashes[at] + (fault == DESCENDING);
		if (fault == DESCENDING && at == n - 1)
		{
			hashes[at] = 7;
			hashes[at - 1] = 8;
		}
		filter_of(&promise, NULL, 0);
		gathering_start(&g, &promise, 1 + (unsigned)check_below(2));
		g.exact = true;
		CHECK(gathering_take(&g, &first, 1), "take");
		status = gathering_filter(&g, hashes, n);
		CHECK(status == (fits || fault < DESCENDING ? CKF_OK : CKF_BAD_BYTES), "status %d", status);
		if (status == CKF_OK)
		{
			hashes[n] = first;
			gathering_settle(&g, hashes, n + 1, true);
			gathering_end(&g);
		}
		owned_free(&promise);
		free(hashes);
	}
}

int
main(void)
{
	static const unsigned few = 3, many = 300;

	check_begin("core collectors");
	check_case(run_any, &many, "hashes in any order");
	if (CKF_MOST_BLOCK > 1000)
		check_case(run_any, &few, "many hashes");
	check_case(run_memory, NULL, "memory");
	check_case(run_failures, NULL, "a host that stops");
	check_case(run_promises, NULL, "promises");
	check_case(run_damaged, NULL, "damaged filters");
	return check_end();
}
