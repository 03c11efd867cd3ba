/*
 * exec.h - the plan node of a hash join's filter, and the scans that use filters.
 */
#ifndef CKFP_JOIN_EXEC_H
#define CKFP_JOIN_EXEC_H

#include "join/filter/filter.h"

#include "access/parallel.h"

/* ---------------------------------------------------------------- verify.c: the mode for tests */

/* Make the join of a filter check each match: replace its condition, which may be NULL. `keys` are
 * the expressions of the keys of the outer rows. */
void ckfp_verify_install(ckfp_filter_node *filter_node, PlanState *join, ExprState **condition,
						 List *keys);

/* Record the hash of a key that the filter denied. */
void ckfp_verify_denied(ckfp_filter_node *filter_node, uint64 hash);

/* Record a key, by its hash and its values, in a partition that would be skipped. */
void ckfp_verify_skipped(ckfp_filter_node *filter_node, uint64 hash, const Datum *values);

/* ------------------------------------------------------------------------- a row uses a filter */

/* A join above a scan, which reads the rows of the scan on its outer side, one by one. */
typedef struct ckfp_join_above
{
	const PlanState *join;
	bool again; /* it may read its inner side again, with other parameters */
	const struct ckfp_join_above *next; /* the next one above */
} ckfp_join_above;

/* A filter that a scan uses, or a node that has the rows of scans. */
typedef struct ckfp_scan_filter
{
	ckfp_filter_node *filter_node;
	bool remote; /* the server of a foreign scan tests the rows: this process need not */
	ckfp_source source;
	int target;          /* the number of the scan among the targets of the filter */
	bool partition;      /* the filter can skip the scan */
	ckfp_blocks *blocks; /* the filter can skip blocks of the scan; else NULL */
	ckfp_suspension suspension;
	const ckfp_join_above *above; /* the joins between the scan and that of the filter; NULL:
								   * there are none that matter any more */
	const PlanState *owner; /* the join of the filter, which may be one of `above`, or the node
							 * of a nested loop's filter */
	bool merged;            /* there is a merge join between the scan and that of the filter */
	uint8 rows;             /* `merged`: counts rows, to let some of them pass untested */
} ckfp_scan_filter;

/* verify.c: the key of a row that is a function of a column, and its hash. False if it is NULL, or
 * if it is not computed for this value. */
bool ckfp_verify_key(const ckfp_scan_filter *test, TupleTableSlot *slot, Datum *values,
					 uint64 *hash);

/* Are there ranges to verify, or may there be? Scans test rows by those of integers, and by all
 * that keys which are functions were mapped to. */
static inline bool
ckfp_verify_has_ranges(const ckfp_filter_node *filter_node)
{
	return filter_node->verify && filter_node->ranges.state != CKFP_RANGES_OFF &&
		   !filter_node->record.mapped;
}

/* verify.c: a row that is not tested, as there is no filter, may be in a block that would be
 * skipped by these ranges. */
void ckfp_verify_untested(const ckfp_scan_filter *test, TupleTableSlot *slot);

/* The columns of a row that are the key of a filter. */
static inline void
ckfp_test_init(ckfp_scan_filter *test, ckfp_filter_node *filter_node, const AttrNumber *attribute)
{
	test->filter_node = filter_node;
	test->source.columns = filter_node->record.columns;
	test->source.key = filter_node->probe_key;
	memcpy(test->source.attribute, attribute, sizeof(test->source.attribute));
}

/* Let verify know of a row that the filter denied, or whose partition or block would be skipped. */
static inline void
ckfp_test_verify(const ckfp_scan_filter *test, TupleTableSlot *slot, const Datum *values,
				 uint64 hash, bool passes)
{
	if (!passes)
		ckfp_verify_denied(test->filter_node, hash);
	if (ckfp_partitions_skip(&test->filter_node->partitions, test->target) ||
		(test->blocks != NULL && ckfp_blocks_deny(test->blocks, &test->filter_node->ranges, slot)))
		ckfp_verify_skipped(test->filter_node, hash, values);
}

