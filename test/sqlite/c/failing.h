/*
 * failing.h - what the suites of failures share: SQLite's allocator, in which one call fails, and
 * the rows of a statement.
 */
#ifndef FAILING_H
#define FAILING_H

#include "check.h"
#include "sqlite3.h"

enum
{
	LONGEST = 1 << 20 /* text of rows */
};

typedef enum fault
{
	MEMORY,
	DISK
} fault;

static sqlite3_mem_methods system_memory;
static fault kind = MEMORY;
static long until_failure = -1; /* calls of this kind to go; -1: none fails */
static bool has_failed;

static inline bool
fails(fault of)
{
	bool now = of == kind && until_failure == 0;

	if (of == kind && until_failure >= 0)
		until_failure--;
	has_failed |= now;
	return now;
}

static void *
failing_malloc(int size)
{
	return fails(MEMORY) ? NULL : system_memory.xMalloc(size);
}

static void *
failing_realloc(void *memory, int size)
{
	return fails(MEMORY) ? NULL : system_memory.xRealloc(memory, size);
}

static inline void
install_failing_memory(void)
{
	sqlite3_mem_methods failing;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
	failing = system_memory;
	failing.xMalloc = failing_malloc;
	failing.xRealloc = failing_realloc;
	check(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK, "allocator");
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_initialize();
}

/* Step through a statement; its rows, if it has some, end up in `result`. */
static inline int
step_all(sqlite3_stmt *stmt, char *result)
{
	size_t used = 0;
	int rc, i;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		for (i = 0; i < sqlite3_column_count(stmt); i++)
		{
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			if (!text && sqlite3_column_type(stmt, i) != SQLITE_NULL)
				return SQLITE_NOMEM; /* for the column as text */
			used += (size_t)snprintf(result + used, LONGEST - used, "%s|", text ? text : "");
		}
	return rc;
}

#endif
