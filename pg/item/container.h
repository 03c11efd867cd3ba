/*
 * container.h - arrays, records, ranges and multiranges to hashes.
 */
#ifndef CKFP_CONTAINER_H
#define CKFP_CONTAINER_H

#include "item/hasher.h"

#pragma GCC visibility push(hidden)

/* The kind of a container type; 0 for any other type. */
ckfp_kind ckfp_kind_of_container(Oid type);

/* How to hash the parts of a container, which are items of any type: ckfp_hasher_prepare and
 * ckfp_hash_item. item.c, which calls this file, passes them, so that this file does not depend
 * on item.c. */
typedef struct ckfp_part_methods
{
	void (*prepare)(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context);
	uint64 (*hash)(ckfp_hasher *hasher, Datum item, uint64 seed);
} ckfp_part_methods;

/* Create the description of a container type for a hasher. Its memory comes from `context`. */
struct ckfp_container *ckfp_new_container(ckfp_kind kind, Oid type, Oid collation,
										  const ckfp_part_methods *parts, MemoryContext context);

/* The hash of a container. */
uint64 ckfp_hash_container(const ckfp_hasher *hasher, Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
