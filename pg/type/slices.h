/*
 * slices.h - questions to a large value that lies in a TOAST table: a few slices of
 * it are read instead of the whole.
 */
#ifndef CKFP_SLICES_H
#define CKFP_SLICES_H

#include "type/argument.h"

#pragma GCC visibility push(hidden)

/* A value that is asked by slices, and what the next call with it can use again. */
typedef struct ckfp_slices
{
	ckf_filter filter; /* opened on its header, `header`; size 0: none */
	uint8_t header[CKF_HEADER_SIZE];
	struct varatt_external toast; /* the pointer to it, */
	Datum value;                  /* and as this call has it */
	uint64 paid;                  /* for its slices so far, in bytes of the whole (slices.c) */
} ckfp_slices;

/* A filter to be asked; where `slices` is not NULL only its header is at hand. */
typedef struct ckfp_asked
{
	const ckf_filter *filter;
	ckfp_slices *slices;
} ckfp_asked;

/*
 * The plain value of one that is toasted or compressed, as ckfp_fetch gives it; or
 * NULL, where the value is so large, and was asked so seldom, that slices are
 * cheaper: argument->slices is ready for them.  Decompressing needs all that comes
 * before, so what is compressed is fetched.
 */
const struct varlena *ckfp_fetch_or_slice(ckfp_argument_cache *argument, struct varlena *value,
										  MemoryContext context);

/* Are slices for n questions more still cheaper than the whole? */
bool ckfp_slices_pay(const ckfp_slices *slices, size_t n);

/* Copies of a hash; without `all` 0, or at least 1. */
unsigned ckfp_slices_copies(ckfp_slices *slices, uint64 hash, bool all);

/* Is one of n hashes in the filter (`wanted`), or missing? */
bool ckfp_slices_some(ckfp_slices *slices, const uint64 *hashes, size_t n, bool wanted);

/* Is it in? */
static inline bool
ckfp_contains(ckfp_asked asked, uint64 hash)
{
	if (likely(asked.slices == NULL))
		return ckf_contains(asked.filter, hash);
	return ckfp_slices_copies(asked.slices, hash, false) > 0;
}

/* How many copies are in? */
static inline unsigned
ckfp_copies(ckfp_asked asked, uint64 hash)
{
	if (likely(asked.slices == NULL))
		return ckf_copies(asked.filter, hash);
	return ckfp_slices_copies(asked.slices, hash, true);
}

#pragma GCC visibility pop

#endif
