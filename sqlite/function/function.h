/*
 * function.h - the SQL functions of this folder and of table/.
 */
#ifndef CKFS_FUNCTION_H
#define CKFS_FUNCTION_H

#include "../argument.h"
#include "../connection.h"

/* How a function reads the arguments of an item. */
typedef struct ckfs_items
{
	ckfs_hasher *hash;
	int count; /* the number of arguments of an item */
} ckfs_items;

typedef void ckfs_function(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* The comments name the user data of the function: items, or the type of `what`. */
ckfs_function ckfs_sql_create;
ckfs_function ckfs_sql_bytes;
ckfs_function ckfs_sql_open;
ckfs_function ckfs_sql_change;        /* items, ckf_operation */
ckfs_function ckfs_sql_contains;      /* items */
ckfs_function ckfs_sql_change_all;    /* ckf_operation */
ckfs_function ckfs_sql_contains_some; /* bool: search for an item that is in the filter */
ckfs_function ckfs_sql_copies;
ckfs_function ckfs_sql_count;
ckfs_function ckfs_sql_fpr;
ckfs_function ckfs_sql_hash;
ckfs_function ckfs_sql_part;
ckfs_function ckfs_sql_version;
ckfs_function ckfs_sql_info;
ckfs_function ckfs_sql_export;     /* table/export.c */
ckfs_function ckfs_sql_table_info; /* table/info.c */
ckfs_function ckfs_sql_which;

/* Aggregates over items: aggregate.c */
ckfs_function ckfs_step_item; /* items */
ckfs_function ckfs_inverse;
void ckfs_value(sqlite3_context *ctx);
void ckfs_final(sqlite3_context *ctx);

/* cuckoofilter_union_agg and cuckoofilter_sum_agg: merge.c */
ckfs_function ckfs_merge_step; /* ckf_operation */
void ckfs_merge_value(sqlite3_context *ctx);
void ckfs_merge_final(sqlite3_context *ctx);

/* cuckoofilter_add_agg: batch.c */
ckfs_function ckfs_batch_step;
void ckfs_batch_value(sqlite3_context *ctx);
void ckfs_batch_final(sqlite3_context *ctx);

/* Rebuilds and comparisons of filters, and cuckoofilter_intersect_agg: compare.c */
ckfs_function ckfs_sql_rebuild; /* ckf_operation */
typedef enum ckfs_compared
{
	CKFS_OVERLAP,
	CKFS_OVERLAP_ERROR,
	CKFS_JACCARD
} ckfs_compared;
ckfs_function ckfs_sql_compare; /* ckfs_compared */
ckfs_function ckfs_intersect_step;
void ckfs_intersect_value(sqlite3_context *ctx);
void ckfs_intersect_final(sqlite3_context *ctx);

/* Register the virtual table: table/module.c.  SQLite calls `forget` with the connection when it
 * drops the module. */
int ckfs_register_table(sqlite3 *db, ckfs_connection *connection, void (*forget)(void *));

#endif
