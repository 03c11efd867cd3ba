/*
 * follow.c - cuckoofilter_table_follow: create or fill a filter table of a column, and triggers
 * that keep it in step.
 */
#include "table/table.h"

#include "type/argument_cache.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/evtcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(cuckoofilter_table_follow);

#if PG_VERSION_NUM >= 160000
#define ckfp_is_owner(relation, user) object_ownercheck(RelationRelationId, relation, user)
#else
#define ckfp_is_owner(relation, user) pg_class_ownercheck(relation, user)
#endif

/* The name of a relation in SQL. */
static const char *
ckfp_quoted_name(Oid relation)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  get_rel_name(relation));
}

/* The column that is followed. */
static Form_pg_attribute
ckfp_column_of(Relation source, const char *name)
{
	AttrNumber column = attnameAttNum(source, name, false);
	Form_pg_attribute attribute;

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(source)),
				 errhint("To follow an expression, add a column to the table that is GENERATED "
						 "ALWAYS AS (expression) STORED, and follow it.")));
	attribute = TupleDescAttr(RelationGetDescr(source), column - 1);
	if (attribute->attgenerated != '\0' && attribute->attgenerated != 's')
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("column \"%s\" of relation \"%s\" is not stored", name,
							   RelationGetRelationName(source)),
						errhint("Triggers do not see the values of virtual generated columns: "
								"follow one that is STORED.")));
	return attribute;
}

/* The hashes of the column in all rows of the source and its children. */
static ckfp_items
ckfp_read_source(List *relations, const char *column, const ckfp_form *form)
{
	ckfp_collected collected = {.form = form};
	ListCell *cell;

	foreach (cell, relations)
	{
		Relation relation = ckfp_open_by_oid(lfirst_oid(cell), NoLock);

		if (relation->rd_rel->relkind == RELKIND_RELATION)
			ckfp_take_rows(&collected, relation, attnameAttNum(relation, column, false));
		relation_close(relation, NoLock);
	}
	return ckfp_end_collecting(&collected);
}

/* The triggers with which a filter follows a table. The first one is for the source itself, the
 * second one for its partitions and children: after a partition was detached, they tell which of
 * the two the filter belongs to. */
static const struct
{
	int16 type;
	const char *name, *event, *tables;
} ckfp_triggers[] = {
	{TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_UPDATE, "column", "BEFORE UPDATE OF", ""},
	{CKFP_PART_TRIGGER, "column", "BEFORE TRUNCATE OR UPDATE OF", ""},
	{TRIGGER_TYPE_INSERT, "inserted", "AFTER INSERT", "REFERENCING NEW TABLE AS added"},
	{TRIGGER_TYPE_UPDATE, "updated", "AFTER UPDATE",
	 "REFERENCING OLD TABLE AS removed NEW TABLE AS added"},
	{TRIGGER_TYPE_DELETE, "deleted", "AFTER DELETE", "REFERENCING OLD TABLE AS removed"},
	{TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_TRUNCATE, "truncated", "BEFORE TRUNCATE", ""},
	{CKFP_GENERATED_TRIGGER, "generated", "BEFORE INSERT", ""},
};

/* Does a table need a trigger? The last one is for a partitioned table, from which PostgreSQL
 * copies it to all partitions, and only if the column may be generated in one of them. */
static bool
ckfp_needs_trigger(int16 type, bool part, bool generated)
{
	if (type == CKFP_GENERATED_TRIGGER)
		return generated && !part;
	return type != ckfp_triggers[part ? 0 : 1].type;
}

/* Is the column generated in one of these tables, the first of which is partitioned? Its partitions
 * may differ from it. */
static bool
ckfp_is_generated(const List *relations, const char *column)
{
	ListCell *cell;

	if (get_rel_relkind(linitial_oid(relations)) != RELKIND_PARTITIONED_TABLE)
		return false;
	foreach (cell, relations)
		if (get_attgenerated(lfirst_oid(cell), get_attnum(lfirst_oid(cell), column)) != '\0')
			return true;
	return false;
}

