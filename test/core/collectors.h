/*
 * collectors.h - for the suites of collectors: filters of given hashes, and what a collector has.
 */
#ifndef COLLECTORS_H
#define COLLECTORS_H

#include "state.h"

/* n random hashes in ascending order, with `shift` leading zeros or more; free(). */
uint64_t *new_hashes(uint64_t n, unsigned shift);

/* A filter of these hashes in this order, even if the order is wrong. */
void filter_of(owned *o, const uint64_t *hashes, uint64_t n);

/* The last block of a run. */
const ckf_block *last_block(const ckf_block *block);

/* Do what a collector asks for, with blocks of exactly the size that it asks for; returns how this
 * ends.  Checks how much each step of a merge writes.  last[i] becomes the last block of run i
 * before the runs are merged; NULL: nobody asks. */
ckf_status make_room_exactly(ckf_collector *c, const ckf_block *last[2]);

/* Check that a settled collector has these hashes: for ckf_collected from any of them on, and for a
 * scan. */
void check_collected(const ckf_collector *c, const uint64_t *hashes, uint64_t n);

#endif
