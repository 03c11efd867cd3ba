/*
 * runs.c - the inside of a collector: which blocks it keeps, how large they are, which runs it
 * merges, and merges at whose edges a hash may be lost; the sort, compared with qsort.
 * collectors.c checks each step; collect.c tests all of a collector.
 */
#include "collectors.h"

#include "scan/scan.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

enum
{
	MOST_FILTERS = 12,
	MOST_SPARE = 60
};

/* ------------------------------------------------------------------- blocks */

/* A block with room for so many hashes. */
static ckf_block *
new_block(uint64_t capacity)
{
	ckf_block *block = guard_new(BLOCK_HEAD + 8 * (size_t)capacity, 8);

	block->capacity = capacity;
	block->count = check_below(5);
	block->next = block;
	return block;
}

/* The spare blocks of the model: at most two. */
typedef struct spares
{
	ckf_block *block[3];
	unsigned n;
} spares;

static void
drop(spares *s, unsigned i)
{
	s->block[i] = s->block[--s->n];
}

/* Take the blocks that the collector gives back: the smallest ones, but never the one that was
 * given last; at its end all. */
static void
take_spent(ckf_collector *c, spares *s, const ckf_block *never, bool ends)
{
	ckf_block *block;

	while ((block = ckf_collect_spent(c)) != NULL)
	{
		unsigned i = 0;

		while (i < s->n && s->block[i] != block)
			i++;
		CHECK(i < s->n, "a block is given back that is not spare");
		for (unsigned k = 0; k < s->n && !ends; k++)
			CHECK(block != never &&
					  (s->block[k] == never || s->block[k]->capacity >= block->capacity),
				  "a larger block is given back");
		drop(s, i);
		guard_free(block);
	}
	CHECK(s->n <= 2, "%u spare blocks", s->n);
}

/* Ask for a block. */
static void
find(ckf_collector *c, spares *s, uint64_t wanted)
{
	ckf_block *block = ckf_find_block(c, wanted);
	unsigned fits = 0;

	for (unsigned i = 0; i < s->n; i++)
		fits += s->block[i]->capacity >= wanted &&
				s->block[i]->capacity / 4 <= wanted + CKF_FIRST_BLOCK;
	CHECK((block != NULL) == (fits > 0), "%u spare blocks are suitable", fits);
	if (block == NULL)
	{
		CHECK(c->block_size == BLOCK_HEAD + 8 * wanted, "%zu bytes for %llu hashes", c->block_size,
			  (unsigned long long)wanted);
		return;
	}
	CHECK(block->capacity >= wanted && block->capacity / 4 <= wanted + CKF_FIRST_BLOCK, "its size");
	CHECK(block->count == 0 && block->next == NULL, "it is empty");
	for (unsigned i = 0; i < s->n; i++)
		if (s->block[i] == block)
		{
			drop(s, i);
			guard_free(block);
			return;
		}
	CHECK(false, "no spare block");
}

static uint64_t
draw_capacity(void)
{
	static const uint64_t near[] = {1, CKF_FIRST_BLOCK, 4 * CKF_FIRST_BLOCK, 8 * CKF_FIRST_BLOCK};

	return near[check_below(4)] * (1 + check_below(2)) + check_below(7);
}

/* The two largest blocks are kept, and the one that was given last. */
static void
run_spares(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(200); round > 0; round--)
	{
		ckf_collector *c = guard_new(sizeof *c, 8);
		spares s = {.n = 0};

		memset(c, 0, sizeof *c);
		for (int step = 0; step < MOST_SPARE; step++)
		{
			uint64_t capacity = draw_capacity();
			ckf_block *block = NULL;

			switch (check_below(3))
			{
				case 0:
					s.block[s.n++] = new_block(capacity);
					ckf_release_block(c, s.block[s.n - 1]);
					take_spent(c, &s, NULL, false);
					break;
				case 1:
					block = new_block(capacity);
					s.block[s.n++] = block;
					ckf_collect_give(c, block, BLOCK_HEAD + 8 * (size_t)capacity + check_below(8));
					CHECK(block->capacity == capacity, "the capacity of a given block");
					take_spent(c, &s, block, false);
					break;
				default: /* near a block that there is */
					if (s.n > 0 && check_chance(60))
					{
						capacity = s.block[check_below(s.n)]->capacity;
						capacity = check_chance(50) ? capacity : capacity / 4;
						capacity -=
							capacity > CKF_FIRST_BLOCK && check_chance(50) ? CKF_FIRST_BLOCK : 0;
						capacity = capacity + 1 > 3 ? capacity + 1 - check_below(3) : 1;
					}
					find(c, &s, capacity);
			}
		}
		memset(ckf_inside_of(c)->run, 0, sizeof ckf_inside_of(c)->run);
		ckf_collect_end(c);
		take_spent(c, &s, NULL, true);
		CHECK(s.n == 0, "%u blocks did not come back", s.n);
		guard_free(c);
	}
}

