/*
 * module.c - the virtual table module: create, connect, plan, rename and drop tables, and take part
 * in transactions.
 */
#include "methods.h"

#include "../function/function.h"

#include <string.h>

/* EXPLAIN QUERY PLAN shows this for a lookup. */
static char ckfs_plan_item[] = "item=";

/* A plan without `item =` is so expensive that SQLite uses it only if there is no other plan.  It
 * then fails with an error that says more than SQLite's "no query solution". */
#define CKFS_NO_PLAN_COST 1e30
#define CKFS_NO_PLAN_ROWS ((int64_t)1 << 40)

/* ------------------------------------------------------------- come and go */

static int
ckfs_table_disconnect(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_delist(table);
	ckfs_shadow_close(table);
	ckfs_hints_end(&table->hints);
	ckfs_pending_drop(table);
	sqlite3_free(table->edit);

	sqlite3_free(table->broken_by);
	sqlite3_free(table->schema);
	sqlite3_free(table->name);
	sqlite3_free(table->shadow);
	sqlite3_free(table->base.zErrMsg);
	sqlite3_free(table);
	return SQLITE_OK;
}

/* Whether a table must not have this name, because a column has it. */
static bool
ckfs_is_column(const char *name)
{
	return sqlite3_stricmp(name, "item") == 0 || sqlite3_stricmp(name, "copies") == 0;
}

static char *
ckfs_name_error_text(const char *name)
{
	return sqlite3_mprintf("a cuckoofilter table cannot have the name of its column %s", name);
}

/* Declare the columns.  The last one has the name of the table and takes commands. */
static int
ckfs_declare(sqlite3 *db, const char *name, char **error)
{
	char *sql;
	int rc;

	if (ckfs_is_column(name))
	{
		*error = ckfs_name_error_text(name);
		return *error ? SQLITE_ERROR : SQLITE_NOMEM;
	}
	sql = sqlite3_mprintf("CREATE TABLE x(item, copies INTEGER HIDDEN, \"%w\" HIDDEN)", name);
	if (!sql)
		return SQLITE_NOMEM;
	rc = sqlite3_declare_vtab(db, sql);
	sqlite3_free(sql);
	return rc;
}

