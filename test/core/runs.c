/*
 * runs.c - the parts of a collector: which runs it merges and what comes of it, how large its
 * blocks are, which blocks it keeps for later, and the sort.  collect.c has the whole.
 */
#include "state.h"

#include "collect/block.h"
#include "collect/sort.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

enum
{
	HEAD = 24, /* bytes of a block before its hashes */
	MOST_FILTERS = 12,
	MOST_SPARE = 60
};

/* ------------------------------------------------------------------- blocks */

/* A block with room for so many hashes. */
static ckf_block *
new_block(uint64_t capacity)
{
	ckf_block *block = guard_new(HEAD + 8 * (size_t)capacity, 8);

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

/* Take the blocks that the collector gives back: the smallest ones, but never the one that was just
 * given; or at its end all. */
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
		CHECK(c->block_size == HEAD + 8 * wanted, "%zu bytes for %llu hashes", c->block_size,
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
					ckf_collect_give(c, block, HEAD + 8 * (size_t)capacity + check_below(8));
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
		memset(&c->run, 0, sizeof c->run);
		ckf_collect_end(c);
		take_spent(c, &s, NULL, true);
		CHECK(s.n == 0, "%u blocks did not come back", s.n);
		guard_free(c);
	}
}

/* -------------------------------------------------------------------- runs */

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
put(uint8_t *bytes, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

/* A filter of n random hashes. */
static uint8_t *
new_filter(uint64_t n, ckf_filter *filter)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);
	uint64_t *hashes = check_alloc(8 * n + 8);
	uint8_t *bytes = check_alloc(CKF_HEADER_SIZE + 8 * n);

	for (uint64_t i = 0; i < n; i++)
		hashes[i] = check_random() | 1;
	qsort(hashes, n, 8, compare);
	CHECK(ckf_create(&params, bytes) == CKF_OK, "create");
	bytes[14] = n > 0 ? CKF_ITEM_HASH : 0;
	put(bytes + 16, n);
	for (uint64_t i = 0; i < n; i++)
		put(bytes + CKF_HEADER_SIZE + 8 * i, hashes[i]);
	free(hashes);
	CHECK(ckf_open(filter, bytes, CKF_HEADER_SIZE + 8 * n, CKF_STORED) == CKF_OK, "open");
	return bytes;
}

/* The hashes for which a new block has room, if so many are kept. */
static uint64_t
capacity_for(uint64_t kept)
{
	uint64_t most = 2 * kept, words = CKF_FIRST_BLOCK;

	if (kept >= CKF_MANY_KEPT)
		most = kept / 2 > 2 * CKF_MANY_KEPT ? kept / 2 : 2 * CKF_MANY_KEPT;
	for (; words < CKF_MOST_BLOCK && words < most; words *= 2)
		;
	return words - HEAD / 8;
}

/* Do what a collector asks for.  `left` hashes of a filter, if any, are still to be copied: of
 * these it asks for blocks of their number.  Without a filter and a merge it opens a block for
 * `kept`. */
static void
make_room(ckf_collector *c, uint64_t kept)
{
	ckf_status status;
	void *block;

	while ((status = ckf_collect_step(c)) != CKF_OK)
	{
		CHECK(status == CKF_MORE || status == CKF_ROOM, "step: status %d", status);
		if (status == CKF_MORE)
			continue;
		if (c->in)
		{
			uint64_t left = c->in->count - c->taken;

			left = left < CKF_MOST_BLOCK ? left : CKF_MOST_BLOCK;
			CHECK(c->block_size == HEAD + 8 * left, "%zu bytes for %llu hashes of a filter",
				  c->block_size, (unsigned long long)left);
		}
		else if (!c->merged.first && !c->block && !c->settling)
			CHECK(c->block_size == HEAD + 8 * capacity_for(kept), "a block of %zu bytes for %llu",
				  c->block_size, (unsigned long long)kept);
		ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
	}
	while ((block = ckf_collect_spent(c)) != NULL)
		guard_free(block);
	CHECK(c->block != NULL || c->next == c->end, "room without a block");
	if (c->block)
		CHECK((uint64_t)(c->end - c->block->hash) ==
				  (c->block->capacity < CKF_MOST_BLOCK ? c->block->capacity : CKF_MOST_BLOCK),
			  "the room of a block");
}

