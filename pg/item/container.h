/*
 * container.h - arrays, records, ranges and multiranges to hashes.
 */
#ifndef CKFP_CONTAINER_H
#define CKFP_CONTAINER_H

#include "item/item.h"

#pragma GCC visibility push(hidden)

/* The kind of a type of these; 0 of any other. */
ckfp_kind ckfp_kind_of_container(Oid type);

/* What hashers of such a type need to know of it; its memory comes from
 * `context`. */
struct ckfp_container *ckfp_new_container(ckfp_kind kind, Oid type, Oid collation,
										  MemoryContext context);

/* The hash of a value of such a type. */
uint64 ckfp_hash_container(const ckfp_hasher *hasher, Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