/* Allocate an instance, and read its arguments. */
static int
ckfs_table_start(sqlite3 *db, ckfs_connection *connection, bool create, int argc,
				 const char *const *argv, ckfs_table **out, char **error)
{
	ckfs_table *table;
	int rc = ckfs_declare(db, argv[2], error);

	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc64(sizeof(ckfs_table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(ckfs_table));
	table->db = db;
	table->connection = connection;
	table->gets_savepoints = true;
	table->schema = sqlite3_mprintf("%s", argv[1]);
	table->name = sqlite3_mprintf("%s", argv[2]);
	table->shadow = sqlite3_mprintf("%s_" CKFS_SHADOW, argv[2]);

	rc = table->schema && table->name && table->shadow
			 ? ckfs_table_arguments(db, create, argc - 3, argv + 3, &table->params, &table->chunks,
									error)
			 : SQLITE_NOMEM;
	if (rc ==
		SQLITE_OK) /* views and triggers may use the table, even those of an untrusted schema */
		rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	if (rc == SQLITE_OK)
	{
		ckfs_enlist(table);
		*out = table;
	}
	else
		ckfs_table_disconnect(&table->base);
	return rc;
}

/* The common part of xCreate and xConnect. */
static int
ckfs_table_open(sqlite3 *db, ckfs_connection *connection, bool create, int argc,
				const char *const *argv, sqlite3_vtab **out, char **error)
{
	ckfs_table *table = NULL;
	int rc = ckfs_table_start(db, connection, create, argc, argv, &table, error);

	if (rc == SQLITE_OK && create)
		rc = ckfs_shadow_create(table);
	if (rc != SQLITE_OK && table)
	{
		*error = table->base.zErrMsg;
		table->base.zErrMsg = NULL;
		ckfs_table_disconnect(&table->base);
	}
	if (rc == SQLITE_OK && create)
	{
		table->state = CKFS_BEGUN;
		/* otherwise there may be savepoints before it, of the user or of the statements around it;
		 * its level is 0, at least */
		table->gets_savepoints = ckfs_is_alone(db);
		table->unverified = !table->gets_savepoints;
		ckfs_note_ddl(table, table->number - 1);
	}
	else if (rc == SQLITE_OK)
		table->unverified = ckfs_instance_without_savepoints(table) != NULL;
	*out = rc == SQLITE_OK ? &table->base : NULL;
	/* without a message of the module, SQLite reports "vtable constructor failed" */
	if (rc != SQLITE_OK && rc != SQLITE_NOMEM && !*error)
		*error = sqlite3_mprintf("%s", sqlite3_errstr(rc));
	return rc;
}

static int
ckfs_table_connect(sqlite3 *db, void *connection, int argc, const char *const *argv,
				   sqlite3_vtab **out, char **error)
{
	return ckfs_table_open(db, connection, false, argc, argv, out, error);
}

static int
ckfs_table_create(sqlite3 *db, void *connection, int argc, const char *const *argv,
				  sqlite3_vtab **out, char **error)
{
	return ckfs_table_open(db, connection, true, argc, argv, out, error);
}

/* Close all instances of the table, whose name is no longer that of the table.  Statements that
 * still have another instance open must not use a new table of the same name. */
static void
ckfs_invalidate_others(ckfs_table *table, const char *why)
{
	ckfs_table *other = NULL;

	while ((other = ckfs_next_instance(table, other)) != NULL)
	{
		ckfs_pending_drop(other);
		ckfs_shadow_close(other);
		if (other != table)
			other->invalid = why;
	}
}

static int
ckfs_table_destroy(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);
	int rc = ckfs_shadow_drop(table);

	if (rc != SQLITE_OK)
		return rc;
	ckfs_invalidate_others(table, CKFS_DROPPED);
	return ckfs_table_disconnect(vtab);
}

/*
 * SQLite connects a new instance under the new name.  Running statements still have older
 * instances, which are invalid now.  ALTER TABLE does not make the table take part in the
 * transaction, so this does, to learn whether the rename is rolled back.
 */
static int
ckfs_table_rename(sqlite3_vtab *vtab, const char *name)
{
	ckfs_table *table = ckfs_table_of(vtab), *other = NULL;
	uint64_t number = table->connection->connected;
	int rc;

	if (ckfs_is_column(name))
		return ckfs_table_set_error(table, ckfs_name_error_text(name));
	rc = ckfs_join_transaction(table);
	if (rc == SQLITE_OK)
		rc = ckfs_write_pending(table);
	if (rc != SQLITE_OK)
		return rc;
	while ((other = ckfs_next_instance(table, other)) != NULL)
		ckfs_shadow_close(other);
	rc = ckfs_shadow_rename(table, name);
	if (rc != SQLITE_OK)
		return rc;
	ckfs_note_ddl(table, number);
	ckfs_invalidate_others(table, CKFS_RENAMED);
	table->invalid = CKFS_RENAMED;
	return SQLITE_OK;
}

/* In defensive mode, SQLite keeps SQL of the user from writing such tables. */
static int
ckfs_is_shadow_name(const char *name)
{
	return sqlite3_stricmp(name, CKFS_SHADOW) == 0;
}

/* ---------------------------------------------------------------- planning */

/* What the filter can do with a constraint: only equality of bytes can be looked up.  Another
 * collation may treat items as equal that have different hashes. */
