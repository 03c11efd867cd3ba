/*
 * block.h - the blocks and runs of a collector.
 */
#ifndef CKF_BLOCK_H
#define CKF_BLOCK_H

#include "cuckoofilter.h"

struct ckf_block
{
	ckf_block *next;
	uint64_t capacity; /* hashes that the block has room for */
	uint64_t count; /* sorted hashes in it; 0 while it is being filled (see ckf_collector.next) */
	uint64_t hash[];
};

/* Take a spare block for at least `capacity` hashes.  A much larger block stays a spare block.
 * NULL: there is none, and the host must give one of collector->block_size bytes. */
ckf_block *ckf_find_block(ckf_collector *collector, uint64_t capacity);

/* Release a block: it becomes a spare block, or the host may free it. */
void ckf_release_block(ckf_collector *collector, ckf_block *block);

/* Put a run on top of the others. */
static inline void
ckf_push_run(ckf_collector *collector, ckf_run run)
{
	collector->run[collector->runs++] = run;
}

/* Append a block for the `left` remaining hashes of the run that is being merged.  false: the host
 * must give a block. */
bool ckf_extend_merged(ckf_collector *collector, uint64_t left);

/* A step of merging the last two runs.  CKF_OK: the merged run replaces them;
 * CKF_MORE; CKF_ROOM: the host must give a block. */
ckf_status ckf_merge_runs(ckf_collector *collector);

/* Let a rebuild read the collector's filter: set its count to the number of hashes, and its source
 * to the collector. */
void ckf_bind_collector(ckf_collector *collector);

#endif
