/*
 * collect.c - a collector, compared with a sorted array: hashes in any order and number, added one
 * by one or as filters, and settled now and then; its memory; and a host that is out of memory.
 */
#include "state.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

enum
{
	ORDERS = 7,
	MOST_HELD = 4000, /* blocks */
	HEAD = 24,        /* bytes of a block before its hashes */
	MOST_FAILURES = 60
};

/* The host's memory. */
typedef struct host
{
	void *block[MOST_HELD];
	size_t size[MOST_HELD];
	size_t blocks, bytes, most_bytes;
	uint64_t asked, fails_at; /* the request that fails; 0: none */
} host;

/* The hashes that were added. */
typedef struct truth
{
	uint64_t *hash;
	size_t n;
} truth;

static uint64_t
hash_at(const uint8_t *bytes, uint64_t i)
{
	uint64_t hash = 0;

	for (int k = 7; k >= 0; k--)
		hash = hash << 8 | bytes[CKF_HEADER_SIZE + 8 * i + k];
	return hash;
}

static void
give(host *h, ckf_collector *c)
{
	size_t size = c->block_size + (check_chance(20) ? 8 * check_below(40) : 0);

	CHECK(c->block_size <= 8 * CKF_MOST_BLOCK + HEAD, "a block of %zu bytes", c->block_size);
	CHECK(h->blocks < MOST_HELD, "too many blocks");
	h->block[h->blocks] = guard_new(size, 8);
	h->size[h->blocks] = size;
	h->bytes += size;
	h->most_bytes = h->bytes > h->most_bytes ? h->bytes : h->most_bytes;
	ckf_collect_give(c, h->block[h->blocks++], size);
}

/* Each block comes back once. */
static void
take_back(host *h, ckf_collector *c)
{
	void *block;

	while ((block = ckf_collect_spent(c)) != NULL)
	{
		size_t i = 0;

		while (i < h->blocks && h->block[i] != block)
			i++;
		CHECK(i < h->blocks, "a block came back that was not given");
		h->bytes -= h->size[i];
		guard_free(block);
		h->blocks--;
		h->block[i] = h->block[h->blocks];
		h->size[i] = h->size[h->blocks];
	}
}

/* false: the host has no memory. */
static bool
make_room(host *h, ckf_collector *c)
{
	ckf_status status;

	while ((status = ckf_collect_step(c)) != CKF_OK)
	{
		CHECK(status == CKF_MORE || status == CKF_ROOM, "step: status %d", status);
		if (status == CKF_ROOM && ++h->asked == h->fails_at)
			return false;
		if (status == CKF_ROOM)
			give(h, c);
		if (check_chance(50))
			take_back(h, c);
	}
	take_back(h, c);
	return true;
}

/* ------------------------------------------------------------------- inputs */

static size_t
draw_number(size_t most)
{
	static const uint64_t edges[] = {1,
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
	unsigned order = (unsigned)check_below(ORDERS);
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
				t->hash[i] = (uint64_t[]){0, 1, 2, UINT64_MAX, check_random()}[check_below(5)];
		}
}

/* ----------------------------------------------------------------- verdicts */

static void
check_hashes(ckf_collector *c, const truth *t, size_t n, unsigned most)
{
	uint64_t *sorted = check_alloc(8 * n + 8);
	owned view = {.filter = c->filter}, flat;
	struct large large = {.collector = c, .merger = {.goal = CKF_MERGE_SUM}};
	uint64_t at = 0;

	memcpy(sorted, t->hash, 8 * n);
	for (size_t i = 0; i < n; i++)
		sorted[i] |= sorted[i] == 0;
	qsort(sorted, n, 8, compare_hashes);
	view.item_classes = c->filter.item_classes;
	view.format = CKF_FORMAT_VERSION;
	view.large = &large;
	CHECK(ckf_items(&c->filter) == c->filter.count, "the count of a collector");
	CHECK(run_rebuild(&flat, CKF_MERGE_SUM, &view, NULL) == CKF_OK, "flat");
	CHECK(most > 1 || flat.filter.count == c->filter.count, "hashes got lost on the way");
	for (size_t i = 0, end; i < n; i = end)
	{
		uint64_t copies = 0, least;

		for (end = i; end < n && sorted[end] == sorted[i]; end++)
			;
		for (; at < flat.filter.count && hash_at(flat.bytes, at) == sorted[i]; at++)
			copies++;
		least = end - i < most ? end - i : most;
		least = least < 8 ? least : 8; /* what a filter of b = 4 keeps */
		CHECK(copies >= least && copies <= end - i, "%llu copies, least %llu, came %zu",
			  (unsigned long long)copies, (unsigned long long)least, end - i);
	}
	CHECK(at == flat.filter.count, "hashes from nowhere");
	owned_free(&flat);
	free(sorted);
}