/* Can a row be tested? */
static inline bool
ckfp_test_is_ready(const ckfp_scan_filter *test)
{
	return test->filter_node->ranges.test.integers != NULL ||
		   test->filter_node->state == CKFP_FILTER_READY;
}

/* Is the key of a row, or a column of it, among the integers of the keys? */
static inline ckfp_in
ckfp_test_integers(const ckfp_scan_filter *test, TupleTableSlot *slot)
{
	const ckfp_key_test *near = &test->filter_node->ranges.test;
	bool isnull;
	Datum value = slot_getattr(slot, test->source.attribute[near->column], &isnull);
	ckfp_in in = isnull ? CKFP_IN_NONE
						: ckfp_integers_find(near->integers, ckfp_integer_of(value, near->length));

	return in == CKFP_IN_NONE && unlikely(!ckfp_key_ranges_hold(&test->filter_node->ranges))
			   ? CKFP_IN_PARTLY
			   : in;
}

/* condition.c: does a row pass the test by its hash, if the integers do not tell? `passes`: what
 * they tell, if they do. */
bool ckfp_test_hash(ckfp_scan_filter *test, TupleTableSlot *slot, bool tells, bool passes);

/* Does a row pass the test? Its key is looked up among the integers, where they are known, and in
 * the filter only if they do not tell. Counts the row. May allocate memory. */
static inline bool
ckfp_test_row(ckfp_scan_filter *test, TupleTableSlot *slot)
{
	ckfp_filter_node *filter_node = test->filter_node;
	const ckfp_key_test *near = &filter_node->ranges.test;
	ckfp_in in = near->integers != NULL ? ckfp_test_integers(test, slot) : CKFP_IN_PARTLY;
	bool tells = in == CKFP_IN_NONE || (in == CKFP_IN_ALL && near->exact) ||
				 filter_node->state != CKFP_FILTER_READY;
	bool passes = in != CKFP_IN_NONE;

	if (!tells || unlikely(filter_node->verify))
		passes = ckfp_test_hash(test, slot, tells, passes);
	ckfp_filter_node_count(filter_node, passes);
	ckfp_suspension_count(&test->suspension, passes);
	return passes || filter_node->verify;
}

/* -------------------------------------------------------- condition.c: the condition of a scan */

/* The condition of a scan, with all filters that it uses. */
typedef struct ckfp_scan_filters
{
	ExprState state;
	PlanState *scan;
	ExprState *condition;          /* the original condition, or NULL */
	bool skips;                    /* the scan may be skipped */
	ExecProcNodeMtd scan_function; /* its function, while that of skip_scans.c is in its place */
	AppendState *append;           /* the node that starts it asynchronously, or NULL */
	ckfp_blocks *blocks;           /* how it skips blocks; NULL: it skips none */
	bool armed; /* the function of skip_blocks.c is in the place of `block_function` */
	ExecProcNodeMtd block_function;  /* its function, if it can skip blocks */
	ExecProcNodeMtd plain_function;  /* of a sequential scan with one test: its own function */
	ExecProcNodeMtd tested_function; /* that with our condition, while it is not set */
	bool testing;                    /* a filter can be used, now or after a call of the scan */
	int n;
	ckfp_scan_filter test[FLEXIBLE_ARRAY_MEMBER];
} ckfp_scan_filters;

/* Let a function of ours, which gets `of` as its private data, stand for a condition. */
static inline void
ckfp_condition_init(ExprState *condition, ExprStateEvalFunc function, void *of)
{
	NodeSetTag(condition, T_ExprState);
	condition->flags = EEO_FLAG_IS_QUAL;
	condition->evalfunc = function;
	condition->evalfunc_private = of;
}

/* Create the condition of a scan that uses so many filters, which the caller sets. */
ckfp_scan_filters *ckfp_condition_make(PlanState *scan, int n);

/* Does one of the filters wait for a join that has not read its inner side, and is none of the
 * others known? Then the first row that passes all of them is near. */
