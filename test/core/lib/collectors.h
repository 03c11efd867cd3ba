/*
 * collectors.h - for the suites of collectors: a host that checks each step of a collector, and
 * what a collector has.
 */
#ifndef COLLECTORS_H
#define COLLECTORS_H

#include "state.h"

#include "collect/block.h"

#define BLOCK_HEAD 24  /* bytes of a block before its hashes */
#define MOST_HELD 4000 /* blocks */

/* A collector in guarded memory, and what its host knows. */
typedef struct gathering
{
	ckf_collector *c;
	ckf_inside *inside; /* of it */
	owned empty;        /* a filter without items that has its parameters */
	unsigned most;      /* copies that are kept of equal hashes */
	bool exact;         /* blocks have exactly the size that was asked for */
	uint64_t steps;     /* so far */
	uint64_t stop;      /* the number of the step at which the host fails; 0: none */
	void *block[MOST_HELD];
	size_t size[MOST_HELD];
	size_t blocks, bytes, most_bytes;
} gathering;

/* Begin with the parameters of a filter; end, and check that each block comes back once. */
void gathering_start(gathering *g, const owned *promise, unsigned most);
void gathering_end(gathering *g);

/* Do what the collector asks for, and check what it asks for and does: the size of blocks, the
 * length of steps, and which runs are merged.  CKF_ROOM: the host has failed. */
ckf_status gathering_room(gathering *g);

/* Take hashes; false: the host has failed. */
bool gathering_take(gathering *g, const uint64_t *hashes, uint64_t n);

/* Take a filter of these hashes in this order, even if the order is wrong.  What is not CKF_OK ends
 * the collector. */
ckf_status gathering_filter(gathering *g, const uint64_t *hashes, uint64_t n);
void filter_of(owned *o, const uint64_t *hashes, uint64_t n);

/* Sort all hashes into one run, and check that the collector has the n that were given, in any
 * order: for ckf_collected from any of them on, and for a scan.  `all`: each has as many copies as
 * are kept, and no more.  Else a few more may be kept, but never a number that was not given. */
void gathering_settle(gathering *g, const uint64_t *hashes, uint64_t n, bool all);

/* n random hashes in ascending order, with `shift` leading zeros or more; free(). */
uint64_t *new_hashes(uint64_t n, unsigned shift);

#endif
