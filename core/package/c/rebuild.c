/*
 * rebuild.c - the engine's rebuilds, in memory of malloc: growth, merges, comparisons.
 */
#include "internal.h"

#include <stdlib.h>

/* Replace the buffers that are smaller than the rebuild asks for. */
static bool
ckfl_make_room(ckf_buffers *buffers, cuckoofilter_error *error)
{
	if (buffers->dst_room < buffers->dst_size)
	{
		free(buffers->dst);
		buffers->dst = ckfl_allocate(buffers->dst_size, error);
		buffers->dst_room = buffers->dst_size;
		if (!buffers->dst)
			return false;
	}
	if (buffers->scratch_room < buffers->scratch_size)
	{
		free(buffers->scratch);
		buffers->scratch = ckfl_allocate(buffers->scratch_size, error);
		buffers->scratch_room = buffers->scratch_size;
		if (!buffers->scratch)
			return false;
	}
	return true;
}

/* The steps of a rebuild that was started with this status, to its end. */
static bool
ckfl_steps(ckf_rebuild *rebuild, ckf_status status, ckfl_subject about, ckf_buffers *buffers,
		   cuckoofilter_error *error)
{
	if (status == CKF_OK)
		while ((status = ckf_rebuild_step(rebuild, buffers)) == CKF_MORE || status == CKF_ROOM)
			if (ckfl_interrupted(error) || (status == CKF_ROOM && !ckfl_make_room(buffers, error)))
				return false;
	about.rebuild = rebuild;
	if (status != CKF_OK)
		ckfl_fail(error, status, about);
	return status == CKF_OK;
}

bool
ckfl_rebuild(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *result,
			 cuckoofilter_error *error)
{
	ckf_buffers buffers = {0};
	ckf_rebuild *rebuild = ckfl_allocate(CKF_REBUILD_SIZE(2), error);
	bool ok = rebuild && ckfl_steps(rebuild, ckf_rebuild_start(rebuild, goal, a, b),
									(ckfl_subject){.filter = a, .other = b}, &buffers, error);

	if (ok)
	{
		ckf_status status = ckf_open(result, buffers.dst, buffers.dst_size, CKF_STORED);

		if (status != CKF_OK)
			ckfl_fail(error, status, (ckfl_subject){0});
		result->room = buffers.dst_room;
		ok = status == CKF_OK;
	}
	if (!ok)
		free(buffers.dst);
	free(buffers.scratch);
	free(rebuild);
	return ok;
}

bool
ckfl_rebuild_into(cuckoofilter *filter, ckf_goal goal, const ckf_filter *b,
				  cuckoofilter_error *error)
{
	ckf_filter result;

	if (!ckfl_rebuild(goal, &filter->filter, b, &result, error))
		return false;
	free(filter->filter.bytes);
	filter->filter = result;
	return true;
}

/* A new filter of two. */
static cuckoofilter *
ckfl_merge(ckf_goal goal, const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	cuckoofilter *merged = ckfl_allocate(sizeof *merged, error);

	if (merged && !ckfl_rebuild(goal, &a->filter, &b->filter, &merged->filter, error))
	{
		free(merged);
		merged = NULL;
	}
	return merged;
}

cuckoofilter *
cuckoofilter_union(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_merge(CKF_UNION, a, b, error);
}

cuckoofilter *
cuckoofilter_sum(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_merge(CKF_SUM, a, b, error);
}

cuckoofilter *
cuckoofilter_intersect(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_merge(CKF_INTERSECT, a, b, error);
}

bool
cuckoofilter_compact(cuckoofilter *filter, cuckoofilter_error *error)
{
	return ckfl_rebuild_into(filter, CKF_COMPACT, NULL, error);
}

bool
cuckoofilter_compare(const cuckoofilter *a, const cuckoofilter *b, ckf_comparison *comparison,
					 cuckoofilter_error *error)
{
	ckfl_subject about = {.filter = &a->filter, .other = &b->filter, .comparison = comparison};
	ckf_buffers buffers = {0};
	ckf_rebuild *rebuild = ckfl_allocate(CKF_REBUILD_SIZE(2), error);
	ckf_status status;
	bool ok;

	if (!rebuild)
		return false;
	ok = ckfl_steps(rebuild, ckf_rebuild_start(rebuild, CKF_COMPARE, &a->filter, &b->filter), about,
					&buffers, error);
	if (ok)
	{
		status = ckf_rebuild_comparison(rebuild, comparison);
		if (status != CKF_OK)
			ckfl_fail(error, status, about);
		ok = status == CKF_OK;
	}
	free(buffers.dst);
	free(buffers.scratch);
	free(rebuild);
	return ok;
}
