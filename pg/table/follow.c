/*
 * follow.c - cuckoofilter_table_follow: create or fill a filter table of a column, and triggers
 * that keep it in step.
 */
#include "table/table.h"

#include "type/argument_cache.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/builtins.h"
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
		Relation relation = relation_open(lfirst_oid(cell), NoLock);

		if (relation->rd_rel->relkind == RELKIND_RELATION)
			ckfp_take_rows(&collected, relation, attnameAttNum(relation, column, false));
		relation_close(relation, NoLock);
	}
	return ckfp_sort(collected.at, collected.count);
}

/* Does a table have a trigger with which the filter follows it? */
static bool
ckfp_is_followed(Oid source, Oid filter)
{
	Relation relation = relation_open(source, NoLock);
	const TriggerDesc *triggers = relation->trigdesc;
	AttrNumber column;
	Oid followed;
	bool found = false;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers && !found; i++)
		found = ckfp_read_trigger(&triggers->triggers[i], &followed, &column) && followed == filter;
	relation_close(relation, NoLock);
	return found;
}

static void
ckfp_create_triggers(Oid relation, const char *column, Oid filter, const char *schema)
{
	static const struct
	{
		const char *name, *event, *tables;
	} triggers[] = {
		{"inserted", "AFTER INSERT", "REFERENCING NEW TABLE AS added"},
		{"updated", "AFTER UPDATE", "REFERENCING OLD TABLE AS removed NEW TABLE AS added"},
		{"deleted", "AFTER DELETE", "REFERENCING OLD TABLE AS removed"},
		{"truncated", "BEFORE TRUNCATE", ""},
	};

	for (size_t i = 0; i < lengthof(triggers); i++)
		ckfp_execute(
			psprintf("CREATE TRIGGER %s %s ON %s %s FOR EACH STATEMENT "
					 "WHEN (%s.cuckoofilter_follows('%u'::pg_catalog.regclass, (NULL::%s).%s)) "
					 "EXECUTE FUNCTION %s.cuckoofilter_table_changed()",
					 quote_identifier(makeObjectName(get_rel_name(filter), triggers[i].name, NULL)),
					 triggers[i].event, ckfp_quoted_name(relation), triggers[i].tables, schema,
					 filter, ckfp_quoted_name(relation), quote_identifier(column), schema));
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

/* Lock the source and its children against writers, and find them. */
static List *
ckfp_lock_source(Relation source)
{
	char kind = source->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(source))));
	if (!ckfp_is_owner(RelationGetRelid(source), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(source));
	return find_all_inheritors(RelationGetRelid(source), ShareRowExclusiveLock, NULL);
}

/* Create the filter table of a column, which belongs to the owner of the source. */
static Oid
ckfp_create_filter(FunctionCallInfo fcinfo, const text *name, Relation source,
				   const FormData_pg_attribute *attribute, size_t items)
{
	Oid owner = source->rd_rel->relowner;
	double capacity = PG_ARGISNULL(3) ? (double)Max(1000000, 2 * items) : PG_GETARG_FLOAT8(3);
	Oid filter =
		ckfp_create_table(name, attribute->atttypid, attribute->attcollation, capacity,
						  PG_GETARG_FLOAT8(2), cstring_to_text(""), fcinfo->flinfo->fn_oid);

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
	Oid filter;
	bool followed;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	source = relation_open(PG_GETARG_OID(0), AccessShareLock);
	relations = ckfp_lock_source(source);
	column = text_to_cstring(PG_GETARG_TEXT_PP(1));
	attribute = ckfp_column_of(source, column);
	name = ckfp_filter_name(fcinfo, source, column);
	filter =
		RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(name)), NoLock, true);
	followed = OidIsValid(filter) && ckfp_is_followed(RelationGetRelid(source), filter);
	if (followed)
	{
		ckfp_open_table(&table, filter, source->rd_rel->relowner, CKFP_REWRITE);
		ckfp_check_column(&table, source, attribute->attnum);
	}
	else
	{
		ckfp_read_parameters(&table.form.chunks, 1, 0.01, cstring_to_text("")); /* the seed */
		table.form.type = attribute->atttypid;
		table.form.collation = attribute->attcollation;
	}
	items = ckfp_read_source(relations, column, &table.form);
	SPI_connect();
	if (!followed)
	{
		filter = ckfp_create_filter(fcinfo, name, source, attribute, items.count);
		ckfp_open_table(&table, filter, source->rd_rel->relowner, CKFP_REWRITE);
	}
	ckfp_empty_table(&table);
	ckfp_reserve(&table, &items);
	ckfp_change(&table, &items, NULL);
	ckfp_close_table(&table);
	foreach (cell, relations)
		if (!ckfp_is_followed(lfirst_oid(cell), filter))
			ckfp_create_triggers(lfirst_oid(cell), column, filter, schema);
	SPI_finish();
	relation_close(source, NoLock);
	PG_RETURN_OID(filter);
}
