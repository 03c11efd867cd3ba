/*
 * run.c - copy, check and rebuild filters in steps, in memory of the host.
 */
#include "cuckoofilter_host.h"

#include <string.h>

/* Bytes that are copied between two checks for interrupts. */
#define CKF_COPY_STEP ((size_t)16 << 20)

/* Scratch memory behind a rebuild.  It is enough for few items, so that groups of few items save an
 * allocation each. */
#define CKF_SMALL_SCRATCH 512

/* ------------------------------------------------------------------ copies */

void
ckf_host_free(ckf_host *host, ckf_filter *owned)
{
	if (owned->bytes)
		host->renew(host, owned->bytes, 0, owned);
	owned->bytes = NULL;
}

bool
ckf_host_copy_bytes(ckf_host *host, void *to, const void *from, size_t size)
{
	size_t done = 0;

	for (; size - done > CKF_COPY_STEP; done += CKF_COPY_STEP)
	{
		memcpy((uint8_t *)to + done, (const uint8_t *)from + done, CKF_COPY_STEP);
		if (host->stops(host))
			return false;
	}
	memcpy((uint8_t *)to + done, (const uint8_t *)from + done, size - done);
	return true;
}

bool
ckf_host_copy(ckf_host *host, const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	size_t room = filter->size + (filter->encoding == CKF_HASHES ? more * sizeof(uint64_t) : 0);
	void *bytes = host->renew(host, NULL, room, filter);

	if (!bytes)
		return false;
	*owned = *filter;
	ckf_move(owned, bytes);
	owned->room = room;
	if (ckf_host_copy_bytes(host, bytes, filter->bytes, filter->size))
		return true;
	ckf_host_free(host, owned);
	return false;
}

/* ------------------------------------------------------------------- check */

ckf_status
ckf_host_check(ckf_host *host, const ckf_filter *filter)
{
	ckf_check check = {0};
	ckf_status status;

	while ((status = ckf_check_step(filter, &check)) == CKF_MORE && !host->stops(host))
		;
	return status;
}

/* ---------------------------------------------------------------- rebuilds */

/* A task that is being run. */
typedef struct ckf_running
{
	const ckf_task *task;
	ckf_rebuild *rebuild;
	void *small_scratch; /* behind the rebuild */
	ckf_buffers buffers;
} ckf_running;

/* Replace each buffer that is too small. */
static bool
ckf_renew_buffers(ckf_host *host, ckf_running *running)
{
	ckf_buffers *buffers = &running->buffers;

	if (buffers->dst_room < buffers->dst_size)
	{
		buffers->dst = host->renew(host, buffers->dst, buffers->dst_size, running->task->in[0]);
		buffers->dst_room = buffers->dst_size;
		if (!buffers->dst)
			return false;
	}
	if (buffers->scratch_room < buffers->scratch_size)
	{
		void *old = buffers->scratch == running->small_scratch ? NULL : buffers->scratch;

		buffers->scratch = host->renew(host, old, buffers->scratch_size, NULL);
		buffers->scratch_room = buffers->scratch_size;
		if (!buffers->scratch)
			return false;
	}
	return true;
}

/* Do what a step asks for.  false: the rebuild ends here, which has been reported. */
static bool
ckf_serve(ckf_host *host, ckf_running *running, ckf_status status)
{
	if (host->stops(host))
		return false;
	if (status == CKF_FEED)
		return running->task->feed(host, running->rebuild, running->task->data);
	return status == CKF_MORE || ckf_renew_buffers(host, running);
}

static ckf_about
ckf_about_task(const ckf_running *running)
{
	const ckf_task *task = running->task;

	return (ckf_about){.filter = task->in[0],
					   .other = task->inputs > 1 ? task->in[1] : NULL,
					   .rebuild = running->rebuild,
					   .comparison = task->comparison};
}

/* All steps of the rebuild. */
static bool
ckf_step_to_end(ckf_host *host, ckf_running *running)
{
	const ckf_task *task = running->task;
	ckf_status status = task->start ? task->start(running->rebuild, task->data)
									: ckf_rebuild_start_many(running->rebuild, task->operation,
															 task->in, task->inputs);

	ckf_rebuild_of_batch(running->rebuild, task->before, task->more);
	if (status == CKF_OK)
		while ((status = ckf_rebuild_step(running->rebuild, &running->buffers)) == CKF_MORE ||
			   status == CKF_ROOM || status == CKF_FEED)
			if (!ckf_serve(host, running, status))
				return false;
	if (status == CKF_OK && task->comparison)
		status = ckf_rebuild_comparison(running->rebuild, task->comparison);
	if (status != CKF_OK)
		host->report(host, status, ckf_about_task(running));
	return status == CKF_OK;
}

static bool
ckf_open_result(ckf_host *host, const ckf_buffers *buffers, ckf_filter *result)
{
	ckf_status status = ckf_open(result, buffers->dst, buffers->dst_size, CKF_STORED);

	if (status != CKF_OK)
		host->report(host, status, (ckf_about){0});
	result->room = buffers->dst_room;
	return status == CKF_OK;
}

bool
ckf_host_run(ckf_host *host, const ckf_task *task, ckf_filter *result)
{
	size_t size = CKF_REBUILD_SIZE(task->inputs);
	ckf_running running = {.task = task};
	ckf_buffers *buffers = &running.buffers;
	bool ok;

	running.rebuild = host->renew(host, NULL, size + CKF_SMALL_SCRATCH, NULL);
	if (!running.rebuild)
		return false;
	running.small_scratch = (uint8_t *)running.rebuild + size;
	*buffers = (ckf_buffers){.dst = task->bytes,
							 .dst_room = task->room,
							 .scratch = running.small_scratch,
							 .scratch_room = CKF_SMALL_SCRATCH};
	if (task->room > 0 && !task->bytes)
		buffers->dst = host->renew(host, NULL, task->room, task->in[0]);
	ok = (buffers->dst || task->room == 0) && ckf_step_to_end(host, &running) &&
		 (!result || ckf_open_result(host, buffers, result));
	if (buffers->scratch && buffers->scratch != running.small_scratch)
		host->renew(host, buffers->scratch, 0, NULL);
	host->renew(host, running.rebuild, 0, NULL);
	if (!ok && buffers->dst && !task->bytes)
		host->renew(host, buffers->dst, 0, task->in[0]);
	return ok;
}

bool
ckf_host_build(ckf_host *host, ckf_operation operation, const ckf_filter *a, const ckf_filter *b,
			   ckf_filter *result)
{
	const ckf_filter *in[2] = {a, b};

	return ckf_host_run(host, &(ckf_task){.operation = operation, .in = in, .inputs = b ? 2 : 1},
						result);
}

bool
ckf_host_rebuild(ckf_host *host, ckf_operation operation, ckf_filter *owned, const ckf_filter *b)
{
	ckf_filter result;

	if (!ckf_host_build(host, operation, owned, b, &result))
		return false;
	ckf_host_free(host, owned);
	*owned = result;
	return true;
}
