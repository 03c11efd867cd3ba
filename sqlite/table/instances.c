/*
 * instances.c - the tables of a connection, of which SQLite may have connected one more than once,
 * and their names.
 */
#include "table.h"

#include <string.h>

static bool
ckfs_is_same_table(const ckfs_table *a, const ckfs_table *b)
{
	return !a->dropped && !b->dropped && sqlite3_stricmp(a->schema, b->schema) == 0 &&
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

/* -------------------------------------------------------------------- names */

static void
ckfs_free_names(ckfs_names *names)
{
	if (!names)
		return;
	sqlite3_free(names->name);
	sqlite3_free(names->shadow);
	sqlite3_free(names);
}

/* Exchange the table's names with those of a node. */
static void
ckfs_swap_names(ckfs_table *table, ckfs_names *names)
{
	char *name = table->name, *shadow = table->shadow;

	table->name = names->name;
	table->shadow = names->shadow;
	names->name = name;
	names->shadow = shadow;
}

static ckfs_names *
ckfs_new_names(const char *name)
{
	ckfs_names *names = sqlite3_malloc64(sizeof(ckfs_names));

	if (!names)
		return NULL;
	names->older = NULL;
	names->level = 0;
	names->name = sqlite3_mprintf("%s", name);
	names->shadow = sqlite3_mprintf("%s_" CKFS_SHADOW, name);
	if (names->name && names->shadow)
		return names;
	ckfs_free_names(names);
	return NULL;
}

int
ckfs_names_prepare(ckfs_table *table, const char *name)
{
	ckfs_table *other = NULL;

	while ((other = ckfs_next_instance(table, other)) != NULL)
	{
		other->next_names = ckfs_new_names(name);
		if (!other->next_names)
		{
			ckfs_names_forget(table);
			return SQLITE_NOMEM;
		}
	}
	return SQLITE_OK;
}

void
ckfs_names_forget(ckfs_table *table)
{
	ckfs_table *other = NULL;

	while ((other = ckfs_next_instance(table, other)) != NULL)
	{
		ckfs_free_names(other->next_names);
		other->next_names = NULL;
	}
}

void
ckfs_names_use(ckfs_table *table)
{
	ckfs_table *other;

	for (other = table->connection->tables; other; other = other->next)
		if (other->next_names)
		{
			ckfs_names *names = other->next_names;

			ckfs_swap_names(other, names);
			names->level = table->level;
			names->older = other->names;
			other->names = names;
			other->next_names = NULL;
		}
}

void
ckfs_names_release(ckfs_table *table, int number)
{
	ckfs_names *names;

	for (names = table->names; names && names->level > number; names = names->older)
		names->level = number;
}

void
ckfs_names_roll_back(ckfs_table *table, int number)
{
	while (table->names && table->names->level > number)
	{
		ckfs_names *names = table->names;

		ckfs_swap_names(table, names);
		table->names = names->older;
		ckfs_free_names(names);
		table->renamed = true;
	}
}

void
ckfs_names_end(ckfs_table *table)
{
	while (table->names)
	{
		ckfs_names *names = table->names;

		table->names = names->older;
		ckfs_free_names(names);
	}
}