/* Give a collector what it asks for. */
static void
make_room_any(ckf_collector *c)
{
	ckf_status status;
	void *block;

	while ((status = ckf_collect_step(c)) != CKF_OK)
		if (status == CKF_ROOM)
			ckf_collect_give(c, guard_new(c->block_size, 8), c->block_size);
		else
			CHECK(status == CKF_MORE, "step: status %d", status);
	while ((block = ckf_collect_spent(c)) != NULL)
		guard_free(block);
}

static void
free_collector(ckf_collector *c)
{
	void *block;

	ckf_collect_end(c);
	while ((block = ckf_collect_spent(c)) != NULL)
		guard_free(block);
	guard_free(c);
}

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

/* The next block depends on how many hashes are kept. */
static void
run_blocks(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(40); round > 0; round--)
	{
		uint64_t n = draw_kept();
		ckf_filter filter;
		uint8_t *bytes = new_filter(n, &filter);
		ckf_collector *c = guard_new(sizeof *c, 8);

		ckf_collect_start(c, &filter, 1);
		make_room(c, 0);
		CHECK(ckf_collect_filter(c, &filter) == CKF_OK, "collect a filter");
		make_room(c, n);
		ckf_collect_settle(c);
		make_room(c, n);
		CHECK(c->runs == 1 && c->filter.count == n, "one run of all");
		make_room(c, n);
		CHECK(c->block != NULL && c->block->capacity >= capacity_for(n), "a new block");
		free_collector(c);
		free(bytes);
	}
}

/* A run that is not more than twice as long as the next one is merged with it, and no other. */
static void
run_merges(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(50); round > 0; round--)
	{
		uint64_t count[MOST_FILTERS + 1], least = 2 * CKF_FIRST_BLOCK, all = 0;
		unsigned runs = 0, filters = 2 + (unsigned)check_below(MOST_FILTERS - 1);
		ckf_filter filter[MOST_FILTERS];
		uint8_t *bytes[MOST_FILTERS];
		ckf_collector *c = guard_new(sizeof *c, 8);

		for (unsigned i = 0; i < filters; i++)
		{
			/* near the half of a run, which decides */
			uint64_t n = runs > 0 && check_chance(80) ? count[check_below(runs)] / 2 : 30 * least;

			n = check_chance(70) ? n - 1 + check_below(3) : 1 + check_below(n);
			n = n > least ? n : least + check_below(3); /* fewer go into the open block */
			bytes[i] = new_filter(n, &filter[i]);
			if (i == 0)
				ckf_collect_start(c, &filter[i], 1);
			make_room(c, all);
			CHECK(ckf_collect_filter(c, &filter[i]) == CKF_OK, "collect a filter");
			make_room(c, all);
			count[runs++] = n;
			all += n;
			for (; runs > 1 && count[runs - 2] / 2 <= count[runs - 1]; runs--)
				count[runs - 2] += count[runs - 1];
			CHECK(c->runs == runs, "%u runs and not %u", c->runs, runs);
			for (unsigned k = 0; k < runs; k++)
				CHECK(c->run[k].count == count[k], "run %u has %llu hashes and not %llu", k,
					  (unsigned long long)c->run[k].count, (unsigned long long)count[k]);
			CHECK(ckf_items(&c->filter) == all, "all hashes");
		}
		ckf_collect_settle(c);
		make_room(c, all);
		CHECK(c->runs == 1 && c->run[0].count == all && c->filter.count == all, "one run");
		free_collector(c);
		while (filters > 0)
			free(bytes[--filters]);
	}
}

