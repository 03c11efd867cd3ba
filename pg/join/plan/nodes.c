/*
 * nodes.c - the table of plan nodes. A member that a row leaves out is false, 0, or the first value
 * of its type.
 */
#include "join/plan/plan.h"

static const ckfp_node ckfp_nodes[] = {
	/* scans */
	[T_SeqScan] = {.kind = CKFP_NODE_SCAN, .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_SampleScan] = {.kind = CKFP_NODE_SCAN,
					  .expressions = {offsetof(SampleScan, tablesample)},
					  .is = CKFP_NODE_VARIES},
	[T_IndexScan] = {.kind = CKFP_NODE_SCAN,
					 .expressions = {offsetof(IndexScan, indexqual),
									 offsetof(IndexScan, indexorderby)},
					 .lookup = offsetof(IndexScan, indexqualorig),
					 .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_IndexOnlyScan] = {.kind = CKFP_NODE_SCAN,
						 .expressions = {offsetof(IndexOnlyScan, indexqual),
										 offsetof(IndexOnlyScan, indexorderby)},
						 .listed = offsetof(IndexOnlyScan, indextlist),
						 .lookup = offsetof(IndexOnlyScan, indexqual),
						 .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_BitmapHeapScan] = {.kind = CKFP_NODE_SCAN,
						  .expressions = {offsetof(BitmapHeapScan, bitmapqualorig)},
						  .lookup = offsetof(BitmapHeapScan, bitmapqualorig),
						  .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_BitmapIndexScan] = {.kind = CKFP_NODE_OTHER,
						   .expressions = {offsetof(BitmapIndexScan, indexqual)},
						   .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_BitmapAnd] = {.kind = CKFP_NODE_OTHER,
					 .children = offsetof(BitmapAnd, bitmapplans),
					 .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_BitmapOr] = {.kind = CKFP_NODE_OTHER,
					.children = offsetof(BitmapOr, bitmapplans),
					.is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_TidScan] = {.kind = CKFP_NODE_SCAN, .expressions = {offsetof(TidScan, tidquals)}},
	[T_FunctionScan] = {.kind = CKFP_NODE_SCAN, .expressions = {offsetof(FunctionScan, functions)}},
	[T_TableFuncScan] = {.kind = CKFP_NODE_SCAN,
						 .expressions = {offsetof(TableFuncScan, tablefunc)}},
	[T_ValuesScan] = {.kind = CKFP_NODE_SCAN,
					  .expressions = {offsetof(ValuesScan, values_lists)},
					  .is = CKFP_NODE_SAFE},
	[T_CteScan] = {.kind = CKFP_NODE_SCAN},
	[T_NamedTuplestoreScan] = {.kind = CKFP_NODE_SCAN},
	[T_WorkTableScan] = {.kind = CKFP_NODE_SCAN},
	[T_ForeignScan] = {.kind = CKFP_NODE_SCAN,
					   .expressions = {offsetof(ForeignScan, fdw_exprs)},
					   .listed = offsetof(ForeignScan, fdw_scan_tlist),
					   .is = CKFP_NODE_SIDE | CKFP_NODE_VARIES},
	[T_SubqueryScan] = {.kind = CKFP_NODE_SUBQUERY,
						.child = offsetof(SubqueryScan, subplan),
						.is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	/* of any extension; it is trusted like a foreign scan */
	[T_CustomScan] = {.kind = CKFP_NODE_OTHER,
					  .children = offsetof(CustomScan, custom_plans),
					  .expressions = {offsetof(CustomScan, custom_exprs)},
					  .is = CKFP_NODE_VARIES},
	/* joins */
	[T_HashJoin] = {.kind = CKFP_NODE_JOIN,
					.expressions = {offsetof(HashJoin, join.joinqual),
									offsetof(HashJoin, hashclauses)},
					.is = CKFP_NODE_HIDES | CKFP_NODE_SAFE},
	[T_NestLoop] = {.kind = CKFP_NODE_JOIN,
					.expressions = {offsetof(NestLoop, join.joinqual)},
					.is = CKFP_NODE_HIDES | CKFP_NODE_SAFE},
	[T_MergeJoin] = {.kind = CKFP_NODE_JOIN,
					 .expressions = {offsetof(MergeJoin, join.joinqual),
									 offsetof(MergeJoin, mergeclauses)},
					 .stops = CKFP_STOPS_ALWAYS,
					 .is = CKFP_NODE_HIDES | CKFP_NODE_SAFE},
	/* nodes that return the rows of their children */
	[T_Append] = {.kind = CKFP_NODE_LIST,
				  .children = offsetof(Append, appendplans),
				  .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_MergeAppend] = {.kind = CKFP_NODE_LIST,
					   .children = offsetof(MergeAppend, mergeplans),
					   .is = CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_Result] = {.kind = CKFP_NODE_PASS,
				  .expressions = {offsetof(Result, resconstantqual)},
				  .is = CKFP_NODE_HIDES | CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_Material] = {.kind = CKFP_NODE_PASS,
					.is = CKFP_NODE_AHEAD | CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_Hash] = {.kind = CKFP_NODE_PASS,
				.expressions = {offsetof(Hash, hashkeys)},
				.stops = CKFP_STOPS_NEVER,
				.is = CKFP_NODE_AHEAD | CKFP_NODE_SAFE},
	[T_Sort] = {.kind = CKFP_NODE_SORT,
				.stops = CKFP_STOPS_NEVER,
				.is = CKFP_NODE_AHEAD | CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_IncrementalSort] = {.kind = CKFP_NODE_SORT,
						   .is = CKFP_NODE_AHEAD | CKFP_NODE_SAFE | CKFP_NODE_SIDE},
	[T_Limit] = {.kind = CKFP_NODE_OTHER,
				 .expressions = {offsetof(Limit, limitOffset), offsetof(Limit, limitCount)},
				 .stops = CKFP_STOPS_ALWAYS,
				 .is = CKFP_NODE_VARIES},
	[T_Gather] = {.kind = CKFP_NODE_OTHER},
	[T_GatherMerge] = {.kind = CKFP_NODE_OTHER},
	/* groups */
	[T_Agg] = {.kind = CKFP_NODE_GROUPS,
			   .groups = {offsetof(Agg, numCols), offsetof(Agg, grpColIdx),
						  offsetof(Agg, grpOperators), offsetof(Agg, grpCollations)},
			   .is = CKFP_NODE_HIDES | CKFP_NODE_AHEAD | CKFP_NODE_SIDE | CKFP_NODE_VARIES},
	[T_Group] = {.kind = CKFP_NODE_GROUPS,
				 .groups = {offsetof(Group, numCols), offsetof(Group, grpColIdx),
							offsetof(Group, grpOperators), offsetof(Group, grpCollations)},
				 .is = CKFP_NODE_HIDES | CKFP_NODE_AHEAD | CKFP_NODE_SIDE | CKFP_NODE_VARIES},
	[T_Unique] = {.kind = CKFP_NODE_GROUPS,
				  .groups = {offsetof(Unique, numCols), offsetof(Unique, uniqColIdx),
							 offsetof(Unique, uniqOperators), offsetof(Unique, uniqCollations)},
				  .is = CKFP_NODE_HIDES | CKFP_NODE_AHEAD | CKFP_NODE_SAFE | CKFP_NODE_SIDE |
						CKFP_NODE_VARIES},
	[T_WindowAgg] = {.kind = CKFP_NODE_GROUPS,
					 .expressions = {offsetof(WindowAgg, startOffset),
									 offsetof(WindowAgg, endOffset)},
					 .groups = {offsetof(WindowAgg, partNumCols), offsetof(WindowAgg, partColIdx),
								offsetof(WindowAgg, partOperators),
								offsetof(WindowAgg, partCollations)},
					 .is = CKFP_NODE_HIDES | CKFP_NODE_AHEAD | CKFP_NODE_SIDE | CKFP_NODE_VARIES},
	/* others */
	[T_SetOp] = {.kind = CKFP_NODE_OTHER, .is = CKFP_NODE_VARIES},
	[T_RecursiveUnion] = {.kind = CKFP_NODE_OTHER},
	[T_ProjectSet] = {.kind = CKFP_NODE_OTHER},
	[T_TidRangeScan] = {.kind = CKFP_NODE_SCAN,
						.expressions = {offsetof(TidRangeScan, tidrangequals)}},
	[T_Memoize] = {.kind = CKFP_NODE_PASS, .expressions = {offsetof(Memoize, param_exprs)}},
};

const ckfp_node *
ckfp_node_of(const Plan *plan)
{
	size_t tag = nodeTag(plan);

	return &ckfp_nodes[tag < lengthof(ckfp_nodes) ? tag : 0];
}

bool
ckfp_stops_early(const Plan *plan, bool reader_stops)
{
	ckfp_node_stop stops = ckfp_node_of(plan)->stops;

	if (stops != CKFP_STOPS_AS_READER)
		return stops == CKFP_STOPS_ALWAYS;
	return reader_stops && !(IsA(plan, Agg) && ((const Agg *)plan)->aggstrategy != AGG_SORTED);
}

void
ckfp_plan_children(Plan *plan, ckfp_plan_visitor visit, void *context)
{
	const ckfp_node *node = ckfp_node_of(plan);
	Plan *child = ckfp_node_field(plan, node->child);

	if (child != NULL)
		visit(child, context);
	foreach_ptr (Plan, one, ckfp_node_field(plan, node->children))
		visit(one, context);
	if (plan->lefttree != NULL)
		visit(plan->lefttree, context);
	if (plan->righttree != NULL)
		visit(plan->righttree, context);
}

List *
ckfp_own_expressions(const Plan *plan)
{
	const ckfp_node *node = ckfp_node_of(plan);

	return list_make2(ckfp_node_field(plan, node->expressions[0]),
					  ckfp_node_field(plan, node->expressions[1]));
}
