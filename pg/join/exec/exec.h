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
void ckfp_verify_install(ckfp_owner *owner, PlanState *join, ExprState **condition, List *keys);

/* Record the hash of a key that the filter denied. */
void ckfp_verify_denied(ckfp_owner *owner, uint64 hash);

/* Record a key, by its hash and its values, in a partition that would be skipped. */
void ckfp_verify_skipped(ckfp_owner *owner, uint64 hash, const Datum *values);

/* ------------------------------------------------------------------------- a row uses a filter */

/* A filter that a scan uses, or a node that has the rows of scans. */
typedef struct ckfp_test
{
	ckfp_owner *owner;
	bool remote; /* the server of a foreign scan tests the rows: this process need not */
	ckfp_source source;
	int target;          /* the number of the scan among the targets of the filter */
	bool partition;      /* the filter can skip the scan */
	ckfp_blocks *blocks; /* the filter can skip blocks of the scan; else NULL */
	ckfp_suspension suspension;
} ckfp_test;

/* verify.c: the key of a row that is a function of a column, and its hash. False if it is NULL, or
 * if it is not computed for this value. */
bool ckfp_verify_key(const ckfp_test *test, TupleTableSlot *slot, Datum *values, uint64 *hash);

/* Are there ranges to verify, or may there be? Scans test rows by those of integers, and by all
 * that keys which are functions were mapped to. */
static inline bool
ckfp_verify_has_ranges(const ckfp_owner *owner)
{
	return owner->verify && owner->ranges.state != CKFP_RANGES_OFF && !owner->record.mapped;
}

/* verify.c: a row that is not tested, as there is no filter, may be in a block that would be
 * skipped by these ranges. */
void ckfp_verify_untested(const ckfp_test *test, TupleTableSlot *slot);

/* The columns of a row that are the key of a filter. */
static inline void
ckfp_test_init(ckfp_test *test, ckfp_owner *owner, const AttrNumber *attribute)
{
	test->owner = owner;
	test->source.columns = owner->record.columns;
	test->source.key = owner->probe_key;
	memcpy(test->source.attribute, attribute, sizeof(test->source.attribute));
}

/* Let verify know of a row that the filter denied, or whose partition or block would be skipped. */
static inline void
ckfp_test_verify(const ckfp_test *test, TupleTableSlot *slot, const Datum *values, uint64 hash,
				 bool passes)
{
	if (!passes)
		ckfp_verify_denied(test->owner, hash);
	if (ckfp_partitions_skip(&test->owner->partitions, test->target) ||
		(test->blocks != NULL && ckfp_blocks_deny(test->blocks, &test->owner->ranges, slot)))
		ckfp_verify_skipped(test->owner, hash, values);
}

/* Can a row be tested? */
static inline bool
ckfp_test_is_ready(const ckfp_test *test)
{
	return test->owner->ranges.test.integers != NULL || test->owner->state == CKFP_FILTER_READY;
}

/* Is the key of a row, or a column of it, among the integers of the keys? */
static inline ckfp_in
ckfp_test_integers(const ckfp_test *test, TupleTableSlot *slot)
{
	const ckfp_key_test *near = &test->owner->ranges.test;
	bool isnull;
	Datum value = slot_getattr(slot, test->source.attribute[near->column], &isnull);
	ckfp_in in = isnull ? CKFP_IN_NONE
						: ckfp_integers_find(near->integers, ckfp_integer_of(value, near->length));

	return in == CKFP_IN_NONE && unlikely(!ckfp_key_ranges_hold(&test->owner->ranges))
			   ? CKFP_IN_PARTLY
			   : in;
}

/* Does a row pass the test? Its key is looked up among the integers, where they are known, and in
 * the filter only if they do not tell. Counts the row. May allocate memory. */
static inline bool
ckfp_test_row(ckfp_test *test, TupleTableSlot *slot)
{
	ckfp_owner *owner = test->owner;
	const ckfp_key_test *near = &owner->ranges.test;
	Datum values[CKFP_JOIN_KEYS];
	uint64 hash = 0;
	ckfp_in in = near->integers != NULL ? ckfp_test_integers(test, slot) : CKFP_IN_PARTLY;
	bool tells = in == CKFP_IN_NONE || (in == CKFP_IN_ALL && near->exact) ||
				 owner->state != CKFP_FILTER_READY;
	bool passes = in != CKFP_IN_NONE;

	if (!tells || unlikely(owner->verify))
	{
		bool known = owner->record.mapped
						 ? ckfp_verify_key(test, slot, values, &hash)
						 : ckfp_source_hash(&test->source, slot, NULL, values, &hash);

		if (!tells)
			passes = known && ckf_contains(&owner->filter.filter, hash);
		if (unlikely(owner->verify) && known)
			ckfp_test_verify(test, slot, values, hash, passes);
	}
	ckfp_owner_count(owner, passes);
	ckfp_suspension_count(&test->suspension, passes);
	return passes || owner->verify;
}

