/*
 * collected.c - what a collector gives to others: its sorted hashes, the filter that a rebuild
 * reads, and the time between two steps.  It also tests the values at which a hash may be lost.
 * runs.c has the parts that use memory, collect.c has the whole.
 */
#include "state.h"

#include "collect/block.h"
#include "filter/header.h"
#include "filter/operations.h"
#include "rebuild/scan.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A filter of these hashes in this order, even if the order is wrong. */
static void
filter_of(owned *o, const uint64_t *hashes, uint64_t n)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint8_t *bytes = check_alloc(CKF_HEADER_SIZE + 8 * n);

	CHECK(ckf_create(&params, bytes) == CKF_OK, "create");
	bytes[14] = CKF_ITEM_HASH;
	for (uint64_t i = 0; i <= n; i++)
		for (int k = 0; k < 8; k++)
			bytes[(i == n ? 16 : CKF_HEADER_SIZE + 8 * i) + (unsigned)k] =
				(uint8_t)((i == n ? n : hashes[i]) >> 8 * k); /* at last their number */
	owned_open(o, bytes, CKF_HEADER_SIZE + 8 * n, CKF_STORED);
	free(bytes);
}

static uint64_t *
new_hashes(uint64_t n, unsigned shift)
{
	uint64_t *hashes = check_alloc(8 * n + 8);

	for (uint64_t i = 0; i < n; i++)
		hashes[i] = check_random() >> shift | 1;
	qsort(hashes, n, 8, compare);
	return hashes;
}

/* -------------------------------------------------------------------- view */

/* A settled collector has these hashes: for ckf_collected from any of them on, and for a scan. */
static void
check_collected(const ckf_collector *c, const uint64_t *hashes, uint64_t n)
{
	const ckf_block *block = c->runs > 0 ? c->run[0].first : NULL;
	uint64_t before = 0; /* hashes in the blocks before this one */
	size_t have;
	ckf_scan scan;

	for (uint64_t at = 0; at < n; at += 1 + check_below(9))
	{
		const uint64_t *hash = ckf_collected(c, at, &have);

		for (; at - before >= block->count; block = block->next)
			before += block->count;
		CHECK(have == before + block->count - at, "%zu hashes from number %llu on", have,
			  (unsigned long long)at);
		CHECK(hash != NULL && memcmp(hash, hashes + at, 8 * have) == 0, "hashes from %llu on",
			  (unsigned long long)at);
	}
	for (int i = 0; i < 3; i++)
		CHECK(ckf_collected(c, n + check_below(1 + 2 * n), &have) == NULL && have == 0, "the end");

	c->filter.operations->source->scan(&c->filter, &scan);
	for (before = 0; ckf_scan_ready(&scan); before += scan.have)
	{
		CHECK(scan.have <= CKF_STEP && scan.have <= n - before, "a load of %zu", scan.have);
		CHECK(memcmp(scan.keys, hashes + before, 8 * scan.have) == 0, "the scan's hashes");
		scan.at = scan.have;
	}
	CHECK(before == n, "a scan of %llu hashes", (unsigned long long)before);
}

/* A collector's filter is one of whole hashes, whatever filter gave the parameters. */
static void
check_view(const ckf_collector *c, const ckf_filter *empty, uint64_t n)
{
	const ckf_filter *t = &c->filter;

	CHECK(t->encoding == CKF_HASHES && t->w == 64 && t->f == 0 && t->g == 0 && t->m == 0,
		  "the form of whole hashes");
	CHECK(t->rho_bits == empty->rho_bits && t->bucket_bits == empty->bucket_bits &&
			  t->max_count == empty->max_count && t->low_mask == empty->low_mask &&
			  t->deduplicated == empty->deduplicated,
		  "what is derived from it");
	CHECK(t->bytes == (const uint8_t *)c && t->body == NULL, "it has no bytes");
	CHECK(t->count == n && t->size == CKF_HEADER_SIZE + 8 * n && t->room == t->size,
		  "a size of %zu for %llu hashes", t->size, (unsigned long long)n);
}

