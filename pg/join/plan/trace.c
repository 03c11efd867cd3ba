/*
 * trace.c - from which scans the key of a join comes.
 *
 * A row may be dropped at a scan if the join would drop every row that is made from it. So its key
 * must reach the join unchanged, in each row that the scanned row contributes to.
 */
#include "join/base/monotone.h"
#include "join/plan/plan.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

AttrNumber
ckfp_column_of(Expr *expression, int varno)
{
	const Var *column = expression == NULL ? NULL : (Var *)ckfp_without_relabeling(expression);

	return column != NULL && IsA(column, Var) && column->varno == varno ? Max(column->varattno, 0)
																		: 0;
}

AttrNumber
ckfp_trace_function(ckfp_trace *trace, Expr *expression, int varno)
{
	ckfp_monotone monotone;

	if (!ckfp_monotone_of(expression, varno, &monotone))
		return 0;
	expression = ckfp_monotone_abstract(expression, monotone.leaf);
	if (trace->function != NULL)
		expression = ckfp_monotone_compose(trace->function, expression);
	trace->function = expression;
	trace->at_once |= monotone.session;
	return ((Var *)monotone.leaf)->varattno;
}

/* The columns of `varno` that columns of the target list of a plan are. False if one of them is
 * not a plain column. */
static bool
ckfp_columns_below(ckfp_trace *trace, const Plan *plan, const AttrNumber *columns, int varno,
				   AttrNumber *below)
{
	for (int i = 0; i < trace->record->columns; i++)
	{
		TargetEntry *entry = list_nth(plan->targetlist, columns[i] - 1);

		below[i] = ckfp_column_of(entry->expr, varno);
		if (below[i] == 0 && trace->function != NULL)
			below[i] = ckfp_trace_function(trace, entry->expr, varno);
		if (below[i] == 0)
			return false;
	}
	return true;
}

/* May a node keep rows of its children while it returns others, perhaps until the function has
 * another time zone? A hash join may write them to a file. */
static bool
ckfp_trace_waits(ckfp_trace *trace, const Plan *plan)
{
	bool keeps = (ckfp_node_of(plan)->is & CKFP_NODE_AHEAD) || IsA(plan, HashJoin) ||
				 IsA(plan, Memoize) || IsA(plan, MergeAppend);

	trace->waits |= trace->at_once && keeps;
	return trace->at_once && keeps;
}

static void
ckfp_trace_child(ckfp_trace *trace, Plan *plan, Plan *child, int varno, const AttrNumber *columns,
				 double saving)
{
	AttrNumber below[CKFP_JOIN_KEYS];
	Expr *function = trace->function;
	bool at_once = trace->at_once;

	if (child != NULL && ckfp_columns_below(trace, plan, columns, varno, below) &&
		!ckfp_trace_waits(trace, plan))
		ckfp_trace_columns(trace, child, below, saving);
	trace->function = function;
	trace->at_once = at_once;
}

/* ---------------------------------------------------------------------- scans */

/* The relation and its column that column n in a scan's own list of columns is. */
static void
ckfp_listed_column(List *list, AttrNumber n, Index *relation, AttrNumber *column)
{
	TargetEntry *entry = n <= list_length(list) ? list_nth(list, n - 1) : NULL;

	if (entry != NULL && IsA(entry->expr, Var))
	{
		*relation = (Index)((Var *)entry->expr)->varno;
		*column = ((Var *)entry->expr)->varattno;
	}
}

/* The number of rows that the condition of a scan tests. */
static double
ckfp_rows_before_condition(const ckfp_trace *trace, const Plan *plan, Index relation)
{
	FormData_pg_class class;

	if (IsA(plan, BitmapHeapScan))
		return Max(plan->plan_rows, outerPlan(plan)->plan_rows /
										(plan->parallel_aware ? trace->rules->processes : 1));
	if (!IsA(plan, SeqScan) || /* an index has excluded most */
		!ckfp_read_class(rt_fetch(relation, trace->rules->statement.plan->rtable)->relid, &class))
		return plan->plan_rows;
	return Max(plan->plan_rows, class.reltuples / trace->rules->processes);
}

/* The type that a scan declares for a column of its target list. Above the scan the key may be
 * relabeled. */
static void
ckfp_declared_type(const Plan *plan, AttrNumber column, ckfp_join_target *target)
{
	Expr *expression =
		ckfp_without_relabeling(((TargetEntry *)list_nth(plan->targetlist, column - 1))->expr);

	target->typmod = exprTypmod((Node *)expression);
	target->declared = getBaseTypeAndTypmod(exprType((Node *)expression), &target->typmod);
}

