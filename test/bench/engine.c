/*
 * engine.c - our filters as the benchmarks use them.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "keys.h"

/* Keys that are hashed before they are asked for at once. */
#define BATCH 512

static void
engine_check(ckf_status status, const char *what)
{
	if (status != CKF_OK)
		bench_fail("%s: status %d", what, (int)status);
}

ckf_params
engine_params(double fpr, uint64_t capacity, bool plain, unsigned b)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = (int64_t)capacity;
	params.fpr = fpr;
	params.plain = plain;
	params.bucket_size = (uint8_t)b;
	return params;
}

static void
engine_open(engine *e, uint8_t *bytes, size_t size, bool state)
{
	e->bytes = bytes;
	e->state = state;
	engine_check(ckf_open(&e->filter, bytes, size, state ? CKF_STATE : CKF_STORED), "open");
}

void
engine_create(engine *e, const ckf_params *params)
{
	uint8_t *bytes = bench_memory(CKF_HEADER_SIZE);

	engine_check(ckf_create(params, bytes), "create");
	engine_open(e, bytes, CKF_HEADER_SIZE, false);
}

void
engine_destroy(engine *e)
{
	free(e->bytes);
	e->bytes = NULL;
}

/* A larger buffer than the one that is there, whose contents do not matter. */
static void *
engine_room(void *old, size_t size)
{
	void *room;

	free(old);
	room = malloc(size + 1);
	if (room == NULL)
		bench_fail("no memory for %zu bytes", size);
	return room;
}

/* Steps of a started rebuild to its end. */
static void
engine_finish(engine *to, ckf_rebuild *rebuild, bool state)
{
	ckf_buffers buffers = {0};
	ckf_status status;

	while ((status = ckf_rebuild_step(rebuild, &buffers)) != CKF_OK)
	{
		if (status == CKF_MORE)
			continue;
		if (status != CKF_ROOM)
			engine_check(status, "rebuild");
		if (buffers.dst_room < buffers.dst_size)
			buffers.dst = engine_room(buffers.dst, buffers.dst_room = buffers.dst_size);
		if (buffers.scratch_room < buffers.scratch_size)
			buffers.scratch =
				engine_room(buffers.scratch, buffers.scratch_room = buffers.scratch_size);
	}
	free(buffers.scratch);
	free(rebuild);
	engine_open(to, buffers.dst, buffers.dst_size, state);
	to->filter.room = buffers.dst_room;
}

void
engine_rebuild(engine *to, ckf_operation operation, const engine *a, const engine *b)
{
	ckf_rebuild *rebuild = bench_memory(CKF_REBUILD_SIZE(2));

	engine_check(ckf_rebuild_start(rebuild, operation, &a->filter, b != NULL ? &b->filter : NULL),
				 "start a rebuild");
	engine_finish(to, rebuild, operation == CKF_GROW && a->state);
}

void
engine_add(engine *e, const uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = ckf_hash_integer((int64_t)keys[i], 0);
		ckf_status status;

		while ((status = ckf_add(&e->filter, hash, CKF_ITEM_NUMBER)) == CKF_ROOM)
		{
			engine larger;

			engine_rebuild(&larger, CKF_GROW, e, NULL);
			free(e->bytes);
			*e = larger;
		}
		engine_check(status, "add");
	}
}

static void
engine_room_for_hashes(ckf_collector *collector)
{
	ckf_status status;
	void *block;

	while ((status = ckf_collect_step(collector)) == CKF_MORE || status == CKF_ROOM)
		if (status == CKF_ROOM)
			ckf_collect_give(collector, bench_memory(collector->block_size), collector->block_size);
	engine_check(status, "make room in a collector");
	while ((block = ckf_collect_spent(collector)) != NULL)
		free(block);
}

static void
engine_start(ckf_collector *collector, const ckf_params *params)
{
	uint8_t header[CKF_HEADER_SIZE];
	ckf_filter empty;

	engine_check(ckf_create_state(params, header), "create a state");
	engine_check(ckf_open(&empty, header, sizeof header, CKF_STATE), "open");
	ckf_collect_start(collector, &empty, 1);
}

static void
engine_take(ckf_collector *collector, uint64_t hash)
{
	while (!ckf_collect(collector, hash, CKF_ITEM_NUMBER))
		engine_room_for_hashes(collector);
}

/* What the operation makes of what was collected. */
static void
engine_end(engine *to, ckf_operation operation, ckf_collector *collector)
{
	ckf_rebuild *rebuild = bench_memory(CKF_REBUILD_SIZE(1));
	void *block;

	ckf_collect_settle(collector);
	engine_room_for_hashes(collector);
	engine_check(ckf_rebuild_start(rebuild, operation, &collector->filter, NULL),
				 "start a rebuild");
	engine_finish(to, rebuild, false);
	ckf_collect_end(collector);
	while ((block = ckf_collect_spent(collector)) != NULL)
		free(block);
}

/* Every key into a collector, and what the operation makes of it. */
static void
engine_collect(engine *to, ckf_operation operation, const ckf_params *params, const uint64_t *keys,
			   size_t n)
{
	ckf_collector collector;

	engine_start(&collector, params);
	for (size_t i = 0; i < n; i++)
		engine_take(&collector, ckf_hash_integer((int64_t)keys[i], 0));
	engine_end(to, operation, &collector);
}

