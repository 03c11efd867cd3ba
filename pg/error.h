/*
 * error.h - every error of the PostgreSQL extension.
 */
#ifndef CKFP_ERROR_H
#define CKFP_ERROR_H

#include "host.h"

#include "cuckoofilter_host.h"

/* Report a failed call of the engine. */
_Noreturn void ckfp_error(ckf_status status, ckf_about about);

/* Report input that is not a filter, with the SQLSTATE of the input function. Returns only if
 * `soft`, the context of the call, collects errors (PostgreSQL 16). */
void ckfp_error_input(ckf_status status, int sqlstate, struct Node *soft);

/* Report text that is not base64, in the same way; `hex`: the hint is for text in hexadecimal. */
void ckfp_error_base64(bool hex, struct Node *soft);

/* Report a capacity in double precision that is not an integer, or too large. */
_Noreturn void ckfp_error_not_integer(double capacity);

/* Report that a result with the items of `filter` would be larger than a value can be. */
_Noreturn void ckfp_error_too_large(const ckf_filter *filter);

/* Report that the state of an aggregate over these items must leave its process, and does not fit
 * into a value. */
_Noreturn void ckfp_error_state_too_large(const ckf_filter *state);

/* Report that the text form of a value of `size` bytes is too large. */
_Noreturn void ckfp_error_no_text(size_t size);

/* Report that the filter cannot have an item of this class (CKF_ITEM_*). array: it is an array. */
_Noreturn void ckfp_error_class(const ckf_filter *filter, unsigned item_class, bool array);

/* Report that the filter cannot have a pair. */
_Noreturn void ckfp_error_pair(const ckf_filter *filter);

/* Report that a type has no hash function, or only one of 32 bits (`short_hash`); that the type of
 * an item is unknown. */
_Noreturn void ckfp_error_no_hash(Oid type, bool short_hash);
_Noreturn void ckfp_error_no_type(void);

/* Report that an item is a filter, or that a part of it is one. */
_Noreturn void ckfp_error_filter_item(void);

/* An untyped literal in braces is the only item. */
_Noreturn void ckfp_error_array_literal(void);

/* Report that the collation of a string is unknown. */
_Noreturn void ckfp_error_no_collation(void);

/* The same of an argument of an aggregate that a window calls. */
_Noreturn void ckfp_error_window(void);

/* Report a number of parts that is out of range. */
_Noreturn void ckfp_error_parts(int parts);

/* Report that a support function was called outside an aggregate. */
_Noreturn void ckfp_error_not_aggregate(void);

/* Report that the session has not loaded the library of the join filters. */
_Noreturn void ckfp_error_not_loaded(void);

#endif
