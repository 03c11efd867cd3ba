/*
 * pending.c - the adds of a statement that adds several items wait in memory, and are written in
 * the order of their hashes.  So all adds to one chunk are written together, and chunks are written
 * in the order of their pages.
 *
 * Adds wait only while a statement runs whose end SQLite reports: one that adds several items has a
 * savepoint, or is a transaction of its own.  SQLite does not report the end of an INSERT of one
 * row within a transaction.  So the first add of a statement is written immediately.  The next one
 * is known to be of the same statement if sqlite3_total_changes has not changed since: SQLite
 * increases it when a statement ends that has inserted a row.  It does so, too, after each
 * statement of a trigger, whose adds are therefore written one by one, unless the statement that
 * fires it is a transaction of its own.  The adds of a statement with RETURNING are written one by
 * one, too.
 *
 * Waiting adds are written before anything is read, before a savepoint begins, and at the end of
 * the statement: when its savepoint ends, or its transaction (xSync).  So all of them were added
 * after the newest savepoint, and a rollback to any savepoint takes all of them back.
 */
#include "changes.h"

#include <string.h>

/* The most hashes that wait.  Each has 8 bytes. */
#ifndef CKFS_MOST_PENDING
#define CKFS_MOST_PENDING ((size_t)1 << 24)
#endif
#define CKFS_FIRST_ROOM 64

static int
ckfs_append(ckfs_pending *pending, ckfs_hashed item)
{
	size_t room = pending->room > 0 ? 2 * pending->room : CKFS_FIRST_ROOM;
	uint64_t *hashes;

	if (pending->count == pending->room)
	{
		hashes = sqlite3_realloc64(pending->hashes, room * sizeof(uint64_t));
		if (!hashes)
			return SQLITE_NOMEM;
		pending->hashes = hashes;
		pending->room = room;
	}
	pending->hashes[pending->count++] = item.hash;
	pending->item_classes |= item.item_class;
	return SQLITE_OK;
}

bool
ckfs_is_alone(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	int writers = 0;

	if (!sqlite3_get_autocommit(db))
		return false;
	while (writers <= 1 && (statement = sqlite3_next_stmt(db, statement)) != NULL)
		writers += sqlite3_stmt_busy(statement) && !sqlite3_stmt_readonly(statement);
	return writers <= 1;
}

/* Whether a statement with RETURNING is running.  It ends when the program has read its rows or
 * resets it.  Before that, the program may set what makes a write fail, or begin a transaction. */
static bool
ckfs_returns_rows(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;

	while ((statement = sqlite3_next_stmt(db, statement)) != NULL)
		if (sqlite3_column_count(statement) > 0 && !sqlite3_stmt_readonly(statement) &&
			sqlite3_stmt_busy(statement))
			return true;
	return false;
}

/* Whether SQLite will report the end of the statement that adds an item, and soon. */
static bool
ckfs_may_wait(const ckfs_table *table)
{
	const ckfs_pending *pending = &table->pending;

	/* another library may read the rows only, or it is not known which rollback takes the item
	 * back */
	if (table->connection->replaced || ckfs_instance_without_savepoints(table))
		return false;
	if (pending->count > 0 || pending->total == 0)
		return pending->count > 0; /* they are of this statement */
	return (pending->total == sqlite3_total_changes(table->db) || ckfs_is_alone(table->db)) &&
		   !ckfs_returns_rows(table->db);
}

int
ckfs_add(ckfs_table *table, ckfs_hashed item)
{
	size_t done;
	int rc = SQLITE_OK;

	if (ckfs_may_wait(table))
	{
		if (table->pending.count >= CKFS_MOST_PENDING)
			rc = ckfs_write_pending(table);
		return rc == SQLITE_OK ? ckfs_append(&table->pending, item) : rc;
	}
	/* refuse triggers and the like now: SQLite reports an error of this call with its message */
	rc = ckfs_prepare_add(table);
	if (rc == SQLITE_OK)
		rc = ckfs_write_items(table, &item.hash, 1, true, item.item_class, &done);
	table->pending.total = rc == SQLITE_OK ? sqlite3_total_changes(table->db) : 0;
	return rc;
}

/* Sort the list.  This needs the same amount of memory again. */
static int
ckfs_sort_pending(ckfs_pending *pending)
{
	uint64_t *scratch = sqlite3_malloc64(pending->count * sizeof(uint64_t));
	uint64_t *sorted;

	if (!scratch)
		return SQLITE_NOMEM;
	sorted = ckf_sort_hashes(pending->hashes, scratch, pending->count);
	if (sorted == scratch)
	{
		scratch = pending->hashes;
		pending->hashes = sorted;
		pending->room = pending->count;
	}
	sqlite3_free(scratch);
	return SQLITE_OK;
}

static int
ckfs_write_list(ckfs_table *table)
{
	ckfs_pending *pending = &table->pending;
	size_t done;
	int rc = ckfs_sort_pending(pending);

	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_write_items(table, pending->hashes, pending->count, true, pending->item_classes,
						  &done);
	if (pending->count > done) /* if no rollback has dropped them meanwhile */
	{
		pending->count -= done;
		memmove(pending->hashes, pending->hashes + done, pending->count * sizeof(uint64_t));
	}
	else
		ckfs_pending_drop(table);
	if (rc == SQLITE_OK)
		pending->total = sqlite3_total_changes(table->db);
	return rc;
}

int
ckfs_write_pending(ckfs_table *table)
{
	ckfs_table *other = NULL;
	int rc = ckfs_check_usable(table);

	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
	{
		if (other->pending.count > 0)
			rc = ckfs_write_list(other);
		if (rc != SQLITE_OK && other != table)
		{
			sqlite3_free(table->base.zErrMsg);
			table->base.zErrMsg = other->base.zErrMsg; /* the caller reports it */
			other->base.zErrMsg = NULL;
		}
	}
	return rc;
}
