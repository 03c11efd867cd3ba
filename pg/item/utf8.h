/*
 * utf8.h - strings to hashes, as UTF-8 in every database encoding.
 */
#ifndef CKFP_UTF8_H
#define CKFP_UTF8_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* The hash of a string, which is the hash of its bytes in UTF-8. If UTF-8 lacks one of its
 * characters, it is the hash of its bytes in the database encoding. */
uint64 ckfp_hash_text(const char *bytes, int size, uint64 seed);

#pragma GCC visibility pop

#endif