/* ------------------------------------------------------------------- merges */

/* A number of hashes at a threshold, or any. */
static uint64_t
draw_kept(void)
{
	static const uint64_t edges[] = {CKF_FIRST_BLOCK, CKF_MANY_KEPT, CKF_MOST_BLOCK};
	uint64_t n = edges[check_below(3)];

	if (check_chance(60))
		n = n << check_below(4) >> check_below(4);
	n = check_chance(70) ? n - 2 + check_below(5) : check_below(2 * n);
	return n > 300000 ? 300000 - check_below(9) : n > 0 ? n : 1;
}

/* Start without hashes, for one copy of each or more. */
static void
start(gathering *g, unsigned most)
{
	owned promise;

	filter_of(&promise, NULL, 0);
	gathering_start(g, &promise, most);
	g->exact = true;
	owned_free(&promise);
}

/* Take n random hashes as a filter. */
static void
take_random(gathering *g, uint64_t n)
{
	uint64_t *hashes = new_hashes(n, 0);

	CHECK(gathering_filter(g, hashes, n) == CKF_OK, "take a filter");
	free(hashes);
}

/* The next block depends on how many hashes are kept. */
static void
run_blocks(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(40); round > 0; round--)
	{
		uint64_t n = draw_kept();
		gathering g;

		start(&g, 1);
		take_random(&g, n);
		ckf_collect_settle(g.c);
		CHECK(gathering_room(&g) == CKF_OK && gathering_room(&g) == CKF_OK, "a new block");
		CHECK(g.inside->runs == 1 && g.c->filter.count == n, "one run of all");
		gathering_end(&g);
	}
}

/* Filters whose sizes are near the half of a run, which decides whether they are merged with it. */
static void
run_merges(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(50); round > 0; round--)
	{
		uint64_t least = 2 * CKF_FIRST_BLOCK, all = 0;
		gathering g;

		start(&g, 1);
		for (uint64_t filters = 2 + check_below(MOST_FILTERS - 1); filters > 0; filters--)
		{
			uint64_t n = 30 * least;

			if (g.inside->runs > 0 && check_chance(80))
				n = g.inside->run[check_below(g.inside->runs)].count / 2;
			n = check_chance(70) ? n - 1 + check_below(3) : 1 + check_below(n);
			n = n > least ? n : least + check_below(3); /* fewer hashes fit into the open block */
			take_random(&g, n);
			all += n;
			CHECK(ckf_items(&g.c->filter) == all, "all hashes");
		}
		ckf_collect_settle(g.c);
		CHECK(gathering_room(&g) == CKF_OK, "settle");
		CHECK(g.inside->runs == 1 && g.inside->run[0].count == all && g.c->filter.count == all,
			  "one run");
		gathering_end(&g);
	}
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

/* Settle, and check the one run, which has these hashes. */
static void
check_run(gathering *g, const uint64_t *hashes, uint64_t n)
{
	gathering_settle(g, hashes, n, g->most == 1);
	if (g->c->filter.count == n) /* no copy was dropped */
		check_blocks(&g->inside->run[0]);
	gathering_end(g);
}

/* Merge two filters, in either order. */
static void
merge_two(const uint64_t *a, uint64_t n, const uint64_t *b, uint64_t m)
{
	uint64_t *all = check_alloc(8 * (n + m) + 8);

	if (n > 0)
		memcpy(all, a, 8 * n);
	memcpy(all + n, b, 8 * m);
	for (unsigned first = 0; first < 2; first++)
	{
		gathering g;

		start(&g, 1);
		CHECK(gathering_filter(&g, first == 0 ? a : b, first == 0 ? n : m) == CKF_OK, "take");
		CHECK(gathering_filter(&g, first == 0 ? b : a, first == 0 ? m : n) == CKF_OK, "take");
		check_run(&g, all, n + m);
	}
	free(all);
}

/* Two runs that share no hashes, some, most, or all: the merged run has each hash once.  Long ones
 * in some rounds, so that a merge takes several steps and blocks. */
