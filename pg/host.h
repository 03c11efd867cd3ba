/*
 * host.h - what every file of the PostgreSQL extension includes: PostgreSQL's function interface
 * and the engine's.
 *
 *   item/       SQL values to hashes
 *   type/       the value of type cuckoofilter: text and binary form, arguments, copies that a
 *               function owns, lookups that read only slices of a large value
 *   function/   what SQL calls: functions of one filter, of many items, of pairs, aggregates,
 *               comparison, info, the planner's estimate, counters of join filters
 *   table/      filter tables: table/README.md
 *   join/       join filters: join/README.md
 *   error.h     how errors of the engine are reported
 *   index.h     the age of an index
 *   library.h   how the library of the type finds that of the join filters
 *   module.c    the module's magic block, cuckoofilter_version
 *
 * Includes are relative to pg/. They point from table/ to function/, from function/ to type/ and
 * item/, from join/ to item/, and from all of these to this file. function/ and type/ also include
 * error.h, function/ and join/ library.h, table/ and join/ index.h.
 *
 * Names that the files share are hidden in the module (Makefile).
 */
#ifndef CKFP_HOST_H
#define CKFP_HOST_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM < 140000
#error "cuckoofilter needs PostgreSQL 14 or later"
#endif
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* What PostgreSQL looks up in the module is exported: its own macros do that from 16 on. */
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#undef PG_FUNCTION_INFO_V1
#define PG_FUNCTION_INFO_V1(function)                                                              \
	extern PGDLLEXPORT Datum function(PG_FUNCTION_ARGS);                                           \
	extern PGDLLEXPORT const Pg_finfo_record *pg_finfo_##function(void);                           \
	const Pg_finfo_record *pg_finfo_##function(void)                                               \
	{                                                                                              \
		static const Pg_finfo_record info = {1};                                                   \
		return &info;                                                                              \
	}                                                                                              \
	extern int no_such_variable

extern PGDLLEXPORT void _PG_init(void);
#endif

/* Define an SQL function that returns an expression of its arguments, `fcinfo`. */
#define CKFP_FUNCTION(function, result)                                                            \
	PG_FUNCTION_INFO_V1(function);                                                                 \
	Datum function(PG_FUNCTION_ARGS)                                                               \
	{                                                                                              \
		return result;                                                                             \
	}                                                                                              \
	extern int no_such_variable

/* The number of blocks that this process has read so far, by executor/instrument.h. */
#define CKFP_BLOCKS_READ (pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read)

/* From 20 on it has this name. */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

#include "cuckoofilter.h"

#endif