/* A name for a trigger. Filters of the same name may have been renamed since, or be in other
 * schemas. */
static const char *
ckfp_trigger_name(Oid source, Oid filter, const char *label)
{
	const char *name = makeObjectName(get_rel_name(filter), label, NULL);

	for (int i = 1; OidIsValid(get_trigger_oid(source, name, true)); i++)
		name = makeObjectName(get_rel_name(filter), psprintf("%s%d", label, i), NULL);
	return quote_identifier(name);
}

/* Drop a trigger of a filter, perhaps on a table of others. Who owns the filter could drop it, and
 * all its triggers with it. */
static void
ckfp_drop_trigger(Oid filter, Oid trigger)
{
	ObjectAddress address;

	if (!ckfp_is_owner(filter, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(filter));
	ObjectAddressSet(address, TriggerRelationId, trigger);
	performDeletion(&address, DROP_RESTRICT, 0);
}

/* Create the triggers of a table that are missing, and enable those that are disabled. They do not
 * see the rest of a statement that is changing the table now. `part`: the table is a partition or a
 * child of the source. If it was the source before, or the other way around, or another column had
 * this name, the trigger that says so is dropped. `generated`: ckfp_is_generated. */
static void
ckfp_create_triggers(const ckfp_table *table, Relation source, bool part, bool generated,
					 const char *column, const char *schema)
{
	Oid filter = table->form.relation;
	Oid relation = RelationGetRelid(source);
	const char *name = ckfp_quoted_name(relation);
	AttrNumber number = attnameAttNum(source, column, false);
	uint64 types = ckfp_read_triggers(source, filter).types;
	const TriggerDesc *triggers = CopyTriggerDesc(source->trigdesc);

	CheckTableNotInUse(source, "follow");
	ckfp_check_column(table, source, number);
	relation_close(source, NoLock);
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (ckfp_filter_of(trigger) != filter)
			continue;
		if (trigger->tgnattr > 0 &&
			(trigger->tgtype != ckfp_triggers[part ? 1 : 0].type || trigger->tgattr[0] != number))
		{
			ckfp_drop_trigger(filter, trigger->tgoid);
			types &= ~(UINT64CONST(1) << trigger->tgtype);
		}
		else if (trigger->tgenabled == TRIGGER_DISABLED ||
				 trigger->tgenabled == TRIGGER_FIRES_ON_REPLICA)
			ckfp_execute(psprintf("ALTER TABLE ONLY %s ENABLE TRIGGER %s", name,
								  quote_identifier(trigger->tgname)));
	}
	for (size_t i = 0; i < lengthof(ckfp_triggers); i++)
		if (ckfp_needs_trigger(ckfp_triggers[i].type, part, generated) &&
			!(types >> ckfp_triggers[i].type & 1))
			ckfp_execute(psprintf("CREATE TRIGGER %s %s %s ON %s %s FOR EACH %s "
								  "WHEN (%s.cuckoofilter_follows('%u'::pg_catalog.regclass)) "
								  "EXECUTE FUNCTION %s.cuckoofilter_table_changed()",
								  ckfp_trigger_name(relation, filter, ckfp_triggers[i].name),
								  ckfp_triggers[i].event, i <= 1 ? quote_identifier(column) : "",
								  name, ckfp_triggers[i].tables,
								  TRIGGER_FOR_ROW(ckfp_triggers[i].type) ? "ROW" : "STATEMENT",
								  schema, filter, schema));
}

/* Drop the triggers of partitions that were detached, and the like: they would remove items that
 * the filter has no longer from them. */
static void
ckfp_drop_other_triggers(Oid filter, const List *relations)
{
	ListCell *cell;

	foreach (cell, ckfp_triggers_of_others(filter, relations))
		ckfp_drop_trigger(filter, lfirst_oid(cell));
}

