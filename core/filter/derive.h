/*
 * derive.h - the members of a filter that are the engine's own.
 */
#ifndef CKF_DERIVE_H
#define CKF_DERIVE_H

#include "cuckoofilter.h"

/* Set the engine's own members from the fields of the header.  Whoever changes a
 * filter's geometry calls this. */
void ckf_derive(ckf_filter *t);

#endif