static void
run_view(const void *arg)
{
	static const double rates[] = {1e-6, 0.01, 0.2};

	(void)arg;
	for (uint64_t round = check_rounds(60); round > 0; round--)
	{
		ckf_params params = params_of(1 + (int64_t)check_below(100), rates[check_below(3)],
									  check_chance(50), check_chance(50), 4);
		uint64_t n = round % 3 == 0 ? 0 : check_below(4 * CKF_FIRST_BLOCK);
		uint64_t given = round % 2 == 0 ? 3 * CKF_MAX_HASHES : check_below(2 * CKF_FIRST_BLOCK);
		uint64_t *hashes = new_hashes(given > n ? given : n, 0);
		owned empty, o;
		ckf_collector *c;

		owned_create(&empty, &params);
		owned_create(&o, &params); /* a table in each other round */
		CHECK(owned_add_all(&o, hashes, given) == CKF_OK, "add");
		c = collector_new(&o.filter, 1);
		check_view(c, &empty.filter, 0);
		CHECK(c->filter.item_classes == 0, "classes of items that it does not have");
		collector_take(c, hashes, n);
		collector_settle(c);
		check_view(c, &empty.filter, n);
		check_collected(c, hashes, n);
		collector_free(c);
		owned_free(&o);
		owned_free(&empty);
		free(hashes);
	}
}

/* ------------------------------------------------------------------- merges */

static const ckf_block *
last_block(const ckf_block *block)
{
	while (block->next)
		block = block->next;
	return block;
}

/* Do what the collector asks for; returns how this ends.  A step of a merge that is not the last
 * one writes as many hashes as a step is long: each write of at least one hash counts one more, so
 * it may be half as many, or a block more.  last[i] becomes the last block of run i before the runs
 * are merged. */
static ckf_status
make_room(ckf_collector *c, const ckf_block *last[2])
{
	ckf_status status;

	do
	{
		bool merges = c->in == NULL && c->runs == 2;
		bool goes_on = merges && c->merged.first != NULL;
		uint64_t before = goes_on ? c->merged.count : 0;

		for (int i = 0; i < 2 && merges && !goes_on; i++)
			last[i] = last_block(c->run[i].first);
		status = ckf_collect_step(c);
		if (merges && c->merged.first != NULL)
		{
			uint64_t written = c->merged.count - before;

			CHECK(written <= CKF_STEP + CKF_MOST_BLOCK, "a step of %llu hashes",
				  (unsigned long long)written);
			CHECK(status == CKF_ROOM || written >= CKF_STEP / 2, "a step of only %llu hashes",
				  (unsigned long long)written);
		}
		if (status == CKF_ROOM)
			ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
	} while (status == CKF_MORE || status == CKF_ROOM);
	for (void *block; (block = ckf_collect_spent(c)) != NULL;)
		guard_free(block);
	return status;
}

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
		qsort(hashes[2], n[0] + n[1], 8, compare);
		c = collector_new(&o[0].filter, 1);
		for (int i = 0; i < 2; i++)
		{
			CHECK(make_room(c, last) == CKF_OK, "make room");
			CHECK(ckf_collect_filter(c, &o[i].filter) == CKF_OK, "collect a filter");
		}
		CHECK(make_room(c, last) == CKF_OK, "make room");
		ckf_collect_settle(c);
		CHECK(make_room(c, last) == CKF_OK, "make room");
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
	const ckf_block *last[2];
	owned o[2];
	ckf_collector *c;

	filter_of(&o[0], a, n);
	filter_of(&o[1], b, m);
	c = collector_new(&o[0].filter, 1);
	for (int i = 0; i < 2; i++)
	{
		CHECK(make_room(c, last) == CKF_OK, "make room");
		CHECK(ckf_collect_filter(c, &o[i].filter) == CKF_OK, "collect a filter");
	}
	CHECK(make_room(c, last) == CKF_OK, "make room");
	collector_settle(c);
	CHECK(c->filter.count == all, "%llu hashes, and not %llu", (unsigned long long)c->filter.count,
		  (unsigned long long)all);
	check_collected(c, want, all);
	collector_free(c);
	owned_free(&o[0]);
	owned_free(&o[1]);
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
	const ckf_block *last[2];
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
	CHECK(make_room(c, last) == CKF_OK, "make room");
	for (const ckf_block *block = c->run[0].first; block; block = block->next)
		CHECK(block->count <= block->capacity, "a block of %llu hashes has room for %llu",
			  (unsigned long long)block->count, (unsigned long long)block->capacity);
	check_collected(c, want, n + 2 * most + 1);
	collector_free(c);
	owned_free(&o);
	free(want);
}

