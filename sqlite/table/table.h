/*
 * table.h - what the files of the virtual table share.  README.md has the map.
 *
 * Functions return a result code of SQLite; where it is no SQLITE_OK they have left the
 * sentence in table->base.zErrMsg, if there is more to say than the code does.
 */
#ifndef CKFS_TABLE_H
#define CKFS_TABLE_H

#include "../connection.h"
#include "../error.h"
#include "../hashed.h"
#include "cuckoofilter_chunk.h"

/* What the names of shadow tables end in, behind the table's name and a `_`. */
#define CKFS_SHADOW "chunk"

/* Columns, as xColumn and xBestIndex number them, and where xUpdate has their values. */
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

/* Statements over the shadow table, prepared when first needed. */
typedef enum ckfs_statement
{
	CKFS_FIND,      /* the chunk of a hash */
	CKFS_FROM,      /* all chunks from one on */
	CKFS_PUT,       /* a chunk, new or in place of the one of its id */
	CKFS_UNCOUNTED, /* only the number of adds that stored nothing */
	CKFS_DROP,      /* chunks from one to another go */
	CKFS_CLEAR,     /* all go */
	CKFS_STATEMENTS
} ckfs_statement;

/* Adds of one savepoint; see batches.c. */
typedef struct ckfs_batch
{
	struct ckfs_batch *older;
	uint64_t *hashes;
	size_t count, room;
	unsigned item_classes; /* of all of them */
	int level;             /* savepoints that were open when they were added */
	int written;           /* the same when they became rows, or CKFS_NOT_WRITTEN */
	bool busy;             /* the writer reads it: */
	bool gone;             /* meanwhile a rollback took its items back, */
	bool undone;           /* or its rows */
} ckfs_batch;

#define CKFS_NOT_WRITTEN (-1)

/* Adds of the transaction that are in memory. */
typedef struct ckfs_waiting
{
	ckfs_batch *newest;
	size_t count; /* items that are not written */
} ckfs_waiting;

/* How deep chunks were when last seen, by the top bits of their hashes: a hint, which the
 * chunk that is found by it confirms. */
typedef struct ckfs_depths
{
	uint8_t *depths; /* depth + 1; 0: never seen */
	unsigned bits;   /* it has 2^bits of them */
} ckfs_depths;

/* What became of an instance that is gone: the end of a sentence about its table. */
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
	struct ckfs_table *next; /* of the connection's tables; see ckfs_next_instance */
	char *schema, *name, *shadow;
	ckf_params params;
	ckf_chunks chunks;
	ckf_edit *edit; /* NULL until something is changed */
	sqlite3_stmt *statements[CKFS_STATEMENTS];
	ckfs_depths depths;
	ckfs_waiting waiting;
	uint64_t allowed;  /* adds that may come before the table's count is looked at again */
	uint64_t number;   /* of the connection's instances, in the order in which they came */
	const char *gone;  /* what became of an instance that must not be used; NULL: it is used */
	int gone_level;    /* a rollback to a savepoint before this one brings it back */
	int created_level; /* savepoints that were open when this transaction created the table */
	bool told;         /* SQLite tells it of savepoints, or need not do so */
	bool unused;       /* no statement has used it since this transaction created it */
	int level;         /* number of the next savepoint: how many are open */
	bool writing;      /* rows are being changed: nobody else may ask or change the table */
	bool stepping;     /* a statement of ours is at work */
	bool changing;     /* several rows are being changed: none or all of them must be */
	bool broken;       /* some are.  Where it ended so, nothing is asked or written */
	int broken_level;  /* until a rollback to a savepoint before this one */
	char *broken_by;   /* the error that broke it, or NULL */
	ckfs_state state;
	int cursors;        /* open ones */
	sqlite3_blob *blob; /* reads chunks by id, while a statement asks many questions */
	int questions;      /* that it has asked so far, up to some */
	uint8_t bytes[CKF_CHUNK_MAX];
} ckfs_table;

