/*
 * extension.c - the entry point, and the table of SQL functions.  Virtual tables are in table/.
 */
#include "argument.h"
#include "connection.h"
#include "function/function.h"

#include "cuckoofilter_sqlite.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

/* This flag exists since SQLite 3.45; earlier versions ignore it. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

#ifdef _WIN32
#define CKFS_EXPORT __declspec(dllexport)
#else
#define CKFS_EXPORT __attribute__((visibility("default")))
#endif

/*
 * What SQLite may assume.  DETERMINISTIC: the result depends on the arguments alone, so an index
 * may use the function.  INNOCUOUS: triggers and views may call it, even those of a database that
 * somebody else has written.
 */
#define CKFS_PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)
#define CKFS_PURE_JSON (CKFS_PURE | SQLITE_RESULT_SUBTYPE)
#define CKFS_READS (SQLITE_UTF8 | SQLITE_DIRECTONLY) /* it reads the database */
#define CKFS_READS_JSON (CKFS_READS | SQLITE_RESULT_SUBTYPE)
#define CKFS_OPENS (SQLITE_UTF8 | SQLITE_INNOCUOUS) /* each connection has handles of its own */

static const ckfs_items one_item = {ckfs_hash_item, 1};
static const ckfs_items one_pair = {ckfs_hash_pair, 2};
static const ckfs_items one_hash = {ckfs_hash_given, 1};

/* The end of an aggregate, and its value so far. */
typedef struct ckfs_aggregate
{
	void (*final)(sqlite3_context *), (*value)(sqlite3_context *);
} ckfs_aggregate;

static const ckfs_aggregate of_items = {ckfs_final, ckfs_value};
static const ckfs_aggregate of_filters = {ckfs_merge_final, ckfs_merge_value};
static const ckfs_aggregate of_common = {ckfs_intersect_final, ckfs_intersect_value};
static const ckfs_aggregate of_batch = {ckfs_batch_final, ckfs_batch_value};

/* An SQL function, which is registered for each number of arguments from least to most; most is -1
 * if it takes any number.  The call of an aggregate is its step. */
typedef struct ckfs_entry
{
	const char *name;
	int least, most;
	int flags;
	ckfs_function *call;
	const ckfs_items *items;         /* what it takes as an item */
	int what;                        /* what it does; function.h has the types */
	const ckfs_aggregate *aggregate; /* or NULL */
} ckfs_entry;

