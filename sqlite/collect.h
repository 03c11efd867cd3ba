/*
 * collect.h - a collector of hashes in memory from sqlite3_malloc64.
 */
#ifndef CKFS_COLLECT_H
#define CKFS_COLLECT_H

#include "hashed.h"

/* The most copies of a hash that a batch of adds or removals keeps.  More copies make no difference
 * to a filter. */
#define CKFS_MOST_COPIES 16

/* Give the collector the memory that it asks for, or settle it: sort it and merge its runs.  Each
 * of these functions returns false, with an error, if memory is short, the bytes of a filter are
 * damaged, or the statement is interrupted. */
bool ckfs_collect_room(sqlite3_context *ctx, ckf_collector *collector);
bool ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector);

bool ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item);
bool ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in);

/* Free the memory of the collector. */
void ckfs_collect_end(ckf_collector *collector);

#endif