static size_t
count_distinct(const truth *t)
{
	uint64_t *sorted = check_alloc(8 * t->n + 8);
	size_t distinct = 0;

	memcpy(sorted, t->hash, 8 * t->n);
	qsort(sorted, t->n, 8, compare_hashes);
	for (size_t i = 0; i < t->n; i++)
		distinct += i == 0 || sorted[i] != sorted[i - 1];
	free(sorted);
	return distinct;
}

/* -------------------------------------------------------------------- cases */

static void
new_promise(owned *promise)
{
	ckf_params params = params_of(1, 0.01, false, false, 4);

	owned_create(promise, &params);
}

/* Take a filter of the next hashes, as another process sends it; returns how many. */
static size_t
take_filter(host *h, ckf_collector *c, const truth *t, size_t i)
{
	size_t n = check_below(t->n - i + 1);
	ckf_collector *other = collector_new(&c->filter, c->most);
	owned flat, view = {.filter = c->filter};
	struct large large = {.collector = other, .merger = {.goal = CKF_MERGE_SUM}};

	collector_take(other, t->hash + i, n);
	view.large = &large;
	view.format = CKF_FORMAT_VERSION;
	CHECK(run_rebuild(&flat, CKF_MERGE_SUM, &view, NULL) == CKF_OK, "flat");
	CHECK(make_room(h, c), "make room");
	CHECK(ckf_collect_filter(c, &flat.filter) == CKF_OK, "collect a filter");
	CHECK(make_room(h, c), "take a filter");
	owned_free(&flat);
	collector_free(other);
	return n;
}

static void
run_any(const void *arg)
{
	for (uint64_t round = check_rounds(*(const unsigned *)arg); round > 0; round--)
	{
		unsigned most = check_chance(60) ? 1 : 2 + (unsigned)check_below(15);
		unsigned settles = check_chance(50) ? 0 : (unsigned)check_below(4);
		bool filters = most == 1 && check_chance(30);
		host h = {0};
		truth t;
		owned promise;
		ckf_collector *c;

		draw_hashes(&t, *(const unsigned *)arg > 20 ? 30000 : 10000000);
		new_promise(&promise);
		c = collector_new(&promise.filter, most);
		for (size_t i = 0; i < t.n; i++)
		{
			if (settles > 0 && check_below(t.n) < 2)
			{
				settles--;
				ckf_collect_settle(c);
				CHECK(make_room(&h, c), "make room");
				check_hashes(c, &t, i, most);
			}
			if (filters && check_below(t.n) < 4)
				i += take_filter(&h, c, &t, i);
			if (i >= t.n)
				break;
			while (!ckf_collect(c, t.hash[i], class_of_hash(t.hash[i])))
				CHECK(make_room(&h, c), "make room");
		}
		ckf_collect_settle(c);
		CHECK(make_room(&h, c), "make room");
		check_hashes(c, &t, t.n, most);
		ckf_collect_end(c);
		take_back(&h, c);
		CHECK(h.blocks == 0, "%zu blocks did not come back", h.blocks);
		guard_free(c);
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
		size_t most = 40 * (size_t)CKF_MOST_BLOCK, distinct, blocks;
		uint64_t values = 1 + check_below(6 * CKF_MOST_BLOCK);
		host h = {0};
		truth t;
		owned promise;
		ckf_collector *c;

		t.n = most < 3000000 ? most : 3000000;
		t.hash = check_alloc(8 * t.n);
		for (size_t i = 0; i < t.n; i++)
			t.hash[i] = (1 + check_below(values)) * UINT64_C(0x9e3779b97f4a7c15);
		distinct = count_distinct(&t);
		new_promise(&promise);
		c = collector_new(&promise.filter, 1);
		for (size_t i = 0; i < t.n; i++)
			while (!ckf_collect(c, t.hash[i], 1))
				CHECK(make_room(&h, c), "make room");
		blocks = 4 * distinct + 2 * CKF_FIRST_BLOCK;
		blocks = blocks < CKF_MOST_BLOCK ? blocks : CKF_MOST_BLOCK;
		CHECK(h.most_bytes <= 8 * (2 * distinct + 7 * blocks) + 40 * (HEAD + 320),
			  "%zu bytes for %zu distinct hashes", h.most_bytes, distinct);
		ckf_collect_end(c);
		take_back(&h, c);
		guard_free(c);
		owned_free(&promise);
		free(t.hash);
	}
}