static inline ckfs_table *
ckfs_table_of(sqlite3_vtab *vtab)
{
	return (ckfs_table *)(void *)vtab;
}

/* ----------------------------------------------------------------- instances.c */

/*
 * SQLite may connect a table anew in the middle of a transaction, when something makes it read
 * its schema again: ATTACH of a file that is no database is enough.  What the first one has
 * written half, or keeps waiting, is of the same table.  So whatever asks for these things asks
 * for those of all instances.  The first is that which `other` NULL gives, the table among them;
 * behind the last one comes NULL.
 */
ckfs_table *ckfs_next_instance(const ckfs_table *table, const ckfs_table *other);

/* Come into the connection's list, and out of it. */
void ckfs_enlist(ckfs_table *table);
void ckfs_delist(ckfs_table *table);

/* No statement may use this instance any more. */
void ckfs_make_gone(ckfs_table *table, const char *how);

/* A table of this name comes, beside no other one: instances that have the name are of a table that
 * was rolled back. */
void ckfs_orphans_gone(ckfs_table *table, const char *name);

/* SQLite has connected the table anew.  An instance that was created, but not used, may be of a
 * table that was rolled back: SQLite does not tell it (ckfs_learn_level). */
void ckfs_unused_gone(ckfs_table *table);

/* The table got another name: its instances are gone until a rollback gives the old name back.
 * SQLite tells at least this one of rollbacks. */
void ckfs_make_renamed(ckfs_table *table, const char *name);

/*
 * The connection notes a RENAME, and the CREATE of a table that the same transaction drops.  A
 * rollback to a savepoint before this level undoes it, and makes all instances gone that were
 * connected after the one of this number.  ckfs_new_ddl returns NULL without memory, else what
 * ckfs_note_ddl takes, or sqlite3_free where the statement fails.
 */
typedef struct ckfs_ddl ckfs_ddl;
ckfs_ddl *ckfs_new_ddl(const ckfs_table *table, int level, uint64_t number);
void ckfs_note_ddl(ckfs_connection *connection, ckfs_ddl *ddl);

/* The table takes part in the transaction from now on.  Where no other one does, nobody has heard
 * what became of the DDL that was noted before: it is forgotten. */
void ckfs_instance_begin(ckfs_table *table);

/* Savepoint `number` ends; the transaction goes back to it, or to its beginning (-1); it ends. */
void ckfs_instance_release(ckfs_table *table, int number);
void ckfs_instance_roll_back(ckfs_table *table, int number);
void ckfs_instance_settle(ckfs_table *table);

/* -------------------------------------------------------------- arguments.c */

/* Read what stands behind USING cuckoofilter.  `once`: a name that is given twice is an error.
 * Version 1.3.0 created tables with such options; of these the last one counts. */
int ckfs_table_arguments(sqlite3 *db, bool once, int argc, const char *const *argv,
						 ckf_params *params, ckf_chunks *chunks, char **error);

/* ----------------------------------------------------------------- change.c */

/* A change of several rows: none is made, or all are, or the table is broken until a rollback. */
void ckfs_begin_change(ckfs_table *table);
void ckfs_end_change(ckfs_table *table, int rc);

/* Only a part of what must be whole is written. */
void ckfs_break(ckfs_table *table);

/* ----------------------------------------------------------------- shadow.c */

int ckfs_shadow_create(ckfs_table *table);
int ckfs_shadow_drop(ckfs_table *table);
int ckfs_shadow_rename(ckfs_table *table, const char *name);

/* Make SQLite tell the table of savepoints: one that was created in this transaction learns how
 * many are open.  Whether it worked is in table->told. */
void ckfs_learn_level(ckfs_table *table);

/* Make the table take part in the transaction, so that SQLite tells it how this ends. */
int ckfs_join_transaction(ckfs_table *table);

