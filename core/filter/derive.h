/*
 * derive.h - the engine's own members of a filter.
 */
#ifndef CKF_DERIVE_H
#define CKF_DERIVE_H

#include "cuckoofilter.h"

/* Set them, from the fields. */
void ckf_derive(ckf_filter *t);

#endif
