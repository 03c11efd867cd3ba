/*
 * block.h - what the files of collectors share: blocks and runs.
 */
#ifndef CKF_BLOCK_H
#define CKF_BLOCK_H

#include "cuckoofilter.h"

typedef struct ckf_block
{
	struct ckf_block *next;
	uint64_t capacity; /* hashes that the block has room for */
	uint64_t count; /* sorted hashes in it; 0 while it is being filled (see ckf_collector.next) */
	uint64_t hash[];
} ckf_block;

/* Sorted hashes in a chain of blocks. */
typedef struct ckf_run
{
	ckf_block *first;
	uint64_t count;
} ckf_run;

#define CKF_MOST_RUNS 40

/* What hosts do not see of a collector. */
typedef struct __attribute__((may_alias)) ckf_inside
{
	unsigned most;       /* copies of a hash that are kept */
	bool settling;       /* all hashes are being sorted into one run */
	ckf_block *block;    /* the block that is being filled, or NULL */
	ckf_block *spare[2]; /* the blocks to fill next, or NULL */
	ckf_block *spent;    /* the first block of a list that the host may free */
	ckf_run run[CKF_MOST_RUNS];
	unsigned runs;
	ckf_run merged;       /* a merge: the new run, from the last two runs */
	ckf_block *last;      /* a merge: the last block of the new run */
	size_t from[2];       /* a merge: hashes read from the first block of either old run */
	const ckf_filter *in; /* a filter whose hashes are being copied into a run, or NULL */
	uint64_t taken;       /* hashes copied from it so far */
} ckf_inside;

_Static_assert(sizeof(ckf_inside) <= sizeof((ckf_collector *)NULL)->inside,
			   "a collector is too small");

static inline ckf_inside *
ckf_inside_of(const ckf_collector *collector)
{
	return (ckf_inside *)(uintptr_t)collector->inside;
}

/* Take a spare block for at least `capacity` hashes.  A much larger block stays a spare block.
 * NULL: there is none, and the host must give one of collector->block_size bytes. */
ckf_block *ckf_find_block(ckf_collector *collector, uint64_t capacity);

/* Release a block: it becomes a spare block, or the host may free it. */
void ckf_release_block(ckf_collector *collector, ckf_block *block);

static inline uint64_t
ckf_hashes_in_runs(const ckf_inside *s)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < s->runs; i++)
		sum += s->run[i].count;
	return sum;
}

/* Put a run on top of the others. */
static inline void
ckf_push_run(ckf_inside *s, ckf_run run)
{
	s->run[s->runs++] = run;
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
