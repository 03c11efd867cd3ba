/*
 * sql.c - the SQL with which a server uses a filter.
 *
 * A server sends values as text, and this server reads them as the type that the foreign table
 * declares. If the column has another type on the other server, the value may change: char(n) read
 * as text keeps its trailing blanks, double precision read as real is rounded. So the server uses
 * the filter only if the type of the column, which it checks, keeps the value; rows of any other
 * type pass.
 * The query is valid for all types.
 */
#include "join/base/key_hash.h"
#include "join/remote/remote.h"

#include "utils/builtins.h"

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

char *
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
