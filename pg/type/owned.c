/*
 * owned.c - filters in memory of the extension: copies, growth, rebuilds, results.
 */
#include "type/owned.h"

#include "error.h"
#include "messages.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* ------------------------------------------------------- PostgreSQL as host */

/* A varlena for `size` bytes of filter. */
static struct varlena *
ckfp_new_value(size_t size, const ckf_filter *origin)
{
	if (size > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg(CKF_SAY_TOO_LARGE, (long long)(MaxAllocSize - VARHDRSZ)),
				 errdetail(CKF_DETAIL_FILL, (unsigned long long)origin->count, ckf_fpr(origin)),
				 errhint(CKF_HINT_TOO_LARGE)));
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
	ckfp_error(status, about);
}

ckfp_host
ckfp_host_in(MemoryContext context)
{
	return (ckfp_host){{ckfp_renew, ckfp_stops, ckfp_report}, context, false};
}

/* ---------------------------------------------------------------------- new */

Datum
ckfp_create(const ckf_params *params)
{
	struct varlena *value = palloc(VARHDRSZ + CKF_HEADER_SIZE);
	ckf_status status = ckf_create(params, VARDATA(value));

	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = params});
	SET_VARSIZE(value, VARHDRSZ + CKF_HEADER_SIZE);
	return PointerGetDatum(value);
}

Datum
ckfp_create_no_rows(void)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = 1;
	return ckfp_create(&params);
}

/* ----------------------------------------------------------------- changes */

Datum
ckfp_with(const ckf_filter *filter, uint64 hash, unsigned item_class)
{
	ckf_host *host = CKFP_HOST;
	ckf_filter owned;

	(void)ckf_host_copy(host, filter, 1, &owned);
	(void)ckf_host_add(host, &owned, hash, item_class);
	CKFP_RETURN_OWNED(&owned);
}

Datum
ckfp_without(const ckf_filter *filter, ckf_hashes item)
{
	ckf_host *host = CKFP_HOST;
	ckf_filter owned;

	(void)ckf_host_copy(host, filter, 0, &owned);
	(void)ckf_host_change_each(host, CKF_REMOVE_MANY, &owned,
							   &(ckf_list){&item.hash, &item.rounded, 1, 0});
	CKFP_RETURN_OWNED(&owned);
}

Datum
ckfp_rebuilt(ckf_operation operation, const ckf_filter *a, const ckf_filter *b)
{
	ckf_filter owned;

	(void)ckf_host_build(CKFP_HOST, operation, a, b, &owned);
	CKFP_RETURN_OWNED(&owned);
}
