/*
 * state.h - the state of an aggregate, a cuckoofilter in one of two forms.
 *
 * A small one is flat: transitions change it in place, in the room that its chunk of memory
 * has.  A larger one is returned from the short-lived memory of the row, and the executor copies
 * it into the aggregate's.  A large one is an expanded object, which the executor takes over as it
 * is, and flattens where it leaves the process: over items a collector (collected.c), of a merge
 * some filters (merged.c).
 */
#ifndef CKFP_STATE_H
#define CKFP_STATE_H

#include "host.h"

#include "utils/expandeddatum.h"

#pragma GCC visibility push(hidden)

/* Hashes of a flat state over items: as many as a chunk of 1 kB has. */
#define CKFP_MOST_FLAT 121

/* Bytes of a flat state of a merge. */
#define CKFP_MOST_FLAT_MERGE 8192

/* Bytes of a state that leaves its process: a row has it, beside the columns of its group. */
#define CKFP_MOST_BYTES (MaxAllocSize - 65536)

/* The memory in which the states of an aggregate live; an error outside of one. */
MemoryContext ckfp_require_aggregate(FunctionCallInfo fcinfo);

/* The room behind a flat state, which is a chunk of memory of its own. */
size_t ckfp_room_of_chunk(const struct varlena *value);

/* ------------------------------------------------------------- collected.c */

typedef struct ckfp_collected
{
	ExpandedObjectHeader header;
	ckf_collector collector; /* in the object's memory, as its blocks are */
} ckfp_collected;

/* The one behind a pointer; NULL: it is something else. */
ckfp_collected *ckfp_collected_of(const struct varlena *value);

/* A new one, in memory below `parent`, with the promise and the hashes of a filter. */
ckfp_collected *ckfp_new_collected(MemoryContext parent, const ckf_filter *filter);

/* Its items, as the input of a rebuild. */
const ckf_filter *ckfp_collected_items(ckfp_collected *collected);

/* ---------------------------------------------------------------- merged.c */

typedef struct ckfp_merged
{
	ExpandedObjectHeader header;
	ckf_goal goal;                    /* CKF_MERGE_UNION or CKF_MERGE_SUM */
	ckf_filter part[CKF_MOST_INPUTS]; /* owned (owned.h), in the object's memory */
	unsigned parts;
} ckfp_merged;

/* The same for a merge, which takes a filter. */
ckfp_merged *ckfp_merged_of(const struct varlena *value);
ckfp_merged *ckfp_new_merged(MemoryContext parent, const ckf_filter *filter, ckf_goal goal);
void ckfp_merged_take(ckfp_merged *merged, const ckf_filter *in);

/* The filter of the aggregate's end. */
void ckfp_merged_finish(const ckfp_merged *merged, ckf_filter *owned);

#pragma GCC visibility pop

#endif
