/*
 * info.c - cuckoofilter_table_info('name' [, 'schema']): the parameters and statistics of a filter
 * table as JSON.
 */
#include "methods.h"

#include "../function/function.h"
#include "../function/json.h"

#include "cuckoofilter_host.h"

/* Read all rows. */
static int
ckfs_read_info(ckfs_table *table, ckf_tally *tally, unsigned *item_classes, void *scratch)
{
	ckfs_row row;
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);

	while (rc == SQLITE_OK && (rc = ckfs_next_row(table, CKFS_ALL, &row)) == SQLITE_ROW)
	{
		rc = ckfs_is_interrupted(table->db) ? SQLITE_INTERRUPT : SQLITE_OK;
		ckf_tally_chunk(tally, &row.chunk, scratch);
		*item_classes |= row.item_classes;
	}
	ckfs_end_rows(table, CKFS_ALL);
	return rc;
}

/* Count the pages of the shadow table with dbstat.  A library may be built without it, and an
 * authorizer may hide its rows: a table has at least one page. */
static sqlite3_int64
ckfs_count_pages(ckfs_table *table)
{
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 pages = -1;
	int rc = ckfs_prepare(table,
						  sqlite3_mprintf("SELECT count(*) FROM dbstat(%Q) WHERE name = %Q",
										  table->schema, table->shadow),
						  0, &statement);

	if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		pages = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return pages > 0 ? pages : -1;
}

static void
ckfs_append_table(sqlite3_str *json, const ckf_tally *tally, sqlite3_int64 pages)
{
	const ckf_info *info = &tally->info;

	CKF_TABLE_INFO_FIELDS(CKFS_COUNT, CKFS_INTEGER, CKFS_INTEGER, CKFS_REAL, CKFS_WORD, CKFS_WORDS)
	sqlite3_str_appendf(json, ",\"rows\":%llu,\"pages\":", tally->rows);
	if (pages >= 0)
		sqlite3_str_appendf(json, "%lld", pages);
	else
		sqlite3_str_appendall(json, "null");
	sqlite3_str_appendf(json, ",\"distinct_prefixes\":%llu", tally->distinct);
}

static void
ckfs_info_of_table(sqlite3_context *ctx, ckfs_table *table)
{
	ckf_tally tally = {0};
	unsigned item_classes = 0;
	void *scratch = sqlite3_malloc64(CKF_CHUNK_DISTINCT_SCRATCH);
	int rc = scratch ? ckfs_read_info(table, &tally, &item_classes, scratch) : SQLITE_NOMEM;
	sqlite3_str *json;

	sqlite3_free(scratch);
	if (rc != SQLITE_OK)
	{
		ckfs_function_failed(ctx, table->base.zErrMsg, rc);
		return;
	}
	ckf_tally_end(&tally, &table->chunks, item_classes);
	json = ckfs_json_start(ctx, '{');
	ckfs_append_table(json, &tally, ckfs_count_pages(table));
	ckfs_json_result(ctx, json, '}');
}

/* cuckoofilter_table_info(name [, schema]) */
void
ckfs_sql_table_info(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_with_table(ctx, argc, argv, ckfs_info_of_table);
}
