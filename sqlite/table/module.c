/*
 * module.c - the module behind CREATE VIRTUAL TABLE: tables come, are planned with, take
 * part in transactions, get other names, and go.
 */
#include "table.h"

#include <string.h>

/* What EXPLAIN QUERY PLAN shows of a question. */
static char ckfs_plan_item[] = "item=";

/* A plan without `item =` costs so much that it is only taken where there is no other; it
 * then ends in an error of ours, which says more than SQLite's "no query solution". */
#define CKFS_NO_PLAN_COST 1e30
#define CKFS_NO_PLAN_ROWS ((int64_t)1 << 40)

/* ------------------------------------------------------------- come and go */

static int
ckfs_table_disconnect(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_delist(table);
	ckfs_shadow_close(table);
	ckfs_depths_end(&table->depths);
	sqlite3_free(table->waiting.hashes);
	sqlite3_free(table->edit);

	sqlite3_free(table->schema);
	sqlite3_free(table->name);
	sqlite3_free(table->shadow);
	sqlite3_free(table->base.zErrMsg); /* of a savepoint: nobody asks for it */
	sqlite3_free(table);
	return SQLITE_OK;
}

/* The columns, of which the last is named as the table and takes commands. */
static int
ckfs_declare(sqlite3 *db, const char *name, char **error)
{
	char *sql;
	int rc;

	if (sqlite3_stricmp(name, "item") == 0 || sqlite3_stricmp(name, "copies") == 0)
	{
		*error = sqlite3_mprintf("a cuckoofilter table cannot be named as its column %s", name);
		return *error ? SQLITE_ERROR : SQLITE_NOMEM;
	}
	sql = sqlite3_mprintf("CREATE TABLE x(item, copies INTEGER HIDDEN, \"%w\" HIDDEN)", name);
	if (!sql)
		return SQLITE_NOMEM;
	rc = sqlite3_declare_vtab(db, sql);
	sqlite3_free(sql);
	return rc;
}

/* What CREATE and a connection that finds the table have in common. */
static int
ckfs_table_start(sqlite3 *db, ckfs_connection *connection, int argc, const char *const *argv,
				 ckfs_table **out, char **error)
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
	table->schema = sqlite3_mprintf("%s", argv[1]);
	table->name = sqlite3_mprintf("%s", argv[2]);
	table->shadow = sqlite3_mprintf("%s_" CKFS_SHADOW, argv[2]);

	rc = table->schema && table->name && table->shadow
			 ? ckfs_table_arguments(db, argc - 3, argv + 3, &table->params, &table->chunks, error)
			 : SQLITE_NOMEM;
	if (rc == SQLITE_OK) /* views and triggers may use it, whoever wrote the schema */
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

static int
ckfs_table_connect(sqlite3 *db, void *connection, int argc, const char *const *argv,
				   sqlite3_vtab **out, char **error)
{
	ckfs_table *table = NULL;
	int rc = ckfs_table_start(db, connection, argc, argv, &table, error);

	*out = table ? &table->base : NULL;
	return rc;
}

static int
ckfs_table_create(sqlite3 *db, void *connection, int argc, const char *const *argv,
				  sqlite3_vtab **out, char **error)
{
	ckfs_table *table = NULL;
	int rc = ckfs_table_start(db, connection, argc, argv, &table, error);

	if (rc == SQLITE_OK)
		rc = ckfs_shadow_create(table);
	if (rc != SQLITE_OK && table)
	{
		*error = table->base.zErrMsg;
		table->base.zErrMsg = NULL;
		ckfs_table_disconnect(&table->base);
		table = NULL;
	}
	*out = table ? &table->base : NULL;
	return rc;
}

static int
ckfs_table_destroy(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab), *other = NULL;
	int rc = ckfs_shadow_drop(table);

	if (rc != SQLITE_OK)
		return rc;
	while ((other = ckfs_next_instance(table, other)) != NULL)
		ckfs_forget_waiting(other);
	return ckfs_table_disconnect(vtab);
}

