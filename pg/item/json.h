/*
 * json.h - jsonb to hashes.
 */
#ifndef CKFP_JSON_H
#define CKFP_JSON_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* The hash of a jsonb. */
uint64 ckfp_hash_json(Datum item, uint64 seed);

#pragma GCC visibility pop

#endif
