/*
 * waiting.c - adds wait in a list, and are written in order of their hashes: those of one
 * chunk at once, and chunks in the order of their pages.
 *
 * Whatever waits is written before anything is read, before a savepoint begins, and at the
 * end of the transaction (xSync); so a rollback to a savepoint can only be meant for all that
 * waits, and drops it.
 */
#include "table.h"

#include <string.h>

/* Hashes that wait at most, of 8 bytes each. */
#ifndef CKFS_MOST_WAITING
#define CKFS_MOST_WAITING ((size_t)1 << 24)
#endif

/* Lists longer than this are freed when they were written. */
#define CKFS_MOST_KEPT ((size_t)1 << 13)

#define CKFS_FIRST_WAITING 64

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

static int
ckfs_more_waiting(ckfs_waiting *waiting)
{
	size_t room = waiting->room > 0 ? waiting->room * 2 : CKFS_FIRST_WAITING;
	uint64_t *hashes = sqlite3_realloc64(waiting->hashes, room * sizeof(uint64_t));

	if (!hashes)
		return SQLITE_NOMEM;
	waiting->hashes = hashes;
	waiting->room = room;
	return SQLITE_OK;
}

int
ckfs_wait(ckfs_table *table, ckfs_hashed item)
{
	ckfs_waiting *waiting = &table->waiting;
	int rc = SQLITE_OK;

	if (waiting->count >= CKFS_MOST_WAITING)
		rc = ckfs_write_waiting(table);
	if (rc == SQLITE_OK && waiting->count >= waiting->room)
		rc = ckfs_more_waiting(waiting);
	if (rc != SQLITE_OK)
		return rc;
	waiting->hashes[waiting->count++] = item.hash;
	waiting->item_classes |= item.item_class;
	return SQLITE_OK;
}

/* Write what waits in one table. */
static int
ckfs_write_list(ckfs_table *table)
{
	ckfs_waiting *waiting = &table->waiting;
	size_t count = waiting->count;
	size_t done;
	int rc;

	if (count == 0)
		return SQLITE_OK;
	ckfs_sort_hashes(waiting->hashes, count, 56);
	rc = ckfs_write_items(table, waiting->hashes, count, true, waiting->item_classes, &done);
	if (rc == SQLITE_OK)
		ckfs_forget_waiting(table);
	else if (done > 0 && waiting->count == count)
	{
		/* the others still wait, unless the failure took the transaction back */
		waiting->count -= done;
		memmove(waiting->hashes, waiting->hashes + done, waiting->count * sizeof(uint64_t));
	}
	return rc;
}

int
ckfs_write_waiting(ckfs_table *table)
{
	ckfs_table *other = NULL;
	int rc = ckfs_check_broken(table);

	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
	{
		rc = ckfs_write_list(other);
		if (rc != SQLITE_OK && other != table)
		{
			sqlite3_free(table->base.zErrMsg);
			table->base.zErrMsg = other->base.zErrMsg; /* whoever asked tells it */
			other->base.zErrMsg = NULL;
		}
	}
	return rc;
}

void
ckfs_forget_waiting(ckfs_table *table)
{
	ckfs_waiting *waiting = &table->waiting;

	waiting->count = 0;
	waiting->item_classes = 0;
	if (waiting->room > CKFS_MOST_KEPT)
	{
		sqlite3_free(waiting->hashes);
		waiting->hashes = NULL;
		waiting->room = 0;
	}
}
