/*
 * rows.c - reading and writing the rows of the shadow table, each with a proof.
 *
 * An authorizer of the program may answer SQLITE_IGNORE.  SQLite then reads a column as NULL, so
 * that a comparison finds no row; it makes a whole SELECT or INSERT do nothing; and it leaves a
 * column of an UPDATE as it is.  None of these is an error.  So *no row* is an answer only if a
 * statement without WHERE has found none, a NULL is an error, and a write must be seen: an INSERT
 * or DELETE by the rows that it changed, an UPDATE by reading the row again.  Setting an authorizer
 * makes SQLite compile its statements again, so an UPDATE is proved once for each compilation and
 * column.
 */
#include "storage.h"

#include "messages.h"

#include <string.h>

/* What can be proved about a statement. */
enum
{
	CKFS_COMMITTED_ONLY = 1, /* a SELECT: reads no rows that may still be rolled back */
	CKFS_CHUNK = 1,          /* an UPDATE: it writes the column */
	CKFS_ITEM_CLASSES = 2,
	CKFS_SURPLUS = 4
	/* 8: CKFS_ALONE */
};

/* ------------------------------------------------------------ shared caches */

/*
 * With PRAGMA read_uncommitted, a connection that shares its cache with others does not lock the
 * tables that it reads: it would see rows between the steps of a change of several rows.  SQLite
 * compiles statements again after a PRAGMA.  A statement that reads a shared cache has an opcode
 * that locks the table.
 */
static int
ckfs_check_committed(ckfs_table *table)
{
	static const char *const zero[] = {"0", NULL}, *const lock[] = {"TableLock", NULL};
	bool off, shared;
	int rc = ckfs_any_row(table, sqlite3_mprintf("PRAGMA read_uncommitted"), 0, zero, &off);

	if (rc == SQLITE_OK ? off : (rc & 0xff) != SQLITE_AUTH)
		return rc == SQLITE_OK ? rc : ckfs_sql_failed(table, rc);
	rc = ckfs_any_row(
		table, sqlite3_mprintf("EXPLAIN SELECT 1 FROM \"%w\".\"%w\"", table->schema, table->shadow),
		1, lock, &shared);
	if (rc != SQLITE_OK)
		return ckfs_sql_failed(table, rc);
	return !shared ? SQLITE_OK
				   : ckfs_table_fail(table, SQLITE_ERROR,
									 "cuckoofilter table %s.%s cannot be read in a shared cache "
									 "with PRAGMA read_uncommitted, which would show changes of "
									 "several rows that are not complete: set it off",
									 table->schema, table->name);
}

/* ------------------------------------------------------------------ reading */

static int
ckfs_table_hidden(ckfs_table *table)
{
	return ckfs_table_fail(table, SQLITE_AUTH,
						   "cuckoofilter table %s.%s: an authorizer hides rows of %s",
						   table->schema, table->name, table->shadow);
}

/* A column of the row is 0.  It must not be NULL. */
static int
ckfs_check_nulls(ckfs_table *table, sqlite3_stmt *statement, const ckfs_row *row)
{
	if (sqlite3_column_type(statement, 0) == SQLITE_NULL) /* a primary key is never NULL */
		return ckfs_table_hidden(table);
	if (sqlite3_column_type(statement, 2) == SQLITE_NULL ||
		sqlite3_column_type(statement, 3) == SQLITE_NULL)
		return ckfs_table_damaged(table, row->id, "a NULL (unless an authorizer hides the column)");
	return SQLITE_OK;
}

/* Open the chunk of the current row. */
static int
ckfs_read_row(ckfs_table *table, sqlite3_stmt *statement, ckfs_row *row)
{
	const void *bytes = sqlite3_column_blob(statement, 1);
	int size = sqlite3_column_bytes(statement, 1);
	int64_t uncounted = table->params.set ? sqlite3_column_int64(statement, 3) : 0;
	int rc = SQLITE_OK;

	row->id = sqlite3_column_int64(statement, 0);
	row->item_classes = (unsigned)sqlite3_column_int(statement, 2) & CKFS_CLASSES;
	row->uncounted = uncounted > 0 ? (uint64_t)uncounted : 0;
	if (!bytes && sqlite3_errcode(table->db) == SQLITE_NOMEM)
		return SQLITE_NOMEM;
	if (row->id == 0 || (row->item_classes & 0xff) == 0 || (table->params.set && uncounted == 0))
		rc = ckfs_check_nulls(table, statement, row);
	if (rc == SQLITE_OK &&
		(!bytes || ckf_chunk_open(&row->chunk, &table->chunks, ckf_chunk_start(row->id), bytes,
								  (size_t)size) != CKF_OK))
		rc = ckfs_table_damaged(table, row->id,
								bytes ? "wrong bytes"
									  : "no bytes (unless an authorizer hides the column)");
	return rc;
}

int
ckfs_start_rows(ckfs_table *table, ckfs_statement which, int64_t from)
{
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, which, &rc);

	if (sqlite3_stmt_busy(statement))
		sqlite3_reset(statement);
	if (statement && which != CKFS_ALL)
		rc = sqlite3_bind_int64(statement, 1, from);
	return rc;
}

void
ckfs_end_rows(ckfs_table *table, ckfs_statement which)
{
	sqlite3_reset(table->prepared[which].statement);
}

