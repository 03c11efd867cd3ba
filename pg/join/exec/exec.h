/*
 * exec.h - the plan node that builds a filter, and the scans that ask it.
 */
#ifndef CKFP_JOIN_EXEC_H
#define CKFP_JOIN_EXEC_H

#include "join/filter/filter.h"

#include "access/parallel.h"

/* ---------------------------------------------------------------- verify.c: the mode for tests */

/* Make the join of a filter check each match: replace its condition, which may be NULL. `keys` are
 * the expressions of the keys of the outer rows. */
void ckfp_verify_install(ckfp_build *build, PlanState *join, ExprState **condition, List *keys);

/* Record the hash of a key that the filter denied. */
void ckfp_verify_denied(ckfp_build *build, uint64 hash);

/* Record a key, by its hash and its values, in a partition that would be skipped. */
void ckfp_verify_skipped(ckfp_build *build, uint64 hash, const Datum *values);

/* ------------------------------------------------------------------------- a row asks a filter */

/* A filter that a scan asks, or a node that has the rows of scans. */
typedef struct ckfp_ask
{
	ckfp_build *build;
	bool served; /* the server of a foreign scan asks the filter; its rows have passed */
	ckfp_source source;
	int target;          /* the number of the scan among the targets of the filter, */
	bool partition;      /* which can skip it, */
	ckfp_blocks *blocks; /* or some of its blocks; else NULL */
	ckfp_sleep sleep;
} ckfp_ask;

/* The columns of a row that are the key of a filter. */
static inline void
ckfp_ask_init(ckfp_ask *ask, ckfp_build *build, const AttrNumber *attribute)
{
	ask->build = build;
	ask->source.columns = build->record.columns;
	ask->source.key = build->probe_key;
	memcpy(ask->source.attribute, attribute, sizeof(ask->source.attribute));
}

/* Let verify know of a row that the filter denied, or whose partition or block would be skipped. */
static inline void
ckfp_ask_verify(const ckfp_ask *ask, TupleTableSlot *slot, const Datum *values, uint64 hash,
				bool passes)
{
	if (!passes)
		ckfp_verify_denied(ask->build, hash);
	if (ckfp_partitions_skip(&ask->build->partitions, ask->target) ||
		(ask->blocks != NULL && ckfp_blocks_deny(ask->blocks, &ask->build->keys, slot)))
		ckfp_verify_skipped(ask->build, hash, values);
}

/* Can a row be tested? */
static inline bool
ckfp_ask_is_ready(const ckfp_ask *ask)
{
	return ask->build->keys.test.integers != NULL || ask->build->state == CKFP_BUILD_READY;
}

/* Is the key of a row, or a column of it, among the integers of the keys? */
static inline ckfp_in
ckfp_ask_integers(const ckfp_ask *ask, TupleTableSlot *slot)
{
	const ckfp_keys_test *test = &ask->build->keys.test;
	bool isnull;
	Datum value = slot_getattr(slot, ask->source.attribute[test->column], &isnull);

	return isnull ? CKFP_IN_NONE
				  : ckfp_integers_find(test->integers, ckfp_integer_of(value, test->length));
}

/* Does a row pass the test? Its key is looked up among the integers, where they are known, and in
 * the filter only if they do not tell. Counts the row. May allocate memory. */
static inline bool
ckfp_ask_row(ckfp_ask *ask, TupleTableSlot *slot)
{
	ckfp_build *build = ask->build;
	const ckfp_keys_test *test = &build->keys.test;
	Datum values[CKFP_JOIN_KEYS];
	uint64 hash = 0;
	ckfp_in in = test->integers != NULL ? ckfp_ask_integers(ask, slot) : CKFP_IN_PARTLY;
	bool tells = in == CKFP_IN_NONE || (in == CKFP_IN_ALL && test->exact) ||
				 build->state != CKFP_BUILD_READY;
	bool passes = in != CKFP_IN_NONE;

	if (!tells || unlikely(build->verify))
	{
		bool known = ckfp_source_hash(&ask->source, slot, NULL, values, &hash);

		if (!tells)
			passes = known && ckf_contains(&build->filter.filter, hash);
		if (unlikely(build->verify) && known)
			ckfp_ask_verify(ask, slot, values, hash, passes);
	}
	ckfp_build_count(build, passes);
	ckfp_sleep_count(&ask->sleep, passes);
	return passes || build->verify;
}

/* -------------------------------------------------------- condition.c: the condition of a scan */

/* The condition of a scan, with all filters that it asks. */
typedef struct ckfp_probe
{
	ExprState state;
	PlanState *scan;
	ExprState *condition; /* the original condition, or NULL */
	bool skips;           /* the scan may be skipped: */
	ExecProcNodeMtd exec; /* its function, while that of skip.c is in its place, */
	AppendState *append;  /* and the node that starts it asynchronously, or NULL */
	ckfp_blocks *blocks;  /* blocks of it may be skipped, or NULL: */
	bool armed;           /* the function of blocks.c is in the place */
	ExecProcNodeMtd own;  /* of its own one */
	bool asking;          /* a filter can be asked, now or after a call of the scan */
	int asks;
	ckfp_ask ask[FLEXIBLE_ARRAY_MEMBER];
} ckfp_probe;

