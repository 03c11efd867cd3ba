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

void
engine_job(engine *to, ckf_goal goal, const engine *a, const engine *b)
{
	bool state = goal == CKF_GROW && a->state;
	void *scratch = NULL;
	uint8_t *dst = NULL;
	size_t room = 0, scratch_room = 0;
	ckf_status status;
	ckf_job job;

	engine_check(ckf_job_start(&job, goal, &a->filter, b != NULL ? &b->filter : NULL), "job");
	while ((status = ckf_job_step(&job, dst, room, scratch, scratch_room)) != CKF_OK)
	{
		if (status == CKF_MORE)
			continue;
		if (status != CKF_ROOM)
			engine_check(status, "job step");
		free(dst);
		free(scratch);
		room = job.size;
		scratch_room = job.scratch;
		dst = malloc(room + 1);
		scratch = malloc(scratch_room + 1);
		if (dst == NULL || scratch == NULL)
			bench_fail("no memory for a job of %zu + %zu bytes", room, scratch_room);
	}
	free(scratch);
	engine_open(to, dst, job.size, state);
	to->filter.room = room;
}

void
engine_add(engine *e, const uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash = ckf_hash_integer((int64_t)keys[i], 0);
		ckf_status status;

		while ((status = ckf_add(&e->filter, hash)) == CKF_ROOM)
		{
			engine larger;

			engine_job(&larger, CKF_GROW, e, NULL);
			free(e->bytes);
			*e = larger;
		}
		engine_check(status, "add");
	}
}

void
engine_aggregate(engine *to, const ckf_params *params, const uint64_t *keys, size_t n)
{
	uint8_t *bytes = bench_memory(CKF_STATE_SIZE);
	engine state;

	engine_check(ckf_collect_create(params, bytes), "create a state");
	engine_open(&state, bytes, CKF_STATE_SIZE, true);
	engine_add(&state, keys, n);
	engine_job(to, CKF_FINISH, &state, NULL);
	engine_destroy(&state);
}

/* ------------------------------------------- from hashes at hand */

engine_room
engine_reserve(size_t n)
{
	engine_room room = {bench_memory(CKF_HEADER_SIZE + 8 * n), bench_memory(8 * n)};

	return room;
}

static uint64_t *
engine_hashes(const engine_room *room)
{
	return (uint64_t *)(void *)(room->bytes + CKF_HEADER_SIZE);
}

static void
engine_take(engine *to, const ckf_params *params, size_t n, engine_room *room)
{
	to->bytes = room->bytes;
	to->state = false;
	engine_check(ckf_bulk(&to->filter, params, room->bytes, room->scratch, n), "bulk");
	free(room->scratch);
}

static void
engine_hash(uint64_t *hashes, const uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hashes[i] = ckf_hash_integer((int64_t)keys[i], 0);
}

void
engine_bulk(engine *to, const ckf_params *params, const uint64_t *keys, size_t n, engine_room *room)
{
	engine_hash(engine_hashes(room), keys, n);
	engine_take(to, params, n, room);
}

void
engine_spread(engine *to, const ckf_params *params, size_t n)
{
	engine_room room = engine_reserve(n);
	uint64_t *hashes = engine_hashes(&room);
	uint64_t step = UINT64_MAX / n;

	for (size_t i = 0; i < n; i++)
		hashes[i] = i * step + key_at(0, i) % step + 1;
	engine_take(to, params, n, &room);
}

/* In order, which is quick: a filled table, and all items out again. */
void
engine_make_room(engine *to, const ckf_params *params, size_t n)
{
	const uint8_t *hashes;
	engine all;

	engine_spread(&all, params, n);
	engine_job(to, CKF_FINISH, &all, NULL);
	hashes = all.bytes + CKF_HEADER_SIZE;
	for (size_t i = 0; i < n; i++)
	{
		uint64_t hash;
		bool found;

		memcpy(&hash, hashes + 8 * i, sizeof hash);
		engine_check(ckf_remove(&to->filter, hash, &found), "remove");
		if (!found)
			bench_fail("an item to remove was not there");
	}
	if (to->filter.count != 0)
		bench_fail("a table was not emptied");
	engine_destroy(&all);
}

/* ------------------------------------------------------------ questions */

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
		if (ckf_add(&e->filter, ckf_hash_integer((int64_t)keys[i], 0)) != CKF_OK)
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
		bool found;

		if (ckf_remove(&e->filter, ckf_hash_integer((int64_t)keys[i], 0), &found) == CKF_OK)
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