/* -------------------------------------------------------------------- edges */

/* Of equal hashes in one block so many are kept as were asked for. */
static void
run_copies(const void *arg)
{
	(void)arg;
	for (unsigned most = 1; most <= 4; most++)
		for (unsigned first = 0; first < 3; first++)
		{
			ckf_params params = params_of(1, 0.01, false, false, 4);
			uint64_t given[12], kept[12], n = 0, k = 0;
			owned o;
			ckf_collector *c;

			for (unsigned value = 0; value < 3; value++)
			{
				unsigned copies = most - 1 + (first + value) % 3;

				for (unsigned i = 0; i < copies; i++)
				{
					given[n++] = value < 2 ? value + 1 : UINT64_MAX; /* the smallest and largest */
					if (i < most)
						kept[k++] = given[n - 1];
				}
			}
			owned_create(&o, &params);
			c = collector_new(&o.filter, most);
			collector_take(c, given, n);
			collector_settle(c);
			CHECK(c->filter.count == k, "%llu of %llu hashes, and not %llu",
				  (unsigned long long)c->filter.count, (unsigned long long)n,
				  (unsigned long long)k);
			check_collected(c, kept, k);
			collector_free(c);
			owned_free(&o);
		}
}

/* A block of one hash, of whatever value. */
static void
run_single(const void *arg)
{
	static const uint64_t values[] = {1, 2, UINT64_MAX - 1, UINT64_MAX};
	ckf_params params = params_of(1, 0.01, false, false, 4);

	(void)arg;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned most = 1; most <= 3; most++)
		{
			owned o;
			ckf_collector *c;

			owned_create(&o, &params);
			c = collector_new(&o.filter, most);
			collector_take(c, &values[i], 1);
			collector_settle(c);
			check_collected(c, &values[i], 1);
			collector_free(c);
			owned_free(&o);
		}
}

/* A filter is copied in pieces.  Equal hashes and wrong order are seen across the border of two
 * pieces, too. */
static void
run_pieces(const void *arg)
{
	(void)arg;
	for (unsigned round = 0; round < 12; round++)
	{
		enum
		{
			EQUAL,
			DESCENDING,
			ZERO
		} fault = round % 3;
		uint64_t n = CKF_STEP + 2 + (round < 6 ? round : check_below(CKF_STEP));
		uint64_t *hashes = check_alloc(8 * n), edge = round / 3 % 2 == 0 ? CKF_STEP : 1;
		unsigned most = 1 + round / 6;
		const ckf_block *last[2];
		owned o;
		ckf_collector *c;
		ckf_status status;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = i == n - 1 ? UINT64_MAX : 1 + 3 * i; /* from the smallest to the largest */
		if (fault == ZERO)
			hashes[0] = 0;
		else
			hashes[edge - 1] = hashes[edge] + (fault == DESCENDING);
		filter_of(&o, hashes, n);
		c = collector_new(&o.filter, most);
		CHECK(make_room(c, last) == CKF_OK, "make room");
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
		status = make_room(c, last);
		CHECK(status == (fault == EQUAL ? CKF_OK : CKF_BAD_BYTES), "status %d", status);
		if (fault == EQUAL)
		{
			collector_settle(c);
			if (most == 1)
				memmove(hashes + edge, hashes + edge + 1, 8 * (--n - edge));
			check_collected(c, hashes, n);
		}
		collector_free(c);
		owned_free(&o);
		free(hashes);
	}
}

/* Filters that just fit into the open block, or do not; of one hash over and over. */
static void
run_few(const void *arg)
{
	(void)arg;
	for (unsigned more = 0; more < 2; more++)
	{
		uint64_t n = CKF_FIRST_BLOCK - 3 + more, one = 7;
		uint64_t *hashes = check_alloc(8 * n);
		const ckf_block *last[2];
		owned o;
		ckf_collector *c;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = one;
		filter_of(&o, hashes, n);
		c = collector_new(&o.filter, 1);
		CHECK(make_room(c, last) == CKF_OK, "make room");
		CHECK((uint64_t)(c->end - c->next) == CKF_FIRST_BLOCK - 3, "the first block");
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
		CHECK((c->in == NULL) == (more == 0), "which filters fit into a block");
		CHECK(make_room(c, last) == CKF_OK, "take a filter");
		collector_settle(c);
		check_collected(c, &one, 1);
		collector_free(c);
		owned_free(&o);
		free(hashes);
	}
}