/* Is the key of a scan's rows the same function as of those of the targets before? Note that of the
 * first one. */
static bool
ckfp_trace_maps(ckfp_trace *trace)
{
	ckfp_join_record *record = trace->record;

	if (record->mapped)
		return equal(trace->function, trace->mapped);
	record->mapped =
		!IsA(trace->function, CaseTestExpr) && ckfp_monotone_note(trace->function, record);
	trace->mapped = trace->function;
	return record->mapped;
}

/* Add a scan with these columns to the targets. */
static void
ckfp_trace_scan(ckfp_trace *trace, Plan *plan, Index relation, const AttrNumber *columns,
				double saving)
{
	ckfp_join_target *target = palloc0(sizeof(*target));
	List *listed = ckfp_node_field(plan, ckfp_node_of(plan)->listed);

	if (!ckfp_columns_below(trace, plan, columns, listed != NIL ? INDEX_VAR : (int)relation,
							target->attribute) ||
		(trace->function != NULL && !ckfp_trace_maps(trace)) ||
		(trace->at_once && plan->async_capable)) /* Append keeps its rows */
		return;
	target->node = plan->plan_node_id;
	target->parameter = -1;
	target->stops = bms_is_member(plan->plan_node_id, trace->rules->stops);
	target->foreign = IsA(plan, ForeignScan) ? (ForeignScan *)plan : NULL;
	for (int i = 0; i < trace->record->columns; i++)
	{
		target->relation[i] = relation;
		if (listed != NIL)
			ckfp_listed_column(listed, target->attribute[i], &target->relation[i],
							   &target->column[i]);
		else
			target->column[i] = target->attribute[i];
	}
	ckfp_declared_type(plan, columns[0], target);
	target->scanned = ((Scan *)plan)->scanrelid;
	target->skips = !trace->looped &&
					ckfp_scan_skips(plan, trace->ordered || target->stops, &target->unordered);
	target->condition = target->skips && (plan->qual != NIL || !IsA(plan, SeqScan));
	/* the process that makes its bitmap uses its own keys */
	trace->shared |= IsA(plan, BitmapHeapScan) && plan->parallel_aware;
	target->read = trace->loops * ckfp_rows_before_condition(trace, plan, relation);
	target->reading = target->read * ckfp_cost_of_reading(plan);
	trace->record->targets = lappend(trace->record->targets, target);
	trace->rows += trace->loops * plan->plan_rows;
	trace->reaching += trace->loops * plan->plan_rows *
					   ckfp_cost_of_reaching(plan, target->attribute, trace->record->columns);
	if (plan->qual != NIL)
		trace->conditions += target->read;
	trace->saving += trace->loops * plan->plan_rows * (saving + ckfp_cost_of_scan(plan));
}

/* Trace into a subquery if possible. Otherwise the subquery scan itself becomes the target. */
static void
ckfp_trace_subquery(ckfp_trace *trace, SubqueryScan *scan, const AttrNumber *columns, double saving)
{
	Index relation = scan->scan.scanrelid;
	int targets = list_length(trace->record->targets);

	if (!trace->rules->tables.has_barrier)
		ckfp_trace_child(trace, &scan->scan.plan, scan->subplan, (int)relation, columns, saving);
	if (list_length(trace->record->targets) == targets)
		ckfp_trace_scan(trace, &scan->scan.plan, relation, columns, saving);
}

/* ----------------------------------------------------------------- other nodes */

