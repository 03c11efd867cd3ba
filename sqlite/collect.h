/*
 * collect.h - hashes that come in any order: a collector in memory of SQLite's.
 */
#ifndef CKFS_COLLECT_H
#define CKFS_COLLECT_H

#include "hashed.h"

/* Copies of a hash that a batch of adds or removals has: more make no difference to a filter. */
#define CKFS_MOST_COPIES 16

/* Make room in a collector, or settle it.  Each of these is false, with an error, where memory
 * or a filter's bytes fail, or the statement is interrupted. */
bool ckfs_collect_room(sqlite3_context *ctx, ckf_collector *collector);
bool ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector);

bool ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item);
bool ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in);

/* Free its memory. */
void ckfs_collect_end(ckf_collector *collector);

#endif
