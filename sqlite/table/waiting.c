/*
 * waiting.c - adds wait in memory and are written in the order of their hashes.  So all adds to one
 * chunk are written together, and chunks are written in the order of their pages.
 *
 * Waiting adds are written before anything is read, before a SAVEPOINT of the user begins, and at
 * the end of the transaction (xSync).  They are never written at the savepoint of a statement,
 * which may be one of the writer. batches.c knows which adds a rollback takes back.
 */
#include "table.h"

/* The most hashes that wait.  Each has 8 bytes. */
#ifndef CKFS_MOST_WAITING
#define CKFS_MOST_WAITING ((size_t)1 << 24)
#endif

/* -------------------------------------------------------------------- list */

int
ckfs_wait(ckfs_table *table, ckfs_hashed item)
{
	int rc = SQLITE_OK;

	if (table->waiting.count >= CKFS_MOST_WAITING)
		rc = ckfs_write_waiting(table);
	if (rc == SQLITE_OK)
		rc = ckfs_waiting_add(&table->waiting, table->level, item);
	/* another library may read the rows only, or it is not known which rollback takes the item
	 * back */
	if (rc == SQLITE_OK && (table->connection->replaced || !table->told))
		rc = ckfs_write_waiting(table);
	return rc;
}

/* Sort a batch.  This needs the same amount of memory again. */
static int
ckfs_sort_batch(ckfs_batch *batch)
{
	uint64_t *scratch = sqlite3_malloc64(batch->count * sizeof(uint64_t));
	uint64_t *sorted;

	if (!scratch)
		return SQLITE_NOMEM;
	sorted = ckf_sort_hashes(batch->hashes, scratch, batch->count);
	if (sorted == scratch)
	{
		scratch = batch->hashes;
		batch->hashes = sorted;
		batch->room = batch->count;
	}
	sqlite3_free(scratch);
	return SQLITE_OK;
}

static int
ckfs_write_batch(ckfs_table *table, ckfs_batch *batch)
{
	size_t done;
	int rc, ended;

	batch->busy = true;
	rc = ckfs_sort_batch(batch);
	if (rc != SQLITE_OK)
	{
		batch->busy = false;
		return rc;
	}
	rc = ckfs_write_items(table, batch->hashes, batch->count, true, batch->item_classes, &done);
	ended = ckfs_waiting_written(&table->waiting, batch, done, table->level);
	if (ended != SQLITE_OK) /* it is not known which items became rows */
		ckfs_break(table);
	return rc == SQLITE_OK ? ended : rc;
}

int
ckfs_write_waiting(ckfs_table *table)
{
	ckfs_table *other = NULL;
	ckfs_batch *batch;
	int rc = ckfs_check_usable(table);

	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
	{
		while (rc == SQLITE_OK && (batch = ckfs_waiting_next(&other->waiting)) != NULL)
			rc = ckfs_write_batch(other, batch);
		if (rc != SQLITE_OK && other != table)
		{
			sqlite3_free(table->base.zErrMsg);
			table->base.zErrMsg = other->base.zErrMsg; /* the caller reports it */
			other->base.zErrMsg = NULL;
		}
	}
	return rc;
}