static int
ckfs_plan_of(sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

	if (constraint->iColumn != CKFS_COLUMN_ITEM || (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ &&
													constraint->op != SQLITE_INDEX_CONSTRAINT_IS))
		return CKFS_PLAN_NONE;
	if (sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
		return CKFS_PLAN_COLLATION;
	return constraint->usable ? CKFS_PLAN_ITEM : CKFS_PLAN_LATER;
}

static int
ckfs_table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int i, plan, used = 0;

	(void)vtab;
	info->idxNum = CKFS_PLAN_NONE;
	for (i = 0; i < info->nConstraint && info->idxNum != CKFS_PLAN_ITEM; i++)
	{
		plan = ckfs_plan_of(info, i);
		if (plan > info->idxNum)
		{
			info->idxNum = plan;
			used = i;
		}
	}
	if (info->idxNum == CKFS_PLAN_ITEM)
	{
		info->aConstraintUsage[used].argvIndex = 1;
		info->aConstraintUsage[used].omit = 1;
		info->idxStr = ckfs_plan_item;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
	}
	else
	{
		info->estimatedCost = CKFS_NO_PLAN_COST;
		info->estimatedRows = CKFS_NO_PLAN_ROWS;
	}
	return SQLITE_OK;
}

/* ------------------------------------------------------------ transactions */

/*
 * A table takes part in a transaction from xCreate or xBegin on; SQLite calls xBegin before the
 * first write to the table.  At the end SQLite calls xSync and then xCommit, or xRollback.  If
 * COMMIT fails after xSync, the transaction may continue. xRollback may come while one of our
 * statements is running, whose failure it undoes, so it frees nothing that the statement uses.
 *
 * Savepoints are numbered from 0 on; -1 is the one that began the transaction.  A savepoint begins
 * for the user, or for a statement that may have to be undone, which can be one of our own.
 * Savepoints end from the newest on, by xRelease or by xRollbackTo and xRelease, or all together
 * with the transaction.  If a savepoint fails to begin because of another table, the next one gets
 * its number.  A table that was just created hears nothing about the savepoints before it, not even
 * their end, until the next savepoint begins (ckfs_learn_level); so many were open at most.  Until
 * then, each use of the table looks for it first.
 */

static int
ckfs_table_begin(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_assert(table->state == CKFS_OUTSIDE);
	table->state = CKFS_BEGUN;
	table->level = 0;
	return SQLITE_OK;
}

static int
ckfs_table_sync(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_assert(table->state != CKFS_OUTSIDE);
	table->state = CKFS_SYNCED;
	return table->invalid || (table->pending.count == 0 && !table->broken)
			   ? SQLITE_OK
			   : ckfs_write_pending(table);
}

/* End the transaction. */
static void
ckfs_table_end(ckfs_table *table)
{
	ckfs_pending_drop(table);
	ckfs_mend(table);
	table->state = CKFS_OUTSIDE;
	table->gets_savepoints = true;
	table->connection->ddl_level = CKFS_NO_DDL;
	table->level = 0;
}

static int
ckfs_table_commit(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_assert(table->state == CKFS_SYNCED);
	ckfs_assert(table->pending.count == 0);
	ckfs_table_end(table);
	return SQLITE_OK;
}

static int
ckfs_table_rollback(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_note_rollback(table->connection, -1);
	ckfs_table_end(table);
	table->allowed = 0; /* it was estimated from rows that are no longer there */
	return SQLITE_OK;
}

/* Savepoint `number` ends, or a new one with its number begins.  What was done in it belongs to the
 * savepoint around it, so the pending adds are written. */
static int
ckfs_leave_savepoint(ckfs_table *table, int number)
{
	if (number < table->level)
	{
		ckfs_note_release(table->connection, number);
		if (table->broken_level > number)
			table->broken_level = number;
		table->level = number;
	}
	return table->pending.count > 0 && !table->invalid && !table->broken ? ckfs_write_pending(table)
																		 : SQLITE_OK;
}

