/*
 * instances.c - the tables of a connection, of which SQLite may have connected one more than once.
 */
#include "table.h"

static bool
ckfs_is_same_table(const ckfs_table *a, const ckfs_table *b)
{
	return sqlite3_stricmp(a->schema, b->schema) == 0 && sqlite3_stricmp(a->name, b->name) == 0;
}

ckfs_table *
ckfs_next_instance(const ckfs_table *table, const ckfs_table *other)
{
	ckfs_table *next = other ? other->next : table->connection->tables;

	while (next && !ckfs_is_same_table(next, table))
		next = next->next;
	return next;
}

void
ckfs_enlist(ckfs_table *table)
{
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
