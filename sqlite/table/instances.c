/*
 * instances.c - the instances of filter tables in a connection, and whether each still belongs to
 * the table that has its name.
 *
 * An instance is what SQLite gets from xConnect; it may connect a table more than once.  An
 * instance keeps the name with which it was connected.  After ALTER TABLE RENAME, DROP TABLE and a
 * rollback of either, SQLite connects a new instance, but statements that are running, and the
 * transaction, keep the old one.  Such an old instance is gone: it answers nothing and writes
 * nothing, since another table may have its name.
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

/* Mark an instance whose creation was rolled back.  No later rollback can undo it. */
static void
ckfs_make_rolled_back(ckfs_table *table)
{
	ckfs_make_gone(table, CKFS_ROLLED_BACK);
	table->created_level = CKFS_NOT_CREATED;
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
			ckfs_make_rolled_back(other);
		}
}

void
ckfs_make_renamed(ckfs_table *table, const char *name)
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
		ckfs_make_rolled_back(other);
	}
}

/* ----------------------------------------------------------- CREATE and RENAME */

/*
 * A RENAME in this transaction, or the CREATE of a table that the transaction dropped.  It belongs
 * to the connection, since the instance may be freed before a rollback undoes it.  An instance that
 * SQLite connected after it may be of a table that this rollback removes or renames.
 */
struct ckfs_ddl
{
	struct ckfs_ddl *older;
	int level;       /* a rollback to a savepoint before this level undoes it */
	uint64_t number; /* the number of the last instance that was connected before it */
	char schema[];
};

ckfs_ddl *
ckfs_new_ddl(const ckfs_table *table, int level, uint64_t number)
{
	size_t size = strlen(table->schema) + 1;
	ckfs_ddl *ddl = sqlite3_malloc64(sizeof(ckfs_ddl) + size);

	if (!ddl)
		return NULL;
	ddl->level = level;
	ddl->number = number;
	memcpy(ddl->schema, table->schema, size);
	return ddl;
}

void
ckfs_note_ddl(ckfs_connection *connection, ckfs_ddl *ddl)
{
	ddl->older = connection->ddl;
	connection->ddl = ddl;
}

/* Mark the instances with this name, or with any name, that were connected after this number: their
 * table was removed or renamed by a rollback.  The rollback changes the schema, so SQLite connects
 * new instances. */
static void
ckfs_later_gone(ckfs_connection *connection, const char *schema, const char *name, uint64_t number)
{
	ckfs_table *other;

	for (other = connection->tables; other; other = other->next)
		if (other->number > number && sqlite3_stricmp(other->schema, schema) == 0 &&
			(!name || sqlite3_stricmp(other->name, name) == 0))
			ckfs_make_rolled_back(other);
}

static void
ckfs_ddl_release(ckfs_connection *connection, int number)
{
	ckfs_ddl *ddl;

	for (ddl = connection->ddl; ddl; ddl = ddl->older)
		if (ddl->level > number)
			ddl->level = number;
}

/* Every table in the transaction calls this for the same rollback; the first call finds all
 * entries. */
static void
ckfs_ddl_roll_back(ckfs_connection *connection, int number)
{
	ckfs_ddl **link = &connection->ddl, *ddl;

	while ((ddl = *link) != NULL)
		if (ddl->level > number)
		{
			ckfs_later_gone(connection, ddl->schema, NULL, ddl->number);
			*link = ddl->older;
			sqlite3_free(ddl);
		}
		else
			link = &ddl->older;
}

void
ckfs_ddl_end(ckfs_connection *connection)
{
	ckfs_ddl *ddl;

	while ((ddl = connection->ddl) != NULL)
	{
		connection->ddl = ddl->older;
		sqlite3_free(ddl);
	}
}

/* ----------------------------------------------------------------- savepoints */

void
ckfs_instance_begin(ckfs_table *table)
{
	const ckfs_table *other = table->connection->tables;

	while (other && (other == table || other->state == CKFS_OUTSIDE))
		other = other->next;
	if (!other)
		ckfs_ddl_end(table->connection);
	table->state = CKFS_BEGUN;
}

void
ckfs_instance_release(ckfs_table *table, int number)
{
	ckfs_ddl_release(table->connection, number);
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
		table->gone = NULL;
		table->gone_level = CKFS_NEVER_BACK;
	}
	if (table->created_level > number)
	{
		ckfs_later_gone(table->connection, table->schema, table->name, table->number);
		ckfs_make_rolled_back(table);
		ckfs_waiting_drop(&table->waiting);
	}
	ckfs_ddl_roll_back(table->connection, number);
}

void
ckfs_instance_settle(ckfs_table *table)
{
	table->gone_level = CKFS_NEVER_BACK;
	table->created_level = CKFS_NOT_CREATED;
	table->told = true;
	table->unused = false;
}
