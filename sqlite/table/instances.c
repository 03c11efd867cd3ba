/*
 * instances.c - the tables of a connection, of which SQLite may have connected one more than once,
 * and which of these instances are still of the table that has their name.
 *
 * An instance keeps the name that it was connected with. SQLite connects a new one after ALTER
 * TABLE RENAME, DROP TABLE and a rollback of either, but a statement that runs, and the
 * transaction, keep the old one. Such an instance is gone: it answers nothing and writes nothing,
 * since its name may be that of another table.
 */
#include "table.h"

#include <string.h>

static bool
ckfs_is_same_table(const ckfs_table *a, const ckfs_table *b)
{
	return !a->gone && !b->gone && sqlite3_stricmp(a->schema, b->schema) == 0 &&
		   sqlite3_stricmp(a->name, b->name) == 0;
}

ckfs_table *
ckfs_next_instance(const ckfs_table *table, const ckfs_table *other)
{
	ckfs_table *next = other ? other->next : table->connection->tables;

	while (next && next != table && !ckfs_is_same_table(next, table))
		next = next->next;
	return next;
}

void
ckfs_enlist(ckfs_table *table)
{
	table->number = ++table->connection->connected;
	table->next = table->connection->tables;
	table->connection->tables = table;
}

void
ckfs_delist(ckfs_table *table)
{
	ckfs_table **link = &table->connection->tables;

	while (*link && *link != table)
		link = &(*link)->next;
	if (*link)
		*link = table->next;
}

/* --------------------------------------------------------------- gone and back */

void
ckfs_make_gone(ckfs_table *table, const char *how)
{
	table->gone = how;
	table->gone_level = CKFS_NEVER_BACK;
}

void
ckfs_orphans_gone(ckfs_table *table, const char *name)
{
	ckfs_table *other;

	for (other = table->connection->tables; other; other = other->next)
		if (other != table && !other->gone && sqlite3_stricmp(other->schema, table->schema) == 0 &&
			sqlite3_stricmp(other->name, name) == 0)
		{
			ckfs_waiting_drop(&other->waiting);
			ckfs_make_gone(other, CKFS_ROLLED_BACK);
		}
}

void
ckfs_make_renamed(ckfs_table *table, char *name)
{
	ckfs_table *other, *next;

	ckfs_orphans_gone(table, name);
	for (other = ckfs_next_instance(table, NULL); other; other = next)
	{
		next = ckfs_next_instance(table, other);
		if (other == table)
			continue;
		other->gone = CKFS_RENAMED;
		other->gone_level = other->level;
	}
	table->gone = CKFS_RENAMED;
	table->gone_level = table->level;
	table->renamed_to = name;
	table->renamed_at = table->connection->connected;
}

void
ckfs_unused_gone(ckfs_table *table)
{
	ckfs_table *other, *next;

	for (other = ckfs_next_instance(table, NULL); other; other = next)
	{
		next = ckfs_next_instance(table, other);
		if (!other->unused)
			continue;
		ckfs_make_gone(other, CKFS_ROLLED_BACK);
		other->created_level = CKFS_NOT_CREATED;
	}
}

/* Instances of this name that were connected after the one of this number are of a table that a
 * rollback took away. */
static void
ckfs_later_gone(const ckfs_table *table, const char *name, uint64_t number)
{
	ckfs_table *other;

	for (other = table->connection->tables; other; other = other->next)
		if (other->number > number && sqlite3_stricmp(other->schema, table->schema) == 0 &&
			sqlite3_stricmp(other->name, name) == 0)
			ckfs_make_gone(other, CKFS_ROLLED_BACK);
}

void
ckfs_instance_release(ckfs_table *table, int number)
{
	if (table->created_level > number)
		table->created_level = number;
	if (table->gone_level > number)
		table->gone_level = number;
}

void
ckfs_instance_roll_back(ckfs_table *table, int number)
{
	if (table->gone_level > number) /* the table has its name again */
	{
		if (table->renamed_to)
			ckfs_later_gone(table, table->renamed_to, table->renamed_at);
		sqlite3_free(table->renamed_to);
		table->renamed_to = NULL;
		table->gone = NULL;
		table->gone_level = CKFS_NEVER_BACK;
	}
	if (table->created_level > number)
	{
		ckfs_later_gone(table, table->name, table->number);
		ckfs_make_gone(table, CKFS_ROLLED_BACK);
		table->created_level = CKFS_NOT_CREATED;
		ckfs_waiting_drop(&table->waiting);
	}
}

void
ckfs_instance_settle(ckfs_table *table)
{
	sqlite3_free(table->renamed_to);
	table->renamed_to = NULL;
	table->gone_level = CKFS_NEVER_BACK;
	table->created_level = CKFS_NOT_CREATED;
	table->told = true;
	table->unused = false;
}
