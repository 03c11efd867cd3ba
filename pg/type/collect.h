/*
 * collect.h - hashes that come in any order: a collector in memory of PostgreSQL's.
 */
#ifndef CKFP_COLLECT_H
#define CKFP_COLLECT_H

#include "host.h"

#pragma GCC visibility push(hidden)

/* Make room in a collector, whose blocks come from a context. */
void ckfp_collect_room(ckf_collector *collector, MemoryContext context);

/* The same, and all its hashes are sorted: it may be the input of a rebuild. */
void ckfp_collect_settle(ckf_collector *collector, MemoryContext context);

/* Take a hash of an item of this class. */
static inline void
ckfp_collect(ckf_collector *collector, MemoryContext context, uint64 hash, unsigned item_class)
{
	while (unlikely(!ckf_collect(collector, hash, item_class)))
		ckfp_collect_room(collector, context);
}

/* Take the hashes of a filter. */
void ckfp_collect_filter(ckf_collector *collector, MemoryContext context, const ckf_filter *in);

#pragma GCC visibility pop

#endif
