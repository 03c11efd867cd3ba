/*
 * trace.c - from which scans the key of a join comes.
 *
 * A row may be dropped at a scan if the join would drop every row that is made from it. So its key
 * must reach the join unchanged, in each row that the scanned row contributes to.
 */
#include "trace.h"
#include "cost.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

AttrNumber
ckfp_column_of(Expr *expression, int varno)
{
	while (expression != NULL && IsA(expression, RelabelType))
		expression = ((RelabelType *)expression)->arg;
	if (expression == NULL || !IsA(expression, Var) || ((Var *)expression)->varno != varno ||
		((Var *)expression)->varattno <= 0)
		return 0;
	return ((Var *)expression)->varattno;
}

/* The columns of `varno` that columns of the target list of a plan are. False if one of them is
 * not a plain column. */
static bool
ckfp_columns_below(const ckfp_trace *trace, const Plan *plan, const AttrNumber *columns, int varno,
				   AttrNumber *below)
{
	int i;

	for (i = 0; i < trace->record->columns; i++)
	{
		TargetEntry *entry = list_nth(plan->targetlist, columns[i] - 1);

		below[i] = ckfp_column_of(entry->expr, varno);
		if (below[i] == 0)
			return false;
	}
	return true;
}

static void
ckfp_trace_child(ckfp_trace *trace, Plan *plan, Plan *child, int varno, const AttrNumber *columns,
				 double saving)
{
	AttrNumber below[CKFP_JOIN_KEYS];

	if (child != NULL && ckfp_columns_below(trace, plan, columns, varno, below))
		ckfp_trace_columns(trace, child, below, saving);
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
	HeapTuple tuple;
	double rows = plan->plan_rows;

	if (!IsA(plan, SeqScan))
		return rows; /* an index has excluded most */
	tuple = SearchSysCache1(RELOID,
							ObjectIdGetDatum(rt_fetch(relation, trace->statement->rtable)->relid));
	if (HeapTupleIsValid(tuple))
	{
		rows = Max(rows, ((Form_pg_class)GETSTRUCT(tuple))->reltuples / Max(trace->processes, 1));
		ReleaseSysCache(tuple);
	}
	return rows;
}

/* The type that a scan declares for a column of its target list. Above the scan the key may be
 * relabeled. */
static void
ckfp_declared_type(const Plan *plan, AttrNumber column, ckfp_join_target *target)
{
	Expr *expression = ((TargetEntry *)list_nth(plan->targetlist, column - 1))->expr;

	while (IsA(expression, RelabelType))
		expression = ((RelabelType *)expression)->arg;
	target->typmod = exprTypmod((Node *)expression);
	target->declared = getBaseTypeAndTypmod(exprType((Node *)expression), &target->typmod);
}

/* Add a scan with these columns to the targets. */
static void
ckfp_trace_scan(ckfp_trace *trace, Plan *plan, Index relation, const AttrNumber *columns,
				double saving)
{
	ckfp_join_target *target = palloc0(sizeof(*target));
	List *listed = IsA(plan, IndexOnlyScan) ? ((IndexOnlyScan *)plan)->indextlist
				   : IsA(plan, ForeignScan) ? ((ForeignScan *)plan)->fdw_scan_tlist
											: NIL;
	int i;

	if (!ckfp_columns_below(trace, plan, columns, listed != NIL ? INDEX_VAR : (int)relation,
							target->attribute))
		return;
	target->node = plan->plan_node_id;
	target->parameter = -1;
	target->foreign = IsA(plan, ForeignScan) ? (ForeignScan *)plan : NULL;
	for (i = 0; i < trace->record->columns; i++)
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
	target->read = trace->loops * ckfp_rows_before_condition(trace, plan, relation);
	target->reading = target->read * ckfp_cost_of_reading(plan);
	trace->record->targets = lappend(trace->record->targets, target);
	trace->rows += trace->loops * plan->plan_rows;
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

	if (!trace->has_barrier)
		ckfp_trace_child(trace, &scan->scan.plan, scan->subplan, (int)relation, columns, saving);
	if (list_length(trace->record->targets) == targets)
		ckfp_trace_scan(trace, &scan->scan.plan, relation, columns, saving);
}

/* ----------------------------------------------------------------- other nodes */

/* Does each result row of a join of this type come from exactly one row of the outer side? Then
 * dropping a row of that side drops only its own results. */
static bool
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

		/* the estimates of the inner side are those of one scan */
		trace->loops *= Max(outerPlan(join)->plan_rows, 1);
		ckfp_trace_child(trace, &join->plan, innerPlan(join), INNER_VAR, columns, saving);
		trace->loops = loops;
	}
}

/* Does the join treat all rows of a group alike? It does if its equality agrees with that of the
 * grouping. */
static bool
ckfp_same_equality(const ckfp_join_column *column, Oid equality, Oid collation)
{
	if (equality != column->equality && !equality_ops_are_compatible(equality, column->equality))
		return false;
	return collation == column->collation ||
		   ((!OidIsValid(collation) || get_collation_isdeterministic(collation)) &&
			(!OidIsValid(column->collation) || get_collation_isdeterministic(column->collation)));
}

/* Trace through grouping. Each column must be a grouping column, so that a group is dropped as a
 * whole. */
