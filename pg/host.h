/*
 * host.h - what every file of the PostgreSQL extension includes: PostgreSQL's function interface
 * and the engine's.
 *
 *   item/       SQL values to hashes
 *   type/       the value of type cuckoofilter: text and binary form, arguments, copies that a
 *               function owns, lookups that read only slices of a large value
 *   function/   what SQL calls: functions of one filter, of many items, of pairs, aggregates,
 *               comparison, info, the planner's estimate, counters of join filters
 *   join/       join filters: join/README.md
 *   error.h     every error of this extension
 *   library.h   how the library of the type finds that of the join filters
 *   module.c    the module's magic block, cuckoofilter_version
 *
 * Includes are relative to pg/. They point from function/ and join/ to type/, from there to item/
 * and error.h, and from there to this file.
 *
 * Names that the files share are hidden in the module: PostgreSQL before 16 loads modules with
 * RTLD_GLOBAL, so that the exported names of all modules share one namespace.
 */
#ifndef CKFP_HOST_H
#define CKFP_HOST_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "cuckoofilter.h"

#endif
