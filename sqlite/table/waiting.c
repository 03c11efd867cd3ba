/*
 * waiting.c - adds wait in memory, and are written in order of their hashes: those of one
 * chunk at once, and chunks in the order of their pages.
 *
 * Whatever waits is written before anything is read, before the user's SAVEPOINT begins, and at
 * the end of the transaction (xSync).  It is never written at the savepoint of a statement:
 * that statement may be one of the writer's own.  batches.c knows what a rollback takes back.
 */
#include "table.h"

/* Hashes that wait at most, of 8 bytes each. */
#ifndef CKFS_MOST_WAITING
#define CKFS_MOST_WAITING ((size_t)1 << 24)
#endif

/* Fewer are sorted by insertion. */
#define CKFS_FEW_HASHES 32

/* ----------------------------------------------------------------- sorting */

static void
ckfs_sort_few(uint64_t *hashes, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++)
	{
		uint64_t hash = hashes[i];

		for (k = i; k > 0 && hashes[k - 1] > hash; k--)
			hashes[k] = hashes[k - 1];
		hashes[k] = hash;
	}
}

/* Sort in place by the byte at `shift` and those below it: each hash is swapped to where the
 * hashes of its byte go, then each of the 256 parts is sorted by the next byte.  There are
 * eight bytes, so that it ends, and soon, however equal they are. */
static void
ckfs_sort_hashes(uint64_t *hashes, size_t n, int shift)
{
	size_t next[256], end[256], at = 0, i;
	size_t counts[256] = {0};
	int byte;

	if (n < CKFS_FEW_HASHES || shift < 0)
	{
		if (shift >= 0)
			ckfs_sort_few(hashes, n);
		return;
	}
	for (i = 0; i < n; i++)
		counts[hashes[i] >> shift & 255]++;
	for (byte = 0; byte < 256; byte++)
	{
		next[byte] = at;
		at += counts[byte];
		end[byte] = at;
	}
	for (byte = 0; byte < 256; byte++)
		while (next[byte] < end[byte])
		{
			uint64_t hash = hashes[next[byte]];
			int to;

			while ((to = (int)(hash >> shift & 255)) != byte)
			{
				uint64_t other = hashes[next[to]];

				hashes[next[to]++] = hash;
				hash = other;
			}
			hashes[next[byte]++] = hash;
		}
	for (byte = 0; byte < 256; byte++)
		ckfs_sort_hashes(hashes + end[byte] - counts[byte], counts[byte], shift - 8);
}

/* -------------------------------------------------------------------- list */

int
ckfs_wait(ckfs_table *table, ckfs_hashed item)
{
	int rc = SQLITE_OK;

	if (table->waiting.count >= CKFS_MOST_WAITING)
		rc = ckfs_write_waiting(table);
	if (rc == SQLITE_OK)
		rc = ckfs_waiting_add(&table->waiting, table->level, item);
	if (rc == SQLITE_OK && table->connection->replaced)
		rc = ckfs_write_waiting(table); /* others may read the rows only */
	return rc;
}

static int
ckfs_write_batch(ckfs_table *table, ckfs_batch *batch)
{
	size_t done;
	int rc, ended;

	batch->busy = true;
	ckfs_sort_hashes(batch->hashes, batch->count, 56);
	rc = ckfs_write_items(table, batch->hashes, batch->count, true, batch->item_classes, &done);
	ended = ckfs_waiting_written(&table->waiting, batch, done, table->level);
	if (ended != SQLITE_OK) /* nobody knows any more which items are rows */
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
			table->base.zErrMsg = other->base.zErrMsg; /* whoever asked tells it */
			other->base.zErrMsg = NULL;
		}
	}
	return rc;
}
