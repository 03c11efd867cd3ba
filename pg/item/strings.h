/*
 * strings.h - strings and bytea to hashes.
 */
#ifndef CKFP_STRINGS_H
#define CKFP_STRINGS_H

#include "item/hasher.h"

#pragma GCC visibility push(hidden)

/* The hash of a string under the hasher's collation: of its bytes in UTF-8, unless the collation
 * has an equality of its own. */
uint64 ckfp_hash_string(const ckfp_hasher *hasher, const char *bytes, int size, uint64 seed);

/* The hash of a text, varchar, char(n) or bytea. */
uint64 ckfp_hash_varlena(const ckfp_hasher *hasher, Datum item, uint64 seed);

/* The hash of a citext.  Two are equal if their lower cases under the database's own collation
 * are equal. */
uint64 ckfp_hash_citext(Datum item, uint64 seed);

/* The hash of a "char", which equals the text that it is cast to. */
uint64 ckfp_hash_char(Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