/* -------------------------------------------------------- condition.c: the condition of a scan */

/* The condition of a scan, with all filters that it uses. */
typedef struct ckfp_tests
{
	ExprState state;
	PlanState *scan;
	ExprState *condition; /* the original condition, or NULL */
	bool skips;           /* the scan may be skipped */
	ExecProcNodeMtd exec; /* its function, while that of skip_scans.c is in its place */
	AppendState *append;  /* the node that starts it asynchronously, or NULL */
	ckfp_blocks *blocks;  /* how it skips blocks; NULL: it skips none */
	bool armed;           /* the function of skip_blocks.c is in the place of `own` */
	ExecProcNodeMtd own;  /* its function, if it can skip blocks */
	bool testing;         /* a filter can be used, now or after a call of the scan */
	int n;
	ckfp_test test[FLEXIBLE_ARRAY_MEMBER];
} ckfp_tests;

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
ckfp_tests *ckfp_condition_make(PlanState *scan, int n);

/* Is it the condition of this scan? */
bool ckfp_condition_is_set(const PlanState *scan);

/* The blocks of a scan that skips some; else NULL. */
const ckfp_blocks *ckfp_condition_blocks(const PlanState *scan);

/* The number of rows that filters have removed, if the scan uses them. */
uint64 ckfp_condition_removed(const PlanState *scan);

/* Set our condition if a filter of the scan can be used. Otherwise restore the original one. */
void ckfp_condition_update(ckfp_tests *tests);

/* The same for all scans that use a filter, which was built or freed. */
void ckfp_condition_update_all(const ckfp_owner *owner);

/* ------------------------------------ skip_scans.c: scans of partitions that are not read */

/* Let a filter skip a scan. `append` is the node above it, if that is an Append. */
void ckfp_skip_add(ckfp_tests *tests, AppendState *append, ckfp_test *test);

/* Prepare the scans of a filter for its next keys. */
void ckfp_skip_arm(ckfp_owner *owner);

/* Set the function of a scan, which is called if the scan is not skipped. */
void ckfp_skip_set_exec(ckfp_tests *tests, ExecProcNodeMtd exec);

/* ------------------------------------------------- skip_blocks.c: blocks that are not read */

/* Let a scan, which is target `number` of a filter, skip blocks, if it can. */
void ckfp_blocks_install(ckfp_tests *tests, ckfp_owner *owner, int number);

/* Prepare the scans of a filter for its next keys. */
void ckfp_blocks_start(ckfp_owner *owner);

/* This process has gathered the keys of a filter. */
void ckfp_blocks_know(const ckfp_owner *owner);

/* The query ends. */
void ckfp_blocks_finish(ckfp_owner *owner);

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
ckfp_is_parallel_hash(const ckfp_owner *owner)
{
	return owner->join != NULL && innerPlanState(owner->join)->plan->parallel_aware;
}

/* This process starts to read its part of the build side. */
void ckfp_shared_begin(ckfp_owner *owner);

/* This process has read a row without gathering its key: the common filter is given up. */
void ckfp_shared_miss(ckfp_owner *owner);

/* This process has read its part: give its keys to the common filter. */
void ckfp_shared_contribute(ckfp_owner *owner);

/* This process has given its keys and ranges. The last process builds the common filter. */
void ckfp_shared_finish(ckfp_owner *owner);

/* The number of keys that all processes have gathered for the common filter so far. */
double ckfp_shared_gathered(ckfp_owner *owner);

/* Give up the filter: that of all processes, if they gather common keys. */
void ckfp_shared_fail(ckfp_owner *owner, ckfp_given_up why);

/* Start to use the common filter, if there is one and it is ready. */
void ckfp_shared_attach(ckfp_owner *owner);

/* Add rows that this process has read of the outer side of a nested loop. The rows of all
 * processes, for each that shares them. */
double ckfp_shared_rows(ckfp_owner *owner, uint64 rows);

/* ---------------------------------------------------------------------- build.c: the plan node */

/* The list of the owners of filters in the query that is being started; NULL otherwise. */
extern ckfp_owner **ckfp_join_starting;

/* Start a plan node of ours, and its child, whose rows it returns. */
void ckfp_owner_begin(ckfp_owner *owner, EState *estate, int eflags);

/* Register the custom scan methods. */
void ckfp_join_init_build(void);

/* Prepare the build side, and the scans that use the filter, for their first rows, also when they
 * start again. */
void ckfp_build_restart(ckfp_owner *owner);

#endif
