/*
 * fdw.c - foreign scans whose server uses the filter.
 *
 * A foreign scan of postgres_fdw sends SQL with parameters when it fetches its first row. If its
 * server option `extensions` lists this extension, we wrap that SQL in a query that uses a filter.
 * The filter is another parameter, which is NULL and lets all rows pass until the filter is built.
 * Items have the same hash on every server.
 */
#include "join/base/key_hash.h"
#include "join/remote/remote.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* ---------------------------------------------------------------- can the server use a filter? */

/* The schema of this extension on this server. postgres_fdw assumes that it is the same on the
 * other server. */
static Oid
ckfp_extension_schema(void)
{
	Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	Oid schema = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("cuckoofilter"));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension)GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return schema;
}

/* Is a foreign data wrapper postgres_fdw? Other wrappers have other private data in their plans. */
static bool
ckfp_is_postgres_fdw(Oid wrapper)
{
	Oid handler = GetForeignDataWrapper(wrapper)->fdwhandler;
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(handler));
	bool is_one = false;
	Datum library;
	bool isnull;

	if (!HeapTupleIsValid(tuple))
		return false;
	library = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (!isnull)
		is_one = strcmp(TextDatumGetCString(library), "$libdir/postgres_fdw") == 0;
	ReleaseSysCache(tuple);
	return is_one;
}

/* Does a server have this extension, according to its options? */
static bool
ckfp_server_has_extension(const ForeignServer *server)
{
	foreach_ptr (DefElem, option, server->options)
	{
		List *names;

		if (strcmp(option->defname, "extensions") != 0 ||
			!SplitIdentifierString(pstrdup(strVal(option->arg)), ',', &names))
			continue;
		foreach_ptr (const char, name, names)
			if (strcmp(name, "cuckoofilter") == 0)
				return true;
	}
	return false;
}

/* Is the private list of the plan as it is in PostgreSQL 14 to 19: the SQL, the numbers of the
 * columns that it returns, and more? */
static bool
ckfp_private_is_known(List *private)
{
	return list_length(private) >= 3 && IsA(linitial(private), String) &&
		   strncmp(strVal(linitial(private)), "SELECT ", 7) == 0 && lsecond(private) != NULL &&
		   IsA(lsecond(private), IntList);
}

static bool
ckfp_scan_is_remote(const ForeignScan *scan)
{
	ForeignServer *server;

	if (scan->operation != CMD_SELECT || !OidIsValid(scan->fs_server) ||
		!ckfp_private_is_known(scan->fdw_private))
		return false;
	server = GetForeignServer(scan->fs_server);
	return ckfp_is_postgres_fdw(server->fdwid) && ckfp_server_has_extension(server);
}

/* ------------------------------------------------------------------ the remote SQL */

/* The number of the column of the remote SQL that is attribute n of the scan; 0 if there is
 * none. */
static int
ckfp_remote_column(const ForeignScan *scan, AttrNumber n)
{
	List *attributes = lsecond(scan->fdw_private);

	for (int i = 0; i < list_length(attributes); i++)
		if (list_nth_int(attributes, i) == n)
			return i + 1;
	return 0;
}

/* A server sends values as text, and this server reads them as the type that the foreign table
 * declares. If the column has another type on the other server, the value may change: char(n) read
 * as text keeps its trailing blanks, double precision read as real is rounded. So the server uses
 * the filter only if the type of the column, which it checks, keeps the value; rows of any other
 * type pass. The query is valid for all types. */

/* The expression for the value of a column as this server reads it. Strings are cut and times
 * rounded to the declared type, and strings are compared by their bytes, as the join does. Any
 * type can be cast to a string, and a string to any type. */
static char *
ckfp_remote_value(const ckfp_join_target *target, int column, Oid probe)
{
	const uint16 flags = FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY;
	char *declared = format_type_extended(target->declared, target->typmod, flags);

	if (ckfp_item_type_of(target->declared)->string)
		return psprintf("c%d::%s::%s COLLATE pg_catalog.\"C\"", column, declared,
						format_type_extended(probe, -1, flags));
	if (target->typmod >= 0)
		return psprintf("c%d::pg_catalog.text::%s", column, declared);
	return psprintf("c%d", column);
}

/* The SQL that returns the rows of a target whose key may be in the filter, which is the next
 * parameter. The key is this column of the target's own SQL, from 1, and has the type `probe` in
 * the join. `schema` is the quoted schema of the extension. NULL if the server cannot compute the
 * value that this server reads for the column. */
