/*
 * shadow.c - the shadow table NAME_chunk, which has a row for each chunk:
 *
 *   id            where the chunk's range begins (ckf_chunk_id)
 *   chunk         the bytes of the chunk: core/FORMAT.md, section 10
 *   item_classes  bits of ckf_item_class: the classes of the items that were added here
 *   surplus       of a set: the duplicate adds, which stored nothing because the item was stored
 *                 already; an export needs their number
 *
 * All data of a table is in these rows.  So a transaction, a backup or another process sees all of
 * it or nothing.
 */
#include "storage.h"

/* ------------------------------------------------------- create, drop, rename */

/* Whether there is a shadow table of this filter table, under this name, must be `there`.  An
 * authorizer can make the statement before this do nothing. */
static int
ckfs_confirm_shadow(ckfs_table *table, const char *shadow, bool there)
{
	int rc = sqlite3_table_column_metadata(table->db, table->schema, shadow, NULL, NULL, NULL, NULL,
										   NULL, NULL);

	if (rc == SQLITE_NOMEM || (rc == SQLITE_OK) == there)
		return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
	return ckfs_table_fail(
		table, SQLITE_AUTH,
		"cuckoofilter table %s.%s: an authorizer keeps %s from being created, renamed or dropped",
		table->schema, table->name, table->shadow);
}

/* Run the SQL, from sqlite3_mprintf.  Then there must be no shadow table with the name `gone`, and
 * one with the name `there`; each may be NULL. */
static int
ckfs_run_sql(ckfs_table *table, char *sql, const char *gone, const char *there)
{
	int rc = sql ? sqlite3_exec(table->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return ckfs_sql_failed(table, rc);
	if (gone)
		rc = ckfs_confirm_shadow(table, gone, false);
	return rc == SQLITE_OK && there ? ckfs_confirm_shadow(table, there, true) : rc;
}

int
ckfs_shadow_create(ckfs_table *table)
{
	return ckfs_run_sql(table,
						sqlite3_mprintf("CREATE TABLE \"%w\".\"%w\"(id INTEGER PRIMARY KEY, "
										"chunk BLOB, item_classes INTEGER, surplus INTEGER)",
										table->schema, table->shadow),
						NULL, table->shadow);
}

int
ckfs_shadow_drop(ckfs_table *table)
{
	ckfs_shadow_close(table);
	return ckfs_run_sql(
		table, sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w\"", table->schema, table->shadow),
		table->shadow, NULL);
}

int
ckfs_shadow_rename(ckfs_table *table, const char *name)
{
	char *shadow = sqlite3_mprintf("%s_" CKFS_SHADOW, name);
	int rc = SQLITE_NOMEM;

	if (shadow)
		rc = ckfs_run_sql(table,
						  sqlite3_mprintf("ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w\"",
										  table->schema, table->shadow, shadow),
						  table->shadow, shadow);
	sqlite3_free(shadow);
	return rc;
}

/* ------------------------------------------------------------ transactions */

/* Run a statement that inserts no row.  As for any INSERT .. SELECT, SQLite opens a savepoint for
 * it if a transaction is open. */
static int
ckfs_insert_nothing(ckfs_table *table, const char *into, const char *column, unsigned flags)
{
	sqlite3_stmt *statement = NULL;
	int rc = ckfs_prepare(table,
						  sqlite3_mprintf("INSERT INTO \"%w\".\"%w\"(%s) SELECT 0 WHERE 0",
										  table->schema, into, column),
						  flags, &statement);

	if (rc != SQLITE_OK)
		return rc;
	while (sqlite3_step(statement) == SQLITE_ROW) /* the row of PRAGMA count_changes */
		continue;
	return sqlite3_finalize(statement);
}

void
ckfs_learn_level(ckfs_table *table)
{
	if (!table->invalid && !table->stepping && ckfs_instance_without_savepoints(table))
		ckfs_insert_nothing(table, table->shadow, "id", SQLITE_PREPARE_NO_VTAB);
}

int
ckfs_join_transaction(ckfs_table *table)
{
	int rc = ckfs_insert_nothing(table, table->name, "item", 0);

	if (rc != SQLITE_OK)
		return ckfs_sql_failed(table, rc);
	return table->state == CKFS_OUTSIDE ? ckfs_write_suppressed(table) : SQLITE_OK;
}
