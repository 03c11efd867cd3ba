/*
 * function.h - the SQL functions of scalar.c, info.c, which.c and table/. The functions of other
 * files are declared in their own headers.
 */
#ifndef CKFS_FUNCTION_H
#define CKFS_FUNCTION_H

#include "argument.h"

/* How add, remove and contains read the arguments after the filter. */
typedef struct ckfs_items
{
	ckfs_hasher *hash;
	int count; /* the number of arguments of an item */
} ckfs_items;

typedef void ckfs_function(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* The comments name the type of the function's user data. */
ckfs_function ckfs_sql_create;
ckfs_function ckfs_sql_bytes;
ckfs_function ckfs_sql_open;
ckfs_function ckfs_sql_add;           /* ckfs_items */
ckfs_function ckfs_sql_remove;        /* ckfs_items */
ckfs_function ckfs_sql_contains;      /* ckfs_items */
ckfs_function ckfs_sql_change_all;    /* ckf_goal */
ckfs_function ckfs_sql_contains_some; /* bool: search for an item that is in the filter */
ckfs_function ckfs_sql_copies;
ckfs_function ckfs_sql_rebuild; /* ckf_goal */
ckfs_function ckfs_sql_count;
ckfs_function ckfs_sql_fpr;
ckfs_function ckfs_sql_hash;
ckfs_function ckfs_sql_version;
ckfs_function ckfs_sql_info;
ckfs_function ckfs_sql_export;     /* table/export.c */
ckfs_function ckfs_sql_table_info; /* table/info.c */
ckfs_function ckfs_sql_which;

#endif
