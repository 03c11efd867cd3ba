/*
 * find.c - a lookup, which reads one row of the shadow table.
 *
 * The statement `id <= ? ORDER BY id DESC LIMIT 1` finds the row.  If one statement of the user
 * makes many lookups, an incremental BLOB handle is faster, but it needs the id of the row.  The id
 * is guessed: chunks of similar hashes had this depth when they were last read.  If there is no row
 * with this id, or its chunk does not cover the hash, the statement is used.  So the hints need not
 * follow the changes of other connections.  The statement is also used if the lookup may have to be
 * logged, since the handle does not read the classes of the items.
 */
#include "methods.h"

/* Lookups by the statement that cost as much as opening a BLOB handle. */
#define CKFS_MANY_LOOKUPS 16

/* The most bits of a hash that index the hints: two megabytes of hints. */
#define CKFS_MOST_HINT_BITS 20
#define CKFS_FIRST_HINT_BITS 8

/* ------------------------------------------------------------------- hints */

void
ckfs_hints_end(ckfs_hints *hints)
{
	sqlite3_free(hints->hints);
	*hints = (ckfs_hints){0};
}

/* Index the hints by more bits.  If memory is short, they stay as they are. */
static void
ckfs_hints_grow(ckfs_hints *hints, unsigned bits)
{
	size_t i, count = (size_t)1 << bits;
	ckfs_hint *grown = sqlite3_malloc64(count * sizeof(ckfs_hint));

	if (!grown)
		return;
	for (i = 0; i < count; i++)
		grown[i] = hints->hints ? hints->hints[i >> (bits - hints->bits)] : (ckfs_hint){0};
	sqlite3_free(hints->hints);
	hints->hints = grown;
	hints->bits = bits;
}

/* Store what the row says that covers the hash. */
static void
ckfs_hints_learn(ckfs_hints *hints, uint64_t hash, const ckfs_row *row)
{
	unsigned depth = row->chunk.depth;
	unsigned bits = depth < CKFS_MOST_HINT_BITS ? depth : CKFS_MOST_HINT_BITS;

	if (!hints->hints || bits > hints->bits)
		ckfs_hints_grow(hints, bits > CKFS_FIRST_HINT_BITS ? bits : CKFS_FIRST_HINT_BITS);
	if (hints->hints)
		hints->hints[hash >> (64 - hints->bits)] =
			(ckfs_hint){(uint8_t)(depth + 1), (uint8_t)row->item_classes};
}

/* Guess where the chunk of the hash begins, and the classes of its items. false: there is no
 * hint. */
static bool
ckfs_hints_guess(const ckfs_hints *hints, uint64_t hash, uint64_t *start, unsigned *item_classes)
{
	ckfs_hint hint = hints->hints ? hints->hints[hash >> (64 - hints->bits)] : (ckfs_hint){0};

	if (hint.depth == 0)
		return false;
	*start = hash & ~(UINT64_MAX >> (hint.depth - 1));
	*item_classes = hint.item_classes;
	return true;
}

/* ------------------------------------------------------------------ classes */

/* Whether to log a lookup: no item in the chunk has the class of the item, and the connection has
 * not logged this yet.  The usual cause is text instead of a number. */
static bool
ckfs_must_log(const ckfs_table *table, unsigned item_classes, unsigned item_class)
{
	return item_classes && !(item_classes & (item_class | CKF_ITEM_HASH)) &&
		   !ckfs_has_logged(table->connection, item_classes, item_class);
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

/* Find the chunk of the item by a hint. false: use the statement. */
static bool
ckfs_guess_chunk(ckfs_table *table, ckfs_hashed item, ckf_chunk *chunk)
{
	unsigned item_classes;
	uint64_t start;

	if (table->lookups < CKFS_MANY_LOOKUPS)
	{
		table->lookups++;
		return false;
	}
	if (!ckfs_hints_guess(&table->hints, item.hash, &start, &item_classes) ||
		ckfs_must_log(table, item_classes, item.item_class))
		return false;
	if (ckfs_read_blob(table, start, chunk))
		return ckf_chunk_covers(chunk, item.hash);
	ckfs_close_blob(table); /* the handle found no row, and is invalid now */
	return false;
}

/* ---------------------------------------------------------------- lookups */

static unsigned
ckfs_count_in_chunk(const ckf_chunk *chunk, uint64_t hash, bool one)
{
	return one ? ckf_chunk_contains(chunk, hash) : ckf_chunk_copies(chunk, hash);
}

int
ckfs_look_up(ckfs_table *table, ckfs_hashed item, bool one, unsigned *copies)
{
	ckf_chunk guessed;
	ckfs_row row;
	int rc = ckfs_write_pending(table);

	*copies = 0;
	if (rc != SQLITE_OK)
		return rc;
	if (ckfs_guess_chunk(table, item, &guessed))
	{
		*copies = ckfs_count_in_chunk(&guessed, item.hash, one);
		return SQLITE_OK;
	}
	rc = ckfs_find_row(table, item.hash, &row);
	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	*copies = ckfs_count_in_chunk(&row.chunk, item.hash, one);
	ckfs_hints_learn(&table->hints, item.hash, &row);
	ckfs_end_rows(table, CKFS_FIND);
	if (ckfs_must_log(table, row.item_classes, item.item_class))
		ckfs_log_unlike(table->connection, row.item_classes, item.item_class);
	return SQLITE_OK;
}
