/*
 * trigger.c - the triggers of a table that a filter table follows: all changes of a statement are
 * one change of the filter.
 */
#include "table/table.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_changed);

void
ckfp_check_column(const ckfp_table *table, Relation source, AttrNumber column)
{
	const char *name = RelationGetRelationName(table->heap);

	if (column == InvalidAttrNumber)
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("no trigger says which column of \"%s\" cuckoofilter table %s follows",
					RelationGetRelationName(source), name),
			 errhint("If the column was dropped, DROP TABLE .. CASCADE drops the filter table and "
					 "its triggers. Else call cuckoofilter_table_follow again.")));
	if (getBaseType(TupleDescAttr(RelationGetDescr(source), column - 1)->atttypid) !=
		table->form.type)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cuckoofilter table %s does not hold items of the type of the "
							   "column that it follows",
							   name)));
	if (table->heap->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT &&
		table->heap->rd_rel->relpersistence != source->rd_rel->relpersistence)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("cuckoofilter table %s is temporary or unlogged, \"%s\" is not",
							   name, RelationGetRelationName(source)),
						errdetail("It could lose the items of rows that stay."),
						errhint("ALTER TABLE .. SET LOGGED changes an unlogged table.")));
}

List *
ckfp_triggers_of_others(Oid filter, const List *tables)
{
	MemoryContext caller = CurrentMemoryContext;
	List *others = NIL;
	const char *query = psprintf(
		"SELECT t.oid, t.tgrelid FROM pg_catalog.pg_depend d "
		"JOIN pg_catalog.pg_trigger t ON t.oid OPERATOR(pg_catalog.=) d.objid "
		"JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid "
		"WHERE d.classid OPERATOR(pg_catalog.=) %u AND d.refclassid OPERATOR(pg_catalog.=) %u "
		"AND d.refobjid OPERATOR(pg_catalog.=) %u "
		"AND p.prosrc OPERATOR(pg_catalog.=) 'cuckoofilter_table_changed' "
		"AND t.tgparentid OPERATOR(pg_catalog.=) 0",
		TriggerRelationId, RelationRelationId, filter);

	SPI_connect();
	PushActiveSnapshot(GetLatestSnapshot()); /* an older one may show triggers that are gone */
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not run \"%s\"", query);
	PopActiveSnapshot();
	MemoryContextSwitchTo(caller);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Oid oids[2];
		bool is_null;

		for (int j = 0; j < 2; j++)
			oids[j] = DatumGetObjectId(
				SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, j + 1, &is_null));
		if (!list_member_oid(tables, oids[1]))
			others = lappend_oid(others, oids[0]);
	}
	SPI_finish();
	return others;
}

/* ------------------------------------------------------------------- collecting */

