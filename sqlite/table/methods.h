/*
 * methods.h - what SQLite calls: the methods of the module, and what serves them.
 */
#ifndef CKFS_METHODS_H
#define CKFS_METHODS_H

#include "changes.h"

/* The columns, as xColumn and xBestIndex number them, and the place of their values in the
 * arguments of xUpdate. */
enum
{
	CKFS_COLUMN_ITEM,
	CKFS_COLUMN_COPIES,
	CKFS_COLUMN_COMMAND,
	CKFS_UPDATE_COLUMNS = 2
};

/* Plans, from the worst to the best.  All but the last one are errors. */
enum
{
	CKFS_PLAN_NONE,      /* no equality on item, or none that the join allows */
	CKFS_PLAN_LATER,     /* an equality with a column of a table that is read later */
	CKFS_PLAN_COLLATION, /* an equality under another collation than BINARY */
	CKFS_PLAN_ITEM
};

/* ------------------------------------------------------------------------------- arguments.c */

/* Read the arguments of USING cuckoofilter.  `unique`: a name that is given twice is an error.
 * Version 1.3.0 created tables with such arguments; for these the last one counts. */
int ckfs_table_arguments(sqlite3 *db, bool unique, int argc, const char *const *argv,
						 ckf_params *params, ckf_chunks *chunks, char **error);

/* ------------------------------------------------------------------------------------ find.c */

/* Count the copies of an item; with `one`, at most 1. */
int ckfs_look_up(ckfs_table *table, ckfs_hashed item, bool one, unsigned *copies);

void ckfs_hints_end(ckfs_hints *hints);

/* ---------------------------------------------------------------------------------- cursor.c */

int ckfs_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
int ckfs_cursor_close(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
					   sqlite3_value **argv);
int ckfs_cursor_next(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_eof(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column);
int ckfs_cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid);

/* ---------------------------------------------------------------------------------- export.c */

/* Run a function that computes the result of a function whose arguments name a table and perhaps
 * its schema.  The pending adds are written before, and nothing changes the table meanwhile. */
void ckfs_with_table(sqlite3_context *ctx, int argc, sqlite3_value **argv,
					 void (*run)(sqlite3_context *ctx, ckfs_table *table));

/* Report an error of the table or of SQLite as the result of the function.  `message` may be
 * NULL. */
void ckfs_function_failed(sqlite3_context *ctx, const char *message, int rc);

/* --------------------------------------------------------------------------- insert_delete.c */

int ckfs_table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);

/* --------------------------------------------------------------------------------- command.c */

int ckfs_command(ckfs_table *table, sqlite3_value *command, sqlite3_value *item);

/* ------------------------------------------------------------------------------- integrity.c */

/* Check all chunks. */
int ckfs_check_table(ckfs_table *table);

/* xIntegrity */
int ckfs_table_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
						 char **found);

#endif
