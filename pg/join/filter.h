/*
 * filter.h - the filter of a join in one process: gather hashes, build the filter, look up
 * rows.
 */
#ifndef CKFP_JOIN_FILTER_H
#define CKFP_JOIN_FILTER_H

#include "join.h"

#pragma GCC visibility push(hidden)

typedef struct ckfp_join_filter
{
	MemoryContext parent;     /* the parent of `context` */
	MemoryContext context;    /* the context of all its memory; NULL: it has none */
	size_t limit;             /* the limit of its memory, including the gathered hashes */
	double fpr;               /* the false positive rate */
	ckf_collector *collector; /* gathers the hashes until the filter is built; then NULL */
	uint64 last;              /* the hash gathered last, */
	size_t n;                 /* and the number of hashes; equal ones in a row count once */
	size_t taken;             /* bytes that the engine has allocated */
	size_t keys;              /* the number of distinct hashes in the filter */
	size_t size;              /* bytes of the finished filter */
	ckf_filter filter;        /* the filter that rows are looked up in */
} ckfp_join_filter;

/* Initialize an empty filter, whose memory is below `parent`. */
void ckfp_filter_init(ckfp_join_filter *filter, MemoryContext parent, size_t limit, double fpr);

/* Make room for more hashes. False if that would exceed the limit of memory. */
bool ckfp_filter_make_room(ckfp_join_filter *filter);

/* Gather a hash. False if that would exceed the limit of memory. */
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

/* Sort the gathered hashes, for ckfp_filter_build and ckf_collected. False if that would exceed
 * the limit of memory. */
bool ckfp_filter_settle(ckfp_join_filter *filter);

/* Build the filter from the hashes, which are sorted. False if it would exceed the limit of
 * memory. */
bool ckfp_filter_build(ckfp_join_filter *filter);

/* Free all its memory. */
void ckfp_filter_free(ckfp_join_filter *filter);

#pragma GCC visibility pop

#endif
