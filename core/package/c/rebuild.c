/*
 * rebuild.c - the engine's rebuilds, in memory of malloc: growth, merges, comparisons.
 */
#include "internal.h"

#include <stdlib.h>

/* ----------------------------------------------- a program as host of the engine */

static void *
ckfl_renew(ckf_host *host, void *memory, size_t size, const ckf_filter *origin)
{
	(void)origin;
	free(memory);
	return size > 0 ? ckfl_allocate(size, ((ckfl_host *)host)->error) : NULL;
}

static bool
ckfl_stops(ckf_host *host)
{
	return ckfl_interrupted(((ckfl_host *)host)->error);
}

static void
ckfl_report(ckf_host *host, ckf_status status, ckf_about about)
{
	ckfl_fail(((ckfl_host *)host)->error, status,
			  (ckfl_subject){.filter = about.filter,
							 .other = about.other,
							 .rebuild = about.rebuild,
							 .comparison = about.comparison});
}

ckfl_host
ckfl_host_of(cuckoofilter_error *error)
{
	return (ckfl_host){{ckfl_renew, ckfl_stops, ckfl_report}, error};
}

/* --------------------------------------------------------------- rebuilds */

bool
ckfl_rebuild(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *result,
			 cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	const ckf_filter *in[2] = {a, b};

	return ckf_host_run(&host.host, &(ckf_task){.goal = goal, .in = in, .inputs = b ? 2 : 1},
						result);
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
	ckfl_host host = ckfl_host_of(error);

	return ckf_host_rebuild(&host.host, CKF_COMPACT, &filter->filter, NULL);
}

bool
cuckoofilter_compare(const cuckoofilter *a, const cuckoofilter *b, ckf_comparison *comparison,
					 cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	const ckf_filter *in[2] = {&a->filter, &b->filter};

	return ckf_host_run(
		&host.host,
		&(ckf_task){.goal = CKF_COMPARE, .in = in, .inputs = 2, .comparison = comparison}, NULL);
}
