/*
 * shadow.c - the shadow table NAME_chunk, which has a row for each chunk, and the statements on it:
 *
 *   id            where the chunk's range begins (ckf_chunk_id)
 *   chunk         the bytes of the chunk: core/FORMAT.md, section 10
 *   item_classes  bits of ckf_item_class: the classes of the items that were added here
 *   surplus       of a set: the uncounted adds, which stored nothing because the item was stored
 *                 already; an export needs their number
 *
 * All data of a table is in these rows.  So a transaction, a backup or another process sees all of
 * it or nothing.
 */
#include "table.h"

#include <string.h>

/* Bytes that a row of a rowid table takes besides its BLOB: the cell pointer, the sizes, the id,
 * and the types of four columns; and the bytes of a page that are not for rows. */
#define CKFS_ROW_ROOM (2 + 2 + 9 + 6)
#define CKFS_PAGE_HEADER 8

/* The bytes of a page that stay free for chunks that grow by the next adds.  Without them, each
 * such chunk would split a page. */
#define CKFS_PAGE_SLACK 128

#define CKFS_COLUMNS "id, chunk, item_classes, surplus"

/* \"%w\".\"%w_chunk\" follows where %T stands. */
static const char *const ckfs_sql[CKFS_STATEMENTS][2] = {
	[CKFS_FIND] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id <= ?1 ORDER BY id DESC LIMIT 1"},
	[CKFS_FROM] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id >= ?1 ORDER BY id"},
	/* not REPLACE, which would delete other rows if somebody has added a unique index */
	[CKFS_PUT] = {"INSERT INTO",
				  "(" CKFS_COLUMNS ") VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE "
				  "SET chunk = ?2, item_classes = ?3, surplus = ?4"},
	[CKFS_UNCOUNTED] = {"UPDATE", "SET surplus = ?2 WHERE id = ?1"},
	[CKFS_DROP] = {"DELETE FROM", "WHERE id BETWEEN ?1 AND ?2"},
	[CKFS_CLEAR] = {"DELETE FROM", ""},
};

/* ------------------------------------------------------------------ errors */

int
ckfs_table_fail(ckfs_table *table, int code, char *sentence)
{
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sentence;
	return sentence ? code : SQLITE_NOMEM;
}

int
ckfs_table_status(ckfs_table *table, ckf_status status, ckfs_subject subject)
{
	return ckfs_table_fail(table, SQLITE_ERROR, ckfs_sentence(status, subject));
}

int
ckfs_table_damaged(ckfs_table *table, int64_t id, const char *what)
{
	return ckfs_table_fail(table, SQLITE_CORRUPT_VTAB,
						   sqlite3_mprintf("cuckoofilter table %s.%s is damaged: %s at chunk %lld",
										   table->schema, table->name, what, (long long)id));
}

int
ckfs_table_kept(ckfs_table *table)
{
	return ckfs_table_fail(table, SQLITE_ERROR,
						   sqlite3_mprintf("cuckoofilter table %s.%s: a trigger on %s keeps rows "
										   "from being changed",
										   table->schema, table->name, table->shadow));
}

/* One of our statements failed.  Report the message of SQLite, unless the code alone says
 * enough. */
static int
ckfs_sql_failed(ckfs_table *table, int rc)
{
	if ((rc & 0xff) == SQLITE_NOMEM || (rc & 0xff) == SQLITE_INTERRUPT)
		return rc;
	return ckfs_table_fail(table, rc, sqlite3_mprintf("%s", sqlite3_errmsg(table->db)));
}

/* ------------------------------------------------------- create, drop, rename */

static int
ckfs_run_sql(ckfs_table *table, char *sql)
{
	int rc;

	if (!sql)
		return SQLITE_NOMEM;
	rc = sqlite3_exec(table->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
}

int
ckfs_shadow_create(ckfs_table *table)
{
	return ckfs_run_sql(table,
						sqlite3_mprintf("CREATE TABLE \"%w\".\"%w_" CKFS_SHADOW
										"\"(id INTEGER PRIMARY KEY, chunk BLOB, item_classes "
										"INTEGER, surplus INTEGER)",
										table->schema, table->name));
}

int
ckfs_shadow_drop(ckfs_table *table)
{
	ckfs_shadow_close(table);
	return ckfs_run_sql(table, sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w_" CKFS_SHADOW "\"",
											   table->schema, table->name));
}

