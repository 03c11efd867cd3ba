/*
 * host.h - the header that every file of the SQLite extension includes: the interfaces of SQLite
 * and of the engine.
 *
 *   extension.c   the entry point and the table of functions
 *   scalar.c      scalar functions
 *   info.c        cuckoofilter_info; json.h writes its JSON, and that of table/info.c
 *   which.c       cuckoofilter_which; json_array.h reads its candidates
 *   aggregate.c   aggregates over items
 *   merge.c       aggregates over filters
 *   compare.c     comparison of filters
 *   batch.c       cuckoofilter_add_agg, which adds items to one filter
 *   table/        the virtual table: table/README.md
 *   argument.c    SQL values to filters, hashes and parameters
 *   handle.c      the filters that cuckoofilter_open keeps in memory
 *   owned.c       filters in memory of the extension: copies, growth, rebuilds, results
 *   collect.c     collectors of hashes
 *   slots.c       checks the slots of a filter
 *   error.c       every error
 *   library.c     what depends on the version of the SQLite library
 *
 * A file uses only files below it in this list, and includes their headers.  Three headers belong
 * to no single file: connection.h (the data that the functions of a connection share), function.h
 * (the SQL functions) and hashed.h (the hash of an item).
 *
 * Functions that take a sqlite3_context report their failures in it.  They return false or NULL if
 * the caller has nothing left to do.
 */
#ifndef CKFS_HOST_H
#define CKFS_HOST_H

#include "sqlite3ext.h"
#include "cuckoofilter.h"

SQLITE_EXTENSION_INIT3

#endif
