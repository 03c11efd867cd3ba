/*
 * table.h - an instance of a filter table, and the instances of a connection.  README.md describes
 * the files.
 *
 * Four headers stand on each other: table.h; storage.h, the shadow table; changes.h, how items are
 * added and removed; methods.h, what SQLite calls.  A file includes the first one that is enough.
 *
 * Functions return a result code of SQLite.  If it is not SQLITE_OK, the message is in
 * table->base.zErrMsg, unless the code says enough.
 */
#ifndef CKFS_TABLE_H
#define CKFS_TABLE_H

#include "../connection.h"
#include "../error.h"
#include "cuckoofilter_chunk.h"

/* The name of a shadow table is the table's name, `_`, and this. */
#define CKFS_SHADOW "chunk"

/* Statements on the shadow table.  Each is prepared when it is first used. */
typedef enum ckfs_statement
{
	CKFS_FIND,           /* the chunk of a hash */
	CKFS_ALL,            /* all chunks */
	CKFS_FROM,           /* all chunks from an id on */
	CKFS_PUT,            /* write a new row */
	CKFS_CHANGE,         /* write a row that is there */
	CKFS_PUT_DUPLICATES, /* write only its number of duplicate adds */
	CKFS_DROP,           /* delete the chunks of a range of ids */
	CKFS_CLEAR,          /* delete all chunks */
	CKFS_STATEMENTS
} ckfs_statement;

/* A prepared statement, and what is proved about it until SQLite compiles it again, as it does
 * after an authorizer or a PRAGMA was set; see rows.c. */
typedef struct ckfs_prepared
{
	sqlite3_stmt *statement;
	int compiled; /* how often it was compiled again when the proof was made */
	unsigned proved;
} ckfs_prepared;

/* Proved of INSERT, UPDATE and DELETE: no trigger, index or foreign key takes part. */
#define CKFS_ALONE 8u

/* The adds of the running statement, since the newest savepoint, that are not written yet. */
typedef struct ckfs_pending
{
	uint64_t *hashes;
	size_t count, room;
	unsigned item_classes; /* of all items */
	int total;             /* sqlite3_total_changes after the last add that was written; 0: none */
} ckfs_pending;

/* What was known of a chunk when its row was last read. */
typedef struct ckfs_hint
{
	uint8_t depth; /* depth + 1; 0: unknown */
	uint8_t item_classes;
} ckfs_hint;

/* Hints, by the top bits of the hashes.  The chunk that is found by a hint confirms it. */
typedef struct ckfs_hints
{
	ckfs_hint *hints;
	unsigned bits; /* there are 2^bits hints */
} ckfs_hints;

/* Why an instance is invalid: the end of an error message about its table. */
#define CKFS_DROPPED "was dropped"
#define CKFS_RENAMED "was renamed while a query had it open"
#define CKFS_ROLLED_BACK "was rolled back while a query had it open"

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
	struct ckfs_table **chain; /* the first instance with the same hash of the name, or NULL */
	struct ckfs_table *next;   /* in this chain; see ckfs_next_instance */
	uint32_t name_hash;
	char *schema, *name, *shadow;
	ckf_params params;
	ckf_chunks chunks;
	ckf_edit *edit; /* NULL until the first change */
	ckfs_prepared prepared[CKFS_STATEMENTS];
	ckfs_hints hints;
	ckfs_pending pending;
	uint64_t allowed;     /* adds that are allowed before the number of items is estimated again */
	uint64_t number;      /* number of the instance in the connection, in the order of connecting */
	const char *invalid;  /* why the instance must not be used; NULL: it may be used */
	bool unverified;      /* another instance may have its name; see ckfs_check_name */
	bool gets_savepoints; /* SQLite reports savepoints to it, or need not do so */
	int level;            /* open savepoints; they are numbered from 0, so this is the next one */
	bool stepping;        /* one of our statements is running: nobody else may use the table */
	bool broken;          /* a change of several rows ended early: nothing may be read or written */
	int broken_level;     /* a rollback to a savepoint with a smaller number undoes that change */
	char *broken_by;      /* the error that broke it, or NULL */
	ckfs_state state;
	sqlite3_int64 last_rowid; /* of the connection, when the change began */
	int cursors;              /* number of open cursors */
	sqlite3_blob *blob;       /* reads chunks by id in a statement that makes many lookups */
	int lookups;              /* lookups of this statement so far, up to a limit */
	uint8_t bytes[CKF_CHUNK_MAX];
} ckfs_table;

static inline ckfs_table *
ckfs_table_of(sqlite3_vtab *vtab)
{
	return (ckfs_table *)(void *)vtab;
}

/* ------------------------------------------------------------------------------- instances.c */

/*
 * SQLite may connect a table again in the middle of a transaction if it must read its schema again:
 * a failed ATTACH of a file that is not a database is enough.  Incomplete changes and pending adds
 * of the first instance belong to the same table.  So code that depends on them visits all
 * instances.  If `other` is NULL, the result is the first instance; after the last one it is NULL.
 * The table itself is one of them.
 */
ckfs_table *ckfs_next_instance(const ckfs_table *table, const ckfs_table *other);

/* The instance that has created the table in this transaction, if it does not hear of all
 * savepoints yet.  A rollback to one can undo the creation unnoticed. */
ckfs_table *ckfs_instance_without_savepoints(const ckfs_table *table);

/* Add an instance to those of the connection, and remove it. */
void ckfs_enlist(ckfs_table *table);
void ckfs_delist(ckfs_table *table);

/* This transaction creates or renames the table.  A rollback that undoes it makes the instances
 * unverified that were connected after this number. */
void ckfs_note_ddl(ckfs_table *table, uint64_t number);

/* Savepoint `number` ends; the transaction is rolled back to it, or to its beginning (-1). */
void ckfs_note_release(ckfs_connection *connection, int number);
void ckfs_note_rollback(ckfs_connection *connection, int number);

/* The type of the pointer that is bound as an item, to find the instance that SQLite uses.  Each
 * version has its own type, so no other version can read its memory. */
#define CKFS_INSTANCE_TAG "cuckoofilter-table-" CKF_VERSION

/* Find out whether an unverified instance is the one that has its name.  If so, it is no longer
 * invalid or unverified. */
int ckfs_check_name(ckfs_table *table);

/* Drop the pending adds: they were taken back, or the table was emptied or dropped. */
void ckfs_pending_drop(ckfs_table *table);

#endif
