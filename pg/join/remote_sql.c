/*
 * remote_sql.c - the SQL by which a server asks a filter.
 *
 * A value comes from a server as text, which this server reads as the type that the foreign table
 * declares.  If the column has another type over there, that may make another value of it: char(n)
 * behind text has trailing blanks, real behind double precision other digits.  So the server asks
 * only about a column whose type it finds to be one that keeps its value; a row of any other type
 * passes.  The query is valid whatever the type is.
 */
#include "remote_sql.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Types that this one reads as they are written, with the hash that they have: a list of names. */
static const char *
ckfp_types_that_keep(Oid declared)
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
		default: /* a name like that of a regclass is another value over there */
			return NULL;
	}
}

static bool
ckfp_type_is_string(Oid type)
{
	return OidIsValid(get_typcollation(type));
}

/* The value of a column as this server reads it: strings are cut, times rounded to what is
 * declared, and compared as the join does, by their bytes.  Any type can be cast to a string, and
 * a string to any type. */
static char *
ckfp_remote_value(const ckfp_remote_key *key)
{
	const bits16 flags = FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY;
	char *declared = format_type_extended(key->declared, key->typmod, flags);

	if (ckfp_type_is_string(key->declared))
		return psprintf("c%d::%s::%s COLLATE pg_catalog.\"C\"", key->column, declared,
						format_type_extended(key->probe, -1, flags));
	if (key->typmod >= 0)
		return psprintf("c%d::pg_catalog.text::%s", key->column, declared);
	return psprintf("c%d", key->column);
}

/* Does the join take the column as a type that has the same values? */
static bool
ckfp_key_keeps(const ckfp_remote_key *key)
{
	return key->declared == key->probe ||
		   (ckfp_type_is_string(key->declared) && ckfp_type_is_string(key->probe));
}

char *
ckfp_remote_sql(const char *query, int columns, const ckfp_remote_key *key, int parameter,
				const char *schema)
{
	const char *types = ckfp_types_that_keep(key->declared);
	StringInfoData sql;
	int i;

	if (types == NULL || !ckfp_key_keeps(key))
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
