/*
 * library.h - functions that depend on the version of the SQLite library.
 */
#ifndef CKFS_LIBRARY_H
#define CKFS_LIBRARY_H

#include "host.h"

/* Whether the library is new enough.  If not, *error is the message. */
bool ckfs_library_will_do(char **error);

/* Whether sqlite3_interrupt was called.  If so, this is the result of the function.  Long work
 * checks it between its steps.  SQLite before 3.41 cannot tell. */
bool ckfs_interrupted(sqlite3_context *ctx);

/* The same without a function call. */
bool ckfs_is_interrupted(sqlite3 *db);

#endif
