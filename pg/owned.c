/*
 * owned.c - filters in memory of our own: copies, growth, jobs, results.
 */
#include "owned.h"

#include "error.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* A varlena for `size` bytes of filter. */
static struct varlena *
ckfp_new_value(size_t size, const ckf_filter *origin)
{
	if (size > MaxAllocSize - VARHDRSZ)
		ckfp_error_too_large(origin);
	return palloc(VARHDRSZ + size);
}

static void
ckfp_open_owned(ckf_filter *owned, struct varlena *value, size_t size)
{
	ckf_status status = ckf_open(owned, VARDATA(value), size, CKF_STATE);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){0});
}

void
ckfp_create(const ckf_params *params, ckf_filter *owned)
{
	struct varlena *value = palloc(VARHDRSZ + CKF_HEADER_SIZE);
	ckf_status status = ckf_create(params, VARDATA(value));

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.params = params});
	ckfp_open_owned(owned, value, CKF_HEADER_SIZE);
}

void
ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	size_t room = filter->size + (filter->encoding == CKF_HASHES ? sizeof(uint64) * more : 0);
	struct varlena *value = ckfp_new_value(room, filter);

	memcpy(VARDATA(value), filter->bytes, filter->size);
	ckfp_open_owned(owned, value, filter->size);
	owned->room = room;
}

void
ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned)
{
	ckf_job job;
	struct varlena *value = NULL;
	void *scratch = NULL;
	size_t room = 0;
	size_t scratch_room = 0;
	ckf_status status = ckf_job_start(&job, goal, a, b);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = a, .other = b});
	while ((status = ckf_job_step(&job, value ? VARDATA(value) : NULL, room, scratch,
								  scratch_room)) != CKF_OK)
	{
		if (status == CKF_ROOM)
		{
			if (value)
			{
				pfree(value);
				pfree(scratch);
			}
			room = job.size;
			scratch_room = job.scratch;
			value = ckfp_new_value(room, a);
			scratch = MemoryContextAllocHuge(CurrentMemoryContext, scratch_room);
		}
		else if (status != CKF_MORE)
			ckfp_error(status, (ckfp_subject){.filter = a, .other = b});
		CHECK_FOR_INTERRUPTS();
	}
	pfree(scratch);
	ckfp_open_owned(owned, value, job.size);
	owned->room = room;
}

void
ckfp_add_on(ckf_filter *owned, uint64 hash, ckf_status status)
{
	while (status == CKF_ROOM)
	{
		ckf_filter larger;

		ckfp_run(CKF_GROW, owned, NULL, &larger);
		pfree(owned->bytes - VARHDRSZ);
		*owned = larger;
		status = ckf_add(owned, hash);
	}
	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = owned});
}

void
ckfp_remove(ckf_filter *owned, uint64 hash)
{
	bool found;
	ckf_status status = ckf_remove(owned, hash, &found);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.filter = owned});
}
