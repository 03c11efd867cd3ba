/*
 * cuckoofilter_sqlite.h - for programs that have the extension linked in: it was compiled with
 * -DSQLITE_CORE, by itself or as the amalgamation, cuckoofilter.c.
 *
 *     sqlite3_auto_extension((void (*)(void))sqlite3_cuckoofilter_init);
 *
 * before the first sqlite3_open gives the functions to each connection that is opened from then on.
 * For a single connection call sqlite3_cuckoofilter_init(db, NULL, NULL).
 */
#ifndef CUCKOOFILTER_SQLITE_H
#define CUCKOOFILTER_SQLITE_H

#include <sqlite3.h>

#ifdef __cplusplus
extern "C"
{
#endif

	struct sqlite3_api_routines;

	/* Register the functions and the virtual table of cuckoofilter with db.  Returns SQLITE_OK or
	 * an error code of SQLite.  On failure *error, unless error is NULL, is a message to free by
	 * sqlite3_free, or NULL.  With -DSQLITE_CORE api is not read. */
	int sqlite3_cuckoofilter_init(sqlite3 *db, char **error,
								  const struct sqlite3_api_routines *api);

#ifdef __cplusplus
}
#endif

#endif
