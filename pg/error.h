/*
 * error.h - every error of the PostgreSQL extension.
 */
#ifndef CKFP_ERROR_H
#define CKFP_ERROR_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* What an error is about. A status reads only the members that name it; the others are zero. */
typedef struct ckfp_subject
{
	const ckf_params *params; /* BAD_CAPACITY, BAD_FPR, BAD_TARGET */
	const char *order;        /* BAD_FPR: the call with its arguments in the right order; or NULL */
	const char *option;       /* BAD_OPTION, OPTION_TWICE */
	size_t option_size;
	const ckf_filter *filter;         /* SEED_DIFFERS, PRECISION */
	const ckf_filter *other;          /* SEED_DIFFERS, PRECISION of a merge */
	const ckf_comparison *comparison; /* UNLIKE_SIZES, with both filters */
	const ckf_rebuild *rebuild;       /* PRECISION: the rebuild that failed; NULL: an add */
	int sqlstate;                     /* BAD_BYTES, BAD_VERSION of input; 0: of a stored value */
} ckfp_subject;

/* Report a failed call of the engine. */
_Noreturn void ckfp_error(ckf_status status, ckfp_subject subject);

/* Report input that is not a filter, with the SQLSTATE of the input function. Returns only if
 * `soft`, the context of the call, collects errors (PostgreSQL 16). */
void ckfp_error_input(ckf_status status, int sqlstate, struct Node *soft);

/* Report text that is not base64, in the same way. */
void ckfp_error_base64(struct Node *soft);

/* The same for text that is hexadecimal, with a hint. */
void ckfp_error_hex(struct Node *soft);

/* Report a capacity in double precision that is not an integer, or too large. */
_Noreturn void ckfp_error_not_integer(double capacity);

/* Report that a result with the items of `filter` would be larger than a value can be. */
_Noreturn void ckfp_error_too_large(const ckf_filter *filter);

/* Report that the state of an aggregate over these items must leave its process, and does not fit
 * into a value. */
_Noreturn void ckfp_error_state_too_large(const ckf_filter *state);

/* Report that the text form of a value of `size` bytes is too large. */
_Noreturn void ckfp_error_no_text(size_t size);

/* Report that the filter cannot have an item of this class (CKF_ITEM_*). */
_Noreturn void ckfp_error_class(const ckf_filter *filter, unsigned item_class);

/* Report that the filter cannot have a pair. */
_Noreturn void ckfp_error_pair(const ckf_filter *filter);

/* Report that a type has no hash function; that the type of an item is unknown. */
_Noreturn void ckfp_error_no_hash(Oid type);
_Noreturn void ckfp_error_no_type(void);

/* An untyped literal in braces is the only item. */
_Noreturn void ckfp_error_array_literal(void);

/* Report that the collation of a string is unknown. */
_Noreturn void ckfp_error_no_collation(void);

/* Report that a support function was called outside an aggregate. */
_Noreturn void ckfp_error_not_aggregate(void);

/* Report that the session has not loaded the library of the join filters. */
_Noreturn void ckfp_error_not_loaded(void);

#pragma GCC visibility pop

#endif
