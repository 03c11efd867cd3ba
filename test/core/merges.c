/*
 * merges.c - merges of two runs: the hashes, the blocks that hold them, and the length of a step.
 * The inputs are those at which a hash may be lost.
 */
#include "collectors.h"

#include "collect/block.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

/* No block is much larger than the hashes from it on, except as a spare block may be. */
static void
check_blocks(const ckf_run *run)
{
	uint64_t left = run->count;

	for (const ckf_block *block = run->first; block; block = block->next)
	{
		CHECK(block->count > 0 && block->count <= left && block->count <= block->capacity,
			  "a block of %llu hashes", (unsigned long long)block->count);
		CHECK(block->capacity / 4 <= left + CKF_FIRST_BLOCK, "a block for %llu, for %llu hashes",
			  (unsigned long long)block->capacity, (unsigned long long)left);
		left -= block->count;
	}
	CHECK(left == 0, "the count of a run");
}

/* Merge two runs.  One may end long before the other: its last blocks are not copied then. */
static void
run_rest(const void *arg)
{
	uint64_t most = 6 * CKF_MOST_BLOCK < 30000 ? 6 * CKF_MOST_BLOCK : 30000;

	(void)arg;
	for (uint64_t round = check_rounds(100); round > 0; round--)
	{
		/* long ones in some rounds, so that a merge takes several steps and blocks */
		uint64_t least = 2 * CKF_FIRST_BLOCK, n[2];
		unsigned higher = round % 2; /* the run with the larger hashes, if they are apart */
		bool apart = round % 3 == 0;
		uint64_t *hashes[3];
		const ckf_block *last[2] = {NULL, NULL}, *end;
		owned o[2];
		ckf_collector *c;

		for (unsigned i = 0; i < 2; i++)
		{
			n[i] = round % 4 == 1 ? most : least + check_below(most - least);
			hashes[i] = new_hashes(n[i], apart ? 1 : i == higher ? 0 : (unsigned)check_below(9));
			for (uint64_t k = 0; k < n[i] && apart && i == higher; k++)
				hashes[i][k] |= UINT64_C(1) << 63;
			filter_of(&o[i], hashes[i], n[i]);
		}
		hashes[2] = check_alloc(8 * (n[0] + n[1]));
		memcpy(hashes[2], hashes[0], 8 * n[0]);
		memcpy(hashes[2] + n[0], hashes[1], 8 * n[1]);
		qsort(hashes[2], n[0] + n[1], 8, compare_hashes);
		c = collector_new(&o[0].filter, 1);
		for (int i = 0; i < 2; i++)
		{
			CHECK(make_room_exactly(c, last) == CKF_OK, "make room");
			CHECK(ckf_collect_filter(c, &o[i].filter) == CKF_OK, "collect a filter");
		}
		CHECK(make_room_exactly(c, last) == CKF_OK, "make room");
		ckf_collect_settle(c);
		CHECK(make_room_exactly(c, last) == CKF_OK, "make room");
		CHECK(c->runs == 1 && c->run[0].count == n[0] + n[1], "one run of all");
		check_blocks(&c->run[0]);
		end = last_block(c->run[0].first);
		CHECK(!apart || end == last[higher], "a block was copied that need not be");
		check_collected(c, hashes[2], n[0] + n[1]);
		collector_free(c);
		for (int i = 0; i < 3; i++)
			free(hashes[i]);
		owned_free(&o[0]);
		owned_free(&o[1]);
	}
}

/* Merge two filters of these hashes; the result has `want`. */
static void
merge_two(const uint64_t *a, uint64_t n, const uint64_t *b, uint64_t m, const uint64_t *want,
		  uint64_t all)
{
	owned o[2];
	ckf_collector *c;

	filter_of(&o[0], a, n);
	filter_of(&o[1], b, m);
	c = collector_new(&o[0].filter, 1);
	for (int i = 0; i < 2; i++)
	{
		CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
		CHECK(ckf_collect_filter(c, &o[i].filter) == CKF_OK, "collect a filter");
	}
	CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
	collector_settle(c);
	CHECK(c->filter.count == all, "%llu hashes, and not %llu", (unsigned long long)c->filter.count,
		  (unsigned long long)all);
	check_collected(c, want, all);
	collector_free(c);
	owned_free(&o[0]);
	owned_free(&o[1]);
}

