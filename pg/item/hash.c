/*
 * hash.c - SQL values to hashes.
 *
 * Values that SQL's "=" calls equal hash equal, within this database and, for the portable classes,
 * across databases. All integers are hashed as int64, a float or numeric that is an integer as that
 * integer, strings as UTF-8, and containers by the hashes of their parts. Any other type is hashed
 * by its own extended hash function, the one that hash partitions use. A type that has only the
 * function of 32 bits is refused: of 77,000 values two would probably be one item, a removal of one
 * would remove the other, and all hashes would change if the type got an extended one.
 */
#include "item/item.h"
#include "messages.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

/* -------------------------------------------------------- the kind of a type */

/* The kind of a built-in type of the portable classes; 0 for other types. */
static ckfp_kind
ckfp_kind_of_builtin(Oid type)
{
	static const struct
	{
		Oid type;
		ckfp_kind kind;
	} builtins[] = {
		{INT2OID, CKFP_INT2},
		{INT4OID, CKFP_INT4},
		{INT8OID, CKFP_INT8},
		{BOOLOID, CKFP_BOOL},
		{FLOAT4OID, CKFP_FLOAT4},
		{FLOAT8OID, CKFP_FLOAT8},
		{NUMERICOID, CKFP_NUMERIC},
		{TEXTOID, CKFP_TEXT},
		{VARCHAROID, CKFP_TEXT},
		{BPCHAROID, CKFP_BPCHAR},
		{NAMEOID, CKFP_NAME},
		{CHAROID, CKFP_CHAR},
		{UNKNOWNOID, CKFP_UNTYPED}, /* an untyped literal in a row; it is text */
		{BYTEAOID, CKFP_BYTEA},
		{UUIDOID, CKFP_UUID},
		{DATEOID, CKFP_DATE},
		{TIMESTAMPOID, CKFP_TIMESTAMP},
		{TIMESTAMPTZOID, CKFP_TIMESTAMPTZ},
		{JSONBOID, CKFP_JSONB},
	};

	for (size_t i = 0; i < lengthof(builtins); i++)
		if (builtins[i].type == type)
			return builtins[i].kind;
	return 0;
}

/* Is a type the one that an extension has named after itself? Its OID differs between databases,
 * and its schema, so this compares the names of both. */
static bool
ckfp_is_type_of_extension(Oid type, const char *name)
{
	HeapTuple tuple;
	Oid extension;
	bool named;

	if (type < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	named = HeapTupleIsValid(tuple) &&
			strcmp(NameStr(((Form_pg_type)GETSTRUCT(tuple))->typname), name) == 0;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!named)
		return false;
	extension = getExtensionOfObject(TypeRelationId, type);
	return OidIsValid(extension) && strcmp(get_extension_name(extension), name) == 0;
}

/* Has somebody created an operator class for a type? Then its own operator, and not the equality
 * of its parts, says which values are equal. */
static bool
ckfp_has_own_equality(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_OPFAMILY);

	return entry->eq_opr >= FirstNormalObjectId || entry->hash_opf >= FirstNormalObjectId;
}

static ckfp_kind
ckfp_kind_of(Oid type)
{
	ckfp_kind kind = ckfp_kind_of_builtin(type);

	if (kind == 0 && type_is_enum(type))
		kind = CKFP_ENUM;
	if (kind == 0 && !ckfp_has_own_equality(type))
		kind = ckfp_kind_of_container(type);
	if (kind == 0 && IsBinaryCoercible(type, OIDOID)) /* regclass and its like */
		kind = CKFP_OID;
	if (kind == 0 && ckfp_is_type_of_extension(type, "citext"))
		kind = CKFP_CITEXT;
	return kind == 0 ? CKFP_OTHER : kind;
}

static const ckfp_element_methods ckfp_parts = {ckfp_hasher_prepare, ckfp_hash_item};

/* Create the description of a container type, in a memory context of its own. The previous
 * description is freed, so that a hasher that changes between types keeps only the last one. */