static void
run_shared(const void *arg)
{
	uint64_t most = 6 * CKF_MOST_BLOCK < 30000 ? 6 * CKF_MOST_BLOCK : 30000;

	(void)arg;
	for (uint64_t round = check_rounds(300); round > 0; round--)
	{
		uint64_t n = CKF_FIRST_BLOCK + check_below(5 * CKF_FIRST_BLOCK), count[2] = {0, 0};
		unsigned share[2] = {1 + (unsigned)check_below(100), 50 + (unsigned)check_below(51)};
		bool apart = check_chance(30);
		uint64_t *pool, *part[2];

		n = round % 4 == 1 ? most : n;
		pool = new_hashes(n, (unsigned)check_below(9));
		for (int k = 0; k < 2; k++)
			part[k] = check_alloc(8 * n);
		for (uint64_t i = 0; i < n; i++)
		{
			bool first = check_chance(share[0]), second = check_chance(share[1]);

			if (first)
				part[0][count[0]++] = pool[i];
			if (apart ? !first : second)
				part[1][count[1]++] = pool[i];
		}
		merge_two(part[0], count[0], part[1], count[1]);
		free(pool);
		free(part[0]);
		free(part[1]);
	}
}

/* Two blocks are merged in two halves.  An equal pair may be at their border, with nothing else of
 * one block before it.  And the last hash of a block may wait for the other run's later blocks. */
