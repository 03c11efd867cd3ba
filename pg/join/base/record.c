/*
 * record.c - the plan nodes of filters, and what the planner pass tells the executor in them, as
 * lists of integers. A plan can contain lists: they are copied and cached with it, and sent to
 * workers. No plan leaves the server that made it, so a list has the words of a struct. But a
 * worker may have loaded a newer library, whose files were installed since, so the version comes
 * first.
 */
#include "join/base/join.h"

#include "cuckoofilter.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"

/* The words of a struct, whose size is a multiple of theirs, as a list. */
static List *
ckfp_struct_to_list(const void *bytes, size_t size)
{
	List *list = NIL;

	for (size_t i = 0; i < size / sizeof(int); i++)
		list = lappend_int(list, ((const int *)bytes)[i]);
	return list;
}

static void
ckfp_struct_from_list(const List *list, void *bytes)
{
	for (int i = 0; i < list_length(list); i++)
		((int *)bytes)[i] = list_nth_int(list, i);
}

List *
ckfp_record_to_list(const ckfp_join_record *record)
{
	List *list = list_make2(makeString(CKF_VERSION),
							ckfp_struct_to_list(record, offsetof(ckfp_join_record, targets)));

	foreach_ptr (const ckfp_join_target, target, record->targets)
		list = lappend(list,
					   ckfp_struct_to_list(target, offsetof(ckfp_join_target, index) +
													   target->indexes * sizeof(ckfp_join_index)));
	return list;
}

void
ckfp_record_from_list(List *list, ckfp_join_record *record)
{
	Node *version = linitial(list);

	if (!IsA(version, String) || strcmp(strVal(version), CKF_VERSION) != 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("this plan was made by another version of cuckoofilter_join"),
						errhint("Another version was installed while the session was open. "
								"Connect again.")));
	ckfp_struct_from_list(lsecond(list), record);
	record->targets = NIL;
	for (int i = 2; i < list_length(list); i++)
	{
		ckfp_join_target *target = palloc0(sizeof(*target));

		ckfp_struct_from_list(list_nth(list, i), target);
		record->targets = lappend(record->targets, target);
	}
}

/* ------------------------------------------------------------- the plan node */

CustomScanMethods ckfp_build_methods = {.CustomName = CKFP_BUILD_NAME};
CustomScanMethods ckfp_nest_methods = {.CustomName = CKFP_NEST_NAME};

bool
ckfp_join_is_build(const Plan *plan)
{
	return IsA(plan, CustomScan) && ((const CustomScan *)plan)->methods == &ckfp_build_methods;
}

bool
ckfp_join_is_nest(const Plan *plan)
{
	return IsA(plan, CustomScan) && ((const CustomScan *)plan)->methods == &ckfp_nest_methods;
}

/* The target list of a node that returns its input rows unchanged: each entry is the column of
 * the same number of `varno`. */
static List *
ckfp_same_columns(const List *targetlist, int varno)
{
	List *same = NIL;

	foreach_ptr (TargetEntry, entry, targetlist)
	{
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
