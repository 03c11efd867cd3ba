/*
 * change.c - a change of several rows, which changes all of them or none.
 *
 * An edit that has written only some of its parts leaves an inconsistent table.  SQLite undoes a
 * failed statement only if it keeps a statement journal, which it does not do for a statement that
 * inserts a single row.  So the table is marked as broken from the first part that is written until
 * the last one.  If the change fails in between, the table stays broken: every lookup, write and
 * commit fails until a rollback to a point before the change. (SQLite may have rolled back the
 * transaction by itself when one of our statements returns.)
 */
#include "table.h"

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
