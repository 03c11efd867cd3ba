/*
 * nestloop_node.c - the plan node of a nested loop's filter, and what the planner pass tells the
 * executor in it.
 */
#include "nestloop_node.h"

CustomScanMethods ckfp_nest_methods = {.CustomName = CKFP_NEST_NAME};

bool
ckfp_join_is_nest(const Plan *plan)
{
	return IsA(plan, CustomScan) && ((const CustomScan *)plan)->methods == &ckfp_nest_methods;
}

List *
ckfp_nest_record_to_list(const ckfp_nest_record *nest)
{
	List *own = list_make1_int(nest->stops);
	int i;

	for (i = 0; i < nest->record.columns; i++)
		own = lappend_int(own, nest->attribute[i]);
	return list_make2(ckfp_join_record_to_list(&nest->record), own);
}

void
ckfp_nest_record_from_list(List *list, ckfp_nest_record *nest)
{
	List *own = lsecond(list);
	int i;

	ckfp_join_record_from_list(linitial(list), &nest->record);
	nest->stops = linitial_int(own) != 0;
	for (i = 0; i < nest->record.columns; i++)
		nest->attribute[i] = (AttrNumber)list_nth_int(own, i + 1);
}