void
engine_aggregate(engine *to, const ckf_params *params, const uint64_t *keys, size_t n)
{
	engine_collect(to, CKF_FINISH, params, keys, n);
}

void
engine_sorted(engine *to, const ckf_params *params, const uint64_t *keys, size_t n)
{
	engine_collect(to, CKF_MERGE_SUM, params, keys, n);
}

/* ------------------------------------------- from hashes at hand */

static void
engine_hash(uint64_t *hashes, const uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hashes[i] = ckf_hash_integer((int64_t)keys[i], 0);
}

static void
engine_take_all(engine *to, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	ckf_collector collector;

	engine_start(&collector, params);
	for (size_t i = 0; i < n; i++)
		engine_take(&collector, hashes[i]);
	engine_end(to, CKF_FINISH, &collector);
}

void
engine_bulk(engine *to, const ckf_params *params, const uint64_t *keys, size_t n, uint64_t *room)
{
	engine_hash(room, keys, n);
	engine_take_all(to, params, room, n);
}

static uint64_t *
engine_spread_hashes(size_t n)
{
	uint64_t *hashes = bench_memory(8 * n), step = UINT64_MAX / n;

	for (size_t i = 0; i < n; i++)
		hashes[i] = i * step + key_at(0, i) % step + 1;
	return hashes;
}

void
engine_spread(engine *to, const ckf_params *params, size_t n)
{
	uint64_t *hashes = engine_spread_hashes(n);

	engine_take_all(to, params, hashes, n);
	free(hashes);
}

/* In order, which is quick: a filled table, and all items out again. */
void
engine_make_room(engine *to, const ckf_params *params, size_t n)
{
	uint64_t *hashes = engine_spread_hashes(n);

	engine_take_all(to, params, hashes, n);
	for (size_t i = 0; i < n; i++)
	{
		bool found;

		engine_check(ckf_remove(&to->filter, hashes[i], &found), "remove");
		if (!found)
			bench_fail("an item to remove was not there");
	}
	if (to->filter.count != 0)
		bench_fail("a table was not emptied");
	free(hashes);
}

/* ------------------------------------------------------------ lookups */

size_t
engine_contains_many(const engine *e, const uint64_t *keys, size_t n)
{
	uint64_t hashes[BATCH];
	size_t found = 0;

	for (size_t i = 0; i < n; i += BATCH)
	{
		size_t batch = n - i < BATCH ? n - i : BATCH;

		engine_hash(hashes, keys + i, batch);
		found += ckf_contains_many(&e->filter, hashes, batch, NULL);
	}
	return found;
}

double
engine_bits_per_item(const engine *e)
{
	return 8 * (double)e->filter.size / (double)e->filter.count;
}

/* ------------------------------------------------------------- subjects */

static void *
engine_subject(uint64_t bytes, bool plain)
{
	engine *e = bench_memory(sizeof *e);
	size_t n = (size_t)(FULL_CUCKOO * (double)subject_slots(bytes));
	ckf_params params = engine_params(plain ? 0.0019 : 0.00095, n, plain, 4);

	engine_make_room(e, &params, n);
	return e;
}

static void *
plain_create(uint64_t bytes)
{
	return engine_subject(bytes, true);
}

static void *
semi_sorted_create(uint64_t bytes)
{
	return engine_subject(bytes, false);
}

static void
subject_destroy(void *filter)
{
	engine_destroy(filter);
	free(filter);
}

static size_t
subject_add(void *filter, const uint64_t *keys, size_t n)
{
	engine *e = filter;

	for (size_t i = 0; i < n; i++)
		if (ckf_add(&e->filter, ckf_hash_integer((int64_t)keys[i], 0), CKF_ITEM_NUMBER) != CKF_OK)
			return i;
	return n;
}

static size_t
subject_contains(const void *filter, const uint64_t *keys, size_t n)
{
	const engine *e = filter;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += ckf_contains(&e->filter, ckf_hash_integer((int64_t)keys[i], 0));
	return found;
}

static size_t
subject_contains_many(const void *filter, const uint64_t *keys, size_t n)
{
	return engine_contains_many(filter, keys, n);
}

static size_t
subject_remove(void *filter, const uint64_t *keys, size_t n)
{
	engine *e = filter;
	size_t removed = 0;

	for (size_t i = 0; i < n; i++)
	{
		bool found; /* false after an error, too */

		(void)ckf_remove(&e->filter, ckf_hash_integer((int64_t)keys[i], 0), &found);
		removed += found;
	}
	return removed;
}

static uint64_t
subject_bytes(const void *filter)
{
	return ((const engine *)filter)->filter.size;
}

static uint64_t
subject_count(const void *filter)
{
	return ((const engine *)filter)->filter.count;
}

const subject engines[ENGINES] = {
	{"plain", FULL_CUCKOO, plain_create, subject_destroy, subject_add, subject_contains,
	 subject_contains_many, subject_remove, subject_bytes, subject_count},
	{"semi-sorted", FULL_CUCKOO, semi_sorted_create, subject_destroy, subject_add, subject_contains,
	 subject_contains_many, subject_remove, subject_bytes, subject_count},
};