static const ckfs_entry entries[] = {
	{"cuckoofilter_create", 1, 3, CKFS_PURE, ckfs_sql_create, NULL, 0, NULL},
	{"cuckoofilter_bytes", 1, 3, CKFS_PURE, ckfs_sql_bytes, NULL, 0, NULL},
	{"cuckoofilter_open", 1, 1, CKFS_OPENS, ckfs_sql_open, NULL, 0, NULL},
	{"cuckoofilter_add", 2, 2, CKFS_PURE, ckfs_sql_change, &one_item, CKF_ADD_MANY, NULL},
	{"cuckoofilter_add_all", -1, -1, CKFS_PURE, ckfs_sql_change_all, NULL, CKF_ADD_MANY, NULL},
	{"cuckoofilter_add_pair", 3, 3, CKFS_PURE, ckfs_sql_change, &one_pair, CKF_ADD_MANY, NULL},
	{"cuckoofilter_add_hash", 2, 2, CKFS_PURE, ckfs_sql_change, &one_hash, CKF_ADD_MANY, NULL},
	{"cuckoofilter_contains", 2, 2, CKFS_PURE, ckfs_sql_contains, &one_item, 0, NULL},
	{"cuckoofilter_contains_any", -1, -1, CKFS_PURE, ckfs_sql_contains_some, NULL, true, NULL},
	{"cuckoofilter_contains_all", -1, -1, CKFS_PURE, ckfs_sql_contains_some, NULL, false, NULL},
	{"cuckoofilter_contains_pair", 3, 3, CKFS_PURE, ckfs_sql_contains, &one_pair, 0, NULL},
	{"cuckoofilter_which", 3, 3, CKFS_PURE_JSON, ckfs_sql_which, NULL, 0, NULL},
	{"cuckoofilter_contains_hash", 2, 2, CKFS_PURE, ckfs_sql_contains, &one_hash, 0, NULL},
	{"cuckoofilter_copies", 2, 2, CKFS_PURE, ckfs_sql_copies, NULL, 0, NULL},
	{"cuckoofilter_remove", 2, 2, CKFS_PURE, ckfs_sql_change, &one_item, CKF_REMOVE_MANY, NULL},
	{"cuckoofilter_remove_all", -1, -1, CKFS_PURE, ckfs_sql_change_all, NULL, CKF_REMOVE_MANY,
	 NULL},
	{"cuckoofilter_remove_pair", 3, 3, CKFS_PURE, ckfs_sql_change, &one_pair, CKF_REMOVE_MANY,
	 NULL},
	{"cuckoofilter_remove_hash", 2, 2, CKFS_PURE, ckfs_sql_change, &one_hash, CKF_REMOVE_MANY,
	 NULL},
	{"cuckoofilter_union", 2, 2, CKFS_PURE, ckfs_sql_rebuild, NULL, CKF_UNION, NULL},
	{"cuckoofilter_sum", 2, 2, CKFS_PURE, ckfs_sql_rebuild, NULL, CKF_SUM, NULL},
	{"cuckoofilter_intersect", 2, 2, CKFS_PURE, ckfs_sql_rebuild, NULL, CKF_INTERSECT, NULL},
	{"cuckoofilter_overlap", 2, 2, CKFS_PURE, ckfs_sql_compare, NULL, CKFS_OVERLAP, NULL},
	{"cuckoofilter_overlap_error", 2, 2, CKFS_PURE, ckfs_sql_compare, NULL, CKFS_OVERLAP_ERROR,
	 NULL},
	{"cuckoofilter_jaccard", 2, 2, CKFS_PURE, ckfs_sql_compare, NULL, CKFS_JACCARD, NULL},
	{"cuckoofilter_compact", 1, 1, CKFS_PURE, ckfs_sql_rebuild, NULL, CKF_COMPACT, NULL},
	{"cuckoofilter_count", 1, 1, CKFS_PURE, ckfs_sql_count, NULL, 0, NULL},
	{"cuckoofilter_fpr", 1, 1, CKFS_PURE, ckfs_sql_fpr, NULL, 0, NULL},
	{"cuckoofilter_info", 1, 1, CKFS_PURE_JSON, ckfs_sql_info, NULL, 0, NULL},
	{"cuckoofilter_hash", 1, 2, CKFS_PURE, ckfs_sql_hash, NULL, 0, NULL},
	{"cuckoofilter_part", 2, 2, CKFS_PURE, ckfs_sql_part, NULL, 0, NULL},
	{"cuckoofilter_version", 0, 0, CKFS_PURE, ckfs_sql_version, NULL, 0, NULL},
	{"cuckoofilter_export", 1, 2, CKFS_READS, ckfs_sql_export, NULL, 0, NULL},
	{"cuckoofilter_table_info", 1, 2, CKFS_READS_JSON, ckfs_sql_table_info, NULL, 0, NULL},
	{"cuckoofilter_agg", 1, 4, CKFS_PURE, ckfs_step_item, &one_item, 0, &of_items},
	{"cuckoofilter_agg_pair", 2, 5, CKFS_PURE, ckfs_step_item, &one_pair, 0, &of_items},
	{"cuckoofilter_agg_hash", 1, 4, CKFS_PURE, ckfs_step_item, &one_hash, 0, &of_items},
	{"cuckoofilter_union_agg", 1, 1, CKFS_PURE, ckfs_merge_step, NULL, CKF_MERGE_UNION,
	 &of_filters},
	{"cuckoofilter_sum_agg", 1, 1, CKFS_PURE, ckfs_merge_step, NULL, CKF_MERGE_SUM, &of_filters},
	{"cuckoofilter_intersect_agg", 1, 1, CKFS_PURE, ckfs_intersect_step, NULL, 0, &of_common},
	{"cuckoofilter_add_agg", 2, 2, CKFS_PURE, ckfs_batch_step, NULL, 0, &of_batch},
};

enum
{
	CKFS_ENTRIES = sizeof(entries) / sizeof(entries[0])
};

static ckfs_connection *
ckfs_connect(void)
{
	ckfs_connection *connection =
		sqlite3_malloc64(sizeof(ckfs_connection) + CKFS_ENTRIES * sizeof(ckfs_user));
	int i;

	if (!connection)
		return NULL;
	memset(connection, 0, sizeof(ckfs_connection));
	connection->ddl_level = CKFS_NO_DDL;
	ckfs_handles_start(&connection->handles);
	for (i = 0; i < CKFS_ENTRIES; i++)
		connection->users[i] = (ckfs_user){connection, entries[i].items, entries[i].what};
	return connection;
}

/* Drop a reference.  The last one frees the shared data.  SQLite calls it when it drops the module
 * of tables. */
static void
ckfs_release(void *data)
{
	ckfs_connection *connection = data;

	if (--connection->references > 0)
		return;
	ckfs_handles_end(&connection->handles);
	sqlite3_free(connection);
}

