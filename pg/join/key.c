/*
 * key.c - how the two sides of a join key are hashed.
 *
 * The join's own hash functions are correct for every type, and for keys of two types, by the
 * definition of a hash join. For common types the hash of an item is used instead. It is as
 * correct, faster, and cannot fail.
 */
#include "key.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

/* Can strings be hashed as items? In other encodings than UTF-8 an item is converted first, which
 * the hash function of the join does not need. */
static bool
ckfp_strings_are_items(Oid collation)
{
	return (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII) &&
		   OidIsValid(collation) && get_collation_isdeterministic(collation);
}

/* Does the built-in "=" of a type agree with the hash of items? numeric, "char" and enums are
 * left out, since their own hash functions are faster. */
static bool
ckfp_type_is_item(Oid type, Oid collation)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case BYTEAOID:
		case UUIDOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			return ckfp_strings_are_items(collation);
		default:
			return false;
	}
}

static ckfp_key_method
ckfp_item_method(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return CKFP_KEY_INT2;
		case INT4OID:
			return CKFP_KEY_INT4;
		case INT8OID:
			return CKFP_KEY_INT8;
		default:
			return CKFP_KEY_ITEM;
	}
}

static void
ckfp_prepare_item(ckfp_key *key, Oid type, Oid collation, MemoryContext context)
{
	key->method = ckfp_item_method(type);
	if (key->method == CKFP_KEY_ITEM)
		ckfp_hasher_prepare(&key->hasher, type, collation, context);
}

static void
ckfp_prepare_function(ckfp_key *key, Oid function, Oid collation, MemoryContext context)
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

void
ckfp_key_prepare(const ckfp_join_column *column, ckfp_key *build, ckfp_key *probe,
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
