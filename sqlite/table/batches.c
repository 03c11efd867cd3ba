/*
 * batches.c - the adds of a transaction that are still in memory, grouped by savepoint.
 *
 * A batch has two numbers.  `level` is the number of savepoints that were open when its items were
 * added: a rollback to one of these takes the items back.  `written` is the number that were open
 * when its items became rows.  If `written` is larger, the items were added before a savepoint and
 * the rows were written after it.  A rollback to this savepoint undoes the rows but not the adds,
 * so the items must wait again.  So such a batch is kept until the savepoint ends.  No function
 * here runs SQL.
 */
#include "table.h"

#include <string.h>

#define CKFS_FIRST_ROOM 64

static void
ckfs_free_batch(ckfs_batch *batch)
{
	sqlite3_free(batch->hashes);
	sqlite3_free(batch);
}

/* Take a batch out of the list and free it.  A batch that the writer is reading is only marked, and
 * the writer frees it. */
static void
ckfs_drop_batch(ckfs_waiting *waiting, ckfs_batch *batch)
{
	ckfs_batch **link = &waiting->newest;

	if (batch->written == CKFS_NOT_WRITTEN && !batch->gone)
		waiting->count -= batch->count;
	batch->gone = true;
	if (batch->busy)
		return;
	while (*link != batch)
		link = &(*link)->older;
	*link = batch->older;
	ckfs_free_batch(batch);
}

/* Push a new batch of this level onto the list.  NULL: out of memory. */
static ckfs_batch *
ckfs_new_batch(ckfs_waiting *waiting, int level)
{
	ckfs_batch *batch = sqlite3_malloc64(sizeof(ckfs_batch));

	if (!batch)
		return NULL;
	memset(batch, 0, sizeof(ckfs_batch));
	batch->level = level;
	batch->written = CKFS_NOT_WRITTEN;
	batch->older = waiting->newest;
	waiting->newest = batch;
	return batch;
}

/* Make room for `more` more items. */
static bool
ckfs_grow_batch(ckfs_batch *batch, size_t more)
{
	size_t room = batch->room > 0 ? batch->room : CKFS_FIRST_ROOM;
	uint64_t *hashes;

	if (batch->count + more <= batch->room)
		return true;
	while (room < batch->count + more)
		room *= 2;
	hashes = sqlite3_realloc64(batch->hashes, room * sizeof(uint64_t));
	if (!hashes)
		return false;
	batch->hashes = hashes;
	batch->room = room;
	return true;
}

int
ckfs_waiting_add(ckfs_waiting *waiting, int level, ckfs_hashed item)
{
	ckfs_batch *batch = waiting->newest;

	if (!batch || batch->level != level || batch->written != CKFS_NOT_WRITTEN || batch->busy)
		batch = ckfs_new_batch(waiting, level);
	if (!batch || !ckfs_grow_batch(batch, 1))
		return SQLITE_NOMEM;
	batch->hashes[batch->count++] = item.hash;
	batch->item_classes |= item.item_class;
	waiting->count++;
	return SQLITE_OK;
}

/* --------------------------------------------------------------- savepoints */

static bool
ckfs_may_join(const ckfs_batch *newer, const ckfs_batch *older)
{
	return newer->level == older->level && newer->written == CKFS_NOT_WRITTEN &&
		   older->written == CKFS_NOT_WRITTEN && !newer->busy && !older->busy;
}

/* Join a batch with the next older one if both wait and belong to the same savepoint.  Returns the
 * batch from which the caller goes on.  If memory is short, they stay two. */
static ckfs_batch *
ckfs_join_batches(ckfs_waiting *waiting, ckfs_batch *newer)
{
	ckfs_batch *older = newer->older;
	ckfs_batch *to = newer->count > older->count ? newer : older;
	ckfs_batch *from = to == newer ? older : newer;

	if (!ckfs_may_join(newer, older) || !ckfs_grow_batch(to, from->count))
		return older;
	memcpy(to->hashes + to->count, from->hashes, from->count * sizeof(uint64_t));
	to->count += from->count;
	to->item_classes |= from->item_classes;
	waiting->count += from->count; /* ckfs_drop_batch subtracts them */
	ckfs_drop_batch(waiting, from);
	return to;
}

void
ckfs_waiting_release(ckfs_waiting *waiting, int number)
{
	ckfs_batch *batch = waiting->newest, *older;

	for (; batch; batch = older)
	{
		older = batch->older;
		if (batch->level > number)
			batch->level = number;
		if (batch->written > number)
			batch->written = number;
		if (batch->written != CKFS_NOT_WRITTEN && batch->written <= batch->level)
			ckfs_drop_batch(waiting, batch); /* no rollback undoes only its rows */
	}
	batch = waiting->newest;
	while (batch && batch->older)
		batch = ckfs_join_batches(waiting, batch);
}

void
ckfs_waiting_roll_back(ckfs_waiting *waiting, int number)
{
	ckfs_batch *batch = waiting->newest, *older;

	for (; batch; batch = older)
	{
		older = batch->older;
		if (batch->level > number)
			ckfs_drop_batch(waiting, batch);
		else if (batch->busy)
			batch->undone = true;
		else if (batch->written > number)
		{
			batch->written = CKFS_NOT_WRITTEN;
			waiting->count += batch->count;
		}
	}
}

void
ckfs_waiting_drop(ckfs_waiting *waiting)
{
	ckfs_batch *batch = waiting->newest, *older;

	for (; batch; batch = older)
	{
		older = batch->older;
		ckfs_drop_batch(waiting, batch);
	}
}

void
ckfs_waiting_settle(ckfs_waiting *waiting, int level)
{
	ckfs_batch *batch;

	while ((batch = ckfs_waiting_next(waiting)) != NULL)
		ckfs_waiting_written(waiting, batch, batch->count, level);
}

/* ------------------------------------------------------------------ writing */

ckfs_batch *
ckfs_waiting_next(const ckfs_waiting *waiting)
{
	ckfs_batch *batch = waiting->newest;

	while (batch && (batch->written != CKFS_NOT_WRITTEN || batch->busy))
		batch = batch->older;
	return batch;
}

bool
ckfs_waiting_before(const ckfs_waiting *waiting, int level)
{
	const ckfs_batch *batch = waiting->newest;

	while (batch && (batch->written != CKFS_NOT_WRITTEN || batch->level >= level))
		batch = batch->older;
	return batch != NULL;
}

int
ckfs_waiting_written(ckfs_waiting *waiting, ckfs_batch *batch, size_t done, int level)
{
	ckfs_batch *part;
	bool undone = batch->undone;

	batch->busy = batch->undone = false;
	if (batch->gone)
	{
		ckfs_drop_batch(waiting, batch);
		return SQLITE_OK;
	}
	if (undone) /* the rows are undone, and the writer has reported an error */
		return done < batch->count ? SQLITE_OK : SQLITE_ABORT;
	if (done > 0 && done < batch->count && level > batch->level)
	{
		part = ckfs_new_batch(waiting, batch->level);
		if (!part || !ckfs_grow_batch(part, done))
			return SQLITE_NOMEM;
		memcpy(part->hashes, batch->hashes, done * sizeof(uint64_t));
		part->count = done;
		part->item_classes = batch->item_classes;
		part->written = level;
	}
	waiting->count -= done;
	if (done == batch->count)
	{
		batch->written = level;
		if (level <= batch->level)
			ckfs_drop_batch(waiting, batch);
		return SQLITE_OK;
	}
	batch->count -= done;
	memmove(batch->hashes, batch->hashes + done, batch->count * sizeof(uint64_t));
	return SQLITE_OK;
}
