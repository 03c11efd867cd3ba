/*
 * atomic.c - whether a table may be used, and the start and end of every change of its rows.
 */
#include "changes.h"

int
ckfs_check_idle(ckfs_table *table)
{
	const ckfs_table *other = NULL;

	while ((other = ckfs_next_instance(table, other)) != NULL)
		if (other->stepping)
			return ckfs_table_fail(table, SQLITE_ERROR,
								   "cuckoofilter table %s.%s is in use: SQL of %s must not use it",
								   table->schema, table->name, table->shadow);
	return SQLITE_OK;
}

int
ckfs_check_usable(ckfs_table *table)
{
	const ckfs_table *other = NULL;
	bool comma;
	int rc;

	rc = ckfs_check_idle(table);
	if (rc != SQLITE_OK)
		return rc;
	ckfs_learn_level(table); /* if it fails, the transaction may be rolled back */
	rc = table->unverified ? ckfs_check_name(table) : SQLITE_OK;
	if (rc == SQLITE_OK && table->invalid)
		rc = ckfs_table_invalid(table, table->invalid);
	if (ckfs_instance_without_savepoints(table))
		table->unverified = true; /* a rollback may go unnoticed */
	if (rc != SQLITE_OK)
		return rc;
	while ((other = ckfs_next_instance(table, other)) != NULL && !other->broken)
		;
	if (!other)
		return SQLITE_OK;
	comma = other->broken_by != NULL;
	return ckfs_table_fail(table, SQLITE_ERROR,
						   "cuckoofilter table %s.%s: an earlier change is incomplete%s%s%s; roll "
						   "back the transaction",
						   table->schema, table->name, comma ? " (" : "",
						   comma ? other->broken_by : "", comma ? ")" : "");
}

int
ckfs_start_write(ckfs_table *table)
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
	table->last_rowid = sqlite3_last_insert_rowid(table->db);
	return SQLITE_OK;
}

int
ckfs_end_write(ckfs_table *table, int rc)
{
	/* the user's last_insert_rowid() must not be that of our rows */
	sqlite3_set_last_insert_rowid(table->db, table->last_rowid);
	return rc;
}

/*
 * An edit that has written only some of its pieces leaves an inconsistent table.  SQLite undoes a
 * failed statement only if it keeps a statement journal, which it does not do for a statement that
 * inserts a single row.  So the table is broken: every lookup, write and commit fails until a
 * rollback to a point before the change.  (SQLite may have rolled back the transaction by itself
 * when one of our statements returns.)
 */
int
ckfs_end_change(ckfs_table *table, int total, int rc)
{
	if (rc == SQLITE_OK || table->state == CKFS_OUTSIDE ||
		sqlite3_total_changes(table->db) == total)
		return rc;
	table->broken = true;
	table->broken_level = table->level;
	if (!table->broken_by && table->base.zErrMsg)
		table->broken_by = sqlite3_mprintf("%s", table->base.zErrMsg);
	return rc;
}

void
ckfs_mend(ckfs_table *table)
{
	table->broken = false;
	sqlite3_free(table->broken_by);
	table->broken_by = NULL;
}
