/*
 * pair.h - an item with a value, which together are one item.
 */
#ifndef CKFP_PAIR_H
#define CKFP_PAIR_H

#include "function/call.h"

#pragma GCC visibility push(hidden)

/* The hash of the pair in arguments n and n + 1, which are not NULL: that of the record
 * ROW(item, value).  Its class is CKF_ITEM_OTHER. */
uint64 ckfp_hash_pair(FunctionCallInfo fcinfo, int n, ckfp_call_cache *cache, uint64 seed);

#pragma GCC visibility pop

#endif
