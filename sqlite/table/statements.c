/*
 * statements.c - our statements on the shadow table, how each is compiled and run, and the errors
 * of a filter table.
 */
#include "storage.h"

#include <stdarg.h>
#include <string.h>

/* Bytes that a row of a rowid table takes besides its BLOB: the cell pointer, the sizes, the id,
 * and the types of four columns; and the bytes of a page that are not for rows. */
#define CKFS_ROW_ROOM (2 + 2 + 9 + 6)
#define CKFS_PAGE_HEADER 8

/* The bytes of a page that stay free for chunks that grow by the next adds.  Without them, each
 * such chunk would split a page. */
#define CKFS_PAGE_SLACK 128

#define CKFS_COLUMNS "id, chunk, item_classes, surplus"

/* What is before and after the name of the shadow table. */
static const char *const ckfs_sql[CKFS_STATEMENTS][2] = {
	[CKFS_FIND] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id <= ?1 ORDER BY id DESC LIMIT 1"},
	/* without WHERE, so that no row is hidden if an authorizer hides columns: see rows.c */
	[CKFS_ALL] = {"SELECT " CKFS_COLUMNS " FROM", "ORDER BY id"},
	[CKFS_FROM] = {"SELECT " CKFS_COLUMNS " FROM", "WHERE id >= ?1 ORDER BY id"},
	[CKFS_PUT] = {"INSERT INTO", "(" CKFS_COLUMNS ") VALUES(?1, ?2, ?3, ?4)"},
	[CKFS_CHANGE] = {"UPDATE", "SET chunk = ?2, item_classes = ?3, surplus = ?4 WHERE id = ?1"},
	[CKFS_PUT_DUPLICATES] = {"UPDATE", "SET surplus = ?2 WHERE id = ?1"},
	[CKFS_DROP] = {"DELETE FROM", "WHERE id BETWEEN ?1 AND ?2"},
	[CKFS_CLEAR] = {"DELETE FROM", ""},
};

/* ------------------------------------------------------------------ errors */

int
ckfs_table_set_error(ckfs_table *table, char *sentence)
{
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sentence;
	return sentence ? SQLITE_ERROR : SQLITE_NOMEM;
}

int
ckfs_table_fail(ckfs_table *table, int code, const char *format, ...)
{
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = ckfs_table_set_error(table, sqlite3_vmprintf(format, arguments));
	va_end(arguments);
	return rc == SQLITE_ERROR ? code : rc;
}

int
ckfs_table_status(ckfs_table *table, ckf_status status, ckf_about subject)
{
	return ckfs_table_set_error(table, ckfs_error_text(status, subject));
}

int
ckfs_table_invalid(ckfs_table *table, const char *how)
{
	return ckfs_table_fail(table, SQLITE_ERROR, "cuckoofilter table %s.%s %s", table->schema,
						   table->name, how);
}

int
ckfs_table_damaged(ckfs_table *table, int64_t id, const char *what)
{
	return ckfs_table_fail(table, SQLITE_CORRUPT_VTAB,
						   "cuckoofilter table %s.%s is damaged: %s at chunk %lld", table->schema,
						   table->name, what, (long long)id);
}

int
ckfs_write_suppressed(ckfs_table *table)
{
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		"cuckoofilter table %s.%s: an authorizer keeps rows of %s from being changed",
		table->schema, table->name, table->shadow);
}

/* One of our statements failed.  Report the message of SQLite, unless the code alone says
 * enough. */
int
ckfs_sql_failed(ckfs_table *table, int rc)
{
	if ((rc & 0xff) == SQLITE_NOMEM || (rc & 0xff) == SQLITE_INTERRUPT)
		return rc;
	return ckfs_table_fail(table, rc, "%s", sqlite3_errmsg(table->db));
}

/* -------------------------------------------------------------- statements */

