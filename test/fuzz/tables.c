/*
 * tables.c - fuzz target: the history of a filter table of SQLite.  The bytes choose its arguments
 * and the operations on it, compared with a count of each item: an item in the table is never
 * denied.  They may also write the rows of the table directly; after that any answer or error is
 * accepted.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int sqlite3_cuckoofilter_init(sqlite3 *db, char **message, const void *api);

enum
{
	BLOCKS = 64, /* of items that come and go together */
	MOST_ACTS = 60,
	MOST_ITEMS = 40000,
	MOST_SAVEPOINTS = 5
};

/* How often the items of each block were added. */
typedef struct model
{
	unsigned copies[BLOCKS];
} model;

/* The input, read piece by piece. */
typedef struct input
{
	const uint8_t *at, *end;
} input;

static sqlite3 *db;

static unsigned
take(input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* The items of a block: one, some, or so many that chunks split. */
static int
first_of(unsigned block)
{
	return (int)block * 4000;
}

static int
size_of(unsigned block)
{
	return block < 32 ? 1 : block < 56 ? 30 : block < 62 ? 500 : 4000;
}

static void
fail(const char *sql, const char *why)
{
	fprintf(stderr, "%s: %s\n", sql, why);
	abort();
}

/* Run a statement on a block's items, ?1 .. ?2; its first value. */
static sqlite3_int64
run(const char *sql, unsigned block, bool hostile)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3_int64 value = 0;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
	{
		sqlite3_bind_int(stmt, 1, first_of(block));
		sqlite3_bind_int(stmt, 2, first_of(block) + size_of(block) - 1);
		while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
			value = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	/* a table has room for copies that the whole as one filter has not */
	if (rc != SQLITE_DONE && !hostile && !strstr(sqlite3_errmsg(db), "cannot store so many copies"))
		fail(sql, sqlite3_errmsg(db));
	if (rc == SQLITE_MISUSE || rc == SQLITE_INTERNAL || rc == SQLITE_NOMEM)
		fail(sql, sqlite3_errstr(rc));
	return value;
}

#define SERIES                                                                                     \
	"(WITH RECURSIVE s(x) AS (SELECT ?1 UNION ALL SELECT x + 1 FROM s WHERE x < ?2) SELECT x "     \
	"FROM s)"

static void
ask(const model *truth, unsigned block, unsigned most, bool hostile)
{
	static const char sql[] =
		"SELECT min(coalesce((SELECT copies FROM seen WHERE item = n.x), 0)) FROM " SERIES " AS n";
	unsigned least = truth->copies[block] < most ? truth->copies[block] : most;
	sqlite3_int64 got = run(sql, block, hostile);

	if (!hostile && (got < least || got > most))
		fail(sql, "an item is denied");
}

/* Make the table; *most: the copies it keeps of an item. */
static bool
create(input *in, unsigned *most)
{
	static const char *const rates[] = {"0.01", "0.001", "0.1", "1e-6"};
	static const unsigned sizes[] = {4, 2, 8};
	unsigned set = take(in) % 4 == 0, b = sizes[take(in) % 3];
	char sql[300];

	*most = set ? 1 : 2 * b;
	sqlite3_snprintf(sizeof(sql), sql,
					 "CREATE VIRTUAL TABLE seen USING cuckoofilter(fpr=%s, capacity=%u, kind=%s, "
					 "bucket_size=%u, seed=%u%s)",
					 rates[take(in) % 4], take(in) & 1 ? 100000u : 20000000u,
					 set ? "set" : "deletable", b, take(in),
					 b == 4 && take(in) & 1 ? ", layout=plain" : "");
	run(sql, 0, false);
	return set;
}

/* Write bytes of the input, or of another row, into a row behind the table. */
static void
write_row(input *in)
{
	static const char *const changes[] = {
		"UPDATE seen_chunk SET chunk = ?1 WHERE id = (SELECT id FROM seen_chunk LIMIT 1 OFFSET ?2)",
		"DELETE FROM seen_chunk WHERE id = (SELECT id FROM seen_chunk LIMIT 1 OFFSET ?2)",
		"UPDATE seen_chunk SET chunk = (SELECT chunk FROM seen_chunk ORDER BY id DESC LIMIT 1) "
		"WHERE id = (SELECT id FROM seen_chunk LIMIT 1 OFFSET ?2)",
		"UPDATE seen_chunk SET id = id + ?2 WHERE id = (SELECT max(id) FROM seen_chunk)",
		"INSERT INTO seen_chunk(id, chunk) VALUES (?2 * 100000000000000000, ?1)",
		"UPDATE seen_chunk SET chunk = substr(chunk, 1, ?2) || ?1 || substr(chunk, ?2 + 1 + "
		"length(?1)) WHERE id = (SELECT max(id) FROM seen_chunk)",
	};
	sqlite3_stmt *stmt = NULL;
	unsigned which = take(in) % 6, number = take(in), size = take(in) % 64;

	if (size > (size_t)(in->end - in->at))
		size = (unsigned)(in->end - in->at);
	if (sqlite3_prepare_v2(db, changes[which], -1, &stmt, NULL) == SQLITE_OK)
	{
		sqlite3_bind_blob(stmt, 1, in->at, (int)size, SQLITE_TRANSIENT);
		sqlite3_bind_int(stmt, 2, (int)number);
		sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	in->at += size;
}

/* What has happened so far, for rollbacks. */
typedef struct history
{
	model now, at[MOST_SAVEPOINTS];
	int depth; /* savepoints that are open */
	unsigned items;
	bool set, hostile;
} history;

static void
transact(history *past, unsigned way)
{
	char sql[40];

	if (way % 3 == 0 && past->depth < MOST_SAVEPOINTS)
	{
		past->at[past->depth] = past->now;
		sqlite3_snprintf(sizeof(sql), sql, "SAVEPOINT s%d", past->depth++);
		run(sql, 0, past->hostile);
	}
	else if (past->depth > 0)
	{
		int to = (int)(way / 3) % past->depth;

		if (way % 3 == 1)
		{
			past->now = past->at[to];
			sqlite3_snprintf(sizeof(sql), sql, "ROLLBACK TO s%d", to);
			past->depth = to + 1;
		}
		else
		{
			sqlite3_snprintf(sizeof(sql), sql, "RELEASE s%d", to);
			past->depth = to;
		}
		run(sql, 0, past->hostile);
	}
}

static void
act(history *past, input *in, unsigned most)
{
	unsigned way = take(in), block = take(in) % BLOCKS;
	bool hostile = past->hostile;

	switch (way % 12)
	{
		case 0:
		case 1:
		case 2:
			if (past->items + (unsigned)size_of(block) > MOST_ITEMS)
				break;
			past->items += (unsigned)size_of(block);
			past->now.copies[block]++;
			run("INSERT INTO seen(item) SELECT x FROM " SERIES, block, hostile);
			break;
		case 3:
		case 4:
			if (past->set || past->now.copies[block] == 0)
				break;
			past->now.copies[block]--;
			run("DELETE FROM seen WHERE item IN " SERIES, block, hostile);
			break;
		case 5:
		case 6:
			ask(&past->now, block, most, hostile);
			break;
		case 7:
			transact(past, take(in));
			break;
		case 8:
			run(way & 16 ? "INSERT INTO seen(seen) VALUES ('optimize')"
						 : "INSERT INTO seen(seen) VALUES ('integrity-check')",
				0, hostile);
			break;
		case 9:
			if (past->items + (unsigned)size_of(block) > MOST_ITEMS)
				break;
			past->items += (unsigned)size_of(block);
			past->now.copies[block]++;
			run("INSERT INTO seen(seen, item) SELECT 'merge', cuckoofilter_agg(x, 1e-7, 20000000, "
				"'seed=' || (SELECT seed FROM seed)) FROM " SERIES,
				block, hostile);
			break;
		case 10:
			if (way < 200)
				run("SELECT length(cuckoofilter_export('seen'))", 0, hostile);
			else
			{
				memset(&past->now, 0, sizeof(past->now));
				run("INSERT INTO seen(seen) VALUES ('delete-all')", 0, hostile);
			}
			break;
		default:
			if (way < 230)
				break;
			past->hostile = true;
			write_row(in);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	history past;
	unsigned most, block;
	input in = {data, data + size};
	int i;

	memset(&past, 0, sizeof(past));
	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
		sqlite3_cuckoofilter_init(db, NULL, NULL) != SQLITE_OK)
		abort();
	past.set = create(&in, &most);
	run("CREATE TABLE seed AS SELECT substr(sql, instr(sql, 'seed=') + 5) + 0 AS seed FROM "
		"sqlite_schema WHERE name = 'seen'",
		0, false);
	for (i = 0; i < MOST_ACTS && in.at < in.end; i++)
		act(&past, &in, most);
	for (block = 0; block < BLOCKS; block++)
		ask(&past.now, block, most, past.hostile);
	if (!past.hostile)
		run("INSERT INTO seen(seen) VALUES ('integrity-check')", 0, false);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	if (sqlite3_close(db) != SQLITE_OK)
		fail("close", "something is still open");
	return 0;
}
