/*
 * hostile_ops.c - see hostile.h.
 */
#include "hostile.h"

#include <string.h>

enum
{
	ADDS = 24,
	MOST_STEPS = 10000,
	JOB_PERCENT = 40 /* of the jobs that could be tried are */
};

/* Hashes that look into every corner: ends of the table, empty tags. */
static uint64_t
some_hash(unsigned i)
{
	static const uint64_t corners[] = {
		0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT64_MAX >> 1, UINT64_C(0x9e3779b97f4a7c15)};

	return i < sizeof corners / sizeof *corners ? corners[i] : check_random();
}

static void
read_all(const ckf_filter *filter)
{
	uint64_t hashes[40];
	uint8_t answers[40];
	ckf_info info;
	size_t in = 0;

	for (unsigned i = 0; i < 40; i++)
	{
		hashes[i] = some_hash(i);
		in += ckf_contains(filter, hashes[i]);
		(void)ckf_copies(filter, hashes[i]);
	}
	CHECK(ckf_contains_many(filter, hashes, 40, answers) == in, "batched answers differ");
	for (unsigned i = 0; i < 40; i++)
		CHECK(answers[i] == ckf_contains(filter, hashes[i]), "a batched answer differs");
	ckf_get_info(filter, &info);
	CHECK(info.encoding != NULL && info.layout != NULL && info.kind != NULL, "info");
	CHECK(info.fpr >= 0 && info.fpr <= 1 && ckf_fpr(filter) == info.fpr, "a rate of %g", info.fpr);
}

/* A job on inputs that may be damaged: any end will do, but an end. */
static ckf_status
any_job(owned *result, ckf_goal goal, const ckf_filter *a, const ckf_filter *b)
{
	uint8_t *dst = NULL, *scratch = NULL;
	size_t dst_room = 0, scratch_room = 0;
	ckf_job job;
	ckf_status status = ckf_job_start(&job, goal, a, b);

	for (unsigned steps = 0; status == CKF_OK || status == CKF_MORE || status == CKF_ROOM; steps++)
	{
		CHECK(steps < MOST_STEPS, "a job does not end");
		status = ckf_job_step(&job, dst, dst_room, scratch, scratch_room);
		if (status == CKF_OK || (status == CKF_ROOM && job.size + job.scratch > HOSTILE_LIMIT))
			break;
		if (status == CKF_ROOM)
		{
			guard_free(dst);
			guard_free(scratch);
			dst = guard_new(dst_room = job.size, 8);
			scratch = guard_new(scratch_room = job.scratch, 8);
		}
	}
	guard_free(scratch);
	if (status == CKF_OK)
	{
		CHECK(job.size <= dst_room, "a result of more bytes than asked for");
		CHECK(ckf_open(&result->filter, dst, job.size, CKF_STATE) == CKF_OK,
			  "a job's result does not open");
		result->bytes = dst;
		result->filter.room = dst_room;
	}
	else
		guard_free(dst);
	return status;
}

static void
try_job(ckf_goal goal, const ckf_filter *a, const ckf_filter *b)
{
	owned result;

	if (!check_chance(JOB_PERCENT) || any_job(&result, goal, a, b) != CKF_OK)
		return;
	read_all(&result.filter);
	owned_free(&result);
}

/* Add, grow where it says so, remove. */
static void
change(owned *o)
{
	for (unsigned i = 0; i < ADDS; i++)
	{
		uint64_t hash = some_hash(i);
		owned grown;
		bool found;

		if (ckf_add(&o->filter, hash) == CKF_ROOM &&
			any_job(&grown, CKF_GROW, &o->filter, NULL) == CKF_OK)
		{
			owned_free(o);
			*o = grown;
			(void)ckf_add(&o->filter, hash);
		}
		if (i % 3 == 0 && o->filter.encoding != CKF_COLLECTING)
			(void)ckf_remove(&o->filter, some_hash(i), &found);
	}
	read_all(&o->filter);
}

/* Pour it into a state, to the end or to a refusal. */
static void
pour_into_state(const ckf_filter *in, bool copies, bool combine)
{
	ckf_params params;
	owned state, grown;
	uint64_t cursor = 0;
	ckf_status status = CKF_MORE;

	if (!check_chance(JOB_PERCENT))
		return;
	ckf_params_default(&params);
	params.seed = in->seed;
	owned_state(&state, &params);
	for (unsigned steps = 0; status == CKF_MORE; steps++)
	{
		CHECK(steps < MOST_STEPS, "a merge does not end");
		status = combine ? ckf_collect_combine(&state.filter, in, &cursor)
						 : ckf_collect_merge(&state.filter, in, copies, &cursor);
		if (status == CKF_ROOM && any_job(&grown, CKF_GROW, &state.filter, NULL) == CKF_OK)
		{
			owned_free(&state);
			state = grown;
			status = CKF_MORE;
		}
	}
	try_job(CKF_FINISH_MERGE, &state.filter, NULL);
	owned_free(&state);
}

bool
hostile_try(const void *bytes, size_t size, ckf_trust trust, const owned *other)
{
	owned o;
	ckf_filter *filter = &o.filter;
	ckf_status status;

	o.bytes = guard_copy(bytes, size);
	guard_read_only(o.bytes, true);
	status = ckf_open(filter, o.bytes, size, trust);
	if (status == CKF_OK)
	{
		read_all(filter);
		try_job(CKF_GROW, filter, NULL);
		if (filter->encoding == CKF_COLLECTING)
		{
			try_job(CKF_FINISH, filter, NULL);
			try_job(CKF_FINISH_MERGE, filter, NULL);
			pour_into_state(filter, false, true);
		}
		else
		{
			try_job(CKF_COMPACT, filter, NULL);
			try_job(CKF_UNION, filter, &other->filter);
			try_job(CKF_SUM, &other->filter, filter);
			try_job(CKF_SUM, filter, filter);
		}
		pour_into_state(filter, false, false);
		pour_into_state(filter, true, false);
		guard_read_only(o.bytes, false);
		change(&o);
	}
	else
	{
		CHECK(status == CKF_BAD_BYTES || status == CKF_BAD_VERSION, "open: status %d", status);
		guard_read_only(o.bytes, false);
	}
	owned_free(&o);
	return status == CKF_OK;
}
