/*
 * writer.c - whether a table may be used, and the start and end of every change of its rows.
 */
#include "table.h"

int
ckfs_check_usable(ckfs_table *table)
{
	const ckfs_table *other = NULL;
	bool comma;

	if (table->gone)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   sqlite3_mprintf("cuckoofilter table %s.%s %s", table->schema,
											   table->name, table->gone));
	ckfs_learn_level(table);
	while ((other = ckfs_next_instance(table, other)) != NULL && !other->broken && !other->writing)
		;
	if (!other)
		return SQLITE_OK;
	if (other->writing)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("cuckoofilter table %s.%s is being written: a trigger or an index on "
							"%s must not read or change it",
							table->schema, table->name, table->shadow));
	comma = other->broken_by != NULL;
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		sqlite3_mprintf("cuckoofilter table %s.%s: an earlier change is incomplete%s%s%s; "
						"roll back the transaction",
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
	sqlite3_set_last_insert_rowid(
		table->db, last_rowid); /* the user's last_insert_rowid() must not be that of our rows */
}