bool
ckfp_outer_side_may_lose_rows(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

static void
ckfp_trace_join(ckfp_trace *trace, Join *join, const AttrNumber *columns, double saving)
{
	saving += ckfp_cost_of_join(join);
	if (ckfp_outer_side_may_lose_rows(join->jointype))
		ckfp_trace_child(trace, &join->plan, outerPlan(join), OUTER_VAR, columns, saving);
	if (IsA(join, HashJoin) && join->jointype == JOIN_INNER)
		ckfp_trace_child(trace, &join->plan, innerPlan(join), INNER_VAR, columns, saving);
	if (IsA(join, NestLoop) && join->jointype == JOIN_INNER)
	{
		double loops = trace->loops;
		bool looped = trace->looped;

		/* the estimates of the inner side are those of one scan */
		trace->loops *= Max(outerPlan(join)->plan_rows, 1);
		trace->looped = true;
		ckfp_trace_child(trace, &join->plan, innerPlan(join), INNER_VAR, columns, saving);
		trace->loops = loops;
		trace->looped = looped;
	}
}

/* Does the join treat all rows of a group alike? It does if its equality agrees with that of the
 * grouping. */
static bool
ckfp_groups_are_alike(const ckfp_trace *trace, int i, Oid equality, Oid collation)
{
	const ckfp_join_column *column = &trace->record->column[i];

	if (trace->function != NULL)
		return ckfp_monotone_is_key(equality);
	return (equality == column->equality ||
			equality_ops_are_compatible(equality, column->equality)) &&
		   ckfp_collations_agree(collation, column->collation);
}

/* Trace through grouping. Each column must be a grouping column, so that a group is dropped as a
 * whole. */
static void
ckfp_trace_groups(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving)
{
	const ckfp_node *node = ckfp_node_of(plan);
	int n = *(const int *)((const char *)plan + node->groups.n);
	const AttrNumber *grouping = ckfp_node_field(plan, node->groups.columns);
	const Oid *equalities = ckfp_node_field(plan, node->groups.equalities);
	const Oid *collations = ckfp_node_field(plan, node->groups.collations);
	AttrNumber below[CKFP_JOIN_KEYS];

	if (IsA(plan, Agg) && (((Agg *)plan)->groupingSets != NIL || ((Agg *)plan)->chain != NIL))
		return;
	if (!ckfp_columns_below(trace, plan, columns, OUTER_VAR, below) ||
		ckfp_trace_waits(trace, plan))
		return;
	for (int i = 0; i < trace->record->columns; i++)
	{
		int g = 0;

		while (g < n && grouping[g] != below[i])
			g++;
		if (g == n || !ckfp_groups_are_alike(trace, i, equalities[g], collations[g]))
			return;
	}
	ckfp_trace_columns(trace, outerPlan(plan), below, saving + CKFP_GROUP_NS);
}

static void
ckfp_trace_list(ckfp_trace *trace, Plan *plan, List *children, const AttrNumber *columns,
				double saving)
{
	foreach_ptr (Plan, child, children)
	{
		int targets = list_length(trace->record->targets);

		ckfp_trace_child(trace, plan, child, OUTER_VAR, columns, saving);
		trace->missed |= list_length(trace->record->targets) == targets;
	}
}

/*
 * A node may drop rows for a security barrier, if the statement has one. The user must not learn
 * about such rows. A filter below the node would reveal them, by what EXPLAIN counts or by time; a
 * filter on a scan is used after the scan's own condition. The plan does not show which nodes
 * belong to the barrier: a subquery's own node is removed if it does nothing.
 */
void
ckfp_trace_columns(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving)
{
	const ckfp_node *node = ckfp_node_of(plan);
	bool ordered = trace->ordered;

	trace->shared |= IsA(plan, Hash) && plan->parallel_aware;
	if ((trace->rules->tables.has_barrier && (node->is & CKFP_NODE_HIDES)) ||
		(trace->streaming && (node->is & CKFP_NODE_AHEAD)))
		return;
	trace->ordered = ckfp_needs_order(plan, ordered);
	switch (node->kind)
	{
		case CKFP_NODE_UNKNOWN:
			break;
		case CKFP_NODE_OTHER:
			trace->gathers |= IsA(plan, Gather) || IsA(plan, GatherMerge);
			if (ckfp_join_is_ours(plan)) /* it has the columns of its child */
				ckfp_trace_columns(trace, outerPlan(plan), columns, saving);
			break;
		case CKFP_NODE_SCAN:
			ckfp_trace_scan(trace, plan, ((Scan *)plan)->scanrelid, columns, saving);
			break;
		case CKFP_NODE_SUBQUERY:
			ckfp_trace_subquery(trace, (SubqueryScan *)plan, columns, saving);
			break;
		case CKFP_NODE_JOIN:
			ckfp_trace_join(trace, (Join *)plan, columns, saving);
			break;
		case CKFP_NODE_SORT:
		case CKFP_NODE_PASS:
			if (node->kind == CKFP_NODE_SORT)
				saving += CKFP_GROUP_NS;
			ckfp_trace_child(trace, plan, outerPlan(plan), OUTER_VAR, columns, saving);
			break;
		case CKFP_NODE_LIST:
			ckfp_trace_list(trace, plan, ckfp_node_field(plan, node->children), columns, saving);
			break;
		case CKFP_NODE_GROUPS:
			ckfp_trace_groups(trace, plan, columns, saving);
			break;
	}
	trace->ordered = ordered;
}