/* The host runs out of memory at any request. All blocks come back. */
static void
run_failures(const void *arg)
{
	truth t;
	owned promise;

	(void)arg;
	new_promise(&promise);
	for (uint64_t fails_at = 1; fails_at <= MOST_FAILURES; fails_at++)
	{
		host h = {.fails_at = fails_at};
		ckf_collector *c = collector_new(&promise.filter, 1);
		bool failed = false;

		draw_hashes(&t, 20000);
		for (size_t i = 0; i < t.n && !failed; i++)
			while (!failed && !ckf_collect(c, t.hash[i], 1))
				failed = !make_room(&h, c);
		ckf_collect_settle(c);
		if (!failed)
			(void)make_room(&h, c);
		ckf_collect_end(c);
		take_back(&h, c);
		CHECK(h.blocks == 0, "%zu blocks did not come back", h.blocks);
		guard_free(c);
		free(t.hash);
	}
	owned_free(&promise);
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

/* Hashes of a damaged filter, which are out of order, are refused; or taken unsorted. */
static void
run_damaged(const void *arg)
{
	(void)arg;
	for (uint64_t n = 2; n < 40 * CKF_FIRST_BLOCK; n += 1 + n / 4)
	{
		ckf_params params = params_of(1, 1e-9, false, false, 4);
		uint64_t *hashes = check_alloc(8 * n), at = check_below(n - 1), swap[2];
		owned o;
		ckf_collector *c;
		ckf_status status;
		bool few;

		for (uint64_t i = 0; i < n; i++)
			hashes[i] = (i + 1) * (UINT64_MAX / (n + 2));
		owned_create(&o, &params);
		c = collector_new(&o.filter, 1);
		collector_take(c, hashes, n);
		o.large = check_alloc(sizeof *o.large);
		memset(o.large, 0, sizeof *o.large);
		o.large->collector = c;
		CHECK(owned_send(&o) == CKF_OK, "send");
		memcpy(swap, o.bytes + CKF_HEADER_SIZE + 8 * at, 16);
		memcpy(o.bytes + CKF_HEADER_SIZE + 8 * at, &swap[1], 8);
		memcpy(o.bytes + CKF_HEADER_SIZE + 8 * at + 8, &swap[0], 8);
		c = collector_new(&o.filter, 1);
		CHECK(collector_make_room(c) == CKF_OK, "make room");
		few = n <= (uint64_t)(c->end - c->next);
		CHECK(ckf_collect_filter(c, &o.filter) == CKF_OK, "collect");
		status = collector_make_room(c);
		CHECK(status == (few ? CKF_OK : CKF_BAD_BYTES), "%llu hashes: status %d",
			  (unsigned long long)n, status);
		collector_free(c);
		owned_free(&o);
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
	check_case(run_failures, NULL, "no memory");
	check_case(run_promises, NULL, "promises");
	check_case(run_damaged, NULL, "damaged filters");
	return check_end();
}
