/*
 * verify.h - join_filter = verify: what a filter denies is kept, and must find no
 * partner in the join.
 */
#ifndef CKFP_JOIN_VERIFY_H
#define CKFP_JOIN_VERIFY_H

#include "build.h"

#pragma GCC visibility push(hidden)

/* Let the join of a filter look at what it joins. */
void ckfp_verify_install(ckfp_build *build);

/* The filter denies rows of this key. */
void ckfp_verify_denied(ckfp_build *build, uint64 hash);

#pragma GCC visibility pop

#endif
