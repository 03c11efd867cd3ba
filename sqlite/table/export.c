/*
 * export.c - cuckoofilter_export('name' [, 'schema']): a whole table as one filter.
 *
 * A name is resolved by a lookup in the table, with a pointer value as the item: the table
 * recognizes the pointer type and writes its own address into it.  So SQLite resolves the name, and
 * while this lookup stays open, nobody can change the table.
 */
#include "sql.h"

#include "../function/function.h"
#include "../owned.h"
#include "messages.h"

typedef struct ckfs_exported
{
	ckfs_table *table;
	ckfs_total total;
	ckfs_row row; /* the row of CKFS_ALL that it is at */
	bool started;
} ckfs_exported;

void
ckfs_function_failed(sqlite3_context *ctx, const char *message, int rc)
{
	if (rc == SQLITE_NOMEM)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	if (message)
		sqlite3_result_error(ctx, message, -1);
	sqlite3_result_error_code(ctx, rc);
}

/* Step to the next chunk, or to the first one.  SQLITE_OK: there are no more. */
static int
ckfs_export_step(ckfs_exported *exported, bool first)
{
	int rc = first ? ckfs_start_rows(exported->table, CKFS_ALL, 0) : SQLITE_OK;

	return rc == SQLITE_OK ? ckfs_next_row(exported->table, CKFS_ALL, &exported->row) : rc;
}

static ckf_status
ckfs_export_start(ckf_rebuild *rebuild, void *data)
{
	ckfs_exported *exported = data;
	const ckfs_total *total = &exported->total;
	uint64_t added = exported->table->params.set ? total->copies + total->uncounted : 0;
	unsigned item_classes = total->item_classes;
	int limit = sqlite3_limit(exported->table->db, SQLITE_LIMIT_LENGTH, -1);

	/* rows do not say which of their numbers an older version added */
	if (item_classes >> 8)
		item_classes |= CKF_FORM_ROUNDED << 8;
	return ckf_export_start(rebuild, &exported->table->chunks,
							exported->started ? &exported->row.chunk : NULL, added, item_classes,
							(uint64_t)limit);
}

static bool
ckfs_export_feed(ckf_host *host, ckf_rebuild *rebuild, void *data)
{
	ckfs_exported *exported = data;
	int rc = ckfs_export_step(exported, ckf_export_again(rebuild));

	if ((rc == SQLITE_ROW || rc == SQLITE_OK) &&
		ckf_export_feed(rebuild, rc == SQLITE_ROW ? &exported->row.chunk : NULL) == CKF_OK)
		return true;
	if (rc == SQLITE_ROW || rc == SQLITE_OK)
		rc = ckfs_table_damaged(exported->table, exported->row.id, CKF_DAMAGE_GAP);
	ckfs_function_failed(((ckfs_host *)host)->ctx, exported->table->base.zErrMsg, rc);
	return false;
}

static void
ckfs_export_table(sqlite3_context *ctx, ckfs_table *table)
{
	ckfs_exported exported = {.table = table};
	ckf_filter about = table->chunks.exact; /* for the error message */
	const ckf_filter *in = &about;
	ckf_task task = {.goal = CKF_FINISH,
					 .in = &in,
					 .inputs = 1,
					 .start = ckfs_export_start,
					 .feed = ckfs_export_feed,
					 .data = &exported};
	int rc = ckfs_count_copies(table, &exported.total);

	about.count = exported.total.copies;
	about.w = table->chunks.like.w;
	if (rc == SQLITE_OK)
		rc = ckfs_export_step(&exported, true);
	exported.started = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW && rc != SQLITE_OK)
		ckfs_function_failed(ctx, table->base.zErrMsg, rc);
	else
		ckfs_result_of(ctx, &task);
	ckfs_end_rows(table, CKFS_ALL);
}

/* The statement whose lookup finds the table.  NULL, with an error: there is no such table. */
static sqlite3_stmt *
ckfs_find_table(sqlite3_context *ctx, sqlite3_value *name, sqlite3_value *schema,
				ckfs_table **table)
{
	sqlite3 *db = sqlite3_context_db_handle(ctx);
	const char *words[] = {(const char *)sqlite3_value_text(name),
						   schema ? (const char *)sqlite3_value_text(schema) : ""};
	sqlite3_stmt *statement = NULL;
	char *sql;
	int rc;

	if (!words[0] || !words[1])
	{
		sqlite3_result_error_nomem(ctx);
		return NULL;
	}
	sql = schema ? sqlite3_mprintf("SELECT rowid FROM \"%w\".\"%w\" WHERE item = ?1", words[1],
								   words[0])
				 : sqlite3_mprintf("SELECT rowid FROM \"%w\" WHERE item = ?1", words[0]);
	rc = sql ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(statement, 1, table, CKFS_WHICH, NULL);
	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW && *table)
		return statement;
	if (rc == SQLITE_OK)
		rc = sqlite3_reset(statement);
	if ((rc & 0xff) == SQLITE_ERROR || rc == SQLITE_OK)
		ckfs_report(ctx, sqlite3_mprintf("there is no cuckoofilter table \"%s\"%s%s", words[0],
										 rc == SQLITE_OK ? "" : ": ",
										 rc == SQLITE_OK ? "" : sqlite3_errmsg(db)));
	else /* with the extended code: after a plain SQLITE_CORRUPT, SQLite refuses to commit */
		ckfs_function_failed(ctx, sqlite3_errmsg(db),
							 rc == SQLITE_NOMEM ? rc : sqlite3_extended_errcode(db));
	sqlite3_finalize(statement);
	return NULL;
}

void
ckfs_with_table(sqlite3_context *ctx, int argc, sqlite3_value **argv,
				void (*run)(sqlite3_context *, ckfs_table *))
{
	ckfs_table *table = NULL;
	sqlite3_stmt *statement;
	int i;

	for (i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return;
	for (i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) != SQLITE_TEXT)
		{
			ckfs_error_type(ctx, i == 0 ? "table" : "schema", "TEXT", argv[i], "");
			return;
		}
	statement = ckfs_find_table(ctx, argv[0], argc > 1 ? argv[1] : NULL, &table);
	if (!statement)
		return;
	run(ctx, table);
	sqlite3_finalize(statement);
}

/* cuckoofilter_export(name [, schema]) */
void
ckfs_sql_export(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_with_table(ctx, argc, argv, ckfs_export_table);
}
