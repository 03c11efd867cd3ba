/*
 * argument.c - arguments to filters, item types and parameters.
 *
 * A probe costs some ten nanoseconds, so that finding its filter must cost
 * less: no detoast, copy, validation or catalog look-up for each row.
 */
#include "host.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

ckfp_call_cache *
ckfp_new_call_cache(FmgrInfo *flinfo)
{
	MemoryContext context = flinfo != NULL ? flinfo->fn_mcxt : CurrentMemoryContext;
	ckfp_call_cache *cache = MemoryContextAllocZero(context, sizeof *cache);

	cache->context = context;
	if (flinfo != NULL) /* else DirectFunctionCall */
		flinfo->fn_extra = cache;
	return cache;
}

/* ------------------------------------------------------------------ filters */

static void
ckfp_open_bytes(const void *bytes, size_t size, ckf_trust trust, ckf_filter *filter)
{
	ckf_status status = ckf_open(filter, bytes, size, trust);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){0});
}

void
ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

	ckfp_open_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), trust, filter);
}

void
ckfp_open_header(Datum value, ckf_filter *filter)
{
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CKF_HEADER_SIZE);

	if (VARSIZE_ANY_EXHDR(header) < CKF_HEADER_SIZE)
		ckfp_error(CKF_BAD_BYTES, (ckfp_subject){0});
	ckfp_open_bytes(VARDATA_ANY(header), toast_raw_datum_size(value) - VARHDRSZ, CKF_STORED,
					filter);
}

ckf_filter *
ckfp_open_cached(ckfp_argument_cache *argument, const struct varlena *value, ckf_trust trust)
{
	ckf_filter *filter = &argument->filter;

	filter->size = 0; /* known no more, while this may fail */
	ckfp_open_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), trust, filter);
	ckfp_keep(argument);
	return filter;
}

/* A TOAST pointer names a value for as long as a query may see it. */
static const struct varlena *
ckfp_fetch_toasted(ckfp_call_cache *cache, struct varlena *value)
{
	ckfp_argument_cache *argument = &cache->argument;
	struct varatt_external toast;
	MemoryContext caller;

	VARATT_EXTERNAL_GET_POINTER(toast, value);
	if (argument->copy != NULL && memcmp(&argument->toast, &toast, sizeof toast) == 0)
		return argument->copy;
	argument->copy = NULL;
	if (argument->detoasted == NULL)
		argument->detoasted =
			AllocSetContextCreate(cache->context, "cuckoofilter detoasted", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(argument->detoasted);
	caller = MemoryContextSwitchTo(argument->detoasted);
	argument->copy = detoast_attr(value);
	MemoryContextSwitchTo(caller);
	argument->toast = toast;
	return argument->copy;
}

const ckf_filter *
ckfp_read_extended(ckfp_call_cache *cache, struct varlena *value)
{
	const struct varlena *plain;

	if (VARATT_IS_EXTERNAL_ONDISK(value))
		plain = ckfp_fetch_toasted(cache, value);
	else /* compressed in its row, and what else there may be: rare */
		plain = PG_DETOAST_DATUM(PointerGetDatum(value));
	return ckfp_reopen(&cache->argument, plain, CKF_STORED);
}

/* -------------------------------------------------------------------- items */

/*
 * The type of argument n: that of the call's expression or, for a caller
 * without one, the declared type.
 */
static Oid
ckfp_argument_type(FmgrInfo *flinfo, int n)
{
	Oid type = InvalidOid;

	if (flinfo != NULL)
		type = get_fn_expr_argtype(flinfo, n);
	if (flinfo != NULL && !OidIsValid(type))
	{
		Oid *types;
		int count;

		(void)get_func_signature(flinfo->fn_oid, &types, &count);
		if (n < count && get_typtype(types[n]) != TYPTYPE_PSEUDO)
			type = types[n];
	}
	if (!OidIsValid(type))
		ckfp_error_no_type();
	return type;
}

void
ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	ckfp_hasher_prepare(&cache->hasher, ckfp_argument_type(fcinfo->flinfo, n), PG_GET_COLLATION(),
						cache->context);
}

/* --------------------------------------------------------------- parameters */

void
ckfp_parse_options(const text *options, ckf_params *params)
{
	const char *bad;
	size_t bad_size;
	ckf_status status =
		ckf_params_parse(params, VARDATA_ANY(options), VARSIZE_ANY_EXHDR(options), &bad, &bad_size);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.option = bad, .option_size = bad_size});
}
