/*
 * pack.c - rewrite all chunks so that they fill pages: 'optimize', and adding many items at a time.
 *
 * SQLite fills a page completely only if rows are appended.  So the rows are first read into memory
 * and deleted from the table, as many as memory allows, and then written one after the other.
 */
#include "changes.h"

#include "messages.h"

#include <string.h>

/* The most bytes of rows in memory.  A larger table is packed in parts, and the pages between the
 * parts are less full. */
#ifndef CKFS_MOST_HELD
#define CKFS_MOST_HELD ((size_t)256 << 20)
#endif
#define CKFS_FIRST_HELD ((size_t)256 << 10)

/* Adds are many if they are at least this share of the items in the table: few chunks would stay
 * unchanged. */
#define CKFS_MANY_SHARE 8
#define CKFS_LEAST_MANY 4096

/* A row that was taken out of the table.  Its chunk follows. */
typedef struct ckfs_held
{
	int64_t id;
	size_t size;
} ckfs_held;

typedef struct ckfs_packing
{
	ckfs_table *table;
	uint8_t *held;         /* rows that were taken out */
	size_t used, room;     /* the bytes of these rows, and of the memory for them */
	size_t at;             /* where the next of these rows is */
	int64_t next;          /* rows from this id on are still in the table */
	bool end;              /* all rows were taken out */
	const uint64_t *items; /* hashes to add, in ascending order */
	size_t count;
	ckf_edit *edit; /* adds them to the chunks before these are packed; NULL: there are none */
	bool adding;    /* the chunk that is being added to has more parts */
	size_t taken;   /* the hashes that this chunk takes */
	uint8_t part[CKF_CHUNK_MAX];
	unsigned item_classes;
	uint64_t uncounted; /* of the rows that were read; the next row that is written gets them */
	int64_t last_id;    /* the last row that was written */
	uint64_t last_uncounted; /* the uncounted adds of the row last_id */
} ckfs_packing;

/* ------------------------------------------------------- rows that are held */

static int
ckfs_hold(ckfs_packing *packing, const ckfs_row *row)
{
	ckfs_held held = {row->id, row->chunk.size};
	size_t room = packing->room > 0 ? 2 * packing->room : CKFS_FIRST_HELD;
	uint8_t *grown;

	if (packing->used + sizeof(held) + held.size > packing->room)
	{
		grown = sqlite3_realloc64(packing->held, room);
		if (!grown)
			return SQLITE_NOMEM;
		packing->held = grown;
		packing->room = room;
	}
	memcpy(packing->held + packing->used, &held, sizeof(held));
	memcpy(packing->held + packing->used + sizeof(held), row->chunk.bytes, held.size);
	packing->used += sizeof(held) + held.size;
	packing->item_classes |= row->item_classes;
	packing->uncounted += row->uncounted;
	return SQLITE_OK;
}

/* Take rows out of the table, as many as may be in memory. */
static int
ckfs_hold_rows(ckfs_packing *packing)
{
	/* only without WHERE is it certain that there are no rows */
	ckfs_statement which = packing->next == INT64_MIN ? CKFS_ALL : CKFS_FROM;
	int rc = ckfs_start_rows(packing->table, which, packing->next);
	ckfs_row row = {.id = packing->next};
	int64_t last;
	int rows = 0;

	packing->used = packing->at = 0;
	while (rc == SQLITE_OK && packing->used < CKFS_MOST_HELD &&
		   (rc = ckfs_next_row(packing->table, which, &row)) == SQLITE_ROW)
	{
		rc = ckfs_hold(packing, &row);
		rows++;
	}
	ckfs_end_rows(packing->table, which);
	if (rc != SQLITE_OK)
		return rc;
	packing->end = packing->used < CKFS_MOST_HELD;
	last = packing->end ? INT64_MAX : row.id;
	rc = ckfs_change_by(packing->table, CKFS_DROP, packing->next, last, rows);
	packing->next = row.id + 1; /* a chunk cannot begin at the last id */
	return rc;
}

/* ------------------------------------------------------------------- source */

/* Open the next chunk that was taken out.  SQLITE_DONE: there is none. */
static int
ckfs_next_held(ckfs_packing *packing, ckf_chunk *chunk)
{
	ckfs_table *table = packing->table;
	ckfs_held held;
	int rc = SQLITE_OK;

	if (packing->at == packing->used && !packing->end)
		rc = ckfs_hold_rows(packing);
	if (rc != SQLITE_OK)
		return rc;
	if (packing->at == packing->used)
		return SQLITE_DONE;
	memcpy(&held, packing->held + packing->at, sizeof(held));
	packing->at += sizeof(held) + held.size;
	return ckf_chunk_open(chunk, &table->chunks, ckf_chunk_start(held.id),
						  packing->held + packing->at - held.size, held.size) == CKF_OK
			   ? SQLITE_OK
			   : ckfs_table_damaged(table, held.id, "wrong bytes");
}

/* The last part of the chunk that items were added to was read. */
static void
ckfs_end_adding(ckfs_packing *packing)
{
	int64_t stored = ckf_edit_stored(packing->edit);

	if (packing->table->params.set && stored >= 0 && (uint64_t)stored < packing->taken)
		packing->uncounted += packing->taken - (uint64_t)stored;
	packing->items += packing->taken;
	packing->count -= packing->taken;
	packing->adding = false;
}

