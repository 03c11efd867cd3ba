/*
 * shadow.c - the shadow table NAME_chunk, a row for each chunk, and the statements over it:
 *
 *   id            where the chunk's range begins (ckf_chunk_id)
 *   chunk         its bytes, core/FORMAT.md, section 10
 *   item_classes  bits of ckf_item_class: items of these classes were added, here at least
 *   surplus       of a set: adds that stored nothing, which export has to know
 *
 * All that a table has is in these rows, so that a transaction, a backup or another process
 * sees all of it or nothing.
 */
#include "table.h"

#include <string.h>

/* Bytes that a row of a rowid table takes besides its BLOB: where it lies, its size, its id,
 * the types of four columns; and those of a page that are for no row. */
#define CKFS_ROW_ROOM (2 + 2 + 9 + 6)
#define CKFS_PAGE_HEADER 8

/* The part of a page that stays free, for chunks that grow by the next adds: else each of
 * these would split a page. */
#define CKFS_PAGE_SLACK 128

#define CKFS_COLUMNS "id, chunk, item_classes, surplus"

/* \"%w\".\"%w_chunk\" follows where %T stands. */
static const char *const ckfs_sql[CKFS_STATEMENTS][2] = {
	[CKFS_FIND] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id <= ?1 ORDER BY id DESC LIMIT 1"},
	[CKFS_FROM] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id >= ?1 ORDER BY id"},
	/* not REPLACE: of a unique index that somebody put there it would delete other rows */
	[CKFS_PUT] = {"INSERT INTO",
				  "(" CKFS_COLUMNS ") VALUES(?1, ?2, ?3, ?4) ON CONFLICT(id) DO UPDATE "
				  "SET chunk = ?2, item_classes = ?3, surplus = ?4"},
	[CKFS_SURPLUS] = {"UPDATE", "SET surplus = ?2 WHERE id = ?1"},
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

/* A statement of ours failed: SQLite's sentence, but where the code says it all. */
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

/* Run a statement that inserts no row.  SQLite opens a savepoint for it, as for any INSERT ..
 * SELECT, if a transaction is open. */
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
	while (sqlite3_step(statement) == SQLITE_ROW) /* of PRAGMA count_changes */
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
	/* no trigger that somebody put there may ask the table itself: it would never be freed */
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

	/* a function that SQL of the shadow table calls may run SQL itself */
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

	while ((rc = ckfs_step(table, statement)) == SQLITE_ROW) /* of PRAGMA count_changes */
		continue;
	if (rc == SQLITE_OK && rows >= 0 && sqlite3_changes(table->db) != rows)
		rc = ckfs_table_kept(table);
	else if (rc == SQLITE_OK && table->changing)
		ckfs_break(table); /* until the others are, too */
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
	int64_t surplus = sqlite3_column_int64(statement, 3);

	row->id = sqlite3_column_int64(statement, 0);
	row->item_classes = (unsigned)sqlite3_column_int(statement, 2) & 0xff;
	row->surplus = surplus > 0 ? (uint64_t)surplus : 0;
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
		 uint64_t surplus)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, CKFS_PUT, &rc);

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_blob(statement, 2, bytes, (int)size, SQLITE_STATIC);
	sqlite3_bind_int(statement, 3, (int)item_classes);
	sqlite3_bind_int64(statement, 4, (int64_t)surplus);
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
