/*
 * cursor.c - a lookup in SQL.  `item = value` gives one row with the value that was looked up, or
 * no row.
 */
#include "methods.h"

#include "../argument.h"
#include "messages.h"

#include <string.h>

typedef struct ckfs_cursor
{
	sqlite3_vtab_cursor base;
	bool found;
	ckfs_hashed hashed;
	int type; /* type of the looked-up item: a number is stored here, anything else as a copy */
	sqlite3_int64 integer;
	double real;
	sqlite3_value *item;
} ckfs_cursor;

static ckfs_cursor *
ckfs_cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (ckfs_cursor *)(void *)cursor;
}

int
ckfs_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	ckfs_cursor *cursor = sqlite3_malloc64(sizeof(ckfs_cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(ckfs_cursor));
	ckfs_table_of(vtab)->cursors++;
	*out = &cursor->base;
	return SQLITE_OK;
}

int
ckfs_cursor_close(sqlite3_vtab_cursor *base)
{
	ckfs_table *table = ckfs_table_of(base->pVtab);
	ckfs_cursor *cursor = ckfs_cursor_of(base);

	if (--table->cursors == 0)
		ckfs_close_blob(table);
	sqlite3_value_free(cursor->item);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* Store the item that was found. */
static int
ckfs_cursor_keep(ckfs_cursor *cursor, sqlite3_value *item)
{
	sqlite3_value_free(cursor->item);
	cursor->item = NULL;
	cursor->type = sqlite3_value_type(item);
	if (cursor->type == SQLITE_INTEGER)
		cursor->integer = sqlite3_value_int64(item);
	else if (cursor->type == SQLITE_FLOAT)
		cursor->real = sqlite3_value_double(item);
	else
	{
		cursor->item = sqlite3_value_dup(item);
		return cursor->item ? SQLITE_OK : SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* Report why the plan has no item to look up.  SQLite does not show a condition that the kind of
 * the join makes useless, so the module cannot tell it from a query without one. */
static int
ckfs_no_lookup(ckfs_table *table, int plan)
{
	if (plan == CKFS_PLAN_COLLATION)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   "cuckoofilter table %s cannot list its items: item is compared "
							   "under another collation than BINARY; write COLLATE BINARY",
							   table->name);
	if (plan == CKFS_PLAN_LATER)
		return ckfs_table_fail(table, SQLITE_ERROR,
							   "cuckoofilter table %s cannot list its items: item is compared with "
							   "a column of a table that is read later, such as another filter "
							   "table; add a condition item = value or item IN (..)",
							   table->name);
	return ckfs_table_fail(
		table, SQLITE_ERROR,
		"cuckoofilter table %s cannot list its items: the query has no condition item = value, "
		"item IN (..) or EXISTS, or a LEFT, RIGHT, FULL or CROSS JOIN keeps it from being used; "
		"for DELETE without WHERE use the command 'delete-all', for UPDATE a DELETE and an INSERT, "
		"for count(*) cuckoofilter_table_info",
		table->name);
}

int
ckfs_cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
				   sqlite3_value **argv)
{
	ckfs_table *table = ckfs_table_of(base->pVtab);
	ckfs_cursor *cursor = ckfs_cursor_of(base);
	ckfs_table **which;
	ckfs_hashed item;
	unsigned copies;
	int rc;

	(void)text;
	(void)argc;
	cursor->found = false;
	if (plan != CKFS_PLAN_ITEM)
		return ckfs_no_lookup(table, plan);
	rc = ckfs_hash_value(argv[0], table->params.seed, &item);
	if (rc == SQLITE_DONE) /* NULL is never an item */
	{
		which = sqlite3_value_pointer(argv[0], CKFS_INSTANCE_TAG);
		if (!which)
			return SQLITE_OK;
		*which = table;
		cursor->found = true;
		cursor->type = SQLITE_NULL;
		return ckfs_write_pending(table);
	}
	if (rc == SQLITE_MISMATCH)
		return ckfs_table_fail(table, SQLITE_ERROR, CKF_SAY_FILTER_ITEM);
	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_look_up(table, item, true, &copies);
	if (rc != SQLITE_OK || copies == 0)
		return rc;
	cursor->found = true;
	cursor->hashed = item;
	return ckfs_cursor_keep(cursor, argv[0]);
}

int
ckfs_cursor_next(sqlite3_vtab_cursor *base)
{
	ckfs_cursor_of(base)->found = false;
	return SQLITE_OK;
}

int
ckfs_cursor_eof(sqlite3_vtab_cursor *base)
{
	return !ckfs_cursor_of(base)->found;
}

int
ckfs_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	ckfs_cursor *cursor = ckfs_cursor_of(base);
	unsigned copies;
	int rc;

	if (column == CKFS_COLUMN_COPIES && cursor->type != SQLITE_NULL)
	{
		rc = ckfs_look_up(ckfs_table_of(base->pVtab), cursor->hashed, false, &copies);
		if (rc != SQLITE_OK)
			return rc;
		sqlite3_result_int(ctx, (int)copies);
	}
	if (column != CKFS_COLUMN_ITEM || cursor->type == SQLITE_NULL)
		return SQLITE_OK;
	if (cursor->type == SQLITE_INTEGER)
		sqlite3_result_int64(ctx, cursor->integer);
	else if (cursor->type == SQLITE_FLOAT)
		sqlite3_result_double(ctx, cursor->real);
	else
		sqlite3_result_value(ctx, cursor->item);
	return SQLITE_OK;
}

int
ckfs_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)ckfs_cursor_of(base)->hashed.hash;
	return SQLITE_OK;
}
