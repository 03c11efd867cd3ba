/*
 * label.h - enum labels to hashes.
 */
#ifndef CKFP_LABEL_H
#define CKFP_LABEL_H

#include "item/hasher.h"

#pragma GCC visibility push(hidden)

/* The hash of an enum value, which is the hash of its label as text. */
uint64 ckfp_hash_enum(ckfp_hasher *hasher, Oid oid, uint64 seed);

#pragma GCC visibility pop

#endif
