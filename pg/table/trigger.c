/*
 * trigger.c - the triggers of a table that a filter table follows: all changes of a statement are
 * one change of the filter.
 */
#include "table/table.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_changed);

/* cuckoofilter_follows(filter, column) */
CKFP_FUNCTION(cuckoofilter_follows, BoolGetDatum(true));

bool
ckfp_read_trigger(const Trigger *trigger, Oid *filter, AttrNumber *column)
{
	/* the last one that was read: statements of one row are frequent, and parsing takes long */
	static char *last;
	static Oid last_filter;
	static AttrNumber last_column;
	List *arguments;
	const Const *table;
	const FieldSelect *field;
	char *read;

	if (last == NULL || trigger->tgqual == NULL || strcmp(trigger->tgqual, last) != 0)
	{
		arguments = ckfp_arguments_of(trigger->tgqual, cuckoofilter_follows);
		table = arguments != NIL ? linitial(arguments) : NULL;
		field = arguments != NIL ? lsecond(arguments) : NULL;
		if (table == NULL || !IsA(table, Const) || table->constisnull || !IsA(field, FieldSelect))
			return false;
		read = MemoryContextStrdup(TopMemoryContext, trigger->tgqual);
		if (last != NULL)
			pfree(last);
		last = read;
		last_filter = DatumGetObjectId(table->constvalue);
		last_column = field->fieldnum;
	}
	*filter = last_filter;
	*column = last_column;
	return true;
}

void
ckfp_check_column(const ckfp_table *table, Relation source, AttrNumber column)
{
	Oid type = TupleDescAttr(RelationGetDescr(source), column - 1)->atttypid;

	if (getBaseType(type) != getBaseType(table->form.type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cuckoofilter table %s does not hold items of the type of the "
							   "column that it follows",
							   RelationGetRelationName(table->heap))));
}

/* ------------------------------------------------------------------- collecting */

/* Prepare for the first item. */
static void
ckfp_start_collecting(ckfp_collected *collected)
{
	const ckfp_form *form = collected->form;

	ckfp_hasher_prepare(&collected->hasher, form->type, form->collation, CurrentMemoryContext);
	collected->room = 64;
	collected->at = palloc(collected->room * sizeof(uint64));
	collected->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "cuckoofilter items", ALLOCSET_DEFAULT_SIZES);
}

/* Take a value, unless it is NULL. */
static void
ckfp_take(ckfp_collected *collected, const NullableDatum *item)
{
	MemoryContext caller;

	CHECK_FOR_INTERRUPTS();
	if (item->isnull)
		return;
	if (collected->at == NULL)
		ckfp_start_collecting(collected);
	if (collected->count == collected->room)
	{
		collected->room *= 2;
		collected->at = repalloc_huge(collected->at, collected->room * sizeof(uint64));
	}
	caller = MemoryContextSwitchTo(collected->temporary);
	collected->at[collected->count++] =
		ckfp_hash_item(&collected->hasher, item->value, collected->form->chunks.exact.seed).hash;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(collected->temporary);
}

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
		ckfp_take(collected, &item);
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
		was = ckfp_next_changed(data->tg_oldtable, old_row, column, &old_item);
		is = ckfp_next_changed(data->tg_newtable, new_row, column, &new_item);
		if (!was && !is)
			break;
		if (was && is && !old_item.isnull && !new_item.isnull &&
			datum_image_eq(old_item.value, new_item.value, type->attbyval, type->attlen))
			continue;
		if (was)
			ckfp_take(removed, &old_item);
		if (is)
			ckfp_take(added, &new_item);
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

/* TRUNCATE empties a table that has no children and is no child; a child only takes its own rows
 * back. A partitioned table has no rows of its own, and all partitions are truncated with it. */
static bool
ckfp_truncates_all(Relation source)
{
	Oid relation = RelationGetRelid(source);

	return source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
			   ? !source->rd_rel->relispartition
			   : !has_superclass(relation) && find_inheritance_children(relation, NoLock) == NIL;
}

static void
ckfp_apply(ckfp_table *table, const TriggerData *data, AttrNumber column)
{
	ckfp_collected add = {.form = &table->form};
	ckfp_collected remove = {.form = &table->form};
	ckfp_items added;
	ckfp_items removed;

	ckfp_collect_changed(data, column, &add, &remove);
	added = ckfp_sort(add.at, add.count);
	removed = ckfp_sort(remove.at, remove.count);
	ckfp_cancel(&added, &removed);
	if (added.count + removed.count > 1)
		ckfp_lock_order(table, true);
	ckfp_reserve(table, &added);
	ckfp_change(table, &added, &removed);
}

/* The trigger function. It writes with the privileges of the owner of the source, as foreign keys
 * do, so that its writers need none on the filter. */
Datum
cuckoofilter_table_changed(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (TriggerData *)fcinfo->context;
	ckfp_table table;
	AttrNumber column;
	Oid filter;
	bool truncate;

	if (!CALLED_AS_TRIGGER(fcinfo) || !ckfp_read_trigger(data->tg_trigger, &filter, &column))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("cuckoofilter_table_changed must be called by a trigger that "
							   "cuckoofilter_table_follow has created")));
	truncate = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);
	ckfp_open_table(&table, filter, data->tg_relation->rd_rel->relowner,
					truncate ? CKFP_REWRITE : CKFP_CHANGE);
	ckfp_check_column(&table, data->tg_relation, column);
	if (truncate && ckfp_truncates_all(data->tg_relation))
		ckfp_empty_table(&table);
	else if (!truncate)
		ckfp_apply(&table, data, column);
	else if (data->tg_relation->rd_rel->relkind == RELKIND_RELATION)
	{
		ckfp_collected collected = {.form = &table.form};
		ckfp_items removed;

		ckfp_take_rows(&collected, data->tg_relation, column);
		removed = ckfp_sort(collected.at, collected.count);
		ckfp_lock_order(&table, true);
		ckfp_change(&table, NULL, &removed);
	}
	ckfp_close_table(&table);
	return PointerGetDatum(NULL);
}
