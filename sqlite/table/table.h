/*
 * table.h - declarations that the files of the virtual table share.  README.md describes the files.
 *
 * Functions return a result code of SQLite.  If it is not SQLITE_OK, the message is in
 * table->base.zErrMsg, unless the code says enough.
 */
#ifndef CKFS_TABLE_H
#define CKFS_TABLE_H

#include "../connection.h"
#include "../error.h"
#include "../hashed.h"
#include "cuckoofilter_chunk.h"

/* The name of a shadow table is the table's name, `_`, and this. */
#define CKFS_SHADOW "chunk"

/* The columns, as xColumn and xBestIndex number them, and the place of their values in the
 * arguments of xUpdate. */
enum
{
	CKFS_COLUMN_ITEM,
	CKFS_COLUMN_COPIES,
	CKFS_COLUMN_COMMAND,
	CKFS_UPDATE_COLUMNS = 2
};

/* Plans. */
enum
{
	CKFS_PLAN_NONE, /* without `item =`: an error */
	CKFS_PLAN_ITEM
};

/* Statements on the shadow table.  Each is prepared when it is first used. */
typedef enum ckfs_statement
{
	CKFS_FIND,      /* the chunk of a hash */
	CKFS_FROM,      /* all chunks from an id on */
	CKFS_PUT,       /* write a chunk: a new row, or the row of its id */
	CKFS_UNCOUNTED, /* write only the number of uncounted adds */
	CKFS_DROP,      /* delete the chunks of a range of ids */
	CKFS_CLEAR,     /* delete all chunks */
	CKFS_STATEMENTS
} ckfs_statement;

/* The waiting adds of one savepoint; see batches.c. */
typedef struct ckfs_batch
{
	struct ckfs_batch *older;
	uint64_t *hashes;
	size_t count, room;
	unsigned item_classes; /* of all items */
	int level;             /* number of open savepoints when they were added */
	int written; /* number of open savepoints when they became rows, or CKFS_NOT_WRITTEN */
	bool busy;   /* the writer is reading it */
	bool gone;   /* meanwhile a rollback took its items back */
	bool undone; /* meanwhile a rollback undid its rows */
} ckfs_batch;

#define CKFS_NOT_WRITTEN (-1)

/* The waiting adds of the transaction. */
typedef struct ckfs_waiting
{
	ckfs_batch *newest;
	size_t count; /* items that are not written yet */
} ckfs_waiting;

/* Hints: the depth that chunks had when they were last read, by the top bits of their hashes.  The
 * chunk that is found by a hint confirms it. */
typedef struct ckfs_depths
{
	uint8_t *depths; /* depth + 1; 0: unknown */
	unsigned bits;   /* there are 2^bits hints */
} ckfs_depths;

/* Why an instance is gone: the end of an error message about its table. */
#define CKFS_DROPPED "was dropped"
#define CKFS_RENAMED "was renamed while a query had it open"
#define CKFS_ROLLED_BACK "was rolled back while a query had it open"

/* No rollback brings it back, or undoes its creation. */
#define CKFS_NEVER_BACK (-1)
#define CKFS_NOT_CREATED (-1)

/* Whether the table takes part in the transaction.  Test builds assert the order of SQLite's calls.
 */
typedef enum ckfs_state
{
	CKFS_OUTSIDE,
	CKFS_BEGUN,
	CKFS_SYNCED
} ckfs_state;

#ifdef CKF_TEST_BUILD
#include <assert.h>
#define ckfs_assert(condition) assert(condition)
#else
#define ckfs_assert(condition) ((void)0)
#endif

