/*
 * job.c - the one operation that moves items: walk one or two filters in order
 * and build another.  Growth, compaction, union, sum and the end of an
 * aggregate differ in the target they choose, and in that a union or sum
 * counts its items in a first walk.
 */
#include "rebuild/work.h"

#include "filter/choose.h"
#include "filter/header.h"
#include "rebuild/merge.h"
#include "small/collect.h"

#define CKF_STEP 65536 /* items between two returns to the host */

_Static_assert(sizeof(ckf_work) <= sizeof(((ckf_job *)0)->private_), "ckf_job is too small");

static ckf_work *
ckf_work_of(ckf_job *job)
{
	return (ckf_work *)(void *)job->private_;
}

/* Ask the host for what the target needs. */
static void
ckf_ask(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);
	uint64_t words = work->counting ? 0 : ckf_build_scratch(&work->to);
	uint64_t items = work->items;

	words += ckf_walk_scratch(work->in, work->inputs);
	if (work->goal == CKF_GROW)
		items += items / 2 + 16;            /* room behind hashes */
	job->scratch = (size_t)(8 * words + 8); /* never nothing */
	job->size = work->counting ? 0 : (size_t)ckf_build_size(&work->to, items);
	work->started = false;
}

/* Without a table: whole hashes stay hashes, and a compaction what it was. */
static ckf_status
ckf_do_without(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);

	if (work->whole)
	{
		ckf_target_hashes(&work->to);
		work->cut = false;
		ckf_ask(job);
		return CKF_OK;
	}
	if (work->goal != CKF_COMPACT)
		return CKF_PRECISION;
	work->copy = true;
	work->started = false;
	job->size = work->in[0]->size;
	job->scratch = 8;
	return CKF_OK;
}

/* Choose a target for what is known of the items. */
static ckf_status
ckf_settle(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);

	work->counting = false;
	if (work->goal == CKF_FINISH && (uint64_t)work->to.capacity < work->items)
		work->to.capacity = (int64_t)work->items;
	work->whole = work->to.w == 64 && !(work->to.flags & CKF_FLAG_STATE);
	if (!ckf_choose_target(work) || !ckf_is_worth_it(work))
		return ckf_do_without(job);
	work->cut = ckf_is_table(&work->to);
	ckf_ask(job);
	return CKF_OK;
}

/* ---------------------------------------------------------------- start */

static ckf_status
ckf_start_merge(ckf_work *work, const ckf_filter *a, const ckf_filter *b)
{
	ckf_filter *to = &work->to;
	bool set = work->goal == CKF_UNION || ((a->flags | b->flags) & CKF_FLAG_SET);
	ckf_status status;

	memset(to, 0, sizeof *to);
	status = ckf_merge_target(to, a);
	to->count = a->count;
	if (status == CKF_OK)
		status = ckf_merge_target(to, b);
	to->w = to->merged_w;
	to->b = to->merged_b;
	if (set)
		to->flags |= CKF_FLAG_SET;
	/* an empty input is neutral, whatever its bytes */
	if (b->count == 0)
		work->inputs = 1;
	else if (a->count == 0)
	{
		work->in[0] = b;
		work->inputs = 1;
	}
	return status;
}

ckf_status
ckf_job_start(ckf_job *job, ckf_goal goal, const ckf_filter *a, const ckf_filter *b)
{
	ckf_work *work = ckf_work_of(job);
	ckf_status status = CKF_OK;

	work->goal = goal;
	work->inputs = b ? 2 : 1;
	work->tries = 0;
	work->copy = false;
	work->in_order = goal != CKF_GROW || !ckf_is_table(a);
	work->items = a->count + ckf_collect_logged(a);
	work->in[0] = a;
	work->in[1] = b;
	work->counting = b != NULL || goal == CKF_FINISH_MERGE;
	if (b)
		status = ckf_start_merge(work, a, b);
	else if (goal == CKF_GROW && (a->flags & CKF_FLAG_STATE))
		work->to = *a;
	else
		ckf_target_from(&work->to, a);
	if (status != CKF_OK)
		return status;
	work->once = (work->to.flags & CKF_FLAG_SET) && !(work->to.flags & CKF_FLAG_COPIES);
	if (!work->counting)
		return ckf_settle(job);
	work->cut = work->to.w < 64;
	work->to.low_mask = (UINT64_C(1) << work->to.c) - 1;
	ckf_ask(job);
	return CKF_OK;
}

/* ----------------------------------------------------------------- step */

/* All copies of a prefix are there: count or store them. */
static bool
ckf_end_group(ckf_work *work)
{
	uint64_t most = work->once ? 1 : 2 * (uint64_t)work->to.b;
	unsigned copies = (unsigned)(work->copies < most ? work->copies : most);

	if (work->group == 0)
		return true;
	if (!work->counting)
		return ckf_build_add(&work->build, work->group, copies);
	work->items += copies;
	return true;
}