/* Finalize the statements. */
void ckfs_shadow_close(ckfs_table *table);

/* Leave a sentence of sqlite3_mprintf, and return the code; SQLITE_NOMEM for none. */
int ckfs_table_fail(ckfs_table *table, int code, char *sentence);

/* The same of a call of the engine. */
int ckfs_table_status(ckfs_table *table, ckf_status status, ckfs_subject subject);

/* The same where the shadow table is not what it must be. */
int ckfs_table_damaged(ckfs_table *table, int64_t id, const char *what);

/* The same where a change has not changed the rows that it must. */
int ckfs_table_kept(ckfs_table *table);

/* A statement, to be bound; NULL, with *rc set, where it cannot be prepared. */
sqlite3_stmt *ckfs_statement_of(ckfs_table *table, ckfs_statement which, int *rc);

/* Take a step; SQLITE_ROW or SQLITE_OK for SQLITE_DONE, after which, as after an error,
 * the statement is reset. */
int ckfs_step(ckfs_table *table, sqlite3_stmt *statement);

/* Take all steps of a statement that must change so many rows; -1: any number. */
int ckfs_change_rows(ckfs_table *table, sqlite3_stmt *statement, int rows);

/* The same with a statement of two integers. */
int ckfs_change_by(ckfs_table *table, ckfs_statement which, int64_t first, int64_t second,
				   int rows);

/* A row of the shadow table. */
typedef struct ckfs_row
{
	ckf_chunk chunk;
	int64_t id;
	unsigned item_classes; /* of items that were added here, at least */
	uint64_t
		uncounted; /* of a set: adds that stored nothing, because the item was stored already */
} ckfs_row;

/* Open the chunk of the row that CKFS_FIND or CKFS_FROM is at.  Its bytes stay until the
 * statement is stepped or reset. */
int ckfs_read_row(ckfs_table *table, sqlite3_stmt *statement, ckfs_row *row);

/* The row whose range has the hash; SQLITE_DONE: the table has none.  *statement is to be
 * reset after use. */
int ckfs_find_row(ckfs_table *table, uint64_t hash, sqlite3_stmt **statement, ckfs_row *row);

/* Write a row, new or in the place of its id. */
int ckfs_put(ckfs_table *table, int64_t id, const uint8_t *bytes, size_t size,
			 unsigned item_classes, uint64_t uncounted);

/* Is the table empty, as it has no row for some hash?  SQLITE_OK; else it is damaged. */
int ckfs_is_empty(ckfs_table *table);

/* Nothing may be read by id at a write, nor behind the last question of a statement. */
void ckfs_close_blob(ckfs_table *table);

/* Tell the engine how rows fill pages. */
int ckfs_page_room(ckfs_table *table);

/* ----------------------------------------------------------------- writer.c */

/* May the table be asked or changed?  An error where a change ended half way in this transaction,
 * where the writer is at work, also of another instance, or where the table was dropped. */
int ckfs_check_usable(ckfs_table *table);

/* Enter the writer, and leave it.  All changes of rows are made between the two; where the first
 * fails there is nothing to leave. */
int ckfs_start_write(ckfs_table *table, sqlite3_int64 *last_rowid);
void ckfs_end_write(ckfs_table *table, sqlite3_int64 last_rowid);

/* ------------------------------------------------------------------ count.c */

/* What all chunks have, waiting adds not among them. */
typedef struct ckfs_total
{
	uint64_t copies;
	uint64_t
		uncounted; /* of a set: adds that stored nothing, because the item was stored already */
	unsigned item_classes;
} ckfs_total;

/* What the chunk of this hash says about the number of copies. */
int ckfs_estimate(ckfs_table *table, uint64_t hash, double *copies);

int ckfs_count_copies(ckfs_table *table, ckfs_total *total);

/* ------------------------------------------------------------------ write.c */

/* Add one copy of each item, in ascending order; `whole` as ckf_edit_add has it.  *done: how
 * many were added, all if it does not fail. */
