/*
 * insert_delete.c - INSERT and DELETE, and the errors for what a filter cannot do.
 */
#include "methods.h"

#include "../argument.h"
#include "messages.h"

/* Add an item, unless it is NULL. */
static int
ckfs_insert_item(ckfs_table *table, sqlite3_value *value, sqlite3_int64 *rowid)
{
	ckfs_hashed item;
	int rc = ckfs_hash_value(value, table->params.seed, &item);

	if (rc == SQLITE_DONE) /* NULL is never an item */
		return SQLITE_OK;
	if (rc == SQLITE_MISMATCH || (rc == SQLITE_OK && item.is_filter))
		return ckfs_table_fail(table, SQLITE_ERROR,
							   CKF_SAY_FILTER_ITEM
							   ": merge it by INSERT INTO %s(%s, item) VALUES ('merge', filter)",
							   table->name, table->name);
	if (rc == SQLITE_OK)
		rc = ckfs_check_usable(table);
	if (rc == SQLITE_OK)
		rc = ckfs_reserve(table, item.hash, 1);
	if (rc == SQLITE_OK)
		rc = ckfs_add(table, item);
	if (rc == SQLITE_OK)
		*rowid = (sqlite3_int64)item.hash;
	return rc;
}

/* Remove one copy of a hash immediately. */
static int
ckfs_delete_item(ckfs_table *table, uint64_t hash)
{
	int rc = ckfs_write_pending(table);

	return rc == SQLITE_OK ? ckfs_write_removal(table, hash) : rc;
}

/* Items are not unique, so the conflict clause, which a trigger inherits from the statement that
 * fires it, has nothing to resolve. */
int
ckfs_table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
	ckfs_table *table = ckfs_table_of(vtab);
	sqlite3_value **columns = argv + CKFS_UPDATE_COLUMNS;

	if (table->state == CKFS_OUTSIDE) /* a function in the statement has ended the transaction */
		return ckfs_table_invalid(table, CKFS_ROLLED_BACK);
	if (argc == 1)
	{
		if (table->params.set)
			return ckfs_table_status(table, CKF_IS_SET, (ckf_about){0});
		return ckfs_delete_item(table, (uint64_t)sqlite3_value_int64(argv[0]));
	}
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   "items of a cuckoofilter table cannot be updated: delete the old "
							   "item and insert the new one");
	*rowid = sqlite3_last_insert_rowid(table->db);
	if (sqlite3_value_type(columns[CKFS_COLUMN_COPIES]) != SQLITE_NULL)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			"copies of a cuckoofilter table cannot be set: insert the item once for each copy");
	if (sqlite3_value_type(argv[1]) != SQLITE_NULL)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			"the rowid of a cuckoofilter table is the item's hash, and cannot be set");
	if (sqlite3_value_type(columns[CKFS_COLUMN_COMMAND]) != SQLITE_NULL)
		return ckfs_command(table, columns[CKFS_COLUMN_COMMAND], columns[CKFS_COLUMN_ITEM]);
	return ckfs_insert_item(table, columns[CKFS_COLUMN_ITEM], rowid);
}