/* Two runs that share most hashes: the merged run has each hash once, in order. */
static void
run_shared(const void *arg)
{
	(void)arg;
	for (uint64_t round = check_rounds(300); round > 0; round--)
	{
		uint64_t n = CKF_FIRST_BLOCK + check_below(5 * CKF_FIRST_BLOCK), want = 0, at = 0;
		unsigned share = 50 + (unsigned)check_below(51);
		ckf_filter pool, half[2];
		uint8_t *bytes[3] = {new_filter(n, &pool), check_alloc(CKF_HEADER_SIZE + 8 * n),
							 check_alloc(CKF_HEADER_SIZE + 8 * n)};
		bool *in = check_alloc(n);
		uint64_t count[2] = {0, 0};
		ckf_collector *c = guard_new(sizeof *c, 8);
		size_t have;

		for (uint64_t i = 0; i < n; i++)
		{
			in[i] = false;
			for (int k = 0; k < 2; k++)
				if (check_chance(share))
				{
					memcpy(bytes[k + 1] + CKF_HEADER_SIZE + 8 * count[k]++,
						   bytes[0] + CKF_HEADER_SIZE + 8 * i, 8);
					in[i] = true;
				}
			want += in[i];
		}
		ckf_collect_start(c, &pool, 1);
		for (int k = 0; k < 2; k++)
		{
			memcpy(bytes[k + 1], bytes[0], CKF_HEADER_SIZE);
			put(bytes[k + 1] + 16, count[k]);
			if (count[k] == 0)
				bytes[k + 1][14] = 0;
			CHECK(ckf_open(&half[k], bytes[k + 1], CKF_HEADER_SIZE + 8 * count[k], CKF_STORED) ==
					  CKF_OK,
				  "open");
			make_room_any(c);
			CHECK(ckf_collect_filter(c, &half[k]) == CKF_OK, "collect a filter");
		}
		ckf_collect_settle(c);
		make_room_any(c);
		CHECK(c->filter.count == want, "%llu hashes and not %llu",
			  (unsigned long long)c->filter.count, (unsigned long long)want);
		for (uint64_t i = 0; i < n; i++)
			if (in[i])
			{
				const uint64_t *hash = ckf_collected(c, at++, &have);
				uint8_t expected[8];

				CHECK(hash != NULL && have > 0, "the end of the run");
				put(expected, *hash);
				CHECK(memcmp(expected, bytes[0] + CKF_HEADER_SIZE + 8 * i, 8) == 0, "hash %llu",
					  (unsigned long long)i);
			}
		CHECK(ckf_collected(c, at, &have) == NULL && have == 0, "no more hashes");
		free_collector(c);
		free(in);
		for (int k = 0; k < 3; k++)
			free(bytes[k]);
	}
}

/* ------------------------------------------------------------------ sorting */

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

	for (size_t i = 0; i < n; i++)
		keys[i] = i > 0 && check_chance(near) ? keys[check_below(i)] ^ check_below(3)
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
	static const size_t edges[] = {1, 48, 48, 200, 4096, CKF_LARGEST_PART};
	static const unsigned widths[] = {1, 8, 11, 22, 33};

	(void)arg;
	for (uint64_t round = check_rounds(400); round > 0; round--)
	{
		size_t n = edges[check_below(6)];
		bool whole = check_chance(30);
		unsigned width = check_chance(50) ? widths[check_below(5)] + (unsigned)check_below(2)
										  : 1 + (unsigned)check_below(64);

		n = check_chance(60) ? n - 1 + check_below(4) : check_below(2 * n) + 1;
		width = whole ? 64 : width;
		sort_keys(n, (unsigned)check_below(65 - width), width, whole);
	}
}

/* Many keys in a later partition: it is sorted in a scratch of its own. */
static void
run_parts(const void *arg)
{
	size_t n = 4 * CKF_LARGEST_PART;
	uint64_t *keys = guard_new(8 * n, 8), *scratch = guard_new(8 * n, 8);
	uint64_t *want = check_alloc(8 * n), *got;

	(void)arg;
	for (size_t i = 0; i < n; i++)
		keys[i] = check_random() >> 8 | (i % 4 == 0 ? 0 : UINT64_C(1) << 63);
	memcpy(want, keys, 8 * n);
	qsort(want, n, 8, compare);
	got = ckf_sort_hashes(keys, scratch, n);
	CHECK(memcmp(want, got, 8 * n) == 0, "the order of keys");
	free(want);
	guard_free(keys);
	guard_free(scratch);
}

int
main(void)
{
	check_begin("core runs");
	check_case(run_spares, NULL, "spare blocks");
	check_case(run_blocks, NULL, "the size of blocks");
	check_case(run_merges, NULL, "which runs are merged");
	check_case(run_shared, NULL, "runs that share hashes");
	check_case(run_sort, NULL, "sorting");
	check_case(run_parts, NULL, "sorting a later partition");
	return check_end();
}