int ckfs_write_items(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
					 unsigned item_classes, size_t *done);

/* Take one copy away, now. */
int ckfs_write_removal(ckfs_table *table, uint64_t hash);

/* 'delete-all' */
int ckfs_write_nothing(ckfs_table *table);

/* ------------------------------------------------------------------- pack.c */

/* 'optimize' */
int ckfs_write_packed(ckfs_table *table);

/* Add whole hashes, in ascending order, if they are many beside what the table has; *many
 * tells whether they were. */
int ckfs_write_many(ckfs_table *table, const uint64_t *hashes, size_t n, unsigned item_classes,
					bool *many);

/* ---------------------------------------------------------------- waiting.c */

/* Note an add. */
int ckfs_wait(ckfs_table *table, ckfs_hashed item);

/* Write what waits, in other instances, too. */
int ckfs_write_waiting(ckfs_table *table);

/* ---------------------------------------------------------------- batches.c */

/* Note an add, while so many savepoints are open. */
int ckfs_waiting_add(ckfs_waiting *waiting, int level, ckfs_hashed item);

/* Savepoint `number` ends, or it begins, so that no older one of this number is left. */
void ckfs_waiting_release(ckfs_waiting *waiting, int number);

/* The transaction goes back to where savepoint `number` began. */
void ckfs_waiting_roll_back(ckfs_waiting *waiting, int number);

/* Forget all: the transaction has ended, or the table goes. */
void ckfs_waiting_drop(ckfs_waiting *waiting);

/* What waits counts as written, as 'delete-all' would have deleted it. */
void ckfs_waiting_settle(ckfs_waiting *waiting, int level);

/* Do adds wait from when fewer savepoints were open? */
bool ckfs_waiting_before(const ckfs_waiting *waiting, int level);

/* A batch that is to be written, or NULL. */
ckfs_batch *ckfs_waiting_next(const ckfs_waiting *waiting);

/* The writer, which set `busy`, has made the first `done` items rows while `level` savepoints were
 * open.  On an error it is not known which items are rows. */
int ckfs_waiting_written(ckfs_waiting *waiting, ckfs_batch *batch, size_t done, int level);

/* ---------------------------------------------------------------- reserve.c */

/* May `n` more items be added?  SQLITE_OK, or the error that the precision is used up.
 * `hash` is of one of them.  Where it comes close, what waits is written. */
int ckfs_reserve(ckfs_table *table, uint64_t hash, uint64_t n);

/* ------------------------------------------------------------------- find.c */

/* How many copies of the item are there?  At most 1 where `one` is enough to know. */
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

/* What cuckoofilter_export binds as an item, by which it learns which table it asks.  Each version
 * has its own name: no other one can read its memory. */
#define CKFS_WHICH "cuckoofilter-table-" CKF_VERSION

/* ----------------------------------------------------------------- export.c */

/* Let `tell` make the result of a function whose arguments name a table, and perhaps its schema.
 * What waits has been written, and nothing changes the table meanwhile. */
void ckfs_with_table(sqlite3_context *ctx, int argc, sqlite3_value **argv,
					 void (*tell)(sqlite3_context *ctx, ckfs_table *table));

/* Make an error of ours, or of SQLite's, the function's. */
void ckfs_function_failed(sqlite3_context *ctx, ckfs_table *table, int rc);

/* ----------------------------------------------------------------- update.c */

int ckfs_table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);

/* ---------------------------------------------------------------- command.c */

int ckfs_command(ckfs_table *table, sqlite3_value *command, sqlite3_value *item);

/* -------------------------------------------------------------- integrity.c */

/* Look at all chunks.  *found: what is wrong, of sqlite3_mprintf, or NULL. */
int ckfs_check_table(ckfs_table *table, char **found);

/* xIntegrity */
int ckfs_table_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
						 char **found);

#endif
