/*
 * argument_cache.c - see argument_cache.h.
 */
#include "type/argument_cache.h"

#include "error.h"
#include "messages.h"
#include "type/owned.h"

#include <math.h>

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

static void
ckfp_open_bytes(const void *bytes, size_t size, ckf_trust trust, ckf_filter *filter)
{
	ckf_status status = ckf_open(filter, bytes, size, trust);

	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){0});
}

void
ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

	CHECK_FOR_INTERRUPTS(); /* detoasting a large value does not check */
	ckfp_open_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), trust, filter);
}

ckf_status
ckfp_try_header(Datum value, ckf_filter *filter)
{
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CKF_HEADER_SIZE);

	if (VARSIZE_ANY_EXHDR(header) < CKF_HEADER_SIZE)
		return CKF_BAD_BYTES;
	return ckf_open(filter, VARDATA_ANY(header), toast_raw_datum_size(value) - VARHDRSZ,
					CKF_STORED);
}

void
ckfp_open_header(Datum value, ckf_filter *filter)
{
	ckf_status status = ckfp_try_header(value, filter);

	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){0});
}

ckf_filter *
ckfp_open_cached(ckfp_argument_cache *argument, const struct varlena *value, ckf_trust trust)
{
	ckf_filter *filter = &argument->filter;

	filter->size = 0; /* not cached while this can fail */
	ckfp_open_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), trust, filter);
	ckfp_keep(argument);
	return filter;
}

/* The same TOAST pointer means the same value as long as a query can see it. */
static const struct varlena *
ckfp_fetch_toasted(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context)
{
	struct varatt_external toast;
	MemoryContext caller;

	VARATT_EXTERNAL_GET_POINTER(toast, value);
	if (argument->copy != NULL && memcmp(&argument->toast, &toast, sizeof toast) == 0)
		return argument->copy;
	argument->copy = NULL;
	if (argument->detoasted == NULL)
		argument->detoasted =
			AllocSetContextCreate(context, "cuckoofilter detoasted", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(argument->detoasted);
	caller = MemoryContextSwitchTo(argument->detoasted);
	argument->copy = detoast_attr(value);
	MemoryContextSwitchTo(caller);
	argument->toast = toast;
	CHECK_FOR_INTERRUPTS();
	return argument->copy;
}

const struct varlena *
ckfp_fetch(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context)
{
	if (VARATT_IS_EXTERNAL_ONDISK(value))
		return ckfp_fetch_toasted(argument, value, context);
	/* rare: compressed in its row, or indirect */
	return PG_DETOAST_DATUM(PointerGetDatum(value));
}

/* --------------------------------------------------------------- parameters */

/* Every integer up to this one is exact as a double. SQLite has the same limit. */
#define CKFP_EXACT 9007199254740992.0

int64
ckfp_whole_capacity(double capacity)
{
	if (capacity >= -CKFP_EXACT && capacity <= CKFP_EXACT && capacity == rint(capacity))
		return (int64)capacity;
	if (capacity == rint(capacity) && !isinf(capacity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(CKF_SAY_BAD_CAPACITY("%.17g"), (long long)CKF_MAX_CAPACITY, capacity)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg(CKF_SAY_FRACTION("%.17g"), capacity),
			 capacity > 0 && capacity < 1 ? errhint(CKF_HINT_FRACTION) : 0));
}

void
ckfp_parse_options(const text *options, ckf_params *params)
{
	const char *bad;
	size_t bad_size;
	ckf_status status =
		ckf_params_parse(params, VARDATA_ANY(options), VARSIZE_ANY_EXHDR(options), &bad, &bad_size);

	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.option = bad, .option_size = bad_size});
}
