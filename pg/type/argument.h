/*
 * argument.h - arguments to filters and parameters.
 */
#ifndef CKFP_ARGUMENT_H
#define CKFP_ARGUMENT_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* A filter argument that was opened: what the next call can use again. */
typedef struct ckfp_argument_cache
{
	ckf_filter filter; /* size 0: none yet */
	uint64 header[CKF_HEADER_SIZE / sizeof(uint64)];
	struct varatt_external toast; /* what `copy` was fetched by */
	struct varlena *copy;         /* in the context `detoasted`; or NULL */
	MemoryContext detoasted;
	struct ckfp_slices *slices; /* of a value that is not fetched (slices.h); or NULL */
} ckfp_argument_cache;

/* How a word of a header differs from the one that is cached. */
static inline uint64
ckfp_differs(const ckfp_argument_cache *argument, const char *bytes, int i)
{
	uint64 word;

	memcpy(&word, bytes + i * sizeof word, sizeof word);
	return word ^ argument->header[i];
}

/* All that ckf_open finds out follows from the header and the size: does the
 * argument cache know them? */
static inline bool
ckfp_knows(const ckfp_argument_cache *argument, const char *bytes, size_t size)
{
	StaticAssertStmt(lengthof(argument->header) == 6, "compare each word");
	return ((argument->filter.size ^ size) | ckfp_differs(argument, bytes, 0) |
			ckfp_differs(argument, bytes, 1) | ckfp_differs(argument, bytes, 2) |
			ckfp_differs(argument, bytes, 3) | ckfp_differs(argument, bytes, 4) |
			ckfp_differs(argument, bytes, 5)) == 0;
}

/* Know an open filter again, as it is now. */
static inline void
ckfp_keep(ckfp_argument_cache *argument)
{
	memcpy(argument->header, argument->filter.bytes, sizeof argument->header);
}

/* Open a value anew, that is neither toasted nor compressed. */
ckf_filter *ckfp_open_cached(ckfp_argument_cache *argument, const struct varlena *value,
							 ckf_trust trust);

/* The same, or only move to its bytes where they are known. */
static inline ckf_filter *
ckfp_reopen(ckfp_argument_cache *argument, const struct varlena *value, ckf_trust trust)
{
	size_t size = VARSIZE_ANY_EXHDR(value);

	if (unlikely(size < CKF_HEADER_SIZE || !ckfp_knows(argument, VARDATA_ANY(value), size)))
		return ckfp_open_cached(argument, value, trust);
	argument->filter.bytes = (uint8_t *)VARDATA_ANY(value);
	argument->filter.room = size;
	return &argument->filter;
}

/* The plain value of one that is toasted or compressed; it stays in the cache,
 * which lives in `context`, where the next call may bring it again. */
const struct varlena *ckfp_fetch(ckfp_argument_cache *argument, struct varlena *value,
								 MemoryContext context);

/* Open a value; detoasted, where it must be, in the current memory context. */
void ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter);

/* Open a plain value of which nothing is known, each of its slots read once. */
ckf_status ckfp_open_checked(const struct varlena *value, ckf_filter *filter);

/* Open a value for what its header tells, without fetching the rest of it. */
void ckfp_open_header(Datum value, ckf_filter *filter);

/* The same, telling what came of it instead of failing. */
ckf_status ckfp_try_header(Datum value, ckf_filter *filter);

/* A capacity that came as a double precision, so that 1e6 is one; an error where it
 * is no whole number. */
int64 ckfp_whole_capacity(double capacity);

/* Read an options text over what *params holds. */
void ckfp_parse_options(const text *options, ckf_params *params);

#pragma GCC visibility pop

#endif
