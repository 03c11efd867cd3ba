/*
 * host.h - what the files of the PostgreSQL extension share.
 *
 *   module.c       the module's magic block, cuckoofilter_version
 *   type.c         the type: text, binary and bytea, in and out
 *   scalar.c       functions of one filter and one item, or of two filters
 *   variadic.c     functions of a filter and an array of items
 *   info.c         what a filter tells of itself
 *   aggregate.c    aggregates
 *   selectivity.c  the planner's estimate for "filter @> item"
 *   argument.c     arguments to filters and parameters
 *   item.c         SQL values to hashes
 *   draft.c        filters in memory of our own: copies, growth, jobs, results
 *   error.c        every error sentence, once
 */
#ifndef CKFP_HOST_H
#define CKFP_HOST_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "cuckoofilter.h"

/* What the files share stays inside the module: PostgreSQL before 16 loads
 * modules with all their visible names in one room. */
#pragma GCC visibility push(hidden)

/* ----------------------------------------------------------------- item.c */

/* The ways from a Datum to a canonical hash (FORMAT.md; DESIGN of classes). */
typedef enum ckfp_kind
{
	CKFP_INT2 = 1,
	CKFP_INT4,
	CKFP_INT8,
	CKFP_BOOL,
	CKFP_OID,
	CKFP_FLOAT4,
	CKFP_FLOAT8,
	CKFP_NUMERIC,
	CKFP_TEXT,
	CKFP_BPCHAR,
	CKFP_NAME,
	CKFP_CHAR,
	CKFP_ENUM,
	CKFP_BYTEA,
	CKFP_UUID,
	CKFP_DATE,
	CKFP_TIMESTAMP,
	CKFP_TIMESTAMPTZ,
	CKFP_OTHER
} ckfp_kind;

struct ckfp_label;

/* How to hash items of one type; zeros before the first. */
typedef struct ckfp_hasher
{
	Oid type;
	ckfp_kind kind;
	Oid collation;
	bool own_equality;         /* text whose collation calls different bytes equal */
	FmgrInfo *function;        /* CKFP_OTHER: the type's extended hash */
	struct ckfp_label *labels; /* CKFP_ENUM: hashes of labels seen lately */
	MemoryContext context;
} ckfp_hasher;

/* Make *hasher ready for items of a type under a collation; memory that it
 * needs comes from `context`.  Cheap where it is ready already. */
void ckfp_hasher_prepare(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context);

/* The hash of an item. */
uint64 ckfp_hash_item(ckfp_hasher *hasher, Datum item, uint64 seed);

/* ------------------------------------------------------------- argument.c */

/* A filter argument that was opened: what the next call can use again. */
typedef struct ckfp_source
{
	ckf_filter filter; /* size 0: none yet */
	uint64 header[CKF_HEADER_SIZE / sizeof(uint64)];
	struct varatt_external toast; /* what `copy` was fetched by */
	struct varlena *copy;         /* in the context `detoasted`; or NULL */
	MemoryContext detoasted;
} ckfp_source;

/* What a function keeps from call to call in flinfo->fn_extra. */
typedef struct ckfp_site
{
	ckfp_source source;
	ckfp_hasher hasher;
	MemoryContext context; /* lives as long as this */
	void *more;            /* of a function's own */
} ckfp_site;

/* A new site: kept by flinfo, or of this call where there is none. */
ckfp_site *ckfp_new_site(FmgrInfo *flinfo);

/* The call's site. */
static inline ckfp_site *
ckfp_site_of(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL))
		return fcinfo->flinfo->fn_extra;
	return ckfp_new_site(fcinfo->flinfo);
}

/*
 * The filter of argument n, to be read.  Bytes that stay where they are are
 * neither copied nor validated again, and a toasted value is fetched once.
 */
const ckf_filter *ckfp_read_filter(FunctionCallInfo fcinfo, int n, ckfp_site *site);

/* Open a value that is not toasted, or find that it is open already. */
ckf_filter *ckfp_reopen(ckfp_source *source, const struct varlena *value, ckf_trust trust);

/* An open filter was changed in place: know it again. */
void ckfp_keep(ckfp_source *source);

/* Open a value; detoasted, where it must be, in the current memory context. */
void ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter);

/* Open a value for what its header tells, without fetching the rest of it. */
void ckfp_open_header(Datum value, ckf_filter *filter);

/* Make the site's hasher ready for the items of argument n. */
void ckfp_prepare_site(FunctionCallInfo fcinfo, int n, ckfp_site *site);

/* The hash of the item in argument n. */
static inline uint64
ckfp_hash_argument(FunctionCallInfo fcinfo, int n, ckfp_site *site, uint64 seed)
{
	if (unlikely(!OidIsValid(site->hasher.type)))
		ckfp_prepare_site(fcinfo, n, site);
	return ckfp_hash_item(&site->hasher, PG_GETARG_DATUM(n), seed);
}

/* Read an options text over what *params holds. */
void ckfp_parse_options(const text *options, ckf_params *params);

/* ---------------------------------------------------------------- draft.c */

/*
 * A draft is a ckf_filter over the data of a varlena of our own, which
 * ckfp_result hands over.
 */

/* An empty filter. */
void ckfp_create(const ckf_params *params, ckf_filter *draft);

/* A copy of a filter; one in hashes gets room for `more` of them. */
void ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *draft);

/* Run a job of the engine; *draft is its result, and must not be an input.
 * b is NULL but for CKF_UNION and CKF_SUM. */
void ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *draft);

/* Add a hash; where that needs room, *draft becomes a larger one.  Memory of
 * the smaller one is left to its context. */
void ckfp_add(ckf_filter *draft, uint64 hash);

/* Take a copy of a hash away, if there is one. */
void ckfp_remove(ckf_filter *draft, uint64 hash);

/* The varlena of a draft. */
struct varlena *ckfp_result(ckf_filter *draft);

#define CKFP_RETURN_DRAFT(draft) PG_RETURN_POINTER(ckfp_result(draft))

/* ---------------------------------------------------------------- error.c */

/* What a sentence is about: the members that its status needs, else zero. */
typedef struct ckfp_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	const char *option;       /* BAD_OPTION */
	size_t option_size;
	const ckf_filter *filter; /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;  /* SEED_DIFFERS */
	int sqlstate;             /* BAD_BYTES, BAD_VERSION: the door's; else stored data */
} ckfp_subject;

/* Report a failed call of the engine. */
_Noreturn void ckfp_error(ckf_status status, ckfp_subject subject);

/* A result with the items of `filter` would pass what a value can hold. */
_Noreturn void ckfp_error_too_large(const ckf_filter *filter);

/* A value has no text form that fits into memory. */
_Noreturn void ckfp_error_no_text(size_t size);

/* Text that is not base64. */
void ckfp_error_base64(void) pg_attribute_noreturn();

/* Items of a type that cannot be hashed; of a type that is not known. */
_Noreturn void ckfp_error_no_hash(Oid type);
_Noreturn void ckfp_error_no_type(void);

/* A string whose collation is not known. */
_Noreturn void ckfp_error_no_collation(void);

/* An aggregate's support function was called from elsewhere. */
_Noreturn void ckfp_error_not_aggregate(void);

#pragma GCC visibility pop

#endif