static void
ckfp_trace_groups(ckfp_trace *trace, Plan *plan, int n, const AttrNumber *grouping,
				  const Oid *equalities, const Oid *collations, const AttrNumber *columns,
				  double saving)
{
	AttrNumber below[CKFP_JOIN_KEYS];
	int i;

	if (!ckfp_columns_below(trace, plan, columns, OUTER_VAR, below))
		return;
	for (i = 0; i < trace->record->columns; i++)
	{
		int g = 0;

		while (g < n && grouping[g] != below[i])
			g++;
		if (g == n || !ckfp_same_equality(&trace->record->column[i], equalities[g], collations[g]))
			return;
	}
	ckfp_trace_columns(trace, outerPlan(plan), below, saving + ckfp_cost_of_grouping(plan));
}

static void
ckfp_trace_aggregate(ckfp_trace *trace, Agg *agg, const AttrNumber *columns, double saving)
{
	if (agg->groupingSets == NIL && agg->chain == NIL)
		ckfp_trace_groups(trace, &agg->plan, agg->numCols, agg->grpColIdx, agg->grpOperators,
						  agg->grpCollations, columns, saving);
}

static void
ckfp_trace_list(ckfp_trace *trace, Plan *plan, List *children, const AttrNumber *columns,
				double saving)
{
	ListCell *cell;

	foreach (cell, children)
	{
		int targets = list_length(trace->record->targets);

		ckfp_trace_child(trace, plan, lfirst(cell), OUTER_VAR, columns, saving);
		trace->missed |= list_length(trace->record->targets) == targets;
	}
}

/*
 * May a node drop rows for a security barrier, if the statement has one? The user must not learn
 * about such rows. A filter below the node would reveal them, by what EXPLAIN counts or by time; a
 * filter on a scan is asked after the scan's own condition. The plan does not show which nodes
 * belong to the barrier: a subquery's own node is removed if it does nothing.
 */
static bool
ckfp_may_hide_rows(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
		case T_Result:
		case T_Agg:
		case T_Group:
		case T_Unique:
		case T_WindowAgg:
			return true;
		default:
			return false;
	}
}

/* Does a node read many rows, or all, before it returns the first one? */
static bool
ckfp_reads_ahead(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_IncrementalSort:
		case T_Material:
		case T_Hash:
		case T_Agg:
		case T_Group:
		case T_Unique:
		case T_WindowAgg:
			return true;
		default:
			return false;
	}
}

void
ckfp_trace_columns(ckfp_trace *trace, Plan *plan, const AttrNumber *columns, double saving)
{
	if ((trace->has_barrier && ckfp_may_hide_rows(plan)) ||
		(trace->streaming && ckfp_reads_ahead(plan)))
		return;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
#if PG_VERSION_NUM >= 140000
		case T_TidRangeScan:
#endif
		case T_FunctionScan:
		case T_TableFuncScan:
		case T_ValuesScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_ForeignScan:
			ckfp_trace_scan(trace, plan, ((Scan *)plan)->scanrelid, columns, saving);
			break;
		case T_SubqueryScan:
			ckfp_trace_subquery(trace, (SubqueryScan *)plan, columns, saving);
			break;
		case T_HashJoin:
		case T_NestLoop:
		case T_MergeJoin:
			ckfp_trace_join(trace, (Join *)plan, columns, saving);
			break;
		case T_Sort:
		case T_IncrementalSort:
			ckfp_trace_child(trace, plan, outerPlan(plan), OUTER_VAR, columns,
							 saving + ckfp_cost_of_grouping(plan));
			break;
		case T_Material:
		case T_Hash:
		case T_Result:
#if PG_VERSION_NUM >= 140000
		case T_Memoize:
#endif
			ckfp_trace_child(trace, plan, outerPlan(plan), OUTER_VAR, columns, saving);
			break;
		case T_Append:
			ckfp_trace_list(trace, plan, ((Append *)plan)->appendplans, columns, saving);
			break;
		case T_MergeAppend:
			ckfp_trace_list(trace, plan, ((MergeAppend *)plan)->mergeplans, columns, saving);
			break;
		case T_Agg:
			ckfp_trace_aggregate(trace, (Agg *)plan, columns, saving);
			break;
		case T_Group:
			ckfp_trace_groups(trace, plan, ((Group *)plan)->numCols, ((Group *)plan)->grpColIdx,
							  ((Group *)plan)->grpOperators, ((Group *)plan)->grpCollations,
							  columns, saving);
			break;
		case T_Unique:
			ckfp_trace_groups(trace, plan, ((Unique *)plan)->numCols, ((Unique *)plan)->uniqColIdx,
							  ((Unique *)plan)->uniqOperators, ((Unique *)plan)->uniqCollations,
							  columns, saving);
			break;
		case T_WindowAgg:
			ckfp_trace_groups(trace, plan, ((WindowAgg *)plan)->partNumCols,
							  ((WindowAgg *)plan)->partColIdx, ((WindowAgg *)plan)->partOperators,
							  ((WindowAgg *)plan)->partCollations, columns, saving);
			break;
		case T_CustomScan:
			if (ckfp_join_is_ours(plan)) /* it has the columns of its child */
				ckfp_trace_columns(trace, outerPlan(plan), columns, saving);
			break;
		default:
			break;
	}
}
