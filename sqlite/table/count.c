/*
 * count.c - the number of items in a table.
 *
 * The number is not stored, since each add would then write a second page.  Hashes are evenly
 * distributed, so any chunk gives an estimate: its copies, times 2 to the power of its depth.
 */
#include "table.h"

int
ckfs_count_copies(ckfs_table *table, ckfs_total *total)
{
	ckfs_row row;
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_FROM, &rc);

	*total = (ckfs_total){0};
	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, INT64_MIN);
	while ((rc = ckfs_step(table, statement)) == SQLITE_ROW)
	{
		rc = ckfs_read_row(table, statement, &row);
		if (rc != SQLITE_OK)
		{
			sqlite3_reset(statement);
			return rc;
		}
		total->copies += row.chunk.count;
		total->uncounted += row.uncounted;
		total->item_classes |= row.item_classes;
	}
	return rc;
}

int
ckfs_estimate(ckfs_table *table, uint64_t hash, double *copies)
{
	sqlite3_stmt *statement;
	ckfs_row row;
	int rc = ckfs_find_row(table, hash, &statement, &row);

	*copies = 0;
	if (rc == SQLITE_DONE)
		return SQLITE_OK;
	if (rc != SQLITE_OK)
		return rc;
	*copies = (double)row.chunk.count * (double)((uint64_t)1 << row.chunk.depth);
	sqlite3_reset(statement);
	return SQLITE_OK;
}
