/*
 * filter.h - the filter of a join in one process: gathered, built, asked.
 */
#ifndef CKFP_JOIN_FILTER_H
#define CKFP_JOIN_FILTER_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_join_filter
{
	MemoryContext parent;  /* where its memory comes from */
	MemoryContext context; /* all its memory; NULL while it has none */
	size_t limit;          /* bytes that it may take, gathering included */
	double fpr;            /* share of other rows that it lets by */
	uint64 *hashes;        /* gathered, while it is not built */
	size_t n;
	size_t room;
	size_t keys;       /* gathered in all, doubles in a row taken once */
	size_t size;       /* bytes of the finished filter */
	ckf_filter filter; /* what is asked */
} ckfp_join_filter;

/* An empty one, in memory below `parent`. */
void ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr);

/* Make room for more hashes: false where that would take too much memory. */
bool ckfp_filter_grow(ckfp_join_filter *filter);

/* Gather a hash: false where that would take too much memory. */
static inline bool
ckfp_filter_gather(ckfp_join_filter *filter, uint64 hash)
{
	if (filter->n > 0 && filter->hashes[filter->n - 1] == hash)
		return true;
	if (unlikely(filter->n == filter->room) && !ckfp_filter_grow(filter))
		return false;
	filter->hashes[filter->n++] = hash;
	return true;
}

/* Make the filter of what was gathered: false where it takes too much memory. */
bool ckfp_filter_build(ckfp_join_filter *filter);

/* Free what it has. */
void ckfp_filter_free(ckfp_join_filter *filter);

#pragma GCC visibility pop

#endif
