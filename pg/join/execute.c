/*
 * execute.c - the executor's hook.
 */
#include "build.h"
#include "nestloop.h"
#include "probe.h"
#include "stats.h"

#include "access/parallel.h"
#include "executor/executor.h"

static ExecutorStart_hook_type ckfp_next_start = NULL;

static void
ckfp_call_start(QueryDesc *query, int eflags)
{
	if (ckfp_next_start != NULL)
		ckfp_next_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

/* Start a query, and list its build nodes. */
static ckfp_build *
ckfp_start_collecting(QueryDesc *query, int eflags)
{
	ckfp_build *builds = NULL;
	ckfp_build **outer = ckfp_join_starting; /* starting a query can start other queries */

	ckfp_join_starting = &builds;
	PG_TRY();
	{
		ckfp_call_start(query, eflags);
	}
	PG_FINALLY();
	{
		ckfp_join_starting = outer;
	}
	PG_END_TRY();
	return builds;
}

/* -------------------------------------------------------------------- counting */

/* Count what the filters of a query did. */
static void
ckfp_count_builds(void *builds)
{
	const ckfp_build *build;

	for (build = builds; build != NULL; build = build->next)
	{
		ckfp_join_counts counts = ckfp_build_counts(build);

		ckfp_counts_add(&counts, &build->workers);
		ckfp_stats_count(CKFP_STAT_PLANNED, 1);
		ckfp_stats_count(CKFP_STAT_BUILT, counts.memory > 0);
		ckfp_stats_count(CKFP_STAT_NESTED_LOOPS, build->nest != NULL && counts.memory > 0);
		ckfp_stats_count(CKFP_STAT_GIVEN_UP, counts.given_up != CKFP_GIVEN_UP_NOT);
		ckfp_stats_count(CKFP_STAT_ASLEEP, counts.unasked > 0);
		ckfp_stats_count(CKFP_STAT_ROWS_TESTED, counts.tested);
		if (build->verify) /* in this mode no row is dropped */
			continue;
		ckfp_stats_count(CKFP_STAT_ROWS_REMOVED, counts.removed);
		ckfp_stats_count(CKFP_STAT_PARTITIONS_SKIPPED, counts.skipped);
	}
}

/* Count it when the memory of the query is freed: at its end, or after an error. */
static void
ckfp_count_at_end(const QueryDesc *query, ckfp_build *builds)
{
	MemoryContext context = query->estate->es_query_cxt;
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(*callback));

	callback->func = ckfp_count_builds;
	callback->arg = builds;
	MemoryContextRegisterResetCallback(context, callback);
	ckfp_stats_start();
}

/* ------------------------------------------------------------------------ hook */

/* Start a query whose plan may have filters. */
static pg_noinline void
ckfp_start_query(QueryDesc *query, int eflags)
{
	ckfp_build *builds;

	/* A worker follows its leader, whatever its own setting is. */
	if (ckfp_join_mode_setting == CKFP_JOIN_OFF && !IsParallelWorker())
	{
		ckfp_build **outer = ckfp_join_starting;

		ckfp_join_starting = NULL;
		ckfp_call_start(query, eflags);
		ckfp_join_starting = outer;
		return;
	}
	builds = ckfp_start_collecting(query, eflags);
	if (builds != NULL && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		if (!IsParallelWorker())
			ckfp_count_at_end(query, builds);
		ckfp_probe_install(query, builds);
	}
}

static void
ckfp_join_start(QueryDesc *query, int eflags)
{
	if (ckfp_join_is_possible(query->plannedstmt))
		ckfp_start_query(query, eflags);
	else
		ckfp_call_start(query, eflags);
}

void
ckfp_join_init_executor(void)
{
	ckfp_join_init_build();
	ckfp_join_init_nest();
	ckfp_next_start = ExecutorStart_hook;
	ExecutorStart_hook = ckfp_join_start;
}
