/*
 * find.c - a question: one row of the shadow table is read.
 */
#include "table.h"

void
ckfs_close_blob(ckfs_table *table)
{
	sqlite3_blob_close(table->blob);
	table->blob = NULL;
}

void
ckfs_depths_end(ckfs_depths *depths)
{
	sqlite3_free(depths->depths);
	*depths = (ckfs_depths){0};
}

int
ckfs_ask(ckfs_table *table, uint64_t hash, bool one, unsigned *copies)
{
	sqlite3_stmt *statement;
	ckfs_row row;
	int rc = ckfs_write_waiting(table);

	*copies = 0;
	if (rc == SQLITE_OK)
		rc = ckfs_find_row(table, hash, &statement, &row);
	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? ckfs_is_empty(table) : rc;
	*copies = one ? ckf_chunk_contains(&row.chunk, hash) : ckf_chunk_copies(&row.chunk, hash);
	sqlite3_reset(statement);
	return SQLITE_OK;
}
