/*
 * write.c - changes of chunks: every one is an edit of the engine, whose parts become rows.
 *
 * An edit that has written some of its parts leaves a table that is not whole.  SQLite undoes
 * a statement that fails only where it keeps a journal for it, which it does not for one that
 * inserts a single row.  So the table is broken from the first part written to the last; where
 * that fails it stays so, and says so to whatever asks or commits, until a rollback to before it.
 * (Which SQLite may have done by itself when a statement of ours returns.)
 */
#include "table.h"

#include <string.h>

void
ckfs_begin_change(ckfs_table *table)
{
	table->changing = true;
}

void
ckfs_end_change(ckfs_table *table, int rc)
{
	table->changing = false;
	if (rc == SQLITE_OK)
	{
		table->broken = false;
		sqlite3_free(table->broken_by);
		table->broken_by = NULL;
	}
	else if (table->broken && !table->broken_by && table->base.zErrMsg)
		table->broken_by = sqlite3_mprintf("%s", table->base.zErrMsg);
}

void
ckfs_break(ckfs_table *table)
{
	table->broken = true;
	table->broken_level = table->level;
}

int
ckfs_check_usable(ckfs_table *table)
{
	const ckfs_table *other = NULL;
	bool comma;

	if (table->dropped)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("cuckoofilter table %s.%s was dropped", table->schema, table->name));
	if (table->renamed && !table->writing && !table->stepping)
	{
		table->renamed = false;
		ckfs_shadow_close(table);
	}
	while ((other = ckfs_next_instance(table, other)) != NULL && !other->broken && !other->writing)
		;
	if (!other)
		return SQLITE_OK;
	if (other->writing)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("cuckoofilter table %s.%s is being written: a trigger or an index on "
							"%s must not ask or change it",
							table->schema, table->name, table->shadow));
	comma = other->broken_by != NULL;
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		sqlite3_mprintf("cuckoofilter table %s.%s: a change failed half way%s%s%s; "
						"roll the transaction back",
						table->schema, table->name, comma ? " (" : "",
						comma ? other->broken_by : "", comma ? ")" : ""));
}

int
ckfs_start_write(ckfs_table *table, sqlite3_int64 *last_rowid)
{
	ckfs_table *other = NULL;
	int rc = ckfs_check_usable(table);

	if (rc != SQLITE_OK)
		return rc;
	while ((other = ckfs_next_instance(table, other)) != NULL)
		ckfs_close_blob(other);
	if (!table->edit)
		table->edit = sqlite3_malloc64(CKF_EDIT_SIZE);
	if (!table->edit)
		return SQLITE_NOMEM;
	ckfs_assert(!table->writing);
	table->writing = true;
	*last_rowid = sqlite3_last_insert_rowid(table->db);
	return SQLITE_OK;
}

void
ckfs_end_write(ckfs_table *table, sqlite3_int64 last_rowid)
{
	ckfs_assert(table->writing);
	table->writing = false;
	sqlite3_set_last_insert_rowid(table->db, last_rowid); /* rows of ours are not the user's */
}

int
ckfs_put(ckfs_table *table, int64_t id, const uint8_t *bytes, size_t size, unsigned item_classes,
		 uint64_t surplus)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_PUT, &rc);

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_blob(statement, 2, bytes, (int)size, SQLITE_STATIC);
	sqlite3_bind_int(statement, 3, (int)item_classes);
	sqlite3_bind_int64(statement, 4, (int64_t)surplus);
	return ckfs_change_rows(table, statement, 1);
}

/* Of a set, note how many of the items that an edit took were stored already. */
static int
ckfs_note_surplus(ckfs_table *table, const ckfs_row *row, size_t taken)
{
	int64_t stored = ckf_edit_stored(table->edit);

	if (!table->params.set || stored < 0 || (uint64_t)stored >= taken)
		return SQLITE_OK;
	return ckfs_change_by(table, CKFS_SURPLUS, row->id,
						  (int64_t)(row->surplus + (taken - (uint64_t)stored)), 1);
}

/* Write the parts of an edit of one row, the first in its place.  `taken`: items that it
 * was to add. */