/* Open the next part of the chunk that items are added to.  SQLITE_DONE: there are no more. */
static int
ckfs_next_part(ckfs_packing *packing, ckf_chunk *chunk)
{
	ckf_chunk_part part;
	ckf_status status = ckf_edit_next(packing->edit, packing->part, &part);

	if (status == CKF_OK)
	{
		ckfs_end_adding(packing);
		return SQLITE_DONE;
	}
	if (status == CKF_MORE)
		status =
			ckf_chunk_open(chunk, &packing->table->chunks, part.start, packing->part, part.size);
	return status == CKF_OK
			   ? SQLITE_OK
			   : ckfs_table_damaged(packing->table, ckf_chunk_id(packing->items[0]), "wrong items");
}

/* Open the next chunk to pack, including the items that are added to it.  SQLITE_DONE: there is
 * none. */
static int
ckfs_next_chunk(ckfs_packing *packing, ckf_chunk *chunk)
{
	ckfs_table *table = packing->table;
	ckf_chunk held;
	int rc = packing->adding ? ckfs_next_part(packing, chunk) : SQLITE_DONE;

	if (rc != SQLITE_DONE)
		return rc;
	rc = ckfs_next_held(packing, &held);
	*chunk = held;
	if (rc != SQLITE_OK || packing->count == 0 || !ckf_chunk_covers(&held, packing->items[0]))
		return rc;
	if (ckf_edit_add(packing->edit, &table->chunks, &held, packing->items, packing->count, true,
					 &packing->taken) != CKF_OK)
		return ckfs_table_damaged(table, ckf_chunk_id(held.start), "wrong items");
	packing->adding = true;
	rc = ckfs_next_part(packing, chunk);
	return rc == SQLITE_DONE ? SQLITE_OK : rc; /* an edit without parts has changed nothing */
}

/* ------------------------------------------------------------------ packing */

static int
ckfs_feed_packing(ckfs_packing *packing)
{
	ckfs_table *table = packing->table;
	ckf_chunk chunk;
	int rc = ckfs_next_chunk(packing, &chunk);

	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		return rc;
	if (ckf_edit_feed(table->edit, rc == SQLITE_OK ? &chunk : NULL) == CKF_OK)
		return SQLITE_OK;
	return ckfs_table_damaged(table, rc == SQLITE_OK ? ckf_chunk_id(chunk.start) : INT64_MAX,
							  "a chunk that does not follow");
}

/* All parts are written.  Check that all rows and items were used. */
static int
ckfs_end_packing(ckfs_packing *packing)
{
	ckf_chunk chunk;
	int rc = ckfs_next_chunk(packing, &chunk);

	if (rc == SQLITE_OK || (rc == SQLITE_DONE && packing->count > 0))
		return ckfs_table_damaged(packing->table, packing->next, CKF_DAMAGE_GAP);
	if (rc != SQLITE_DONE || packing->uncounted == 0)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	/* the uncounted adds to the last chunk are known only now */
	return ckfs_put_uncounted(packing->table, packing->last_id,
							  packing->last_uncounted + packing->uncounted);
}

static int
ckfs_pack_all(ckfs_packing *packing)
{
	ckfs_table *table = packing->table;
	ckf_status status;
	ckf_chunk_part part;
	ckfs_row row = {0};
	int rc = SQLITE_OK;

	ckf_edit_pack(table->edit, &table->chunks);
	while (rc == SQLITE_OK)
	{
		status = ckf_edit_next(table->edit, table->bytes, &part);
		if (status == CKF_OK)
			return ckfs_end_packing(packing);
		if (status == CKF_FEED)
			rc = ckfs_feed_packing(packing);
		else if (status == CKF_MORE)
		{
			row.chunk.bytes = table->bytes;
			row.chunk.size = (uint32_t)part.size;
			row.id = packing->last_id = ckf_chunk_id(part.start);
			row.item_classes = packing->item_classes;
			row.uncounted = packing->uncounted;
			rc = ckfs_put(table, NULL, &row);
			packing->last_uncounted = packing->uncounted;
			packing->uncounted = 0;
		}
		else
			rc = ckfs_table_damaged(table, packing->next, "wrong items");
	}
	return rc;
}

/* Pack the table, and add the items. */
static int
ckfs_pack(ckfs_table *table, const uint64_t *items, size_t n, unsigned item_classes)
{
	ckfs_packing *packing = sqlite3_malloc64(sizeof(ckfs_packing));
	int total = sqlite3_total_changes(table->db);
	int rc;

	if (!packing)
		return SQLITE_NOMEM;
	memset(packing, 0, sizeof(ckfs_packing));
	packing->table = table;
	packing->next = INT64_MIN;
	packing->items = items;
	packing->count = n;
	packing->item_classes = item_classes;
	packing->edit = n > 0 ? sqlite3_malloc64(CKF_EDIT_SIZE) : NULL;
	rc = n > 0 && !packing->edit ? SQLITE_NOMEM : ckfs_page_room(table);
	if (rc == SQLITE_OK)
		rc = ckfs_end_change(table, total, ckfs_pack_all(packing));
	sqlite3_free(packing->held);
	sqlite3_free(packing->edit);
	sqlite3_free(packing);
	return rc;
}

int
ckfs_write_packed(ckfs_table *table)
{
	int rc = ckfs_start_write(table);

	return rc == SQLITE_OK ? ckfs_end_write(table, ckfs_pack(table, NULL, 0, 0)) : rc;
}

int
ckfs_write_many(ckfs_table *table, const uint64_t *hashes, size_t n, unsigned item_classes,
				bool *many)
{
	double copies = 0;
	int rc = SQLITE_OK;

	if (n >= CKFS_LEAST_MANY)
		rc = ckfs_estimate(table, hashes[0], &copies);
	*many = copies > 0 && (double)n >= copies / CKFS_MANY_SHARE;
	return rc == SQLITE_OK && *many ? ckfs_pack(table, hashes, n, item_classes) : rc;
}
