/*
 * block.h - a block of hashes, and a collector as what a rebuild reads.
 */
#ifndef CKF_BLOCK_H
#define CKF_BLOCK_H

#include "cuckoofilter.h"

struct ckf_block
{
	ckf_block *next;
	uint64_t places; /* for hashes, */
	uint64_t count;  /* and how many there are: sorted, but in the block that is filled */
	uint64_t hash[];
};

/* A spare block of so many places, or NULL: the host is to give one.  One that is much larger is
 * left for what needs it. */
ckf_block *ckf_find_block(ckf_collector *collector, uint64_t places);

/* A block is no longer in use: it is kept as a spare one, or the host may free it. */
void ckf_release_block(ckf_collector *collector, ckf_block *block);

/* Put a run on top of the others. */
static inline void
ckf_push_run(ckf_collector *collector, ckf_run run)
{
	collector->run[collector->runs++] = run;
}

/* Places for what is left of a run that is being made.  false: the host is to give a block. */
bool ckf_extend_merged(ckf_collector *collector, uint64_t left);

/* A step of merging the last two runs.  CKF_OK: the one that they become has taken their place;
 * CKF_MORE; CKF_ROOM: the host is to give a block. */
ckf_status ckf_merge_runs(ckf_collector *collector);

/* Make the collector's filter one that a rebuild can read: it has the hashes of the run that
 * all have become. */
void ckf_bind_collector(ckf_collector *collector);

#endif
