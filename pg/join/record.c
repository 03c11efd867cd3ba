/*
 * record.c - what the planner pass tells the executor, as lists. A plan can contain lists: they are
 * copied and cached with it, and sent to workers.
 */
#include "join.h"

#include "nodes/pg_list.h"
#include "nodes/value.h"

static List *
ckfp_target_to_list(const ckfp_join_target *target, int columns)
{
	List *list =
		list_make4_int(target->node, target->parameter, target->partition, (int)target->root);
	int i;

	for (i = 0; i < columns; i++)
	{
		list = lappend_int(list, target->attribute[i]);
		list = lappend_int(list, (int)target->relation[i]);
		list = lappend_int(list, target->column[i]);
		list = lappend_int(list, target->root_column[i]);
	}
	return list;
}

static ckfp_join_target *
ckfp_target_from_list(List *list, int columns)
{
	ckfp_join_target *target = palloc0(sizeof(*target));
	int i;

	target->node = linitial_int(list);
	target->parameter = lsecond_int(list);
	target->partition = lthird_int(list) != 0;
	target->root = (Index)lfourth_int(list);
	for (i = 0; i < columns; i++)
	{
		target->attribute[i] = (AttrNumber)list_nth_int(list, 4 + 4 * i);
		target->relation[i] = (Index)list_nth_int(list, 5 + 4 * i);
		target->column[i] = (AttrNumber)list_nth_int(list, 6 + 4 * i);
		target->root_column[i] = (AttrNumber)list_nth_int(list, 7 + 4 * i);
	}
	return target;
}

static List *
ckfp_columns_to_list(const ckfp_join_record *record)
{
	List *list = NIL;
	int i;

	for (i = 0; i < record->columns; i++)
	{
		list = lappend_oid(list, record->column[i].equality);
		list = lappend_oid(list, record->column[i].collation);
		list = lappend_oid(list, record->column[i].build);
		list = lappend_oid(list, record->column[i].probe);
	}
	return list;
}

static Node *
ckfp_number(double number)
{
	return (Node *)makeFloat(psprintf("%.17g", number));
}

/* A float without a fraction arrives at a worker as an integer. */
static double
ckfp_number_of(Node *number)
{
	return IsA(number, Integer) ? intVal(number) : floatVal(number);
}

List *
ckfp_join_record_to_list(const ckfp_join_record *record)
{
	List *targets = NIL;
	List *estimates =
		lappend(list_make4(ckfp_number(record->build_rows), ckfp_number(record->probe_rows),
						   ckfp_number(record->pass), ckfp_number(record->saving)),
				ckfp_number(record->asked));
	List *order = list_make3_int(record->first, record->partitions, record->scattered);
	ListCell *cell;

	estimates = lappend(estimates, ckfp_number(record->read));
	estimates = lappend(estimates, ckfp_number(record->skipping));
	foreach (cell, record->targets)
		targets = lappend(targets, ckfp_target_to_list(lfirst(cell), record->columns));
	return list_make4(ckfp_columns_to_list(record), targets, estimates, order);
}

void
ckfp_join_record_from_list(List *list, ckfp_join_record *record)
{
	List *columns = linitial(list);
	List *estimates = lthird(list);
	List *order = lfourth(list);
	ListCell *cell;
	int i;

	record->columns = list_length(columns) / 4;
	for (i = 0; i < record->columns; i++)
		record->column[i] = (ckfp_join_column){
			.equality = list_nth_oid(columns, 4 * i),
			.collation = list_nth_oid(columns, 4 * i + 1),
			.build = list_nth_oid(columns, 4 * i + 2),
			.probe = list_nth_oid(columns, 4 * i + 3),
		};
	record->targets = NIL;
	foreach (cell, (List *)lsecond(list))
		record->targets =
			lappend(record->targets, ckfp_target_from_list(lfirst(cell), record->columns));
	record->build_rows = ckfp_number_of(linitial(estimates));
	record->probe_rows = ckfp_number_of(lsecond(estimates));
	record->pass = ckfp_number_of(lthird(estimates));
	record->saving = ckfp_number_of(lfourth(estimates));
	record->asked = ckfp_number_of(list_nth(estimates, 4));
	record->read = ckfp_number_of(list_nth(estimates, 5));
	record->skipping = ckfp_number_of(list_nth(estimates, 6));
	record->first = linitial_int(order) != 0;
	record->partitions = lsecond_int(order);
	record->scattered = lthird_int(order) != 0;
}