int
ckfs_shadow_rename(ckfs_table *table, const char *name)
{
	ckfs_shadow_close(table);
	return ckfs_run_sql(table, sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_" CKFS_SHADOW
											   "\" RENAME TO \"%w_" CKFS_SHADOW "\"",
											   table->schema, table->name, name));
}

/* ------------------------------------------------------------ transactions */

/* Run a statement that inserts no row.  As for any INSERT .. SELECT, SQLite opens a savepoint for
 * it if a transaction is open. */
static int
ckfs_insert_nothing(ckfs_table *table, const char *into, const char *column, unsigned flags)
{
	char *sql = sqlite3_mprintf("INSERT INTO \"%w\".\"%w\"(%s) SELECT 0 WHERE 0", table->schema,
								into, column);
	sqlite3_stmt *statement = NULL;
	int rc = sql ? sqlite3_prepare_v3(table->db, sql, -1, flags, &statement, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return rc;
	while (sqlite3_step(statement) == SQLITE_ROW) /* the row of PRAGMA count_changes */
		continue;
	return sqlite3_finalize(statement);
}

void
ckfs_learn_level(ckfs_table *table)
{
	if (table->gone || table->writing || table->stepping)
		return;
	table->unused = false;
	if (!table->told)
		ckfs_insert_nothing(table, table->shadow, "id", SQLITE_PREPARE_NO_VTAB);
}

int
ckfs_join_transaction(ckfs_table *table)
{
	int rc = ckfs_insert_nothing(table, table->name, "item", 0);

	return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
}

/* -------------------------------------------------------------- statements */

void
ckfs_close_blob(ckfs_table *table)
{
	sqlite3_blob_close(table->blob);
	table->blob = NULL;
	table->questions = 0;
}

void
ckfs_shadow_close(ckfs_table *table)
{
	int i;

	ckfs_close_blob(table);
	for (i = 0; i < CKFS_STATEMENTS; i++)
	{
		sqlite3_finalize(table->statements[i]);
		table->statements[i] = NULL;
	}
}

sqlite3_stmt *
ckfs_statement_of(ckfs_table *table, ckfs_statement which, int *rc)
{
	char *sql;

	*rc = SQLITE_OK;
	if (table->statements[which])
		return table->statements[which];
	sql = sqlite3_mprintf("%s \"%w\".\"%w_" CKFS_SHADOW "\" %s", ckfs_sql[which][0], table->schema,
						  table->name, ckfs_sql[which][1]);
	if (!sql)
	{
		*rc = SQLITE_NOMEM;
		return NULL;
	}
	/* no trigger that somebody has added may use the table itself, which would then never be
	 * freed */
	*rc = sqlite3_prepare_v3(table->db, sql, -1, SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB,
							 &table->statements[which], NULL);
	sqlite3_free(sql);
	if (*rc != SQLITE_OK)
		*rc = ckfs_sql_failed(table, *rc);
	return table->statements[which];
}

int
ckfs_step(ckfs_table *table, sqlite3_stmt *statement)
{
	int rc;

	/* a function in a trigger or index of the shadow table may run SQL itself */
	if (table->stepping)
		return ckfs_table_fail(
			table, SQLITE_ERROR,
			sqlite3_mprintf("cuckoofilter table %s.%s cannot be used by SQL of its own table %s",
							table->schema, table->name, table->shadow));
	table->stepping = true;
	rc = sqlite3_step(statement);
	table->stepping = false;
	if (rc == SQLITE_ROW)
		return rc;
	rc = sqlite3_reset(statement);
	return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
}

int
ckfs_change_rows(ckfs_table *table, sqlite3_stmt *statement, int rows)
{
	int total = sqlite3_total_changes(table->db);
	int rc;

	while ((rc = ckfs_step(table, statement)) == SQLITE_ROW) /* the row of PRAGMA count_changes */
		continue;
	if (rc == SQLITE_OK && rows >= 0 && sqlite3_changes(table->db) != rows)
		rc = ckfs_table_kept(table);
	else if (rc == SQLITE_OK && table->changing)
		ckfs_break(table); /* until the other rows are changed, too */
	/* RAISE(FAIL) reports an error and leaves the rows changed */
	if (rc != SQLITE_OK && rows != 0 && sqlite3_changes(table->db) > 0 &&
		sqlite3_total_changes(table->db) != total && !sqlite3_get_autocommit(table->db))
		ckfs_break(table);
	return rc;
}

int
ckfs_change_by(ckfs_table *table, ckfs_statement which, int64_t first, int64_t second, int rows)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, which, &rc);

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, first);
	sqlite3_bind_int64(statement, 2, second);
	return ckfs_change_rows(table, statement, rows);
}

