/*
 * integrity.c - check each chunk of a table, and that all chunks together are consistent.
 */
#include "methods.h"

#include "cuckoofilter_host.h"

int
ckfs_check_table(ckfs_table *table)
{
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);
	ckf_coverage coverage = {0};
	const char *wrong = NULL;
	ckfs_row row = {.id = INT64_MIN};

	while (!wrong && rc == SQLITE_OK && (rc = ckfs_next_row(table, CKFS_ALL, &row)) == SQLITE_ROW)
	{
		rc = SQLITE_OK;
		wrong = ckf_cover(&coverage, &row.chunk);
	}
	ckfs_end_rows(table, CKFS_ALL);
	if (!wrong && rc == SQLITE_OK)
		wrong = ckf_covered(&coverage);
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
