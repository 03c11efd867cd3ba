/*
 * chunk_ops.h - every operation on a chunk, which may be forged.
 */
#ifndef CHUNK_OPS_H
#define CHUNK_OPS_H

#include "shelf.h"

/* Give bytes the check that they should have. */
void chunk_make_check(const shelf *s, uint64_t start, uint8_t *bytes, size_t size);

/* Open the bytes, between pages that trap, and do everything with them.  false: they do not
 * open. */
bool chunk_try(const shelf *s, uint64_t start, const uint8_t *bytes, size_t size);

#endif