/* Two runs that share most hashes: the merged run has each hash once. */
static void
run_shared(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(300); round > 0; round--)
	{
		uint64_t n = CKF_FIRST_BLOCK + check_below(5 * CKF_FIRST_BLOCK), all = 0;
		uint64_t *pool = new_hashes(n, 0), count[2] = {0, 0};
		uint64_t *half[2] = {check_alloc(8 * n), check_alloc(8 * n)};
		unsigned share = 50 + (unsigned)check_below(51);

		for (uint64_t i = 0; i < n; i++)
		{
			bool in = false;

			for (int k = 0; k < 2; k++)
				if (check_chance(share))
				{
					half[k][count[k]++] = pool[i];
					in = true;
				}
			pool[all] = pool[i];
			all += in;
		}
		merge_two(half[0], count[0], half[1], count[1], pool, all);
		free(pool);
		free(half[0]);
		free(half[1]);
	}
}

/* Two blocks are merged in two halves.  An equal pair may be at their border, with nothing else of
 * one block before it. */
static void
run_halves(const void *arg)
{
	enum
	{
		N = 3 * CKF_FIRST_BLOCK,
		ALL = N + 2 * CKF_FIRST_BLOCK
	};
	uint64_t *all = check_alloc(8 * ALL), *second = check_alloc(8 * ALL);

	(void)arg;
	for (uint64_t i = 0; i < ALL; i++)
		all[i] = i + 1;
	for (uint64_t same = N / 2 - 4; same < N / 2 + 4; same++)
	{
		second[0] = same;
		memcpy(second + 1, all + N - 1, 8 * (ALL - N + 1));
		merge_two(all, N, second, ALL - N + 2, all, ALL);
		merge_two(second, ALL - N + 2, all, N, all, ALL);
	}
	free(all);
	free(second);
}

/* The last hash of a block waits for the other run's later blocks. */
static void
run_late(const void *arg)
{
	uint64_t n = 2 * CKF_FIRST_BLOCK, m = 6 * CKF_MOST_BLOCK < 30000 ? 6 * CKF_MOST_BLOCK : 30000;
	uint64_t *all = check_alloc(8 * (n + m)), *first = check_alloc(8 * n);

	(void)arg;
	for (uint64_t i = 0; i < n + m; i++)
		all[i] = i + 1;
	all[n + m - 1] = UINT64_MAX; /* after the m hashes of the other run */
	memcpy(first, all, 8 * n);
	first[n - 1] = UINT64_MAX;
	merge_two(first, n, all + n - 1, m, all, n + m);
	merge_two(all + n - 1, m, first, n, all, n + m);
	free(all);
	free(first);
}

/* A run of one block with n successive hashes. */
static ckf_block *
block_of(uint64_t from, uint64_t n, ckf_block *next)
{
	ckf_block *block = guard_new(sizeof *block + 8 * n, 8);

	block->next = next;
	block->capacity = block->count = n;
	for (uint64_t i = 0; i < n; i++)
		block->hash[i] = from + i;
	return block;
}

/* A block has room for some hashes of one run, none of the other one is among them, and the next
 * hash is equal to the number that lies before the other one's hashes in memory. */
static void
run_border(const void *arg)
{
	uint64_t most = CKF_MOST_BLOCK < 3000 ? CKF_MOST_BLOCK : 3000, n = most - most / 4;
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint64_t *want = check_alloc(8 * (n + 2 * most + 1));
	owned o;
	ckf_collector *c;

	(void)arg;
	for (uint64_t i = 0; i < n + 2 * most + 1; i++)
		want[i] = i + 1;
	owned_create(&o, &params);
	c = collector_new(&o.filter, 1);
	ckf_push_run(c, (ckf_run){block_of(1, n, block_of(n + 1, most, NULL)), n + most});
	ckf_push_run(c, (ckf_run){block_of(n + most + 1, most + 1, NULL), most + 1});
	ckf_collect_settle(c);
	CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
	for (const ckf_block *block = c->run[0].first; block; block = block->next)
		CHECK(block->count <= block->capacity, "a block of %llu hashes has room for %llu",
			  (unsigned long long)block->count, (unsigned long long)block->capacity);
	check_collected(c, want, n + 2 * most + 1);
	collector_free(c);
	owned_free(&o);
	free(want);
}

/* In real collectors a block has at most CKF_MOST_BLOCK hashes.  One run ends near the end of a
 * block of the merged run, or exactly there, while a block of the other run is partly read.  The
 * run that ends, the place, and the copies that are kept are drawn. */
