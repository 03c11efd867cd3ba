/*
 * collect.h - a collector of hashes in memory from sqlite3_malloc64.
 */
#ifndef CKFS_COLLECT_H
#define CKFS_COLLECT_H

#include "hashed.h"

/* Settle a collector, or take a hash or the items of a filter.  Each of these functions returns
 * false, with an error, if memory is short, the bytes of a filter are damaged, or the statement is
 * interrupted. */
bool ckfs_collect_settle(sqlite3_context *ctx, ckf_collector *collector);

bool ckfs_collect(sqlite3_context *ctx, ckf_collector *collector, ckfs_hashed item);
bool ckfs_collect_filter(sqlite3_context *ctx, ckf_collector *collector, const ckf_filter *in);

/* Free the memory of the collector. */
void ckfs_collect_end(ckf_collector *collector);

#endif