int
ckfs_prepare(ckfs_table *table, char *sql, unsigned flags, sqlite3_stmt **statement)
{
	int rc = sql ? sqlite3_prepare_v3(table->db, sql, -1, flags, statement, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

void
ckfs_close_blob(ckfs_table *table)
{
	sqlite3_blob_close(table->blob);
	table->blob = NULL;
	table->lookups = 0;
}

void
ckfs_shadow_close(ckfs_table *table)
{
	int i;

	ckfs_close_blob(table);
	for (i = 0; i < CKFS_STATEMENTS; i++)
	{
		sqlite3_finalize(table->prepared[i].statement);
		table->prepared[i] = (ckfs_prepared){0};
	}
}

int
ckfs_any_row(ckfs_table *table, char *sql, int column, const char *const *values, bool *any)
{
	sqlite3_stmt *statement = NULL;
	int rc = ckfs_prepare(table, sql, 0, &statement);
	const char *const *value;

	*any = false;
	while (rc == SQLITE_OK && !*any && sqlite3_step(statement) == SQLITE_ROW)
	{
		const char *text = (const char *)sqlite3_column_text(statement, column);

		for (value = values; text && *value && !*any; value++)
			*any = strcmp(text, *value) == 0;
	}
	if (rc == SQLITE_OK && !*any)
		rc = sqlite3_reset(statement);
	sqlite3_finalize(statement);
	return rc;
}

/* The triggers, indexes and foreign keys on the shadow table, as a list; NULL: not known. */
static char *
ckfs_companions(ckfs_table *table)
{
	sqlite3_stmt *statement = NULL;
	char *list = NULL;
	int rc = ckfs_prepare(
		table,
		sqlite3_mprintf(
			"SELECT group_concat(type || ' ' || name, ', ') FROM (SELECT type, name, tbl_name FROM "
			"\"%w\".sqlite_master UNION ALL SELECT type, name, tbl_name FROM sqlite_temp_master) "
			"WHERE type IN ('trigger', 'index') AND tbl_name = %Q COLLATE NOCASE",
			table->schema, table->shadow),
		0, &statement);

	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW &&
		sqlite3_column_text(statement, 0))
		list = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return list;
}

/*
 * Refuse a statement that runs triggers, or changes indexes or foreign keys: SQLite may open a
 * savepoint for it, and run SQL of the user.  Its program shows this, as SQLite compiles it for
 * this connection: with temporary triggers, with the foreign keys of other tables if they are
 * enforced, and under an authorizer.
 */
static int
ckfs_check_alone(ckfs_table *table, const char *sql)
{
	static const char *const opcodes[] = {"Program",   "FkCounter", "FkIfZero",
										  "IdxInsert", "IdxDelete", NULL};
	char *list;
	bool any;
	int rc = ckfs_any_row(table, sqlite3_mprintf("EXPLAIN %s", sql), 1, opcodes, &any);

	if (rc != SQLITE_OK || !any)
		return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
	list = ckfs_companions(table);
	rc = ckfs_table_fail(table, SQLITE_ERROR,
						 "cuckoofilter table %s.%s cannot be changed: %s must not have triggers, "
						 "indexes or foreign keys%s%s",
						 table->schema, table->name, table->shadow, list ? ": drop " : "",
						 list ? list : "");
	sqlite3_free(list);
	return rc;
}

unsigned *
ckfs_proved(ckfs_table *table, ckfs_statement which)
{
	ckfs_prepared *prepared = &table->prepared[which];
	int compiled = sqlite3_stmt_status(prepared->statement, SQLITE_STMTSTATUS_REPREPARE, 0);

	if (prepared->compiled != compiled)
	{
		prepared->compiled = compiled;
		prepared->proved = 0;
	}
	return &prepared->proved;
}

sqlite3_stmt *
ckfs_statement_of(ckfs_table *table, ckfs_statement which, int *rc)
{
	ckfs_prepared *prepared = &table->prepared[which];
	char *sql;

	*rc = SQLITE_OK;
	if (prepared->statement)
		return prepared->statement;
	sql = sqlite3_mprintf("%s \"%w\".\"%w\" %s", ckfs_sql[which][0], table->schema, table->shadow,
						  ckfs_sql[which][1]);
	if (!sql)
	{
		*rc = SQLITE_NOMEM;
		return NULL;
	}
	*rc = which >= CKFS_PUT ? ckfs_check_alone(table, sql) : SQLITE_OK;
	if (*rc == SQLITE_OK)
	{
		/* no SQL of the shadow table may use the filter table, which would then never be freed */
		*rc = sqlite3_prepare_v3(table->db, sql, -1,
								 SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB,
								 &prepared->statement, NULL);
		if (*rc != SQLITE_OK)
			*rc = ckfs_sql_failed(table, *rc);
		prepared->proved = which >= CKFS_PUT ? CKFS_ALONE : 0;
	}
	sqlite3_free(sql);
	return prepared->statement;
}

int
ckfs_prepare_add(ckfs_table *table)
{
	int rc;

	if (ckfs_statement_of(table, CKFS_PUT, &rc))
		ckfs_statement_of(table, CKFS_CHANGE, &rc);
	return rc;
}

int
ckfs_step(ckfs_table *table, sqlite3_stmt *statement)
{
	int rc;

	ckfs_assert(!table->stepping);
	table->stepping = true;
	rc = sqlite3_step(statement);
	table->stepping = false;
	if (rc == SQLITE_ROW)
		return rc;
	rc = sqlite3_reset(statement);
	return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
}

int
ckfs_change_rows(ckfs_table *table, ckfs_statement which, int rows)
{
	ckfs_prepared *prepared = &table->prepared[which];
	int rc, alone;

	while ((rc = ckfs_step(table, prepared->statement)) == SQLITE_ROW)
		continue; /* the row of PRAGMA count_changes */
	/* where an authorizer ignores an INSERT, the statement does nothing, and no count changes */
	if (rc == SQLITE_OK && (sqlite3_stmt_readonly(prepared->statement) ||
							(rows >= 0 && sqlite3_changes(table->db) != rows)))
		rc = ckfs_write_suppressed(table);
	if (rc == SQLITE_OK && (*ckfs_proved(table, which) & CKFS_ALONE))
		return rc;
	alone = ckfs_check_alone(table, sqlite3_sql(prepared->statement));
	if (alone == SQLITE_OK)
	{
		prepared->proved |= CKFS_ALONE;
		return rc;
	}
	sqlite3_finalize(prepared->statement);
	*prepared = (ckfs_prepared){0};
	return alone;
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
	return ckfs_change_rows(table, which, rows);
}

/* ------------------------------------------------------------------- pages */

int
ckfs_page_room(ckfs_table *table)
{
	sqlite3_stmt *statement = NULL;
	int rc = ckfs_prepare(table, sqlite3_mprintf("PRAGMA \"%w\".page_size", table->schema), 0,
						  &statement);

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