void
ckfp_take_rows(ckfp_collected *collected, Relation source, AttrNumber column)
{
	Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(source, snapshot, 0, NULL);
	TupleTableSlot *row = table_slot_create(source, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		NullableDatum item;

		item.value = slot_getattr(row, column, &item.isnull);
		ckfp_take(collected, item.value, item.isnull);
	}
	ExecDropSingleTupleTableSlot(row);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* The column of the next row of a transition table. false: there is none. */
static bool
ckfp_next_changed(Tuplestorestate *rows, TupleTableSlot *row, AttrNumber column,
				  NullableDatum *item)
{
	if (rows == NULL || !tuplestore_gettupleslot(rows, true, false, row))
		return false;
	item->value = slot_getattr(row, column, &item->isnull);
	return true;
}

/*
 * The columns of the rows of both transition tables. An UPDATE writes old and new rows in the same
 * order, and most of them keep their item: equal values need no hashes.
 */
static void
ckfp_collect_changed(const TriggerData *data, AttrNumber column, ckfp_collected *added,
					 ckfp_collected *removed)
{
	TupleDesc form = RelationGetDescr(data->tg_relation);
	const FormData_pg_attribute *type = TupleDescAttr(form, column - 1);
	TupleTableSlot *old_row = MakeSingleTupleTableSlot(form, &TTSOpsMinimalTuple);
	TupleTableSlot *new_row = MakeSingleTupleTableSlot(form, &TTSOpsMinimalTuple);
	NullableDatum old_item;
	NullableDatum new_item;
	bool was;
	bool is;

	if (data->tg_oldtable != NULL)
		tuplestore_rescan(data->tg_oldtable);
	if (data->tg_newtable != NULL)
		tuplestore_rescan(data->tg_newtable);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		was = ckfp_next_changed(data->tg_oldtable, old_row, column, &old_item);
		is = ckfp_next_changed(data->tg_newtable, new_row, column, &new_item);
		if (!was && !is)
			break;
		if (was && is && !old_item.isnull && !new_item.isnull &&
			datum_image_eq(old_item.value, new_item.value, type->attbyval, type->attlen))
			continue;
		if (was)
			ckfp_take(removed, old_item.value, old_item.isnull);
		if (is)
			ckfp_take(added, new_item.value, new_item.isnull);
	}
	ExecDropSingleTupleTableSlot(old_row);
	ExecDropSingleTupleTableSlot(new_row);
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

/* TRUNCATE empties the filter if it has the items of no other table, such as a partition, perhaps
 * one that is detached. Else each table takes its own rows back, as do all partitions and children:
 * to look for the others in each of them would take long. All partitions are truncated with a
 * partitioned table, which has no rows; children may be left out. */
static void
ckfp_apply_truncate(ckfp_table *table, Relation source, ckfp_followed followed)
{
	bool part = followed.types >> CKFP_PART_TRIGGER & 1;
	bool partitioned = source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	List *tables = find_all_inheritors(RelationGetRelid(source), NoLock, NULL);
	ckfp_collected collected = {.form = &table->form};
	ckfp_items removed;

	if (!part && (partitioned || list_length(tables) == 1) &&
		ckfp_triggers_of_others(table->form.relation, tables) == NIL)
		ckfp_empty_table(table);
	else if (!partitioned)
	{
		ckfp_take_rows(&collected, source, followed.column);
		removed = ckfp_end_collecting(&collected);
		ckfp_lock_order(table, true);
		ckfp_change(table, NULL, &removed);
	}
}

static void
ckfp_apply(ckfp_table *table, const TriggerData *data, AttrNumber column)
{
	ckfp_collected add = {.form = &table->form};
	ckfp_collected remove = {.form = &table->form};
	ckfp_items added;
	ckfp_items removed;

	ckfp_collect_changed(data, column, &add, &remove);
	added = ckfp_end_collecting(&add);
	removed = ckfp_end_collecting(&remove);
	ckfp_cancel(&added, &removed);
	if (added.count + removed.count > 1)
		ckfp_lock_order(table, true);
	ckfp_reserve(table, &added);
	ckfp_change(table, &added, &removed);
}

/* Does a trigger fire as those of cuckoofilter_table_follow do? */
static bool
ckfp_fires_well(const TriggerData *data)
{
	TriggerEvent event = data->tg_event;

	if (TRIGGER_FIRED_FOR_ROW(event))
		return data->tg_trigger->tgtype == CKFP_GENERATED_TRIGGER;
	if (data->tg_relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return false;
	if (TRIGGER_FIRED_BEFORE(event))
		return TRIGGER_FIRED_BY_TRUNCATE(event) || data->tg_trigger->tgnattr > 0;
	return (TRIGGER_FIRED_BY_DELETE(event) || data->tg_newtable != NULL) &&
		   (TRIGGER_FIRED_BY_INSERT(event) || data->tg_oldtable != NULL);
}

/* The trigger function. It writes with the privileges of the owner of the source, as foreign keys
 * do, so that its writers need none on the filter. */
Datum
cuckoofilter_table_changed(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (TriggerData *)fcinfo->context;
	Oid filter = InvalidOid;
	ckfp_followed followed;
	ckfp_table table;
	bool truncate;

	if (CALLED_AS_TRIGGER(fcinfo) && ckfp_fires_well(data))
		filter = ckfp_filter_of(data->tg_trigger);
	if (!OidIsValid(filter))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("cuckoofilter_table_changed must be called by a trigger that "
							   "cuckoofilter_table_follow has created")));
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		return PointerGetDatum(data->tg_trigtuple);
	if (data->tg_trigger->tgnattr > 0)
		return PointerGetDatum(NULL); /* it says which column is followed */
	truncate = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);
	followed = ckfp_read_triggers(data->tg_relation, filter);
	ckfp_open_table(&table, filter, data->tg_relation->rd_rel->relowner,
					truncate ? CKFP_REWRITE : CKFP_CHANGE);
	ckfp_check_column(&table, data->tg_relation, followed.column);
	if (truncate)
		ckfp_apply_truncate(&table, data->tg_relation, followed);
	else
		ckfp_apply(&table, data, followed.column);
	ckfp_close_table(&table);
	return PointerGetDatum(NULL);
}
