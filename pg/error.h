/*
 * error.h - how the errors of the engine are reported, and those of the classes of items.
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

/* Report that the filter cannot have an item of this class (CKF_ITEM_*). array: it is an array. */
_Noreturn void ckfp_error_class(const ckf_filter *filter, unsigned item_class, bool array);

/* Report that the filter cannot have a pair. */
_Noreturn void ckfp_error_pair(const ckf_filter *filter);

#endif
