/*
 * remote_sql.c - the SQL with which a server asks a filter.
 *
 * A server sends values as text, and this server reads them as the type that the foreign table
 * declares. If the column has another type on the other server, the value may change: char(n) read
 * as text keeps its trailing blanks, double precision read as real is rounded. So the server asks
 * only if the type of the column, which it checks, keeps the value; rows of any other type pass.
 * The query is valid for all types.
 */
#include "remote_sql.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The names of the types whose values a declared type reads without change, and with the same
 * hash. NULL if there are none. */
static const char *
ckfp_types_with_same_values(Oid declared)
{
	switch (declared)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return "pg_catalog.int2,pg_catalog.int4,pg_catalog.int8";
		case TEXTOID:
		case VARCHAROID:
			return "pg_catalog.text,pg_catalog.varchar,pg_catalog.name";
		case BPCHAROID:
			return "pg_catalog.bpchar";
		case NAMEOID:
			return "pg_catalog.name";
		case BOOLOID:
			return "pg_catalog.bool";
		case OIDOID:
			return "pg_catalog.oid";
		case FLOAT4OID:
			return "pg_catalog.float4";
		case FLOAT8OID:
			return "pg_catalog.float8";
		case BYTEAOID:
			return "pg_catalog.bytea";
		case UUIDOID:
			return "pg_catalog.uuid";
		case DATEOID:
			return "pg_catalog.date";
		case TIMESTAMPOID:
			return "pg_catalog.timestamp";
		case TIMESTAMPTZOID:
			return "pg_catalog.timestamptz";
		default: /* a regclass and its like: their names mean other values on the other server */
			return NULL;
	}
}

static bool
ckfp_type_is_string(Oid type)
{
	return OidIsValid(get_typcollation(type));
}

/* The expression for the value of a column as this server reads it. Strings are cut and times
 * rounded to the declared type, and strings are compared by their bytes, as the join does. Any
 * type can be cast to a string, and a string to any type. */
static char *
ckfp_remote_value(const ckfp_remote_key *key)
{
	const uint16 flags = FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY;
	char *declared = format_type_extended(key->declared, key->typmod, flags);

	if (ckfp_type_is_string(key->declared))
		return psprintf("c%d::%s::%s COLLATE pg_catalog.\"C\"", key->column, declared,
						format_type_extended(key->probe, -1, flags));
	if (key->typmod >= 0)
		return psprintf("c%d::pg_catalog.text::%s", key->column, declared);
	return psprintf("c%d", key->column);
}

/* Does the type of the key in the join have the same values as the declared type? */
static bool
ckfp_key_keeps_values(const ckfp_remote_key *key)
{
	return key->declared == key->probe ||
		   (ckfp_type_is_string(key->declared) && ckfp_type_is_string(key->probe));
}

char *
ckfp_remote_sql(const char *query, int columns, const ckfp_remote_key *key, int parameter,
				const char *schema)
{
	const char *types = ckfp_types_with_same_values(key->declared);
	StringInfoData sql;
	int i;

	if (types == NULL || !ckfp_key_keeps_values(key))
		return NULL;
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT * FROM (%s) s(", query);
	for (i = 1; i <= columns; i++)
		appendStringInfo(&sql, "%sc%d", i > 1 ? ", " : "", i);
	appendStringInfo(
		&sql,
		") WHERE CASE WHEN pg_catalog.pg_typeof(c%d) = ANY ('{%s}'::pg_catalog.regtype[])"
		" OR pg_catalog.pg_typeof(c%d) = ANY (ARRAY(SELECT d.oid FROM pg_catalog.pg_type d"
		" WHERE d.typtype = 'd' AND d.typbasetype = ANY ('{%s}'::pg_catalog.regtype[])))"
		" THEN coalesce(%s.cuckoofilter_contains($%d::%s.cuckoofilter, %s), true)"
		" ELSE true END",
		key->column, types, key->column, types, schema, parameter, schema, ckfp_remote_value(key));
	return sql.data;
}
