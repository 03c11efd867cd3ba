/*
 * host.h - what every file of the SQLite extension includes: SQLite's interface for extensions and
 * the engine's.
 *
 *   extension.c   the entry point and the table of functions
 *   scalar.c      scalar functions
 *   info.c        cuckoofilter_info; json.h: the JSON that table/info.c writes, too
 *   which.c       cuckoofilter_which; json_array.h: the arrays that it reads
 *   aggregate.c   aggregates over items
 *   merge.c       aggregates over filters
 *   compare.c     what filters have in common
 *   batch.c       cuckoofilter_add_agg, which adds to one filter
 *   table/        the virtual table: table/README.md
 *   argument.c    SQL values to filters, hashes and parameters
 *   handle.c      filters that cuckoofilter_open holds
 *   owned.c       filters in memory of our own: copies, growth, rebuilds, results
 *   collect.c     hashes that come in any order
 *   slots.c       reads each slot of a filter
 *   error.c       every error
 *   library.c     what depends on the version of the SQLite library
 *
 * Files are listed from the top down. Each file includes the headers of the files that it uses.
 * Three headers declare what belongs to no single file: connection.h (what the functions of a
 * connection share), function.h (the functions of SQL) and hashed.h (the hash of an item).
 *
 * Functions that take a sqlite3_context report their failures in it, and
 * return false (or NULL) when the caller has nothing left to do.
 */
#ifndef CKFS_HOST_H
#define CKFS_HOST_H

#include "sqlite3ext.h"
#include "cuckoofilter.h"

SQLITE_EXTENSION_INIT3

#endif
