/*
 * trigger.c - the triggers of a table that a filter table follows: all changes of a statement are
 * one change of the filter.
 */
#include "table/trigger.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_changed);

/* cuckoofilter_follows(filter) */
CKFP_FUNCTION(cuckoofilter_follows, BoolGetDatum(true));

Oid
ckfp_filter_of(const Trigger *trigger)
{
	FuncExpr *call = trigger->tgqual != NULL ? stringToNode(trigger->tgqual) : NULL;
	FmgrInfo function;
	Const *filter;

	if (call == NULL || !IsA(call, FuncExpr) || list_length(call->args) != 1)
		return InvalidOid;
	fmgr_info(call->funcid, &function);
	filter = linitial(call->args);
	if (function.fn_addr != cuckoofilter_follows || !IsA(filter, Const) || filter->constisnull)
		return InvalidOid;
	return DatumGetObjectId(filter->constvalue);
}

AttrNumber
ckfp_followed_column(Relation source, Oid filter)
{
	const TriggerDesc *triggers = source->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (triggers->triggers[i].tgnattr == 1 && ckfp_filter_of(&triggers->triggers[i]) == filter)
			return triggers->triggers[i].tgattr[0];
	return 0;
}

/* The table that has a trigger. */
static Oid
ckfp_table_of_trigger(Oid trigger)
{
	Relation triggers = table_open(TriggerRelationId, AccessShareLock);
	Oid relation = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(trigger));
	scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		relation = ((Form_pg_trigger)GETSTRUCT(tuple))->tgrelid;
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	return relation;
}

List *
ckfp_triggers_of_others(Oid filter, const List *tables)
{
	Relation depend = table_open(DependRelationId, AccessShareLock);
	List *others = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(filter));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		const FormData_pg_depend *row = (Form_pg_depend)GETSTRUCT(tuple);

		if (row->classid == TriggerRelationId &&
			!list_member_oid(tables, ckfp_table_of_trigger(row->objid)))
			others = lappend_oid(others, row->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return others;
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

/* TRUNCATE empties the filter if it has the items of no other table, such as a partition, perhaps
 * one that is detached. Else each table takes its own rows back. All partitions are truncated with
 * a partitioned table, which has no rows; children may be left out. */
static void
ckfp_apply_truncate(ckfp_table *table, Relation source, AttrNumber column)
{
	bool partitioned = source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	List *tables = find_all_inheritors(RelationGetRelid(source), NoLock, NULL);
	ckfp_collected collected;
	ckfp_items removed;

	if ((partitioned || list_length(tables) == 1) &&
		ckfp_triggers_of_others(RelationGetRelid(table->heap), tables) == NIL)
		ckfp_empty_table(table);
	else if (!partitioned)
	{
		ckfp_start_collecting(&collected, table->form->type, table->form->collation,
							  table->form->params.seed);
		ckfp_take_rows(&collected, source, column);
		removed = ckfp_end_collecting(&collected);
		ckfp_lock_order(table, true);
		ckfp_change(table, NULL, &removed);
	}
}

/* Does a trigger fire as those of cuckoofilter_table_follow do? */
static bool
ckfp_fires_well(const TriggerData *data)
{
	TriggerEvent event = data->tg_event;

	if (!TRIGGER_FIRED_FOR_STATEMENT(event))
		return false;
	if (TRIGGER_FIRED_BY_TRUNCATE(event))
		return TRIGGER_FIRED_BEFORE(event);
	return (TRIGGER_FIRED_BY_DELETE(event) || data->tg_newtable != NULL) &&
		   (TRIGGER_FIRED_BY_INSERT(event) || data->tg_oldtable != NULL);
}

/* Open the filter of a trigger, and find the column that it follows. */
static AttrNumber
ckfp_open_follower(ckfp_table *table, const TriggerData *data, Oid filter)
{
	Relation source = data->tg_relation;
	AttrNumber column = ckfp_followed_column(source, filter);
	bool truncate = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);

	ckfp_open_table(table, filter, source->rd_rel->relowner, CKFP_WRITES,
					truncate ? ShareRowExclusiveLock : RowExclusiveLock);
	if (column == 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("the column that cuckoofilter table %s follows was dropped",
							   RelationGetRelationName(table->heap)),
						errhint("DROP TABLE .. CASCADE drops the filter table and its triggers.")));
	if (getBaseType(TupleDescAttr(RelationGetDescr(source), column - 1)->atttypid) !=
		getBaseType(table->form->type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cuckoofilter table %s does not hold items of the type of the "
							   "column that it follows",
							   RelationGetRelationName(table->heap))));
	return column;
}

/* The trigger function. It writes with the privileges of the owner of the source, as foreign keys
 * do, so that its writers need none on the filter. */
Datum
cuckoofilter_table_changed(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *)fcinfo->context;
	ckfp_table table;
	AttrNumber column;
	Oid filter = InvalidOid;

	if (CALLED_AS_TRIGGER(fcinfo) && data->tg_trigger->tgnattr > 0)
		return PointerGetDatum(NULL); /* it says which column is followed */
	if (CALLED_AS_TRIGGER(fcinfo) && ckfp_fires_well(data))
		filter = ckfp_filter_of(data->tg_trigger);
	if (!OidIsValid(filter))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("cuckoofilter_table_changed must be called by a trigger that "
							   "cuckoofilter_table_follow has created")));
	column = ckfp_open_follower(&table, data, filter);
	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		ckfp_apply_truncate(&table, data->tg_relation, column);
	else
		ckfp_apply(&table, data, column);
	ckfp_close_table(&table);
	return PointerGetDatum(NULL);
}
