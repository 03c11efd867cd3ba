/*
 * instances.c - the instances of filter tables in a connection, and whether each still belongs to
 * the table that has its name.
 *
 * An instance is what SQLite gets from xConnect; it may connect a table more than once.  An
 * instance keeps the name with which it was connected.  After ALTER TABLE RENAME, DROP TABLE and a
 * rollback of either, SQLite connects a new instance, but statements that are running, and the
 * transaction, keep the old one.  Such an old instance is invalid: it answers nothing and writes
 * nothing, since another table may have its name.
 */
#include "storage.h"

static bool
ckfs_is_same_table(const ckfs_table *a, const ckfs_table *b)
{
	return !a->invalid && !b->invalid && a->name_hash == b->name_hash &&
		   sqlite3_stricmp(a->name, b->name) == 0 && sqlite3_stricmp(a->schema, b->schema) == 0;
}

/* FNV-1a, for which letters of both cases are equal. */
static uint32_t
ckfs_hash_name(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ ((unsigned char)*name | 0x20)) * 16777619;
	return hash;
}

ckfs_table *
ckfs_next_instance(const ckfs_table *table, const ckfs_table *other)
{
	ckfs_table *next = other ? other->next : *table->chain;

	while (next && next != table && !ckfs_is_same_table(next, table))
		next = next->next;
	return next;
}

ckfs_table *
ckfs_instance_without_savepoints(const ckfs_table *table)
{
	ckfs_table *other = NULL;

	if (table->connection->ddl_level != CKFS_NO_DDL)
		while ((other = ckfs_next_instance(table, other)) != NULL && other->gets_savepoints)
			continue;
	return other;
}

void
ckfs_enlist(ckfs_table *table)
{
	table->number = ++table->connection->connected;
	table->name_hash = ckfs_hash_name(table->name);
	table->chain = &table->connection->tables[table->name_hash % CKFS_TABLE_CHAINS];
	table->next = *table->chain;
	*table->chain = table;
}

void
ckfs_delist(ckfs_table *table)
{
	ckfs_table **link = table->chain;

	if (!link)
		return;
	while (*link != table)
		link = &(*link)->next;
	*link = table->next;
}

/* The writer may be reading the list when a statement of its own is rolled back: it frees the list
 * later. */
void
ckfs_pending_drop(ckfs_table *table)
{
	ckfs_pending *pending = &table->pending;

	pending->count = 0;
	pending->item_classes = 0;
	pending->total = 0;
	if (table->stepping)
		return;
	sqlite3_free(pending->hashes);
	pending->hashes = NULL;
	pending->room = 0;
}

/* -------------------------------------------------------------------- rollbacks */

/*
 * A rollback that undoes a CREATE or RENAME of this transaction may give a name to another table,
 * or to none.  SQLite does not report to each instance what became of its table; and it may
 * go on using an instance whose RENAME failed.  So the instances that a rollback may
 * concern are unverified: before one is used again, its name is looked up in SQLite.
 */

void
ckfs_note_ddl(ckfs_table *table, uint64_t number)
{
	ckfs_connection *connection = table->connection;

	if (connection->ddl_level == CKFS_NO_DDL)
		connection->ddl_number = number;
	if (connection->ddl_level < table->level)
		connection->ddl_level = table->level;
}

void
ckfs_note_release(ckfs_connection *connection, int number)
{
	if (connection->ddl_level > number)
		connection->ddl_level = number;
}

void
ckfs_note_rollback(ckfs_connection *connection, int number)
{
	ckfs_table **chain, *table;

	if (connection->ddl_level <= number)
		return;
	connection->ddl_level = number;
	connection->rollbacks++;
	for (chain = connection->tables; chain < connection->tables + CKFS_TABLE_CHAINS; chain++)
		for (table = *chain; table; table = table->next)
			if (table->invalid || table->number > connection->ddl_number)
				table->unverified = true;
}

int
ckfs_check_name(ckfs_table *table)
{
	ckfs_table *current = NULL;
	sqlite3_stmt *statement = NULL;
	uint64_t rollbacks = table->connection->rollbacks;
	int rc = ckfs_prepare(
		table,
		sqlite3_mprintf("SELECT 1 FROM \"%w\".\"%w\" WHERE item = ?1", table->schema, table->name),
		0, &statement);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(statement, 1, &current, CKFS_INSTANCE_TAG, NULL);
	table->unverified = false; /* this statement may use it */
	if (rc == SQLITE_OK && sqlite3_step(statement) != SQLITE_ROW)
		rc = sqlite3_reset(statement);
	sqlite3_finalize(statement);
	if (table->connection->rollbacks != rollbacks) /* the statement was interrupted, perhaps */
		current = NULL;
	table->unverified = current != table;
	if (current == table)
		table->invalid = NULL;
	else if (!current && rc != SQLITE_OK && (rc & 0xff) != SQLITE_ERROR)
		return ckfs_sql_failed(table, rc);
	else if (!table->invalid)
		return ckfs_table_invalid(table, CKFS_ROLLED_BACK);
	return SQLITE_OK;
}