int
ckfs_next_row(ckfs_table *table, ckfs_statement which, ckfs_row *row)
{
	sqlite3_stmt *statement = table->prepared[which].statement;
	int rc = ckfs_step(table, statement), found = rc;
	unsigned *proved = ckfs_proved(table, which);

	if (found != SQLITE_ROW && found != SQLITE_OK)
		return rc;
	rc = *proved ? SQLITE_OK : ckfs_check_committed(table);
	if (rc == SQLITE_OK)
		*proved = CKFS_COMMITTED_ONLY;
	if (rc == SQLITE_OK && found == SQLITE_ROW)
		rc = ckfs_read_row(table, statement, row);
	else if (rc == SQLITE_OK && sqlite3_column_count(statement) == 0)
		rc = ckfs_table_hidden(table); /* the authorizer ignored the SELECT */
	if (rc == SQLITE_OK)
		return found;
	sqlite3_reset(statement);
	return rc;
}

int
ckfs_is_empty(ckfs_table *table)
{
	ckfs_row row;
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);

	if (rc == SQLITE_OK)
		rc = ckfs_next_row(table, CKFS_ALL, &row);
	if (rc != SQLITE_ROW)
		return rc;
	ckfs_end_rows(table, CKFS_ALL);
	return ckfs_table_damaged(table, row.id, CKF_DAMAGE_NO_CHUNK);
}

int
ckfs_find_row(ckfs_table *table, uint64_t hash, ckfs_row *row)
{
	int rc = ckfs_start_rows(table, CKFS_FIND, ckf_chunk_id(hash));

	if (rc != SQLITE_OK)
		return rc;
	rc = ckfs_next_row(table, CKFS_FIND, row);
	if (rc == SQLITE_OK)
		rc = ckfs_is_empty(table);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_OK ? SQLITE_DONE : rc;
	if (ckf_chunk_covers(&row->chunk, hash))
		return SQLITE_OK;
	ckfs_end_rows(table, CKFS_FIND);
	return ckfs_table_damaged(table, row->id, CKF_DAMAGE_NO_CHUNK);
}

/* ----------------------------------------------------------------- counting */

/*
 * The number of items is not stored, since each add would then write a second page.  Hashes are
 * evenly distributed, so any chunk gives an estimate: its copies, times 2 to the power of its
 * depth.
 */

int
ckfs_count_copies(ckfs_table *table, ckfs_total *total)
{
	ckfs_row row;
	int rc = ckfs_start_rows(table, CKFS_ALL, 0);

	*total = (ckfs_total){0};
	while (rc == SQLITE_OK && (rc = ckfs_next_row(table, CKFS_ALL, &row)) == SQLITE_ROW)
	{
		rc = SQLITE_OK;
		total->copies += row.chunk.count;
		total->uncounted += row.uncounted;
		total->item_classes |= row.item_classes;
	}
	return rc;
}

int
ckfs_estimate(ckfs_table *table, uint64_t hash, double *copies)
{
	ckfs_row row;
	int rc = ckfs_find_row(table, hash, &row);

	*copies = 0;
	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	*copies = (double)row.chunk.count * (double)((uint64_t)1 << row.chunk.depth);
	ckfs_end_rows(table, CKFS_FIND);
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ writing */

/* An UPDATE has changed a row.  Prove that it has written these columns. */
static int
ckfs_confirm(ckfs_table *table, ckfs_statement which, const ckfs_row *want, unsigned columns)
{
	unsigned *proved = ckfs_proved(table, which);
	ckfs_row row;
	bool same;
	int rc;

	if ((columns & ~*proved) == 0)
		return SQLITE_OK;
	rc = ckfs_find_row(table, ckf_chunk_start(want->id), &row);
	if (rc != SQLITE_OK)
		return rc == SQLITE_DONE ? ckfs_table_kept(table) : rc;
	same = row.id == want->id && (!(columns & CKFS_SURPLUS) || row.uncounted == want->uncounted) &&
		   (!(columns & CKFS_ITEM_CLASSES) || row.item_classes == want->item_classes) &&
		   (!(columns & CKFS_CHUNK) ||
			(row.chunk.size == want->chunk.size &&
			 memcmp(row.chunk.bytes, want->chunk.bytes, row.chunk.size) == 0));
	ckfs_end_rows(table, CKFS_FIND);
	if (!same)
		return ckfs_table_kept(table);
	*proved |= columns;
	return SQLITE_OK;
}

int
ckfs_put(ckfs_table *table, const ckfs_row *old, const ckfs_row *row)
{
	ckfs_statement which = old ? CKFS_CHANGE : CKFS_PUT;
	int rc;
	sqlite3_stmt *statement = ckfs_statement_of(table, which, &rc);

	if (!statement)
		return rc;
	sqlite3_bind_int64(statement, 1, row->id);
	sqlite3_bind_blob(statement, 2, row->chunk.bytes, (int)row->chunk.size, SQLITE_STATIC);
	sqlite3_bind_int(statement, 3, (int)row->item_classes);
	sqlite3_bind_int64(statement, 4, (int64_t)row->uncounted);
	rc = ckfs_change_rows(table, which, 1);
	if (rc != SQLITE_OK || !old)
		return rc;
	/* the engine gives no part that is equal to its chunk, so the first UPDATE proves the column */
	return ckfs_confirm(table, which, row,
						CKFS_CHUNK |
							(old->item_classes != row->item_classes ? CKFS_ITEM_CLASSES : 0) |
							(old->uncounted != row->uncounted ? CKFS_SURPLUS : 0));
}

int
ckfs_put_uncounted(ckfs_table *table, int64_t id, uint64_t uncounted)
{
	ckfs_row row = {.id = id, .uncounted = uncounted};
	int rc = ckfs_change_by(table, CKFS_UNCOUNTED, id, (int64_t)uncounted, 1);

	return rc == SQLITE_OK ? ckfs_confirm(table, CKFS_UNCOUNTED, &row, CKFS_SURPLUS) : rc;
}