bool ckfp_tests_are_early(ckfp_scan_filters *tests);

/* Is it the condition of this scan? */
bool ckfp_condition_is_set(const PlanState *scan);

/* The blocks of a scan that skips some; else NULL. */
const ckfp_blocks *ckfp_condition_blocks(const PlanState *scan);

/* The number of rows that filters have removed, if the scan uses them. */
uint64 ckfp_condition_removed(const PlanState *scan);

/* Set our condition if a filter of the scan can be used. Otherwise restore the original one. */
void ckfp_condition_update(ckfp_scan_filters *tests);

/* The same for all scans that use a filter, which was built or freed. */
void ckfp_condition_update_all(const ckfp_filter_node *filter_node);

/* ------------------------------------ skip_scans.c: scans of partitions that are not read */

/* Let a filter skip a scan. `parent` is the node above it, or NULL. */
void ckfp_skip_add(ckfp_scan_filters *tests, PlanState *parent, ckfp_scan_filter *test);

/* Prepare the scans of a filter for its next keys. */
void ckfp_skip_arm(ckfp_filter_node *filter_node);

/* Set the function of a scan, which is called if the scan is not skipped. */
void ckfp_skip_set_function(ckfp_scan_filters *tests, ExecProcNodeMtd exec);

/* ------------------------------------------------- skip_blocks.c: blocks that are not read */

/* Let a scan, which is target `number` of a filter, skip blocks, if it can. */
void ckfp_skip_blocks_install(ckfp_scan_filters *tests, ckfp_filter_node *filter_node, int number);

/* Prepare the scans of a filter for its next keys. */
void ckfp_skip_blocks_start(ckfp_filter_node *filter_node);

/* This process has gathered the keys of a filter. */
void ckfp_skip_blocks_know(const ckfp_filter_node *filter_node);

/* The query ends. */
void ckfp_skip_blocks_finish(ckfp_filter_node *filter_node);

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

/* Is the join a Parallel Hash Join? Each of its processes reads a part of the build side. */
static inline bool
ckfp_is_parallel_hash(const ckfp_filter_node *filter_node)
{
	return filter_node->join != NULL && innerPlanState(filter_node->join)->plan->parallel_aware;
}

/* This process starts to read its part of the build side. */
void ckfp_shared_begin(ckfp_filter_node *filter_node);

/* This process has read a row without gathering its key: the common filter is given up. */
void ckfp_shared_miss(ckfp_filter_node *filter_node);

/* This process has read its part: give its keys to the common filter. */
void ckfp_shared_contribute(ckfp_filter_node *filter_node);

/* This process has given its keys and ranges. The last process builds the common filter. */
void ckfp_shared_finish(ckfp_filter_node *filter_node);

/* The number of keys that all processes have gathered for the common filter so far. */
double ckfp_shared_gathered(ckfp_filter_node *filter_node);

/* Give up the filter: that of all processes, if they gather common keys. */
void ckfp_shared_fail(ckfp_filter_node *filter_node, ckfp_given_up why);

/* Start to use the common filter, if there is one and it is ready. */
void ckfp_shared_attach(ckfp_filter_node *filter_node);

/* Add rows that this process has read of the outer side of a nested loop. The rows of all
 * processes, for each that shares them. */
double ckfp_shared_rows(ckfp_filter_node *filter_node, uint64 rows);

/* ---------------------------------------------------------------------- build.c: the plan node */

/* The list of the nodes of the filters in the query that is being started; NULL otherwise. */
extern ckfp_filter_node **ckfp_join_starting;

/* Start a plan node of ours, and its child, whose rows it returns. */
void ckfp_filter_node_begin(ckfp_filter_node *filter_node, EState *estate, int eflags);

/* Register the custom scan methods. */
void ckfp_join_init_build(void);

/* Prepare the build side, and the scans that use the filter, for their first rows, also when they
 * start again. */
void ckfp_build_restart(ckfp_filter_node *filter_node);

#endif
