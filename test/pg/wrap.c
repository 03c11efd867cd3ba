/*
 * wrap.c - another extension that puts plan nodes of its own into plans, as Citus and TimescaleDB
 * do: its planner hook wraps scans of the table `wrap.scans`, or with `wrap.joins` the hash join
 * next above each, in a CustomScan that hands on its child's rows.  t/035_join_wrappers.pl
 * builds it.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

PG_MODULE_MAGIC;

void _PG_init(void);

static planner_hook_type next_planner = NULL;
static char *wrap_table = NULL;
static bool wrap_joins = false;

/* ---------------------------------------------------------------------- the node */

static void
wrap_begin(CustomScanState *node, EState *estate, int eflags)
{
	CustomScan *scan = (CustomScan *)node->ss.ps.plan;

	if (scan->custom_plans == NIL)
		outerPlanState(node) = ExecInitNode(outerPlan(scan), estate, eflags);
	else
		node->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, eflags));
}

static PlanState *
wrap_child(CustomScanState *node)
{
	return node->custom_ps == NIL ? outerPlanState(node) : linitial(node->custom_ps);
}

static TupleTableSlot *
wrap_next(ScanState *state)
{
	TupleTableSlot *slot = ExecProcNode(wrap_child((CustomScanState *)state));

	return TupIsNull(slot) ? NULL : ExecCopySlot(state->ss_ScanTupleSlot, slot);
}

static bool
wrap_recheck(ScanState *state, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
wrap_exec(CustomScanState *node)
{
	return ExecScan(&node->ss, wrap_next, wrap_recheck);
}

static void
wrap_end(CustomScanState *node)
{
	ExecEndNode(wrap_child(node));
}

static void
wrap_rescan(CustomScanState *node)
{
	PlanState *child = wrap_child(node);

	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
	ExecScanReScan(&node->ss);
}

static const CustomExecMethods wrap_exec_methods = {
	.CustomName = "Wrapper",
	.BeginCustomScan = wrap_begin,
	.ExecCustomScan = wrap_exec,
	.EndCustomScan = wrap_end,
	.ReScanCustomScan = wrap_rescan,
};

static Node *
wrap_create(CustomScan *scan)
{
	CustomScanState *node = (CustomScanState *)newNode(sizeof(*node), T_CustomScanState);

	node->methods = &wrap_exec_methods;
	return (Node *)node;
}

static const CustomScanMethods wrap_methods = {
	.CustomName = "Wrapper",
	.CreateCustomScanState = wrap_create,
};

/* ---------------------------------------------------------------------- the plan */

typedef struct wrapping
{
	PlannedStmt *statement;
	int last_node; /* the highest plan_node_id */
	bool below;    /* there is a scan of the table whose join is not wrapped yet */
} wrapping;

/* A target list of the child's columns, as columns of what `varno` stands for. */
static List *
wrap_columns(const Plan *child, int varno)
{
	List *columns = NIL;
	ListCell *cell;

	foreach (cell, child->targetlist)
	{
		TargetEntry *entry = lfirst(cell);
		Node *value = (Node *)entry->expr;
		TargetEntry *column = flatCopyTargetEntry(entry);

		column->expr = (Expr *)makeVar(varno, entry->resno, exprType(value), exprTypmod(value),
									   exprCollation(value), 0);
		columns = lappend(columns, column);
	}
	return columns;
}

static Plan *
wrap_node(wrapping *w, Plan *child)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan *plan = &scan->scan.plan;

	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows;
	plan->plan_width = child->plan_width;
	plan->parallel_safe = child->parallel_safe;
	plan->plan_node_id = ++w->last_node;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	plan->targetlist = wrap_columns(child, INDEX_VAR);
	/* nodes may have their children in either place; EXPLAIN finds a join's columns in this one */
	if (IsA(child, HashJoin))
	{
		plan->lefttree = child;
		scan->custom_scan_tlist = wrap_columns(child, OUTER_VAR);
	}
	else
	{
		scan->custom_plans = list_make1(child);
		scan->custom_scan_tlist = copyObject(child->targetlist);
	}
	scan->methods = &wrap_methods;
	return plan;
}

static Plan *wrap_below(wrapping *w, Plan *plan);

static void
wrap_each(wrapping *w, List *plans)
{
	ListCell *cell;

	foreach (cell, plans)
		lfirst(cell) = wrap_below(w, lfirst(cell));
}

/* The plan with its nodes wrapped. */
static Plan *
wrap_below(wrapping *w, Plan *plan)
{
	if (plan == NULL)
		return NULL;
	plan->lefttree = wrap_below(w, plan->lefttree);
	plan->righttree = wrap_below(w, plan->righttree);
	if (IsA(plan, Append))
		wrap_each(w, ((Append *)plan)->appendplans);
	if (IsA(plan, SubqueryScan))
		((SubqueryScan *)plan)->subplan = wrap_below(w, ((SubqueryScan *)plan)->subplan);
	if (IsA(plan, SeqScan))
	{
		RangeTblEntry *entry = rt_fetch(((Scan *)plan)->scanrelid, w->statement->rtable);

		if (strcmp(get_rel_name(entry->relid), wrap_table) == 0)
		{
			if (!wrap_joins)
				return wrap_node(w, plan);
			w->below = true;
		}
	}
	if (IsA(plan, HashJoin) && w->below)
	{
		w->below = false;
		return wrap_node(w, plan);
	}
	return plan;
}

/* From PostgreSQL 19 on, the planner also gets the state of EXPLAIN. */
#if PG_VERSION_NUM >= 190000
#define EXPLAIN_PARAMETER , ExplainState *explain
#define EXPLAIN_ARGUMENT , explain
#else
#define EXPLAIN_PARAMETER
#define EXPLAIN_ARGUMENT
#endif

static PlannedStmt *
wrap_planner(Query *query, const char *text, int options,
			 ParamListInfo parameters EXPLAIN_PARAMETER)
{
	planner_hook_type planner = next_planner != NULL ? next_planner : standard_planner;
	PlannedStmt *statement = planner(query, text, options, parameters EXPLAIN_ARGUMENT);
	/* nobody numbers that many */
	wrapping w = {.statement = statement, .last_node = 10000};

	if (wrap_table[0] != '\0')
	{
		statement->planTree = wrap_below(&w, statement->planTree);
		wrap_each(&w, statement->subplans);
	}
	return statement;
}

void
_PG_init(void)
{
	DefineCustomStringVariable("wrap.scans", "Table whose scans are wrapped.", NULL, &wrap_table,
							   "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("wrap.joins", "Wrap the joins above instead.", NULL, &wrap_joins,
							 false, PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterCustomScanMethods(&wrap_methods);
	next_planner = planner_hook;
	planner_hook = wrap_planner;
}
