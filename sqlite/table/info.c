/*
 * info.c - cuckoofilter_table_info('name' [, 'schema']): the parameters and statistics of a filter
 * table as JSON.
 */
#include "sql.h"

#include "../function/function.h"
#include "../function/json.h"

#include <string.h>

/* The fields of CKF_INFO_FIELDS that a table has, and the fields that only tables have. */
typedef struct ckfs_table_info
{
	ckf_info of_filter;
	uint64_t rows;
	uint64_t distinct_prefixes;
	sqlite3_int64 pages; /* -1: unknown */
	bool whole;          /* items are whole hashes */
} ckfs_table_info;

/* Read all rows. */
static int
ckfs_read_info(ckfs_table *table, ckfs_table_info *table_info, ckfs_total *total, void *scratch)
{
	ckfs_row row;
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);

	while (rc == SQLITE_OK && (rc = ckfs_next_row(table, CKFS_ALL, &row)) == SQLITE_ROW)
	{
		rc = ckfs_is_interrupted(table->db) ? SQLITE_INTERRUPT : SQLITE_OK;
		table_info->rows++;
		table_info->of_filter.bytes += row.chunk.size;
		table_info->distinct_prefixes += ckf_chunk_distinct(&row.chunk, scratch);
		table_info->whole = ckf_chunk_is_whole(&row.chunk);
		total->copies += row.chunk.count;
		total->item_classes |= row.item_classes;
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

/* Compute the fields that follow from the parameters and the totals of all rows. */
static void
ckfs_settle_info(ckfs_table *table, ckfs_table_info *table_info, const ckfs_total *total)
{
	uint64_t bytes = table_info->of_filter.bytes;
	uint64_t most = table->chunks.max_count;
	uint64_t capacity;
	uint64_t distinct = table_info->distinct_prefixes;
	ckf_filter about = table->chunks.exact;

	about.count = total->copies;
	about.item_classes = (uint8_t)total->item_classes;
	about.size = (size_t)bytes;
	if (!table_info->whole)
		about.w = table->chunks.like.w;
	ckf_get_info(&about, &table_info->of_filter);
	/* these count distinct items, and what the table accepts */
	capacity = (uint64_t)table_info->of_filter.capacity;
	table_info->of_filter.items_left = capacity > distinct ? capacity - distinct : 0;
	table_info->of_filter.items_to_limit = most > total->copies ? most - total->copies : 0;
	table_info->pages = ckfs_count_pages(table);
}

static void
ckfs_append_table(sqlite3_str *json, const ckfs_table_info *table_info)
{
	const ckf_info *info = &table_info->of_filter;

	CKF_TABLE_INFO_FIELDS(CKFS_COUNT, CKFS_INTEGER, CKFS_INTEGER, CKFS_REAL, CKFS_WORD, CKFS_WORDS)
	sqlite3_str_appendf(json, ",\"rows\":%llu,\"pages\":", table_info->rows);
	if (table_info->pages >= 0)
		sqlite3_str_appendf(json, "%lld", table_info->pages);
	else
		sqlite3_str_appendall(json, "null");
	sqlite3_str_appendf(json, ",\"distinct_prefixes\":%llu", table_info->distinct_prefixes);
}

static void
ckfs_info_of_table(sqlite3_context *ctx, ckfs_table *table)
{
	ckfs_table_info table_info = {.whole = true};
	ckfs_total total = {0};
	void *scratch = sqlite3_malloc64(CKF_CHUNK_DISTINCT_SCRATCH);
	int rc = scratch ? ckfs_read_info(table, &table_info, &total, scratch) : SQLITE_NOMEM;
	sqlite3_str *json;

	sqlite3_free(scratch);
	if (rc != SQLITE_OK)
	{
		ckfs_function_failed(ctx, table->base.zErrMsg, rc);
		return;
	}
	ckfs_settle_info(table, &table_info, &total);
	json = ckfs_json_start(ctx, '{');
	ckfs_append_table(json, &table_info);
	ckfs_json_result(ctx, json, '}');
}

/* cuckoofilter_table_info(name [, schema]) */
void
ckfs_sql_table_info(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckfs_with_table(ctx, argc, argv, ckfs_info_of_table);
}
