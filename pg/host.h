/*
 * host.h - what every file of the PostgreSQL extension sees: PostgreSQL's
 * function interface, and the engine's.
 *
 *   item/       SQL values to hashes
 *   type/       the value of type cuckoofilter: text and binary form, arguments, copies that a
 *               function owns, questions that read only slices of a large value
 *   function/   what SQL calls: functions of one filter, of many items, aggregates, comparison,
 *               info, the planner's estimate
 *   join/       join filters: join/README.md
 *   error.h     every error sentence of this extension
 *   module.c    the module's magic block, cuckoofilter_version
 *
 * Includes are relative to pg/.  They point from function/ and join/ to type/, from there to
 * item/ and error.h, and from there to this file.
 *
 * What the files share is hidden in the module: PostgreSQL before 16 loads
 * modules with all their visible names in one room.
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
