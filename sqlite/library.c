/*
 * library.c - functions that depend on the version of the SQLite library.
 *
 * The library may be older or newer than the headers that the extension was compiled with.
 */
#include "library.h"

/* The first version that has every routine this extension calls, and the first one that tells
 * whether sqlite3_interrupt was called. */
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
ckfs_ask_interrupted(sqlite3 *db)
{
	return sqlite3_is_interrupted(db);
}

#elif defined(SQLITE_CORE)

static bool
ckfs_ask_interrupted(sqlite3 *db)
{
	(void)db;
	return false;
}

#else

/* The headers that this was compiled with may lack the routine.  A newer library has it at the same
 * index as all later headers, since routines are only ever appended. */
#define CKFS_INTERRUPT_ROUTINE 266

static bool
ckfs_ask_interrupted(sqlite3 *db)
{
	typedef int ckfs_routine(sqlite3 *);
	ckfs_routine *const *routines = (ckfs_routine *const *)(const void *)sqlite3_api;

	return routines[CKFS_INTERRUPT_ROUTINE](db);
}

#endif

bool
ckfs_is_interrupted(sqlite3 *db)
{
	return sqlite3_libversion_number() >= CKFS_INTERRUPT_VERSION && ckfs_ask_interrupted(db);
}

bool
ckfs_interrupted(sqlite3_context *ctx)
{
	if (!ckfs_is_interrupted(sqlite3_context_db_handle(ctx)))
		return false;
	sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	return true;
}
