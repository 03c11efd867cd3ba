/*
 * item.h - SQL values to hashes.
 */
#ifndef CKFP_ITEM_H
#define CKFP_ITEM_H

#include "item/hasher.h"

#pragma GCC visibility push(hidden)

/* Prepare *hasher for items of a type under a collation. Memory that it needs comes from
 * `context`. This is cheap if it is prepared for them already. */
void ckfp_hasher_prepare(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context);

/* The hash of an item. */
uint64 ckfp_hash_item(ckfp_hasher *hasher, Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
