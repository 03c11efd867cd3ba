/*
 * build.c - the plan node that builds a filter: "Cuckoo Join Filter", between Hash and its child.
 * It returns the rows of its child unchanged.
 */
#include "build.h"
#include "cost.h"
#include "explain.h"
#include "remote.h"
#include "shared.h"
#include "skip.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* The false positive rates of filters. A local row that passes by chance costs no more than
 * without a filter, so a small filter is better than a low rate. A foreign server would send
 * such rows, and if few rows match they would be most of what it sends. */
#define CKFP_BUILD_FPR 0.01
#define CKFP_BUILD_REMOTE_FPR 0.001

ckfp_build **ckfp_join_starting = NULL;

static Node *ckfp_build_create(CustomScan *scan);

static const CustomScanMethods ckfp_scan_methods = {
	.CustomName = "Cuckoo Join Filter",
	.CreateCustomScanState = ckfp_build_create,
};

bool
ckfp_join_is_build(const Plan *plan)
{
	return IsA(plan, CustomScan) && ((const CustomScan *)plan)->methods == &ckfp_scan_methods;
}

/* ------------------------------------------------------------- the plan node */

/* The target list of a node that returns its input rows unchanged: each entry is the column of
 * the same number of `varno`. */
static List *
ckfp_same_columns(const List *targetlist, int varno)
{
	List *same = NIL;
	ListCell *cell;

	foreach (cell, targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Var *var = makeVar(varno, entry->resno, exprType((Node *)entry->expr),
						   exprTypmod((Node *)entry->expr), exprCollation((Node *)entry->expr), 0);
		TargetEntry *copy =
			makeTargetEntry((Expr *)var, entry->resno, entry->resname, entry->resjunk);

		copy->ressortgroupref = entry->ressortgroupref;
		same = lappend(same, copy);
	}
	return same;
}

CustomScan *
ckfp_join_make_node(Plan *child, int node)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan *plan = &scan->scan.plan;

	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
#if PG_VERSION_NUM >= 180000
	plan->disabled_nodes = child->disabled_nodes;
#endif
	plan->plan_rows = child->plan_rows;
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	plan->plan_node_id = node;
	plan->targetlist = ckfp_same_columns(child->targetlist, INDEX_VAR);
	plan->lefttree = child;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	scan->custom_scan_tlist = ckfp_same_columns(child->targetlist, OUTER_VAR);
	return scan;
}

CustomScan *
ckfp_join_make_build(Plan *child, int node, const ckfp_join_record *record, List *expressions)
{
	CustomScan *scan = ckfp_join_make_node(child, node);

	scan->custom_exprs = expressions;
	scan->custom_private = ckfp_join_record_to_list(record);
	scan->methods = &ckfp_scan_methods;
	return scan;
}

/* ------------------------------------------------------------------ gathering */

/* Pass the filter to the servers that ask it. */
static void
ckfp_build_send(ckfp_build *build)
{
	struct varlena *value;

	if (!ckfp_build_is_remote(build) || build->filter.size > MaxAllocSize - VARHDRSZ)
		return;
	value = MemoryContextAlloc(build->filter.context, build->filter.size + VARHDRSZ);
	SET_VARSIZE(value, build->filter.size + VARHDRSZ);
	memcpy(VARDATA(value), build->filter.filter.bytes, build->filter.size);
	ckfp_remote_set(build->css.ss.ps.state, &build->record, value);
	build->sent = true;
}

/* Did this process read only a part of the build side? */
static bool
ckfp_build_is_partial(const ckfp_build *build)
{
	return castNode(HashState, innerPlanState(build->join))->parallel_state != NULL;
}

