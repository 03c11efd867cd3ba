/*
 * storage.h - the shadow table: its statements and rows.
 */
#ifndef CKFS_STORAGE_H
#define CKFS_STORAGE_H

#include "table.h"

/* ---------------------------------------------------------------------------------- shadow.c */

int ckfs_shadow_create(ckfs_table *table);
int ckfs_shadow_drop(ckfs_table *table);
int ckfs_shadow_rename(ckfs_table *table, const char *name); /* after its statements are closed */

/* Make SQLite report savepoints to the instance that has created the table in this transaction, if
 * there is one.  Its `gets_savepoints` says whether it succeeded. */
void ckfs_learn_level(ckfs_table *table);

/* Make the table take part in the transaction, so that SQLite reports how it ends. */
int ckfs_join_transaction(ckfs_table *table);

/* ------------------------------------------------------------------------------ statements.c */

/* Prepare a statement, and free its SQL, from sqlite3_mprintf. */
int ckfs_prepare(ckfs_table *table, char *sql, unsigned flags, sqlite3_stmt **statement);

/* Finalize the statements. */
void ckfs_shadow_close(ckfs_table *table);

/* Set the error message, and return the code; or SQLITE_NOMEM. */
CKF_LIKE_PRINTF int ckfs_table_fail(ckfs_table *table, int code, const char *format, ...);

/* The same of a message from sqlite3_mprintf.  SQLITE_ERROR, or SQLITE_NOMEM if it is NULL. */
int ckfs_table_set_error(ckfs_table *table, char *sentence);

/* The same for an error of the engine. */
int ckfs_table_status(ckfs_table *table, ckf_status status, ckf_about subject);

/* The same for an instance that is invalid. */
int ckfs_table_invalid(ckfs_table *table, const char *how);

/* The same for a damaged shadow table. */
int ckfs_table_damaged(ckfs_table *table, int64_t id, const char *what);

/* The same for a change that did not change the rows it must change. */
int ckfs_write_suppressed(ckfs_table *table);

/* The same for an error of SQLite, whose message it is. */
int ckfs_sql_failed(ckfs_table *table, int rc);

/* Whether a statement has one of the values, of which the last is NULL, in a column of any of its
 * rows.  Frees the SQL. */
int ckfs_any_row(ckfs_table *table, char *sql, int column, const char *const *values, bool *any);

/* What is proved about a statement since SQLite compiled it. */
unsigned *ckfs_proved(ckfs_table *table, ckfs_statement which);

/* A statement that is ready to be bound.  NULL, with *rc set: it cannot be prepared. */
sqlite3_stmt *ckfs_statement_of(ckfs_table *table, ckfs_statement which, int *rc);

/* Prepare the statements that add items, to refuse triggers and the like before an item waits. */
int ckfs_prepare_add(ckfs_table *table);

/* Run a step.  SQLITE_ROW; or SQLITE_OK after the last row.  After that, and after an error, the
 * statement is reset. */
int ckfs_step(ckfs_table *table, sqlite3_stmt *statement);

/* Run all steps of a bound statement that must change this number of rows; -1: any number. */
int ckfs_change_rows(ckfs_table *table, ckfs_statement which, int rows);

/* The same for a statement with two integer parameters. */
int ckfs_change_by(ckfs_table *table, ckfs_statement which, int64_t first, int64_t second,
				   int rows);

/* Tell the engine how rows fill pages. */
int ckfs_page_room(ckfs_table *table);

/* Close the BLOB handle: before a write, and after the last lookup of a statement. */
void ckfs_close_blob(ckfs_table *table);

/* ------------------------------------------------------------------------------------ rows.c */

/* The bits of the column item_classes. */
#define CKFS_CLASSES 0x7ff

/* A row of the shadow table. */
typedef struct ckfs_row
{
	ckf_chunk chunk;
	int64_t id;
	unsigned item_classes; /* of the items that were added here, at least; how merged filters held
							* decimals (ckf_number_form) from bit 8 on */
	uint64_t duplicates;   /* of a set: adds of items that were stored already */
} ckfs_row;

/*
 * Read all rows with CKFS_ALL, or those from an id on with CKFS_FROM, in the order of their ids:
 * after ckfs_start_rows, ckfs_next_row returns SQLITE_ROW for each, and SQLITE_OK after the last
 * one.  After that, and after an error, the statement is reset; a caller that ends earlier resets
 * it.  The bytes of a chunk stay valid until then, and until the next call.
 */
int ckfs_start_rows(ckfs_table *table, ckfs_statement which, int64_t from);
int ckfs_next_row(ckfs_table *table, ckfs_statement which, ckfs_row *row);
void ckfs_end_rows(ckfs_table *table, ckfs_statement which);

/* Find the row whose range has the hash.  SQLITE_DONE: the table has no rows.  After SQLITE_OK the
 * caller ends CKFS_FIND when it has used the row. */
int ckfs_find_row(ckfs_table *table, uint64_t hash, ckfs_row *row);

/* Write a row: a new one, or, if `old` is not NULL, in place of this one. */
int ckfs_put(ckfs_table *table, const ckfs_row *old, const ckfs_row *row);

/* Write only the number of duplicate adds of a row. */
int ckfs_put_duplicates(ckfs_table *table, int64_t id, uint64_t duplicates);

/* Verify that the table has no rows.  SQLITE_OK; SQLITE_CORRUPT_VTAB: it has rows. */
int ckfs_is_empty(ckfs_table *table);

/* Totals of all chunks, without pending adds. */
typedef struct ckfs_total
{
	uint64_t copies;
	uint64_t duplicates; /* of a set: adds of items that were stored already */
	unsigned item_classes;
} ckfs_total;

/* Estimate the number of copies from the chunk of this hash. */
int ckfs_estimate(ckfs_table *table, uint64_t hash, double *copies);

int ckfs_count_copies(ckfs_table *table, ckfs_total *total);

#endif
