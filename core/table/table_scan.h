/*
 * table_scan.h - a table as the source of a rebuild.
 */
#ifndef CKF_TABLE_SCAN_H
#define CKF_TABLE_SCAN_H

#include "rebuild/scan.h"

/* Read the prefixes of a table, one segment at a time. */
void ckf_scan_table(ckf_scan *scan, const ckf_filter *table);

extern const ckf_source ckf_table_source;

#endif