/* SQLite connects anew under the new name; statements that run still have this instance. */
static int
ckfs_table_rename(sqlite3_vtab *vtab, const char *name)
{
	ckfs_table *table = ckfs_table_of(vtab);
	char *renamed, *shadow;
	int rc;

	if (sqlite3_stricmp(name, "item") == 0 || sqlite3_stricmp(name, "copies") == 0)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("a cuckoofilter table cannot be named as its column %s", name));
	renamed = sqlite3_mprintf("%s", name);
	shadow = sqlite3_mprintf("%s_" CKFS_SHADOW, name);
	rc = renamed && shadow ? ckfs_write_waiting(table) : SQLITE_NOMEM;
	if (rc == SQLITE_OK)
		rc = ckfs_shadow_rename(table, name);
	if (rc == SQLITE_OK)
	{
		char *old = table->name, *old_shadow = table->shadow;

		table->name = renamed;
		table->shadow = shadow;
		renamed = old;
		shadow = old_shadow;
	}
	sqlite3_free(renamed);
	sqlite3_free(shadow);
	return rc;
}

/* Defensive mode keeps SQL of the user from writing such tables. */
static int
ckfs_is_shadow_name(const char *name)
{
	return sqlite3_stricmp(name, CKFS_SHADOW) == 0;
}

/* ---------------------------------------------------------------- planning */

/* A comparison of an item that the filter can answer: equality by bytes.  Under another
 * collation an item may be equal to others, whose hashes are others. */
static bool
ckfs_is_question(sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

	return constraint->usable && constraint->iColumn == CKFS_COLUMN_ITEM &&
		   (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ ||
			constraint->op == SQLITE_INDEX_CONSTRAINT_IS) &&
		   sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static int
ckfs_table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int i = 0;

	(void)vtab;
	while (i < info->nConstraint && !ckfs_is_question(info, i))
		i++;
	if (i < info->nConstraint)
	{
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = CKFS_PLAN_ITEM;
		info->idxStr = ckfs_plan_item;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		info->estimatedCost = 1;
		info->estimatedRows = 1;
	}
	else
	{
		info->idxNum = CKFS_PLAN_NONE;
		info->estimatedCost = CKFS_NO_PLAN_COST;
		info->estimatedRows = CKFS_NO_PLAN_ROWS;
	}
	return SQLITE_OK;
}

/* ------------------------------------------------------------ transactions */

static int
ckfs_table_begin(sqlite3_vtab *vtab)
{
	ckfs_table_of(vtab)->level = 0;
	return SQLITE_OK;
}

static int
ckfs_table_sync(sqlite3_vtab *vtab)
{
	return ckfs_write_waiting(ckfs_table_of(vtab));
}

/* The transaction has ended. */
static int
ckfs_table_end(sqlite3_vtab *vtab)
{
	ckfs_table *table = ckfs_table_of(vtab);

	ckfs_forget_waiting(table);
	ckfs_end_change(table, SQLITE_OK);
	table->level = 0;
	return SQLITE_OK;
}

/* What waits now belongs before the savepoint; what waits later, behind it.  Where that
 * fails there is no such savepoint to go back to. */
static int
ckfs_table_savepoint(sqlite3_vtab *vtab, int number)
{
	ckfs_table *table = ckfs_table_of(vtab);
	int rc;

	table->level = number;
	rc = ckfs_write_waiting(table);
	if (rc == SQLITE_OK)
		table->level = number + 1;
	return rc;
}

static int
ckfs_table_release(sqlite3_vtab *vtab, int number)
{
	ckfs_table_of(vtab)->level = number;
	return SQLITE_OK;
}

static int
ckfs_table_rollback_to(sqlite3_vtab *vtab, int number)
{
	ckfs_table *table = ckfs_table_of(vtab);

	if (number >= table->level) /* which never began */
		return SQLITE_OK;
	ckfs_forget_waiting(table);
	ckfs_close_blob(table);
	if (number < table->broken_level)
		ckfs_end_change(table, SQLITE_OK);
	table->level = number + 1;
	return SQLITE_OK;
}

/* -------------------------------------------------------------- the module */

/*
 * Since 3.44 a module may have xIntegrity, which PRAGMA integrity_check calls, as the next
 * member.  An older header does not know it; a newer library reads it all the same, as
 * iVersion says that it is there, and an older one looks no further than it knows.
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
			.xCommit = ckfs_table_end,
			.xRollback = ckfs_table_end,
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