/* SQLite calls this when it drops a function or fails to register it.  The connection was closed,
 * or a version before 1.3.1, which does not check for another one, was loaded after this one. */
static void
ckfs_forget(void *user)
{
	ckfs_connection *connection = ((ckfs_user *)user)->connection;

	connection->replaced = true;
	ckfs_release(connection);
}

static int
ckfs_register(sqlite3 *db, int i, ckfs_user *user)
{
	const ckfs_entry *entry = &entries[i];
	int rc = SQLITE_OK;
	int n;

	for (n = entry->least; n <= entry->most && rc == SQLITE_OK; n++)
	{
		user->connection->references++;
		rc = entry->aggregate
				 ? sqlite3_create_window_function(
					   db, entry->name, n, entry->flags, user, entry->call, entry->aggregate->final,
					   entry->aggregate->value, ckfs_inverse, ckfs_forget)
				 : sqlite3_create_function_v2(db, entry->name, n, entry->flags, user, entry->call,
											  NULL, NULL, ckfs_forget);
	}
	return rc;
}

/* Unregister what was registered: SQLite unloads a library whose entry point fails. */
static void
ckfs_unregister(sqlite3 *db, int i)
{
	const ckfs_entry *entry = &entries[i];
	int n;

	for (n = entry->least; n <= entry->most; n++)
		sqlite3_create_function_v2(db, entry->name, n, entry->flags, NULL, NULL, NULL, NULL, NULL);
}

/* ------------------------------------------------------ loaded more than once */

/* Whether the connection has a function of this name.  To call it would be simpler, but its absence
 * would be logged as an error. */
static int
ckfs_has_function(sqlite3 *db, const char *name, bool *has)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA function_list", -1, &statement, NULL);

	*has = false;
	if (rc == SQLITE_AUTH) /* an authorizer denies PRAGMA, so this cannot be found out */
		return SQLITE_OK;
	while (rc == SQLITE_OK && !*has && sqlite3_step(statement) == SQLITE_ROW)
	{
		const char *found = (const char *)sqlite3_column_text(statement, 0);

		*has = found && sqlite3_stricmp(found, name) == 0;
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_reset(statement);
	sqlite3_finalize(statement);
	return rc;
}

/*
 * Find out whether the extension is loaded already.  Two copies in one connection would store
 * pending adds of one table in two places, and one would read the memory of the other.  *loaded:
 * this version is loaded, from this file or another one, so there is nothing to do.  Another
 * version is an error.
 */
static int
ckfs_find_loaded(sqlite3 *db, bool *loaded, char **error)
{
	sqlite3_stmt *statement = NULL;
	int rc = ckfs_has_function(db, "cuckoofilter_version", loaded);
	const char *version = NULL;

	if (rc != SQLITE_OK || !*loaded)
		return rc;
	rc = sqlite3_prepare_v2(db, "SELECT cuckoofilter_version()", -1, &statement, NULL);
	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		version = (const char *)sqlite3_column_text(statement, 0);
	if (version && strcmp(version, CKF_VERSION) != 0)
	{
		rc = SQLITE_ERROR;
		if (error)
			*error = sqlite3_mprintf(
				"cuckoofilter %s cannot be loaded: this connection already has cuckoofilter %s",
				CKF_VERSION, version);
	}
	else if (!version)
		rc = sqlite3_errcode(db) == SQLITE_ROW ? SQLITE_ERROR : sqlite3_errcode(db);
	sqlite3_finalize(statement);
	return rc;
}

/* SQLite looks for this name in a library called cuckoofilter. */
CKFS_EXPORT int
sqlite3_cuckoofilter_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	ckfs_connection *connection;
	bool loaded;
	int i, rc;

	(void)api;
	SQLITE_EXTENSION_INIT2(api);
	if (!ckfs_library_will_do(error))
		return SQLITE_ERROR;
	rc = ckfs_find_loaded(db, &loaded, error);
	if (rc != SQLITE_OK || loaded)
		return rc;
	connection = ckfs_connect();
	if (!connection)
		return SQLITE_NOMEM;
	connection->references++; /* until all functions are registered */
	for (i = 0; i < CKFS_ENTRIES && rc == SQLITE_OK; i++)
		rc = ckfs_register(db, i, &connection->users[i]);
	if (rc == SQLITE_OK)
	{
		connection->references++;
		rc = ckfs_register_table(db, connection, ckfs_release);
	}
	if (rc != SQLITE_OK && error) /* the extension is loaded already, and a statement is using it */
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	while (rc != SQLITE_OK && i > 0)
		ckfs_unregister(db, --i);
	ckfs_release(connection);
	return rc;
}
