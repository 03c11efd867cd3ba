/*
 * drive.c - a host in miniature, see drive.h.
 */
#include "drive.h"

#include <stdlib.h>
#include <string.h>

enum
{
	SNAPSHOT = 1024,     /* filters up to this size are compared around refusals */
	MAX_GROWTHS = 200,   /* for one item */
	MAX_STEPS = 1000000, /* of one job */
	MAX_ROOMS = 1000     /* larger buffers asked for by one job */
};

work driven;

ckf_params
params_of(int64_t capacity, double fpr, bool set, bool plain, unsigned bucket_size)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = capacity;
	params.fpr = fpr;
	params.set = set;
	params.plain = plain;
	params.bucket_size = (uint8_t)bucket_size;
	return params;
}

bool
filter_is_set(const ckf_filter *filter)
{
	ckf_info info;

	ckf_get_info(filter, &info);
	return strcmp(info.kind, "set") == 0;
}

static ckf_trust
trust_of(const ckf_filter *filter)
{
	return filter->encoding == CKF_COLLECTING ? CKF_STATE : CKF_FOREIGN;
}

/* Take over a guarded buffer of which `size` bytes are a filter. */
static void
adopt(owned *o, uint8_t *bytes, size_t size, size_t room, ckf_trust trust)
{
	ckf_status status = ckf_open(&o->filter, bytes, size, trust);

	CHECK(status == CKF_OK, "opening %zu bytes: status %d", size, status);
	CHECK(o->filter.bytes == bytes && o->filter.size == size && o->filter.room == size,
		  "an opened filter's bytes, size, room");
	o->bytes = bytes;
	o->filter.room = room;
}

void
owned_create(owned *o, const ckf_params *params)
{
	uint8_t *bytes = guard_new(CKF_HEADER_SIZE, 1);
	ckf_status status = ckf_create(params, bytes);

	CHECK(status == CKF_OK, "create: status %d", status);
	adopt(o, bytes, CKF_HEADER_SIZE, CKF_HEADER_SIZE, CKF_FOREIGN);
	CHECK(o->filter.count == 0, "a new filter is not empty");
}

void
owned_state(owned *o, const ckf_params *params)
{
	uint8_t *bytes = guard_new(CKF_STATE_SIZE, 1);
	ckf_status status = ckf_collect_create(params, bytes);

	CHECK(status == CKF_OK, "collect_create: status %d", status);
	adopt(o, bytes, CKF_STATE_SIZE, CKF_STATE_SIZE, CKF_STATE);
}

void
owned_open(owned *o, const void *bytes, size_t size, ckf_trust trust)
{
	adopt(o, guard_copy(bytes, size), size, size, trust);
}

void
owned_copy(owned *o, const owned *from)
{
	owned_open(o, from->bytes, from->filter.size, trust_of(&from->filter));
}

void
owned_free(owned *o)
{
	guard_free(o->bytes);
	o->bytes = NULL;
}

void
owned_check(const owned *o)
{
	owned fresh;
	ckf_info info;

	owned_open(&fresh, o->bytes, o->filter.size, trust_of(&o->filter));
	CHECK(fresh.filter.count == o->filter.count, "count %llu, reopened %llu",
		  (unsigned long long)o->filter.count, (unsigned long long)fresh.filter.count);
	CHECK(fresh.filter.w == o->filter.w && fresh.filter.f == o->filter.f &&
			  fresh.filter.m == o->filter.m && fresh.filter.encoding == o->filter.encoding,
		  "the geometry differs when reopened");
	ckf_get_info(&o->filter, &info);
	CHECK(info.count == o->filter.count && info.bytes == o->filter.size &&
			  info.seed == o->filter.seed && info.fpr == ckf_fpr(&o->filter),
		  "info differs from the filter");
	owned_free(&fresh);
}

bool
owned_same_bytes(const owned *a, const owned *b)
{
	return a->filter.size == b->filter.size && memcmp(a->bytes, b->bytes, a->filter.size) == 0;
}

/* ------------------------------------------------------------------- jobs */

/* A job's two buffers. */
typedef struct job_buffers
{
	uint8_t *dst, *scratch;
	size_t dst_room, scratch_room;
} job_buffers;

static void
get_buffers(job_buffers *buffers, const ckf_job *job)
{
	guard_free(buffers->dst);
	guard_free(buffers->scratch);
	buffers->dst_room = job->size + (check_chance(30) ? check_below(100) : 0);
	buffers->scratch_room = job->scratch + (check_chance(30) ? check_below(100) : 0);
	buffers->dst = guard_new(buffers->dst_room, 8);
	buffers->scratch = guard_new(buffers->scratch_room, 8);
	driven.bytes += job->size + job->scratch;
	if (job->size > driven.largest)
		driven.largest = job->size;
}

/* Steps of a started job to its end. */
static ckf_status
finish_job(ckf_job *job, job_buffers *buffers)
{
	unsigned rooms = 0;
	bool lost = false;

	if (check_chance(50))
		get_buffers(buffers, job);
	for (unsigned steps = 0; steps < MAX_STEPS; steps++)
	{
		ckf_status status = ckf_job_step(job, buffers->dst, buffers->dst_room, buffers->scratch,
										 buffers->scratch_room);

		driven.steps++;
		if (status == CKF_ROOM)
		{
			CHECK(++rooms < MAX_ROOMS, "a job asks for room for ever");
			get_buffers(buffers, job);
		}
		else if (status != CKF_MORE)
			return status;
		else if (!lost && check_chance(5))
		{
			/* without buffers it asks for new ones, and starts again */
			lost = true;
			CHECK(ckf_job_step(job, NULL, 0, NULL, 0) == CKF_ROOM, "a step without buffers");
			get_buffers(buffers, job);
		}
	}
	CHECK(false, "a job does not end");
	return CKF_OK;
}

