/*
 * add_remove.c - adds and removals.  Each is an edit of the engine, whose pieces become rows.
 */
#include "changes.h"

/* In a set, count how many of the items of an edit were stored already. */
static int
ckfs_note_duplicates(ckfs_table *table, const ckfs_row *row, size_t taken)
{
	int64_t stored = ckf_edit_stored(table->edit);

	if (!table->params.set || stored < 0 || (uint64_t)stored >= taken)
		return SQLITE_OK;
	return ckfs_put_duplicates(table, row->id, row->duplicates + (taken - (uint64_t)stored));
}

/* Write the pieces of an edit of one row.  The first piece replaces the row, unless there was
 * `none`. `taken`: the number of items that were to be added. */
static int
ckfs_put_pieces(ckfs_table *table, const ckfs_row *row, bool none, unsigned item_classes,
				size_t taken)
{
	const ckfs_row *old = none ? NULL : row;
	ckfs_row new = {.item_classes = row->item_classes | item_classes,
					.duplicates = row->duplicates};
	ckf_chunk_piece piece;
	ckf_status status;
	int total = sqlite3_total_changes(table->db);
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK &&
		   (status = ckf_edit_next(table->edit, table->bytes, &piece)) == CKF_MORE)
	{
		new.id = ckf_chunk_id(piece.start);
		new.chunk.bytes = table->bytes;
		new.chunk.size = (uint32_t)piece.size;
		rc = ckfs_put(table, old, &new);
		new.duplicates = 0;
		old = NULL;
	}
	if (rc == SQLITE_OK && status != CKF_OK)
		rc = ckfs_table_damaged(table, row->id, "wrong items");
	if (rc == SQLITE_OK)
		rc = ckfs_note_duplicates(table, row, taken);
	return ckfs_end_change(table, total, rc);
}

/* Add the first items, as many as one edit takes. */
static int
ckfs_write_some(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
				unsigned item_classes, size_t *taken)
{
	ckfs_row row = {.id = INT64_MIN};
	ckf_status status;
	int rc = ckfs_find_row(table, items[0], &row);
	bool none = rc == SQLITE_DONE;

	if (none)
		rc = ckfs_page_room(table);
	if (rc != SQLITE_OK)
		return rc;
	status =
		ckf_edit_add(table->edit, &table->chunks, none ? NULL : &row.chunk, items, n, whole, taken);
	ckfs_end_rows(table, CKFS_FIND);
	if (status != CKF_OK)
		return ckfs_table_damaged(table, row.id, "wrong items");
	return ckfs_put_pieces(table, &row, none, item_classes, *taken);
}

int
ckfs_write_items(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
				 unsigned item_classes, size_t *done)
{
	int rc = ckfs_start_write(table);
	bool many = false;
	size_t taken;

	*done = 0;
	if (rc != SQLITE_OK)
		return rc;
	if (whole)
		rc = ckfs_write_many(table, items, n, item_classes, &many);
	if (rc == SQLITE_OK && many)
		*done = n;
	while (*done < n && rc == SQLITE_OK)
	{
		rc = ckfs_write_some(table, items + *done, n - *done, whole, item_classes, &taken);
		if (rc == SQLITE_OK)
			*done += taken;
	}
	return ckfs_end_write(table, rc);
}

/* Remove one copy of a hash from the chunk that covers it. */
static int
ckfs_remove_hash(ckfs_table *table, uint64_t hash)
{
	ckf_status status;
	ckfs_row row;
	size_t taken;
	int rc = ckfs_find_row(table, hash, &row);

	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	status = ckf_edit_remove(table->edit, &table->chunks, &row.chunk, &hash, 1, &taken);
	ckfs_end_rows(table, CKFS_FIND);
	if (status == CKF_IS_SET)
		return ckfs_table_status(table, status, (ckf_about){0});
	if (status != CKF_OK)
		return ckfs_table_damaged(table, row.id, "wrong items");
	return ckfs_put_pieces(table, &row, false, 0, 0);
}

int
ckfs_write_removal(ckfs_table *table, uint64_t hash)
{
	int rc = ckfs_start_write(table);

	return rc == SQLITE_OK ? ckfs_end_write(table, ckfs_remove_hash(table, hash)) : rc;
}

int
ckfs_delete_all(ckfs_table *table)
{
	ckfs_table *other = NULL;
	int total = sqlite3_total_changes(table->db);
	int rc = ckfs_start_write(table);

	if (rc != SQLITE_OK)
		return rc;
	if (ckfs_statement_of(table, CKFS_CLEAR, &rc))
		rc = ckfs_change_rows(table, CKFS_CLEAR, -1);
	if (rc == SQLITE_OK)
		rc = ckfs_is_empty(table);
	if (rc == SQLITE_CORRUPT_VTAB)
		rc = ckfs_write_suppressed(table);
	rc = ckfs_end_write(table, ckfs_end_change(table, total, rc));
	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
		ckfs_pending_drop(other);
	table->allowed = 0;
	return rc;
}
