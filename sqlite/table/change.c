/*
 * change.c - a change of several rows: none of them is changed, or all are.
 *
 * An edit that has written some of its parts leaves a table that is not whole. SQLite undoes a
 * failed statement only if it keeps a journal for it, which it does not for a statement that
 * inserts a single row. So the table is broken from the first part written to the last. If the
 * change fails between them, the table stays broken: every question, write and commit fails until
 * a rollback to before the change. (SQLite may have rolled back by itself when a statement of ours
 * returns.)
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