static void
ckf_start_walk(ckf_work *work, uint8_t *dst, size_t dst_room, uint64_t *scratch)
{
	/* growth only needs its segments in order */
	unsigned low = work->in_order ? 0 : 64U - work->to.g;

	scratch = ckf_walk_start(&work->walk, work->in, work->inputs, low, scratch);
	work->started = true;
	work->last = work->group = work->copies = work->walked = 0;
	if (work->counting)
	{
		work->items = 0;
		return;
	}
	work->to.bytes = dst;
	work->to.room = dst_room;
	work->to.size = (size_t)ckf_build_size(&work->to, 0);
	ckf_build_start(&work->build, &work->to, scratch);
}

/* A log was taken to have nothing twice.  It had: now its items are known. */
static ckf_status
ckf_finish_again(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);
	ckf_status status;

	work->items = work->walked;
	work->tries = 0;
	ckf_target_from(&work->to, work->in[0]);
	status = ckf_settle(job);
	return status == CKF_OK ? CKF_MORE : status;
}

/* The walk is over: the count is known, or the target is full. */
static ckf_status
ckf_end_walk(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);
	ckf_status status;

	if (work->counting)
	{
		status = ckf_settle(job);
		return status == CKF_OK ? CKF_MORE : status;
	}
	if (work->goal == CKF_FINISH && ckf_collect_logged(work->in[0]) > 0 &&
		work->walked != work->items)
		return ckf_finish_again(job);
	ckf_build_end(&work->build);
	/* a log whose hashes are mostly repeated ones stays as large as it is */
	if (ckf_collect_is_log(work->in[0]) && work->to.encoding == CKF_COLLECTING &&
		work->to.count <= ckf_body_words(work->in[0]) / 2)
		work->to.size = work->in[0]->size;
	job->size = work->to.size;
	return CKF_OK;
}

/* The target did not hold the items: a larger one. */
static ckf_status
ckf_retry(ckf_job *job)
{
	ckf_work *work = ckf_work_of(job);

	if (ckf_is_table(&work->to))
	{
		if (!ckf_enlarge(&work->to, work->tries++, work->items) || !ckf_is_worth_it(work))
		{
			ckf_status status = ckf_do_without(job);

			return status == CKF_OK ? CKF_MORE : status;
		}
	}
	else if (work->to.encoding == CKF_COLLECTING)
		work->to.size = ckf_collect_grown(work->to.size);
	else
		return CKF_BAD_BYTES; /* more hashes than the header counts */
	ckf_ask(job);
	return CKF_MORE;
}

/* Does a growth only merge a log's hashes, none of them twice? */
static bool
ckf_only_merges(const ckf_work *work)
{
	return ckf_collect_is_log(&work->to) && work->goal == CKF_GROW && ckf_stores_once(&work->to);
}

/* Count or store a block's items.  CKF_ROOM: the target is full. */
static ckf_status
ckf_take_block(ckf_work *work, const uint64_t *keys, size_t n)
{
	size_t i;

	work->walked += n;
	if (ckf_only_merges(work))
		return ckf_build_append(&work->build, keys, n) ? CKF_OK : CKF_ROOM;
	for (i = 0; i < n; i++)
	{
		uint64_t item = keys[i];

		if (CKF_UNLIKELY(item < work->last) && work->in_order)
			return CKF_BAD_BYTES; /* hashes out of order */
		work->last = item;
		if (work->cut)
			item = ckf_cut(item, work->to.w, work->to.low_mask);
		if (item == work->group)
		{
			work->copies++;
			continue;
		}
		if (!ckf_end_group(work))
			return CKF_ROOM;
		work->group = item;
		work->copies = 1;
	}
	return CKF_OK;
}

ckf_status
ckf_job_step(ckf_job *job, void *dst, size_t dst_room, void *scratch, size_t scratch_room)
{
	ckf_work *work = ckf_work_of(job);
	size_t taken = 0;

	if (dst_room < job->size || scratch_room < job->scratch)
	{
		work->started = false;
		return CKF_ROOM;
	}
	if (work->copy)
	{
		memcpy(dst, work->in[0]->bytes, job->size);
		return CKF_OK;
	}
	if (!work->started)
		ckf_start_walk(work, dst, dst_room, scratch);
	while (taken < CKF_STEP)
	{
		const uint64_t *keys;
		size_t n = ckf_walk_next(&work->walk, &keys);
		ckf_status status = ckf_take_block(work, keys, n);

		if (status == CKF_ROOM || (n == 0 && !ckf_end_group(work)))
			return ckf_retry(job);
		if (status != CKF_OK)
			return status;
		if (n == 0)
			return ckf_end_walk(job);
		taken += n;
	}
	return CKF_MORE;
}
