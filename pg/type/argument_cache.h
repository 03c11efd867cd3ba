/*
 * argument_cache.h - filter arguments, opened once for calls that repeat them; and parameters.
 */
#ifndef CKFP_ARGUMENT_CACHE_H
#define CKFP_ARGUMENT_CACHE_H

#include "host.h"

/* An open filter argument, which the next call can use again. */
typedef struct ckfp_argument_cache
{
	ckf_filter filter; /* size 0: none yet */
	uint64 header[CKF_HEADER_SIZE / sizeof(uint64)];
	struct varatt_external toast; /* the TOAST pointer of `copy` */
	struct varlena *copy;         /* the detoasted value, of `shared`; or NULL */
	struct ckfp_copy *shared;
	MemoryContextCallback release; /* of `shared`; func NULL: not registered yet */
	struct ckfp_slices *slices;    /* of a value that is read by slices (slices.h); or NULL */
} ckfp_argument_cache;

/* The bits in which word i of a header differs from the cached one. */
static inline uint64
ckfp_differs(const ckfp_argument_cache *argument, const char *bytes, int i)
{
	uint64 word;

	memcpy(&word, bytes + i * sizeof word, sizeof word);
	return word ^ argument->header[i];
}

/* Does the cache have the header and the size of a value? The result of ckf_open depends on
 * nothing else. */
static inline bool
ckfp_is_cached(const ckfp_argument_cache *argument, const char *bytes, size_t size)
{
	StaticAssertStmt(lengthof(argument->header) == 6, "compare each word");
	return ((argument->filter.size ^ size) | ckfp_differs(argument, bytes, 0) |
			ckfp_differs(argument, bytes, 1) | ckfp_differs(argument, bytes, 2) |
			ckfp_differs(argument, bytes, 3) | ckfp_differs(argument, bytes, 4) |
			ckfp_differs(argument, bytes, 5)) == 0;
}

/* Remember the header of the open filter as it is now. */
static inline void
ckfp_keep(ckfp_argument_cache *argument)
{
	memcpy(argument->header, argument->filter.bytes, sizeof argument->header);
}

/* Open a value that is neither toasted nor compressed, and cache the result. */
ckf_filter *ckfp_open_cached(ckfp_argument_cache *argument, const struct varlena *value,
							 ckf_trust trust);

/* The same; if the header is cached, only take the address of the new bytes. */
static inline ckf_filter *
ckfp_reopen(ckfp_argument_cache *argument, const struct varlena *value, ckf_trust trust)
{
	size_t size = VARSIZE_ANY_EXHDR(value);

	if (unlikely(size < CKF_HEADER_SIZE || !ckfp_is_cached(argument, VARDATA_ANY(value), size)))
		return ckfp_open_cached(argument, value, trust);
	ckf_move(&argument->filter, VARDATA_ANY(value));
	argument->filter.room = size;
	return &argument->filter;
}

/* The same of a state, which changes its count and its size from row to row, and from group to
 * group. */
static inline ckf_filter *
ckfp_reopen_state(ckfp_argument_cache *argument, const struct varlena *value)
{
	const char *bytes = VARDATA(value);
	size_t size = VARSIZE(value) - VARHDRSZ;

	if (unlikely(size < CKF_HEADER_SIZE || argument->filter.size == 0 ||
				 (ckfp_differs(argument, bytes, 0) | ckfp_differs(argument, bytes, 1) |
				  ckfp_differs(argument, bytes, 3) | ckfp_differs(argument, bytes, 4) |
				  ckfp_differs(argument, bytes, 5)) != 0 ||
				 ckf_open_like(&argument->filter, bytes, size) != CKF_OK))
		return ckfp_open_cached(argument, value, CKF_STATE);
	return &argument->filter;
}

/* Detoast or decompress a value. The cache, which lives in `context`, keeps a value from a TOAST
 * table for the next call. All caches of a process that have the same value share one copy of it,
 * which lives as long as one of them keeps it. */
const struct varlena *ckfp_fetch(ckfp_argument_cache *argument, struct varlena *value,
								 MemoryContext context);

/* Does a cache of this process keep the value of a TOAST pointer? */
bool ckfp_is_fetched(const struct varatt_external *toast);

/* Open a value. If it must be detoasted, its copy is in the current memory context. */
void ckfp_open_datum(Datum value, ckf_trust trust, ckf_filter *filter);

/* Open a value to read its header only; the rest is not fetched. */
void ckfp_open_header(Datum value, ckf_filter *filter);

/* The same, but return the status and raise no error. */
ckf_status ckfp_try_header(Datum value, ckf_filter *filter);

/* The capacity in a double precision value such as 1e6. Raises an error if it is not an integer. */
int64 ckfp_whole_capacity(double capacity);

/* Parse an options text. *params keeps what the text does not name. */
void ckfp_parse_options(const text *options, ckf_params *params);

#endif
