/*
 * key_hash.c - how the two sides of a join key are hashed.
 *
 * The join's own hash functions are correct for every type, and for keys of two types, by the
 * definition of a hash join. For common types the hash of an item is used instead. It is as
 * correct, faster, and cannot fail.
 */
#include "join/base/key_hash.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#define CKFP_INTEGERS "pg_catalog.int2,pg_catalog.int4,pg_catalog.int8"
#define CKFP_TEXTS "pg_catalog.text,pg_catalog.varchar,pg_catalog.name"

/* Can strings be hashed as items? In other encodings than UTF-8 an item is converted first, which
 * the hash function of the join does not need. */
static bool
ckfp_strings_are_items(Oid collation)
{
	return (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII) &&
		   OidIsValid(collation) && get_collation_isdeterministic(collation);
}

/* numeric, "char" and enums are left out, since their own hash functions are faster. regclass and
 * similar types are left out, since a name can mean another value on another server. */
static const ckfp_item_type ckfp_item_types[] = {
	{BOOLOID, CKFP_KEY_ITEM, false, "pg_catalog.bool"},
	{INT2OID, CKFP_KEY_INT2, false, CKFP_INTEGERS},
	{INT4OID, CKFP_KEY_INT4, false, CKFP_INTEGERS},
	{INT8OID, CKFP_KEY_INT8, false, CKFP_INTEGERS},
	{OIDOID, CKFP_KEY_ITEM, false, "pg_catalog.oid"},
	{FLOAT4OID, CKFP_KEY_ITEM, false, "pg_catalog.float4"},
	{FLOAT8OID, CKFP_KEY_ITEM, false, "pg_catalog.float8"},
	{BYTEAOID, CKFP_KEY_ITEM, false, "pg_catalog.bytea"},
	{UUIDOID, CKFP_KEY_ITEM, false, "pg_catalog.uuid"},
	{DATEOID, CKFP_KEY_ITEM, false, "pg_catalog.date"},
	{TIMESTAMPOID, CKFP_KEY_ITEM, false, "pg_catalog.timestamp"},
	{TIMESTAMPTZOID, CKFP_KEY_ITEM, false, "pg_catalog.timestamptz"},
	{TEXTOID, CKFP_KEY_ITEM, true, CKFP_TEXTS},
	{VARCHAROID, CKFP_KEY_ITEM, true, CKFP_TEXTS},
	{BPCHAROID, CKFP_KEY_ITEM, true, "pg_catalog.bpchar"},
	{NAMEOID, CKFP_KEY_ITEM, true, "pg_catalog.name"},
};

const ckfp_item_type *
ckfp_item_type_of(Oid type)
{
	for (size_t i = 0; i < lengthof(ckfp_item_types); i++)
		if (ckfp_item_types[i].type == type)
			return &ckfp_item_types[i];
	return NULL;
}

static bool
ckfp_type_is_item(Oid type, Oid collation)
{
	const ckfp_item_type *item = ckfp_item_type_of(type);

	return item != NULL && (!item->string || ckfp_strings_are_items(collation));
}

static void
ckfp_prepare_item(ckfp_key_hasher *key, Oid type, Oid collation, MemoryContext context)
{
	key->method = ckfp_item_type_of(type)->method;
	if (key->method == CKFP_KEY_ITEM)
		ckfp_hasher_prepare(&key->hasher, type, collation, context);
}

static void
ckfp_prepare_function(ckfp_key_hasher *key, Oid function, Oid collation, MemoryContext context)
{
	key->method = CKFP_KEY_FUNCTION;
	key->collation = collation;
	fmgr_info_cxt(function, &key->function, context);
}

bool
ckfp_key_is_item(const ckfp_join_column *column)
{
	return column->equality < FirstNormalObjectId &&
		   ckfp_type_is_item(column->build, column->collation) &&
		   ckfp_type_is_item(column->probe, column->collation);
}

int16
ckfp_key_integer_length(const ckfp_join_column *column)
{
	return ckfp_key_is_item(column) && ckfp_type_is_integer(column->build) &&
				   ckfp_type_is_integer(column->probe)
			   ? get_typlen(column->build)
			   : 0;
}

void
ckfp_key_prepare(const ckfp_join_column *column, ckfp_key_hasher *build, ckfp_key_hasher *probe,
				 MemoryContext context)
{
	Oid build_function;
	Oid probe_function;

	memset(build, 0, sizeof(*build));
	memset(probe, 0, sizeof(*probe));
	if (ckfp_key_is_item(column))
	{
		ckfp_prepare_item(build, column->build, column->collation, context);
		ckfp_prepare_item(probe, column->probe, column->collation, context);
		return;
	}
	/* the left side of the operator is the probe side */
	if (!get_op_hash_functions(column->equality, &probe_function, &build_function))
		elog(ERROR, "could not find hash function for hash operator %u", column->equality);
	ckfp_prepare_function(build, build_function, column->collation, context);
	ckfp_prepare_function(probe, probe_function, column->collation, context);
}