/* The name of the filter table: of the argument, or SOURCE_COLUMN_filter beside the source. */
static text *
ckfp_filter_name(FunctionCallInfo fcinfo, Relation source, const char *column)
{
	if (!PG_ARGISNULL(4))
		return PG_GETARG_TEXT_PP(4);
	return cstring_to_text(quote_qualified_identifier(
		get_namespace_name(RelationGetNamespace(source)),
		makeObjectName(RelationGetRelationName(source), column, "filter")));
}

/* The relation that has the name, or InvalidOid; unless a name was given, rather a filter of
 * another name that follows the column. Raises an error if it follows something else, or another
 * table of which the source was a part. */
static Oid
ckfp_find_filter(FunctionCallInfo fcinfo, const text *name, Relation source, AttrNumber column,
				 const List *relations, ckfp_followed *followed)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList((text *)name));
	Oid filter = RangeVarGetRelid(range, NoLock, true);
	Oid other = PG_ARGISNULL(4) ? ckfp_follower_of(source, column) : InvalidOid;

	*followed = ckfp_read_triggers(source, filter);
	if (followed->column != column && OidIsValid(other))
	{
		filter = other;
		*followed = ckfp_read_triggers(source, filter);
	}
	if (followed->column != InvalidAttrNumber && followed->column != column)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cuckoofilter table %s follows column \"%s\"", get_rel_name(filter),
							   get_attname(RelationGetRelid(source), followed->column, false)),
						errhint("Pass another name.")));
	if (followed->types == 0 && OidIsValid(filter) &&
		get_rel_namespace(filter) == RangeVarGetCreationNamespace(range))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("\"%s\" exists, and does not follow table \"%s\"",
							   get_rel_name(filter), RelationGetRelationName(source)),
						errhint("Drop it, or pass another name.")));
	if (followed->types != 0 && !(followed->types >> ckfp_triggers[0].type & 1) &&
		ckfp_triggers_of_others(filter, relations) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter table %s follows other tables, too", get_rel_name(filter)),
				 errhint("Pass another name.")));
	return filter;
}

/* Raise an error if parameters are given that a filter does not have. */
static void
ckfp_check_parameters(FunctionCallInfo fcinfo, const ckfp_table *table)
{
	const ckf_filter *has = &table->form.chunks.exact;

	if ((!PG_ARGISNULL(2) && PG_GETARG_FLOAT8(2) != has->fpr) ||
		(!PG_ARGISNULL(3) && ckfp_whole_capacity(PG_GETARG_FLOAT8(3)) != has->capacity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cuckoofilter table %s has fpr %g and capacity %lld",
						RelationGetRelationName(table->heap), has->fpr, (long long)has->capacity),
				 errhint("To change them, DROP TABLE .. CASCADE, and call "
						 "cuckoofilter_table_follow again.")));
}

/* Lock the source against writers. */
static Relation
ckfp_lock_source(Oid relation)
{
	Relation source;

	if (!ckfp_is_owner(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relation));
	source = ckfp_open_by_oid(relation, ShareRowExclusiveLock);
	if (source->rd_rel->relkind != RELKIND_RELATION &&
		source->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(source))));
	if (ckfp_constraint_of(source) != NIL) /* it cannot be used if it has triggers */
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is a cuckoofilter table", RelationGetRelationName(source)),
						errhint("Pass the table that the filter table is to follow.")));
	return source;
}

/* Raise an error if the source or a child of it is also the child of a table that is not one of
 * them. */
static void
ckfp_check_parents(const List *relations)
{
	Relation inherits = relation_open(InheritsRelationId, AccessShareLock);
	ListCell *cell;

	foreach (cell, relations)
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple row;

		ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(lfirst_oid(cell)));
		scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(row = systable_getnext(scan)))
			if (!list_member_oid(relations, ((Form_pg_inherits)GETSTRUCT(row))->inhparent))
				ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
								errmsg("\"%s\" is a partition or a child of another table",
									   get_rel_name(lfirst_oid(cell))),
								errdetail("Writes through its parent do not fire its triggers."),
								errhint("Call cuckoofilter_table_follow for the parent.")));
		systable_endscan(scan);
	}
	relation_close(inherits, AccessShareLock);
}