typedef struct ckfs_table
{
	sqlite3_vtab base;
	sqlite3 *db;
	ckfs_connection *connection;
	struct ckfs_table *next; /* the next instance of the connection; see ckfs_next_instance */
	char *schema, *name, *shadow;
	ckf_params params;
	ckf_chunks chunks;
	ckf_edit *edit; /* NULL until the first change */
	sqlite3_stmt *statements[CKFS_STATEMENTS];
	ckfs_depths depths;
	ckfs_waiting waiting;
	uint64_t allowed;  /* adds that are allowed before the number of items is estimated again */
	uint64_t number;   /* number of the instance in the connection, in the order of connecting */
	const char *gone;  /* why the instance must not be used; NULL: it may be used */
	int gone_level;    /* a rollback to a savepoint before this level makes it usable again */
	int created_level; /* number of open savepoints when this transaction created the table */
	bool told;         /* SQLite reports savepoints to it, or need not do so */
	bool unused;       /* no statement has used it since this transaction created it */
	int level;         /* number of open savepoints, and of the next one */
	bool writing;      /* rows are being changed: nobody else may read or change the table */
	bool stepping;     /* one of our statements is running */
	bool changing;     /* several rows are being changed, all of them or none */
	bool broken;       /* such a change ended early: nothing may be read or written */
	int broken_level;  /* until a rollback to a savepoint before this level */
	char *broken_by;   /* the error that broke it, or NULL */
	ckfs_state state;
	int cursors;        /* number of open cursors */
	sqlite3_blob *blob; /* reads chunks by id in a statement that makes many lookups */
	int questions;      /* lookups of this statement so far, up to a limit */
	uint8_t bytes[CKF_CHUNK_MAX];
} ckfs_table;

static inline ckfs_table *
ckfs_table_of(sqlite3_vtab *vtab)
{
	return (ckfs_table *)(void *)vtab;
}

/* ----------------------------------------------------------------- instances.c */

/*
 * SQLite may connect a table again in the middle of a transaction if it must read its schema again:
 * a failed ATTACH of a file that is not a database is enough.  Incomplete changes and waiting adds
 * of the first instance belong to the same table.  So code that depends on them visits all
 * instances.  If `other` is NULL, the result is the first instance; after the last one it is NULL.
 * The table itself is one of them.
 */
ckfs_table *ckfs_next_instance(const ckfs_table *table, const ckfs_table *other);

/* Add an instance to the connection's list, and remove it. */
void ckfs_enlist(ckfs_table *table);
void ckfs_delist(ckfs_table *table);

/* No statement may use this instance any more. */
void ckfs_make_gone(ckfs_table *table, const char *how);

/* A new table gets this name, so there was no other one: existing instances with this name belong
 * to a table whose creation was rolled back. */
void ckfs_orphans_gone(ckfs_table *table, const char *name);

/* SQLite has connected the table again.  An instance that was created but never used may belong to
 * a table whose creation was rolled back, which SQLite does not report (ckfs_learn_level). */
void ckfs_unused_gone(ckfs_table *table);

/* The table was renamed: its instances are gone until a rollback restores the old name.  SQLite
 * reports rollbacks at least to this instance. */
void ckfs_make_renamed(ckfs_table *table, const char *name);

/*
 * The connection stores a RENAME, and the CREATE of a table that the same transaction drops.  A
 * rollback to a savepoint before this level undoes it, and makes all instances gone that were
 * connected after this number. ckfs_new_ddl returns NULL if memory is short.  Pass the result to
 * ckfs_note_ddl, or to sqlite3_free if the statement fails.
 */
typedef struct ckfs_ddl ckfs_ddl;
ckfs_ddl *ckfs_new_ddl(const ckfs_table *table, int level, uint64_t number);
void ckfs_note_ddl(ckfs_connection *connection, ckfs_ddl *ddl);

/* The table takes part in the transaction from now on.  If no other table does, SQLite reported to
 * none of them what became of the stored schema changes, so they are forgotten. */
void ckfs_instance_begin(ckfs_table *table);

/* Savepoint `number` ends; the transaction is rolled back to it, or to its beginning (-1); the
 * transaction ends. */
void ckfs_instance_release(ckfs_table *table, int number);
void ckfs_instance_roll_back(ckfs_table *table, int number);
void ckfs_instance_settle(ckfs_table *table);

/* -------------------------------------------------------------- arguments.c */

/* Read the arguments of USING cuckoofilter.  `unique`: a name that is given twice is an error.
 * Version 1.3.0 created tables with such arguments; for these the last one counts. */
int ckfs_table_arguments(sqlite3 *db, bool unique, int argc, const char *const *argv,
						 ckf_params *params, ckf_chunks *chunks, char **error);

/* ----------------------------------------------------------------- change.c */

/* A change of several rows: all of them change, or none, or the table is broken until a
 * rollback. */
void ckfs_begin_change(ckfs_table *table);
void ckfs_end_change(ckfs_table *table, int rc);

/* Mark a change as incomplete. */
void ckfs_break(ckfs_table *table);

/* ----------------------------------------------------------------- shadow.c */