static void
ckfp_build_finish(ckfp_build *build)
{
	build->gathering = false;
	if (ckfp_build_is_partial(build))
	{
		ckfp_build_give_up(build, CKFP_GIVEN_UP_NOT);
		return;
	}
	if (!ckfp_filter_settle(&build->filter) || !ckfp_filter_build(&build->filter))
	{
		ckfp_build_give_up(build, CKFP_GIVEN_UP_MEMORY);
		return;
	}
	build->counts.keys = build->filter.keys;
	build->counts.memory = build->filter.size;
	ckfp_partitions_finish(&build->partitions);
	ckfp_build_know_partitions(build);
	build->asking = true;
	ckfp_build_send(build);
}

/* The hash of the key of a row. False if one of its columns is NULL, since such a row joins no
 * other. */
static bool
ckfp_build_hash(ckfp_build *build, TupleTableSlot *slot, uint64 *hash)
{
	ExprContext *econtext = build->css.ss.ps.ps_ExprContext;
	int i;

	*hash = 0;
	econtext->ecxt_outertuple = slot;
	for (i = 0; i < build->record.columns; i++)
	{
		bool isnull;
		Datum value;

		if (build->expression[i] != NULL)
			value = ExecEvalExpr(build->expression[i], econtext, &isnull);
		else
			value = slot_getattr(slot, build->attribute[i], &isnull);
		if (isnull)
			return false;
		build->value[i] = value;
		*hash = ckfp_key_combine(*hash, ckfp_key_hash(&build->build_key[i], value));
	}
	return true;
}

/* Hash the key of a row, and note its partitions. False if there is none. */
static bool
ckfp_build_take_key(ckfp_build *build, TupleTableSlot *slot, uint64 *hash)
{
	if (!ckfp_build_hash(build, slot, hash))
		return false;
	if (build->partitions.scans > 0)
		ckfp_partitions_add(&build->partitions, &build->record, build->value);
	return true;
}

/* Are there more than twice as many keys as estimated, so that the filter does not pay? */
static bool
ckfp_build_exceeds_estimate(const ckfp_build *build)
{
	double keys = (double)build->filter.n;

	return ckfp_join_mode_setting == CKFP_JOIN_AUTO && keys > 2 * build->record.build_rows &&
		   !ckfp_cost_pays(&build->record, keys);
}

/* Stop gathering keys. If all processes build one filter together, it stops in all of them. */
static void
ckfp_build_stop(ckfp_build *build, ckfp_given_up why)
{
	if (ckfp_shared_is_common(build))
		ckfp_shared_fail(build, why);
	else
		ckfp_build_give_up(build, why);
}

static void
ckfp_build_gather(ckfp_build *build, TupleTableSlot *slot)
{
	ExprContext *econtext = build->css.ss.ps.ps_ExprContext;
	uint64 hash;
	bool found;

	if (build->allocates)
	{
		MemoryContext caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		found = ckfp_build_take_key(build, slot, &hash);
		MemoryContextSwitchTo(caller);
		ResetExprContext(econtext);
	}
	else
		found = ckfp_build_take_key(build, slot, &hash);
	if (!found)
		return;
	if (!ckfp_filter_gather(&build->filter, hash))
		ckfp_build_stop(build, CKFP_GIVEN_UP_MEMORY);
	else if (build->filter.n % CKFP_WINDOW == 0 && ckfp_build_exceeds_estimate(build))
		ckfp_build_stop(build, CKFP_GIVEN_UP_KEYS);
}

/* ------------------------------------------------------- callbacks of the executor */

/* Prepare the keys of the build side from the record and the expressions. */
static void
ckfp_build_prepare_keys(ckfp_build *build, CustomScan *scan)
{
	MemoryContext context = build->css.ss.ps.state->es_query_cxt;
	int i;

	for (i = 0; i < build->record.columns; i++)
	{
		Expr *expression = list_nth(scan->custom_exprs, i);

		ckfp_key_prepare(&build->record.column[i], &build->build_key[i], &build->probe_key[i],
						 context);
		while (IsA(expression, RelabelType))
			expression = ((RelabelType *)expression)->arg;
		if (IsA(expression, Var))
			build->attribute[i] = ((Var *)expression)->varattno;
		else
			build->expression[i] = ExecInitExpr(expression, &build->css.ss.ps);
		if (build->expression[i] != NULL || ckfp_key_allocates(&build->build_key[i]))
			build->allocates = true;
	}
}