/* Create the condition of a scan that asks so many filters, which the caller sets. */
ckfp_probe *ckfp_condition_make(PlanState *scan, int asks);

/* The functions of a sequential scan: the next row, and whether it meets the scan's own checks. */
TupleTableSlot *ckfp_next_row(ScanState *scan);
bool ckfp_recheck_row(ScanState *scan, TupleTableSlot *slot);

/* Is it the condition of this scan? */
bool ckfp_condition_is_set(const PlanState *scan);

/* The blocks of a scan that skips some; else NULL. */
const ckfp_blocks *ckfp_condition_blocks(const PlanState *scan);

/* The number of rows that filters have removed, if the scan asks them. */
uint64 ckfp_condition_removed(const PlanState *scan);

/* Set it if the scan needs it: a filter can be asked. Otherwise restore the original condition. */
void ckfp_condition_update(ckfp_probe *probe);

/* The same for all scans that ask a filter, which was built or freed. */
void ckfp_condition_update_all(const ckfp_build *build);

/* ----------------------------------------------- skip.c: scans of partitions that are not read */

/* Let a filter skip a scan. `append` is the node above it, if that is an Append. */
void ckfp_skip_add(ckfp_probe *probe, AppendState *append, ckfp_ask *ask);

/* Prepare the scans of a filter for its next keys. */
void ckfp_skip_arm(ckfp_build *build);

/* Set the function of a scan, which is called if the scan is not skipped. */
void ckfp_skip_set_exec(ckfp_probe *probe, ExecProcNodeMtd exec);

/* ------------------------------------------------------ blocks.c: blocks that are not read */

/* Let a scan, which is target `number` of a filter, skip blocks, if it can. */
void ckfp_blocks_install(ckfp_probe *probe, ckfp_build *build, int number);

/* Prepare the scans of a filter for its next keys. */
void ckfp_blocks_start(ckfp_build *build);

/* This process has gathered the keys of a filter. */
void ckfp_blocks_know(const ckfp_build *build);

/* The query ends. */
void ckfp_blocks_finish(ckfp_build *build);

/* -------------------------------------------------------------------- shared.c: parallel plans */

/* Callbacks of the plan node. */
#define CKFP_SHARED_CALLBACKS                                                                      \
	.EstimateDSMCustomScan = ckfp_shared_estimate,                                                 \
	.InitializeDSMCustomScan = ckfp_shared_initialize,                                             \
	.ReInitializeDSMCustomScan = ckfp_shared_reinitialize,                                         \
	.InitializeWorkerCustomScan = ckfp_shared_initialize_worker,                                   \
	.ShutdownCustomScan = ckfp_shared_shutdown
Size ckfp_shared_estimate(CustomScanState *node, ParallelContext *context);
void ckfp_shared_initialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_reinitialize(CustomScanState *node, ParallelContext *context, void *memory);
void ckfp_shared_initialize_worker(CustomScanState *node, shm_toc *toc, void *memory);
void ckfp_shared_shutdown(CustomScanState *node);

/* Do processes build one filter together if there are several? */
static inline bool
ckfp_build_is_common(const ckfp_build *build)
{
	return build->join != NULL && innerPlanState(build->join)->plan->parallel_aware;
}

/* Do the processes build one filter together? */
bool ckfp_shared_is_common(const ckfp_build *build);

/* This process starts to read its part of the build side. */
void ckfp_shared_begin(ckfp_build *build);

/* This process has read a row without gathering its key: the common filter is given up. */
void ckfp_shared_miss(ckfp_build *build);

/* This process has read its part: give its keys to the common filter. */
void ckfp_shared_contribute(ckfp_build *build);

/* This process has given its keys and ranges. The last process builds the common filter. */
void ckfp_shared_finish(ckfp_build *build);

/* Give up the common filter. */
void ckfp_shared_fail(ckfp_build *build, ckfp_given_up why);

/* Start to ask the common filter, if there is one and it is ready. */
void ckfp_shared_attach(ckfp_build *build);

/* Add rows that this process has read of the outer side of a nested loop. The rows of all
 * processes, for each that shares them. */
double ckfp_shared_rows(ckfp_build *build, uint64 rows);

/* ---------------------------------------------------------------------- build.c: the plan node */

/* The list of build nodes of the query that is being started; NULL otherwise. */
extern ckfp_build **ckfp_join_starting;

/* Start the child of a plan node of ours, whose rows the node returns. */
void ckfp_join_begin_child(CustomScanState *node, EState *estate, int eflags);

/* Add a node to the list of the query that is being started. */
void ckfp_join_enlist(ckfp_build *build);

/* Register the custom scan methods. */
void ckfp_join_init_build(void);

/* Prepare the build side and the scans that ask it for their first rows, also when they start
 * again. */
void ckfp_build_restart(ckfp_build *build);

#endif