int ckfs_shadow_create(ckfs_table *table);
int ckfs_shadow_drop(ckfs_table *table);
int ckfs_shadow_rename(ckfs_table *table, const char *name);

/* Make SQLite report savepoints to the table.  A table that was created in this transaction learns
 * how many are open. table->told says whether it succeeded. */
void ckfs_learn_level(ckfs_table *table);

/* Make the table take part in the transaction, so that SQLite reports how it ends. */
int ckfs_join_transaction(ckfs_table *table);

/* Finalize the statements. */
void ckfs_shadow_close(ckfs_table *table);

/* Set the error message, from sqlite3_mprintf, and return the code; SQLITE_NOMEM if the message is
 * NULL. */
int ckfs_table_fail(ckfs_table *table, int code, char *sentence);

/* The same for an error of the engine. */
int ckfs_table_status(ckfs_table *table, ckf_status status, ckfs_subject subject);

/* The same for a damaged shadow table. */
int ckfs_table_damaged(ckfs_table *table, int64_t id, const char *what);

/* The same for a change that did not change the rows it must change. */
int ckfs_table_kept(ckfs_table *table);

/* A statement that is ready to be bound.  NULL, with *rc set: it cannot be prepared. */
sqlite3_stmt *ckfs_statement_of(ckfs_table *table, ckfs_statement which, int *rc);

/* Run a step.  SQLITE_ROW; or SQLITE_OK after the last row.  After that, and after an error, the
 * statement is reset. */
int ckfs_step(ckfs_table *table, sqlite3_stmt *statement);

/* Run all steps of a statement that must change this number of rows; -1: any number. */
int ckfs_change_rows(ckfs_table *table, sqlite3_stmt *statement, int rows);

/* The same for a statement with two integer parameters. */
int ckfs_change_by(ckfs_table *table, ckfs_statement which, int64_t first, int64_t second,
				   int rows);

/* A row of the shadow table. */
typedef struct ckfs_row
{
	ckf_chunk chunk;
	int64_t id;
	unsigned item_classes; /* of the items that were added here, at least */
	uint64_t uncounted;    /* of a set: adds of items that were stored already */
} ckfs_row;

/* Open the chunk of the current row of CKFS_FIND or CKFS_FROM.  Its bytes stay valid until the
 * statement is stepped or reset. */
int ckfs_read_row(ckfs_table *table, sqlite3_stmt *statement, ckfs_row *row);

/* Find the row whose range has the hash.  SQLITE_DONE: the table has no rows.  The caller resets
 * *statement after use. */
int ckfs_find_row(ckfs_table *table, uint64_t hash, sqlite3_stmt **statement, ckfs_row *row);

/* Write a row: a new one, or the row with this id. */
int ckfs_put(ckfs_table *table, int64_t id, const uint8_t *bytes, size_t size,
			 unsigned item_classes, uint64_t uncounted);

/* Verify that the table is empty if no row covers some hash.  SQLITE_OK, or the table is
 * damaged. */
int ckfs_is_empty(ckfs_table *table);

/* Close the BLOB handle: before a write, and after the last lookup of a statement. */
void ckfs_close_blob(ckfs_table *table);

/* Tell the engine how rows fill pages. */
int ckfs_page_room(ckfs_table *table);

/* ----------------------------------------------------------------- writer.c */

/* Whether the table may be read or changed.  It is an error if a change in this transaction is
 * incomplete, if the writer is running, also for another instance, or if the table was dropped. */
int ckfs_check_usable(ckfs_table *table);

/* Enter the writer, and leave it.  All changes of rows are made in between.  If entering fails,
 * there is nothing to leave. */
int ckfs_start_write(ckfs_table *table, sqlite3_int64 *last_rowid);
void ckfs_end_write(ckfs_table *table, sqlite3_int64 last_rowid);

/* ------------------------------------------------------------------ count.c */

/* Totals of all chunks, without waiting adds. */
typedef struct ckfs_total
{
	uint64_t copies;
	uint64_t uncounted; /* of a set: adds of items that were stored already */
	unsigned item_classes;
} ckfs_total;

/* Estimate the number of copies from the chunk of this hash. */
int ckfs_estimate(ckfs_table *table, uint64_t hash, double *copies);

int ckfs_count_copies(ckfs_table *table, ckfs_total *total);

/* ------------------------------------------------------------------ write.c */

/* Add one copy of each item, in ascending order; `whole` as in ckf_edit_add.  *done: the number of
 * items that were added, which is n unless the call fails. */
