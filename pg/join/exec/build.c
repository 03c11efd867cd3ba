/*
 * build.c - the plan node of a hash join's filter: "Cuckoo Join Filter", between Hash and its
 * child. It returns the rows of its child unchanged.
 */
#include "join/exec/exec.h"
#include "join/remote/remote.h"
#include "join/show/show.h"

#include "executor/executor.h"
#include "utils/memutils.h"

/* The false positive rates of filters. A local row that passes by chance costs no more than
 * without a filter, so a small filter is better than a low rate. A foreign server would send
 * such rows, and if few rows match they would be most of what it sends. */
#define CKFP_FPR 0.01
#define CKFP_REMOTE_FPR 0.001

ckfp_filter_node **ckfp_join_starting = NULL;

/* ------------------------------------------------------------------ gathering */

/* Pass the filter to the servers that use it. */
static void
ckfp_build_send(ckfp_filter_node *build)
{
	struct varlena *value;

	if (!ckfp_filter_node_is_remote(build) || build->filter.size > MaxAllocSize - VARHDRSZ)
		return;
	value = MemoryContextAlloc(build->filter.context, build->filter.size + VARHDRSZ);
	SET_VARSIZE(value, build->filter.size + VARHDRSZ);
	memcpy(VARDATA(value), build->filter.filter.bytes, build->filter.size);
	ckfp_remote_set(build->css.ss.ps.state, &build->record, value);
	build->sent = true;
}

/* Did this process read only a part of the build side? */
static bool
ckfp_build_is_partial(const ckfp_filter_node *build)
{
	return castNode(HashState, innerPlanState(build->join))->parallel_state != NULL;
}

/* The ranges of all keys of this process are gathered. */
static void
ckfp_build_finish_ranges(ckfp_filter_node *build)
{
	if (ckfp_build_is_partial(build) && !ckfp_keys_are_common(&build->ranges))
		ckfp_key_ranges_give_up(&build->ranges);
	else
		ckfp_key_ranges_finish(&build->ranges);
	ckfp_skip_blocks_know(build);
	if (!build->record.mapped)
		return;
	ckfp_filter_node_know_ranges(build);
	ckfp_condition_update_all(build);
}

static void
ckfp_build_finish(ckfp_filter_node *build)
{
	if (ckfp_build_is_partial(build))
	{
		ckfp_filter_node_give_up(build, CKFP_GIVEN_UP_NOT);
		return;
	}
	if (!ckfp_filter_finish(&build->filter))
	{
		ckfp_filter_node_give_up(build, CKFP_GIVEN_UP_MEMORY);
		return;
	}
	ckfp_partitions_finish(&build->partitions);
	ckfp_filter_node_know_partitions(build);
	ckfp_filter_node_ready(build);
	ckfp_condition_update_all(build);
	ckfp_build_send(build);
}

/* Does this process gather the ranges of the keys? It may do so without a filter. */
static inline bool
ckfp_build_has_ranges(const ckfp_filter_node *build)
{
	return build->ranges.state == CKFP_RANGES_GATHERING;
}

/* Hash the key of a row, and note its partitions and ranges. False if there is none. */
static bool
ckfp_build_take_key(ckfp_filter_node *build, TupleTableSlot *slot, uint64 *hash)
{
	ExprContext *econtext = build->css.ss.ps.ps_ExprContext;

	econtext->ecxt_outertuple = slot;
	if (!ckfp_source_hash(&build->source, slot, econtext, build->value, hash))
		return false;
	if (build->state == CKFP_FILTER_GATHERING && build->partitions.scans > 0)
		ckfp_partitions_add(&build->partitions, build->value);
	if (!ckfp_build_has_ranges(build))
		return true;
	ckfp_key_ranges_add(&build->ranges, build->value);
	if (build->record.mapped && !ckfp_build_has_ranges(build))
		build->counts.given_up = CKFP_GIVEN_UP_KEYS;
	return true;
}

/* Are there more than twice as many keys as estimated, so that the filter does not pay or fit? The
 * keys are those that all its builders have gathered so far. */
static bool
ckfp_build_exceeds_estimate(ckfp_filter_node *build)
{
	double keys = ckfp_keys_are_common(&build->ranges) ? ckfp_shared_gathered(build)
													   : (double)build->filter.n;

	return ckfp_join_mode_setting == CKFP_JOIN_AUTO && keys > 2 * build->record.build_rows &&
		   !(ckfp_cost_fits(keys) && ckfp_cost_pays(&build->record, keys));
}

static void
ckfp_build_gather(ckfp_filter_node *build, TupleTableSlot *slot)
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
	if (!found || build->state != CKFP_FILTER_GATHERING)
		return;
	if (!ckfp_filter_gather_key(&build->filter, build->value, hash))
		ckfp_shared_fail(build, CKFP_GIVEN_UP_MEMORY);
	else if (build->filter.n % CKFP_WINDOW == 0 && ckfp_build_exceeds_estimate(build))
		ckfp_shared_fail(build, CKFP_GIVEN_UP_KEYS);
}

/* ------------------------------------------------------- callbacks of the executor */