static int
ckfs_put_parts(ckfs_table *table, const ckfs_row *row, unsigned item_classes, size_t taken)
{
	uint64_t surplus = row->surplus;
	ckf_chunk_part part;
	ckf_status status;
	int rc = SQLITE_OK;

	ckfs_begin_change(table);
	while (rc == SQLITE_OK &&
		   (status = ckf_edit_next(table->edit, table->bytes, &part)) == CKF_MORE)
	{
		rc = ckfs_put(table, ckf_chunk_id(part.start), table->bytes, part.size,
					  row->item_classes | item_classes, surplus);
		surplus = 0;
	}
	if (rc == SQLITE_OK && status != CKF_OK)
		rc = ckfs_table_damaged(table, row->id, "wrong items");
	if (rc == SQLITE_OK)
		rc = ckfs_note_surplus(table, row, taken);
	ckfs_end_change(table, rc);
	return rc;
}

int
ckfs_is_empty(ckfs_table *table)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_FROM, &rc);
	int64_t id;

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, INT64_MIN);
	rc = ckfs_step(table, statement);
	if (rc != SQLITE_ROW)
		return rc;
	id = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return ckfs_table_damaged(table, id, "a range without a chunk");
}

/* Add the first items, as many as one edit takes. */
static int
ckfs_write_some(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
				unsigned item_classes, size_t *taken)
{
	ckfs_row row = {.id = INT64_MIN};
	sqlite3_stmt *statement = NULL;
	ckf_status status;
	int rc = ckfs_find_row(table, items[0], &statement, &row);
	bool none = rc == SQLITE_DONE;

	if (none)
	{
		rc = ckfs_is_empty(table);
		if (rc == SQLITE_OK)
			rc = ckfs_page_room(table);
	}
	if (rc != SQLITE_OK)
		return rc;
	status =
		ckf_edit_add(table->edit, &table->chunks, none ? NULL : &row.chunk, items, n, whole, taken);
	sqlite3_reset(statement);
	if (status != CKF_OK)
		return ckfs_table_damaged(table, row.id, "wrong items");
	return ckfs_put_parts(table, &row, item_classes, *taken);
}

int
ckfs_write_items(ckfs_table *table, const uint64_t *items, size_t n, bool whole,
				 unsigned item_classes, size_t *done)
{
	sqlite3_int64 last_rowid;
	int rc = ckfs_start_write(table, &last_rowid);
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
	ckfs_end_write(table, last_rowid);
	return rc;
}

/* Remove one copy of a hash from the chunk that has it. */
static int
ckfs_remove_hash(ckfs_table *table, uint64_t hash)
{
	sqlite3_stmt *statement = NULL;
	ckf_status status;
	ckfs_row row;
	size_t taken;
	int rc = ckfs_find_row(table, hash, &statement, &row);

	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	status = ckf_edit_remove(table->edit, &table->chunks, &row.chunk, &hash, 1, &taken);
	sqlite3_reset(statement);
	if (status == CKF_IS_SET)
		return ckfs_table_status(table, status, (ckfs_subject){0});
	if (status != CKF_OK)
		return ckfs_table_damaged(table, row.id, "wrong items");
	return ckfs_put_parts(table, &row, 0, 0);
}

int
ckfs_write_removal(ckfs_table *table, uint64_t hash)
{
	sqlite3_int64 last_rowid;
	int rc = ckfs_write_waiting(table);

	if (rc == SQLITE_OK)
		rc = ckfs_start_write(table, &last_rowid);
	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_remove_hash(table, hash);
	ckfs_end_write(table, last_rowid);
	return rc;
}

int
ckfs_write_nothing(ckfs_table *table)
{
	ckfs_table *other = NULL;
	sqlite3_int64 last_rowid;
	sqlite3_stmt *statement;
	int rc = ckfs_start_write(table, &last_rowid);

	if (rc != SQLITE_OK)
		return rc;
	statement = ckfs_statement_of(table, CKFS_CLEAR, &rc);
	if (statement)
		rc = ckfs_change_rows(table, statement, -1);
	if (rc == SQLITE_OK && ckfs_is_empty(table) == SQLITE_CORRUPT_VTAB)
		rc = ckfs_table_kept(table);
	ckfs_end_write(table, last_rowid);
	while (rc == SQLITE_OK && (other = ckfs_next_instance(table, other)) != NULL)
		ckfs_waiting_settle(&other->waiting, other->level);
	table->allowed = 0;
	return rc;
}
