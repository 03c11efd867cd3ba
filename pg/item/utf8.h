/*
 * utf8.h - strings to hashes, as UTF-8 whatever the database's encoding.
 */
#ifndef CKFP_UTF8_H
#define CKFP_UTF8_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* The hash of a string that is its characters.  Where UTF-8 has not all of
 * them it is that of its bytes. */
uint64 ckfp_hash_text(const char *bytes, int size, uint64 seed);

#pragma GCC visibility pop

#endif