static char *
ckfp_remote_sql(const ckfp_join_target *target, int column, Oid probe, const char *schema)
{
	const List *private = target->foreign->fdw_private;
	const ckfp_item_type *declared = ckfp_item_type_of(target->declared);
	const ckfp_item_type *key = ckfp_item_type_of(probe);
	StringInfoData sql;

	/* the key of the join must have the same values as the declared type */
	if (declared == NULL || key == NULL || !(declared == key || (declared->string && key->string)))
		return NULL;
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT * FROM (%s) s(", strVal(linitial(private)));
	for (int i = 1; i <= list_length(lsecond(private)); i++)
		appendStringInfo(&sql, "%sc%d", i > 1 ? ", " : "", i);
	appendStringInfo(
		&sql,
		") WHERE CASE WHEN pg_catalog.pg_typeof(c%d) = ANY ('{%s}'::pg_catalog.regtype[])"
		" OR pg_catalog.pg_typeof(c%d) = ANY (ARRAY(SELECT d.oid FROM pg_catalog.pg_type d"
		" WHERE d.typtype = 'd' AND d.typbasetype = ANY ('{%s}'::pg_catalog.regtype[])))"
		" THEN coalesce(%s.cuckoofilter_contains($%d::%s.cuckoofilter, %s), true)"
		" ELSE true END",
		column, declared->same, column, declared->same, schema,
		list_length(target->foreign->fdw_exprs) + 1, schema,
		ckfp_remote_value(target, column, probe));
	return sql.data;
}

/* Add a parameter to the statement and the scan, and return its number. */
static int
ckfp_add_parameter(PlannedStmt *statement, ForeignScan *scan, Oid type)
{
	Param *param = makeNode(Param);

	param->paramkind = PARAM_EXEC;
	param->paramid = list_length(statement->paramExecTypes);
	param->paramtype = type;
	param->paramtypmod = -1;
	param->location = -1;
	statement->paramExecTypes = lappend_oid(statement->paramExecTypes, type);
	scan->fdw_exprs = lappend(scan->fdw_exprs, param);
	return param->paramid;
}

static void
ckfp_remote_plan_target(PlannedStmt *statement, const ckfp_join_record *record,
						ckfp_join_target *target, Oid schema, Oid type)
{
	ForeignScan *scan = target->foreign;
	int column;
	char *sql;

	if (scan == NULL || !ckfp_scan_is_remote(scan))
		return;
	column = ckfp_remote_column(scan, target->attribute[0]);
	if (column == 0)
		return;
	sql = ckfp_remote_sql(target, column, record->column[0].probe,
						  quote_identifier(get_namespace_name(schema)));
	if (sql == NULL)
		return;
	scan->fdw_private = list_copy(scan->fdw_private);
	linitial(scan->fdw_private) = makeString(sql);
	target->parameter = ckfp_add_parameter(statement, scan, type);
}

/* Do the keys of a filter have the same hash on every server? */
static bool
ckfp_keys_are_portable(const ckfp_join_record *record)
{
	return record->columns == 1 && ckfp_key_is_item(&record->column[0]) &&
		   (!OidIsValid(get_typcollation(record->column[0].probe)) ||
			GetDatabaseEncoding() == PG_UTF8);
}

static bool
ckfp_has_foreign_target(const ckfp_join_record *record)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
		if (target->foreign != NULL)
			return true;
	return false;
}

void
ckfp_remote_plan(PlannedStmt *statement, const ckfp_join_record *record)
{
	Oid schema;
	Oid type;

	if (!ckfp_join_remote || ckfp_join_mode_setting == CKFP_JOIN_VERIFY ||
		!ckfp_has_foreign_target(record) || !ckfp_keys_are_portable(record))
		return;
	schema = ckfp_extension_schema();
	type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("cuckoofilter"),
						   ObjectIdGetDatum(schema));
	if (!OidIsValid(type))
		return;
	foreach_ptr (ckfp_join_target, target, record->targets)
		ckfp_remote_plan_target(statement, record, target, schema, type);
}

/* --------------------------------------------------------------------- the value */

bool
ckfp_remote_uses(const ckfp_join_target *target)
{
	return target->parameter >= 0 && ckfp_join_remote && ckfp_join_mode_setting != CKFP_JOIN_VERIFY;
}

void
ckfp_remote_set(EState *estate, const ckfp_join_record *record, struct varlena *filter)
{
	foreach_ptr (const ckfp_join_target, target, record->targets)
	{
		ParamExecData *parameter;

		if (target->parameter < 0)
			continue;
		parameter = &estate->es_param_exec_vals[target->parameter];
		parameter->execPlan = NULL;
		parameter->isnull = filter == NULL || !ckfp_remote_uses(target);
		parameter->value = PointerGetDatum(filter);
	}
}
