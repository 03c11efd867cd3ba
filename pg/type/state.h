/*
 * state.h - the state of an aggregate, a cuckoofilter in one of two forms.
 *
 * A small state is flat: transitions change it in place, in the spare room of its chunk of memory.
 * If it needs a larger chunk, the transition returns one in the short-lived memory of the row, and
 * the executor copies it into the memory of the aggregate.
 *
 * A large state is an expanded object, which the executor adopts, and flattens when it leaves the
 * process. Over items it is a collector, over filters a list of filters.
 */
#ifndef CKFP_STATE_H
#define CKFP_STATE_H

#include "host.h"

#include "utils/expandeddatum.h"

/* The most hashes of a flat state over items: those that fit into a chunk of 1 kB. */
#define CKFP_MOST_FLAT 121

/* The most bytes of a flat state of a merge. */
#define CKFP_MOST_FLAT_MERGE 8192

/* The most bytes of a state that leaves its process: a row also has the columns of its group. */
#define CKFP_MOST_BYTES (MaxAllocSize - 65536)

/* The memory context for the states of an aggregate; an error if this is not an aggregate. */
MemoryContext ckfp_require_aggregate(FunctionCallInfo fcinfo);

/* The room of a flat state, which is a chunk of memory of its own: what its memory context says
 * that it has given, which is often more than was asked for. Without it each added hash is a copy:
 * groups of 5 rows take 12 % more instructions, groups of 20 take 22 %. */
size_t ckfp_room_of_chunk(const struct varlena *value);

/* -------------------------------------------------------------- over items */

typedef struct ckfp_collected
{
	ExpandedObjectHeader header;
	ckf_collector collector; /* in the object's memory, as its blocks are */
} ckfp_collected;

/* The collector of a value; NULL: the value is something else. */
ckfp_collected *ckfp_collected_of(const struct varlena *value);

/* A new collector, in memory below `parent`, with the parameters and the hashes of a filter. */
ckfp_collected *ckfp_new_collected(MemoryContext parent, const ckf_filter *filter);

/* The items of a collector, as the input of a rebuild. */
const ckf_filter *ckfp_collected_items(ckfp_collected *collected);

/* ------------------------------------------------------------ over filters */

typedef struct ckfp_merged
{
	ExpandedObjectHeader header;
	ckf_merger merger; /* its filters are owned (owned.h), in the object's memory */
} ckfp_merged;

/* The same for a merge; a new one begins with a filter. */
ckfp_merged *ckfp_merged_of(const struct varlena *value);
ckfp_merged *ckfp_new_merged(MemoryContext parent, const ckf_filter *filter,
							 ckf_operation operation);
void ckfp_merged_take(ckfp_merged *merged, const ckf_filter *in);

#endif
