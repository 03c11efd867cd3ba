/*
 * trigger.c - the triggers of a table that a filter table follows: all changes of a statement are
 * one change of the filter.
 */
#include "table/trigger.h"

#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_changed);

/* cuckoofilter_follows(filter, column) */
CKFP_FUNCTION(cuckoofilter_follows, BoolGetDatum(true));

bool
ckfp_read_trigger(const Trigger *trigger, ckfp_followed *followed)
{
	FuncExpr *call = trigger->tgqual != NULL ? stringToNode(trigger->tgqual) : NULL;
	FmgrInfo function;
	Const *filter;
	FieldSelect *column;

	if (call == NULL || !IsA(call, FuncExpr) || list_length(call->args) != 2)
		return false;
	fmgr_info(call->funcid, &function);
	filter = linitial(call->args);
	column = lsecond(call->args);
	if (function.fn_addr != cuckoofilter_follows || !IsA(filter, Const) || filter->constisnull ||
		!IsA(column, FieldSelect))
		return false;
	*followed = (ckfp_followed){DatumGetObjectId(filter->constvalue), column->fieldnum};
	return true;
}

/* ------------------------------------------------------------------- collecting */

void
ckfp_start_collecting(ckfp_collected *collected, Oid type, Oid collation, uint64 seed)
{
	memset(collected, 0, sizeof(*collected));
	ckfp_hasher_prepare(&collected->hasher, type, collation, CurrentMemoryContext);
	collected->seed = seed;
	collected->room = 64;
	collected->at = palloc(collected->room * sizeof(uint64));
	collected->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "cuckoofilter items", ALLOCSET_DEFAULT_SIZES);
}

void
ckfp_take_value(ckfp_collected *collected, Datum value, bool is_null)
{
	MemoryContext caller;

	if (is_null)
		return;
	if (collected->count == collected->room)
	{
		collected->room *= 2;
		collected->at = repalloc_huge(collected->at, collected->room * sizeof(uint64));
	}
	caller = MemoryContextSwitchTo(collected->temporary);
	collected->at[collected->count++] =
		ckfp_hash_item(&collected->hasher, value, collected->seed).hash;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(collected->temporary);
	CHECK_FOR_INTERRUPTS();
}

ckfp_items
ckfp_end_collecting(ckfp_collected *collected)
{
	return (ckfp_items){
		.at = ckfp_sort(collected->at, collected->count), .count = collected->count, .whole = true};
}

void
ckfp_take_rows(ckfp_collected *collected, Relation source, AttrNumber column)
{
	Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(source, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(source, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool is_null;
		Datum value = slot_getattr(slot, column, &is_null);

		ckfp_take_value(collected, value, is_null);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* Take the column of the rows of a transition table, if there is one. */
static ckfp_items
ckfp_take_changed(const ckfp_form *form, Relation source, Tuplestorestate *rows, AttrNumber column)
{
	TupleTableSlot *slot;
	ckfp_collected collected;

	ckfp_start_collecting(&collected, form->type, form->collation, form->params.seed);
	if (rows == NULL)
		return ckfp_end_collecting(&collected);
	slot = MakeSingleTupleTableSlot(RelationGetDescr(source), &TTSOpsMinimalTuple);
	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool is_null;
		Datum value = slot_getattr(slot, column, &is_null);

		ckfp_take_value(&collected, value, is_null);
	}
	ExecDropSingleTupleTableSlot(slot);
	return ckfp_end_collecting(&collected);
}

/* --------------------------------------------------------------------- changes */

/* Drop the hashes that are in both lists: such a row keeps its item. */
static void
ckfp_cancel(ckfp_items *added, ckfp_items *removed)
{
	uint64 *add = (uint64 *)added->at;
	uint64 *remove = (uint64 *)removed->at;
	size_t adds = 0;
	size_t removals = 0;
	size_t i = 0;
	size_t j = 0;

	while (i < added->count || j < removed->count)
		if (i < added->count && j < removed->count && add[i] == remove[j])
			i++, j++;
		else if (j == removed->count || (i < added->count && add[i] < remove[j]))
			add[adds++] = add[i++];
		else
			remove[removals++] = remove[j++];
	added->count = adds;
	removed->count = removals;
}

static void
ckfp_apply(ckfp_table *table, const TriggerData *data, AttrNumber column)
{
	ckfp_items added = ckfp_take_changed(table->form, data->tg_relation, data->tg_newtable, column);
	ckfp_items removed =
		ckfp_take_changed(table->form, data->tg_relation, data->tg_oldtable, column);

	ckfp_cancel(&added, &removed);
	if (added.count + removed.count > 1)
		ckfp_lock_order(table, true);
	if (added.count > 0)
		ckfp_reserve(table, added.at[0], added.count);
	ckfp_change(table, &added, &removed);
}

/* TRUNCATE empties a table that has no children and is no child; a child only takes its own rows
 * back. A partitioned table has no rows of its own, and all partitions are truncated with it. */
static void
ckfp_apply_truncate(ckfp_table *table, Relation source, AttrNumber column)
{
	ckfp_collected collected;
	ckfp_items removed;

	if (source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE && !source->rd_rel->relispartition)
		ckfp_empty_table(table);
	else if (source->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		if (!has_superclass(RelationGetRelid(source)) &&
			find_inheritance_children(RelationGetRelid(source), NoLock) == NIL)
		{
			ckfp_empty_table(table);
			return;
		}
		ckfp_start_collecting(&collected, table->form->type, table->form->collation,
							  table->form->params.seed);
		ckfp_take_rows(&collected, source, column);
		removed = ckfp_end_collecting(&collected);
		ckfp_lock_order(table, true);
		ckfp_change(table, NULL, &removed);
	}
}

/* The trigger function. It writes with the privileges of the owner of the source, as foreign keys
 * do, so that its writers need none on the filter. */
Datum
cuckoofilter_table_changed(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *)fcinfo->context;
	ckfp_followed followed;
	ckfp_table table;
	bool truncate;

	if (!CALLED_AS_TRIGGER(fcinfo) || !ckfp_read_trigger(data->tg_trigger, &followed))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("cuckoofilter_table_changed must be called by a trigger that "
							   "cuckoofilter_table_follow has created")));
	truncate = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);
	ckfp_open_table(&table, followed.filter, data->tg_relation->rd_rel->relowner, CKFP_WRITES,
					truncate ? ShareRowExclusiveLock : RowExclusiveLock);
	if (getBaseType(
			TupleDescAttr(RelationGetDescr(data->tg_relation), followed.column - 1)->atttypid) !=
		getBaseType(table.form->type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cuckoofilter table %s does not hold items of the type of the "
							   "column that it follows",
							   RelationGetRelationName(table.heap))));
	if (truncate)
		ckfp_apply_truncate(&table, data->tg_relation, followed.column);
	else
		ckfp_apply(&table, data, followed.column);
	ckfp_close_table(&table);
	return PointerGetDatum(NULL);
}
