/*
 * argument_cache.c - see argument_cache.h.
 */
#include "type/argument_cache.h"

#include "error.h"
#include "messages.h"
#include "type/owned.h"

#include <math.h>

#include "access/detoast.h"
#include "lib/ilist.h"
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

/* ------------------------------------------------------------ detoasted values */

/* A detoasted value, which caches share. */
typedef struct ckfp_copy
{
	dlist_node node; /* in ckfp_copies */
	struct varatt_external toast;
	struct varlena *value;
	MemoryContext context; /* of all these */
	int caches;            /* that keep it */
} ckfp_copy;

/* The values that caches of this process keep. Each cache has one at most, so that there are never
 * more than call sites. */
static dlist_head ckfp_copies = DLIST_STATIC_INIT(ckfp_copies);

/* The same TOAST pointer means the same value as long as a query can see it. NULL: there is no
 * copy. */
static ckfp_copy *
ckfp_find_copy(const struct varatt_external *toast)
{
	dlist_iter iter;

	dlist_foreach(iter, &ckfp_copies)
	{
		ckfp_copy *copy = dlist_container(ckfp_copy, node, iter.cur);

		if (memcmp(&copy->toast, toast, sizeof *toast) == 0)
			return copy;
	}
	return NULL;
}

bool
ckfp_is_fetched(const struct varatt_external *toast)
{
	return ckfp_find_copy(toast) != NULL;
}

/* The caches that keep a copy may belong to several statements, so the copy lives in memory of its
 * own, as soon as nothing can fail. */
static ckfp_copy *
ckfp_new_copy(const struct varatt_external *toast, struct varlena *value)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "cuckoofilter detoasted", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	ckfp_copy *copy = palloc0(sizeof *copy);

	copy->value = detoast_attr(value);
	copy->toast = *toast;
	copy->context = context;
	MemoryContextSwitchTo(caller);
	MemoryContextSetParent(context, TopMemoryContext);
	dlist_push_head(&ckfp_copies, &copy->node);
	return copy;
}

/* A cache keeps its copy no longer. */
static void
ckfp_release(void *cache)
{
	ckfp_argument_cache *argument = cache;
	ckfp_copy *copy = argument->shared;

	argument->copy = NULL;
	argument->shared = NULL;
	if (copy == NULL || --copy->caches > 0)
		return;
	dlist_delete(&copy->node);
	MemoryContextDelete(copy->context);
}

static const struct varlena *
ckfp_fetch_toasted(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context)
{
	struct varatt_external toast;
	ckfp_copy *copy;

	VARATT_EXTERNAL_GET_POINTER(toast, value);
	if (argument->copy != NULL && memcmp(&argument->toast, &toast, sizeof toast) == 0)
		return argument->copy;
	ckfp_release(argument);
	if (argument->release.func == NULL)
	{
		argument->release = (MemoryContextCallback){.func = ckfp_release, .arg = argument};
		MemoryContextRegisterResetCallback(context, &argument->release);
	}
	copy = ckfp_find_copy(&toast);
	if (copy == NULL)
		copy = ckfp_new_copy(&toast, value);
	copy->caches++;
	argument->shared = copy;
	argument->copy = copy->value;
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

int64
ckfp_whole_capacity(double capacity)
{
	if (capacity >= -CKF_EXACT && capacity <= CKF_EXACT && capacity == rint(capacity))
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
