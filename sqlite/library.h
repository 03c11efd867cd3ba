/*
 * library.h - what depends on the version of the SQLite library.
 */
#ifndef CKFS_LIBRARY_H
#define CKFS_LIBRARY_H

#include "host.h"

/* Is the library as new as we need it?  If not, *error says so. */
bool ckfs_library_will_do(char **error);

/* Was sqlite3_interrupt called?  Then that is the function's result.  Asked
 * between the steps of long work; SQLite before 3.41 cannot tell. */
bool ckfs_interrupted(sqlite3_context *ctx);

/* The same where there is no function. */
bool ckfs_is_interrupted(sqlite3 *db);

#endif