void
ckfp_filter_node_begin(ckfp_filter_node *filter_node, EState *estate, int eflags)
{
	PlanState *state = &filter_node->css.ss.ps;
	const ckfp_join_record *record = &filter_node->record;

	/* the node above reads the rows in the slot type of the child */
	outerPlanState(state) = ExecInitNode(outerPlan(state->plan), estate, eflags);
	state->resultops = ExecGetResultSlotOps(outerPlanState(state), &state->resultopsfixed);
	state->resultopsset = true;
	state->ps_ProjInfo = NULL;
	ckfp_record_from_list(castNode(CustomScan, state->plan)->custom_private, &filter_node->record);
	filter_node->source.columns = record->columns;
	filter_node->source.key = filter_node->build_key;
	for (int i = 0; i < record->columns; i++)
		ckfp_key_prepare(&record->column[i], &filter_node->build_key[i], &filter_node->probe_key[i],
						 estate->es_query_cxt);
	ckfp_filter_init(&filter_node->filter, estate->es_query_cxt, (size_t)ckfp_join_memory * 1024,
					 ckfp_filter_node_is_remote(filter_node) ? CKFP_REMOTE_FPR : CKFP_FPR,
					 record->columns == 1 ? ckfp_key_integer_length(&record->column[0]) : 0);
	ckfp_remote_set(estate, record, NULL);
	if (ckfp_join_starting != NULL)
	{
		filter_node->next = *ckfp_join_starting;
		*ckfp_join_starting = filter_node;
	}
}

static void
ckfp_build_begin(CustomScanState *node, EState *estate, int eflags)
{
	ckfp_filter_node *build = (ckfp_filter_node *)node;
	const List *keys = castNode(CustomScan, node->ss.ps.plan)->custom_exprs;

	ckfp_filter_node_begin(build, estate, eflags);
	for (int i = 0; i < build->record.columns; i++)
	{
		Expr *expression = ckfp_without_relabeling(list_nth(keys, i));

		if (IsA(expression, Var))
			build->source.attribute[i] = ((Var *)expression)->varattno;
		else
			build->source.expression[i] = ExecInitExpr(expression, &node->ss.ps);
		if (build->source.expression[i] != NULL || !ckfp_key_is_integer(&build->build_key[i]))
			build->allocates = true;
	}
}

/* This process is to read the first row of the build side. */
static void
ckfp_build_begin_reading(ckfp_filter_node *build)
{
	if (ckfp_keys_are_common(&build->ranges))
		ckfp_shared_begin(build);
	if (build->state == CKFP_FILTER_NEW)
		ckfp_filter_node_enter(build, CKFP_FILTER_GATHERING);
	if (build->ranges.state == CKFP_RANGES_NEW)
		build->ranges.state = CKFP_RANGES_GATHERING;
}

static void
ckfp_build_read(ckfp_filter_node *build, TupleTableSlot *slot)
{
	if (!ckfp_build_has_ranges(build))
		ckfp_key_ranges_give_up(&build->ranges);
	if (build->state != CKFP_FILTER_GATHERING && ckfp_keys_are_common(&build->ranges))
		ckfp_shared_miss(build);
	if (build->state == CKFP_FILTER_GATHERING || ckfp_build_has_ranges(build))
		ckfp_build_gather(build, slot);
}

/* There are no more rows for this process. */
static void
ckfp_build_end_reading(ckfp_filter_node *build)
{
	bool common = ckfp_keys_are_common(&build->ranges);
	bool ranges = ckfp_build_has_ranges(build);
	bool filter = build->state == CKFP_FILTER_GATHERING;

	if (ranges)
		ckfp_build_finish_ranges(build);
	if (filter && common)
		ckfp_shared_contribute(build);
	else if (filter)
		ckfp_build_finish(build);
	if (common && (ranges || filter))
		ckfp_shared_finish(build);
}

static TupleTableSlot *
ckfp_build_exec(CustomScanState *node)
{
	ckfp_filter_node *build = (ckfp_filter_node *)node;
	TupleTableSlot *slot;

	if (build->state == CKFP_FILTER_NEW || build->ranges.state == CKFP_RANGES_NEW)
		ckfp_build_begin_reading(build);
	slot = ExecProcNode(outerPlanState(node));
	if (TupIsNull(slot))
		ckfp_build_end_reading(build);
	else
		ckfp_build_read(build, slot);
	return slot;
}

static void
ckfp_build_end(CustomScanState *node)
{
	ckfp_filter_node *build = (ckfp_filter_node *)node;

	ckfp_skip_blocks_finish(build);
	ckfp_filter_free(&build->filter);
	ExecEndNode(outerPlanState(node));
}

void
ckfp_build_restart(ckfp_filter_node *build)
{
	ckfp_filter_node_start(build);
	ckfp_skip_blocks_start(build);
	ckfp_skip_arm(build);
	ckfp_condition_update_all(build);
}

static void
ckfp_build_rescan(CustomScanState *node)
{
	PlanState *child = outerPlanState(node);

	ckfp_build_restart((ckfp_filter_node *)node);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
ckfp_build_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	ckfp_explain_filter((ckfp_filter_node *)node, NULL, es);
}

static const CustomExecMethods ckfp_exec_methods = {
	.CustomName = CKFP_BUILD_NAME,
	.BeginCustomScan = ckfp_build_begin,
	.ExecCustomScan = ckfp_build_exec,
	.EndCustomScan = ckfp_build_end,
	.ReScanCustomScan = ckfp_build_rescan,
	CKFP_SHARED_CALLBACKS,
	.ExplainCustomScan = ckfp_build_explain,
};

static Node *
ckfp_build_create(CustomScan *scan)
{
	ckfp_filter_node *build = palloc0(sizeof(*build));

	NodeSetTag(build, T_CustomScanState);
	build->css.methods = &ckfp_exec_methods;
	return (Node *)build;
}

void
ckfp_join_init_build(void)
{
	ckfp_build_methods.CreateCustomScanState = ckfp_build_create;
	RegisterCustomScanMethods(&ckfp_build_methods);
}
