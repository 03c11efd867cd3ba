/*
 * runs.c - the runs and blocks of a collector: which runs it merges, how large its blocks are, and
 * which blocks it keeps for later.  collect.c tests all of a collector.
 */
#include "collectors.h"

#include "collect/block.h"
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

/* A filter of n random hashes. */
static void
new_filter(owned *o, uint64_t n)
{
	uint64_t *hashes = new_hashes(n, 0);

	filter_of(o, hashes, n);
	free(hashes);
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
		owned o;
		ckf_collector *c;

		new_filter(&o, n);
		c = collector_new(&o.filter, 1);
		make_room(c, 0);
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect a filter");
		make_room(c, n);
		ckf_collect_settle(c);
		make_room(c, n);
		CHECK(c->runs == 1 && c->filter.count == n, "one run of all");
		make_room(c, n);
		CHECK(c->block != NULL && c->block->capacity >= capacity_for(n), "a new block");
		collector_free(c);
		owned_free(&o);
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
		owned filter[MOST_FILTERS];
		ckf_collector *c = NULL;

		for (unsigned i = 0; i < filters; i++)
		{
			/* near the half of a run, which decides */
			uint64_t n = runs > 0 && check_chance(80) ? count[check_below(runs)] / 2 : 30 * least;

			n = check_chance(70) ? n - 1 + check_below(3) : 1 + check_below(n);
			n = n > least ? n : least + check_below(3); /* fewer hashes fit into the open block */
			new_filter(&filter[i], n);
			if (i == 0)
				c = collector_new(&filter[i].filter, 1);
			make_room(c, all);
			CHECK(ckf_collect_filter(c, &filter[i].filter) == CKF_OK, "collect a filter");
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
		collector_free(c);
		while (filters > 0)
			owned_free(&filter[--filters]);
	}
}

int
main(void)
{
	check_begin("core runs");
	check_case(run_spares, NULL, "spare blocks");
	check_case(run_blocks, NULL, "the size of blocks");
	check_case(run_merges, NULL, "which runs are merged");
	return check_end();
}