/* The rows are those of the child: the node above reads them in the slot type of the child. */
void
ckfp_join_begin_child(CustomScanState *node, EState *estate, int eflags)
{
	PlanState *child = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);

	outerPlanState(node) = child;
	node->ss.ps.resultops = ExecGetResultSlotOps(child, &node->ss.ps.resultopsfixed);
	node->ss.ps.resultopsset = true;
	node->ss.ps.ps_ProjInfo = NULL;
}

void
ckfp_join_enlist(ckfp_build *build)
{
	if (ckfp_join_starting != NULL)
	{
		build->next = *ckfp_join_starting;
		*ckfp_join_starting = build;
	}
}

static void
ckfp_build_begin(CustomScanState *node, EState *estate, int eflags)
{
	ckfp_build *build = (ckfp_build *)node;
	CustomScan *scan = castNode(CustomScan, node->ss.ps.plan);

	ckfp_join_begin_child(node, estate, eflags);
	ckfp_join_record_from_list(scan->custom_private, &build->record);
	ckfp_build_prepare_keys(build, scan);
	ckfp_filter_init(&build->filter, estate->es_query_cxt, (size_t)ckfp_join_memory * 1024,
					 ckfp_build_is_remote(build) ? CKFP_BUILD_REMOTE_FPR : CKFP_BUILD_FPR);
	build->disabled = true; /* until ckfp_probe_install finds a scan that asks */
	ckfp_remote_set(estate, &build->record, NULL);
	ckfp_join_enlist(build);
}

static TupleTableSlot *
ckfp_build_exec(CustomScanState *node)
{
	ckfp_build *build = (ckfp_build *)node;
	TupleTableSlot *slot;

	if (!build->begun && ckfp_shared_is_common(build))
	{
		ckfp_shared_begin(build);
		if (!build->gathering) /* its part of the keys is missing */
			ckfp_shared_fail(build, CKFP_GIVEN_UP_NOT);
	}
	slot = ExecProcNode(outerPlanState(node));
	if (build->gathering)
	{
		if (!TupIsNull(slot))
			ckfp_build_gather(build, slot);
		else if (ckfp_shared_is_common(build))
			ckfp_shared_contribute(build);
		else
			ckfp_build_finish(build);
	}
	return slot;
}

static void
ckfp_build_end(CustomScanState *node)
{
	ckfp_build *build = (ckfp_build *)node;

	ckfp_filter_free(&build->filter);
	ExecEndNode(outerPlanState(node));
}

static void
ckfp_build_rescan(CustomScanState *node)
{
	PlanState *child = outerPlanState(node);

	ckfp_build_start((ckfp_build *)node);
	ckfp_skip_arm((ckfp_build *)node);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static const CustomExecMethods ckfp_exec_methods = {
	.CustomName = "Cuckoo Join Filter",
	.BeginCustomScan = ckfp_build_begin,
	.ExecCustomScan = ckfp_build_exec,
	.EndCustomScan = ckfp_build_end,
	.ReScanCustomScan = ckfp_build_rescan,
	.EstimateDSMCustomScan = ckfp_shared_estimate,
	.InitializeDSMCustomScan = ckfp_shared_initialize,
	.ReInitializeDSMCustomScan = ckfp_shared_reinitialize,
	.InitializeWorkerCustomScan = ckfp_shared_initialize_worker,
	.ShutdownCustomScan = ckfp_shared_shutdown,
	.ExplainCustomScan = ckfp_join_explain,
};

static Node *
ckfp_build_create(CustomScan *scan)
{
	ckfp_build *build = palloc0(sizeof(*build));

	NodeSetTag(build, T_CustomScanState);
	build->css.methods = &ckfp_exec_methods;
	return (Node *)build;
}

void
ckfp_join_init_build(void)
{
	RegisterCustomScanMethods(&ckfp_scan_methods);
}
