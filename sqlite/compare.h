/*
 * compare.h - functions that compare two filters, and the functions of cuckoofilter_intersect_agg.
 */
#ifndef CKFS_COMPARE_H
#define CKFS_COMPARE_H

#include "function.h"

ckfs_function ckfs_sql_intersect;
ckfs_function ckfs_sql_overlap;
ckfs_function ckfs_sql_jaccard;
ckfs_function ckfs_intersect_step;
void ckfs_intersect_value(sqlite3_context *ctx);
void ckfs_intersect_final(sqlite3_context *ctx);

#endif
