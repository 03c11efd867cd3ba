/*
 * check.h - could a table have been built?
 */
#ifndef CKF_TABLE_CHECK_H
#define CKF_TABLE_CHECK_H

#include "cuckoofilter.h"

/* Recount, and is every slot possible? */
ckf_status ckf_table_check(const ckf_filter *t, ckf_check *check);

#endif
