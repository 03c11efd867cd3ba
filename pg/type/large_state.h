/*
 * large_state.h - the large state of an aggregate, in memory of its own.
 *
 * The executor copies a flat state each time that it grows, which for a
 * gigabyte takes as long as the growth itself.  So a large one is an expanded
 * object: the executor hands on a pointer to it, and flattens it where it
 * leaves the process.
 */
#ifndef CKFP_LARGE_STATE_H
#define CKFP_LARGE_STATE_H

#include "host.h"

#include "utils/expandeddatum.h"

#pragma GCC visibility push(hidden)

/* Bytes of a state, from which its next growth makes it a large one. */
#define CKFP_LARGE_STATE ((size_t)16 << 20)

typedef struct ckfp_large_state
{
	ExpandedObjectHeader header; /* its context has the filter's varlena too */
	ckf_filter filter;           /* owned (owned.h) */
} ckfp_large_state;

/* The large state behind a pointer; NULL: there is none. */
ckfp_large_state *ckfp_large_state_of(const struct varlena *value);

/* A filter for a large state is made in memory of its own, which lives as long as
 * `parent`, ... */
MemoryContext ckfp_large_state_context(MemoryContext parent);

/* ... and becomes a large state there. */
ckfp_large_state *ckfp_new_large_state(MemoryContext context, const ckf_filter *owned);

/* The value that the executor hands on. */
static inline Datum
ckfp_large_state_datum(const ckfp_large_state *large)
{
	return EOHPGetRWDatum(&large->header);
}

#pragma GCC visibility pop

#endif
