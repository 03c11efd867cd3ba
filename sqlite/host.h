/*
 * host.h - the header that every file of the SQLite extension includes: the interfaces of SQLite
 * and of the engine.
 *
 *   extension.c             the entry point and the table of functions
 *   function/scalar.c       scalar functions
 *   function/info.c         cuckoofilter_info; json.h writes its JSON, and that of table/info.c
 *   function/which.c        cuckoofilter_which; json_array.h reads its candidates
 *   function/aggregate.c    aggregates over items
 *   function/merge.c        aggregates over filters
 *   function/compare.c      rebuilds and comparisons of filters
 *   function/batch.c        cuckoofilter_add_agg, which adds items to one filter
 *   table/                  the virtual table: table/README.md
 *   argument.c              SQL values to filters, hashes and parameters
 *   handle.c                the filters that cuckoofilter_open keeps in memory
 *   owned.c                 SQLite as the host of the engine, and filters as results
 *   error.c                 how errors are reported, and those of the engine
 *   library.c               what depends on the version of the SQLite library
 *
 * A file uses only files below it in this list, and includes their headers.  Three headers have
 * other names: host.h itself declares library.c, connection.h the data that the functions of a
 * connection share, with handle.c, and function/function.h the SQL functions and the virtual table.
 *
 * Functions that take a sqlite3_context report their failures in it.  They return false or NULL if
 * the caller has nothing left to do.
 */
#ifndef CKFS_HOST_H
#define CKFS_HOST_H

#include "sqlite3ext.h"
#include "cuckoofilter.h"

SQLITE_EXTENSION_INIT3

/* An item's hash and class. */
typedef struct ckfs_hashed
{
	uint64_t hash;
	unsigned item_class; /* ckf_item_class */
	bool is_filter;      /* the item, or a part of it, has the bytes of a filter */
} ckfs_hashed;

/* --------------------------------------------------------------- library.c */

/* Whether the library is new enough.  If not, *error is the message. */
bool ckfs_library_will_do(char **error);

/* Convert text to REAL as SQLite does: C's strtod uses the decimal point of the locale, and may
 * differ in the last bit.  *is_number becomes whether the text is a number, unless is_number is
 * NULL.  *statement is NULL at first, and the caller finalizes it. */
int ckfs_read_real(sqlite3 *db, sqlite3_stmt **statement, const char *text, size_t size,
				   double *real, bool *is_number);

/* Whether sqlite3_interrupt was called.  If so, this is the result of the function.  Long work
 * checks it between its steps.  SQLite before 3.41 does not know. */
bool ckfs_interrupted(sqlite3_context *ctx);

/* The same without a function call. */
bool ckfs_is_interrupted(sqlite3 *db);

#endif
