/*
 * library.c - what the library of SQLite can do.  It may be older or newer than the headers that
 * the extension was compiled with.
 */
#include "host.h"

/* The first version that has every routine this extension calls, and the first one that has
 * sqlite3_is_interrupted. */
#define CKFS_LEAST_VERSION 3034000
#define CKFS_INTERRUPT_VERSION 3041000

bool
ckfs_library_will_do(char **error)
{
	if (sqlite3_libversion_number() >= CKFS_LEAST_VERSION)
		return true;
	if (error)
		*error = sqlite3_mprintf("cuckoofilter needs SQLite 3.34.0 or later, not %s",
								 sqlite3_libversion());
	return false;
}

#if SQLITE_VERSION_NUMBER >= CKFS_INTERRUPT_VERSION

static bool
ckfs_call_interrupted(sqlite3 *db)
{
	return sqlite3_is_interrupted(db);
}

#elif defined(SQLITE_CORE)

static bool
ckfs_call_interrupted(sqlite3 *db)
{
	(void)db;
	return false;
}

#else

/*
 * The headers that this was compiled with may lack the routine: those of Debian 12, with which the
 * packages are made, are of 3.40.  A newer library has it at the same index as all later headers,
 * since routines are only ever appended.  Without it, a long call of such a package could not be
 * interrupted in any version of SQLite.
 */
#define CKFS_INTERRUPT_ROUTINE 266

static bool
ckfs_call_interrupted(sqlite3 *db)
{
	typedef int ckfs_routine(sqlite3 *);
	ckfs_routine *const *routines = (ckfs_routine *const *)(const void *)sqlite3_api;

	return routines[CKFS_INTERRUPT_ROUTINE](db);
}

#endif

bool
ckfs_is_interrupted(sqlite3 *db)
{
	return sqlite3_libversion_number() >= CKFS_INTERRUPT_VERSION && ckfs_call_interrupted(db);
}

bool
ckfs_interrupted(sqlite3_context *ctx)
{
	if (!ckfs_is_interrupted(sqlite3_context_db_handle(ctx)))
		return false;
	sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	return true;
}

int
ckfs_read_real(sqlite3 *db, sqlite3_stmt **statement, const char *text, size_t size, double *real,
			   bool *is_number)
{
	/* text that is no number is greater than each number */
	const char *sql = is_number ? "SELECT CAST(?1 AS REAL), ?1 <= CAST(9e999 AS REAL)"
								: "SELECT CAST(?1 AS REAL)";
	int rc = SQLITE_OK;

	if (!*statement)
		rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text64(*statement, 1, text, size, SQLITE_STATIC, SQLITE_UTF8);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(*statement);
	if (rc == SQLITE_ROW)
		*real = sqlite3_column_double(*statement, 0);
	if (rc == SQLITE_ROW && is_number)
		*is_number = sqlite3_column_int(*statement, 1);
	sqlite3_reset(*statement);
	if (rc == SQLITE_DONE) /* no row: an authorizer ignores the SELECT */
		return SQLITE_AUTH;
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}
