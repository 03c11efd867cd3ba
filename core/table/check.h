/*
 * check.h - validate a table from an untrusted source.
 */
#ifndef CKF_TABLE_CHECK_H
#define CKF_TABLE_CHECK_H

#include "cuckoofilter.h"

/* Verify that each tag is possible in its bucket, and that the count is right. */
ckf_status ckf_table_check(const ckf_filter *t, ckf_check *check);

#endif
