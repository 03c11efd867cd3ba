/*
 * strings.h - strings and bytea to hashes.
 */
#ifndef CKFP_STRINGS_H
#define CKFP_STRINGS_H

#include "item/hasher.h"

#pragma GCC visibility push(hidden)

/* The hash of a string under the collation of the hasher: of its bytes in UTF-8, unless the
 * collation is nondeterministic. */
uint64 ckfp_hash_string(const ckfp_hasher *hasher, const char *bytes, int size, uint64 seed);

/* The hash of a text, varchar, char(n) or bytea. */
uint64 ckfp_hash_varlena(const ckfp_hasher *hasher, Datum item, uint64 seed);

/* The hash of a citext. Two citexts are equal if their lowercase forms under the default
 * collation of the database are equal. */
uint64 ckfp_hash_citext(Datum item, uint64 seed);

/* The hash of a "char": the hash of the text that it casts to. */
uint64 ckfp_hash_char(Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
