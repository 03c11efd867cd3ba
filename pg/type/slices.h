/*
 * slices.h - lookups in a large value in a TOAST table. They read a few slices of it instead of the
 * whole value.
 */
#ifndef CKFP_SLICES_H
#define CKFP_SLICES_H

#include "type/argument_cache.h"

/* A value that is read by slices, kept for the next call. */
typedef struct ckfp_slices
{
	ckf_filter filter; /* opened with only `header`; size 0: none */
	uint8_t header[CKF_HEADER_SIZE];
	struct varatt_external toast; /* the TOAST pointer of the value */
	Datum value;                  /* the Datum of this call */
	uint64 paid; /* the cost of its slices so far, as bytes of the whole value (slices.c) */
} ckfp_slices;

/*
 * Are slices of a value cheaper than the whole value, because it is large and had few lookups? Then
 * argument->slices is ready. If not, *whole is the value, detoasted or decompressed as by
 * ckfp_fetch. A compressed value is always fetched, since decompressing a slice needs all bytes
 * before it.
 */
bool ckfp_use_slices(ckfp_argument_cache *argument, struct varlena *value, MemoryContext context,
					 const struct varlena **whole);

/* Are slices for n more lookups still cheaper than the whole value? */
bool ckfp_slices_pay(const ckfp_slices *slices, size_t n);

/*
 * Look up n hashes, and write the answer of hash i to copies[i]: with `all_copies` the number of
 * its copies, else 0 if it is not there and 1 or more if it is. `copies` may be NULL.
 *
 * If `wanted` is not NULL, the lookups end as soon as one has this answer, there (true) or not
 * there (false). The result is true then, and copies[] is not complete.
 */
bool ckfp_slices_look_up(ckfp_slices *slices, const uint64 *hashes, size_t n, bool all_copies,
						 const bool *wanted, uint8 *copies);

/* The same of one hash. */
unsigned ckfp_slices_copies(ckfp_slices *slices, uint64 hash, bool all_copies);

#endif
