/*
 * owned.c - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#include "type/owned.h"

#include "error.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* ------------------------------------------------------- PostgreSQL as host */

/* A varlena for `size` bytes of filter. */
static struct varlena *
ckfp_new_value(size_t size, const ckf_filter *origin)
{
	if (size > MaxAllocSize - VARHDRSZ)
		ckfp_error_too_large(origin);
	return palloc(VARHDRSZ + size);
}

static void *
ckfp_renew(ckf_host *host, void *memory, size_t size, const ckf_filter *origin)
{
	if (memory != NULL)
		pfree(origin != NULL ? (char *)memory - VARHDRSZ : memory);
	if (size == 0)
		return NULL;
	if (origin != NULL && ((ckfp_host *)host)->huge)
		return VARDATA(MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + size));
	if (origin != NULL)
		return VARDATA(ckfp_new_value(size, origin));
	return MemoryContextAllocHuge(((ckfp_host *)host)->context, size);
}

static bool
ckfp_stops(ckf_host *host)
{
	(void)host;
	CHECK_FOR_INTERRUPTS();
	return false;
}

static void
ckfp_report(ckf_host *host, ckf_status status, ckf_about about)
{
	(void)host;
	ckfp_error(status, (ckfp_subject){.filter = about.filter,
									  .other = about.other,
									  .rebuild = about.rebuild,
									  .comparison = about.comparison});
}

ckfp_host
ckfp_host_in(MemoryContext context)
{
	return (ckfp_host){{ckfp_renew, ckfp_stops, ckfp_report}, context, false};
}

/* ------------------------------------------------------------ new and copied */

static void
ckfp_open_owned(ckf_filter *owned, struct varlena *value, size_t size)
{
	ckf_status status = ckf_open(owned, VARDATA(value), size, CKF_STORED);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){0});
}

void
ckfp_copy_bytes(void *to, const void *from, size_t size)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	(void)ckf_host_copy_bytes(&host.host, to, from, size);
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
ckfp_create_no_rows(ckf_filter *owned)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1;
	ckfp_create(&params, owned);
}

void
ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	(void)ckf_host_copy(&host.host, filter, more, owned);
}

/* ---------------------------------------------------------------- rebuilds */

static bool
ckfp_perform(const ckf_task *task, ckf_filter *owned)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	return ckf_host_run(&host.host, task, owned);
}

void
ckfp_run_many(ckf_goal goal, const ckf_filter *const *in, unsigned inputs, ckf_filter *owned)
{
	(void)ckfp_perform(&(ckf_task){.goal = goal, .in = in, .inputs = inputs}, owned);
}

void
ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned)
{
	const ckf_filter *in[2] = {a, b};

	ckfp_run_many(goal, in, b != NULL ? 2 : 1, owned);
}

void
ckfp_run_into(ckf_goal goal, const ckf_filter *a, void *bytes, size_t size)
{
	ckf_filter result;

	(void)ckfp_perform(
		&(ckf_task){.goal = goal, .in = &a, .inputs = 1, .bytes = bytes, .room = size}, &result);
	Assert(result.bytes == bytes && result.size == size);
}

void
ckfp_compare(const ckf_filter *a, const ckf_filter *b, ckf_comparison *comparison)
{
	const ckf_filter *in[2] = {a, b};

	(void)ckfp_perform(
		&(ckf_task){.goal = CKF_COMPARE, .in = in, .inputs = 2, .comparison = comparison}, NULL);
}

/* ----------------------------------------------------------------- changes */

void
ckfp_add_on(ckf_filter *owned, uint64 hash, unsigned item_class)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	(void)ckf_host_add(&host.host, owned, hash, item_class);
}

void
ckfp_change_many(ckf_goal goal, const ckf_filter *filter, const ckf_list *list, ckf_filter *owned)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	(void)ckf_host_change(&host.host, goal, filter, list, owned);
}

void
ckfp_add_collected(const ckf_filter *filter, const ckf_collector *collector, uint64 items,
				   ckf_filter *owned)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);

	(void)ckf_host_add_collected(&host.host, filter, collector, items, owned);
}

Datum
ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class)
{
	ckf_filter owned;

	ckfp_copy(filter, 1, &owned);
	ckfp_add(&owned, hash, item_class);
	CKFP_RETURN_OWNED(&owned);
}

Datum
ckfp_without(const ckf_filter *filter, uint64 hash)
{
	ckfp_host host = ckfp_host_in(CurrentMemoryContext);
	ckf_filter owned;

	ckfp_copy(filter, 0, &owned);
	(void)ckf_host_change_each(&host.host, CKF_REMOVE_MANY, &owned, &(ckf_list){&hash, 1, 0});
	CKFP_RETURN_OWNED(&owned);
}
