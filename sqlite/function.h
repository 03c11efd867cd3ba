/*
 * function.h - the SQL functions of scalar.c, info.c, which.c and table/. The functions of other
 * files are declared in their own headers.
 */
#ifndef CKFS_FUNCTION_H
#define CKFS_FUNCTION_H

#include "argument.h"

/* The user data of add, remove and contains: how they read the arguments after the filter. */
typedef struct ckfs_items
{
	ckfs_hasher *hash;
	int count; /* the number of arguments of an item */
} ckfs_items;

typedef void ckfs_function(sqlite3_context *ctx, int argc, sqlite3_value **argv);

ckfs_function ckfs_sql_create;
ckfs_function ckfs_sql_bytes;
ckfs_function ckfs_sql_open;
ckfs_function ckfs_sql_add;      /* ckfs_items */
ckfs_function ckfs_sql_remove;   /* ckfs_items */
ckfs_function ckfs_sql_contains; /* ckfs_items */
ckfs_function ckfs_sql_add_all;
ckfs_function ckfs_sql_remove_all;
ckfs_function ckfs_sql_contains_any;
ckfs_function ckfs_sql_contains_all;
ckfs_function ckfs_sql_copies;
ckfs_function ckfs_sql_union;
ckfs_function ckfs_sql_sum;
ckfs_function ckfs_sql_compact;
ckfs_function ckfs_sql_count;
ckfs_function ckfs_sql_fpr;
ckfs_function ckfs_sql_hash;
ckfs_function ckfs_sql_version;
ckfs_function ckfs_sql_info;
ckfs_function ckfs_sql_export;     /* table/export.c */
ckfs_function ckfs_sql_table_info; /* table/info.c */
ckfs_function ckfs_sql_which;

#endif
