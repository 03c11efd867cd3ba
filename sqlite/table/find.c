/*
 * find.c - a lookup, which reads one row of the shadow table.
 *
 * The statement `id <= ? ORDER BY id DESC LIMIT 1` finds the row.  If one statement of the user
 * makes many lookups, an incremental BLOB handle is faster, but it needs the id of the row.  The id
 * is guessed: chunks of similar hashes had this depth when they were last read.  If there is no row
 * with this id, or its chunk does not cover the hash, the statement is used.  So the hints need not
 * follow the changes of other connections.
 */
#include "table.h"

#include <string.h>

/* Lookups by the statement that cost as much as opening a BLOB handle. */
#define CKFS_MANY_QUESTIONS 16

/* The most bits of a hash that index the hints: a megabyte of hints. */
#define CKFS_MOST_DEPTH_BITS 20
#define CKFS_FIRST_DEPTH_BITS 8

/* ------------------------------------------------------------------- hints */

void
ckfs_depths_end(ckfs_depths *depths)
{
	sqlite3_free(depths->depths);
	*depths = (ckfs_depths){0};
}

/* Index the hints by more bits.  If memory is short, they stay as they are. */
static void
ckfs_depths_grow(ckfs_depths *depths, unsigned bits)
{
	uint8_t *grown = sqlite3_malloc64((size_t)1 << bits);
	size_t i, share = (size_t)1 << (bits - depths->bits);

	if (!grown)
		return;
	if (!depths->depths)
		memset(grown, 0, (size_t)1 << bits);
	for (i = 0; depths->depths && i < (size_t)1 << depths->bits; i++)
		memset(grown + i * share, depths->depths[i], share);
	sqlite3_free(depths->depths);
	depths->depths = grown;
	depths->bits = bits;
}

/* Store the depth of the chunk that covers the hash. */
static void
ckfs_depths_learn(ckfs_depths *depths, uint64_t hash, unsigned depth)
{
	unsigned bits = depth < CKFS_MOST_DEPTH_BITS ? depth : CKFS_MOST_DEPTH_BITS;

	if (!depths->depths || bits > depths->bits)
		ckfs_depths_grow(depths, bits > CKFS_FIRST_DEPTH_BITS ? bits : CKFS_FIRST_DEPTH_BITS);
	if (depths->depths)
		depths->depths[hash >> (64 - depths->bits)] = (uint8_t)(depth + 1);
}

/* Guess where the chunk of the hash begins. false: there is no hint. */
static bool
ckfs_depths_guess(const ckfs_depths *depths, uint64_t hash, uint64_t *start)
{
	unsigned known = depths->depths ? depths->depths[hash >> (64 - depths->bits)] : 0;

	if (known == 0)
		return false;
	*start = hash & ~(UINT64_MAX >> (known - 1));
	return true;
}

/* ------------------------------------------------------------------ by BLOB */

/* Read the chunk that begins at `start`, from a BLOB handle. false: there is none, or it cannot be
 * read; the statement then reports the error with more detail. */
static bool
ckfs_read_blob(ckfs_table *table, uint64_t start, ckf_chunk *chunk)
{
	sqlite3_int64 id = ckf_chunk_id(start);
	int size;

	if ((table->blob ? sqlite3_blob_reopen(table->blob, id)
					 : sqlite3_blob_open(table->db, table->schema, table->shadow, "chunk", id, 0,
										 &table->blob)) != SQLITE_OK)
		return false;
	size = sqlite3_blob_bytes(table->blob);
	return size <= CKF_CHUNK_MAX &&
		   sqlite3_blob_read(table->blob, table->bytes, size, 0) == SQLITE_OK &&
		   ckf_chunk_open(chunk, &table->chunks, start, table->bytes, (size_t)size) == CKF_OK;
}

/* Find the chunk of the hash by a hint. false: use the statement. */
static bool
ckfs_guess_chunk(ckfs_table *table, uint64_t hash, ckf_chunk *chunk)
{
	uint64_t start;

	if (table->questions < CKFS_MANY_QUESTIONS)
	{
		table->questions++;
		return false;
	}
	if (!ckfs_depths_guess(&table->depths, hash, &start))
		return false;
	if (ckfs_read_blob(table, start, chunk))
		return ckf_chunk_covers(chunk, hash);
	ckfs_close_blob(table); /* the handle found no row, and is invalid now */
	return false;
}

/* ---------------------------------------------------------------- questions */

static unsigned
ckfs_ask_chunk(const ckf_chunk *chunk, uint64_t hash, bool one)
{
	return one ? ckf_chunk_contains(chunk, hash) : ckf_chunk_copies(chunk, hash);
}

/* Log a lookup of an item whose class no item in the chunk has.  The usual cause is text instead of
 * a number. */
static void
ckfs_log_class(const ckfs_table *table, const ckfs_row *row, unsigned item_class)
{
	if (row->item_classes && !(row->item_classes & (item_class | CKF_ITEM_HASH)))
		ckfs_log_unlike(table->connection, row->item_classes, item_class);
}

int
ckfs_ask(ckfs_table *table, ckfs_hashed item, bool one, unsigned *copies)
{
	sqlite3_stmt *statement;
	ckf_chunk guessed;
	ckfs_row row;
	int rc = ckfs_write_waiting(table);

	*copies = 0;
	if (rc != SQLITE_OK)
		return rc;
	if (ckfs_guess_chunk(table, item.hash, &guessed))
	{
		*copies = ckfs_ask_chunk(&guessed, item.hash, one);
		return SQLITE_OK;
	}
	rc = ckfs_find_row(table, item.hash, &statement, &row);
	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? ckfs_is_empty(table) : rc;
	*copies = ckfs_ask_chunk(&row.chunk, item.hash, one);
	ckfs_depths_learn(&table->depths, item.hash, row.chunk.depth);
	sqlite3_reset(statement);
	ckfs_log_class(table, &row, item.item_class);
	return SQLITE_OK;
}
