/*
 * merge.c - run the rebuilds that a merger asks for.
 */
#include "cuckoofilter_host.h"

static void
ckf_free_merged(ckf_host *host, ckf_merger *merger)
{
	uint8_t *bytes;

	while ((bytes = ckf_merger_spent(merger)) != NULL)
		host->renew(host, bytes, 0, &merger->part[0]);
}

static bool
ckf_serve_merger(ckf_host *host, ckf_merger *merger, ckf_status status)
{
	while (status == CKF_MORE)
	{
		ckf_task task = {.operation = merger->task,
						 .in = merger->in,
						 .inputs = merger->inputs,
						 .room = merger->room};
		ckf_filter part;

		if (!ckf_host_run(host, &task, &part))
			return false;
		status = ckf_merger_give(merger, &part);
		ckf_free_merged(host, merger);
	}
	return true;
}

bool
ckf_host_merge(ckf_host *host, ckf_merger *merger, const ckf_filter *in)
{
	ckf_status status = ckf_merger_take(merger, in);

	if (status == CKF_OK || status == CKF_MORE)
		return ckf_serve_merger(host, merger, status);
	host->report(host, status, (ckf_about){.filter = merger->in[0], .other = in});
	return false;
}

bool
ckf_host_merge_all(ckf_host *host, ckf_merger *merger)
{
	return ckf_serve_merger(host, merger, ckf_merger_merge_all(merger));
}

bool
ckf_host_merge_finish(ckf_host *host, const ckf_merger *merger, ckf_filter *result)
{
	const ckf_filter *parts[CKF_MOST_INPUTS];
	ckf_task task = {.in = parts, .inputs = ckf_merger_parts(merger, parts)};

	task.operation = merger->operation == CKF_MERGE_UNION ? CKF_FINISH_UNION : CKF_FINISH_SUM;
	return ckf_host_run(host, &task, result);
}

void
ckf_host_merge_end(ckf_host *host, ckf_merger *merger)
{
	ckf_merger_end(merger);
	ckf_free_merged(host, merger);
}