/* -------------------------------------------------------------------- rows */

int
ckfs_read_row(ckfs_table *table, sqlite3_stmt *statement, ckfs_row *row)
{
	const void *bytes = sqlite3_column_blob(statement, 1);
	int size = sqlite3_column_bytes(statement, 1);
	int64_t uncounted = sqlite3_column_int64(statement, 3);

	row->id = sqlite3_column_int64(statement, 0);
	row->item_classes = (unsigned)sqlite3_column_int(statement, 2) & 0xff;
	row->uncounted = uncounted > 0 ? (uint64_t)uncounted : 0;
	if (!bytes && sqlite3_errcode(table->db) == SQLITE_NOMEM)
		return SQLITE_NOMEM;
	if (!bytes || ckf_chunk_open(&row->chunk, &table->chunks, ckf_chunk_start(row->id), bytes,
								 (size_t)size) != CKF_OK)
		return ckfs_table_damaged(table, row->id, "wrong bytes");
	return SQLITE_OK;
}

int
ckfs_find_row(ckfs_table *table, uint64_t hash, sqlite3_stmt **statement, ckfs_row *row)
{
	int rc;

	*statement = ckfs_statement_of(table, CKFS_FIND, &rc);
	if (!*statement)
		return rc;
	sqlite3_bind_int64(*statement, 1, ckf_chunk_id(hash));
	rc = ckfs_step(table, *statement);
	if (rc == SQLITE_OK)
		return SQLITE_DONE;
	if (rc != SQLITE_ROW)
		return rc;
	rc = ckfs_read_row(table, *statement, row);
	if (rc == SQLITE_OK && !ckf_chunk_covers(&row->chunk, hash))
		rc = ckfs_table_damaged(table, row->id, "a range without a chunk");
	if (rc != SQLITE_OK)
		sqlite3_reset(*statement);
	return rc;
}

int
ckfs_put(ckfs_table *table, int64_t id, const uint8_t *bytes, size_t size, unsigned item_classes,
		 uint64_t uncounted)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_PUT, &rc);

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_blob(statement, 2, bytes, (int)size, SQLITE_STATIC);
	sqlite3_bind_int(statement, 3, (int)item_classes);
	sqlite3_bind_int64(statement, 4, (int64_t)uncounted);
	return ckfs_change_rows(table, statement, 1);
}

int
ckfs_is_empty(ckfs_table *table)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_FROM, &rc);
	int64_t id;

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, INT64_MIN);
	rc = ckfs_step(table, statement);
	if (rc != SQLITE_ROW)
		return rc;
	id = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return ckfs_table_damaged(table, id, "a range without a chunk");
}

int
ckfs_page_room(ckfs_table *table)
{
	sqlite3_stmt *statement = NULL;
	char *sql = sqlite3_mprintf("PRAGMA \"%w\".page_size", table->schema);
	int rc = sql ? sqlite3_prepare_v2(table->db, sql, -1, &statement, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
	{
		uint32_t page = (uint32_t)sqlite3_column_int(statement, 0);

		table->chunks.page_room = page - CKFS_PAGE_HEADER;
		table->chunks.page_slack = page / CKFS_PAGE_SLACK;
		table->chunks.row_room = CKFS_ROW_ROOM;
	}
	sqlite3_finalize(statement);
	return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
}
