/*
 * waiting.c - the adds of a statement that adds several items wait in memory, and are written in
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
#ifndef CKFS_MOST_WAITING
#define CKFS_MOST_WAITING ((size_t)1 << 24)
#endif
#define CKFS_FIRST_ROOM 64

static int
ckfs_append(ckfs_waiting *waiting, ckfs_hashed item)
{
	size_t room = waiting->room > 0 ? 2 * waiting->room : CKFS_FIRST_ROOM;
	uint64_t *hashes;

	if (waiting->count == waiting->room)
	{
		hashes = sqlite3_realloc64(waiting->hashes, room * sizeof(uint64_t));
		if (!hashes)
			return SQLITE_NOMEM;
		waiting->hashes = hashes;
		waiting->room = room;
	}
	waiting->hashes[waiting->count++] = item.hash;
	waiting->item_classes |= item.item_class;
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
	const ckfs_waiting *waiting = &table->waiting;

	/* another library may read the rows only, or it is not known which rollback takes the item
	 * back */
	if (table->connection->replaced || ckfs_instance_without_savepoints(table))
		return false;
	if (waiting->count > 0 || waiting->total == 0)
		return waiting->count > 0; /* they are of this statement */
	return (waiting->total == sqlite3_total_changes(table->db) || ckfs_is_alone(table->db)) &&
		   !ckfs_returns_rows(table->db);
}

int
ckfs_add(ckfs_table *table, ckfs_hashed item)
{
	size_t done;
	int rc = SQLITE_OK;

	if (ckfs_may_wait(table))
	{
		if (table->waiting.count >= CKFS_MOST_WAITING)
			rc = ckfs_write_waiting(table);
		return rc == SQLITE_OK ? ckfs_append(&table->waiting, item) : rc;
	}
	/* an error now says more than one at the end of the statement */
	rc = ckfs_prepare_add(table);
	if (rc == SQLITE_OK)
		rc = ckfs_write_items(table, &item.hash, 1, true, item.item_class, &done);
	table->waiting.total = rc == SQLITE_OK ? sqlite3_total_changes(table->db) : 0;
	return rc;
}

/* Sort the list.  This needs the same amount of memory again. */
static int
ckfs_sort_waiting(ckfs_waiting *waiting)
{
	uint64_t *scratch = sqlite3_malloc64(waiting->count * sizeof(uint64_t));
	uint64_t *sorted;

	if (!scratch)
		return SQLITE_NOMEM;
	sorted = ckf_sort_hashes(waiting->hashes, scratch, waiting->count);
	if (sorted == scratch)
	{
		scratch = waiting->hashes;
		waiting->hashes = sorted;
		waiting->room = waiting->count;
	}
	sqlite3_free(scratch);
	return SQLITE_OK;
}

static int
ckfs_write_list(ckfs_table *table)
{
	ckfs_waiting *waiting = &table->waiting;
	size_t done;
	int rc = ckfs_sort_waiting(waiting);

	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_write_items(table, waiting->hashes, waiting->count, true, waiting->item_classes,
						  &done);
	if (waiting->count > done) /* if no rollback has dropped them meanwhile */
	{
		waiting->count -= done;
		memmove(waiting->hashes, waiting->hashes + done, waiting->count * sizeof(uint64_t));
	}
	else
		ckfs_waiting_drop(table);
	if (rc == SQLITE_OK)
		waiting->total = sqlite3_total_changes(table->db);
	return rc;
}

int
ckfs_write_waiting(ckfs_table *table)
{
	ckfs_table *other = NULL;
	int rc = ckfs_check_usable(table);

	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
	{
		if (other->waiting.count > 0)
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
