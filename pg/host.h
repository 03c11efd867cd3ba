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
 *   owned.c        filters in memory of our own: copies, growth, jobs, results
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

/* The ways from a Datum to a canonical hash. */
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
typedef struct ckfp_argument_cache
{
	ckf_filter filter; /* size 0: none yet */
	uint64 header[CKF_HEADER_SIZE / sizeof(uint64)];
	struct varatt_external toast; /* what `copy` was fetched by */
	struct varlena *copy;         /* in the context `detoasted`; or NULL */
	MemoryContext detoasted;
} ckfp_argument_cache;

/* What a function keeps from call to call in flinfo->fn_extra. */
typedef struct ckfp_call_cache
{
	ckfp_argument_cache argument;
	ckfp_hasher hasher;
	MemoryContext context; /* lives as long as this */
	void *more;            /* of a function's own */
} ckfp_call_cache;

/* A new call cache: kept by flinfo, or of this call where there is none. */
ckfp_call_cache *ckfp_new_call_cache(FmgrInfo *flinfo);

/* The cache of this call. */
static inline ckfp_call_cache *
ckfp_call_cache_of(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->flinfo != NULL && fcinfo->flinfo->fn_extra != NULL))
		return fcinfo->flinfo->fn_extra;
	return ckfp_new_call_cache(fcinfo->flinfo);
}

/* How a word of a header differs from the one that is cached. */
static inline uint64
ckfp_differs(const ckfp_argument_cache *argument, const char *bytes, int i)
{
	uint64 word;

	memcpy(&word, bytes + i * sizeof word, sizeof word);
	return word ^ argument->header[i];
}

/* All that ckf_open finds out follows from the header and the size: does the
 * argument cache know them? */
static inline bool
ckfp_knows(const ckfp_argument_cache *argument, const char *bytes, size_t size)
{
	StaticAssertStmt(lengthof(argument->header) == 6, "compare each word");
	return ((argument->filter.size ^ size) | ckfp_differs(argument, bytes, 0) |
			ckfp_differs(argument, bytes, 1) | ckfp_differs(argument, bytes, 2) |
			ckfp_differs(argument, bytes, 3) | ckfp_differs(argument, bytes, 4) |
			ckfp_differs(argument, bytes, 5)) == 0;
}

/* Know an open filter again, as it is now. */
static inline void
ckfp_keep(ckfp_argument_cache *argument)
{
	memcpy(argument->header, argument->filter.bytes, sizeof argument->header);
}

/* Open a value anew, that is neither toasted nor compressed. */
ckf_filter *ckfp_open_cached(ckfp_argument_cache *argument, const struct varlena *value,
							 ckf_trust trust);

/* The same, or only move to its bytes where they are known. */
static inline ckf_filter *
ckfp_reopen(ckfp_argument_cache *argument, const struct varlena *value, ckf_trust trust)
{
	size_t size = VARSIZE_ANY_EXHDR(value);

	if (unlikely(size < CKF_HEADER_SIZE || !ckfp_knows(argument, VARDATA_ANY(value), size)))
		return ckfp_open_cached(argument, value, trust);
	argument->filter.bytes = (uint8_t *)VARDATA_ANY(value);
	argument->filter.room = size;
	return &argument->filter;
}

/* A value that is toasted or compressed, to be read. */
const ckf_filter *ckfp_read_extended(ckfp_call_cache *cache, struct varlena *value);

/*
 * The filter of argument n, to be read.  Bytes that stay where they are are
 * neither copied nor validated again, and a toasted value is fetched once.
 */
static inline const ckf_filter *
ckfp_read_filter(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache)
{
	struct varlena *value = (struct varlena *)PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
		return ckfp_read_extended(cache, value);
	return ckfp_reopen(&cache->argument, value, CKF_STORED);
}

/* Open a value; detoasted, where it must be, in the current memory context. */
void ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter);

/* Open a value for what its header tells, without fetching the rest of it. */
void ckfp_open_header(Datum value, ckf_filter *filter);

/* Make the cache's hasher ready for the items of argument n. */
void ckfp_prepare_hasher(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache);

/* The hash of the item in argument n. */
static inline uint64
ckfp_hash_argument(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed)
{
	if (cache->hasher.kind == CKFP_INT8) /* the usual keys, without a detour */
		return ckf_hash_integer(PG_GETARG_INT64(n), seed);
	if (cache->hasher.kind == CKFP_INT4)
		return ckf_hash_integer(PG_GETARG_INT32(n), seed);
	if (unlikely(!OidIsValid(cache->hasher.type)))
		ckfp_prepare_hasher(fcinfo, n, cache);
	return ckfp_hash_item(&cache->hasher, PG_GETARG_DATUM(n), seed);
}

/* Read an options text over what *params holds. */
void ckfp_parse_options(const text *options, ckf_params *params);

/* ---------------------------------------------------------------- owned.c */

/*
 * An owned filter is a ckf_filter over the data of a varlena of our own, which
 * ckfp_result hands over.
 */

/* An empty filter. */
void ckfp_create(const ckf_params *params, ckf_filter *owned);

/* A copy of a filter; one in hashes gets room for `more` of them. */
void ckfp_copy(const ckf_filter *filter, size_t more, ckf_filter *owned);

/* Run a job of the engine; *owned is its result, and must not be an input.
 * b is NULL but for CKF_UNION and CKF_SUM. */
void ckfp_run(ckf_goal goal, const ckf_filter *a, const ckf_filter *b, ckf_filter *owned);

/* Go on after ckf_add: *owned becomes larger, or an error is reported.  Memory
 * of the smaller one is left to its context. */
void ckfp_add_on(ckf_filter *owned, uint64 hash, ckf_status status);

/* Add a hash, growing where that needs room. */
static inline void
ckfp_add(ckf_filter *owned, uint64 hash)
{
	ckf_status status = ckf_add(owned, hash);

	if (unlikely(status != CKF_OK))
		ckfp_add_on(owned, hash, status);
}

/* Take a copy of a hash away, if there is one. */
void ckfp_remove(ckf_filter *owned, uint64 hash);

/* The varlena of an owned filter. */
static inline struct varlena *
ckfp_result(const ckf_filter *owned)
{
	struct varlena *value = (struct varlena *)(owned->bytes - VARHDRSZ);

	SET_VARSIZE(value, VARHDRSZ + owned->size);
	return value;
}

#define CKFP_RETURN_OWNED(owned) PG_RETURN_POINTER(ckfp_result(owned))

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
_Noreturn void ckfp_error_base64(void);

/* Items of a type that cannot be hashed; of a type that is not known. */
_Noreturn void ckfp_error_no_hash(Oid type);
_Noreturn void ckfp_error_no_type(void);

/* A string whose collation is not known. */
_Noreturn void ckfp_error_no_collation(void);

/* An aggregate's support function was called from elsewhere. */
_Noreturn void ckfp_error_not_aggregate(void);

#pragma GCC visibility pop

#endif
