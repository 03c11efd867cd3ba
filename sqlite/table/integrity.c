/*
 * integrity.c - check each chunk of a table, and that all chunks together are consistent.
 */
#include "table.h"

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

/* Make a message about a row. */
static int
ckfs_found(ckfs_table *table, int64_t id, const char *wrong, char **found)
{
	*found = sqlite3_mprintf("cuckoofilter table %s.%s is damaged: %s at chunk %lld", table->schema,
							 table->name, wrong, (long long)id);
	return *found ? SQLITE_OK : SQLITE_NOMEM;
}

int
ckfs_check_table(ckfs_table *table, char **found)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_FROM, &rc);
	uint64_t next = 0;
	bool end = false, empty = true;
	const char *wrong = NULL;
	ckfs_row row = {.id = INT64_MIN};

	*found = NULL;
	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, INT64_MIN);
	while (!wrong && (rc = ckfs_step(table, statement)) == SQLITE_ROW)
	{
		empty = false;
		rc = ckfs_read_row(table, statement, &row);
		if (rc == SQLITE_CORRUPT_VTAB)
			wrong = "wrong bytes";
		else if (rc == SQLITE_OK)
			wrong = ckfs_check_row(&row, &next, &end);
		else
			break;
	}
	sqlite3_reset(statement);
	if (!wrong && rc == SQLITE_OK && !empty && !end)
		wrong = "a range without a chunk";
	return wrong ? ckfs_found(table, row.id, wrong, found) : rc;
}

int
ckfs_table_integrity(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
					 char **found)
{
	(void)schema;
	(void)name;
	(void)flags;
	return ckfs_check_table(ckfs_table_of(vtab), found);
}