static struct ckfp_container *
ckfp_set_container(ckfp_hasher *hasher, ckfp_kind kind, Oid type, Oid collation,
				   MemoryContext context)
{
	if (hasher->inner == NULL)
		hasher->inner =
			AllocSetContextCreate(context, "cuckoofilter container", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(hasher->inner);
	return ckfp_new_container(kind, type, collation, &ckfp_parts, hasher->inner);
}

static bool
ckfp_is_string(ckfp_kind kind)
{
	return kind == CKFP_TEXT || kind == CKFP_BPCHAR || kind == CKFP_NAME;
}

/* The class of items of a kind, as ckfp_hash_item hashes them. The kinds are in the order of the
 * classes. */
static uint8
ckfp_item_class(ckfp_kind kind, bool own_equality)
{
	if (own_equality || kind > CKFP_TIMESTAMPTZ)
		return CKF_ITEM_OTHER;
	if (kind <= CKFP_NUMERIC)
		return CKF_ITEM_NUMBER;
	if (kind <= CKFP_ENUM)
		return CKF_ITEM_TEXT;
	if (kind <= CKFP_UUID)
		return CKF_ITEM_BYTES;
	return kind <= CKFP_TIMESTAMP ? CKF_ITEM_TIMESTAMP : CKF_ITEM_TIMESTAMPTZ;
}

static void
ckfp_hasher_set(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context)
{
	Oid base = getBaseType(type);
	ckfp_kind kind = ckfp_kind_of(base);
	bool own_equality = false;

	hasher->type = InvalidOid; /* stays so if the code below fails */
	hasher->kind = 0;
	if (ckfp_is_string(kind))
	{
		if (!OidIsValid(collation))
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_COLLATION),
					 errmsg("could not determine which collation to use for the cuckoofilter item"),
					 errhint("Use the COLLATE clause to set the collation explicitly.")));
		own_equality = !get_collation_isdeterministic(collation);
	}
	else if (kind == CKFP_UNTYPED && OidIsValid(collation)) /* of a literal, if it has one */
		own_equality = !get_collation_isdeterministic(collation);
	else if (kind >= CKFP_ARRAY && kind <= CKFP_MULTIRANGE)
		hasher->container = ckfp_set_container(hasher, kind, base, collation, context);
	else if (kind == CKFP_OTHER)
	{
		TypeCacheEntry *entry;

		if (ckfp_is_type_of_extension(base, "cuckoofilter"))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg(CKF_SAY_FILTER_ITEM),
					 errhint("Merge two filters by the operator | or by cuckoofilter_union, "
							 "intersect them by cuckoofilter_intersect; filters have no "
							 "difference. To use the bytes of a filter as an item, cast it to "
							 "bytea.")));
		entry = lookup_type_cache(base, TYPECACHE_HASH_PROC | TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		if (!OidIsValid(entry->hash_extended_proc_finfo.fn_oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 OidIsValid(entry->hash_proc)
						 ? errmsg("type %s has no extended (64-bit) hash function for cuckoofilter",
								  format_type_be(type))
						 : errmsg("type %s has no hash function for cuckoofilter",
								  format_type_be(type)),
					 errhint("Cast the item to a type that has one, such as text.")));
		hasher->function = &entry->hash_extended_proc_finfo; /* lives as long as the session */
	}
	hasher->collation = collation;
	hasher->own_equality = own_equality;
	hasher->context = context;
	hasher->item_class = ckfp_item_class(kind, own_equality);
	hasher->kind = kind;
	hasher->type = type;
}

void
ckfp_hasher_prepare(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context)
{
	if (hasher->type != type || hasher->collation != collation)
		ckfp_hasher_set(hasher, type, collation, context);
}

/* --------------------------------------------------------------- the item */

static uint64
ckfp_hash_other(const ckfp_hasher *hasher, Datum item, uint64 seed)
{
	Datum hash = FunctionCall2Coll(hasher->function, hasher->collation, item, Int64GetDatum(0));

	return ckf_hash_word(CKF_CLASS_OTHER, DatumGetUInt64(hash), seed);
}

ckf_hashes
ckfp_hash_item(ckfp_hasher *hasher, Datum item, uint64 seed)
{
	switch (hasher->kind)
	{
		case CKFP_INT2:
			return ckfp_hashes_of(ckf_hash_integer(DatumGetInt16(item), seed));
		case CKFP_INT4:
			return ckfp_hashes_of(ckf_hash_integer(DatumGetInt32(item), seed));
		case CKFP_INT8:
			return ckfp_hashes_of(ckf_hash_integer(DatumGetInt64(item), seed));
		case CKFP_BOOL:
			return ckfp_hashes_of(ckf_hash_integer(DatumGetBool(item), seed));
		case CKFP_OID:
			return ckfp_hashes_of(ckf_hash_integer(DatumGetObjectId(item), seed));
		case CKFP_FLOAT4:
			return ckfp_hashes_of(ckf_hash_real(DatumGetFloat4(item), seed));
		case CKFP_FLOAT8:
			return ckfp_hashes_of(ckf_hash_real(DatumGetFloat8(item), seed));
		case CKFP_NUMERIC:
			return ckfp_hash_numeric(item, seed);
		case CKFP_TEXT:
		case CKFP_BPCHAR:
		case CKFP_BYTEA:
			return ckfp_hashes_of(ckfp_hash_varlena(hasher, item, seed));
		case CKFP_NAME:
			return ckfp_hashes_of(ckfp_hash_string(hasher, NameStr(*DatumGetName(item)),
												   (int)strlen(NameStr(*DatumGetName(item))),
												   seed));
		case CKFP_CHAR:
			return ckfp_hashes_of(ckfp_hash_char(item, seed));
		case CKFP_UNTYPED:
			return ckfp_hashes_of(ckfp_hash_string(hasher, DatumGetCString(item),
												   (int)strlen(DatumGetCString(item)), seed));
		case CKFP_ENUM:
			return ckfp_hashes_of(ckfp_hash_enum(hasher, DatumGetObjectId(item), seed));
		case CKFP_UUID:
			return ckfp_hashes_of(
				ckf_hash_bytes(CKF_CLASS_BYTES, DatumGetUUIDP(item)->data, UUID_LEN, seed));
		case CKFP_DATE:
			return ckfp_hashes_of(ckfp_hash_date(DatumGetDateADT(item), seed));
		case CKFP_TIMESTAMP:
			return ckfp_hashes_of(
				ckf_hash_word(CKF_CLASS_TIMESTAMP, (uint64)DatumGetTimestamp(item), seed));
		case CKFP_TIMESTAMPTZ:
			return ckfp_hashes_of(
				ckf_hash_word(CKF_CLASS_TIMESTAMPTZ, (uint64)DatumGetTimestampTz(item), seed));
		case CKFP_ARRAY:
		case CKFP_RECORD:
		case CKFP_RANGE:
		case CKFP_MULTIRANGE:
			return ckfp_hash_container(hasher, item, seed);
		case CKFP_JSONB:
			return ckfp_hash_json(item, seed);
		case CKFP_CITEXT:
			return ckfp_hashes_of(ckfp_hash_citext(item, seed));
		case CKFP_OTHER:
			break;
	}
	return ckfp_hashes_of(ckfp_hash_other(hasher, item, seed));
}
