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
	cuckoofilter_error *error = ((ckfl_host *)host)->error;

	if (!error || !error->interrupted || !error->interrupted(error->data))
		return false;
	ckfl_say(error, CUCKOOFILTER_INTERRUPTED, "", "interrupted");
	return true;
}

static void
ckfl_report(ckf_host *host, ckf_status status, ckf_about about)
{
	ckfl_fail(((ckfl_host *)host)->error, status, about);
}

ckfl_host
ckfl_host_of(cuckoofilter_error *error)
{
	return (ckfl_host){{ckfl_renew, ckfl_stops, ckfl_report}, error};
}

/* --------------------------------------------------------------- rebuilds */

cuckoofilter *
ckfl_rebuild(ckf_operation operation, const ckf_filter *a, const ckf_filter *b,
			 cuckoofilter_error *error)
{
	cuckoofilter *result = ckfl_allocate(sizeof *result, error);
	ckfl_host host = ckfl_host_of(error);

	if (!result || ckf_host_build(&host.host, operation, a, b, &result->filter))
		return result;
	free(result);
	return NULL;
}

cuckoofilter *
cuckoofilter_union(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_rebuild(CKF_UNION, &a->filter, &b->filter, error);
}

cuckoofilter *
cuckoofilter_sum(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_rebuild(CKF_SUM, &a->filter, &b->filter, error);
}

cuckoofilter *
cuckoofilter_intersect(const cuckoofilter *a, const cuckoofilter *b, cuckoofilter_error *error)
{
	return ckfl_rebuild(CKF_INTERSECT, &a->filter, &b->filter, error);
}

/* A new filter of many. */
static cuckoofilter *
ckfl_merge_many(ckf_operation operation, const cuckoofilter *const *filters, size_t n,
				cuckoofilter_error *error)
{
	ckfl_host host = ckfl_host_of(error);
	ckf_merger *merger;
	cuckoofilter *merged;
	bool ok = true;
	size_t i;

	if (n == 0)
		return cuckoofilter_create(1, CKF_DEFAULT_FPR, NULL, error);
	merger = ckfl_allocate(sizeof *merger, error);
	merged = merger ? ckfl_allocate(sizeof *merged, error) : NULL;
	if (merged)
	{
		ckf_merger_start(merger, operation);
		for (i = 0; ok && i < n; i++)
			ok = ckf_host_merge(&host.host, merger, &filters[i]->filter);
		if (!ok || !ckf_host_merge_finish(&host.host, merger, &merged->filter))
		{
			free(merged);
			merged = NULL;
		}
		ckf_host_merge_end(&host.host, merger);
	}
	free(merger);
	return merged;
}

cuckoofilter *
cuckoofilter_union_many(const cuckoofilter *const *filters, size_t n, cuckoofilter_error *error)
{
	return ckfl_merge_many(CKF_MERGE_UNION, filters, n, error);
}

cuckoofilter *
cuckoofilter_sum_many(const cuckoofilter *const *filters, size_t n, cuckoofilter_error *error)
{
	return ckfl_merge_many(CKF_MERGE_SUM, filters, n, error);
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
		&(ckf_task){.operation = CKF_COMPARE, .in = in, .inputs = 2, .comparison = comparison},
		NULL);
}
