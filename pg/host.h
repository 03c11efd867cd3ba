/*
 * host.h - what every file of the PostgreSQL extension sees: PostgreSQL's
 * function interface, and the engine's.
 *
 *   module.c       the module's magic block, cuckoofilter_version
 *   type.c         the type: text, binary and bytea, in and out
 *   scalar.c       functions of one filter and one item, or of two filters
 *   variadic.c     functions of a filter and many items
 *   info.c         what a filter tells of itself
 *   aggregate.c    aggregates
 *   compare.c      what filters have in common
 *   batch.c        the aggregate that adds a batch to a filter
 *   selectivity.c  the planner's estimate for "filter @> item"
 *   call.h         what a function keeps from call to call, and reads its
 *                  arguments with: above argument.h, slices.h and item.h
 *   argument.h     arguments to filters and parameters
 *   slices.h       questions to a large value, of which only slices are read
 *   item.h         SQL values to hashes: above container.h (arrays, records,
 *                  ranges), json.h and, for their words, words.h
 *   utf8.h         strings to hashes, as UTF-8
 *   large_state.h  the large state of an aggregate, in memory of its own
 *   owned.h        filters in memory of our own: copies, growth, jobs, results
 *   error.h        every error sentence, once
 *   join/          join filters: pg/join/README.md
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
