/*
 * show.h - what users see of filters: the lines in EXPLAIN, and the counters of the view
 * cuckoofilter_join_stats.
 *
 * If the library is in shared_preload_libraries, each database has its counters in shared memory.
 * Otherwise a session counts for itself.
 *
 * How to count something else: keep a counter in the state of your plan node, as EXPLAIN needs it
 * anyway. When the query ends, add it once, with the counters of the workers:
 *
 *   - a filter of a hash join or of a nested loop: in ckfp_count_filters (executor.c), which is
 *     called for each query that has filters;
 *   - another node: register a function by MemoryContextRegisterResetCallback on es_query_cxt, as
 *     ckfp_count_at_end (executor.c) does. So an error of the query does not lose the counters.
 */
#ifndef CKFP_JOIN_SHOW_H
#define CKFP_JOIN_SHOW_H

#include "join/filter/filter.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_state.h"
#endif

/* Show the properties of a filter in EXPLAIN. `verdict`: whether that of a nested loop was built;
 * else NULL. */
void ckfp_explain_filter(const ckfp_filter_node *filter_node, const char *verdict,
						 ExplainState *es);

/* The columns of the view, in their order. */
typedef enum ckfp_stat
{
	CKFP_STAT_PLANNED,            /* filters in the plans of the queries that were run */
	CKFP_STAT_BUILT,              /* filters that were built, at least once in their query */
	CKFP_STAT_GIVEN_UP,           /* filters that were given up while their keys were gathered */
	CKFP_STAT_SUSPENDED,          /* filters that a scan suspended, as too many rows passed */
	CKFP_STAT_ROWS_TESTED,        /* rows for which a filter was used */
	CKFP_STAT_ROWS_REMOVED,       /* rows that a filter dropped */
	CKFP_STAT_PARTITIONS_SKIPPED, /* scans of partitions that were not needed: no key is there */
	CKFP_STAT_NESTED_LOOPS,       /* of the filters that were built: those of nested loops */
	CKFP_STAT_LOOKUPS_SKIPPED,    /* lookups of nested loops that a filter answered */
	CKFP_STAT_BLOCKS_SKIPPED,     /* blocks of tables that were not read: no key is there */
	CKFP_STATS
} ckfp_stat;

/* Add to a counter of the current database. It raises no error, and may be called while a
 * transaction is aborted. In a parallel worker it does nothing: the leader counts for all. */
void ckfp_stats_count(ckfp_stat stat, uint64 n);

/* Find the counters of the current database. Call it at the start of a query, in a transaction,
 * before ckfp_stats_count. */
void ckfp_stats_start(void);

/* Request shared memory, and tell the library of the type: when the library is loaded. */
void ckfp_join_init_stats(void);

#endif