/* Create the filter table of a column, which belongs to the owner of the source. */
static Oid
ckfp_create_filter(FunctionCallInfo fcinfo, const text *name, Relation source,
				   const FormData_pg_attribute *attribute, size_t items)
{
	Oid owner = source->rd_rel->relowner;
	double capacity = PG_ARGISNULL(3) ? (double)Max(1000000, 2 * items) : PG_GETARG_FLOAT8(3);
	Oid filter = ckfp_create_table(name, attribute->atttypid, attribute->attcollation, capacity,
								   PG_ARGISNULL(2) ? CKF_DEFAULT_FPR : PG_GETARG_FLOAT8(2),
								   cstring_to_text(""), fcinfo->flinfo->fn_oid);

	if (owner != GetUserId())
		ckfp_execute(psprintf("ALTER TABLE %s OWNER TO %s", ckfp_quoted_name(filter),
							  quote_identifier(GetUserNameFromId(owner, false))));
	return filter;
}

/* cuckoofilter_table_follow(source, column, fpr, capacity, name) */
Datum
cuckoofilter_table_follow(PG_FUNCTION_ARGS)
{
	const char *schema =
		quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	Relation source;
	List *relations;
	ListCell *cell;
	char *column;
	Form_pg_attribute attribute;
	text *name;
	ckfp_items items;
	ckfp_table table;
	ckfp_followed followed;
	bool generated;
	Oid filter;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	source = ckfp_lock_source(PG_GETARG_OID(0));
	relations = find_all_inheritors(RelationGetRelid(source), ShareRowExclusiveLock, NULL);
	ckfp_check_parents(relations);
	column = text_to_cstring(PG_GETARG_TEXT_PP(1));
	attribute = ckfp_column_of(source, column);
	name = ckfp_filter_name(fcinfo, source, column);
	filter = ckfp_find_filter(fcinfo, name, source, attribute->attnum, relations, &followed);
	if (followed.types != 0)
	{
		ckfp_open_table(&table, filter, source->rd_rel->relowner, CKFP_REWRITE);
		ckfp_check_column(&table, source, attribute->attnum);
		ckfp_check_parameters(fcinfo, &table);
	}
	else
	{
		ckfp_read_parameters(&table.form.chunks, 1, 0.01, cstring_to_text("")); /* the seed */
		table.form.type = attribute->atttypid;
		table.form.collation = attribute->attcollation;
		table.form.decimals = true;
	}
	items = ckfp_read_source(relations, column, &table.form);
	generated = ckfp_is_generated(relations, column);
	SPI_connect();
	if (followed.types == 0)
	{
		filter = ckfp_create_filter(fcinfo, name, source, attribute, items.count);
		ckfp_open_table(&table, filter, source->rd_rel->relowner, CKFP_REWRITE);
	}
	relation_close(source, NoLock);
	foreach (cell, relations)
		ckfp_create_triggers(&table, ckfp_open_by_oid(lfirst_oid(cell), NoLock),
							 cell != list_head(relations), generated, column, schema);
	ckfp_drop_other_triggers(filter, relations);
	/* the event triggers of these commands may have written to the source */
	if (EventCacheLookup(EVT_DDLCommandStart) != NIL || EventCacheLookup(EVT_DDLCommandEnd) != NIL)
	{
		AttrNumber followed_now;

		source = ckfp_open_by_oid(PG_GETARG_OID(0), NoLock);
		followed_now = ckfp_read_triggers(source, filter).column;
		ckfp_check_column(&table, source, followed_now);
		column = get_attname(PG_GETARG_OID(0), followed_now, false);
		relation_close(source, NoLock);
		items = ckfp_read_source(relations, column, &table.form);
	}
	ckfp_empty_table(&table);
	ckfp_reserve(&table, &items);
	ckfp_change(&table, &items, NULL);
	ckfp_close_table(&table);
	SPI_finish();
	PG_RETURN_OID(filter);
}