/* A damaged filter has a hash of 0, which a small filter may have: it becomes 1. */
static void
run_zero(const void *arg)
{
	static const uint64_t given[] = {0, 5}, first = 9, kept[] = {1, 5, 9};
	owned o;
	ckf_collector *c;

	(void)arg;
	filter_of(&o, given, 2);
	c = collector_new(&o.filter, 1);
	collector_take(c, &first, 1);
	CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
	CHECK(c->filter.count == 1, "the filter of the hashes so far");
	collector_settle(c);
	check_collected(c, kept, 3);
	collector_free(c);
	owned_free(&o);
}

/* No hashes: there is no run, and the open block becomes a spare one. */
static void
run_empty(const void *arg)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	const ckf_block *block;
	owned o;
	ckf_collector *c;

	(void)arg;
	owned_create(&o, &params);
	c = collector_new(&o.filter, 1);
	CHECK(collector_make_room(c) == CKF_OK, "make room");
	block = c->block;
	collector_settle(c);
	CHECK(c->runs == 0 && c->block == NULL, "a run of no hashes");
	CHECK(c->spare[0] == block || c->spare[1] == block, "the open block is lost");
	CHECK(c->next == NULL && c->end == NULL, "room in a block that is not open");
	check_view(c, &o.filter, 0);
	check_collected(c, NULL, 0);
	collector_free(c);
	owned_free(&o);
}

/* Whatever a collector is doing, it has nothing left after its end, and a second end is none. */
static void
run_end(const void *arg)
{
	uint64_t n = 5 * CKF_MOST_BLOCK < 30000 ? 5 * CKF_MOST_BLOCK : 30000;

	(void)arg;
	for (unsigned steps = 0; steps < 40; steps++)
	{
		uint64_t *hashes[2] = {new_hashes(n, 0), new_hashes(n, 0)};
		unsigned given = 0, back = 0;
		owned o[2];
		ckf_collector *c;
		void *block;

		for (int i = 0; i < 2; i++)
			filter_of(&o[i], hashes[i], n);
		c = collector_new(&o[0].filter, 1);
		for (unsigned step = 0, filters = 0; step <= steps; step++)
			switch (ckf_collect_step(c))
			{
				case CKF_ROOM:
					ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
					given++;
					break;
				case CKF_OK:
					if (filters < 2)
						CHECK(ckf_collect_filter(c, &o[filters++].filter) == CKF_OK, "collect");
					break;
				default:
					break;
			}
		for (int end = 0; end < 2; end++)
		{
			ckf_collect_end(c);
			CHECK(c->runs == 0 && c->merged.first == NULL && c->merged.count == 0 &&
					  c->last == NULL && c->in == NULL,
				  "runs after the end");
			CHECK(c->block == NULL && c->next == NULL && c->end == NULL && c->spare[0] == NULL &&
					  c->spare[1] == NULL,
				  "blocks after the end");
			for (; (block = ckf_collect_spent(c)) != NULL; back++)
				guard_free(block);
			CHECK(back == given, "%u of %u blocks came back", back, given);
		}
		guard_free(c);
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
	check_begin("core collected");
	check_case(run_view, NULL, "the filter that a rebuild reads");
	check_case(run_rest, NULL, "the end of a merge, and its steps");
	check_case(run_halves, NULL, "halves of a merge");
	check_case(run_late, NULL, "a hash that waits for later blocks");
	check_case(run_border, NULL, "the border of a full block");
	check_case(run_copies, NULL, "copies in a block");
	check_case(run_single, NULL, "one hash");
	check_case(run_pieces, NULL, "pieces of a filter");
	check_case(run_few, NULL, "filters that fit into a block");
	check_case(run_zero, NULL, "a hash of 0");
	check_case(run_empty, NULL, "no hashes");
	check_case(run_end, NULL, "the end");
	return check_end();
}