static void
run_full(const void *arg)
{
	uint64_t most = CKF_MOST_BLOCK < 3000 ? CKF_MOST_BLOCK : 3000;
	ckf_params params = params_of(1, 0.01, false, false, 4);

	(void)arg;
	for (uint64_t round = check_rounds(100); round > 0; round--)
	{
		/* the first hashes of the merged run: of the run that ends, and of the other one */
		uint64_t first = most * (1 + check_below(2)) + check_below(5) - 2;
		uint64_t few = 1 + check_below(most / 2), rest = 1 + check_below(most / 2);
		uint64_t all = first + rest;
		ckf_block *goes_on = block_of(1, few + rest, NULL);
		ckf_run ends = {NULL, first - few};
		unsigned which = (unsigned)check_below(2);
		uint64_t *want = check_alloc(8 * all);
		owned o;
		ckf_collector *c;

		for (uint64_t i = 0; i < all; i++)
			want[i] = i + 1;
		owned_create(&o, &params);
		c = collector_new(&o.filter, 1 + (unsigned)check_below(3));
		for (uint64_t end = first, n; end > few; end -= n)
		{
			n = end - few < most ? end - few : most;
			ends.first = block_of(end - n + 1, n, ends.first);
		}
		for (uint64_t i = few; i < few + rest; i++)
			goes_on->hash[i] = first + 1 + i - few;
		if (which == 0)
			ckf_push_run(c, ends);
		ckf_push_run(c, (ckf_run){goes_on, goes_on->count});
		if (which == 1)
			ckf_push_run(c, ends);
		ckf_collect_settle(c);
		CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
		CHECK(c->runs == 1, "one run");
		check_blocks(&c->run[0]);
		check_collected(c, want, all);
		collector_free(c);
		owned_free(&o);
		free(want);
	}
}

/* Each step of a merge is bounded, the last one as well.  The runs have alternate hashes and equal
 * ones, so nearly all of them are copied. */
static void
run_steps(const void *arg)
{
	(void)arg;
	for (unsigned most = 1; most <= 3; most++)
	{
		uint64_t n = CKF_MOST_BLOCK < 3000 ? 20 * CKF_MOST_BLOCK : 4 * CKF_STEP;
		uint64_t *hashes[2] = {check_alloc(8 * n), check_alloc(8 * n)}, longest = 0;
		owned o[2];
		ckf_collector *c;
		ckf_status status;

		for (uint64_t i = 0; i < n; i++)
		{
			hashes[0][i] = 4 * i + 1;
			hashes[1][i] = 4 * i + (i % 3 == 0 ? 1 : 3);
		}
		filter_of(&o[0], hashes[0], n);
		filter_of(&o[1], hashes[1], n);
		c = collector_new(&o[0].filter, most);
		for (int i = 0; i < 2; i++)
		{
			CHECK(make_room_exactly(c, NULL) == CKF_OK, "make room");
			CHECK(ckf_collect_filter(c, &o[i].filter) == CKF_OK, "collect a filter");
		}
		while (c->in != NULL)
			if (ckf_collect_step(c) == CKF_ROOM)
				ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
		CHECK(c->runs == 2, "two runs");
		do
		{
			uint64_t before = c->merged.count, after;

			status = ckf_collect_step(c);
			after = c->runs == 1 ? c->run[0].count : c->merged.count;
			longest = after - before > longest ? after - before : longest;
			if (status == CKF_ROOM)
				ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
		} while (c->runs == 2);
		CHECK(longest >= CKF_STEP && longest <= CKF_STEP + 2 * CKF_MOST_BLOCK,
			  "a step of %llu hashes", (unsigned long long)longest);
		collector_settle(c);
		collector_free(c);
		for (int i = 0; i < 2; i++)
		{
			owned_free(&o[i]);
			free(hashes[i]);
		}
	}
}

int
main(void)
{
	check_begin("core merges");
	check_case(run_rest, NULL, "the end of a merge, and its steps");
	check_case(run_shared, NULL, "runs that share hashes");
	check_case(run_halves, NULL, "halves of a merge");
	check_case(run_late, NULL, "a hash that waits for later blocks");
	check_case(run_border, NULL, "the border of a full block");
	check_case(run_full, NULL, "a run that ends with a full block");
	check_case(run_steps, NULL, "the length of steps");
	return check_end();
}