int ckfs_write_items(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
					 unsigned item_classes, size_t *done);

/* Remove one copy immediately. */
int ckfs_write_removal(ckfs_table *table, uint64_t hash);

/* 'delete-all' */
int ckfs_write_nothing(ckfs_table *table);

/* ------------------------------------------------------------------- pack.c */

/* 'optimize' */
int ckfs_write_packed(ckfs_table *table);

/* Add whole hashes, in ascending order, if they are many compared with the items of the table.
 * *many: whether they were. */
int ckfs_write_many(ckfs_table *table, const uint64_t *hashes, size_t n, unsigned item_classes,
					bool *many);

/* ---------------------------------------------------------------- waiting.c */

/* Add an item, which waits. */
int ckfs_wait(ckfs_table *table, ckfs_hashed item);

/* Write the waiting adds, also those of other instances. */
int ckfs_write_waiting(ckfs_table *table);

/* ---------------------------------------------------------------- batches.c */

/* Add an item while `level` savepoints are open. */
int ckfs_waiting_add(ckfs_waiting *waiting, int level, ckfs_hashed item);

/* Savepoint `number` ends.  Or it begins, so an older one with this number has ended. */
void ckfs_waiting_release(ckfs_waiting *waiting, int number);

/* The transaction is rolled back to the beginning of savepoint `number`. */
void ckfs_waiting_roll_back(ckfs_waiting *waiting, int number);

/* Drop all waiting adds: the transaction has ended, or the table is dropped. */
void ckfs_waiting_drop(ckfs_waiting *waiting);

/* Treat the waiting adds as written, since 'delete-all' would have deleted them. */
void ckfs_waiting_settle(ckfs_waiting *waiting, int level);

/* Whether adds wait from a time when fewer savepoints were open. */
bool ckfs_waiting_before(const ckfs_waiting *waiting, int level);

/* A batch to write, or NULL. */
ckfs_batch *ckfs_waiting_next(const ckfs_waiting *waiting);

/* The writer, which set `busy`, has made the first `done` items rows while `level` savepoints were
 * open.  After an error it is not known which items are rows. */
int ckfs_waiting_written(ckfs_waiting *waiting, ckfs_batch *batch, size_t done, int level);

/* ---------------------------------------------------------------- reserve.c */

/* Whether `n` more items can be added.  SQLITE_OK, or the error that the precision is used up.
 * `hash` belongs to one of them.  Near the limit, waiting adds are written first. */
int ckfs_reserve(ckfs_table *table, uint64_t hash, uint64_t n);

/* ------------------------------------------------------------------- find.c */

/* Count the copies of an item; with `one`, at most 1. */
int ckfs_ask(ckfs_table *table, ckfs_hashed item, bool one, unsigned *copies);

void ckfs_depths_end(ckfs_depths *depths);

/* ----------------------------------------------------------------- cursor.c */

int ckfs_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
int ckfs_cursor_close(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
					   sqlite3_value **argv);
int ckfs_cursor_next(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_eof(sqlite3_vtab_cursor *cursor);
int ckfs_cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column);
int ckfs_cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid);

/* The type of the pointer that cuckoofilter_export binds as an item, to find the table.  Each
 * version has its own type, so no other version can read its memory. */
#define CKFS_WHICH "cuckoofilter-table-" CKF_VERSION

/* ----------------------------------------------------------------- export.c */

/* Run `tell`, which computes the result of a function whose arguments name a table and perhaps its
 * schema.  The waiting adds are written before, and nothing changes the table meanwhile. */
void ckfs_with_table(sqlite3_context *ctx, int argc, sqlite3_value **argv,
					 void (*tell)(sqlite3_context *ctx, ckfs_table *table));

/* Report an error of the table or of SQLite as the result of the function. */
void ckfs_function_failed(sqlite3_context *ctx, ckfs_table *table, int rc);

/* ----------------------------------------------------------------- update.c */

int ckfs_table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);

/* ---------------------------------------------------------------- command.c */

int ckfs_command(ckfs_table *table, sqlite3_value *command, sqlite3_value *item);

/* -------------------------------------------------------------- integrity.c */

/* Check all chunks.  *found: the damage, from sqlite3_mprintf, or NULL. */
int ckfs_check_table(ckfs_table *table, char **found);

/* xIntegrity */
int ckfs_table_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
						 char **found);

#endif
