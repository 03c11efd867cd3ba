/*
 * table.h - what a table of cuckoo buckets, plain or semi-sorted, brings to
 * lookups (table.c), and to a rebuild as its source (table_scan.c) and its
 * sink (table_sink.c).
 */
#ifndef CKF_TABLE_H
#define CKF_TABLE_H

#include "filter/operations.h"

extern const struct ckf_source ckf_table_source;
extern const struct ckf_sink ckf_table_sink;

#endif