static void
run_edges(const void *arg)
{
	enum
	{
		N = 3 * CKF_FIRST_BLOCK,
		ALL = N + 2 * CKF_FIRST_BLOCK
	};
	uint64_t m = 6 * CKF_MOST_BLOCK < 30000 ? 6 * CKF_MOST_BLOCK : 30000;
	uint64_t *all = check_alloc(8 * (ALL + m)), *second = check_alloc(8 * ALL);

	(void)arg;
	for (uint64_t i = 0; i < ALL + m; i++)
		all[i] = i + 1;
	for (uint64_t same = N / 2 - 4; same < N / 2 + 4; same++)
	{
		second[0] = same;
		memcpy(second + 1, all + N - 1, 8 * (ALL - N + 1));
		merge_two(all, N, second, ALL - N + 2);
	}
	memcpy(second, all, 8 * N);
	second[N - 1] = UINT64_MAX; /* after the m hashes of the other run */
	merge_two(second, N, all + N - 1, m);
	free(all);
	free(second);
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

/* Let the host know a block that it has not given. */
static void
hold(gathering *g, ckf_block *block)
{
	g->block[g->blocks] = block;
	g->size[g->blocks++] = 0;
}

/*
 * Runs of full blocks.  One run ends near the end of a block of the merged run, or exactly there,
 * while a block of the other run is partly read.  Or, if no hash of the other run is among those
 * that fit, it may have more blocks, which are not copied.  The run that ends, the place, and the
 * copies that are kept are drawn.  (In real collectors a block has at most CKF_MOST_BLOCK hashes.)
 */
static void
run_full(const void *arg)
{
	uint64_t most = CKF_MOST_BLOCK < 3000 ? CKF_MOST_BLOCK : 3000;

	(void)arg;
	for (uint64_t round = check_rounds(100); round > 0; round--)
	{
		/* the first hashes of the merged run: of the run that ends, and of the other one */
		uint64_t first = most * (1 + check_below(2)) + check_below(5) - 2, n;
		uint64_t few = check_chance(80) ? 1 + check_below(most / 2) : 0;
		uint64_t rest = 1 + check_below(most / 2), later = check_chance(50) ? most + 1 : 0;
		uint64_t *want = check_alloc(8 * (first + rest + later));
		ckf_block *last = block_of(first + rest + 1, later, NULL), *goes_on;
		ckf_run ends = {NULL, first - few}, other;
		unsigned which = (unsigned)check_below(2);
		const ckf_block *end;
		gathering g;

		for (uint64_t i = 0; i < first + rest + later; i++)
			want[i] = i + 1;
		start(&g, 1 + (unsigned)check_below(3));
		goes_on = block_of(1, few + rest, later > 0 ? last : NULL);
		for (uint64_t i = few; i < few + rest; i++)
			goes_on->hash[i] = first + 1 + i - few;
		other = (ckf_run){goes_on, few + rest + later};
		for (uint64_t stop = first; stop > few; stop -= n)
		{
			n = stop - few < most ? stop - few : most;
			ends.first = block_of(stop - n + 1, n, ends.first);
			hold(&g, ends.first);
		}
		hold(&g, goes_on);
		if (later > 0)
			hold(&g, last);
		else
			guard_free(last);
		end = few == 0 ? last_block(goes_on) : NULL;
		ckf_push_run(g.inside, which == 0 ? ends : other);
		ckf_push_run(g.inside, which == 0 ? other : ends);
		ckf_collect_settle(g.c);
		CHECK(gathering_room(&g) == CKF_OK, "settle");
		CHECK(end == NULL || last_block(g.inside->run[0].first) == end, "a block was copied");
		check_run(&g, want, first + rest + later);
		free(want);
	}
}

/* Each step of a merge is bounded, the last one as well.  The runs have alternate hashes and equal
 * ones, so nearly all of them are copied. */
static void
run_steps(const void *arg)
{
	uint64_t n = CKF_MOST_BLOCK < 3000 ? 20 * CKF_MOST_BLOCK : 4 * CKF_STEP;
	uint64_t *hashes = check_alloc(16 * n);

	(void)arg;
	for (uint64_t i = 0; i < n; i++)
	{
		hashes[i] = 4 * i + 1;
		hashes[n + i] = 4 * i + (i % 3 == 0 ? 1 : 3);
	}
	for (unsigned most = 1; most <= 3; most++)
	{
		gathering g;

		start(&g, most);
		CHECK(gathering_filter(&g, hashes, n) == CKF_OK, "take a filter");
		CHECK(gathering_filter(&g, hashes + n, n) == CKF_OK, "take a filter");
		CHECK(g.longest >= CKF_STEP && g.longest <= CKF_STEP + 2 * CKF_MOST_BLOCK,
			  "a step of %llu hashes", (unsigned long long)g.longest);
		gathering_settle(&g, hashes, 2 * n, most == 1);
		gathering_end(&g);
	}
	free(hashes);
}

/* --------------------------------------------------------------------- sort */

/* A key, cut to the bits by which it is sorted, and its number. */
typedef struct numbered
{
	uint64_t cut;
	size_t number;
} numbered;

static int
compare_numbered(const void *a, const void *b)
{
	const numbered *x = a, *y = b;

	if (x->cut != y->cut)
		return (x->cut > y->cut) - (x->cut < y->cut);
	return (x->number > y->number) - (x->number < y->number);
}

/* Random keys with leading zeros.  A part of them are near another key, or equal to it. */
static void
draw_keys(uint64_t *keys, size_t n)
{
	unsigned shift = (unsigned)check_below(60), near = 30 * (unsigned)check_below(4);
	unsigned part = check_chance(30) ? 75 : 0; /* of them are in a later partition of the sort */

	for (size_t i = 0; i < n; i++)
		keys[i] = i > 0 && check_chance(near) ? keys[check_below(i)] ^ check_below(3)
				  : check_chance(part)        ? check_random() >> 8 | UINT64_C(1) << 63
											  : check_random() >> shift;
}

/* Sort n keys by `width` bits from `low` up: keys that are equal in these keep their order. */
static void
sort_keys(size_t n, unsigned low, unsigned width, bool whole)
{
	uint64_t *keys = guard_new(8 * n + 8, 8), *scratch = guard_new(8 * n + 8, 8);
	uint64_t *given = check_alloc(8 * n + 8);
	numbered *want = check_alloc((n + 1) * sizeof *want);
	const uint64_t *got = keys;

	draw_keys(keys, n);
	memcpy(given, keys, 8 * n);
	for (size_t i = 0; i < n; i++)
		want[i] = (numbered){keys[i] >> low << (64 - width), i};
	qsort(want, n, sizeof *want, compare_numbered);
	if (whole)
		got = ckf_sort_hashes(keys, scratch, n);
	else
		ckf_sort(keys, scratch, n, low, low + width);
	for (size_t i = 0; i < n; i++)
		CHECK(got[i] == given[want[i].number], "key %zu of %zu, sorted by %u bits from %u up", i, n,
			  width, low);
	free(want);
	free(given);
	guard_free(keys);
	guard_free(scratch);
}

/* Keys in any number, sorted by all bits or by some. */
static void
run_sort(const void *arg)
{
	static const size_t edges[] = {1, 48, 48, 200, 4096, CKF_LARGEST_PART, 4 * CKF_LARGEST_PART};
	static const unsigned widths[] = {1, 8, 11, 22, 33};

	(void)arg;
	for (uint64_t round = check_rounds(400); round > 0; round--)
	{
		size_t n = edges[check_below(check_chance(10) ? 7 : 6)];
		bool whole = check_chance(30);
		unsigned width = check_chance(50) ? widths[check_below(5)] + (unsigned)check_below(2)
										  : 1 + (unsigned)check_below(64);

		n = check_chance(60) ? n - 1 + check_below(4) : check_below(2 * n) + 1;
		width = whole ? 64 : width;
		sort_keys(n, (unsigned)check_below(65 - width), width, whole);
	}
}

int
main(void)
{
	check_begin("core runs");
	check_case(run_spares, NULL, "spare blocks");
	check_case(run_blocks, NULL, "the size of blocks");
	check_case(run_merges, NULL, "which runs are merged");
	check_case(run_shared, NULL, "runs that share hashes");
	check_case(run_edges, NULL, "the edges of halves and blocks");
	check_case(run_full, NULL, "full blocks");
	check_case(run_steps, NULL, "the length of steps");
	check_case(run_sort, NULL, "sorting");
	return check_end();
}
