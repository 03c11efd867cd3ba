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

ckfp_site *
ckfp_new_site(FmgrInfo *flinfo)
{
	MemoryContext context = flinfo != NULL ? flinfo->fn_mcxt : CurrentMemoryContext;
	ckfp_site *site = MemoryContextAllocZero(context, sizeof *site);

	site->context = context;
	if (flinfo != NULL) /* else DirectFunctionCall */
		flinfo->fn_extra = site;
	return site;
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

static inline uint64
ckfp_header_word(const char *bytes, int i)
{
	uint64 word;

	memcpy(&word, bytes + i * sizeof word, sizeof word);
	return word;
}

static inline bool
ckfp_is_header(const ckfp_source *source, const char *bytes)
{
	uint64 differs = ckfp_header_word(bytes, 0) ^ source->header[0];

	StaticAssertStmt(lengthof(source->header) == 6, "compare each word");
	differs |= ckfp_header_word(bytes, 1) ^ source->header[1];
	differs |= ckfp_header_word(bytes, 2) ^ source->header[2];
	differs |= ckfp_header_word(bytes, 3) ^ source->header[3];
	differs |= ckfp_header_word(bytes, 4) ^ source->header[4];
	differs |= ckfp_header_word(bytes, 5) ^ source->header[5];
	return differs == 0;
}

/*
 * All that ckf_open finds out follows from the header and the size.  Where
 * they are as they were, only the place of the bytes may be new.
 */
ckf_filter *
ckfp_reopen(ckfp_source *source, const struct varlena *value, ckf_trust trust)
{
	ckf_filter *filter = &source->filter;
	size_t size = VARSIZE_ANY_EXHDR(value);

	if (likely(filter->size == size && size != 0 && ckfp_is_header(source, VARDATA_ANY(value))))
	{
		filter->bytes = (uint8_t *)VARDATA_ANY(value);
		filter->room = size;
		return filter;
	}
	filter->size = 0; /* not open while this may fail */
	ckfp_open_bytes(VARDATA_ANY(value), size, trust, filter);
	ckfp_keep(source);
	return filter;
}

void
ckfp_keep(ckfp_source *source)
{
	memcpy(source->header, source->filter.bytes, sizeof source->header);
}

/* A TOAST pointer names a value for as long as a query may see it. */
static const struct varlena *
ckfp_fetch_toasted(ckfp_site *site, struct varlena *value)
{
	ckfp_source *source = &site->source;
	struct varatt_external toast;
	MemoryContext caller;

	VARATT_EXTERNAL_GET_POINTER(toast, value);
	if (source->copy != NULL && memcmp(&source->toast, &toast, sizeof toast) == 0)
		return source->copy;
	source->copy = NULL;
	if (source->detoasted == NULL)
		source->detoasted =
			AllocSetContextCreate(site->context, "cuckoofilter detoasted", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(source->detoasted);
	caller = MemoryContextSwitchTo(source->detoasted);
	source->copy = detoast_attr(value);
	MemoryContextSwitchTo(caller);
	source->toast = toast;
	return source->copy;
}

const ckf_filter *
ckfp_read_filter(FunctionCallInfo fcinfo, int n, ckfp_site *site)
{
	struct varlena *value = (struct varlena *)PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL_ONDISK(value))
		return ckfp_reopen(&site->source, ckfp_fetch_toasted(site, value), CKF_STORED);
	/* what lies in memory is used in place; the rare other forms are unpacked */
	return ckfp_reopen(&site->source, PG_DETOAST_DATUM_PACKED(PointerGetDatum(value)), CKF_STORED);
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
ckfp_prepare_site(FunctionCallInfo fcinfo, int n, ckfp_site *site)
{
	ckfp_hasher_prepare(&site->hasher, ckfp_argument_type(fcinfo->flinfo, n), PG_GET_COLLATION(),
						site->context);
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
