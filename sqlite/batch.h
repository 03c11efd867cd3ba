/*
 * batch.h - the functions of cuckoofilter_add_agg.
 */
#ifndef CKFS_BATCH_H
#define CKFS_BATCH_H

#include "function.h"

ckfs_function ckfs_batch_step;
void ckfs_batch_value(sqlite3_context *ctx);
void ckfs_batch_final(sqlite3_context *ctx);

#endif
