/*
 * merge.h - the functions of cuckoofilter_union_agg and cuckoofilter_sum_agg.
 */
#ifndef CKFS_MERGE_H
#define CKFS_MERGE_H

#include "function.h"

ckfs_function ckfs_merge_step;
void ckfs_merge_value(sqlite3_context *ctx);
void ckfs_merge_final(sqlite3_context *ctx);

#endif
