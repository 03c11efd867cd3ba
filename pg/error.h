/*
 * error.h - every error sentence of the PostgreSQL extension.
 */
#ifndef CKFP_ERROR_H
#define CKFP_ERROR_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* What a sentence is about: the members that its status needs, else zero. */
typedef struct ckfp_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	const char *option;       /* BAD_OPTION */
	size_t option_size;
	const ckf_filter *filter;         /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;          /* SEED_DIFFERS, PRECISION of a merge */
	const ckf_comparison *comparison; /* UNLIKE_SIZES, with both filters */
	const ckf_rebuild *rebuild;       /* PRECISION: that came to it; NULL: an add */
	int sqlstate;                     /* BAD_BYTES, BAD_VERSION: the door's; else stored data */
} ckfp_subject;

/* Report a failed call of the engine. */
_Noreturn void ckfp_error(ckf_status status, ckfp_subject subject);

/* Report input that is no filter, with the SQLSTATE of its door.  Returns where
 * `soft`, a call's context, collects errors (PostgreSQL 16). */
void ckfp_error_input(ckf_status status, int sqlstate, fmNodePtr soft);

/* The same of text that is not base64. */
void ckfp_error_base64(fmNodePtr soft);

/* A capacity of double precision that is no integer. */
_Noreturn void ckfp_error_not_whole(double capacity);

/* A result with the items of `filter` would pass what a value can hold. */
_Noreturn void ckfp_error_too_large(const ckf_filter *filter);

/* A value has no text form that fits into memory. */
_Noreturn void ckfp_error_no_text(size_t size);

/* An item of this class (CKF_ITEM_*) cannot be in the filter, by what it knows. */
_Noreturn void ckfp_error_class(const ckf_filter *filter, unsigned item_class);

/* Items of a type that cannot be hashed; of a type that is not known. */
_Noreturn void ckfp_error_no_hash(Oid type);
_Noreturn void ckfp_error_no_type(void);

/* A string whose collation is not known. */
_Noreturn void ckfp_error_no_collation(void);

/* An aggregate's support function was called from elsewhere. */
_Noreturn void ckfp_error_not_aggregate(void);

#pragma GCC visibility pop

#endif
