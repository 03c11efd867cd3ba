/*
 * filter.h - the filter of a join in one process: gathered, built, asked.
 */
#ifndef CKFP_JOIN_FILTER_H
#define CKFP_JOIN_FILTER_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_join_filter
{
	MemoryContext parent;     /* where its memory comes from */
	MemoryContext context;    /* all its memory; NULL while it has none */
	size_t limit;             /* bytes that it may take, gathering included */
	double fpr;               /* share of other rows that it lets by */
	ckf_collector *collector; /* gathers, while the filter is not built; or NULL */
	uint64 last;              /* the hash that came last, */
	size_t n;                 /* and how many came, doubles in a row taken once */
	size_t taken;             /* bytes that the engine has taken for it */
	size_t keys;              /* distinct ones, of which it was built */
	size_t size;              /* bytes of the finished filter */
	ckf_filter filter;        /* what is asked */
} ckfp_join_filter;

/* An empty one, in memory below `parent`. */
void ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr);

/* Make room for more hashes: false where that would take too much memory. */
bool ckfp_filter_make_room(ckfp_join_filter *filter);

/* Gather a hash: false where that would take too much memory. */
static inline bool
ckfp_filter_gather(ckfp_join_filter *filter, uint64 hash)
{
	if (filter->n > 0 && filter->last == hash)
		return true;
	while (
		unlikely(filter->collector == NULL || !ckf_collect(filter->collector, hash, CKF_ITEM_HASH)))
		if (!ckfp_filter_make_room(filter))
			return false;
	filter->last = hash;
	filter->n++;
	return true;
}

/* Sort what was gathered, for ckfp_filter_build and ckf_collected: false where that would take
 * too much memory. */
bool ckfp_filter_settle(ckfp_join_filter *filter);

/* Make the filter of what was gathered and settled: false where it takes too much memory. */
bool ckfp_filter_build(ckfp_join_filter *filter);

/* Free what it has. */
void ckfp_filter_free(ckfp_join_filter *filter);

#pragma GCC visibility pop

#endif
