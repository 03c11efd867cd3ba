/*
 * waiting.c - adds wait in memory and are written in the order of their hashes.  So all adds to one
 * chunk are written together, and chunks are written in the order of their pages.
 *
 * Waiting adds are written before anything is read, before a savepoint begins, when one ends, and
 * at the end of the transaction (xSync).  So all of them were added after the newest savepoint, and
 * a rollback to any savepoint takes all of them back.
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

int
ckfs_wait(ckfs_table *table, ckfs_hashed item)
{
	int rc = SQLITE_OK;

	if (table->waiting.count >= CKFS_MOST_WAITING)
		rc = ckfs_write_waiting(table);
	/* an error now says more than one of a savepoint */
	if (rc == SQLITE_OK && table->waiting.count == 0 && !sqlite3_get_autocommit(table->db))
		rc = ckfs_prepare_add(table);
	if (rc == SQLITE_OK)
		rc = ckfs_append(&table->waiting, item);
	/* another library may read the rows only, or it is not known which rollback takes the item
	 * back */
	if (rc == SQLITE_OK && (table->connection->replaced || ckfs_instance_without_savepoints(table)))
		rc = ckfs_write_waiting(table);
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

/* SQLite changes the setting when it compiles the PRAGMA.  Running it would also expire all
 * statements, of which some may be running. */
static int
ckfs_set_query_only(ckfs_table *table, bool on)
{
	sqlite3_stmt *statement = NULL;
	int rc = ckfs_prepare(table, sqlite3_mprintf("PRAGMA query_only = %d", on), 0, &statement);

	sqlite3_finalize(statement);
	return rc;
}

/* Write the sorted list.  With PRAGMA query_only SQLite refuses this, but the adds were made before
 * it was set: so it is off meanwhile. */
static int
ckfs_write_sorted(ckfs_table *table, size_t *done)
{
	static const char *const one[] = {"1", NULL};
	const ckfs_waiting *list = &table->waiting;
	int rc = ckfs_write_items(table, list->hashes, list->count, true, list->item_classes, done);
	int restored;
	bool on;

	if ((rc & 0xff) != SQLITE_READONLY ||
		ckfs_any_row(table, sqlite3_mprintf("PRAGMA query_only"), 0, one, &on) != SQLITE_OK ||
		!on || ckfs_set_query_only(table, false) != SQLITE_OK)
		return rc;
	rc = ckfs_write_items(table, list->hashes, list->count, true, list->item_classes, done);
	restored = ckfs_set_query_only(table, true);
	return rc == SQLITE_OK ? restored : rc;
}

static int
ckfs_write_list(ckfs_table *table)
{
	ckfs_waiting *waiting = &table->waiting;
	size_t done;
	int rc = ckfs_sort_waiting(waiting);

	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_write_sorted(table, &done);
	if (waiting->count > done) /* if no rollback has dropped them meanwhile */
	{
		waiting->count -= done;
		memmove(waiting->hashes, waiting->hashes + done, waiting->count * sizeof(uint64_t));
	}
	else
		ckfs_waiting_drop(table);
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