static void
set_read_only(const owned *o, bool read_only)
{
	if (o != NULL)
		guard_read_only(o->bytes, read_only);
}

ckf_status
run_job(owned *result, ckf_goal goal, const owned *a, const owned *b)
{
	job_buffers buffers = {NULL, NULL, 0, 0};
	ckf_job job;
	ckf_status status;

	driven.jobs++;
	set_read_only(a, true);
	set_read_only(b, true);
	status = ckf_job_start(&job, goal, &a->filter, b != NULL ? &b->filter : NULL);
	if (status == CKF_OK)
		status = finish_job(&job, &buffers);
	set_read_only(a, false);
	set_read_only(b, false);
	guard_free(buffers.scratch);
	if (status == CKF_OK)
		adopt(result, buffers.dst, job.size, buffers.dst_room,
			  goal == CKF_GROW ? trust_of(&a->filter) : CKF_FOREIGN);
	else
		guard_free(buffers.dst);
	return status;
}

ckf_status
owned_job(owned *o, ckf_goal goal, const owned *b)
{
	owned result;
	ckf_status status = run_job(&result, goal, o, b);

	if (status == CKF_OK)
	{
		owned_free(o);
		*o = result;
	}
	return status;
}

/* ---------------------------------------------------------------- changes */

/* A refused change leaves handle and bytes as they were; but a state may have
 * taken in what it had queued. */
typedef struct snapshot
{
	size_t size;
	uint64_t count;
	uint8_t bytes[SNAPSHOT];
} snapshot;

static void
snapshot_take(snapshot *snap, const ckf_filter *filter)
{
	snap->size = filter->size;
	snap->count = filter->count;
	if (snap->size <= SNAPSHOT)
		memcpy(snap->bytes, filter->bytes, snap->size);
}

static void
snapshot_compare(const snapshot *snap, const ckf_filter *filter)
{
	if (filter->encoding == CKF_COLLECTING)
		return;
	CHECK(snap->size == filter->size && snap->count == filter->count,
		  "a refused change changed size or count");
	CHECK(snap->size > SNAPSHOT || memcmp(snap->bytes, filter->bytes, snap->size) == 0,
		  "a refused change changed the bytes");
}

ckf_status
owned_add(owned *o, uint64_t hash)
{
	snapshot before;

	for (int growths = 0; growths < MAX_GROWTHS; growths++)
	{
		ckf_status status;

		snapshot_take(&before, &o->filter);
		status = ckf_add(&o->filter, hash);
		if (status == CKF_OK)
			return status;
		snapshot_compare(&before, &o->filter);
		if (status == CKF_PRECISION)
			return status;
		CHECK(status == CKF_ROOM, "add: status %d", status);
		status = owned_job(o, CKF_GROW, NULL);
		if (status == CKF_PRECISION)
			return status;
		CHECK(status == CKF_OK, "grow: status %d", status);
	}
	CHECK(false, "an item never finds room");
	return CKF_OK;
}

ckf_status
owned_remove(owned *o, uint64_t hash, bool *found)
{
	snapshot before;
	ckf_status status;

	snapshot_take(&before, &o->filter);
	status = ckf_remove(&o->filter, hash, found);
	if (status != CKF_OK || !*found)
		snapshot_compare(&before, &o->filter);
	return status;
}

static ckf_status
pour_some(owned *state, const owned *in, pour how, uint64_t *cursor)
{
	if (how == POUR_COMBINE)
		return ckf_collect_combine(&state->filter, &in->filter, cursor);
	return ckf_collect_merge(&state->filter, &in->filter, how == POUR_SUM, cursor);
}

ckf_status
owned_pour(owned *state, const owned *in, pour how)
{
	uint64_t cursor = 0;
	ckf_status status = CKF_MORE;
	unsigned steps;

	set_read_only(in, true);
	for (steps = 0; status == CKF_MORE || status == CKF_ROOM; steps++)
	{
		CHECK(steps < MAX_STEPS, "a merge does not end");
		status = pour_some(state, in, how, &cursor);
		driven.steps++;
		if (status == CKF_ROOM)
		{
			ckf_status grown = owned_job(state, CKF_GROW, NULL);

			CHECK(grown == CKF_OK, "growing a state: status %d", grown);
		}
	}
	set_read_only(in, false);
	CHECK(status != CKF_OK || steps > in->filter.count / MOST_OF_A_STEP, "%u steps", steps);
	return status;
}

void
build_aggregate(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	ckf_status status;

	owned_state(o, params);
	for (size_t i = 0; i < n; i++)
	{
		status = owned_add(o, hashes[i]);
		CHECK(status == CKF_OK, "adding to a state: status %d", status);
	}
	status = owned_job(o, CKF_FINISH, NULL);
	CHECK(status == CKF_OK, "finish: status %d", status);
}

void
build_bulk(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	size_t room = CKF_HEADER_SIZE + 8 * n;
	uint64_t *scratch = guard_new(8 * n, 8);
	ckf_filter filter;
	ckf_status status;

	o->bytes = guard_new(room, 8);
	if (n > 0)
		memcpy(o->bytes + CKF_HEADER_SIZE, hashes, 8 * n);
	status = ckf_bulk(&filter, params, o->bytes, scratch, n);
	CHECK(status == CKF_OK, "bulk: status %d", status);
	guard_free(scratch);
	CHECK(ckf_open(&o->filter, o->bytes, filter.size, CKF_FOREIGN) == CKF_OK, "a bulk of hashes");
	status = owned_job(o, CKF_FINISH, NULL);
	CHECK(status == CKF_OK, "finish: status %d", status);
}
