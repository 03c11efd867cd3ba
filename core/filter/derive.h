/*
 * derive.h - the members of ckf_filter that are internal to the engine.
 */
#ifndef CKF_DERIVE_H
#define CKF_DERIVE_H

#include "cuckoofilter.h"

/* Set the internal members from the fields of the header.  Call it after every change of a
 * filter's geometry. */
void ckf_derive(ckf_filter *t);

#endif
