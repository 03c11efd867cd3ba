/*
 * integrity.c - check each chunk of a table, and that all chunks together are consistent.
 */
#include "sql.h"

/* What is wrong with this row, which should begin at *next; NULL: nothing.  *end: its range is the
 * last one. */
static const char *
ckfs_check_row(const ckfs_row *row, uint64_t *next, bool *end)
{
	if (*end || row->chunk.start != *next)
		return "ranges that overlap or leave a gap";
	if (ckf_chunk_check(&row->chunk) != CKF_OK)
		return "wrong items";
	*end = row->chunk.last == UINT64_MAX;
	*next = row->chunk.last + 1;
	return NULL;
}

int
ckfs_check_table(ckfs_table *table)
{
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);
	uint64_t next = 0;
	bool end = false, empty = true;
	const char *wrong = NULL;
	ckfs_row row = {.id = INT64_MIN};

	while (!wrong && rc == SQLITE_OK && (rc = ckfs_next_row(table, CKFS_ALL, &row)) == SQLITE_ROW)
	{
		empty = false;
		rc = SQLITE_OK;
		wrong = ckfs_check_row(&row, &next, &end);
	}
	ckfs_end_rows(table, CKFS_ALL);
	if (!wrong && rc == SQLITE_OK && !empty && !end)
		wrong = "a range without a chunk";
	return wrong ? ckfs_table_damaged(table, row.id, wrong) : rc;
}

int
ckfs_table_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
					 char **found)
{
	ckfs_table *table = ckfs_table_of(vtab);
	int rc = ckfs_check_idle(table);

	(void)schema;
	(void)name;
	(void)flags;
	if (rc == SQLITE_OK)
		rc = ckfs_check_table(table);
	if (rc != SQLITE_CORRUPT_VTAB || !vtab->zErrMsg)
		return rc;
	*found = vtab->zErrMsg;
	vtab->zErrMsg = NULL;
	return SQLITE_OK;
}