/*
 * Waiting adds are written before the savepoint begins, so that a rollback to it keeps them.  A
 * statement of ours that opens a savepoint is refused (ckfs_check_alone), so nobody is writing now.
 * Of an error, SQLite reports the code only.  The adds still wait, so the next use of the table
 * reports the message.
 */
static int
ckfs_table_savepoint(sqlite3_vtab *vtab, int number)
{
	ckfs_table *table = ckfs_table_of(vtab);
	int rc;

	ckfs_assert(table->state != CKFS_OUTSIDE && number >= 0 && number + 1 >= table->level);
	rc = ckfs_leave_savepoint(table, number);
	if (rc != SQLITE_OK)
		return rc;
	table->level = number;
	if (!table->gets_savepoints)
		ckfs_note_ddl(table, table->number - 1);
	table->gets_savepoints = true;
	table->level = number + 1;
	return SQLITE_OK;
}

/* Waiting adds are written when a savepoint ends, which is the end of each statement that inserts
 * several rows.  If this fails, SQLite rolls back the transaction and reports the code only. */
static int
ckfs_table_release(sqlite3_vtab *vtab, int number)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_assert(table->state != CKFS_OUTSIDE && number >= 0);
	return ckfs_leave_savepoint(table, number);
}

static int
ckfs_table_rollback_to(sqlite3_vtab *vtab, int number)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_assert(table->state != CKFS_OUTSIDE && number >= -1);
	table->allowed = 0;
	if (number >= table->level) /* it never began */
		return SQLITE_OK;
	ckfs_pending_drop(table);
	ckfs_note_rollback(table->connection, number);
	ckfs_close_blob(table);
	if (number < table->broken_level)
		ckfs_mend(table);
	table->level = number + 1;
	return SQLITE_OK;
}

/* -------------------------------------------------------------- the module */

/*
 * Since 3.44 a module may have xIntegrity as the next member, which PRAGMA integrity_check calls.
 * Older headers do not declare it.  A newer library reads it because iVersion says that it exists,
 * and an older library does not read beyond the members that it knows.
 */
typedef struct ckfs_module
{
	sqlite3_module module;
#if SQLITE_VERSION_NUMBER < 3044000
	int (*xIntegrity)(sqlite3_vtab *vtab, const char *schema, const char *name, int flags,
					  char **found);
#endif
} ckfs_module;

static const ckfs_module ckfs_table_module = {
	.module =
		{
			.iVersion = 4,
			.xCreate = ckfs_table_create,
			.xConnect = ckfs_table_connect,
			.xBestIndex = ckfs_table_best_index,
			.xDisconnect = ckfs_table_disconnect,
			.xDestroy = ckfs_table_destroy,
			.xOpen = ckfs_cursor_open,
			.xClose = ckfs_cursor_close,
			.xFilter = ckfs_cursor_filter,
			.xNext = ckfs_cursor_next,
			.xEof = ckfs_cursor_eof,
			.xColumn = ckfs_cursor_column,
			.xRowid = ckfs_cursor_rowid,
			.xUpdate = ckfs_table_update,
			.xBegin = ckfs_table_begin,
			.xSync = ckfs_table_sync,
			.xCommit = ckfs_table_commit,
			.xRollback = ckfs_table_rollback,
			.xRename = ckfs_table_rename,
			.xSavepoint = ckfs_table_savepoint,
			.xRelease = ckfs_table_release,
			.xRollbackTo = ckfs_table_rollback_to,
			.xShadowName = ckfs_is_shadow_name,
#if SQLITE_VERSION_NUMBER >= 3044000
			.xIntegrity = ckfs_table_integrity,
#endif
		},
#if SQLITE_VERSION_NUMBER < 3044000
	.xIntegrity = ckfs_table_integrity,
#endif
};

int
ckfs_register_table(sqlite3 *db, ckfs_connection *connection, void (*forget)(void *))
{
	return sqlite3_create_module_v2(db, "cuckoofilter", &ckfs_table_module.module, connection,
									forget);
}
